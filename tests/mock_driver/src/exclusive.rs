//! Checks that the loader calls certain commands of layers and drivers on one thread at a time in the whole process (DRV-118, DRV-168).
//!
//! The mock layer uses this module too.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::system::current_thread;

/// Thread that runs a checked command now, and the depth of its nested checked commands.
static INSIDE: Mutex<Option<(usize, u32)>> = Mutex::new(None);

/// Marks this thread as the only one that may enter a checked command, until this value is dropped.
pub(crate) struct Exclusive(());

impl Exclusive {
    /// Enters `command`, and waits long enough for another thread to enter too. The process ends if another thread enters. The same thread
    /// can enter again.
    pub(crate) fn enter(owner: &str, command: &str) -> Self {
        let here = current_thread();
        let mut inside = INSIDE.lock().unwrap_or_else(PoisonError::into_inner);
        match inside.as_mut() {
            Some((thread, depth)) if *thread == here => *depth += 1,
            Some(_) => {
                eprintln!("mock {owner}: {command} overlaps with another thread's call");
                std::process::abort();
            }
            None => *inside = Some((here, 1)),
        }
        drop(inside);
        thread::sleep(Duration::from_micros(100));
        Self(())
    }
}

impl Drop for Exclusive {
    fn drop(&mut self) {
        let mut inside = INSIDE.lock().unwrap_or_else(PoisonError::into_inner);
        *inside = match *inside {
            Some((thread, depth)) if depth > 1 => Some((thread, depth - 1)),
            _ => None,
        };
    }
}
