//! Facts about drivers on a machine whose loader writes no trace, and without a library that writes one: variables and manifests are read by
//! this program itself.

use super::elf::{self, Closure, Fault, Identity};
use super::overriding::REPLACING;
use super::{spelling, unsearched};
use crate::manifests;
use crate::names;
use crate::probe::Seen;
use crate::regular;
use crate::shell::word;
use std::path::Path;

/// Variable that adds manifests of drivers.
const ADDING: &str = "VK_ADD_DRIVER_FILES";

/// Upper bound on the number of facts.
const MOST: usize = 12;

/// Returns sentences about what a program gets from the loader, and about the manifests that it reads. `seen` has the results of the probe,
/// and `get` returns the value of a variable that is not empty.
pub(crate) fn facts(seen: Option<&Seen>, get: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut facts: Vec<String> = seen.map(results).unwrap_or_default();
    let replacing = REPLACING.into_iter().find_map(|name| Some((name, get(name)?)));
    let adding = get(ADDING).map(|value| (ADDING, value)).filter(|_| replacing.is_none());
    if let Some((name, _)) = &replacing {
        facts.push(format!("{name} is set, so drivers are searched only there"));
    }
    for (name, value) in replacing.iter().chain(&adding) {
        let words = value.split(':').filter(|word| !word.is_empty());
        facts.extend(words.filter_map(|path| of_word(name, path)));
    }
    if replacing.is_none() {
        let usual = unsearched::usual_manifests();
        if usual.is_empty() {
            facts.push("no folder of the system has a manifest of a driver".into());
        }
        facts.extend(usual.iter().filter_map(|path| of_manifest(Path::new(path))));
    }
    facts.truncate(MOST);
    facts
}

/// Returns sentences about the results of the probe.
fn results(seen: &Seen) -> Vec<String> {
    let devices: Vec<&str> = seen.devices.iter().map(|device| device.name.as_str()).collect();
    match (seen.failed_call(), devices.is_empty()) {
        (Some((call, code)), _) => vec![format!("{call} returns {} with this loader", names::result(code))],
        (None, false) => vec![format!("programs get these devices: {}", devices.join(", "))],
        (None, true) if seen.enumeration.is_some() => vec!["programs get no device".into()],
        (None, true) => Vec::new(),
    }
}

/// Returns a sentence about a word in a variable that leads to no usable manifest, with a remedy.
fn of_word(variable: &str, word: &str) -> Option<String> {
    let path = Path::new(word);
    if path.is_dir() {
        let mut names = std::fs::read_dir(path).into_iter().flatten().flatten();
        let has_manifest = names.any(|entry| entry.path().extension().is_some_and(|end| end == "json"));
        return (!has_manifest)
            .then(|| format!("{word} in {variable} is a folder without manifests; or: unset {variable}"));
    }
    if path.exists() && !word.contains(".so") {
        return of_manifest(path);
    }
    let like =
        unsearched::like(path).map(|exists| format!("; name the file that exists: {variable}={}", self::word(&exists)));
    let mistake = spelling::of_word(word).map(|mistake| format!("; {mistake}"));
    let remedy = mistake.or(like).unwrap_or_default();
    let what = if path.exists() {
        "is not a manifest"
    } else {
        "is not there"
    };
    Some(format!("{word} in {variable} {what}{remedy}; or: unset {variable}"))
}

/// Returns a sentence about a manifest whose driver cannot be opened; `None` for a manifest without a visible fault.
fn of_manifest(path: &Path) -> Option<String> {
    let shown = path.display();
    if let Err(error) = regular::read(path) {
        return Some(format!("{shown}: {error}"));
    }
    if manifests::read(path).is_none() {
        return Some(format!("{shown} is not valid JSON"));
    }
    let Some(library) = manifests::named(path) else {
        return Some(format!("{shown} names no library of a driver (library_path in ICD)"));
    };
    let own = Identity::of_this_process();
    let named = manifests::found(path, &library);
    let Some(file) = elf::locate(&named.display().to_string(), own) else {
        let elsewhere = elf::of_other_processor(&library, own);
        return match elsewhere.as_deref().and_then(Identity::of) {
            // Systems with both word sizes have manifests for each.
            Some(other) if other.is_of_family(own) => None,
            Some(other) => Some(format!("{library} of {shown} is for {other}, the program for {own}")),
            None => Some(format!("{library}, which {shown} names, is not there")),
        };
    };
    if Identity::of(&file).is_some_and(|found| found != own && found.is_of_family(own)) {
        return None;
    }
    if let Some(fault) = Fault::of(&file, own) {
        return Some(format!("{} ({shown})", fault.finding));
    }
    let closure = Closure::of(&file, own);
    let (missing, by) = closure.missing.first()?;
    Some(format!("{missing} is missing, which {} needs ({shown})", by.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_examined_without_a_trace() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let of = |value: &str| facts(None, |name| (name == REPLACING[1]).then(|| value.to_owned()));
        let only = format!("{} is set, so drivers are searched only there", REPLACING[1]);
        let missing = path("none.json");
        let found = of(&missing);
        assert_eq!(found[0], only);
        assert!(
            found[1].starts_with(&format!("{missing} in {} is not there", REPLACING[1])),
            "{found:?}"
        );
        assert!(found[1].ends_with(&format!("or: unset {}", REPLACING[1])), "{found:?}");
        std::fs::write(path("a.json"), "{").expect("a file");
        assert!(of(&path("a.json"))[1].ends_with("is not valid JSON"));
        std::fs::write(path("a.json"), "{}").expect("a file");
        assert!(of(&path("a.json"))[1].contains("names no library"));
        std::fs::write(path("a.json"), r#"{"ICD": {"library_path": "./libnone.so"}}"#).expect("a file");
        assert!(
            of(&path("a.json"))[1].contains("is not there"),
            "{:?}",
            of(&path("a.json"))
        );
        let found = of(&path(""));
        assert_eq!(found.len(), 1, "the folder has a manifest: {found:?}");
        // The shell is a whole file that needs what the system has.
        std::fs::write(path("a.json"), r#"{"ICD": {"library_path": "/bin/sh"}}"#).expect("a file");
        assert_eq!(of(&path("a.json")), [only]);
    }
}
