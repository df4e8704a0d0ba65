//! The modules of `tests/tests/drivers` that `make test` runs under Wine, as a separate program, because compiling all modules would take
//! most of the time of such a run. `tests/windows/cases.sh` selects the cases. The module `unknown_physical` contains no selected cases,
//! but functions that the other modules use.

#![cfg(windows)]
#![allow(unused, reason = "modules that are not listed here use some of the functions")]

#[path = "../tests/drivers/discovery.rs"]
mod discovery;
#[path = "../tests/drivers/elevated.rs"]
mod elevated;
#[path = "../tests/drivers/manifest.rs"]
mod manifest;
#[path = "../tests/drivers/negotiation.rs"]
mod negotiation;
#[path = "../tests/drivers/opening.rs"]
mod opening;
#[path = "../tests/drivers/surface_queries.rs"]
mod surface_queries;
#[path = "../tests/drivers/surfaces.rs"]
mod surfaces;
#[path = "../tests/drivers/unknown_device.rs"]
mod unknown_device;
#[path = "../tests/drivers/unknown_physical.rs"]
mod unknown_physical;
#[path = "../tests/drivers/windows.rs"]
mod windows;
