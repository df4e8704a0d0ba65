//! Files that the loader of programs opened, and variables that it ignores.

use super::only_here;
use super::other::real_name;
use crate::events::{Event, Record};
use crate::other::Other;
use crate::paths::file_name;

/// Variables that this program sets, or that locate a user's files.
const USUAL: [&str; 7] = [
    "VK_LOADER_TRACE",
    "HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
];

/// Facts about the programs' loader that are not in the results of the probe.
pub(super) struct View<'a> {
    /// File names of the libraries that the programs' loader opened while the loader created an instance and listed the devices.
    pub(super) opened: Vec<&'a str>,
    /// Variables that the examined library reads and the programs' loader does not support, with their values.
    pub(super) unknown: Vec<(&'a str, &'a str)>,
    /// Variables that both loaders read, with values that only the examined library understands.
    pub(super) foreign: Vec<(&'a str, &'a str)>,
    /// Trace of the examined library.
    pub(super) records: &'a [Record],
}

impl<'a> View<'a> {
    pub(super) fn of(records: &'a [Record], other: &'a Other) -> Self {
        let set = records.iter().flat_map(|record| match &record.event {
            Event::Loaded(loaded) => &loaded.variables[..],
            _ => &[],
        });
        let mut set: Vec<(&str, &str)> = set
            .map(|variable| (variable.name.as_str(), variable.value.as_str()))
            .filter(|(name, value)| !value.is_empty() && !USUAL.contains(name))
            .collect();
        set.dedup();
        let (known, unknown): (Vec<_>, Vec<_>) = set.into_iter().partition(|(name, _)| other.knows(name));
        let is_foreign = |(name, value): &(&str, &str)| *name == only_here::SELECT && !only_here::is_common(value);
        Self {
            opened: other.seen.objects.iter().map(|path| file_name(path)).collect(),
            unknown,
            foreign: known.into_iter().filter(is_foreign).collect(),
            records,
        }
    }

    /// Returns `Some(true)` if the programs' loader opened `library`, `Some(false)` if not, and `None` if that loader's libraries are
    /// unknown.
    pub(super) fn opened(&self, library: &str) -> Option<bool> {
        let name = real_name(library);
        (!self.opened.is_empty()).then(|| {
            self.opened
                .iter()
                .any(|opened| *opened == name || *opened == file_name(library))
        })
    }

    /// Returns the reason why the programs' loader does not use a driver that the examined library uses.
    pub(super) fn why_not(&self, library: &str, manifest: Option<&str>) -> Option<String> {
        let named_by = self.records.iter().find_map(|record| match &record.event {
            Event::Decision(decision) if decision.is_kept() && Some(decision.path.as_str()) == manifest => {
                decision.source.variable.as_deref()
            }
            _ => None,
        });
        let unknown = named_by.filter(|name| self.unknown.iter().any(|(known, _)| known == name));
        match (unknown, self.opened(library)) {
            (Some(name), _) => Some(format!(
                "{name} names its driver, and that loader does not know this variable"
            )),
            (None, Some(false)) if !library.is_empty() => Some(format!("that loader did not open {library}")),
            (None, Some(true)) => Some(format!("that loader opened {library} and did not list the device")),
            _ => None,
        }
    }

    /// Returns the reason why the examined library dropped a manifest, library or layer.
    pub(super) fn why_left_out(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        self.records.iter().find_map(|record| match &record.event {
            Event::Decision(decision) if !decision.is_kept() && (fits(&decision.name) || fits(&decision.path)) => {
                let code = decision.code.as_deref().unwrap_or_default();
                let variable = decision.details.get("variable").and_then(|word| word.as_str());
                let unknown = variable.filter(|name| self.unknown.iter().any(|(known, _)| known == name));
                Some(match unknown {
                    Some(name) => format!(
                        "{name} leaves out {} here [{code}], and that loader does not know this variable",
                        decision.name
                    ),
                    None => format!("the library asked here left out {} [{code}]", decision.name),
                })
            }
            _ => None,
        })
    }
}
