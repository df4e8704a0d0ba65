//! Functions that the fuzz targets call inside the loader. These functions are compiled only with `cfg(fuzzing)`.
#![allow(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a fuzz target has the standard library, and may end when memory runs out"
)]

mod catalogue;
mod chain;
mod chains;
mod driver;
mod input;
mod late_driver;
mod record;
mod service_client;

pub use catalogue::catalogue;
pub use chains::chains;
pub use record::record;
pub use service_client::service_client;
