//! Client of Fuchsia's loader service, the only source of drivers there (DRV-42, LSV-2, LSV-22, LSV-23).
//!
//! | module | content |
//! |---|---|
//! | `wire` | messages as bytes: pure functions |
//! | `client` | requests, their order, and the names of failures |
//! | `kernel` | functions of the system |
//!
//! `wire` and `client` do not depend on the system, so their tests run on every system. `kernel` has been compiled, but never run.

mod client;
#[cfg(all(target_os = "fuchsia", feature = "fuchsia-service"))]
mod kernel;
mod wire;

#[cfg(all(target_os = "fuchsia", feature = "fuchsia-service"))]
pub use kernel::manifest_folder;
