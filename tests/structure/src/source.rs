//! Reads the modules of a crate from its root, and follows `mod` declarations.

use std::path::{Component, Path, PathBuf};
use syn::{Attribute, Expr, Item, ItemMod, Lit, Meta};

/// A file of a crate.
pub struct Module {
    /// Path of the module in the crate. The path of the root is empty.
    pub path: Vec<String>,
    /// Path of the file.
    pub file: PathBuf,
    /// Items of the file, without items that exist only in tests.
    pub items: Vec<Item>,
}

/// Reads the crate with the root file `root`. `read` returns the text of a file, or `None` if the file does not exist.
///
/// # Errors
/// Returns a message if a declared file is missing or is not Rust.
pub fn modules(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Result<Vec<Module>, String> {
    let mut found = Vec::new();
    let mut pending = vec![(Vec::new(), root.to_owned(), root.with_file_name(""))];
    while let Some((path, file, folder)) = pending.pop() {
        let text = read(&file).ok_or_else(|| format!("{}: cannot be read", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let items: Vec<Item> = parsed
            .items
            .into_iter()
            .filter(|item| !is_test(attributes(item)))
            .collect();
        for item in &items {
            if let Item::Mod(module) = item
                && module.content.is_none()
            {
                let name = name(module);
                let child = [path.as_slice(), std::slice::from_ref(&name)].concat();
                let (file, inner) = place(module, &name, &file, &folder, read);
                pending.push((child, file, inner));
            }
        }
        found.push(Module { path, file, items });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Returns the name of a module, without the `r#` of a raw identifier.
pub(crate) fn name(module: &ItemMod) -> String {
    module.ident.to_string().trim_start_matches("r#").to_owned()
}

/// Returns the file of a declared module, and the folder of the modules that this module declares.
fn place(
    module: &ItemMod,
    name: &str,
    declaring: &Path,
    folder: &Path,
    read: &dyn Fn(&Path) -> Option<String>,
) -> (PathBuf, PathBuf) {
    if let Some(path) = module.attrs.iter().find_map(path_attribute) {
        let file = plain(&declaring.with_file_name(path));
        let inner = file.with_file_name("");
        return (file, inner);
    }
    let inner = folder.join(name);
    let flat = folder.join(format!("{name}.rs"));
    match read(&flat) {
        Some(_) => (flat, inner),
        None => (inner.join("mod.rs"), inner),
    }
}

/// Returns the path without `..`, for messages.
fn plain(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => short.pop(),
            part => {
                short.push(part);
                true
            }
        };
    }
    short
}

fn path_attribute(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(literal) if pair.path.is_ident("path") => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns `true` if an item exists only in tests. Such an item has the attribute `cfg(test)`, or `cfg(all(...))` with `test` in the list.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list.parse_args::<Meta>().is_ok_and(|meta| needs_test(&meta)),
        _ => false,
    })
}

fn needs_test(meta: &Meta) -> bool {
    match meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => {
            let parts = list.parse_args_with(syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated);
            parts.is_ok_and(|parts| parts.iter().any(needs_test))
        }
        _ => false,
    }
}

/// Returns the attributes of an item.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
