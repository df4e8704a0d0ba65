//! Committed list of the tests that a Khronos loader is known to fail, each with the reason.
//!
//! A heading `[1.3.239]` or `[1.3.239, 1.4.363]` names the versions of the loader for the rows below it.

use crate::known::{Expected, List};
use crate::library::{Version, parse_version};

/// Returns the expected result of the test with this path on the Khronos loader of this version.
pub(crate) fn expected(version: Version, path: &str) -> Expected {
    let list = parse(include_str!("../peer.txt"));
    list.expected(&nearest(&list, version), path)
}

fn parse(text: &str) -> List<'_, Version> {
    List::parse("peer.txt", text, parse_version)
}

/// Returns the version whose rows apply to `version`: the newest listed version that is not newer than `version`. If all listed versions
/// are newer, returns the oldest listed version.
fn nearest(list: &List<'_, Version>, version: Version) -> Version {
    let known = || list.rows.iter().flat_map(|row| row.heads.iter().copied());
    let older = known().filter(|known| *known <= version).max();
    older.or_else(|| known().min()).unwrap_or(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names_and_reasons_and_no_case_is_listed_twice_for_a_version() {
        crate::known::tests::is_sound(&parse(include_str!("../peer.txt")));
    }

    #[test]
    fn rows_belong_to_the_versions_of_their_head_and_others_take_the_nearest_older() {
        let list = parse("# a\n[1.2.3, 1.4.5]\n\nboth: b\n[1.4.5]\nnew: n\n");
        let names = |version| -> Vec<&str> {
            let rows = list.rows.iter();
            rows.filter(|row| row.heads.contains(&nearest(&list, version)))
                .map(|row| row.name)
                .collect()
        };
        assert_eq!(names([1, 2, 3]), ["both"]);
        assert_eq!(names([1, 4, 5]), ["both", "new"]);
        assert_eq!(names([1, 4, 9]), ["both", "new"]);
        assert_eq!(names([1, 3, 999]), ["both"]);
        assert_eq!(names([1, 0, 0]), ["both"]);
    }
}
