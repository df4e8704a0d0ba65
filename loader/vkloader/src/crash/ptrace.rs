//! The ptrace requests of the supervisor. The supervisor never makes requests that stop a process at each instruction or system call.

use libc::{c_int, c_void};
use rustix::process::Pid;
use std::io;

/// Upper bound on the size of a register set in bytes.
const MOST_REGISTERS: usize = 512;
/// Size of `siginfo_t` in bytes.
const SIGNAL_BYTES: usize = 128;
/// Number of the general-purpose register set (`NT_PRSTATUS`).
const USUAL_SET: usize = 1;

/// Numbers of the requests (`linux/ptrace.h`). These numbers are the same for all processors.
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

/// Events at which a thread stops although it received no signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The thread started a process or thread.
    Started,
    /// The process now executes another program.
    Executed,
    /// The thread is about to end.
    Ending,
    /// The thread stopped with its process, or started as the child of a supervised thread.
    Stopped,
    /// An event that the supervisor did not request.
    Other,
}

/// The options `PTRACE_O_TRACEFORK`, `TRACEVFORK`, `TRACECLONE`, `TRACEEXEC` and `TRACEEXIT`.
const FOLLOW: usize = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6;

impl Event {
    /// Returns the event in the status of a stopped thread; `None` if a signal stopped the thread.
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

/// Makes this thread the supervisor of a process and its descendants. When this thread ends, the processes continue without a supervisor.
///
/// # Errors
/// The system does not permit the supervision.
pub(super) fn seize(process: Pid) -> io::Result<()> {
    plain(number::SEIZE, process, FOLLOW)
}

/// Continues a stopped thread and delivers `signal` to this thread; 0 means no signal.
///
/// # Errors
/// The thread has ended.
pub(super) fn go_on(thread: Pid, signal: i32) -> io::Result<()> {
    plain(number::CONT, thread, usize::try_from(signal).unwrap_or_default())
}

/// Keeps a thread stopped until its process continues.
///
/// # Errors
/// The thread has ended.
pub(super) fn stay_stopped(thread: Pid) -> io::Result<()> {
    plain(number::LISTEN, thread, 0)
}

/// Ends the supervision of a stopped thread, which continues.
///
/// # Errors
/// The thread has ended.
pub(super) fn release(thread: Pid) -> io::Result<()> {
    plain(number::DETACH, thread, 0)
}

/// Returns the status with which a thread is about to end.
///
/// # Errors
/// The thread has ended.
pub(super) fn end_status(thread: Pid) -> io::Result<i32> {
    let mut message = [0; size_of::<libc::c_ulong>()];
    fill(number::GETEVENTMSG, thread, &mut message)?;
    // A wait status has 32 bits, so the cast is exact.
    Ok(libc::c_ulong::from_ne_bytes(message) as i32)
}

/// Returns the `siginfo_t` of the signal that stopped a thread.
///
/// # Errors
/// The thread has ended.
pub(super) fn signal(thread: Pid) -> io::Result<[u8; SIGNAL_BYTES]> {
    let mut bytes = [0; SIGNAL_BYTES];
    fill(number::GETSIGINFO, thread, &mut bytes)?;
    Ok(bytes)
}

/// Returns the registers of a stopped thread in the kernel's order.
///
/// # Errors
/// The thread has ended.
pub(super) fn registers(thread: Pid) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; MOST_REGISTERS];
    let length = exchange(number::GETREGSET, thread, &mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Replaces the registers of a stopped thread.
///
/// # Errors
/// The thread has ended.
pub(super) fn set_registers(thread: Pid, bytes: &mut [u8]) -> io::Result<()> {
    exchange(number::SETREGSET, thread, bytes).map(drop)
}

/// Makes a request whose data argument is a number.
fn plain(request: c_int, thread: Pid, data: usize) -> io::Result<()> {
    let number = thread.as_raw_nonzero().get();
    // SAFETY: the callers pass only requests whose arguments are numbers, so the kernel accesses no memory of this process.
    checked(unsafe { libc::syscall(libc::SYS_ptrace, request, number, 0_usize, data) })
}

/// Makes a request that fills a buffer. The buffer must have exactly the size that the kernel writes for this request.
fn fill(request: c_int, thread: Pid, buffer: &mut [u8]) -> io::Result<()> {
    let number = thread.as_raw_nonzero().get();
    let start = buffer.as_mut_ptr().cast::<c_void>();
    // SAFETY: callers pass only the two requests that write an `unsigned long` or a `siginfo_t`, each with a buffer of that size.
    checked(unsafe { libc::syscall(libc::SYS_ptrace, request, number, 0_usize, start) })
}

/// Makes a request that reads or writes registers. Returns the size of the registers in bytes.
fn exchange(request: c_int, thread: Pid, buffer: &mut [u8]) -> io::Result<usize> {
    let number = thread.as_raw_nonzero().get();
    let mut described = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: `described` has the address and length of `buffer`, which the kernel never exceeds when it reads or writes registers.
    checked(unsafe { libc::syscall(libc::SYS_ptrace, request, number, USUAL_SET, &raw mut described) })?;
    Ok(described.iov_len.min(buffer.len()))
}

fn checked(result: libc::c_long) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
