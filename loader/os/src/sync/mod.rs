//! Locks, and what threads wait for.
//!
//! No lock here is held across a call out of the loader but a [`ReentrantGate`]. A lock of another thread that is gone in a copy of
//! the process stays taken; what must work there uses [`Mutex::try_lock`].

mod gate;
mod lock;
mod once;
mod use_count;

pub use gate::{Passage, ReentrantGate};
pub use lock::{Condvar, Guard, Mutex};
pub use once::SetOnce;
pub use use_count::UseCount;
