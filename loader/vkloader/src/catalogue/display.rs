//! A display that rejects all clients, and records that a client tried to connect.

use crate::variables::nonempty_here;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Variables that name a display for programs.
const VARIABLES: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];

/// Delay between two checks for clients.
const STEP: Duration = Duration::from_millis(2);

/// Returns `true` if this process belongs to a session with a display.
pub(super) fn is_here() -> bool {
    VARIABLES.into_iter().any(|name| nonempty_here(name).is_some())
}

/// The sockets of a display. A thread accepts and closes connections until the value is dropped.
pub(super) struct Display {
    folder: PathBuf,
    is_asked: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Display {
    /// Starts a display whose sockets are in a folder.
    ///
    /// # Errors
    /// A socket cannot be created, for example because the path of the folder is too long.
    pub(super) fn start(folder: &Path) -> io::Result<Self> {
        let mut listeners = Vec::new();
        for name in VARIABLES {
            let path = folder.join(name);
            // Removes the socket of an earlier display.
            let _ = std::fs::remove_file(&path);
            let listener = UnixListener::bind(path)?;
            listener.set_nonblocking(true)?;
            listeners.push(listener);
        }
        let (is_asked, is_over) = <(Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        let (asked, over) = (is_asked.clone(), is_over.clone());
        let server = thread::Builder::new().spawn(move || {
            while !over.load(Ordering::Relaxed) {
                // Dropping the connection disconnects the client.
                let clients = listeners.iter().filter(|listener| listener.accept().is_ok());
                match clients.count() {
                    0 => thread::sleep(STEP),
                    _ => asked.store(true, Ordering::Relaxed),
                }
            }
        })?;
        Ok(Self {
            folder: folder.into(),
            is_asked,
            is_over,
            server: Some(server),
        })
    }

    /// Sets the variables of a command, so that programs find the display in the same way as in a session.
    pub(super) fn show(&self, command: &mut Command) {
        for name in VARIABLES {
            command.env(name, self.folder.join(name));
        }
        command.env("XDG_RUNTIME_DIR", &self.folder);
    }

    /// Ends the display. Returns `true` if a client tried to connect.
    pub(super) fn end(mut self) -> bool {
        self.stop();
        self.is_asked.load(Ordering::Relaxed)
    }

    fn stop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(server) = self.server.take() {
            // The thread never panics, so the result is never an error.
            let _ = server.join();
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.stop();
    }
}
