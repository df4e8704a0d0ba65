//! The socket to which clients connect (LSV-33). systemd passes the socket to the service, or the service creates it. A lock prevents a
//! second service at the same path.

use crate::failure::Failure;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use rustix::process::{PidfdFlags, PidfdGetfdFlags};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::{Path, PathBuf};

/// Upper bound on the connections that the system queues for the service.
pub const BACKLOG: i32 = 256;
/// Reason why a second service does not start.
const TAKEN: &str = "another service listens there";
/// The number of the first inherited descriptor.
const FIRST_INHERITED: i32 = 3;

/// A listening socket, and a lock that prevents a second service from using the socket's path.
#[derive(Debug)]
pub struct Listener {
    /// The listening socket.
    pub socket: OwnedFd,
    _lock: Option<OwnedFd>,
}

impl Listener {
    /// Returns the socket that this process inherited according to `LISTEN_PID` and `LISTEN_FDS`; `None` if these variables are unset.
    ///
    /// # Errors
    /// The number of inherited descriptors is not one, or the descriptor is not a listening socket of the type `SOCK_SEQPACKET`.
    pub fn inherited(process: Option<&str>, count: Option<&str>) -> Result<Option<Self>, Failure> {
        let own = rustix::process::getpid();
        if process.and_then(|process| process.parse().ok()) != Some(own.as_raw_nonzero().get()) {
            return Ok(None);
        }
        let wrong = |what: String| Failure(format!("LISTEN_FDS: {what}"));
        let count = count.unwrap_or_default();
        if count != "1" {
            return Err(wrong(format!("one socket is needed, and not {count:?}")));
        }
        // `pidfd_getfd` copies the descriptor, and fails if the descriptor is not open.
        let failed = |error: Errno| wrong(format!("descriptor {FIRST_INHERITED}: {error}"));
        let process = rustix::process::pidfd_open(own, PidfdFlags::empty()).map_err(failed)?;
        let socket =
            rustix::process::pidfd_getfd(process, FIRST_INHERITED, PidfdGetfdFlags::empty()).map_err(failed)?;
        let is_right = sockopt::socket_domain(&socket) == Ok(AddressFamily::UNIX)
            && sockopt::socket_type(&socket) == Ok(SocketType::SEQPACKET)
            && sockopt::socket_acceptconn(&socket) == Ok(true);
        if !is_right {
            return Err(wrong("it is no listening socket for sequential packets".to_owned()));
        }
        let flags = rustix::fs::fcntl_getfl(&socket).map_err(failed)?;
        rustix::fs::fcntl_setfl(&socket, flags | OFlags::NONBLOCK).map_err(failed)?;
        Ok(Some(Self { socket, _lock: None }))
    }

    /// Creates the socket at a path. Replaces the socket of a service that ended, but never a socket that still accepts connections.
    ///
    /// # Errors
    /// Another service uses the path, or the system reported an error.
    pub fn bind(path: &Path) -> Result<Self, Failure> {
        let failed = |error: Errno| Failure::at(path)(error);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let made = DirBuilder::new().recursive(true).mode(0o755).create(folder);
            made.map_err(Failure::at(folder))?;
        }
        let lock = lock(path)?;
        let address = SocketAddrUnix::new(path).map_err(failed)?;
        remove_dead(path, &address)?;
        let socket = seqpacket().map_err(failed)?;
        // All users may connect as soon as the socket exists.
        let before = rustix::process::umask(Mode::empty());
        let bound = rustix::net::bind(&socket, &address);
        rustix::process::umask(before);
        bound.map_err(failed)?;
        rustix::fs::chmodat(CWD, path, Mode::from_raw_mode(0o666), rustix::fs::AtFlags::empty()).map_err(failed)?;
        rustix::net::listen(&socket, BACKLOG).map_err(failed)?;
        Ok(Self {
            socket,
            _lock: Some(lock),
        })
    }
}

fn seqpacket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

/// Locks a file next to the socket. The system releases the lock when the process ends. If two services start at the same time, the lock
/// decides which one continues.
fn lock(path: &Path) -> Result<OwnedFd, Failure> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let place = PathBuf::from(name);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let lock = rustix::fs::open(&place, flags, Mode::from_raw_mode(0o600)).map_err(Failure::at(&place))?;
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(lock),
        Err(Errno::WOULDBLOCK) => Err(Failure::at(path)(TAKEN)),
        Err(error) => Err(Failure::at(&place)(error)),
    }
}

/// Removes a socket if no process listens on it.
fn remove_dead(path: &Path, address: &SocketAddrUnix) -> Result<(), Failure> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::at(path)(error)),
        Ok(state) if !state.file_type().is_socket() => {
            return Err(Failure::at(path)("there is something that is no socket"));
        }
        Ok(_) => {}
    }
    let probe = seqpacket().map_err(Failure::at(path))?;
    match rustix::net::connect(&probe, address) {
        Err(Errno::CONNREFUSED) => std::fs::remove_file(path).map_err(Failure::at(path)),
        // The address belongs to a running program: a service whose queue is full, or a program whose socket has a different type.
        Ok(()) | Err(Errno::AGAIN | Errno::PROTOTYPE) => Err(Failure::at(path)(TAKEN)),
        Err(error) => Err(Failure::at(path)(error)),
    }
}
