//! Watches for changes of devices (LSV-25) and packages (LSV-31). A watch only reports that there was a change. The service then lists
//! devices and packages again.

mod devices;
mod folders;

pub use devices::scan;
pub use folders::FolderWatch;
