//! The committed list of cases that a Khronos loader is known to fail, each with the reason.
//!
//! A head `[1.3.239]` or `[1.3.239, 1.4.363]` names the versions that the rows below it are about.

use crate::library::{Version, parse_version};

/// What the peer may do with a case.
pub(crate) enum Expected {
    /// It passes.
    Pass,
    /// It fails, for this reason.
    Fail(&'static str),
    /// It may do either: the case is a race, or the whole module is about something the peer does not have.
    Either(&'static str),
}

/// What is expected of the peer of this version for the case with this path, for example
/// `direct::drv_078_the_extension_is_always_there`.
pub(crate) fn expected(version: Version, path: &str) -> Expected {
    let list = List::parse(include_str!("../peer.txt"));
    let known = list.nearest(version);
    let (module, case) = path.rsplit_once("::").unwrap_or(("", path));
    for row in list.rows.iter().filter(|row| row.versions.contains(&known)) {
        if row.name == case {
            return Expected::Fail(row.reason);
        }
        if row.name.strip_suffix('?') == Some(case) || row.name.strip_suffix("::*") == Some(module) {
            return Expected::Either(row.reason);
        }
    }
    Expected::Pass
}

/// A row `case: reason`, `case?: reason` or `module::*: reason`.
struct Row<'t> {
    versions: Vec<Version>,
    name: &'t str,
    reason: &'t str,
}

/// The rows of a file; empty lines and lines that begin with `#` explain.
struct List<'t> {
    rows: Vec<Row<'t>>,
}

impl<'t> List<'t> {
    fn parse(text: &'t str) -> Self {
        let (mut versions, mut rows) = (Vec::new(), Vec::new());
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(head) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                let version = |text| parse_version(text).unwrap_or_else(|| panic!("peer.txt: no version in `{line}`"));
                versions = head.split(", ").map(version).collect();
                continue;
            }
            let (name, reason) = line
                .split_once(": ")
                .unwrap_or_else(|| panic!("peer.txt: no reason in `{line}`"));
            assert!(!versions.is_empty(), "peer.txt: no version for `{line}`");
            rows.push(Row {
                versions: versions.clone(),
                name,
                reason,
            });
        }
        List { rows }
    }

    /// The version that stands for this one: the newest of the file that is not newer, or else the oldest.
    fn nearest(&self, version: Version) -> Version {
        let known = || self.rows.iter().flat_map(|row| row.versions.iter().copied());
        let older = known().filter(|known| *known <= version).max();
        older.or_else(|| known().min()).unwrap_or(version)
    }
}

#[cfg(test)]
mod tests {
    use super::List;

    #[test]
    fn rows_have_names_and_reasons_and_no_case_is_listed_twice_for_a_version() {
        let list = List::parse(include_str!("../peer.txt"));
        let mut names = Vec::new();
        for row in &list.rows {
            assert!(!row.reason.is_empty(), "{}", row.name);
            names.extend(row.versions.iter().map(|version| (version, row.name)));
        }
        names.sort_unstable();
        for pair in names.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
    }

    #[test]
    fn rows_belong_to_the_versions_of_their_head_and_others_take_the_nearest_older() {
        let list = List::parse("# a\n[1.2.3, 1.4.5]\n\nboth: b\n[1.4.5]\nnew: n\n");
        let names = |version| -> Vec<&str> {
            let of = |row: &&super::Row<'_>| row.versions.contains(&list.nearest(version));
            list.rows.iter().filter(of).map(|row| row.name).collect()
        };
        assert_eq!(names([1, 2, 3]), ["both"]);
        assert_eq!(names([1, 4, 5]), ["both", "new"]);
        assert_eq!(names([1, 4, 9]), ["both", "new"]);
        assert_eq!(names([1, 3, 999]), ["both"]);
        assert_eq!(names([1, 0, 0]), ["both"]);
    }
}
