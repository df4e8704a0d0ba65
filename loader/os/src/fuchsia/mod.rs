//! The client of Fuchsia's loader service, which alone has drivers (DRV-42, LSV-2, LSV-22, LSV-23).
//!
//! | module | holds |
//! |---|---|
//! | `wire` | the messages, as bytes: pure functions |
//! | `client` | what is asked in which order, and what each failure is called |
//! | `kernel` | the functions of the system that carry it out |
//!
//! The first two know nothing of the system, and are tested on any. The third was compiled, and never run.

mod client;
#[cfg(all(target_os = "fuchsia", feature = "fuchsia-service"))]
mod kernel;
mod wire;

#[cfg(all(target_os = "fuchsia", feature = "fuchsia-service"))]
pub use kernel::manifest_folder;
