//! The committed list of cases that the peer is known to fail, each with the reason.

/// The reason why the peer fails the case, or `None` when it must pass.
pub(crate) fn reason(case: &str) -> Option<&'static str> {
    rows().find(|(name, _)| *name == case).map(|(_, reason)| reason)
}

/// The rows `name: reason`; empty lines and lines that begin with `#` explain.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("../peer.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        line.split_once(": ")
            .unwrap_or_else(|| panic!("peer.txt: no reason in `{line}`"))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_have_names_and_reasons_and_no_case_is_listed_twice() {
        let mut names: Vec<_> = super::rows()
            .map(|(name, reason)| (name, assert!(!reason.is_empty())).0)
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
