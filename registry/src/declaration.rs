//! Parses C declarations, and writes declarations in normal form (GEN-12, GEN-13).

use crate::model::CType;
use std::fmt;
use std::str::FromStr;

/// Error for a C declaration outside the small part of the language that the registry uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadDeclaration;

impl fmt::Display for BadDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot take this C declaration apart")
    }
}

impl std::error::Error for BadDeclaration {}

/// Pieces of a declaration, by position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces<'a> {
    /// Text before the type name, for example `const` or `struct`.
    pub(crate) before: &'a str,
    /// Type name.
    pub(crate) base: &'a str,
    /// Text between the type name and the declared name, for example `*` or `* const*`.
    pub(crate) between: &'a str,
    /// Text after the declared name, for example `[4]` or `:24`.
    pub(crate) after: &'a str,
}

impl Pieces<'_> {
    pub(crate) fn c_type(self) -> Result<CType, BadDeclaration> {
        let mut ty = CType {
            base: identifier(self.base.trim())?.to_owned(),
            pointers: Vec::new(),
            array: Vec::new(),
            bits: None,
            is_struct_tag: false,
            is_const: false,
        };
        for word in self.before.split_whitespace() {
            match word {
                "const" if !ty.is_const && !ty.is_struct_tag => ty.is_const = true,
                "struct" if !ty.is_struct_tag => ty.is_struct_tag = true,
                _ => return Err(BadDeclaration),
            }
        }
        pointers(self.between, &mut ty)?;
        suffix(self.after, &mut ty)?;
        Ok(ty)
    }
}

/// Reads the stars of a pointer. Afterwards `is_const` describes the value itself, and each pointer has the constness of its target.
fn pointers(text: &str, ty: &mut CType) -> Result<(), BadDeclaration> {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('*') {
            ty.pointers.push(std::mem::take(&mut ty.is_const));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("const") {
            if ty.is_const || ty.pointers.is_empty() || after.starts_with(is_identifier_character) {
                return Err(BadDeclaration);
            }
            ty.is_const = true;
            rest = after;
        } else {
            return Err(BadDeclaration);
        }
        rest = rest.trim_start();
    }
    Ok(())
}

/// Reads array bounds or a bit-field width.
fn suffix(text: &str, ty: &mut CType) -> Result<(), BadDeclaration> {
    let mut rest = text.trim();
    if let Some(width) = rest.strip_prefix(':') {
        ty.bits = Some(width.trim().parse().map_err(|_| BadDeclaration)?);
        return Ok(());
    }
    while !rest.is_empty() {
        let inside = rest.strip_prefix('[').ok_or(BadDeclaration)?;
        let (bound, after) = inside.split_once(']').ok_or(BadDeclaration)?;
        let bound = bound.trim();
        if bound.is_empty() || !bound.chars().all(is_identifier_character) {
            return Err(BadDeclaration);
        }
        ty.array.push(bound.to_owned());
        rest = after.trim_start();
    }
    Ok(())
}

fn is_identifier_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// Returns `true` if the text can be a C identifier.
pub(crate) fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(is_identifier_character)
}

/// Returns a type name: an identifier that is not a qualifier.
fn identifier(text: &str) -> Result<&str, BadDeclaration> {
    let is_name = is_identifier(text) && !matches!(text, "const" | "struct");
    is_name.then_some(text).ok_or(BadDeclaration)
}

/// Splits leading words `const` and `struct` from a text. Returns these words and the remaining text.
fn split_qualifiers(text: &str) -> (&str, &str) {
    let mut rest = text.trim_start();
    while let Some(after) = ["const", "struct"].iter().find_map(|word| {
        rest.strip_prefix(word)
            .filter(|after| after.starts_with(char::is_whitespace))
            .map(str::trim_start)
    }) {
        rest = after;
    }
    text.split_at(text.len() - rest.len())
}

/// Splits the leading identifier from a text. Returns the identifier and the remaining text.
fn split_identifier(text: &str) -> (&str, &str) {
    text.split_at(
        text.find(|character| !is_identifier_character(character))
            .unwrap_or(text.len()),
    )
}

/// Splits a plain-text declaration such as `const VkX* pName` into name and type. The name is empty if the text is only a type.
pub(crate) fn named(text: &str) -> Result<(&str, CType), BadDeclaration> {
    let (before, rest) = split_qualifiers(text.trim());
    let (base, rest) = split_identifier(rest);
    let name_at = rest
        .match_indices(|character: char| character.is_ascii_alphabetic() || character == '_')
        .find(|(at, _)| {
            let (word, _) = split_identifier(&rest[*at..]);
            word != "const" && !rest[..*at].ends_with(is_identifier_character) && !rest[..*at].contains(['[', ':'])
        })
        .map(|(at, _)| at);
    let suffix_at = rest.find(['[', ':']).unwrap_or(rest.len());
    let (between, tail) = rest.split_at(name_at.unwrap_or(suffix_at));
    let (name, after) = split_identifier(tail);
    Ok((
        name,
        Pieces {
            before,
            base,
            between,
            after,
        }
        .c_type()?,
    ))
}

impl fmt::Display for CType {
    /// Writes the normal form (GEN-13): `const float[4]`, `const uint32_t* const*`, `void**`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointers.first().copied().unwrap_or(self.is_const) {
            f.write_str("const ")?;
        }
        if self.is_struct_tag {
            f.write_str("struct ")?;
        }
        f.write_str(&self.base)?;
        for level in 1..=self.pointers.len() {
            f.write_str("*")?;
            if self.pointers.get(level).copied().unwrap_or(self.is_const) {
                f.write_str(" const")?;
            }
        }
        for bound in &self.array {
            write!(f, "[{bound}]")?;
        }
        match self.bits {
            Some(bits) => write!(f, ":{bits}"),
            None => Ok(()),
        }
    }
}

impl FromStr for CType {
    type Err = BadDeclaration;

    /// Reads a type in normal form.
    fn from_str(text: &str) -> Result<Self, BadDeclaration> {
        match named(text)? {
            ("", ty) => Ok(ty),
            _ => Err(BadDeclaration),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gen_13_normal_forms_read_back() {
        for text in [
            "uint32_t",
            "void**",
            "const float[4]",
            "const uint32_t* const*",
            "const struct AHardwareBuffer*",
            "struct wl_display**",
            "float[3][4]",
            "char[VK_MAX_EXTENSION_NAME_SIZE]",
            "uint32_t:24",
            "const char* const[2]",
        ] {
            let ty: CType = text.parse().expect(text);
            assert_eq!(ty.to_string(), text);
        }
    }

    #[test]
    fn gen_12_const_belongs_to_what_is_pointed_to() {
        let ty: CType = "const uint32_t* const*".parse().expect("two pointers");
        assert_eq!((ty.pointers, ty.is_const), (vec![true, true], false));
        let ty: CType = "VkInstance*".parse().expect("one pointer");
        assert_eq!((ty.pointers, ty.is_const), (vec![false], false));
        let ty: CType = "const float[4]".parse().expect("an array");
        assert_eq!((ty.pointers, ty.is_const), (vec![], true));
    }

    #[test]
    fn gen_12_named_declarations_come_apart() {
        let (name, ty) = named("const   VkThing*    pThing").expect("a parameter");
        assert_eq!((name, ty.to_string().as_str()), ("pThing", "const VkThing*"));
        let (name, ty) = named("float constants[4]").expect("a name that starts with const");
        assert_eq!((name, ty.to_string().as_str()), ("constants", "float[4]"));
    }

    #[test]
    fn gen_12_what_is_outside_the_grammar_is_refused() {
        for text in [
            "",
            "*",
            "const",
            "unsigned int x y",
            "uint32_t[",
            "uint32_t[]",
            "uint32_t:x",
            "a const const*",
            "a&",
        ] {
            assert_eq!(text.parse::<CType>(), Err(BadDeclaration), "{text}");
        }
    }
}
