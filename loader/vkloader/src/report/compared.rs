//! The loader that programs use and the devices of programs with the other word size, beside the results of the examined library.

use super::Ended;
use serde::Serialize;

/// The loader that programs use, if it is not the examined library.
#[derive(Debug, Serialize)]
pub(crate) struct OtherLoader {
    pub(crate) version: Option<String>,
    pub(crate) path: Option<String>,
    /// Package or program that installed the file.
    pub(crate) owner: Option<String>,
    /// The way in which the process with this loader ended.
    pub(crate) ending: Ended,
    /// `true` if the same probe ran with both loaders. `false` for the user's program, which runs with only one of the two loaders.
    pub(crate) is_compared: bool,
    pub(crate) differences: Vec<Difference>,
}

impl OtherLoader {
    /// Returns the heading for the loader that programs use.
    pub(crate) fn title(&self) -> &'static str {
        match (&self.path, self.is_whole()) {
            (Some(_), _) => "Programs on this machine get another loader",
            (None, true) => "Programs on this machine find no Vulkan loader",
            (None, false) => "Programs on this machine get a Vulkan loader that ends them",
        }
    }

    /// Returns `true` if the process with this loader ended normally.
    fn is_whole(&self) -> bool {
        (self.ending.by, self.ending.number) == ("status", Some(0))
    }

    /// Returns one line about the loader that programs use; empty if programs have no loader.
    pub(crate) fn line(&self) -> String {
        let Some(path) = self.path.as_deref() else {
            return String::new();
        };
        let version = self.version.as_deref().unwrap_or("of an unknown version");
        let owner = self.owner.as_deref().unwrap_or("no package");
        format!("Vulkan loader {version}, {path} ({owner})")
    }

    /// Returns a line for each difference. Differences of the same kind that have no known cause share a line.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for one in self.differences.iter().filter(|one| !one.is_bare()) {
            lines.push(match &one.because {
                Some(because) => format!("{} ({because})", one.text),
                None => one.text.clone(),
            });
        }
        for (only, who) in [
            ("asked", "Only the library asked here"),
            ("other", "Only the loader that programs get"),
        ] {
            for what in ["layer", "extension"] {
                let bare = self.differences.iter().filter(|one| one.is_bare());
                let names: Vec<&str> = bare
                    .filter(|one| (one.what, one.only) == (what, Some(only)))
                    .map(|one| one.name.as_str())
                    .collect();
                if !names.is_empty() {
                    lines.push(format!("{who} lists the {what}s {}.", names.join(", ")));
                }
            }
        }
        lines
    }

    /// Returns the sentence for a comparison that found no differences.
    pub(crate) fn agreement(&self) -> Option<&'static str> {
        match (self.is_compared, self.differences.is_empty()) {
            (true, true) if self.version.is_some() && self.is_whole() => {
                Some("It gives programs the same devices, layers and extensions as the library asked here.")
            }
            (false, _) if self.is_whole() => Some(
                "The program ran with the library of vkloader, and not with this loader; without a program \
                 vkloader explain compares the two.",
            ),
            _ => None,
        }
    }
}

/// A difference between two loaders.
#[derive(Debug, Serialize)]
pub(crate) struct Difference {
    /// Subject of the difference: `variable`, `settings`, `call`, `device`, `order`, `driver`, `layer`, or `extension`.
    pub(crate) what: &'static str,
    pub(crate) name: String,
    /// The loader that has the item: `asked` for the examined library, `other` for the loader that programs use, `None` for both loaders.
    pub(crate) only: Option<&'static str>,
    /// The difference, as one sentence.
    pub(crate) text: String,
    /// The cause of the difference, according to the decisions of the examined library.
    pub(crate) because: Option<String>,
}

impl Difference {
    /// Returns `true` for a layer or extension that only one loader has, if no cause is known.
    fn is_bare(&self) -> bool {
        matches!(self.what, "layer" | "extension") && self.only.is_some() && self.because.is_none()
    }
}

/// The devices of programs whose word size differs from the examined program's.
#[derive(Debug, Serialize)]
pub(crate) struct OtherWordSize {
    pub(crate) word_size: u32,
    /// Name of the verdict.
    pub(crate) verdict: String,
    pub(crate) devices: Vec<String>,
    pub(crate) first_cause: Option<FirstCause>,
}

impl OtherWordSize {
    /// Returns one line about the devices of programs with this word size.
    pub(crate) fn line(&self) -> String {
        let bits = self.word_size;
        match (self.devices.is_empty(), &self.first_cause) {
            (false, _) => format!("Programs of {bits} bits get: {}.", self.devices.join(", ")),
            (true, Some(first)) => format!(
                "Programs of {bits} bits get no device: {}: {}",
                first.name, first.reason
            ),
            (true, None) => format!("Programs of {bits} bits get no device."),
        }
    }
}

/// The first finding that has a remedy, in the report for programs whose word size differs from the examined program's.
#[derive(Debug, Serialize)]
pub(crate) struct FirstCause {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) reason: String,
    pub(crate) advice: String,
}
