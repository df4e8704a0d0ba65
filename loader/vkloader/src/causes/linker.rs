//! Finds missing libraries that a driver tries to open while it runs. The source is the dynamic linker's log of a second run
//! (`LD_DEBUG=libs,files`).

use super::elf::Identity;
use super::packages;
use crate::report::{Dropped, Report};
use std::collections::BTreeSet;

/// Codes of findings about failures whose cause may be a missing library that the driver tried to open.
const CODES: [&str; 6] = [
    "driver.no-global-function",
    "driver.negotiation-refused",
    "driver.extension-query-failed",
    "driver.creation-failed",
    "driver.no-devices",
    "driver.no-entry-point",
];

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
pub(super) fn explain(dropped: &mut Dropped, outputs: &[String], own: Identity) {
    if !was_opened(dropped) {
        return;
    }
    let missing: BTreeSet<&str> = outputs
        .iter()
        .flat_map(|output| not_found(output, &dropped.name))
        .collect();
    if missing.is_empty() {
        return;
    }
    let missing: Vec<&str> = missing.into_iter().collect();
    // A file that the driver named in a line that it printed explains more than the searches in the dynamic linker's log.
    let place = usize::from(dropped.names_file);
    let finding = format!("it searched for {} without success", missing.join(", "));
    dropped.findings.insert(place, finding);
    if dropped.code != "driver.no-devices" && !dropped.names_file {
        dropped.advice = packages::install(&missing, own);
        dropped.names_file = true;
    }
}

/// Returns the first name or path of a library that a process opened by `dlopen` but did not get, among those whose file name begins with
/// `beginning`. Returns `None` if the process got another one of these libraries, because programs try several names.
pub(crate) fn unfound(outputs: &[String], beginning: &str) -> Option<String> {
    outputs.iter().find_map(|output| {
        let texts = output.lines().filter_map(|line| line.split_once(":\t"));
        let files = texts.filter_map(|(_, text)| text.trim().strip_prefix("file=")?.split_once(" ["));
        let own = files.filter(|(name, _)| file_name(name).starts_with(beginning));
        let with = |part: &'static str| own.clone().filter(move |(_, rest)| rest.contains(part));
        let is_any = with("generating link map").next().is_some();
        let (name, _) = with("dynamically loaded by ").next().filter(|_| !is_any)?;
        Some(name.into())
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

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
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
    fn a_library_that_a_process_opened_and_did_not_get() {
        let outputs = ["".into(), OUTPUT.into()];
        assert_eq!(unfound(&outputs, "libfirst.so").as_deref(), Some("libfirst.so.0"));
        assert_eq!(unfound(&outputs, "libsecond.so"), None);
        assert_eq!(unfound(&outputs, "libfourth.so"), None);
    }
}
