//! Commands, and the versions and extensions that provide them.

use super::{CType, Version};

/// Object on which a command is dispatched (GEN-50).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Level of commands that can be called before an instance exists, because their first parameter is not a dispatchable object.
    Global,
    /// Level of commands on a `VkInstance`.
    Instance,
    /// Level of commands on a `VkPhysicalDevice`.
    PhysicalDevice,
    /// Level of commands on a `VkDevice`, or on a handle that descends from it.
    Device,
}

impl Level {
    /// Returns the word for dumps and snapshots.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Instance => "instance",
            Self::PhysicalDevice => "physical_device",
            Self::Device => "device",
        }
    }

    /// Returns the level that the word denotes.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Global, Self::Instance, Self::PhysicalDevice, Self::Device]
            .into_iter()
            .find(|level| level.word() == word)
    }
}

/// Entry point of Vulkan. An alias is a separate command (GEN-34).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// C name, for example `vkCmdDraw`.
    pub name: String,
    /// Dispatch level, from the first parameter.
    pub level: Level,
    /// Dispatchable handle type of the first parameter, or `None` for a global command.
    pub first_handle: Option<String>,
    /// Lowest core version that requires the command.
    pub core: Option<Version>,
    /// Extensions that provide the command, sorted by name.
    pub providers: Vec<Provider>,
    /// Command whose prototype this command shares, with chains of aliases resolved.
    pub alias: Option<String>,
    /// Platform word of the XML, or `None` if a provider needs no platform (GEN-54). May be `provisional`, which is a degree of
    /// maturity and not an operating system.
    pub platform: Option<String>,
    /// Parameters in order, after the API filter.
    pub params: Vec<Param>,
    /// Return type in the text of the XML, for example `VkResult` or `void`.
    pub return_type: String,
    /// `true` if the definition lists `vulkan` in `export` (GEN-27). The export list of the loader is different.
    pub export: bool,
    /// Providers that deprecate the command, sorted. A deprecated command remains available (GEN-25).
    pub deprecations: Vec<Deprecation>,
}

/// Deprecation of a command. Only reports about differences use this value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deprecation {
    /// Core version or extension that deprecates the command.
    pub by: String,
    /// Command to use instead of the deprecated command; `None` if the XML names none.
    pub superseded_by: Option<String>,
}

/// Extension that provides a command, with its condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Provider {
    /// Extension name.
    pub extension: String,
    /// Text of `depends` in the require block. This text has no effect on look-ups (GEN-32).
    pub depends: Option<String>,
}

/// Parameter of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// C name, which may be a Rust keyword.
    pub name: String,
    /// Type of the parameter.
    pub ty: CType,
    /// Text of the attribute `len`.
    pub len: Option<String>,
    /// Values of the attribute `optional`, one for each level of indirection. The list is empty if the attribute is missing.
    pub optional: Vec<bool>,
    /// Value of the attribute `objecttype`: the name of the sibling that contains the type of a raw 64-bit handle.
    pub object_type: Option<String>,
}
