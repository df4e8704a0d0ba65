//! Decisions as records of the trace (docs/trace.md).

use super::reason::{
    DeviceReason, DriverLibraryReason, DriverManifestReason, FileReason, LayerLibraryProblem, LayerListReason,
    LayerReason,
};
use super::{Decision, LogBits, Reason, Source, Subject, Verdict, bits};
use crate::env::Variable;
use crate::text::Text;
use crate::trace::Record;

impl Subject {
    /// Returns the word by which the trace names the kind of object.
    fn word(self) -> &'static str {
        match self {
            Self::DriverManifest => "driver-manifest",
            Self::DriverLibrary => "driver",
            Self::DriverInstance => "driver-instance",
            Self::LayerManifest => "layer-manifest",
            Self::Layer => "layer",
            Self::LayerLibrary => "layer-library",
            Self::PhysicalDevice => "device",
            Self::SettingsFile => "settings",
            Self::Service => "service",
            Self::Catalogue => "catalogue",
        }
    }
}

impl Source {
    /// Writes the origin to a record of the trace.
    pub fn describe(self, record: &mut Record) {
        record.object("source", |source| {
            let word = match self {
                Self::Variable(_) => "variable",
                Self::BuildTime => "build",
                Self::Registry => "registry",
                Self::Bundle => "bundle",
                Self::Service => "service",
                Self::OverrideLayer => "override-layer",
                Self::Settings => "settings",
                Self::Application => "application",
                Self::Driver => "driver",
            };
            source.word("kind", word);
            if let Self::Variable(variable) = self {
                source.word("variable", variable.name());
            }
        });
    }
}

impl LogBits {
    /// Writes the level and the categories of a message to a record of the trace.
    pub fn describe(self, record: &mut Record) {
        let words = bits::NAMES.iter().filter(|(bit, _)| self.contains(*bit));
        record.objects("kinds", words, |kind, (_, word)| kind.word("kind", word));
    }
}

impl Decision {
    /// Writes the complete decision to a record of the trace.
    pub fn describe(&self, record: &mut Record) {
        record.word("subject", self.subject.word());
        record.text("name", &self.name);
        if !self.path.is_empty() {
            record.text("path", &self.path);
        }
        self.source.describe(record);
        match &self.verdict {
            Verdict::Kept => record.word("verdict", "kept"),
            Verdict::Dropped(reason) => {
                record.word("verdict", "dropped");
                record.word("code", reason.code().name());
                record.shown("text", format_args!("{}", self.text()));
                if let Some(bits) = self.bits() {
                    bits.describe(record);
                }
                record.object("details", |details| reason.describe(details));
            }
        }
    }
}

impl Reason {
    /// Writes the details of the reason to the trace record that also contains the reason's code.
    fn describe(&self, record: &mut Record) {
        match self {
            Self::File(FileReason::TooLarge(most)) => record.number("most-bytes", *most),
            Self::File(FileReason::InvalidJson(Some(place))) => {
                record.number("line", place.line.into());
                record.number("column", place.column.into());
            }
            Self::DriverManifest(DriverManifestReason::Variant(variant))
            | Self::Layer(LayerReason::Variant(variant)) => {
                record.number("variant", (*variant).into());
            }
            Self::DriverManifest(DriverManifestReason::Architecture) | Self::Layer(LayerReason::Architecture) => {
                record.number("word-size", usize::BITS.into());
            }
            Self::DriverManifest(DriverManifestReason::Disabled { pattern }) => {
                matched(Variable::DriversDisable, pattern, record);
            }
            Self::DriverManifest(DriverManifestReason::NotSelected) => {
                record.word("variable", Variable::DriversSelect.name());
            }
            Self::DriverManifest(DriverManifestReason::SameFile { kept }) => record.text("kept", kept),
            Self::Layer(LayerReason::NoField(field)) => record.word("field", field),
            Self::DriverLibrary(reason) => reason.describe(record),
            Self::Catalogue(reason) => reason.describe(record),
            Self::Service(reason) => reason.describe(record),
            Self::LayerLibrary(reason) => reason.problem.describe(record),
            Self::DiscoveredLayers(reason) => reason.describe(record),
            Self::Device(DeviceReason::IdFilter(variable) | DeviceReason::NotVisible(Some(variable))) => {
                record.word("variable", variable.name())
            }
            Self::Device(DeviceReason::EnumerationFailed(result)) => record.signed("result", (*result).into()),
            Self::File(_)
            | Self::Settings(_)
            | Self::DriverManifest(_)
            | Self::LayerManifest(_)
            | Self::Layer(_)
            | Self::Device(_) => {}
        }
    }
}

/// Writes the variable, and the pattern in it that matched.
fn matched(variable: Variable, pattern: &Text, record: &mut Record) {
    record.word("variable", variable.name());
    record.text("pattern", pattern);
}

/// Writes the system's error text about a library that could not be opened.
fn system(words: &Text, record: &mut Record) {
    if !words.is_empty() {
        record.text("system", words);
    }
    record.number("word-size", usize::BITS.into());
}

impl DriverLibraryReason {
    fn describe(&self, record: &mut Record) {
        match self {
            Self::NotOpened(words) | Self::WrongArchitecture(words) => system(words, record),
            Self::NoGetInstanceProcAddr(version) => record.number("interface-version", (*version).into()),
            Self::NoExport(function) | Self::NoGlobalFunction(function) => {
                record.word("function", function);
            }
            Self::ExtensionQueryFailed(result) | Self::CreationFailed(result) => {
                record.signed("result", (*result).into())
            }
            Self::DirectNoFunction(index) => record.number("index", (*index).into()),
            Self::DirectNoCommand(index, function) => {
                record.number("index", (*index).into());
                record.word("function", function);
            }
            Self::DirectVersion(index, version) => {
                record.number("index", (*index).into());
                record.number("interface-version", (*version).into());
            }
            Self::DirectVersionQueryFailed(index, result) => {
                record.number("index", (*index).into());
                record.signed("result", (*result).into());
            }
            Self::NegotiationRefused
            | Self::NoEntryPoint
            | Self::NullInstance
            | Self::NoRequiredCommand
            | Self::NoDevices => {}
        }
    }
}

impl LayerLibraryProblem {
    fn describe(&self, record: &mut Record) {
        match self {
            Self::NotOpened(words) | Self::WrongArchitecture(words) => system(words, record),
            Self::NoSymbol(symbol) | Self::NoPreInstanceFunction(_, symbol) => {
                record.text("function", symbol);
            }
            Self::NegotiationRefused { negotiate, result, .. } => {
                record.text("function", negotiate);
                record.signed("result", (*result).into());
            }
        }
    }
}

impl LayerListReason {
    fn describe(&self, record: &mut Record) {
        match self {
            Self::Duplicate { kept } => record.text("kept", kept),
            Self::ComponentMissing { component, .. }
            | Self::Recursive { component }
            | Self::ComponentInvalid { component } => record.text("component", component),
            Self::ComponentOlder { index, .. } | Self::ListsItself { index } => record.number("index", *index as u64),
            Self::Disabled { pattern } => matched(Variable::LayersDisable, pattern, record),
            Self::OtherExecutable { executable } => record.text("executable", executable),
            Self::Blacklisted
            | Self::SecondGlobalOverride
            | Self::OverrideShadowed
            | Self::NotListedInSettings
            | Self::ListedTwice
            | Self::ListedInSettings => {}
        }
    }
}

#[cfg(test)]
#[path = "described_tests.rs"]
mod tests;
