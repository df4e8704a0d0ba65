//! The generator's tests. All tests are in one program, which is linked once, and share [`common`].

mod committed;
mod common;
mod diff;
mod diff_kinds;
mod diff_output;
mod diff_program;
mod explain;
mod foreign;
mod golden;
mod invented;
mod misfits;
mod overlay;
mod page;
mod program;
mod stability;
#[cfg(unix)]
mod streams;
