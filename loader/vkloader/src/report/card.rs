//! Graphics cards in the operating system's lists.

use serde::Serialize;
use std::fmt;

/// A graphics card, or a GPU on the platform bus.
#[derive(Debug, Serialize)]
pub(crate) struct Card {
    /// PCI address, or name on the platform bus.
    pub(crate) place: String,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    pub(crate) kernel_driver: Option<String>,
    /// Path of the render node, even if the file does not exist.
    pub(crate) node: Option<String>,
}

impl fmt::Display for Card {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let driver = self.kernel_driver.as_deref().unwrap_or("no kernel driver");
        match self.vendor {
            0 => write!(out, "{} ({driver})", self.place),
            vendor => write!(out, "{} ({vendor:04x}:{:04x}, {driver})", self.place, self.device),
        }
    }
}

#[cfg(test)]
impl Card {
    /// Returns a card of AMD whose kernel driver is loaded, and that has no node.
    pub(crate) fn of_amd() -> Self {
        Self {
            place: "0000:03:00.0".into(),
            vendor: 0x1002,
            device: 0x7448,
            kernel_driver: Some("amdgpu".into()),
            node: None,
        }
    }
}
