//! The modules of `tests/tests/layers` that `make test` runs under Wine, as a separate program, because compiling all modules would take
//! most of the time of such a run. `tests/windows/cases.sh` selects the cases. The modules `kit` and `meta` contain no selected cases, but
//! functions that the other modules use.

#![cfg(windows)]
#![allow(unused, reason = "modules that are not listed here use some of the functions")]

#[path = "../tests/layers/discovery.rs"]
mod discovery;
#[path = "../tests/layers/elevated.rs"]
mod elevated;
#[path = "../tests/layers/kit.rs"]
mod kit;
#[path = "../tests/layers/meta.rs"]
mod meta;
#[path = "../tests/layers/negotiation.rs"]
mod negotiation;
#[path = "../tests/layers/paths.rs"]
mod paths;
#[path = "../tests/layers/windows.rs"]
mod windows;
