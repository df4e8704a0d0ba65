//! Adds commands to the remedies that take a folder or library out of a variable of the dynamic linker.

use crate::report::Report;
use crate::shell::word;
use std::path::{Path, PathBuf};

/// Variables that list folders or libraries, with the characters that separate the items.
const LISTS: [(&str, &[char]); 2] = [("LD_LIBRARY_PATH", &[':', ';']), ("LD_PRELOAD", &[':', ' '])];

/// Adds the command that starts a program without the folder or library to each remedy that takes it out of a variable. Such a command has no
/// effect on a variable that a script sets for the program.
pub(super) fn complete(report: &mut Report) {
    let library = report.loader.as_ref().and_then(|loader| loader.path.clone());
    for (name, separators) in LISTS {
        let is_of_script = report.variables.has(name);
        let value = report
            .variables
            .get(name)
            .filter(|value| !value.is_empty() && !is_of_script);
        let Some(value) = value else {
            continue;
        };
        let items = value.split(separators).filter(|item| !is_own(item, library.as_deref()));
        let value = items.collect::<Vec<_>>().join(":");
        for dropped in &mut report.dropped {
            if let Some(command) = command(&dropped.advice, name, (&value, separators)) {
                let advice = dropped.advice.trim_end_matches('.');
                dropped.advice = format!("{advice}. For one program: {command}");
            }
        }
    }
}

/// Returns `true` for the temporary folder through which this program gives a program the library `library`.
fn is_own(folder: &str, library: Option<&str>) -> bool {
    let target = |name: &str| std::fs::read_link(Path::new(folder).join(name)).ok();
    let library = library.map(PathBuf::from);
    library.is_some() && target("libvulkan.so.1") == library && target("libvulkan.so") == library
}

/// Returns the command for a remedy that takes an item out of the variable `name`; `None` for other remedies.
fn command(advice: &str, name: &str, (value, separators): (&str, &[char])) -> Option<String> {
    let (before, _) = advice.split_once(&format!(" out of {name}"))?;
    let (_, item) = before.rsplit_once("ake ")?;
    let is_same = |one: &str| {
        let real = |path: &str| std::fs::canonicalize(path).ok();
        Path::new(one) == Path::new(item) || real(one).is_some_and(|path| Some(path) == real(item))
    };
    let items = value.split(separators).filter(|one| !one.is_empty());
    let (taken, left): (Vec<&str>, Vec<&str>) = items.partition(|one| is_same(one));
    if taken.is_empty() {
        return None;
    }
    Some(if left.is_empty() {
        format!("env -u {name} PROGRAM")
    } else {
        format!("{name}={} PROGRAM", word(&left.join(":")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_this_program_is_known_by_its_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("plain");
        let library = "/nowhere/libvulkan.so.1";
        for name in ["libvulkan.so.1", "libvulkan.so"] {
            assert!(!is_own(path, Some(library)), "{name} is missing");
            std::os::unix::fs::symlink(library, folder.path().join(name)).expect("a link");
        }
        assert!(is_own(path, Some(library)));
        assert!(!is_own(path, Some("/nowhere/other.so")) && !is_own(path, None));
    }

    #[test]
    fn the_other_items_of_a_list_stay() {
        let separators = LISTS[0].1;
        let command = |advice, value| command(advice, LISTS[0].0, (value, separators));
        let advice = "Take /opt/sdk/lib out of LD_LIBRARY_PATH, or replace it.";
        for (value, expected) in [
            ("/opt/sdk/lib", Some("env -u LD_LIBRARY_PATH PROGRAM")),
            (
                "/opt/a:/opt/sdk/lib/::/opt/b",
                Some("LD_LIBRARY_PATH=/opt/a:/opt/b PROGRAM"),
            ),
            ("/opt/other", None),
        ] {
            assert_eq!(command(advice, value).as_deref(), expected, "{value}");
        }
        assert_eq!(command("Reinstall it.", "/opt/sdk/lib"), None);
    }
}
