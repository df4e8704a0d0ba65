//! Every file that a process opens, as it opens them: the kernel asks this program before each such call (seccomp user notification),
//! and is told to go on. What is opened and closed at once is seen too, by all threads and children, and without rights: only what has
//! no way to gain any may be watched so. It takes Linux 5.5; where it cannot be had, what a process has mapped and open at a few points
//! has to do.

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

/// Paths that are kept: a driver opens some hundred.
const MOST: usize = 20_000;
/// Bytes of a path, as everywhere under Linux.
const LONGEST: usize = 4096;
/// Bytes up to which memory surely belongs together.
const PAGE: u64 = 4096;
/// How long it takes at most to notice that nothing is left to watch.
const STEP: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// What was done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    /// It was asked about: whether it is there, what it is, where it leads.
    Asked,
    /// It was opened to read, or run.
    Read,
    /// It was opened to write.
    Written,
}

/// A system call that takes a path: its number, and the places of its arguments.
struct Call {
    number: c_long,
    path: usize,
    /// The folder that a relative path is relative to; the current one where there is none.
    folder: Option<usize>,
    opens: Opens,
}

/// How a call opens.
#[derive(Clone, Copy)]
enum Opens {
    /// Not at all.
    Never,
    /// To read, always.
    ToRead,
    /// As the flags in this argument say.
    ByFlags(usize),
    /// As the flags say that this argument points to.
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
    // Only the older processors have what came before those.
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

/// What the kernel calls the processor (`AUDIT_ARCH_`); nothing where the numbers of its calls were not looked at.
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

/// Lets whoever has the other end of `socket` watch this process from now on, with all that it starts.
///
/// # Errors
/// The system's, where it does not let itself be watched.
pub(super) fn be_watched(socket: impl AsFd) -> io::Result<()> {
    // A process whose questions nobody answers cannot go on.
    rustix::net::sockopt::socket_type(&socket)?;
    let listener = install()?;
    let descriptors = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    // The call is none of those that wait for an answer, and the descriptor is closed right after it: a process that watches
    // itself would wait for ever.
    rustix::net::sendmsg(socket, &[IoSlice::new(b"w")], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Installs the filter and gives what is asked with it.
fn install() -> io::Result<OwnedFd> {
    let processor = PROCESSOR.ok_or(io::ErrorKind::Unsupported)?;
    let program = filter(processor);
    let described = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: a call with numbers only.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the program lives until the call has returned, and the kernel copies it.
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
    // SAFETY: the kernel just made it, for this call alone.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

/// The program that the kernel runs at each system call: those of the table are asked about, all others go on.
fn filter(processor: u32) -> Vec<libc::sock_filter> {
    // Where the number and the processor stand in what the program is given.
    const NUMBER: u32 = 0;
    const PROCESSOR: u32 = 4;
    let step = |code: u32, jt: u8, k: u32| libc::sock_filter {
        // The numbers of BPF are small.
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
        // Over the calls that follow, and the answer for what is none of them.
        let steps = CALLS.len() - place;
        program.push(skip_if(call.number as u32, steps as u8));
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program.push(answer(libc::SECCOMP_RET_USER_NOTIF));
    program
}

/// What a process touched, with the most that it did to each path.
pub(super) type Touched = BTreeMap<PathBuf, Touch>;

/// Who watches a process.
pub(super) struct Watcher {
    thread: JoinHandle<Option<Touched>>,
    ended: Arc<AtomicBool>,
}

impl Watcher {
    /// Watches the process that has the other end of `socket`, once it lets itself be watched.
    pub(super) fn start(socket: OwnedFd) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        Self {
            thread: std::thread::spawn(move || Some(watch(&receive(&socket, &told)?, &told))),
            ended,
        }
    }

    /// What was touched; nothing where the process could not be watched. The process has ended.
    pub(super) fn finish(self) -> Option<Touched> {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.join().ok().flatten()
    }
}

/// Waits for something to read; false once the process has ended.
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

/// The descriptor that a process sends for its watcher.
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

/// What the kernel asks (`struct seccomp_notif`), with room for what later kernels may add.
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

/// What it is told (`struct seccomp_notif_resp`).
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
        // SAFETY: numbers, all of which may be zero; the kernel wants them so.
        let mut question: Question = unsafe { MaybeUninit::zeroed().assume_init() };
        if !control(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &mut question) {
            // Whoever asked may be gone by now.
            continue;
        }
        // Only while the process waits for the answer is what was read surely its own.
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
        // As above.
        control(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &mut answer);
    }
    touched
}

/// Whether a request to the listener succeeds.
fn control<T>(listener: &OwnedFd, request: libc::Ioctl, value: &mut T) -> bool {
    // SAFETY: the requests take a pointer to one of the two structures above, which are as large as the kernel's and larger, or to
    // the number of a question.
    unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            request,
            std::ptr::from_mut(value).cast::<c_void>(),
        ) == 0
    }
}

/// The path that a call is about, made absolute, and what the call does to it.
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

/// A path in the memory of another process.
fn text(memory: &File, mut address: u64) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    while bytes.len() < LONGEST {
        // Beyond the page there may be nothing.
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
