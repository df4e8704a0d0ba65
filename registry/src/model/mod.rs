//! Model of the resolved registry: facts in maps that are sorted by name.
//!
//! All facts in the model have passed the API filter, so only facts of API `vulkan` remain. Aliases are resolved, and each command has its
//! level. The committed snapshot stores this model, and the generator reads it.

mod command;
mod extension;
mod types;
mod version;

pub use command::{Command, Deprecation, Level, Param, Provider};
pub use extension::{Extension, ExtensionKind, Platform};
pub use types::{
    BaseType, Bitmask, CType, Constant, Enum, Enumerant, FunctionPointer, Handle, Member, PlatformType, Struct,
    StructKind,
};
pub use version::{HeaderVersion, Version};

use std::collections::{BTreeMap, BTreeSet};

/// Facts of a registry, filtered for API `vulkan`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    /// Version of the header.
    pub header: HeaderVersion,
    /// Commands that a feature or a supported extension provides. Header 1.4.366 has 842 commands.
    pub commands: BTreeMap<String, Command>,
    /// Supported extensions.
    pub extensions: BTreeMap<String, Extension>,
    /// Names of extensions that exist but are disabled (GEN-23).
    pub reserved_extensions: BTreeSet<String>,
    /// Handle types.
    pub handles: BTreeMap<String, Handle>,
    /// Platforms with the macros that guard them.
    pub platforms: BTreeMap<String, Platform>,
    /// Core versions that require at least one command.
    pub core_versions: BTreeSet<Version>,
    /// Structures and unions.
    pub structs: BTreeMap<String, Struct>,
    /// Enumerations, with every enumerant that features and supported extensions add.
    pub enums: BTreeMap<String, Enum>,
    /// Flags types.
    pub bitmasks: BTreeMap<String, Bitmask>,
    /// Base types with their typedef text.
    pub base_types: BTreeMap<String, BaseType>,
    /// Function-pointer types.
    pub function_pointers: BTreeMap<String, FunctionPointer>,
    /// API constants, for example `VK_MAX_EXTENSION_NAME_SIZE`.
    pub constants: BTreeMap<String, Constant>,
    /// Types that only a platform header defines.
    pub platform_types: BTreeMap<String, PlatformType>,
    /// Aliases of structures, enumerations, flags types and handles, each with its final target.
    pub type_aliases: BTreeMap<String, String>,
    /// Commands that pass the API filter but are in no table, each with the reason (GEN-82).
    pub unlisted_commands: BTreeMap<String, String>,
}
