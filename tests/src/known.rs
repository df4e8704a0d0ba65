//! Committed lists of tests that are known to fail under some condition, each with the reason.
//!
//! A heading `[a, b]` names the conditions for the rows below it: versions of a Khronos loader in `peer.txt`, targets in `targets.txt`.

/// Expected result of a test.
pub(crate) enum Expected {
    /// The test must pass.
    Pass,
    /// The test must fail, for this reason.
    Fail(&'static str),
    /// The test can pass or fail, because its result depends on timing, or because its module tests a feature that this system lacks.
    Either(&'static str),
}

/// Row of a list in one of the forms `case: reason`, `case?: reason` and `module::*: reason`.
pub(crate) struct Row<'t, H> {
    /// Conditions in the heading of the row.
    pub(crate) heads: Vec<H>,
    /// Name of the test or module.
    pub(crate) name: &'t str,
    /// Reason why the test does not pass.
    pub(crate) reason: &'t str,
}

/// Rows of a list file. The parser skips empty lines and lines that begin with `#`.
pub(crate) struct List<'t, H> {
    pub(crate) rows: Vec<Row<'t, H>>,
}

impl<'t, H: Clone + PartialEq> List<'t, H> {
    /// Parses the rows of the list file `file`. `head` parses one condition of a heading.
    pub(crate) fn parse(file: &str, text: &'t str, head: impl Fn(&'t str) -> Option<H>) -> Self {
        let (mut heads, mut rows) = (Vec::new(), Vec::new());
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(names) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                let read = |name| head(name).unwrap_or_else(|| panic!("{file}: what is `{name}` in `{line}`?"));
                heads = names.split(", ").map(read).collect();
                continue;
            }
            let (name, reason) = line
                .split_once(": ")
                .unwrap_or_else(|| panic!("{file}: no reason in `{line}`"));
            assert!(!heads.is_empty(), "{file}: no head above `{line}`");
            rows.push(Row {
                heads: heads.clone(),
                name,
                reason,
            });
        }
        List { rows }
    }
}

impl<H: PartialEq> List<'static, H> {
    /// Returns the expected result of the test with this path, for example `direct::drv_078_the_extension_is_always_there`.
    pub(crate) fn expected(&self, head: &H, path: &str) -> Expected {
        let (module, case) = path.rsplit_once("::").unwrap_or(("", path));
        for row in self.rows.iter().filter(|row| row.heads.contains(head)) {
            if row.name == case {
                return Expected::Fail(row.reason);
            }
            if row.name.strip_suffix('?') == Some(case) || row.name.strip_suffix("::*") == Some(module) {
                return Expected::Either(row.reason);
            }
        }
        Expected::Pass
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::List;
    use std::fmt::Debug;
    use std::fs;
    use std::path::Path;

    /// Returns the texts of all files below tests/{app,drivers,layers}, each with its path below that folder.
    pub(crate) fn sources() -> Vec<(String, String)> {
        let mut files = Vec::new();
        for binary in ["app", "drivers", "layers"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(binary);
            read_below(&folder, "", &mut files);
        }
        files
    }

    fn read_below(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).expect("the folder of cases is there").flatten() {
            let (path, name) = (entry.path(), format!("{prefix}{}", entry.file_name().display()));
            if path.is_dir() {
                read_below(&path, &format!("{name}/"), files);
            } else {
                files.push((name, fs::read_to_string(path).expect("a file of cases is text")));
            }
        }
    }

    /// Returns `true` if the text defines this test, as a function or as a row of a macro.
    pub(crate) fn defines(text: &str, case: &str) -> bool {
        text.contains(&format!("fn {case}()")) || text.contains(&format!(" {case}:"))
    }

    /// Checks that each row has a reason, and that no heading has two rows for the same test.
    pub(crate) fn is_sound<H: Clone + Ord + Debug>(list: &List<'_, H>) {
        let mut names = Vec::new();
        for row in &list.rows {
            assert!(!row.reason.is_empty(), "{}", row.name);
            names.extend(row.heads.iter().map(|head| (head, row.name)));
        }
        names.sort_unstable();
        for pair in names.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
    }
}
