//! How the service hears of changes: of devices (LSV-25) and of packages (LSV-31). What it hears is only that something changed; what
//! there is now, it looks up.

mod devices;
mod folders;
mod udev;

pub use devices::{DeviceFolder, scan};
pub use folders::FolderWatch;
pub use udev::Udev;
