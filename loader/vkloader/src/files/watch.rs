//! Records every file that a process opens, with seccomp's user notification. The kernel notifies this program before each system call that
//! opens a file, and this program lets the call continue.
//!
//! The record includes files that are closed immediately, and the files of all threads and child processes. Recording needs no privileges,
//! but prevents the process from gaining any. Recording needs Linux 5.5. On older systems, `vkloader files` only lists the files that are
//! mapped or open at a few points in time.

use libc::{c_int, c_long, c_void};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Upper bound on the number of recorded paths. A driver opens a few hundred files.
const MOST: usize = 20_000;
/// Upper bound on the length of a path in bytes; Linux has the same limit (`PATH_MAX`).
const LONGEST: usize = 4096;
/// Size of a page in bytes. Either the whole page is readable, or no part of it.
const PAGE: u64 = 4096;
/// Upper bound on the time between two checks for the end of the process.
const STEP: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// Kind of access to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    /// The process queried the attributes, the existence or the target of the path.
    Asked,
    /// The process opened the path for reading, or executed it.
    Read,
    /// The process opened the path for writing.
    Written,
}

/// A system call with a path: the number of the call, and the indices of its arguments.
struct Call {
    number: c_long,
    path: usize,
    /// Index of the argument with the folder to which a relative path refers; `None` for the current folder.
    folder: Option<usize>,
    opens: Opens,
}

/// The way in which a system call opens a path.
#[derive(Clone, Copy)]
enum Opens {
    /// The call does not open the path.
    Never,
    /// The call opens the path for reading.
    ToRead,
    /// The flags in this argument determine how the path is opened.
    ByFlags(usize),
    /// This argument points to the flags that determine how the path is opened.
    ByPointer(usize),
}

const fn below(number: c_long, opens: Opens) -> Call {
    Call {
        number,
        path: 1,
        folder: Some(0),
        opens,
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "arm"))]
const fn plain(number: c_long, opens: Opens) -> Call {
    Call {
        number,
        path: 0,
        folder: None,
        opens,
    }
}

const CALLS: &[Call] = &[
    below(libc::SYS_openat, Opens::ByFlags(2)),
    below(libc::SYS_openat2, Opens::ByPointer(2)),
    below(libc::SYS_execveat, Opens::ToRead),
    below(libc::SYS_faccessat, Opens::Never),
    below(libc::SYS_faccessat2, Opens::Never),
    below(libc::SYS_readlinkat, Opens::Never),
    below(libc::SYS_statx, Opens::Never),
    Call {
        number: libc::SYS_execve,
        path: 0,
        folder: None,
        opens: Opens::ToRead,
    },
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
    below(libc::SYS_newfstatat, Opens::Never),
    // Only older architectures have system calls without an argument for the folder.
    #[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "arm"))]
    plain(libc::SYS_open, Opens::ByFlags(1)),
    #[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "arm"))]
    plain(libc::SYS_access, Opens::Never),
    #[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "arm"))]
    plain(libc::SYS_readlink, Opens::Never),
    #[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "arm"))]
    plain(libc::SYS_stat, Opens::Never),
    #[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "arm"))]
    plain(libc::SYS_lstat, Opens::Never),
];

/// Number of the processor in the kernel (`AUDIT_ARCH_`); `None` for processors whose system calls are not in the table.
const PROCESSOR: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else if cfg!(target_arch = "riscv64") {
    Some(0xC000_00F3)
} else if cfg!(target_arch = "x86") {
    Some(0x4000_0003)
} else if cfg!(target_arch = "arm") {
    Some(0x4000_0028)
} else {
    None
};

/// Permits the process at the other end of `socket` to observe this process and its descendants from now on.
///
/// # Errors
///
/// The system does not permit the observation.
pub(super) fn be_watched(socket: impl AsFd) -> io::Result<()> {
    // This process would wait for ever if no other process answered its system calls, so this code first checks the socket.
    rustix::net::sockopt::socket_type(&socket)?;
    let listener = install()?;
    let descriptors = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    // The filter must not cause a notification for this call, or for closing the descriptor afterwards. A process that observes itself
    // would then wait for ever.
    rustix::net::sendmsg(socket, &[IoSlice::new(b"w")], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Installs the filter, and returns the descriptor that receives its notifications.
fn install() -> io::Result<OwnedFd> {
    let processor = PROCESSOR.ok_or(io::ErrorKind::Unsupported)?;
    let program = filter(processor);
    let described = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: the arguments of this request are numbers, so the kernel accesses no memory of this process.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `described` has the address and length of `program`. Both values outlive the call, and the kernel copies them.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const described,
        )
    };
    if listener < 0 {
        return Err(io::Error::last_os_error());
    }
    let listener = c_int::try_from(listener).map_err(io::Error::other)?;
    // SAFETY: the kernel created this descriptor for this call, so no other code owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

/// Returns the program that the kernel runs at each system call. A call in the table causes a notification; every other call continues.
fn filter(processor: u32) -> Vec<libc::sock_filter> {
    // Offsets of the system call's number and of the processor's number in the input of the BPF program.
    const NUMBER: u32 = 0;
    const PROCESSOR: u32 = 4;
    let step = |code: u32, jt: u8, k: u32| libc::sock_filter {
        // All codes of BPF instructions fit in 16 bits.
        code: code as u16,
        jt,
        jf: 0,
        k,
    };
    let load = |from| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, from);
    let skip_if = |value, steps| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, steps, value);
    let answer = |value| step(libc::BPF_RET | libc::BPF_K, 0, value);
    let mut program = vec![
        load(PROCESSOR),
        skip_if(processor, 1),
        answer(libc::SECCOMP_RET_ALLOW),
        load(NUMBER),
    ];
    for (place, call) in CALLS.iter().enumerate() {
        // For a call in the table, the jump skips the remaining comparisons and the instruction that lets other calls continue.
        let steps = CALLS.len() - place;
        program.push(skip_if(call.number as u32, steps as u8));
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program.push(answer(libc::SECCOMP_RET_USER_NOTIF));
    program
}

/// Paths that a process accessed, each with the strongest kind of access.
pub(super) type Touched = BTreeMap<PathBuf, Touch>;

/// A thread that observes a process.
pub(super) struct Watcher {
    thread: JoinHandle<Option<Touched>>,
    ended: Arc<AtomicBool>,
}

impl Watcher {
    /// Starts a thread that observes the process at the other end of `socket` as soon as that process permits it.
    pub(super) fn start(socket: OwnedFd) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        Self {
            thread: std::thread::spawn(move || Some(watch(&receive(&socket, &told)?, &told))),
            ended,
        }
    }

    /// Waits for the end of the process, and returns the accessed paths. Returns `None` if the process could not be observed.
    pub(super) fn finish(self) -> Option<Touched> {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.join().ok().flatten()
    }
}

/// Waits until a descriptor is readable. Returns `false` if the process ends first.
fn wait(descriptor: impl AsFd, ended: &AtomicBool) -> bool {
    loop {
        let mut one = [PollFd::new(&descriptor, PollFlags::IN)];
        match poll(&mut one, Some(&STEP)) {
            Ok(0) | Err(rustix::io::Errno::INTR) if ended.load(Ordering::Relaxed) => return false,
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return one[0].revents().contains(PollFlags::IN),
            Err(_) => return false,
        }
    }
}

/// Receives the descriptor for notifications from the observed process.
fn receive(socket: &OwnedFd, ended: &AtomicBool) -> Option<OwnedFd> {
    if !wait(socket, ended) {
        return None;
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    rustix::net::recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )
    .ok()?;
    control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    })
}

/// A notification of the kernel (`struct seccomp_notif`), with space for members of later kernels.
#[repr(C)]
struct Question {
    id: u64,
    process: u32,
    flags: u32,
    number: i32,
    processor: u32,
    instruction: u64,
    arguments: [u64; 6],
    later: [u64; 16],
}

/// The answer to a notification (`struct seccomp_notif_resp`).
#[repr(C)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
    later: [u64; 16],
}

fn watch(listener: &OwnedFd, ended: &AtomicBool) -> Touched {
    let mut touched = Touched::new();
    while wait(listener, ended) {
        // SAFETY: `Question` consists of integers, and integers may be zero.
        let mut question: Question = unsafe { MaybeUninit::zeroed().assume_init() };
        if !control(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &mut question) {
            // The process that caused the notification has ended, but other processes may still be running.
            continue;
        }
        // If the notification is still valid after the memory was read, the process that caused it has not ended. The memory then belonged
        // to that process.
        let mut id = question.id;
        if let Some((path, touch)) = understand(&question)
            && control(listener, libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &mut id)
            && touched.len() < MOST
        {
            let known = touched.entry(path).or_insert(touch);
            *known = touch.max(*known);
        }
        let mut answer = Answer {
            id: question.id,
            value: 0,
            error: 0,
            flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
            later: [0; 16],
        };
        // The call fails if the process has ended in the meantime.
        control(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &mut answer);
    }
    touched
}

/// Returns `true` if a request to the listener succeeds.
fn control<T>(listener: &OwnedFd, request: libc::Ioctl, value: &mut T) -> bool {
    // SAFETY: each caller passes the type that its request requires: one of the two structures above, or the number of a notification. The
    // structures are at least as large as the kernel's.
    unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            request,
            std::ptr::from_mut(value).cast::<c_void>(),
        ) == 0
    }
}

/// Returns the absolute path that a system call refers to, and the kind of access.
fn understand(question: &Question) -> Option<(PathBuf, Touch)> {
    let call = CALLS.iter().find(|call| call.number == c_long::from(question.number))?;
    let process = Path::new("/proc").join(question.process.to_string());
    let memory = File::open(process.join("mem")).ok()?;
    let argument = |place: usize| question.arguments[place];
    let path = text(&memory, argument(call.path))?;
    if path.as_os_str().is_empty() {
        return None;
    }
    let folder = match call.folder.map(|place| argument(place) as c_int) {
        _ if path.is_absolute() => PathBuf::new(),
        None | Some(libc::AT_FDCWD) => fs::read_link(process.join("cwd")).ok()?,
        Some(number) => fs::read_link(process.join("fd").join(number.to_string())).ok()?,
    };
    let by_flags = |flags: u64| match flags as c_int & libc::O_ACCMODE {
        libc::O_RDONLY => Touch::Read,
        _ => Touch::Written,
    };
    let touch = match call.opens {
        Opens::Never => Touch::Asked,
        Opens::ToRead => Touch::Read,
        Opens::ByFlags(place) => by_flags(argument(place)),
        Opens::ByPointer(place) => {
            let mut flags = [0; 8];
            memory.read_exact_at(&mut flags, argument(place)).ok()?;
            by_flags(u64::from_ne_bytes(flags))
        }
    };
    Some((folder.join(path), touch))
}

/// Reads a path from the memory of another process.
fn text(memory: &File, mut address: u64) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    while bytes.len() < LONGEST {
        // Stops at the end of a page, because the next page may not be readable.
        let mut part = vec![0; (PAGE - address % PAGE) as usize];
        memory.read_exact_at(&mut part, address).ok()?;
        if let Some(end) = part.iter().position(|&byte| byte == 0) {
            bytes.extend(&part[..end]);
            return Some(std::ffi::OsString::from_vec(bytes).into());
        }
        address += part.len() as u64;
        bytes.append(&mut part);
    }
    None
}
