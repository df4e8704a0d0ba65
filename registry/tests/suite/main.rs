//! Tests of the registry reader. All tests are in one program, which is linked once, and share [`common`].

mod common;
mod counts;
mod facts;
mod hostile;
mod insensitive;
mod mentions;
mod mutation;
mod overlay;
mod refused;
mod shuffled;
mod snapshot;
