//! The modules of `tests/tests/app` that `make test` runs under Wine, as a separate program, because compiling all modules would take most
//! of the time of such a run. `tests/windows/cases.sh` selects the cases. The module `names` contains no selected cases, but functions that
//! the other modules use.

#![cfg(windows)]
#![allow(unused, reason = "modules that are not listed here use some of the functions")]

#[path = "../tests/app/elevated.rs"]
mod elevated;
#[path = "../tests/app/library.rs"]
mod library;
#[path = "../tests/app/names.rs"]
mod names;
#[path = "../tests/app/windows.rs"]
mod windows;
