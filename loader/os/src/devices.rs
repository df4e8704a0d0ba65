//! How systems rank physical devices.

/// Whether physical devices are sorted by what they tell about themselves, since the system has no order of adapters to ask for
/// (DRV-137).
pub const SORTED_BY_PROPERTIES: bool = cfg!(any(
    target_os = "linux",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "netbsd",
    target_os = "dragonfly",
    target_os = "hurd"
));
