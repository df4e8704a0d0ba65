//! Records signals that ask this process to end, so that it can end its children and remove its temporary files first.

use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// `true` after another process sent a signal that asks this process to end.
static UNWANTED: AtomicBool = AtomicBool::new(false);

/// `true` after the terminal sent a signal, to which the program that this process runs reacts. This process continues.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// `true` after another process sent SIGINT, until [`takes_interrupt`] is called.
static PASSED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_: libc::c_int) {
    UNWANTED.store(true, Ordering::Relaxed);
}

/// Handles SIGINT and SIGQUIT. If another process sent the signal, this process must end. If the terminal sent the signal, the program that
/// this process runs reacts to it, and this process only records it.
extern "C" fn leave(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid structure to handlers that are installed with SA_SIGINFO.
    let is_wanted = unsafe { (*info).si_code } == FROM_KERNEL;
    let noted = if is_wanted { &INTERRUPTED } else { &UNWANTED };
    noted.store(true, Ordering::Relaxed);
}

/// Handles SIGINT while a program of the user runs. The program reacts to a signal of the terminal. A signal of another process is recorded, so
/// that this process passes it on to the program.
extern "C" fn pass(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid structure to handlers that are installed with SA_SIGINFO.
    let is_of_terminal = unsafe { (*info).si_code } == FROM_KERNEL;
    INTERRUPTED.store(true, Ordering::Relaxed);
    PASSED.fetch_or(!is_of_terminal, Ordering::Relaxed);
}

/// `SI_KERNEL`: the kernel sent the signal, for example after a key was pressed on the terminal.
const FROM_KERNEL: libc::c_int = 0x80;

/// Installs the signal handlers. A handler records the first signal that asks this process to end; a second signal ends the process at
/// once.
pub(crate) fn note_requests_to_end() {
    for signal in TO_END {
        let handler = note as extern "C" fn(libc::c_int);
        install(
            signal,
            handler as libc::sighandler_t,
            libc::SA_RESTART | libc::SA_RESETHAND,
        );
    }
}

/// Makes this process survive the signals that a terminal sends for keys such as Ctrl-C, because it must print a report after the program
/// has ended. The program itself has the default handlers.
pub(crate) fn leave_those_of_the_terminal() {
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        let handler = leave as extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        install(
            signal,
            handler as libc::sighandler_t,
            libc::SA_RESTART | libc::SA_SIGINFO,
        );
    }
}

/// Makes this process survive a SIGINT of another process too, because it must print a report after the program has ended.
pub(crate) fn note_interrupts() {
    let handler = pass as extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
    install(
        libc::SIGINT,
        handler as libc::sighandler_t,
        libc::SA_RESTART | libc::SA_SIGINFO,
    );
}

/// Returns `true` if another process has sent SIGINT since the last call of this function.
pub(crate) fn takes_interrupt() -> bool {
    PASSED.swap(false, Ordering::Relaxed)
}

/// `true` after a terminal asked its processes to stop, until [`takes_stop`] is called.
#[cfg(target_os = "linux")]
static STOP: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
extern "C" fn note_stop(_: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// Records a terminal's request to stop, instead of stopping at once. A supervisor stops only after the supervised program has stopped,
/// because the program may reset the terminal first.
#[cfg(target_os = "linux")]
pub(crate) fn note_stops() {
    let handler = note_stop as extern "C" fn(libc::c_int);
    install(libc::SIGTSTP, handler as libc::sighandler_t, libc::SA_RESTART);
}

/// Restores the default: this process stops when a terminal requests it.
#[cfg(target_os = "linux")]
pub(crate) fn stop_as_usual() {
    install(libc::SIGTSTP, libc::SIG_DFL, 0);
}

/// Returns `true` if a terminal has asked this process to stop since the last call of this function.
#[cfg(target_os = "linux")]
pub(crate) fn takes_stop() -> bool {
    STOP.swap(false, Ordering::Relaxed)
}

fn install(signal: libc::c_int, handler: libc::sighandler_t, flags: libc::c_int) {
    // SAFETY: `sigaction` consists of integers, a signal set and pointers that may be null, so zero is a valid value.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    let mut before = action;
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: both structures are valid for the call. The handlers do nothing, or store an atomic value, which signal handlers may do.
    unsafe { libc::sigaction(signal, &action, &mut before) };
    if before.sa_sigaction == libc::SIG_IGN {
        // A signal that the parent process ignored must remain ignored. SAFETY: the `sigaction` call above filled `before`.
        unsafe { libc::sigaction(signal, &before, ptr::null_mut()) };
    }
}

/// Signals that ask a process to end.
const TO_END: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Blocks the signals that ask this process to end. The signals remain blocked when the process executes another program.
#[cfg(target_os = "linux")]
pub(crate) fn hold_requests_to_end() {
    mask(libc::SIG_BLOCK);
}

/// Unblocks the signals that ask this process to end.
#[cfg(target_os = "linux")]
pub(crate) fn release_requests_to_end() {
    mask(libc::SIG_UNBLOCK);
}

#[cfg(target_os = "linux")]
fn mask(how: libc::c_int) {
    // SAFETY: a signal set consists of integers, so zero is a valid value.
    let mut signals: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the set and the signal numbers are valid, and the pointer to the previous mask may be null.
    unsafe {
        libc::sigemptyset(&mut signals);
        for signal in TO_END {
            libc::sigaddset(&mut signals, signal);
        }
        libc::pthread_sigmask(how, &signals, ptr::null_mut());
    }
}

/// Returns `true` if the terminal sent a signal. The program that this process runs also received the signal, and may end or continue.
#[cfg(target_os = "linux")]
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Returns `true` if a signal asked this process to end.
pub(crate) fn is_unwanted() -> bool {
    UNWANTED.load(Ordering::Relaxed)
}
