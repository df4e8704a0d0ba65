//! Writes types to a snapshot.

use super::entry::Text;
use crate::model::{Registry, StructKind};

pub(super) fn handles(registry: &Registry) -> String {
    let mut text = Text::new();
    for handle in registry.handles.values() {
        text.record("handle", &handle.name);
        text.fact("dispatchable", if handle.dispatchable { "yes" } else { "no" });
        text.optional("parent", handle.parent.as_ref());
        text.fact("object-type", &handle.object_type);
    }
    text.finish()
}

/// Returns the kind of record for a structure or union.
pub(super) const fn struct_word(kind: StructKind) -> &'static str {
    match kind {
        StructKind::Struct => "struct",
        StructKind::Union => "union",
    }
}

pub(super) fn structs(registry: &Registry) -> String {
    let mut text = Text::new();
    for item in registry.structs.values() {
        text.record(struct_word(item.kind), &item.name);
        for extended in &item.extends {
            text.fact("extends", extended);
        }
        for member in &item.members {
            text.fact("member", format_args!("{} {}", member.ty, member.name));
            text.detail("values", member.values.as_ref());
            text.detail("len", member.len.as_ref());
            text.detail("object-type", member.object_type.as_ref());
        }
    }
    text.finish()
}

pub(super) fn enums(registry: &Registry) -> String {
    let mut text = Text::new();
    for item in registry.enums.values() {
        text.record("enum", &item.name);
        text.fact("bits", item.bits);
        text.fact("holds", if item.bitmask { "flags" } else { "values" });
        for enumerant in &item.enumerants {
            match &enumerant.alias {
                Some(alias) => text.fact("alias", format_args!("{} {} {alias}", enumerant.name, enumerant.value)),
                None => text.fact("value", format_args!("{} {}", enumerant.name, enumerant.value)),
            }
        }
    }
    for mask in registry.bitmasks.values() {
        text.record("flags", &mask.name);
        text.fact("bits", mask.bits);
        text.optional("enum", mask.bits_enum.as_ref());
    }
    text.finish()
}

pub(super) fn types(registry: &Registry) -> String {
    let mut text = Text::new();
    for (alias, target) in &registry.type_aliases {
        text.record("alias", alias);
        text.fact("target", target);
    }
    for base in registry.base_types.values() {
        text.record("base", &base.name);
        text.optional("target", base.target.as_ref());
    }
    for constant in registry.constants.values() {
        text.record("constant", &constant.name);
        text.fact("type", &constant.ty);
        text.fact("value", &constant.value);
    }
    for pointer in registry.function_pointers.values() {
        text.record("function-pointer", &pointer.name);
        for (name, ty) in &pointer.params {
            text.fact("param", format_args!("{ty} {name}"));
        }
        text.fact("returns", &pointer.return_type);
    }
    for ty in registry.platform_types.values() {
        text.record("platform-type", &ty.name);
        text.fact("header", &ty.header);
    }
    text.finish()
}
