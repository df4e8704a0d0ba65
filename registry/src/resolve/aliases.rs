//! Follows aliases to their targets (GEN-33).

/// Reason why an alias has no target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dead<'a> {
    /// The aliases form a cycle.
    Cycle,
    /// The alias refers to this undefined name.
    Missing(&'a str),
}

/// Meaning of a name: an alias of another name, or the end of a chain of aliases.
pub(super) enum Step<'a> {
    Alias(&'a str),
    End,
}

/// Follows the aliases from `start` to a name that is not an alias. `limit` is the number of names, which no chain
/// without a cycle exceeds.
pub(super) fn follow<'a>(
    start: &'a str,
    limit: usize,
    step: impl Fn(&'a str) -> Option<Step<'a>>,
) -> Result<&'a str, Dead<'a>> {
    let mut name = start;
    for _ in 0..=limit {
        match step(name) {
            None => return Err(Dead::Missing(name)),
            Some(Step::End) => return Ok(name),
            Some(Step::Alias(target)) => name = target,
        }
    }
    Err(Dead::Cycle)
}

impl Dead<'_> {
    pub(super) fn code(self) -> crate::diagnostic::Code {
        match self {
            Self::Cycle => crate::diagnostic::Code::AliasCycle,
            Self::Missing(_) => crate::diagnostic::Code::AliasTarget,
        }
    }

    pub(super) fn text(self, alias: &str) -> String {
        match self {
            Self::Cycle => format!("the alias `{alias}` leads back to itself"),
            Self::Missing(target) => format!("the alias `{alias}` leads to `{target}`, which is not defined"),
        }
    }
}
