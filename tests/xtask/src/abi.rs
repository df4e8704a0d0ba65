//! Facts about the binary interface that C headers have too: layouts, values and signatures. Stage `abi` compares these facts with the
//! headers.
//!
//! The facts come from the syntax of the Rust sources, so comments and line breaks have no effect on them.

use crate::tree::Tree;
use serde::Serialize;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, GenericArgument, Ident, ImplItem, Item, ItemMacro, Lit, LitInt, LitStr, Path, PathArguments,
    ReturnType, Token, Type, TypeBareFn, UnOp,
};

/// C spelling of types whose names differ from Rust: Rust's own types, and types that C names with the word `struct`.
const C_TYPES: [(&str, &str); 16] = [
    ("u8", "uint8_t"),
    ("u16", "uint16_t"),
    ("u32", "uint32_t"),
    ("u64", "uint64_t"),
    ("i32", "int32_t"),
    ("i64", "int64_t"),
    ("f32", "float"),
    ("usize", "size_t"),
    ("c_char", "char"),
    ("c_int", "int"),
    ("c_void", "void"),
    ("wl_display", "struct wl_display"),
    ("wl_surface", "struct wl_surface"),
    ("_screen_window", "struct _screen_window"),
    ("_screen_buffer", "struct _screen_buffer"),
    ("AHardwareBuffer", "struct AHardwareBuffer"),
];

/// Facts about the binary interface on systems with 64-bit pointers.
#[derive(Debug, Serialize)]
struct Facts {
    /// Structures of the registry.
    emitted: Vec<Structure>,
    /// Structures of the layer and driver interfaces.
    handwritten: Vec<Structure>,
    /// Names and values of constants, in the notation of C.
    constants: Vec<(String, String)>,
    functions: Vec<Function>,
}

/// A structure.
#[derive(Debug, PartialEq, Serialize)]
struct Structure {
    /// Name in C.
    name: String,
    /// Generic arguments in Rust; empty for most structures.
    arguments: String,
    size: u64,
    /// Alignment, if the sources state it.
    alignment: Option<u64>,
    /// Number of the platform in the driver interface, for structures of surfaces.
    platform: Option<u64>,
    /// Name in Rust and offset of each member.
    members: Vec<(String, u64)>,
}

/// A function type, in the notation of C.
#[derive(Debug, PartialEq, Serialize)]
struct Function {
    name: String,
    parameters: Vec<String>,
    result: String,
}

/// Prints the facts about the binary interface as JSON.
///
/// # Errors
/// Returns a message if a source cannot be read or has an unexpected form.
pub fn print(tree: &Tree) -> Result<(), String> {
    let mut constants = constants(tree, "generated/types/enums.rs")?;
    constants.extend(self::constants(tree, "generated/types/flags.rs")?);
    constants.extend(self::constants(tree, "generated/types/constants.rs")?);
    let mut handwritten = rows(tree, "loader/src/ffi/layer_interface.rs", "layout", of_layer)?;
    handwritten.extend(rows(
        tree,
        "loader/src/window_system/layout.rs",
        "platform_layouts",
        of_surface,
    )?);
    let facts = Facts {
        emitted: rows(tree, "generated/types/layout.rs", "layouts", emitted)?,
        handwritten,
        constants,
        functions: functions(tree, "generated/pfn.rs")?,
    };
    println!("{}", serde_json::to_string(&facts).map_err(|error| error.to_string())?);
    Ok(())
}

/// Returns the rows of the macro calls with this name.
fn rows(
    tree: &Tree,
    path: &str,
    name: &str,
    row: fn(ParseStream<'_>) -> syn::Result<Option<Structure>>,
) -> Result<Vec<Structure>, String> {
    let source = tree.source(path)?;
    let mut found = Vec::new();
    for item in &source.file.items {
        if let Item::Macro(ItemMacro { mac, .. }) = item
            && mac.path.is_ident(name)
        {
            let all = |input: ParseStream<'_>| {
                let mut all = Vec::new();
                while !input.is_empty() {
                    all.extend(row(input)?);
                }
                Ok(all)
            };
            let parsed = all.parse2(mac.tokens.clone());
            found.extend(parsed.map_err(|error| format!("{path}:{}: {error}", error.span().start().line))?);
        }
    }
    Ok(found)
}

/// Parses a row of `layouts!`: the name, the size, the alignment, and the offset of each member.
fn emitted(input: ParseStream<'_>) -> syn::Result<Option<Structure>> {
    let (name, arguments) = named(input)?;
    input.parse::<Token![:]>()?;
    let size = number(input)?;
    input.parse::<Token![,]>()?;
    let alignment = Some(number(input)?);
    let mut members = Vec::new();
    while input.parse::<Option<Token![,]>>()?.is_some() {
        members.push((input.call(Ident::parse_any)?.to_string(), number(input)?));
    }
    input.parse::<Token![;]>()?;
    Ok(Some(Structure {
        name,
        arguments,
        size,
        alignment,
        platform: None,
        members,
    }))
}

/// Parses a row of `layout!`, in which each number has two values: for pointers of 64 bits, and of 32 bits.
fn of_layer(input: ParseStream<'_>) -> syn::Result<Option<Structure>> {
    fn wide(input: ParseStream<'_>) -> syn::Result<u64> {
        let wide = number(input)?;
        input.parse::<Token![/]>()?;
        number(input)?;
        Ok(wide)
    }
    fn member(input: ParseStream<'_>) -> syn::Result<(String, u64)> {
        let name = input.call(Ident::parse_any)?.to_string();
        input.parse::<Token![:]>()?;
        Ok((name, wide(input)?))
    }
    let (name, arguments) = named(input)?;
    let inside;
    syn::braced!(inside in input);
    let members = Punctuated::<_, Token![,]>::parse_terminated_with(&inside, member)?;
    let size = wide(input)?;
    input.parse::<Token![;]>()?;
    Ok(Some(Structure {
        name,
        arguments,
        size,
        alignment: None,
        platform: None,
        members: members.into_iter().collect(),
    }))
}

/// Parses a row of `platform_layouts!`. Returns `None` for a structure without a name in C.
fn of_surface(input: ParseStream<'_>) -> syn::Result<Option<Structure>> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Ident>()?;
    let mut name = None;
    if input.peek(syn::token::Paren) {
        let inside;
        syn::parenthesized!(inside in input);
        name = Some(inside.parse::<LitStr>()?.value());
    }
    input.parse::<Token![=]>()?;
    let platform = Some(number(input)?);
    input.parse::<Token![,]>()?;
    let size = number(input)?;
    let inside;
    syn::braced!(inside in input);
    let mut members = Vec::new();
    while !inside.is_empty() {
        let member = inside.call(Ident::parse_any)?.to_string();
        inside.parse::<Token![:]>()?;
        inside.parse::<Type>()?;
        inside.parse::<Token![,]>()?;
        members.push((member, number(&inside)?));
        inside.parse::<Token![;]>()?;
    }
    Ok(name.map(|name| Structure {
        name,
        arguments: String::new(),
        size,
        alignment: None,
        platform,
        members,
    }))
}

/// Parses the name of a structure, and its generic arguments.
fn named(input: ParseStream<'_>) -> syn::Result<(String, String)> {
    let path: Path = input.parse()?;
    let Some(last) = path.segments.last() else {
        return Err(input.error("a name was expected"));
    };
    let mut names = Vec::new();
    if let PathArguments::AngleBracketed(arguments) = &last.arguments {
        for argument in &arguments.args {
            match argument {
                GenericArgument::Type(Type::Path(it)) if it.path.get_ident().is_some() => {
                    names.extend(it.path.get_ident().map(Ident::to_string));
                }
                _ => return Err(input.error("the generic arguments are not names")),
            }
        }
    }
    let arguments = if names.is_empty() {
        String::new()
    } else {
        format!("<{}>", names.join(", "))
    };
    Ok((last.ident.to_string(), arguments))
}

fn number(input: ParseStream<'_>) -> syn::Result<u64> {
    input.parse::<LitInt>()?.base10_parse()
}

/// Returns the constants of a file: those of enumerations, and integers outside of enumerations.
fn constants(tree: &Tree, path: &str) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for item in &tree.source(path)?.file.items {
        match item {
            Item::Impl(item) => {
                for item in &item.items {
                    if let ImplItem::Const(item) = item
                        && let Expr::Call(call) = &item.expr
                        && let Some(value) = call.args.first().and_then(|value| in_c(value, 32))
                    {
                        found.push((item.ident.to_string(), value));
                    }
                }
            }
            Item::Const(item) => {
                let bits = match &*item.ty {
                    Type::Path(it) if it.path.is_ident("u32") => 32,
                    Type::Path(it) if it.path.is_ident("u64") => 64,
                    _ => continue,
                };
                found.extend(in_c(&item.expr, bits).map(|value| (item.ident.to_string(), value)));
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Returns a number with this many bits in the notation of C.
fn in_c(value: &Expr, bits: usize) -> Option<String> {
    match value {
        Expr::Lit(it) => match &it.lit {
            Lit::Int(number) => Some(number.base10_digits().to_owned()),
            _ => None,
        },
        Expr::Unary(it) => {
            let number = in_c(&it.expr, bits)?;
            match it.op {
                UnOp::Neg(_) => Some(format!("-{number}")),
                UnOp::Not(_) => Some(format!("~(uint{bits}_t){number}")),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the function types of a file.
fn functions(tree: &Tree, path: &str) -> Result<Vec<Function>, String> {
    let mut found = Vec::new();
    for item in &tree.source(path)?.file.items {
        if let Item::Type(item) = item
            && let Some(function) = bare(&item.ty)
        {
            let parameters = function.inputs.iter().map(|parameter| c_type(&parameter.ty));
            let result = match &function.output {
                ReturnType::Default => Ok("void".to_owned()),
                ReturnType::Type(_, kind) => c_type(kind),
            };
            let name = item.ident.to_string();
            let place = |wrong: String| format!("{path}: {name}: {wrong}");
            found.push(Function {
                parameters: parameters.collect::<Result<_, _>>().map_err(place)?,
                result: result.map_err(place)?,
                name,
            });
        }
    }
    Ok(found)
}

/// Returns the function type in a type that is a function pointer or an `Option` of one.
fn bare(kind: &Type) -> Option<&TypeBareFn> {
    match kind {
        Type::BareFn(function) => Some(function),
        Type::Path(it) => match &it.path.segments.last()?.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
                GenericArgument::Type(kind) => bare(kind),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Returns the C spelling of a Rust type.
fn c_type(kind: &Type) -> Result<String, String> {
    match kind {
        Type::Ptr(pointer) if pointer.const_token.is_some() => Ok(format!("{} const *", c_type(&pointer.elem)?)),
        Type::Ptr(pointer) => Ok(format!("{} *", c_type(&pointer.elem)?)),
        Type::Path(it) => {
            let name = it.path.segments.last().map(|last| last.ident.to_string());
            let name = name.unwrap_or_default();
            let row = C_TYPES.iter().find(|(rust, _)| *rust == name);
            Ok(row.map_or(name.clone(), |(_, c)| (*c).to_owned()))
        }
        _ => Err("a parameter has a type that has no known form in C".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(row: fn(ParseStream<'_>) -> syn::Result<Option<Structure>>, text: &str) -> Option<Structure> {
        row.parse_str(text).expect("a row")
    }

    fn expected(name: &str, size: u64, members: &[(&str, u64)]) -> Structure {
        Structure {
            name: name.to_owned(),
            arguments: String::new(),
            size,
            alignment: None,
            platform: None,
            members: members
                .iter()
                .map(|(name, offset)| ((*name).to_owned(), *offset))
                .collect(),
        }
    }

    #[test]
    fn rows_of_each_macro_have_the_same_facts() {
        let found = structure(emitted, "A<Driver>: 16, 8, // Ignored: 9, 9, x 9;\n a 0,\n r#type 8;");
        let wanted = Structure {
            arguments: "<Driver>".to_owned(),
            alignment: Some(8),
            ..expected("A", 16, &[("a", 0), ("r#type", 8)])
        };
        assert_eq!(found, Some(wanted));
        let found = structure(of_layer, "B { a: 0 / 0, b: 8 / 4 } 16 / 8;");
        assert_eq!(found, Some(expected("B", 16, &[("a", 0), ("b", 8)])));
        let found = structure(
            of_surface,
            "/// Text.\nC (\"VkC\") = 3, 24 { a: *mut c_void, 8; b: u32, 16; }",
        );
        let wanted = Structure {
            platform: Some(3),
            ..expected("VkC", 24, &[("a", 8), ("b", 16)])
        };
        assert_eq!(found, Some(wanted));
        assert_eq!(structure(of_surface, "/// Text.\nD = 4, 4 {}"), None);
    }

    #[test]
    fn values_and_types_have_the_notation_of_c() {
        for (rust, c) in [("7", "7"), ("-1", "-1"), ("!0", "~(uint64_t)0"), ("0x10", "16")] {
            let value: Expr = syn::parse_str(rust).expect("a number");
            assert_eq!(in_c(&value, 64).as_deref(), Some(c));
        }
        for (rust, c) in [
            ("*const *mut VkInstance<L>", "VkInstance * const *"),
            ("*mut c_void", "void *"),
            ("usize", "size_t"),
        ] {
            let kind: Type = syn::parse_str(rust).expect("a type");
            assert_eq!(c_type(&kind).as_deref(), Ok(c));
        }
        let kind: Type = syn::parse_str("Option<unsafe extern \"system\" fn(a: u8) -> u16>").expect("a type");
        assert_eq!(bare(&kind).map(|function| function.inputs.len()), Some(1));
    }
}
