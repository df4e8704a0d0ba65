//! The registry reader's tests, in one program: it is linked once, and its cases share [`common`].

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
