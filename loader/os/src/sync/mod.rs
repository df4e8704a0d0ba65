//! Locks, condition variables, values that are set once, and counts of uses.
//!
//! Only a [`ReentrantGate`] is held across a call out of the loader. In a forked process, a lock that another thread held stays taken; code
//! that must work in a forked process uses [`Mutex::try_lock`].

mod gate;
mod lock;
mod once;
mod use_count;

pub use gate::{Passage, ReentrantGate};
pub use lock::{Condvar, Guard, Mutex};
pub use once::SetOnce;
pub use use_count::UseCount;
