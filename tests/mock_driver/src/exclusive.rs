//! Commands that layers and drivers expect to be called one at a time over the whole process (DRV-118, DRV-168).
//!
//! The mock layer has this module too.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::system::current_thread;

/// The thread that is inside such a command, and the number of times that it entered.
static INSIDE: Mutex<Option<(usize, u32)>> = Mutex::new(None);

/// Marks this thread as inside one of these commands while the value lives.
pub(crate) struct Exclusive(());

impl Exclusive {
    /// Enters `command`, and stays inside long enough for another thread to enter too. In that case, the process ends. The same thread may
    /// enter again.
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
