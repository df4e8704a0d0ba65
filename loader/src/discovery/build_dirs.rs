//! Folders fixed when the loader is built. Each can be set through a variable of the build's environment.

/// Follows the base folders of configuration variables (`VKL_SYSCONFDIR`).
pub const SYSCONFDIR: &str = match option_env!("VKL_SYSCONFDIR") {
    Some(folder) => folder,
    None => "/usr/local/etc",
};

/// Follows [`SYSCONFDIR`], unless the builder chose that one (DRV-21, LAY-13).
pub const EXTRASYSCONFDIR: Option<&str> = match option_env!("VKL_SYSCONFDIR") {
    Some(_) => option_env!("VKL_EXTRASYSCONFDIR"),
    None => match option_env!("VKL_EXTRASYSCONFDIR") {
        Some(folder) => Some(folder),
        None => Some("/etc"),
    },
};

/// Stands in for an unset `XDG_CONFIG_DIRS` (`VKL_FALLBACK_CONFIG_DIRS`).
pub const FALLBACK_CONFIG_DIRS: &str = match option_env!("VKL_FALLBACK_CONFIG_DIRS") {
    Some(list) => list,
    None => "/etc/xdg",
};

/// Stands in for an unset `XDG_DATA_DIRS` (`VKL_FALLBACK_DATA_DIRS`).
pub const FALLBACK_DATA_DIRS: &str = match option_env!("VKL_FALLBACK_DATA_DIRS") {
    Some(list) => list,
    None => "/usr/local/share:/usr/share",
};
