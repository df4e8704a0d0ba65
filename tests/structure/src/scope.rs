//! Resolves the names in the modules of a crate.

use crate::source::{Module, name};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;
use syn::{Item, ItemMod, ItemUse, UseTree, Visibility};

/// An import in a module.
#[derive(Debug)]
pub struct Import {
    /// Name of the imported item in this module, or `*` if the module imports everything.
    pub name: String,
    /// Path of the imported item, as the `use` item writes it.
    pub target: Vec<String>,
    /// `true` if other modules can import the item from this module.
    pub passed_on: bool,
}

/// Declarations in a module.
#[derive(Default)]
struct Scope {
    imports: Vec<Import>,
    items: BTreeSet<String>,
}

/// All modules of a crate, with their declarations.
pub struct Scopes {
    scopes: BTreeMap<Vec<String>, Scope>,
}

/// Target of a path: the module that declares the item, and the item's name in that module.
pub type Home = (Vec<String>, String);

/// State of a search for the items to which a path leads.
#[derive(Default)]
struct Search {
    seen: BTreeSet<(Vec<String>, Vec<String>)>,
    found: Vec<Home>,
}

impl Scopes {
    /// Collects the declarations of a crate.
    pub fn new(modules: &[Module]) -> Self {
        let mut scopes: BTreeMap<Vec<String>, Scope> = BTreeMap::new();
        for module in modules {
            // If two files define the same module for different systems, a build uses one of the files, but the check uses both.
            let scope = scopes.entry(module.path.clone()).or_default();
            for item in &module.items {
                scope.take(item);
                scope.visit_item(item);
            }
        }
        Self { scopes }
    }

    /// Returns the imports of a module.
    pub fn imports(&self, module: &[String]) -> &[Import] {
        self.scopes.get(module).map_or(&[], |scope| scope.imports.as_slice())
    }

    /// Returns the targets of a path that is written in `module`. A target can be in the same module. Items of other crates, local names
    /// and whole modules have no target.
    pub fn resolve(&self, module: &[String], path: &[String]) -> Vec<Home> {
        let mut search = Search::default();
        self.follow(module, path, &mut search);
        search.found
    }

    fn follow(&self, module: &[String], path: &[String], search: &mut Search) {
        match path.first().map(String::as_str) {
            Some("crate") => self.descend(&[], &path[1..], search),
            Some("self") => self.descend(module, &path[1..], search),
            _ => {
                let depth = path.iter().take_while(|part| *part == "super").count();
                let kept = module.len().saturating_sub(depth);
                self.descend(&module[..kept], &path[depth..], search);
            }
        }
    }

    /// Follows a path from a module: first through child modules, and then to an item that the last module declares or re-exports.
    fn descend(&self, module: &[String], path: &[String], search: &mut Search) {
        let (Some(scope), Some(first)) = (self.scopes.get(module), path.first()) else {
            return;
        };
        // If two modules import everything from each other, the search returns to a module with the same path. It must then stop.
        if !search.seen.insert((module.to_owned(), path.to_owned())) {
            return;
        }
        let before = search.found.len();
        let child = [module, std::slice::from_ref(first)].concat();
        if self.scopes.contains_key(&child) {
            self.descend(&child, &path[1..], search);
        }
        if scope.items.contains(first) {
            search.found.push((module.to_owned(), first.clone()));
        }
        for import in scope.imports.iter().filter(|import| import.name == *first) {
            let target = [import.target.as_slice(), &path[1..]].concat();
            if import.target.first() == Some(first) {
                // The path begins with the module's own name, as in `use text::text`, and means the child.
                self.descend(&child, &target[1..], search)
            } else {
                self.follow(module, &target, search)
            }
        }
        if search.found.len() == before {
            let globs = scope.imports.iter().filter(|import| import.name == "*");
            for whole in globs.filter_map(|import| self.module(module, &import.target)) {
                self.descend(&whole, path, search);
            }
        }
    }

    /// Follows a path through modules as far as possible. Returns the last module and the next name. The search does not find names that
    /// macros declare.
    pub fn deepest(&self, module: &[String], path: &[String]) -> Option<Home> {
        let known = |length: &usize| self.module(module, &path[..*length]).is_some();
        let length = (1..path.len()).rev().find(known)?;
        Some((self.module(module, &path[..length])?, path[length].clone()))
    }

    /// Returns the module to which a path in `module` leads, or `None` if the path leads to an item.
    pub fn module(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let depth = path.iter().take_while(|part| *part == "super").count();
        let (base, rest) = match path.first().map(String::as_str) {
            Some("crate") => (&module[..0], &path[1..]),
            Some("self") => (module, &path[1..]),
            _ => (&module[..module.len().saturating_sub(depth)], &path[depth..]),
        };
        let full = [base, rest].concat();
        self.scopes.contains_key(&full).then_some(full)
    }
}

impl Scope {
    fn take(&mut self, item: &Item) {
        let ident = match item {
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            // A module without a separate file counts as an item of its file.
            Item::Mod(module) if module.content.is_some() => {
                self.items.insert(name(module));
                return;
            }
            Item::Macro(item) => match &item.ident {
                Some(ident) => ident,
                None => return,
            },
            _ => return,
        };
        self.items.insert(ident.to_string());
    }
}

/// Finds imports at the start of a file, and in the bodies of functions.
impl<'ast> Visit<'ast> for Scope {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let passed_on = !matches!(item.vis, Visibility::Inherited);
        self.imports.extend(leaves(&item.tree, passed_on));
    }

    /// Skips inline modules, because their imports are not visible in the module of the file.
    fn visit_item_mod(&mut self, _: &'ast ItemMod) {}
}

/// Returns each import of a `use` item separately.
pub(crate) fn leaves(tree: &UseTree, passed_on: bool) -> Vec<Import> {
    let mut found = Vec::new();
    walk(tree, &mut Vec::new(), passed_on, &mut found);
    found
}

fn walk(tree: &UseTree, above: &mut Vec<String>, passed_on: bool, found: &mut Vec<Import>) {
    let mut leaf = |name: String, last: Option<String>| {
        let target = above.iter().cloned().chain(last).collect();
        found.push(Import {
            name,
            target,
            passed_on,
        });
    };
    match tree {
        UseTree::Path(path) => {
            above.push(path.ident.to_string());
            walk(&path.tree, above, passed_on, found);
            above.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| walk(tree, above, passed_on, found)),
        UseTree::Glob(_) => leaf("*".to_owned(), None),
        UseTree::Name(name) if name.ident == "self" => leaf(above.last().cloned().unwrap_or_default(), None),
        UseTree::Name(name) => leaf(name.ident.to_string(), Some(name.ident.to_string())),
        UseTree::Rename(rename) if rename.ident == "self" => leaf(rename.rename.to_string(), None),
        UseTree::Rename(rename) => leaf(rename.rename.to_string(), Some(rename.ident.to_string())),
    }
}
