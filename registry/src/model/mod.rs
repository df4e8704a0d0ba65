//! The resolved registry: immutable facts, keyed and ordered by name.
//!
//! All facts here have already passed the API filter, so only facts of API `vulkan` remain. Aliases are resolved, and each command has its
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

/// All facts of one registry, filtered for API `vulkan`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    /// The header version.
    pub header: HeaderVersion,
    /// All 842 (in 1.4.366) commands that a feature or a supported extension provides.
    pub commands: BTreeMap<String, Command>,
    /// Supported extensions.
    pub extensions: BTreeMap<String, Extension>,
    /// Names of extensions that exist but are disabled (GEN-23).
    pub reserved_extensions: BTreeSet<String>,
    /// Handle types.
    pub handles: BTreeMap<String, Handle>,
    /// Platforms with their protecting macro.
    pub platforms: BTreeMap<String, Platform>,
    /// Core versions that require at least one command.
    pub core_versions: BTreeSet<Version>,
    /// Structures and unions.
    pub structs: BTreeMap<String, Struct>,
    /// Enumerations, with every enumerant that features and supported extensions add.
    pub enums: BTreeMap<String, Enum>,
    /// Bitmask (flags) types.
    pub bitmasks: BTreeMap<String, Bitmask>,
    /// Base types with their typedef text.
    pub base_types: BTreeMap<String, BaseType>,
    /// Function-pointer types.
    pub function_pointers: BTreeMap<String, FunctionPointer>,
    /// API constants, such as `VK_MAX_EXTENSION_NAME_SIZE`.
    pub constants: BTreeMap<String, Constant>,
    /// Types that only a platform header defines.
    pub platform_types: BTreeMap<String, PlatformType>,
    /// Aliases of types (structs, enums, bitmasks, handles): alias name to final target.
    pub type_aliases: BTreeMap<String, String>,
    /// Commands that pass the API filter but reach no table, each with the reason (GEN-82).
    pub unlisted_commands: BTreeMap<String, String>,
}
