//! Committed list of the tests that do not run on Windows, each with the reason: `windows/left_out.txt`. Such a test
//! prints a line, and the program that runs the tests counts these lines.

/// Returns the reason if this test is excluded on this system.
pub(crate) fn reason(path: &str) -> Option<&'static str> {
    cfg!(windows)
        .then(|| reason_in(include_str!("../windows/left_out.txt"), path))
        .flatten()
}

/// Prints that a test is excluded.
///
/// # Panics
/// Panics if the list does not contain the test.
pub fn leave_out(path: &str) {
    let reason = reason(path).unwrap_or_else(|| panic!("left_out.txt does not list {path}"));
    println!("  skip  {path}: {reason}");
}

/// Excludes a test that cannot be compiled for this system. With `mod`, excludes a whole module.
#[macro_export]
macro_rules! left_out {
    (mod $module:ident) => {
        mod $module {
            $crate::left_out!(all_of_the_module);
        }
    };
    ($case:ident) => {
        #[test]
        fn $case() {
            let module = module_path!().split_once("::").map_or("", |(_, module)| module);
            $crate::leave_out(&format!("{module}::{}", stringify!($case)));
        }
    };
}

/// Returns the reason in a row `module::case: reason` or `module::*: reason`.
fn reason_in<'t>(list: &'t str, path: &str) -> Option<&'t str> {
    let module = path.rsplit_once("::").map_or("", |(module, _)| module);
    rows(list)
        .find(|(name, _)| *name == path || name.strip_suffix("::*") == Some(module))
        .map(|(_, reason)| reason)
}

/// Iterates over the excluded tests and modules of the list, each with the reason. Skips empty lines, and lines that begin with `#`.
fn rows(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        line.split_once(": ")
            .unwrap_or_else(|| panic!("left_out.txt: no reason in `{line}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::{reason_in, rows};
    use crate::known::tests::{defines, sources};

    #[test]
    fn a_row_is_for_a_case_or_for_all_of_a_module() {
        let list = "# a\n\none::case: b\ntwo::*: c\n";
        assert_eq!(reason_in(list, "one::case"), Some("b"));
        assert_eq!(reason_in(list, "one::other"), None);
        assert_eq!(reason_in(list, "two::any"), Some("c"));
    }

    /// Tests that each row names a test, because the row of a renamed test would have no effect.
    #[test]
    fn every_row_names_a_case_that_there_is_and_none_is_listed_twice() {
        let (mut names, files) = (Vec::new(), sources());
        for (name, reason) in rows(include_str!("../windows/left_out.txt")) {
            assert!(!reason.is_empty(), "{name}");
            let module = name.split("::").next().unwrap_or_default();
            let case = name.rsplit("::").next().unwrap_or_default();
            let is_there = files.iter().any(|(file, text)| {
                let mut parts = file.trim_end_matches(".rs").split('/');
                parts.next() == Some(module) && (case == "*" || defines(text, case))
            });
            assert!(is_there, "left_out.txt: there is no case {name}");
            names.push(name);
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(all, names.len(), "left_out.txt lists a case twice");
    }
}
