//! Finds missing libraries that a driver tries to open while it runs. The source is the dynamic linker's log of a second run
//! (`LD_DEBUG=libs,files`).

use super::elf::Identity;
use super::packages;
use super::sandbox::Sandbox;
use crate::inside::Inside;
use crate::paths::file_name;
use crate::report::{Dropped, Report};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Codes of findings about failures whose cause may be a missing library that the driver tried to open.
const CODES: [&str; 6] = [
    "driver.no-global-function",
    "driver.negotiation-refused",
    "driver.extension-query-failed",
    "driver.creation-failed",
    "driver.no-devices",
    "driver.no-entry-point",
];

/// Libraries that drivers search for, and that most systems lack without harm.
const OPTIONAL: [&str; 3] = ["librenderdoc.so", "libnvidia-api.so.1", "libnvidia-vulkan-producer.so"];

/// Returns `true` if a second run with the dynamic linker's log can show more: no device is usable, and a driver failed.
pub(crate) fn worth_watching(report: &Report) -> bool {
    report
        .dropped
        .iter()
        .any(|dropped| CODES.contains(&dropped.code.as_str()))
}

/// Returns `true` if a finding is about a driver that could be opened but did not work.
pub(super) fn was_opened(dropped: &Dropped) -> bool {
    CODES.contains(&dropped.code.as_str())
}

/// Adds the libraries that the driver searched for but did not find.
pub(super) fn explain(dropped: &mut Dropped, outputs: &[String], own: Identity, kept_out: Option<(&Inside, &Sandbox)>) {
    if !was_opened(dropped) {
        return;
    }
    let missing: BTreeSet<&str> = outputs
        .iter()
        .flat_map(|output| not_found(output, &dropped.name))
        .filter(|name| !OPTIONAL.iter().any(|known| name.starts_with(known)))
        .collect();
    if missing.is_empty() {
        return;
    }
    let missing: Vec<&str> = missing.into_iter().collect();
    if kept_out.is_some_and(|(inside, sandbox)| sandbox.lacks(dropped, &missing, (inside, own))) {
        return;
    }
    // A file that the driver named in a line that it printed explains more than the searches in the dynamic linker's log.
    let place = usize::from(dropped.names_file);
    let finding = format!("it searched for {} without success", missing.join(", "));
    dropped.findings.insert(place, finding);
    if dropped.code != "driver.no-devices" && !dropped.names_file {
        let rest = std::mem::take(&mut dropped.advice);
        dropped.advice = format!(
            "{} Drivers also search for libraries that they can do without. If that does not help: {rest}",
            packages::install(&missing, own)
        );
        dropped.names_file = true;
    }
}

/// A library that a process asked for and did not get.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unfound {
    /// Name or path by which the process asked for the library.
    pub(crate) name: String,
    /// Existing files and links that the dynamic linker tried, in its order.
    pub(crate) files: Vec<PathBuf>,
}

/// Returns the first library that a process opened or needed but did not get, among those whose file name `is_it` accepts. Returns `None` if
/// the process got another one of these libraries, because programs try several names.
pub(crate) fn unfound(outputs: &[String], is_it: impl Fn(&str) -> bool) -> Option<Unfound> {
    outputs.iter().find_map(|output| {
        let mut asked: Vec<Unfound> = Vec::new();
        // The paths that follow belong to the library that the process asked for last.
        let mut is_asked = false;
        for text in output.lines().filter_map(|line| Some(line.split_once(":\t")?.1.trim())) {
            if let Some((name, rest)) = text.strip_prefix("file=").and_then(|text| text.split_once(" [")) {
                is_asked = is_it(file_name(name));
                if is_asked && rest.contains("generating link map") {
                    return None;
                }
                let is_known = asked.last().is_some_and(|last| last.name == name);
                let asks = ["dynamically loaded by ", "needed by "]
                    .iter()
                    .any(|by| rest.contains(by));
                if is_asked && asks && !is_known {
                    asked.push(Unfound {
                        name: name.into(),
                        files: Vec::new(),
                    });
                }
            } else if let Some(path) = text.strip_prefix("trying file=").filter(|_| is_asked)
                && let Some(last) = asked.last_mut()
            {
                last.files
                    .extend(Some(PathBuf::from(path)).filter(|path| path.symlink_metadata().is_ok()));
            }
        }
        asked.into_iter().next()
    })
}

/// Returns the names of libraries that `library` requested but that were not found.
fn not_found<'a>(output: &'a str, library: &str) -> Vec<&'a str> {
    let own = file_name(library);
    // The finding may name the target of the link that was requested, so this closure also compares the files.
    let is_own = |by: &str| file_name(by) == own || same_file(by, library);
    // In the log, a line that begins with `file=` names the library that a file requests. The line `find library=` reports the search for
    // that library, and a line about a link map reports that the library was found.
    let mut asked: Vec<&str> = Vec::new();
    let mut mapped: BTreeSet<&str> = BTreeSet::new();
    let mut unasked = None;
    for line in output.lines() {
        let Some((_, text)) = line.split_once(":\t") else {
            continue;
        };
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("file=") {
            let name = rest.split(" [").next().unwrap_or_default();
            if rest.contains("generating link map") {
                mapped.insert(name);
            } else if let Some((_, by)) = rest.split_once("loaded by ").or_else(|| rest.split_once("needed by ")) {
                let by = by.split(" [").next().unwrap_or_default();
                unasked = is_own(by).then_some(name);
            }
        } else if let Some(rest) = text.strip_prefix("find library=") {
            let name = rest.split(" [").next().unwrap_or_default();
            if unasked == Some(name) {
                asked.push(name);
            }
        }
    }
    asked.retain(|name| !mapped.contains(name));
    asked
}

/// Returns `true` if two paths lead to the same file.
fn same_file(one: &str, other: &str) -> bool {
    let real = std::fs::canonicalize(one);
    real.is_ok_and(|real| std::fs::canonicalize(other).is_ok_and(|other| other == real))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
      1234:\t\n\
      1234:\tfile=libfirst.so.0 [0];  dynamically loaded by /usr/lib/libdriver.so.1 [0]\n\
      1234:\tfind library=libfirst.so.0 [0]; searching\n\
      1234:\t search cache=/etc/ld.so.cache\n\
      1234:\t search path=/lib:/usr/lib\t\t(system search path)\n\
      1234:\t  trying file=/lib/libfirst.so.0\n\
      1234:\t\n\
      1234:\tfile=libsecond.so.6 [0];  dynamically loaded by /usr/lib/libdriver.so.1 [0]\n\
      1234:\tfind library=libsecond.so.6 [0]; searching\n\
      1234:\t  trying file=/lib/libsecond.so.6\n\
      1234:\tfile=libsecond.so.6 [0];  generating link map\n\
      1234:\tfile=libthird.so.1 [0];  dynamically loaded by /usr/lib/libother.so.1 [0]\n\
      1234:\tfind library=libthird.so.1 [0]; searching\n";

    #[test]
    fn what_one_library_did_not_get() {
        assert_eq!(not_found(OUTPUT, "/usr/lib/libdriver.so.1"), ["libfirst.so.0"]);
        assert_eq!(not_found(OUTPUT, "libother.so.1"), ["libthird.so.1"]);
        assert!(not_found(OUTPUT, "/usr/lib/libnone.so").is_empty());
    }

    #[test]
    fn a_missing_library_may_be_one_that_a_driver_can_do_without() {
        let own = Identity::of_this_process();
        let advice = |library: &str| {
            let mut dropped = crate::report::codes::DEVICE_NOT_CREATED.about("libdriver.so.1");
            dropped.code = CODES[3].into();
            let output = OUTPUT.replace("libfirst.so.0", library);
            explain(&mut dropped, &[output], own, None);
            dropped.advice
        };
        let usual = crate::report::codes::DEVICE_NOT_CREATED.remedy;
        assert_eq!(advice("librenderdoc.so"), usual);
        let advice = advice("libfirst.so.0");
        assert!(advice.contains("libfirst.so.0") && advice.ends_with(usual), "{advice}");
    }

    #[test]
    fn a_library_that_a_process_opened_and_did_not_get() {
        let outputs = ["".into(), OUTPUT.into()];
        let found = |name: &'static str| unfound(&outputs, |file| file.starts_with(name)).map(|found| found.name);
        assert_eq!(found("libfirst.so").as_deref(), Some("libfirst.so.0"));
        assert_eq!(found("libsecond.so"), None);
        assert_eq!(found("libfourth.so"), None);
    }

    #[test]
    fn existing_files_that_the_dynamic_linker_tried_are_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("libx.so.1");
        std::fs::write(&file, "no library").expect("a file");
        let output = format!(
            "1:\tfile=libx.so.1 [0];  needed by ./app [0]\n1:\tfind library=libx.so.1 [0]; searching\n\
             1:\t  trying file=/nowhere/libx.so.1\n1:\t  trying file={}\n1:\tfile=liby.so.1 [0];  needed by ./app [0]\n\
             1:\t  trying file=/\n",
            file.display()
        );
        let found = unfound(&[output], |name| name == "libx.so.1");
        let name = "libx.so.1".into();
        assert_eq!(
            found,
            Some(Unfound {
                name,
                files: vec![file]
            })
        );
    }
}
