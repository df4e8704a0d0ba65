//! The committed list of cases that the peer is known to fail, each with the reason.

/// What the peer may do with a case.
pub(crate) enum Expected {
    /// It passes.
    Pass,
    /// It fails, for this reason.
    Fail(&'static str),
    /// It may do either: the whole module is about something the peer does not have.
    Either(&'static str),
}

/// What is expected of the case with this path, for example `direct::drv_078_the_extension_is_always_there`.
pub(crate) fn expected(path: &str) -> Expected {
    let (module, case) = path.rsplit_once("::").unwrap_or(("", path));
    for (name, reason) in rows() {
        if name == case {
            return Expected::Fail(reason);
        }
        if name.strip_suffix("::*") == Some(module) {
            return Expected::Either(reason);
        }
    }
    Expected::Pass
}

/// The rows `case: reason` and `module::*: reason`; empty lines and lines that begin with `#` explain.
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
