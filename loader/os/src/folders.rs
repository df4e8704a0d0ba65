//! Folders in which systems keep manifests and settings: one row per system, so that all rows can be tested on one system.

/// Folders in which a system keeps manifests and settings. Variables can name other folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folders {
    /// `true` if the resources folder of an application's bundle is searched before all other folders (DRV-33, LAY-40).
    pub bundles: bool,
    /// List of folders that replaces an unset `XDG_CONFIG_DIRS`.
    pub config: &'static str,
    /// List of folders that replaces an unset `XDG_DATA_DIRS`.
    pub data: &'static str,
    /// Configuration folder for software that was installed from source.
    pub local_config: &'static str,
    /// Configuration folder of the system, which comes after `local_config`.
    pub system_config: &'static str,
}

/// Folders of Linux, the BSDs and similar systems (DRV-21, LAY-11).
pub const UNIX: Folders = Folders {
    bundles: false,
    config: "/etc/xdg",
    data: "/usr/local/share:/usr/share",
    local_config: "/usr/local/etc",
    system_config: "/etc",
};

/// Folders of macOS and iOS.
pub const APPLE: Folders = Folders { bundles: true, ..UNIX };

/// Folders of QNX, which has no defaults for unset variables (LAY-55).
pub const QNX: Folders = Folders {
    config: "",
    data: "",
    ..UNIX
};

/// Folders of Fuchsia, where a component has its own two configuration folders (DRV-42).
pub const FUCHSIA: Folders = Folders {
    local_config: "/config",
    system_config: "/pkg/data",
    ..QNX
};

/// Folders of the system for which this library is built.
pub const HERE: Folders = if cfg!(target_vendor = "apple") {
    APPLE
} else if cfg!(target_os = "nto") {
    QNX
} else if cfg!(target_os = "fuchsia") {
    FUCHSIA
} else {
    UNIX
};

#[cfg(all(target_os = "fuchsia", feature = "fuchsia-service"))]
pub use crate::fuchsia::manifest_folder as service_manifests;

/// Returns `None`: no service of this system lists drivers in a folder (LSV-2).
#[cfg(not(all(target_os = "fuchsia", feature = "fuchsia-service")))]
#[inline]
pub fn service_manifests() -> Option<&'static [u8]> {
    None
}

#[cfg(target_vendor = "apple")]
pub use crate::system::bundle_resources;

/// Returns `None`: programs of this system have no bundles.
#[cfg(not(target_vendor = "apple"))]
#[inline]
pub fn bundle_resources(_: &mut [u8]) -> Option<&[u8]> {
    None
}
