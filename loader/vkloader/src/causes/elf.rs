//! Why a library does not open: what it needs and is not there, found by the rules of the dynamic linker.

mod cache;
mod closure;

use super::packages;
use crate::report::Dropped;
pub(crate) use closure::{Closure, Identity, folders_before_variable, interpreter, is_usual, locate, named_path};
use std::path::Path;

/// Adds what is missing or wrong about a library that did not open.
/// `loader` is the file of the loader that refused it.
pub(super) fn explain(dropped: &mut Dropped, loader: Option<&Path>) {
    let is_about = [
        "driver.not-opened",
        "layer-library.not-opened",
        "driver.wrong-architecture",
        "layer-library.wrong-architecture",
    ];
    if !is_about.contains(&dropped.code.as_str()) {
        return;
    }
    // A driver is named by its library; a layer by its name, and the library is its file.
    let library = match dropped.code.starts_with("layer") {
        true => dropped.file.clone().unwrap_or_default(),
        false => dropped.name.clone(),
    };
    // A program may be for another word size than this one.
    let own = loader.and_then(Identity::of).unwrap_or_else(Identity::of_this_process);
    let Some(path) = locate(&library, own) else {
        dropped
            .findings
            .insert(0, format!("{library} is nowhere that the dynamic linker looks"));
        dropped.advice = "Reinstall the package that the manifest belongs to, or correct library_path in it.".into();
        return;
    };
    if !path.is_file() {
        dropped.findings.insert(0, format!("{} is no file", shown(&path)));
        dropped.advice = "Correct library_path in the manifest.".into();
        return;
    }
    if let Some(found) = Identity::of(&path)
        && found != own
    {
        dropped
            .findings
            .insert(0, format!("{} is for {found}, the program for {own}", path.display()));
        return;
    }
    if let Err(error) = std::fs::File::open(&path) {
        dropped.findings.insert(0, format!("{}: {error}", path.display()));
        dropped.advice = format!("Let this user read {}.", path.display());
        return;
    }
    let missing = Closure::of(&path, own).missing;
    for (name, needed_by) in &missing {
        dropped
            .findings
            .insert(0, format!("{name} is missing, which {} needs", shown(needed_by)));
    }
    if !missing.is_empty() {
        let mut names: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        dropped.advice = packages::install(&names);
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_size_that_counts_is_that_of_the_loader() {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("lib.so");
        // The beginning of a library for 32-bit x86.
        let mut header = *b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x03\0";
        let findings = |header: &[u8], loader: Option<&Path>| {
            std::fs::write(&library, header).expect("it can be written");
            let mut dropped = Dropped {
                subject: "driver".into(),
                code: "driver.not-opened".into(),
                name: library.display().to_string(),
                file: None,
                named_by: None,
                reason: String::new(),
                findings: Vec::new(),
                advice: String::new(),
                rank: 0,
            };
            explain(&mut dropped, loader);
            dropped.findings
        };
        assert_eq!(findings(&header, Some(&library)), Vec::<String>::new());
        // No processor that tests run on.
        header[18] = 0xF7;
        assert_eq!(findings(&header, None).len(), 1);
    }
}
