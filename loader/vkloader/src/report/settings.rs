//! Settings files that the programs' loader does not read, because the loader is too old.

use super::{Difference, Report};
use crate::events::{Event, Record};
use crate::other::Other;

/// Name of the settings file.
const FILE: &str = "vk_loader_settings.json";

/// Word for settings files: subject and source in a trace, and kind of the difference between two loaders in a report.
const WHAT: &str = "settings";

/// Removes findings about a settings file that the programs' loader does not read. Returns the difference.
pub(super) fn forget_unread(report: &mut Report, records: &[Record], other: &Other) -> Option<Difference> {
    let path = records.iter().find_map(|record| match &record.event {
        Event::Decision(decision) if decision.subject == WHAT && decision.is_kept() => Some(decision.name.clone()),
        _ => None,
    })?;
    if other.knows(FILE) {
        return None;
    }
    let is_of_file = |source: &Option<String>| source.as_deref() == Some(WHAT);
    report.dropped.retain(|dropped| !is_of_file(&dropped.source));
    Some(Difference {
        what: WHAT,
        only: Some("asked"),
        text: format!("{path} is used here, but the loader that programs get does not read such a file."),
        because: None,
        name: path,
    })
}

impl Report {
    /// Returns `true` if a settings file exists that the programs' loader does not read.
    pub(crate) fn ignores_settings(&self) -> bool {
        let other = self.other_loader.as_ref();
        other.is_some_and(|other| other.differences.iter().any(|one| one.what == WHAT))
    }
}
