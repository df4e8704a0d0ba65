//! Differences between libraries of drivers and of layers on some systems.

/// `true` if the library in a driver's manifest is the key of a system service, never a path (DRV-42).
pub const DRIVERS_HAVE_KEYS: bool = cfg!(all(target_os = "fuchsia", feature = "fuchsia-service"));

#[cfg(not(all(target_os = "fuchsia", feature = "fuchsia-service")))]
impl crate::Library {
    /// Opens the library of a driver.
    ///
    /// # Errors
    /// The error text of the system.
    #[inline]
    pub fn open_driver(path: &[u8]) -> Result<Self, crate::OpenError> {
        Self::open(path)
    }

    /// Opens the library of a layer.
    ///
    /// # Errors
    /// The error text of the system.
    #[inline]
    pub fn open_layer(path: &[u8]) -> Result<Self, crate::OpenError> {
        Self::open(path)
    }
}
