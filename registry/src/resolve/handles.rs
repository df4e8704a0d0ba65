//! Resolves handles, and the object on which each command is dispatched (GEN-47, GEN-50).

use super::types::TypeTable;
use crate::diagnostic::{Code, Reporter};
use crate::model::{Enum, Handle, Level};
use crate::parse::types::{RawType, TypeBody};
use std::collections::BTreeMap;

const OBJECT_TYPES: &str = "VkObjectType";

pub(super) fn build(
    table: &TypeTable<'_>,
    enums: &BTreeMap<String, Enum>,
    report: &mut Reporter<'_>,
) -> BTreeMap<String, Handle> {
    let object_types = enums.get(OBJECT_TYPES).map_or(&[][..], |item| &item.enumerants);
    let mut found = BTreeMap::new();
    let mut places = Vec::new();
    for raw in table.kept() {
        let TypeBody::Handle {
            macro_name,
            parent,
            object_type,
        } = raw.body
        else {
            continue;
        };
        let Some(object_type) = object_type.filter(|name| object_types.iter().any(|known| known.name == *name)) else {
            let text = format!("`{}` names no `{OBJECT_TYPES}` of its own", raw.name);
            report.report(raw.at, Code::HandleObjectType, text);
            continue;
        };
        let Some(dispatchable) = dispatchable(raw, macro_name, report) else {
            continue;
        };
        let (name, object_type) = (raw.name.to_owned(), object_type.to_owned());
        places.push(raw);
        found.insert(
            name.clone(),
            Handle {
                name,
                dispatchable,
                parent: parent.map(str::to_owned),
                object_type,
            },
        );
    }
    check_parents(&places, &found, report);
    found
}

/// Returns `true` if the macro declares a dispatchable handle (GEN-47). Reports an unknown macro.
fn dispatchable(raw: &RawType<'_>, macro_name: &str, report: &mut Reporter<'_>) -> Option<bool> {
    match macro_name {
        "VK_DEFINE_HANDLE" => Some(true),
        "VK_DEFINE_NON_DISPATCHABLE_HANDLE" => Some(false),
        other => {
            let text = format!("`{}` is declared with the unknown macro `{other}`", raw.name);
            report.report(raw.at, Code::BadDeclaration, text);
            None
        }
    }
}

fn check_parents(places: &[&RawType<'_>], handles: &BTreeMap<String, Handle>, report: &mut Reporter<'_>) {
    for raw in places {
        let Some(parent) = handles.get(raw.name).and_then(|handle| handle.parent.as_deref()) else {
            continue;
        };
        for name in parent.split(',').filter(|name| !handles.contains_key(*name)) {
            let text = format!("the parent `{name}` of `{}` is no handle", raw.name);
            report.report(raw.at, Code::HandleParent, text);
        }
        if ancestors(raw.name, handles).any(|ancestor| ancestor == raw.name) {
            report.report(raw.at, Code::ParentCycle, format!("`{}` is its own ancestor", raw.name));
        }
    }
}

/// Returns all ancestors of the handle `name`, nearest first. Each handle is visited once, so the function also ends on a cycle.
fn ancestors<'h>(name: &str, handles: &'h BTreeMap<String, Handle>) -> impl Iterator<Item = &'h str> {
    let mut found: Vec<&str> = Vec::new();
    let mut pending = vec![name];
    while let Some(handle) = pending.pop().and_then(|name| handles.get(name)) {
        for parent in handle.parent.as_deref().into_iter().flat_map(|list| list.split(',')) {
            if !found.contains(&parent) {
                found.push(parent);
                pending.push(parent);
            }
        }
    }
    found.into_iter()
}

/// Returns the level of commands whose first parameter is this handle. Returns `None` if the handle does not descend from an object with a
/// level.
pub(super) fn level(handle: &Handle, handles: &BTreeMap<String, Handle>) -> Option<Level> {
    match handle.name.as_str() {
        "VkInstance" => Some(Level::Instance),
        "VkPhysicalDevice" => Some(Level::PhysicalDevice),
        "VkDevice" => Some(Level::Device),
        name => ancestors(name, handles)
            .any(|ancestor| ancestor == "VkDevice")
            .then_some(Level::Device),
    }
}
