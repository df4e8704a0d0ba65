//! A driver service for tests, in the process of the program. The service is honest, unless a test changes its answers.

use std::fs::{self, File};
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use loader_tests::{eventually, retried};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use wire::{Header, MOST_IN_REQUEST, Operation, Packet};

/// Seals that a memory file must have. The seals forbid a change of its contents, size and seals.
pub(crate) const SEALS: i32 = libc::F_SEAL_SEAL | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE;

/// Driver that the service publishes, with the libraries that it needs.
#[derive(Clone)]
pub(crate) struct Package {
    /// Key of the driver's library.
    pub(crate) key: String,
    /// Text of the driver's manifest.
    pub(crate) manifest: String,
    /// Path of the file with the library's bytes.
    pub(crate) library: PathBuf,
    /// Libraries that the driver needs: their keys, their files, and additional members of the list.
    pub(crate) needs: Vec<(String, PathBuf, Value)>,
    /// Version of the C library that the driver needs.
    pub(crate) c_library: &'static str,
}

impl Package {
    /// Creates a driver in the same form as the service publishes it.
    pub(crate) fn new(instance: usize, library: PathBuf) -> Self {
        let name = library.file_name().expect("a library has a name").to_string_lossy();
        let key = format!("{instance}-{name}");
        let manifest = json!({
            "file_format_version": "1.0.1",
            "ICD": { "library_path": key, "api_version": "1.3.280" },
        });
        Self {
            manifest: manifest.to_string(),
            key,
            library,
            needs: Vec::new(),
            c_library: "",
        }
    }

    /// Iterates over the libraries that clients can request, with their keys.
    fn libraries(&self) -> impl Iterator<Item = (&str, &Path)> {
        let needs = self.needs.iter().map(|(key, path, _)| (&key[..], path.as_path()));
        [(&self.key[..], self.library.as_path())].into_iter().chain(needs)
    }

    /// Adds the libraries of the driver to the text of a list. The driver's own library comes last.
    fn list(&self, text: &mut Vec<u8>) {
        let own = (
            &self.key,
            &self.library,
            json!({"c_library": self.c_library}),
            &*self.manifest,
        );
        let needs = self.needs.iter().map(|(key, path, more)| (key, path, more.clone(), ""));
        for (key, path, more, manifest) in needs.chain([own]) {
            let member = |name: &str| more[name].as_str().unwrap_or_default().to_owned();
            let symbols = more["symbols"].as_u64().unwrap_or_default();
            let (file, c_library, sum) = (member("file"), member("c_library"), sum(&bytes_of(path)));
            for part in [key, &file, &symbols.to_string(), &c_library, &sum, manifest] {
                text.extend_from_slice(part.as_bytes());
                text.push(0);
            }
        }
    }

    /// Adds `member` to the driver's manifest.
    pub(crate) fn with(mut self, member: &str, value: Value) -> Self {
        let mut manifest: Value = serde_json::from_str(&self.manifest).expect("written above");
        manifest["ICD"][member] = value;
        self.manifest = manifest.to_string();
        self
    }
}

/// Request of a client.
pub(crate) struct Request {
    pub(crate) header: Header,
    pub(crate) payload: Value,
}

impl Request {
    pub(crate) fn is(&self, operation: Operation) -> bool {
        self.header.operation == operation as u16
    }
}

/// Answer to a request.
pub(crate) struct Reply {
    pub(crate) header: Header,
    pub(crate) payload: Vec<u8>,
    pub(crate) files: Vec<OwnedFd>,
    /// Function that changes the whole packet just before the service sends it.
    pub(crate) last: fn(&mut Vec<u8>),
}

impl Reply {
    pub(crate) fn new(request: &Request, payload: &Value, files: Vec<OwnedFd>) -> Self {
        Self {
            header: request.header.reply(),
            payload: payload.to_string().into(),
            files,
            last: |_| {},
        }
    }

    /// Changes a member of the answer.
    pub(crate) fn set(&mut self, member: &str, value: Value) {
        let mut payload: Value = serde_json::from_slice(&self.payload).expect("an honest answer");
        payload[member] = value;
        self.payload = payload.to_string().into();
    }
}

/// Action of the service after it has formed an answer.
#[derive(PartialEq, Eq)]
pub(crate) enum Then {
    Send,
    /// Sends no answer, and does not close the connection.
    Keep,
    /// Closes the connection.
    Close,
}

type Change = dyn Fn(&Request, &mut Reply) -> Then + Send + Sync;

struct Shared {
    packages: Mutex<Vec<Package>>,
    change: Box<Change>,
    connections: AtomicUsize,
    requests: AtomicUsize,
    /// Descriptors of the open connections.
    live: Mutex<Vec<Arc<OwnedFd>>>,
}

/// A service that listens. Dropping this value ends the service.
pub(crate) struct Server {
    path: PathBuf,
    shared: Arc<Shared>,
    listener: Arc<OwnedFd>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Server {
    /// Starts a service that does not change its answers.
    pub(crate) fn honest(path: &Path, packages: &[Package]) -> Self {
        Self::start(path, packages, None, Duration::ZERO, |_, _| Then::Send)
    }

    /// Starts a service whose answers pass through `change`.
    pub(crate) fn changed(
        path: &Path,
        packages: &[Package],
        change: impl Fn(&Request, &mut Reply) -> Then + Send + Sync + 'static,
    ) -> Self {
        Self::start(path, packages, None, Duration::ZERO, change)
    }

    /// Starts a service that another user runs.
    pub(crate) fn of_user(path: &Path, packages: &[Package], user: u32) -> Self {
        Self::start(path, packages, Some(user), Duration::ZERO, |_, _| Then::Send)
    }

    /// Starts a service that listens at once, and accepts connections only after a pause.
    pub(crate) fn late(path: &Path, packages: &[Package], pause: Duration) -> Self {
        Self::start(path, packages, None, pause, |_, _| Then::Send)
    }

    fn start(
        path: &Path,
        packages: &[Package],
        user: Option<u32>,
        pause: Duration,
        change: impl Fn(&Request, &mut Reply) -> Then + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared::new(packages, change));
        let listener = Arc::new(bound(path));
        let (of_thread, served) = (listener.clone(), shared.clone());
        let (ready, is_ready) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            if let Some(user) = user {
                // The system call changes only this thread. The function of the C library would change all threads. SAFETY: the call has no
                // pointer argument.
                let changed = unsafe { libc::syscall(libc::SYS_setresuid, user, user, user) };
                assert_eq!(changed, 0, "the superuser can become another one");
            }
            // SAFETY: the socket is bound and open.
            assert_eq!(unsafe { libc::listen(of_thread.as_raw_fd(), 16) }, 0);
            ready.send(()).expect("the other thread waits");
            thread::sleep(pause);
            let accept = || {
                let accepted = retried(|| {
                    // SAFETY: the descriptor is a listening socket. Null means that the call returns no address.
                    unsafe { libc::accept4(of_thread.as_raw_fd(), null_mut(), null_mut(), libc::SOCK_CLOEXEC) }
                });
                made(accepted.unwrap_or(-1))
            };
            while let Some(client) = accept() {
                served.connections.fetch_add(1, Ordering::SeqCst);
                served.take_up(client);
            }
        });
        is_ready.recv().expect("the thread listens");
        Self {
            path: path.into(),
            shared,
            listener,
            thread: Some(thread),
        }
    }

    /// Returns the number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Returns the number of requests so far.
    pub(crate) fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::SeqCst)
    }

    /// Replaces the published drivers.
    pub(crate) fn publish(&self, packages: &[Package]) {
        *self.shared.packages.lock().expect("no panic") = packages.to_vec();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: the descriptor is an open socket.
        unsafe { libc::shutdown(self.listener.as_raw_fd(), libc::SHUT_RDWR) };
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the service does not panic");
        }
        self.shared.end();
        let _ = fs::remove_file(&self.path);
    }
}

impl Shared {
    fn new(packages: &[Package], change: impl Fn(&Request, &mut Reply) -> Then + Send + Sync + 'static) -> Self {
        Self {
            packages: Mutex::new(packages.to_vec()),
            change: Box::new(change),
            connections: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            live: Mutex::default(),
        }
    }

    /// Serves a client on a new thread.
    fn take_up(self: &Arc<Self>, client: OwnedFd) {
        let (shared, client) = (self.clone(), Arc::new(client));
        shared.live.lock().expect("no panic").push(client.clone());
        thread::spawn(move || {
            shared.serve(&client);
            // SAFETY: the descriptor is an open socket.
            unsafe { libc::shutdown(client.as_raw_fd(), libc::SHUT_RDWR) };
            shared
                .live
                .lock()
                .expect("no panic")
                .retain(|other| !Arc::ptr_eq(other, &client));
        });
    }

    fn serve(&self, client: &OwnedFd) {
        let mut room = [0; 16 + MOST_IN_REQUEST];
        loop {
            // SAFETY: the memory is writable and has this length.
            let received =
                retried(|| unsafe { libc::recv(client.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), 0) });
            let Some(length @ 1..) = received.ok().and_then(|length| usize::try_from(length).ok()) else {
                return;
            };
            self.requests.fetch_add(1, Ordering::SeqCst);
            let packet = Packet::read(&room[..length], MOST_IN_REQUEST).expect("the loader writes packets");
            let request = Request {
                header: packet.header,
                payload: serde_json::from_slice(packet.payload).expect("the loader writes JSON"),
            };
            let mut reply = self.answer(&request);
            match (self.change)(&request, &mut reply) {
                Then::Send => send(client.as_raw_fd(), reply),
                Then::Keep => {}
                Then::Close => return,
            }
        }
    }

    fn answer(&self, request: &Request) -> Reply {
        let packages = self.packages.lock().expect("no panic").clone();
        match Operation::from_number(request.header.operation) {
            Some(Operation::Manifests) => {
                assert_eq!(request.payload["wait_for_idle"], json!(true));
                assert!(matches!(request.payload["bits"].as_u64(), Some(32 | 64)));
                let mut text = Vec::new();
                packages.iter().for_each(|package| package.list(&mut text));
                let file = memory("manifests", &text, SEALS);
                Reply::new(request, &json!({"status": "ok"}), vec![file])
            }
            Some(Operation::Get) => {
                let mut libraries = packages.iter().flat_map(Package::libraries);
                let found = libraries
                    .find(|(key, library)| request.payload == json!({"name": key, "sha256": sum(&bytes_of(library))}));
                match found {
                    Some((_, library)) => Reply::new(request, &json!({"status": "ok"}), vec![sealed(library)]),
                    None => Reply::new(request, &json!({"status": "not_found"}), Vec::new()),
                }
            }
            _ => Reply::new(request, &json!({"status": "unsupported"}), Vec::new()),
        }
    }

    /// Closes all connections.
    fn end(&self) {
        for client in self.live.lock().expect("no panic").iter() {
            // SAFETY: the descriptor is an open socket.
            unsafe { libc::shutdown(client.as_raw_fd(), libc::SHUT_RDWR) };
        }
    }
}

/// Returns the SHA-256 checksum of bytes as hexadecimal text, as in an answer of the service.
pub(crate) fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes that a service sends for a library. All mock drivers are the same file, so this function appends the name, which makes
/// the libraries different.
pub(crate) fn bytes_of(library: &Path) -> Vec<u8> {
    let mut bytes = fs::read(library).expect("the library is there");
    bytes.extend_from_slice(library.file_name().expect("a library has a name").as_bytes());
    bytes
}

/// Returns a sealed copy of a library. The mock driver finds its configuration by the name of the memory file.
pub(crate) fn sealed(library: &Path) -> OwnedFd {
    copy_with(library, SEALS)
}

/// Returns a memory file that contains the library and has the seals `seals`.
pub(crate) fn copy_with(library: &Path, seals: i32) -> OwnedFd {
    let bytes = bytes_of(library);
    let file = memory(&library.display().to_string(), &bytes, seals);
    // Opens the file only for reading, like the service, so that a client cannot write to it.
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
        .expect("an open file opens again")
        .into()
}

/// Creates a memory file.
pub(crate) fn memory(name: &str, bytes: &[u8], seals: i32) -> OwnedFd {
    let name = std::ffi::CString::new(name).expect("no name has a NUL");
    // SAFETY: the name is a terminated string.
    let file = made(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) });
    let file = file.expect("memory files can be made");
    let mut writer = File::from(file.try_clone().expect("a descriptor can be copied"));
    io::Write::write_all(&mut writer, bytes).expect("memory suffices");
    io::Seek::rewind(&mut writer).expect("a file has a position");
    drop(writer);
    // The system refuses to seal a file during the migration of one of its pages.
    eventually("a memory file can be sealed", || {
        // SAFETY: the descriptor belongs to an open file.
        let sealed = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) };
        let error = io::Error::last_os_error();
        assert!(sealed == 0 || error.raw_os_error() == Some(libc::EBUSY), "{error}");
        sealed == 0
    });
    file
}

fn made(descriptor: RawFd) -> Option<OwnedFd> {
    // SAFETY: the system has just created the descriptor, so nobody else owns it.
    (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Creates a socket and binds it to a path. The socket does not listen yet.
pub(crate) fn bound(path: &Path) -> OwnedFd {
    // SAFETY: the call has no pointer argument.
    let socket = made(unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) });
    let socket = socket.expect("sockets can be made");
    // SAFETY: the structure has only numbers, for which zero is valid.
    let mut address: libc::sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    assert!(bytes.len() < address.sun_path.len(), "{} is too long", path.display());
    for (place, &byte) in address.sun_path.iter_mut().zip(bytes) {
        *place = byte as std::ffi::c_char;
    }
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the pointer and the length describe a valid address, and the descriptor is open.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    assert_eq!(result, 0, "{}: {}", path.display(), io::Error::last_os_error());
    socket
}

fn send(client: RawFd, reply: Reply) {
    let mut packet = [&reply.header.bytes(reply.payload.len() as u32)[..], &reply.payload[..]].concat();
    (reply.last)(&mut packet);
    let mut part = libc::iovec {
        iov_base: packet.as_mut_ptr().cast(),
        iov_len: packet.len(),
    };
    let files: Vec<RawFd> = reply.files.iter().map(AsRawFd::as_raw_fd).collect();
    let bytes = size_of_val(&files[..]) as u32;
    let mut control = [0_u64; 32];
    // SAFETY: the structure has only numbers and pointers, for which zero is valid.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    if !files.is_empty() {
        message.msg_control = control.as_mut_ptr().cast();
        // SAFETY: the buffer is larger than the control data of a few descriptors.
        unsafe {
            message.msg_controllen = libc::CMSG_SPACE(bytes) as _;
            let header = &mut *libc::CMSG_FIRSTHDR(&message);
            header.cmsg_level = libc::SOL_SOCKET;
            header.cmsg_type = libc::SCM_RIGHTS;
            header.cmsg_len = libc::CMSG_LEN(bytes) as _;
            libc::CMSG_DATA(header)
                .cast::<RawFd>()
                .copy_from_nonoverlapping(files.as_ptr(), files.len());
        }
    }
    // The result does not matter, because the client may have disconnected. SAFETY: the pointers in the message refer to valid buffers of
    // the stated lengths.
    let _ = retried(|| unsafe { libc::sendmsg(client, &message, libc::MSG_NOSIGNAL) });
}
