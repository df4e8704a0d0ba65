//! Tests that the loader's tables at run time match the registry: names, levels, lookup rules, slots.

mod tables;

use crate::lookup::{ROWS, find};
use rust_alloc::collections::{BTreeMap, BTreeSet};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use vk_registry::model::Registry;
use vk_registry::snapshot;
use vkgen::plan::Plan;
use vkgen::policy::Policy;

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("the repository").to_owned()
}

fn registry() -> Registry {
    let folder = repository().join("registry/snapshot");
    let read = |name: &'static str| (name, fs::read_to_string(folder.join(name)).expect(name));
    let files: Vec<_> = snapshot::FILES.into_iter().map(read).collect();
    snapshot::read(&files).expect("the committed snapshot")
}

fn policy() -> Policy {
    let (policy, _) = Policy::read(&repository().join("generator/policy.toml"), &[]).expect("the policy");
    policy
}

/// Returns the dump that `vkgen` makes of the committed registry and policy.
fn dump() -> Value {
    let (registry, policy) = (registry(), policy());
    let plan = Plan::new(&registry, &policy).unwrap_or_else(|problems| panic!("{problems:#?}"));
    serde_json::from_str(&vkgen::dump::json(&plan)).expect("JSON")
}

/// Returns the objects of a list in the dump, with only the members that `keys` names.
fn listed(dump: &Value, list: &str, keys: &[&str]) -> Vec<Value> {
    let objects = dump[list].as_array().expect(list);
    let only = |object: &Value| -> Value {
        let kept = keys.iter().map(|key| ((*key).to_owned(), object[*key].clone()));
        Value::Object(kept.collect())
    };
    objects.iter().map(only).collect()
}

/// Compares lists element by element, so that a failure prints one difference instead of a thousand rows.
fn assert_same(found: &[Value], expected: &[Value]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn commands_are_those_of_the_dump() {
    let mut expected = listed(&dump(), "commands", &tables::COMMAND_KEYS);
    for command in &mut expected {
        for lookup in ["lookup", "device_lookup"] {
            if let Some(names) = command[lookup].get_mut("any").and_then(Value::as_array_mut) {
                names.sort_by_key(ToString::to_string);
            }
        }
    }
    assert_same(&tables::commands(), &expected);
}

/// GEN-72: names share a trampoline or a terminator exactly where the generator's dump says so.
#[test]
fn names_share_a_function_where_the_dump_says_so_and_nowhere_else() {
    let dump = dump();
    let rows: BTreeMap<&str, _> = ROWS
        .iter()
        .map(|row| (row.name().to_str().expect("ASCII"), row))
        .collect();
    for command in dump["commands"].as_array().expect("commands") {
        let name = command["name"].as_str().expect("a name");
        let row = rows[name];
        let trampoline = command["trampoline"].as_str().expect("a trampoline");
        assert_eq!(
            row.trampoline() as usize,
            rows[trampoline].trampoline() as usize,
            "{name}"
        );
        match command["terminator"].as_str() {
            None => assert!(row.terminator().is_none(), "{name}"),
            Some(terminator) => {
                let (own, other) = (
                    row.terminator().expect(name),
                    rows[terminator].terminator().expect(name),
                );
                assert_eq!(own as usize, other as usize, "{name}");
            }
        }
    }
    let own = dump["commands"]
        .as_array()
        .expect("commands")
        .iter()
        .filter(|it| it["trampoline"] == it["name"]);
    let functions: BTreeSet<usize> = ROWS.iter().map(|row| row.trampoline() as usize).collect();
    assert_eq!(
        functions.len(),
        own.count(),
        "two commands that the dump gives separate functions share a function"
    );
}

/// GEN-67: the extension table has the same rows as the generator's dump of the registry.
#[test]
fn extensions_are_those_of_the_dump() {
    let expected = listed(&dump(), "extensions", &["name", "type", "spec_version", "platform"]);
    assert_same(&tables::extensions(), &expected);
}

#[test]
fn handles_have_the_numbers_of_their_object_types() {
    let registry = registry();
    let types = &registry.enums["VkObjectType"].enumerants;
    let number = |name: &str| types.iter().find(|it| it.name == name).expect(name).value;
    let expected: BTreeMap<&str, i128> = registry
        .handles
        .values()
        .map(|handle| (handle.name.as_str(), number(&handle.object_type)))
        .collect();
    let found: BTreeMap<&str, i128> = tables::handles()
        .into_iter()
        .map(|(name, it)| (name, it.into()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn mandatory_and_tolerated_functions_are_those_of_the_plan() {
    let (registry, policy) = (registry(), policy());
    let plan = Plan::new(&registry, &policy).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let name = |command: &vkgen::plan::CommandPlan<'_>| command.command.name.clone();
    let mandatory: Vec<String> = plan.driver_table().filter(|it| it.is_mandatory()).map(name).collect();
    assert_eq!(tables::mandatory(), mandatory);
    let tolerant: Vec<String> = plan.device_table().filter(|it| it.null_tolerant).map(name).collect();
    assert_eq!(tables::null_tolerant(), tolerant);
}

#[test]
fn every_name_is_found_and_nothing_else() {
    for row in &ROWS {
        let name = row.name().to_bytes();
        assert_eq!(find(name).map(|found| found.name()), Some(row.name()));
        for other in [
            &name[..name.len() - 1],
            &[name, b"x"].concat(),
            &name.to_ascii_uppercase(),
        ] {
            assert!(find(other).is_none_or(|found| found.name().to_bytes() == other));
        }
    }
    for odd in [&b""[..], b"vk", b"\xff\xfe", &[b'v'; 100_000]] {
        assert!(find(odd).is_none());
    }
}
