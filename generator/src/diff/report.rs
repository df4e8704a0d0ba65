//! Report of a comparison. The report has sections with entries, and each entry has its changes and their importance.

use crate::text::counted;
use serde::Serialize;

/// Importance of a change, in the order of the exit codes (GEN-91).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The change has no consequences, for example another spelling, condition or note.
    Informational,
    /// The emitted code changes, or a maintainer should check the change.
    Concerns,
    /// The policy has no decision about the change yet.
    Undecided,
    /// The change could break programs or drivers that were built for the old header.
    Breaking,
}

impl Severity {
    /// Returns the word for the severity in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Informational => "informational",
            Self::Concerns => "concerns",
            Self::Undecided => "undecided",
            Self::Breaking => "breaking",
        }
    }
}

/// Change of one fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Kind of the fact: `abi`, `spelling`, `providers`, ...
    pub kind: &'static str,
    /// Description of the change.
    pub text: String,
    /// Importance of the change.
    pub severity: Severity,
}

impl Change {
    pub(super) fn new(kind: &'static str, severity: Severity, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            severity,
        }
    }

    /// Returns a change from one value to another, or `None` if both values are equal.
    pub(super) fn between<T: PartialEq>(
        kind: &'static str,
        severity: Severity,
        values: (T, T),
        show: impl Fn(&T) -> String,
    ) -> Option<Self> {
        let (old, new) = values;
        (old != new).then(|| Self::new(kind, severity, format!("{kind}: {} -> {}", show(&old), show(&new))))
    }
}

/// Object that was added, removed or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Name of the object in the registry.
    pub name: String,
    /// Importance of the entry: the highest importance of its changes.
    pub severity: Severity,
    /// Changes of the entry.
    pub changes: Vec<Change>,
}

impl Entry {
    /// Creates an entry. Its severity is at least `severity`, and at least the severity of each change.
    pub(super) fn new(name: &str, severity: Severity, changes: Vec<Change>) -> Self {
        let severity = changes
            .iter()
            .map(|change| change.severity)
            .fold(severity, Severity::max);
        Self {
            name: name.to_owned(),
            severity,
            changes,
        }
    }

    /// Creates an entry for changed facts, or returns `None` if there is no change.
    pub(super) fn changed(name: &str, changes: Vec<Change>) -> Option<Self> {
        (!changes.is_empty()).then(|| Self::new(name, Severity::Informational, changes))
    }

    /// Creates an entry with a remark.
    pub(super) fn noted(name: &str, severity: Severity, kind: &'static str, text: impl Into<String>) -> Self {
        Self::new(name, severity, vec![Change::new(kind, Severity::Informational, text)])
    }
}

/// Entries of one kind, sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Subject of the section: `commands`, `extensions`, ...
    pub group: &'static str,
    /// Kind of change: `added`, `removed`, `changed`, ...
    pub name: &'static str,
    /// Heading of the section.
    pub title: &'static str,
    /// Entries of the section, sorted by name.
    pub entries: Vec<Entry>,
}

impl Section {
    pub(super) fn new(group: &'static str, name: &'static str, title: &'static str, mut entries: Vec<Entry>) -> Self {
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            group,
            name,
            title,
            entries,
        }
    }
}

/// Sections whose entries make a subcommand of vkgen fail, although the entries break no program. Each row has the group, the name, the
/// singular and plural of an entry, and the subcommand that refuses the entry.
const STOPPERS: [(&str, &str, [&str; 2], &str); 2] = [
    (
        "policy",
        "stale",
        ["stale policy entry", "stale policy entries"],
        "`emit` refuses",
    ),
    (
        "unknown",
        "added",
        ["unknown construct", "unknown constructs"],
        "`import` refuses",
    ),
];

/// Number of items in each registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Name of the counted items.
    pub what: &'static str,
    /// Number in the old registry.
    pub old: usize,
    /// Number in the new registry.
    pub new: usize,
}

/// Differences between two registries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Header version of the old registry.
    pub old: String,
    /// Header version of the new registry.
    pub new: String,
    /// All sections, in a fixed order.
    pub sections: Vec<Section>,
    /// Numbers of commands for each level, and numbers of other items.
    pub counts: Vec<Count>,
}

impl Report {
    /// Returns `true` if no section has an entry.
    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(|section| section.entries.is_empty())
    }

    /// Returns the highest severity of all entries.
    pub fn severity(&self) -> Severity {
        self.entries()
            .map(|(_, entry)| entry.severity)
            .max()
            .unwrap_or(Severity::Informational)
    }

    /// Returns the exit code for the option `--exit-code` (GEN-91).
    pub fn exit_code(&self) -> u8 {
        match self.severity() {
            Severity::Informational => 0,
            Severity::Concerns => 1,
            Severity::Undecided | Severity::Breaking => 4,
        }
    }

    /// Iterates over the sections that have an entry.
    pub fn full(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| !section.entries.is_empty())
    }

    /// Returns the section of a group by its name.
    pub fn section(&self, group: &str, name: &str) -> Option<&Section> {
        self.sections
            .iter()
            .find(|section| section.group == group && section.name == name)
    }

    /// Returns the entries of this severity with their sections.
    pub fn of(&self, severity: Severity) -> impl Iterator<Item = (&Section, &Entry)> {
        self.entries().filter(move |(_, entry)| entry.severity == severity)
    }

    /// Returns a sentence with the next step for a maintainer.
    pub fn verdict(&self) -> String {
        let count = |severity| self.of(severity).count();
        let (breaking, undecided) = (count(Severity::Breaking), count(Severity::Undecided));
        let mut parts = Vec::new();
        if breaking > 0 {
            parts.push(counted(breaking, "breaking change", "breaking changes"));
        }
        if undecided > 0 {
            parts.push(counted(undecided, "thing needs a decision", "things need a decision"));
        }
        for (group, name, [one, many], refusal) in STOPPERS {
            let count = self.section(group, name).map_or(0, |section| section.entries.len());
            if count > 0 {
                parts.push(format!("{refusal} {}", counted(count, one, many)));
            }
        }
        if !parts.is_empty() {
            return parts.join("; ");
        }
        match self.severity() {
            Severity::Informational if self.is_empty() => "no difference",
            Severity::Informational => "nothing that concerns the loader",
            _ => "changes what is emitted; nothing breaks",
        }
        .to_owned()
    }

    fn entries(&self) -> impl Iterator<Item = (&Section, &Entry)> {
        self.sections
            .iter()
            .flat_map(|section| section.entries.iter().map(move |entry| (section, entry)))
    }
}
