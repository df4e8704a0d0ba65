//! Classes of C types by the way in which calls pass them. A class must not change between two headers, so that programs compiled for the
//! old header continue to work.

use super::reach::resolve;
use super::types::primitive;
use crate::policy::Policy;
use vk_registry::model::{CType, Registry};

const POINTER: &str = "pointer";
/// Maximum length of a chain of typedefs. A longer chain is a cycle.
const TYPEDEF_LIMIT: u32 = 16;

/// Returns the name of the class of a parameter or return type, by the table of GEN-40.
///
/// Calls pass two types of the same class in the same way. All pointers belong to the same class. A dispatchable handle has its own class,
/// because it determines which function is called.
pub fn class(registry: &Registry, policy: &Policy, ty: &CType) -> String {
    if !ty.pointers.is_empty() || !ty.array.is_empty() {
        return POINTER.to_owned();
    }
    named(registry, policy, &ty.base, TYPEDEF_LIMIT)
}

fn named(registry: &Registry, policy: &Policy, name: &str, depth: u32) -> String {
    if let Some((rust, _)) = primitive(name) {
        return match rust {
            "c_void" => "nothing".to_owned(),
            "c_int" => "i32".to_owned(),
            rust => rust.to_owned(),
        };
    }
    let name = resolve(registry, name);
    if let Some(handle) = registry.handles.get(name) {
        return if handle.dispatchable {
            format!("dispatchable handle {name}")
        } else {
            "64-bit handle".to_owned()
        };
    }
    if let Some(found) = registry.enums.get(name) {
        let sign = if found.bitmask { 'u' } else { 'i' };
        return format!("{sign}{}", found.bits);
    }
    if let Some(found) = registry.bitmasks.get(name) {
        return format!("u{}", found.bits);
    }
    if registry.function_pointers.contains_key(name) {
        return POINTER.to_owned();
    }
    if let Some(row) = policy.types.by_value.get(name) {
        return if row.rust.starts_with('*') {
            POINTER.to_owned()
        } else {
            row.rust.clone()
        };
    }
    let target = registry.base_types.get(name).and_then(|base| base.target.as_deref());
    match target {
        Some(target) if target.contains('*') => POINTER.to_owned(),
        Some(target) if depth > 0 => named(registry, policy, target, depth - 1),
        _ if registry.structs.contains_key(name) => format!("structure {name}"),
        _ => format!("unknown {name}"),
    }
}
