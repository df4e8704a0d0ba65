//! Facts about the registry's extensions, and sets of the extensions that the loader handles. The generator emits the rows.

#[allow(
    non_camel_case_types,
    missing_docs,
    unused,
    reason = "emitted as a whole, with the names of the C headers, whatever the loader uses of it"
)]
#[path = "../../../generated/extensions.rs"]
mod rows;

pub use rows::{ALL, DeviceExtension, DeviceExtensionSet, InstanceExtension, InstanceExtensionSet};

use core::ffi::CStr;

/// Kind of object on which an extension is enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtensionKind {
    /// An instance.
    Instance,
    /// A device.
    Device,
}

/// An extension of the registry.
#[derive(Clone, Copy, Debug)]
pub struct ExtensionRow {
    /// Name of the extension.
    pub name: &'static CStr,
    /// Kind of object on which the extension is enabled.
    pub kind: ExtensionKind,
    /// Revision of the extension's specification.
    pub spec_version: u32,
    /// Platform of the extension in the registry.
    pub platform: Option<&'static str>,
}

/// Returns a name from a text that ends with a NUL. In a constant, any other text is a compile error.
pub const fn c_name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("the name has no terminator at its end, or a NUL before it"),
    }
}

/// Extensions for surfaces of window systems. A loader that is built without the window system drops these extensions even if it filters no
/// other extension.
const NEVER_WITHOUT_PLATFORM: [InstanceExtension; 5] = [
    InstanceExtension::VK_KHR_wayland_surface,
    InstanceExtension::VK_KHR_xcb_surface,
    InstanceExtension::VK_KHR_xlib_surface,
    InstanceExtension::VK_EXT_directfb_surface,
    InstanceExtension::VK_QNX_screen_surface,
];

/// Returns `true` if an extension is for a window system that this loader is built without. Neither a driver (DRV-105) nor a layer
/// (LAY-104) may offer such an extension.
pub fn lacks_window_system(extension: InstanceExtension) -> bool {
    NEVER_WITHOUT_PLATFORM.contains(&extension) && !extension.platform_built_in()
}

/// Declares an enumeration of extensions, and a type for sets of these extensions. The first row has the names of both types, and the
/// integer type of the set. Each other row has an extension's name and revision, and a flag that is `true` if the target has the
/// extension's platform.
macro_rules! extension_kind {
    ($kind:ident, $set:ident, $bits:ty; $($name:ident, $version:literal, $built_in:expr;)*) => {
        /// Extensions of this kind that the loader knows.
        #[repr(u8)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $kind {
            $($name),*
        }

        impl $kind {
            /// Number of extensions.
            pub const COUNT: usize = Self::ALL.len();
            /// All extensions, sorted by name.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the extension's name.
            pub fn name(self) -> &'static core::ffi::CStr {
                const NAMES: [&core::ffi::CStr; $kind::COUNT] =
                    [$($crate::extension::c_name(concat!(stringify!($name), "\0"))),*];
                NAMES[self as usize]
            }

            /// Returns the extension called `name`.
            pub fn find(name: &[u8]) -> Option<Self> {
                let found = Self::ALL.binary_search_by(|extension| extension.name().to_bytes().cmp(name));
                found.ok().map(|index| Self::ALL[index])
            }

            /// Returns the revision of the extension's specification.
            pub const fn spec_version(self) -> u32 {
                const VERSIONS: [u32; $kind::COUNT] = [$($version),*];
                VERSIONS[self as usize]
            }

            /// Returns `true` if the extension's platform is available on this target.
            pub const fn platform_built_in(self) -> bool {
                const BUILT_IN: [bool; $kind::COUNT] = [$($built_in),*];
                BUILT_IN[self as usize]
            }
        }

        /// A set of extensions of this kind, with one bit per extension.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $set(pub $bits);

        impl $set {
            /// Returns the empty set.
            pub const fn empty() -> Self {
                Self(0)
            }

            /// Returns the set of the extensions in `extensions`.
            pub const fn of(extensions: &[$kind]) -> Self {
                let mut set = Self::empty();
                let mut rest = extensions;
                while let Some((extension, tail)) = rest.split_first() {
                    set = set.with(*extension);
                    rest = tail;
                }
                set
            }

            /// Returns this set with one more extension.
            pub const fn with(self, extension: $kind) -> Self {
                Self(self.0 | 1 << extension as u8)
            }

            /// Adds an extension.
            pub const fn insert(&mut self, extension: $kind) {
                *self = self.with(extension);
            }

            /// Returns `true` if the extension is in the set.
            pub const fn contains(self, extension: $kind) -> bool {
                self.0 >> extension as u8 & 1 != 0
            }

            /// Returns the union of both sets.
            pub const fn union(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// Returns `true` if the sets share an extension.
            pub const fn intersects(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// Returns `true` if the set is empty.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// Iterates over the extensions in the set, sorted by name.
            pub fn iter(self) -> impl Iterator<Item = $kind> {
                $kind::ALL.iter().copied().filter(move |extension| self.contains(*extension))
            }
        }
    };
}

/// Declares the table of all extensions from rows of name, kind, revision and platform.
macro_rules! all_extensions {
    ($($name:ident, $kind:ident, $version:literal, $platform:expr;)*) => {
        /// All extensions, sorted by name.
        pub static ALL: &[$crate::extension::ExtensionRow] = &[$($crate::extension::ExtensionRow {
            name: $crate::extension::c_name(concat!(stringify!($name), "\0")),
            kind: $crate::extension::ExtensionKind::$kind,
            spec_version: $version,
            platform: $platform,
        }),*];
    };
}

pub(crate) use {all_extensions, extension_kind};
