//! In which folders systems keep what is searched for: one row a system, so that the rows of all can be tested on one.

/// Where a system keeps manifests and settings, as far as no variable says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Whether the resources of an application's bundle come before all folders (DRV-33, LAY-40).
    pub bundles: bool,
    /// Stands in for an unset `XDG_CONFIG_DIRS`: a list.
    pub config: &'static str,
    /// Stands in for an unset `XDG_DATA_DIRS`: a list.
    pub data: &'static str,
    /// The configuration of what was installed from source.
    pub local_config: &'static str,
    /// The configuration of the system, which follows it.
    pub system_config: &'static str,
}

/// Linux, the BSDs and others that keep their files as those do (DRV-21, LAY-11).
pub const UNIX: Folders = Folders {
    bundles: false,
    config: "/etc/xdg",
    data: "/usr/local/share:/usr/share",
    local_config: "/usr/local/etc",
    system_config: "/etc",
};

/// macOS and iOS.
pub const APPLE: Folders = Folders { bundles: true, ..UNIX };

/// QNX: nothing stands in for an unset variable (LAY-55).
pub const QNX: Folders = Folders {
    config: "",
    data: "",
    ..UNIX
};

/// Fuchsia: as QNX, and the folders are those that a component is given (DRV-42).
pub const FUCHSIA: Folders = Folders {
    local_config: "/config",
    system_config: "/pkg/data",
    ..QNX
};

/// Those of the system that this library is built for.
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

/// The folder in which a service of the system lists drivers (LSV-2): none here.
#[cfg(not(all(target_os = "fuchsia", feature = "fuchsia-service")))]
#[inline]
pub fn service_manifests() -> Option<&'static [u8]> {
    None
}

#[cfg(target_vendor = "apple")]
pub use crate::system::bundle_resources;

/// None: programs of this system come in no bundles.
#[cfg(not(target_vendor = "apple"))]
#[inline]
pub fn bundle_resources(_: &mut [u8]) -> Option<&[u8]> {
    None
}
