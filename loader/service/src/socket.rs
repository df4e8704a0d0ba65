//! The socket to which clients connect (LSV-33). systemd passes the socket to the service, or the service creates it. A lock prevents a
//! second service at the same path.

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use rustix::process::{PidfdFlags, PidfdGetfdFlags};
use std::fmt;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Upper bound on the connections that the system queues for the service.
pub const BACKLOG: i32 = 256;
/// The number of the first inherited descriptor.
const FIRST_INHERITED: i32 = 3;

/// A listening socket, and a lock that prevents a second service from using the socket's path.
#[derive(Debug)]
pub struct Listener {
    /// The listening socket.
    pub socket: OwnedFd,
    _lock: Option<OwnedFd>,
}

/// Reason why the service has no socket.
#[derive(Debug)]
pub enum ListenError {
    /// Another service uses the socket.
    Taken(PathBuf),
    /// The file at the path is not a socket.
    NoSocket(PathBuf),
    /// The number of inherited descriptors is not one, or the descriptor is not a listening socket of the type `SOCK_SEQPACKET`.
    Inherited(String),
    /// The system reported an error.
    Io(PathBuf, io::Error),
}

impl fmt::Display for ListenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(path) => write!(formatter, "{}: another service listens there", path.display()),
            Self::NoSocket(path) => write!(formatter, "{}: there is something that is no socket", path.display()),
            Self::Inherited(what) => formatter.write_str(what),
            Self::Io(path, error) => write!(formatter, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for ListenError {}

impl Listener {
    /// Returns the socket that this process inherited according to `LISTEN_PID` and `LISTEN_FDS`; `None` if these variables are unset.
    ///
    /// # Errors
    /// The inherited descriptor cannot be used.
    pub fn inherited(process: Option<&str>, count: Option<&str>) -> Result<Option<Self>, ListenError> {
        let own = rustix::process::getpid();
        if process.and_then(|process| process.parse().ok()) != Some(own.as_raw_nonzero().get()) {
            return Ok(None);
        }
        let wrong = |what: String| ListenError::Inherited(format!("LISTEN_FDS: {what}"));
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
    pub fn bind(path: &Path) -> Result<Self, ListenError> {
        let failed = |error: Errno| ListenError::Io(path.to_owned(), error.into());
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder).map_err(|error| ListenError::Io(folder.to_owned(), error))?;
        }
        let lock = lock(path)?;
        let address = SocketAddrUnix::new(path).map_err(failed)?;
        remove_dead(path, &address)?;
        let socket = seqpacket(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK).map_err(failed)?;
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

fn seqpacket(flags: SocketFlags) -> Result<OwnedFd, Errno> {
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)
}

/// Locks a file next to the socket. The system releases the lock when the process ends. If two services start at the same time, the lock
/// decides which one continues.
fn lock(path: &Path) -> Result<OwnedFd, ListenError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let place = PathBuf::from(name);
    let failed = |error: Errno| ListenError::Io(place.clone(), error.into());
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let lock = rustix::fs::open(&place, flags, Mode::from_raw_mode(0o600)).map_err(failed)?;
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(lock),
        Err(Errno::WOULDBLOCK) => Err(ListenError::Taken(path.to_owned())),
        Err(error) => Err(failed(error)),
    }
}

/// Removes a socket if no process listens on it.
fn remove_dead(path: &Path, address: &SocketAddrUnix) -> Result<(), ListenError> {
    let failed = |error: io::Error| ListenError::Io(path.to_owned(), error);
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(state) if !state.file_type().is_socket() => return Err(ListenError::NoSocket(path.to_owned())),
        Ok(_) => {}
    }
    let probe = seqpacket(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK).map_err(|error| failed(error.into()))?;
    match rustix::net::connect(&probe, address) {
        Err(Errno::CONNREFUSED) => std::fs::remove_file(path).map_err(failed),
        // The address belongs to a running program: a service whose queue is full, or a program whose socket has a different type.
        Ok(()) | Err(Errno::AGAIN | Errno::PROTOTYPE) => Err(ListenError::Taken(path.to_owned())),
        Err(error) => Err(failed(error.into())),
    }
}

/// Returns `true` if a path refers to a socket.
pub fn is_socket(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket)
}
