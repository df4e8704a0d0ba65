//! The requests of ptrace that a supervisor needs, without those that stop a process at each instruction or system call.

use libc::{c_int, c_void};
use rustix::process::Pid;
use std::io;

/// Bytes of the largest set of registers that is read.
const MOST_REGISTERS: usize = 512;
/// Bytes of `siginfo_t`.
const SIGNAL_BYTES: usize = 128;
/// The set with the registers of programs: `NT_PRSTATUS`.
const USUAL_SET: usize = 1;

/// Requests by number (`linux/ptrace.h`), which are the same for all processors.
mod number {
    use libc::c_int;

    pub(super) const CONT: c_int = 7;
    pub(super) const DETACH: c_int = 17;
    pub(super) const GETEVENTMSG: c_int = 0x4201;
    pub(super) const GETSIGINFO: c_int = 0x4202;
    pub(super) const GETREGSET: c_int = 0x4204;
    pub(super) const SETREGSET: c_int = 0x4205;
    pub(super) const SEIZE: c_int = 0x4206;
    pub(super) const LISTEN: c_int = 0x4208;
}

/// Events other than signals at which a thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// It started a process or thread.
    Started,
    /// It executes another program now.
    Executed,
    /// It is about to end.
    Ending,
    /// It stopped with its process, or began as the child of a thread that is supervised.
    Stopped,
    /// An event that nobody asked for.
    Other,
}

/// `PTRACE_O_TRACEFORK`, `TRACEVFORK`, `TRACECLONE`, `TRACEEXEC` and `TRACEEXIT`.
const FOLLOW: usize = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6;

impl Event {
    /// The event in the status of a stopped thread; `None` where the thread is stopped at a signal.
    pub(super) fn of_status(status: i32) -> Option<Self> {
        match status >> 16 {
            0 => None,
            1..=3 => Some(Self::Started),
            4 => Some(Self::Executed),
            6 => Some(Self::Ending),
            128 => Some(Self::Stopped),
            _ => Some(Self::Other),
        }
    }
}

/// Makes this thread the supervisor of a process and of all that it starts. They go on when this thread ends.
///
/// # Errors
/// The system's, where it does not permit that.
pub(super) fn seize(process: Pid) -> io::Result<()> {
    plain(number::SEIZE, process, FOLLOW)
}

/// Lets a stopped thread go on, with this signal; 0 is none.
///
/// # Errors
/// The system's, if the thread has ended.
pub(super) fn go_on(thread: Pid, signal: i32) -> io::Result<()> {
    plain(number::CONT, thread, usize::try_from(signal).unwrap_or_default())
}

/// Lets a thread whose process was stopped stay so, until the process continues.
///
/// # Errors
/// The system's, if the thread has ended.
pub(super) fn stay_stopped(thread: Pid) -> io::Result<()> {
    plain(number::LISTEN, thread, 0)
}

/// Lets a stopped thread go on without a supervisor.
///
/// # Errors
/// The system's, if the thread has ended.
pub(super) fn release(thread: Pid) -> io::Result<()> {
    plain(number::DETACH, thread, 0)
}

/// The status with which a thread is about to end.
///
/// # Errors
/// The system's, if the thread has ended.
pub(super) fn end_status(thread: Pid) -> io::Result<i32> {
    let mut message = [0; size_of::<libc::c_ulong>()];
    fill(number::GETEVENTMSG, thread, &mut message)?;
    // A status has 32 bits.
    Ok(libc::c_ulong::from_ne_bytes(message) as i32)
}

/// The `siginfo_t` of the signal at which a thread is stopped.
///
/// # Errors
/// The system's, if the thread has ended.
pub(super) fn signal(thread: Pid) -> io::Result<[u8; SIGNAL_BYTES]> {
    let mut bytes = [0; SIGNAL_BYTES];
    fill(number::GETSIGINFO, thread, &mut bytes)?;
    Ok(bytes)
}

/// The registers of a stopped thread, in the kernel's order.
///
/// # Errors
/// The system's, if the thread has ended.
pub(super) fn registers(thread: Pid) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; MOST_REGISTERS];
    let length = exchange(number::GETREGSET, thread, &mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Replaces the registers of a stopped thread.
///
/// # Errors
/// The system's, if the thread has ended.
pub(super) fn set_registers(thread: Pid, bytes: &mut [u8]) -> io::Result<()> {
    exchange(number::SETREGSET, thread, bytes).map(drop)
}

/// A request whose data is a number.
fn plain(request: c_int, thread: Pid, data: usize) -> io::Result<()> {
    let number = thread.as_raw_nonzero().get();
    // SAFETY: the requests that come here take numbers only, so the kernel touches no memory of this process.
    checked(unsafe { libc::syscall(libc::SYS_ptrace, request, number, 0_usize, data) })
}

/// A request that fills a buffer, which is as large as what the kernel writes for it.
fn fill(request: c_int, thread: Pid, buffer: &mut [u8]) -> io::Result<()> {
    let number = thread.as_raw_nonzero().get();
    let start = buffer.as_mut_ptr().cast::<c_void>();
    // SAFETY: the two requests that come here write an `unsigned long` or a `siginfo_t`, and their callers pass as many bytes.
    checked(unsafe { libc::syscall(libc::SYS_ptrace, request, number, 0_usize, start) })
}

/// A request that reads or writes registers. Returns how many bytes there are.
fn exchange(request: c_int, thread: Pid, buffer: &mut [u8]) -> io::Result<usize> {
    let number = thread.as_raw_nonzero().get();
    let mut described = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: the kernel reads or writes at most `iov_len` bytes, which are those of `buffer`, and stores the count.
    checked(unsafe { libc::syscall(libc::SYS_ptrace, request, number, USUAL_SET, &raw mut described) })?;
    Ok(described.iov_len.min(buffer.len()))
}

fn checked(result: libc::c_long) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
