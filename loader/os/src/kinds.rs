//! What systems do differently for the libraries of drivers and for those of layers.

/// Whether what a manifest of a driver calls its library is the key of a system's service, and never a path (DRV-42).
pub const DRIVERS_HAVE_KEYS: bool = cfg!(all(target_os = "fuchsia", feature = "fuchsia-service"));

#[cfg(not(all(target_os = "fuchsia", feature = "fuchsia-service")))]
impl crate::Library {
    /// Opens the library of a driver.
    ///
    /// # Errors
    /// The system's, in its words.
    #[inline]
    pub fn open_driver(path: &[u8]) -> Result<Self, crate::OpenError> {
        Self::open(path)
    }

    /// Opens the library of a layer.
    ///
    /// # Errors
    /// The system's, in its words.
    #[inline]
    pub fn open_layer(path: &[u8]) -> Result<Self, crate::OpenError> {
        Self::open(path)
    }
}
