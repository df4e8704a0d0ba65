//! Commands, and the versions and extensions that provide them.

use super::{CType, Version};

/// Object on which a command is dispatched (GEN-50).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The first parameter is not a dispatchable object, so the command can be called before an instance exists.
    Global,
    /// `VkInstance`.
    Instance,
    /// `VkPhysicalDevice`.
    PhysicalDevice,
    /// `VkDevice` or a handle that descends from it.
    Device,
}

impl Level {
    /// Returns the word used in dumps and snapshots.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Instance => "instance",
            Self::PhysicalDevice => "physical_device",
            Self::Device => "device",
        }
    }

    /// Returns the level of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Global, Self::Instance, Self::PhysicalDevice, Self::Device]
            .into_iter()
            .find(|level| level.word() == word)
    }
}

/// One entry point. An alias is a separate command (GEN-34).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The C name, such as `vkCmdDraw`.
    pub name: String,
    /// Dispatch level, from the first parameter.
    pub level: Level,
    /// The dispatchable handle type of the first parameter, if there is one.
    pub first_handle: Option<String>,
    /// Lowest core version that requires the command.
    pub core: Option<Version>,
    /// Extensions that provide the command, sorted by name.
    pub providers: Vec<Provider>,
    /// The command whose prototype this command shares, with chains of aliases resolved.
    pub alias: Option<String>,
    /// Platform word of the XML; `None` if a provider needs no platform (GEN-54). `provisional` is a maturity, not a system.
    pub platform: Option<String>,
    /// Parameters in order, after the API filter.
    pub params: Vec<Param>,
    /// Return type as written, such as `VkResult` or `void`.
    pub return_type: String,
    /// `true` if the definition lists `vulkan` in `export` (GEN-27). This differs from the loader's export list.
    pub export: bool,
    /// Providers that deprecate the command, sorted. A deprecated command stays available (GEN-25).
    pub deprecations: Vec<Deprecation>,
}

/// Advice against a command, for readers of a difference only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deprecation {
    /// The core version or extension that provides the command.
    pub by: String,
    /// Command to use instead.
    pub superseded_by: Option<String>,
}

/// An extension that provides a command, and the condition under which it does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Provider {
    /// Extension name.
    pub extension: String,
    /// Text of `depends` on the require block; information only (GEN-32).
    pub depends: Option<String>,
}

/// A parameter of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The C name; may be a Rust keyword.
    pub name: String,
    /// Type of the parameter.
    pub ty: CType,
    /// The `len` attribute as written.
    pub len: Option<String>,
    /// The `optional` attribute, an entry per indirection level; empty when absent.
    pub optional: Vec<bool>,
    /// The `objecttype` attribute: the sibling that gives the kind of a raw 64-bit handle.
    pub object_type: Option<String>,
}
