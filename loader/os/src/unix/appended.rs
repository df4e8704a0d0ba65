//! Files to which records are appended, each in one call.

use super::errno::retried;
use super::{Errno, Status, with_terminated};
use core::ffi::{CStr, c_int};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicI32, Ordering};

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::open as open64;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::open64;

/// Lowest descriptor number that this module uses, if possible. Programs use the low numbers, and some close them.
const OUT_OF_THE_WAY: c_int = 200;

/// A file or pipe to which records are appended; closed when dropped.
///
/// If the program closes the descriptor and another file gets its number, this value never writes to the other file and does not close it.
pub struct Appended {
    /// The descriptor of the file; negative after the file is closed.
    descriptor: AtomicI32,
    file: Option<(u64, u64)>,
}

impl Appended {
    /// Opens a regular file, or creates it with access only for its owner. Does not follow a link at the end of the path.
    ///
    /// # Errors
    /// The error of the system; `EINVAL` if the file is not a regular one.
    pub fn at(path: &[u8]) -> Result<Self, Errno> {
        // Without `O_NONBLOCK`, opening a pipe that no process reads would block.
        let flags = libc::O_WRONLY
            | libc::O_APPEND
            | libc::O_CREAT
            | libc::O_CLOEXEC
            | libc::O_NOFOLLOW
            | libc::O_NONBLOCK
            | libc::O_NOCTTY;
        let mode: libc::c_uint = 0o600;
        let opened = with_terminated(path, |path: &CStr| {
            // SAFETY: the path is terminated, and the flags match the mode argument.
            retried(|| unsafe { open64(path.as_ptr(), flags, mode) })
        })?;
        let made = match Status::of(opened) {
            Ok(status) if status.is_file() => Self::copy_of(opened),
            Ok(_) => Err(Errno(libc::EINVAL)),
            Err(error) => Err(error),
        };
        // SAFETY: this function opened the descriptor, and nothing else uses it.
        unsafe { libc::close(opened) };
        made
    }

    /// Returns the file that this process has open for writing under the descriptor `number`.
    ///
    /// # Errors
    /// The error of the system; `EBADF` if the file is open only for reading.
    pub fn open_as(number: u32) -> Result<Self, Errno> {
        let number = c_int::try_from(number).map_err(|_| Errno(libc::EBADF))?;
        // SAFETY: the call reads the flags of a descriptor; an invalid number causes an error.
        let flags = retried(|| unsafe { libc::fcntl(number, libc::F_GETFL) })?;
        if flags & libc::O_ACCMODE == libc::O_RDONLY {
            return Err(Errno(libc::EBADF));
        }
        Self::copy_of(number)
    }

    /// Creates a new descriptor for the file of `descriptor`. Programs that this process starts do not inherit it.
    fn copy_of(descriptor: c_int) -> Result<Self, Errno> {
        let copy = |lowest: c_int| {
            // SAFETY: the call creates a descriptor; an invalid number causes an error.
            retried(|| unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, lowest) })
        };
        // The process may not be allowed as many descriptors as `OUT_OF_THE_WAY`; in that case, any number from 3 on is accepted. The
        // numbers below 3 belong to the program even if they are closed, because the program's output must not end up in this file.
        let copied = copy(OUT_OF_THE_WAY).or_else(|_| copy(libc::STDERR_FILENO + 1))?;
        Ok(Self {
            descriptor: AtomicI32::new(copied),
            file: Status::of(copied)?.identity(),
        })
    }

    /// Returns the descriptor if it still belongs to the file.
    ///
    /// # Errors
    /// The error of the system; `EBADF` if another file has the number.
    fn descriptor(&self) -> Result<c_int, Errno> {
        let descriptor = self.descriptor.load(Ordering::Relaxed);
        (Status::of(descriptor)?.identity() == self.file)
            .then_some(descriptor)
            .ok_or(Errno(libc::EBADF))
    }

    /// Closes the file. Later calls of [`append`](Self::append) fail.
    pub fn close(&self) {
        if let Ok(descriptor) = self.descriptor()
            && self.descriptor.swap(-1, Ordering::Relaxed) == descriptor
        {
            // SAFETY: the descriptor still belongs to this file, and no other thread closes it too.
            unsafe { libc::close(descriptor) };
        }
    }

    /// Appends a record, in one call if the system takes all of it. Neither a pipe without a reader nor the limit of a file's size ends the
    /// program.
    ///
    /// # Errors
    /// The error of the system. A part of the record may have been written.
    pub fn append(&self, mut record: &[u8]) -> Result<(), Errno> {
        let descriptor = self.descriptor()?;
        let _signals = HeldBack::begin();
        while !record.is_empty() {
            // SAFETY: pointer and length are those of one live slice.
            let written = unsafe { libc::write(descriptor, record.as_ptr().cast(), record.len()) };
            match usize::try_from(written) {
                Ok(written) => record = &record[written.min(record.len())..],
                Err(_) if Errno::last().is_interruption() => {}
                Err(_) => return Err(Errno::last()),
            }
        }
        Ok(())
    }
}

impl Drop for Appended {
    fn drop(&mut self) {
        self.close();
    }
}

/// Signals that a write can raise and that end a program: for a pipe without a reader, and for a file of the largest allowed size.
const RAISED: [c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

/// Blocks the signals in [`RAISED`] for this thread, around a write. Dropping the value removes the signals that the write raised, and
/// restores the mask.
struct HeldBack {
    /// Signals that the thread blocked before; `None` if the mask could not be changed.
    before: Option<libc::sigset_t>,
    /// `true` for each signal that was already pending, and therefore stays pending.
    waited: [bool; RAISED.len()],
}

impl HeldBack {
    fn begin() -> Self {
        let (all, mut before) = (set_of(&RAISED), MaybeUninit::uninit());
        let waited = waiting();
        // SAFETY: the call changes only this thread; the first set is valid, and the second one is writable.
        let failed = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &all, before.as_mut_ptr()) };
        Self {
            // SAFETY: the call has succeeded, so it has filled the set.
            before: (failed == 0).then(|| unsafe { before.assume_init() }),
            waited,
        }
    }
}

/// Returns a set that contains exactly the signals in `signals`.
fn set_of(signals: &[c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call initialises the set, and the other calls may change it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Returns, for each signal in [`RAISED`], `true` if the signal is pending for this thread or the process.
fn waiting() -> [bool; RAISED.len()] {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call writes the set, which is read only after success.
    RAISED.map(|signal| unsafe {
        libc::sigpending(set.as_mut_ptr()) == 0 && libc::sigismember(set.as_ptr(), signal) == 1
    })
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        let Some(before) = &self.before else { return };
        let came = RAISED.into_iter().zip(self.waited).zip(waiting());
        for ((signal, _), _) in came.filter(|((_, waited), waits)| *waits && !waited) {
            let (only, mut taken) = (set_of(&[signal]), 0);
            // SAFETY: the signal is pending, so the call returns at once; the set is valid and the number writable.
            unsafe { libc::sigwait(&only, &mut taken) };
        }
        // SAFETY: `before` came from the system; a null pointer for the old set is allowed.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, core::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    fn path_of(bytes: &[u8]) -> &Path {
        let text: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(bytes);
        text.as_ref()
    }

    #[test]
    fn records_are_appended_to_a_file_of_the_owner() {
        let scratch = Scratch::create();
        let path = scratch.path("new");
        Appended::at(&path).unwrap().append(b"one\n").unwrap();
        Appended::at(&path).unwrap().append(b"two\n").unwrap();
        assert_eq!(std::fs::read(path_of(&path)).unwrap(), b"one\ntwo\n");
        let mode = std::fs::metadata(path_of(&path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    /// Compares files and not descriptor numbers, because a concurrent test may get the number of the closed file.
    #[test]
    fn a_file_is_closed_when_it_is_dropped_and_when_another_program_starts() {
        let scratch = Scratch::create();
        let appended = Appended::at(&scratch.path("new")).unwrap();
        let number = appended.descriptor().unwrap();
        assert!(number >= OUT_OF_THE_WAY);
        // SAFETY: the call reads the flags of an open descriptor.
        assert_eq!(unsafe { libc::fcntl(number, libc::F_GETFD) }, libc::FD_CLOEXEC);
        let file = Status::of(number).unwrap().identity();
        drop(appended);
        let found = Status::of(number).ok().and_then(|status| status.identity());
        assert!(file.is_some() && found != file);
    }

    #[test]
    fn links_folders_and_pipes_are_no_files() {
        let scratch = Scratch::create();
        let (target, link) = (scratch.file("target", b""), scratch.path("link"));
        symlink(path_of(&target), path_of(&link)).unwrap();
        assert_eq!(Appended::at(&link).err(), Some(Errno(libc::ELOOP)));
        let folder = scratch.folder("folder");
        assert_eq!(Appended::at(&folder).err(), Some(Errno(libc::EISDIR)));
        let pipe = scratch.path("pipe");
        // SAFETY: the path is a terminated string.
        with_terminated(&pipe, |path| retried(|| unsafe { libc::mkfifo(path.as_ptr(), 0o600) })).unwrap();
        assert!(Appended::at(&pipe).is_err());
    }

    /// Runs in a forked copy of the process, which has the only descriptors of the pipe and its own signal disposition. In the test
    /// process, forked copies that other tests make could keep the reader open, and other tests would share the disposition.
    #[test]
    fn a_pipe_without_a_reader_is_an_error_and_no_signal() {
        let ended = in_a_copy(|| {
            let mut ends = [0; 2];
            // SAFETY: `ends` has room for the two descriptors that `pipe` writes.
            if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
                return 1;
            }
            // SAFETY: `pipe` just opened both descriptors, and this function alone owns them.
            let [reader, writer] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
            let number = |end: &OwnedFd| end.as_raw_fd().cast_unsigned();
            if Appended::open_as(number(&reader)).err() != Some(Errno(libc::EBADF)) {
                return 2;
            }
            let Ok(appended) = Appended::open_as(number(&writer)) else {
                return 3;
            };
            if appended.append(b"heard") != Ok(()) {
                return 4;
            }
            drop(reader);
            // The test runner ignores SIGPIPE, but the default action ends the process.
            // SAFETY: `SIG_DFL` is a valid disposition of `SIGPIPE`.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
            if appended.append(b"lost") != Err(Errno(libc::EPIPE)) {
                return 5;
            }
            c_int::from(waiting() != [false; 2]) * 6
        });
        assert_eq!(ended, 0);
    }

    /// Runs `does` in a forked child process, which may change its own limits and signals. Returns the child's exit status, or the negative
    /// number of the signal that ended the child.
    fn in_a_copy(does: impl FnOnce() -> c_int) -> c_int {
        // SAFETY: the child has only this thread; it calls the system, allocates nothing, and ends without cleanup.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: `_exit` takes a number and ends the child without cleanup.
            unsafe { libc::_exit(does()) };
        }
        let mut status = 0;
        // SAFETY: the child belongs to this process, and the status is writable.
        assert_eq!(retried(|| unsafe { libc::waitpid(child, &mut status, 0) }), Ok(child));
        if libc::WIFEXITED(status) {
            libc::WEXITSTATUS(status)
        } else {
            -libc::WTERMSIG(status)
        }
    }

    fn limit(most: u64) -> libc::rlimit {
        libc::rlimit {
            rlim_cur: most as libc::rlim_t,
            rlim_max: most as libc::rlim_t,
        }
    }

    #[test]
    fn a_limit_of_the_size_of_files_is_an_error_and_no_signal() {
        let scratch = Scratch::create();
        let appended = Appended::at(&scratch.path("limited")).unwrap();
        let ended = in_a_copy(|| {
            // SAFETY: the limit is valid and applies only to this child process.
            unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit(4)) };
            let first = appended.append(b"12345678");
            c_int::from(first != Err(Errno(libc::EFBIG)) || waiting() != [false; 2])
        });
        assert_eq!(ended, 0);
        assert_eq!(std::fs::read(path_of(&scratch.path("limited"))).unwrap(), b"1234");
    }

    #[test]
    fn few_descriptors_do_not_make_it_what_the_program_prints_to() {
        let scratch = Scratch::create();
        let path = scratch.path("few");
        let file = std::fs::File::create(path_of(&path)).unwrap();
        let ended = in_a_copy(|| {
            // SAFETY: the limit and the descriptors belong to this child process; the file's new descriptor 10 is below the limit.
            let low = unsafe {
                libc::dup2(file.as_raw_fd(), 10);
                libc::setrlimit(libc::RLIMIT_NOFILE, &limit(40));
                libc::close(1);
                libc::close(2);
                10
            };
            match Appended::open_as(low) {
                Ok(appended) => c_int::from(appended.descriptor.load(Ordering::Relaxed) < 3),
                Err(_) => 2,
            }
        });
        assert_eq!(ended, 0);
    }

    #[test]
    fn the_first_number_after_those_of_the_program_is_enough() {
        let scratch = Scratch::create();
        let path = scratch.path("last");
        let file = std::fs::File::create(path_of(&path)).unwrap();
        let ended = in_a_copy(|| {
            // SAFETY: the limit and the descriptors belong to this child process; the limit leaves only the number 3.
            unsafe {
                libc::dup2(file.as_raw_fd(), 0);
                libc::close(3);
                libc::setrlimit(libc::RLIMIT_NOFILE, &limit(4));
            }
            match Appended::open_as(0) {
                Ok(appended) => c_int::from(appended.descriptor.load(Ordering::Relaxed) != 3),
                Err(_) => 2,
            }
        });
        assert_eq!(ended, 0);
    }

    #[test]
    fn another_file_under_the_number_is_left_alone() {
        let scratch = Scratch::create();
        let appended = Appended::at(&scratch.path("own")).unwrap();
        let other = std::fs::File::create(path_of(&scratch.path("other"))).unwrap();
        // SAFETY: both descriptors are open; the call replaces the file as a program might.
        assert!(unsafe { libc::dup2(other.as_raw_fd(), appended.descriptor().unwrap()) } >= 0);
        assert_eq!(appended.append(b"x"), Err(Errno(libc::EBADF)));
        let number = appended.descriptor.load(Ordering::Relaxed);
        drop(appended);
        // SAFETY: the first call only reads flags, and the second one closes a descriptor of this test.
        assert!(unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0 && unsafe { libc::close(number) } == 0);
        assert_eq!(other.metadata().unwrap().len(), 0);
    }
}
