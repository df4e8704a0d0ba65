//! C types as the policy spells them: `const char*`, `uint32_t`.

use vk_registry::model::CType;

/// Reads a C type without array bounds. Words other than `const` and `struct` are its base.
pub fn parse(text: &str) -> CType {
    let mut pieces = text.split('*');
    let head = pieces.next().unwrap_or_default();
    let mut ty = CType {
        base: String::new(),
        pointers: Vec::new(),
        array: Vec::new(),
        bits: None,
        is_struct_tag: false,
        is_const: false,
    };
    // What stands before a star says whether that star's target is const.
    let mut is_const = false;
    for word in head.split_whitespace() {
        match word {
            "const" => is_const = true,
            "struct" => ty.is_struct_tag = true,
            base => base.clone_into(&mut ty.base),
        }
    }
    for piece in pieces {
        ty.pointers.push(is_const);
        is_const = piece.split_whitespace().any(|word| word == "const");
    }
    ty.is_const = is_const && ty.pointers.is_empty();
    ty
}
