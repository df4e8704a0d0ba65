//! Restricts by Landlock the files that the process can open (LSV-69). The rules do not apply to descriptors that are already open, to
//! memory files or to sockets.

use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::raw::c_long;
use std::path::Path;

/// Bits of all rights in the first version of Landlock, for opening, creating and removing files.
const ALL: u64 = (1 << 13) - 1;
/// Bits of the rights to read files and list folders.
const READ: u64 = 1 << 2 | 1 << 3;
/// Type of a rule that applies to a folder and everything below it (`LANDLOCK_RULE_PATH_BENEATH`).
const BENEATH: c_long = 1;

/// The rights that a set of rules controls.
#[repr(C)]
struct Rights {
    files: u64,
}

/// A rule that grants rights to the contents of a folder.
#[repr(C, packed)]
struct Beneath {
    rights: u64,
    folder: i32,
}

/// Restricts this thread, and the threads that it starts, to reading below some folders and writing below others. If a folder does not
/// exist yet, the rule applies to the nearest existing folder above it. Returns `false` if the system has no Landlock.
///
/// # Errors
/// Returns the error that the system reported.
pub fn restrict_files<'a>(
    read: impl Iterator<Item = &'a Path>,
    write: impl Iterator<Item = &'a Path>,
) -> io::Result<bool> {
    let rights = Rights { files: ALL };
    let place = &raw const rights as c_long;
    let rules = match call(
        libc::SYS_landlock_create_ruleset,
        [place, size_of::<Rights>() as c_long, 0, 0],
    ) {
        Ok(rules) => own(rules),
        Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    for (path, rights) in read.map(|path| (path, READ)).chain(write.map(|path| (path, ALL))) {
        let Some(folder) = path.ancestors().find_map(opened) else {
            continue;
        };
        let rule = Beneath {
            rights,
            folder: folder.as_raw_fd(),
        };
        let rules = c_long::from(rules.as_raw_fd());
        call(
            libc::SYS_landlock_add_rule,
            [rules, BENEATH, &raw const rule as c_long, 0],
        )?;
    }
    call(
        libc::SYS_landlock_restrict_self,
        [c_long::from(rules.as_raw_fd()), 0, 0, 0],
    )?;
    Ok(true)
}

fn opened(folder: &Path) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty()).ok()
}

#[allow(unsafe_code, reason = "no library has safe functions for these calls")]
fn call(number: c_long, arguments: [c_long; 4]) -> Result<c_long, Errno> {
    let [first, second, third, fourth] = arguments;
    // SAFETY: the callers pass numbers and pointers, in the order that the system call `number` requires. The pointers refer to structures
    // that outlive the call, which only reads them.
    let result = unsafe { libc::syscall(number, first, second, third, fourth) };
    if result >= 0 {
        return Ok(result);
    }
    let code = io::Error::last_os_error().raw_os_error().unwrap_or_default();
    Err(Errno::from_raw_os_error(code))
}

#[allow(unsafe_code, reason = "the system returns a number")]
fn own(descriptor: c_long) -> OwnedFd {
    // SAFETY: the system has just created the descriptor, so no other code owns it. A descriptor always fits in 32 bits.
    unsafe { OwnedFd::from_raw_fd(descriptor as i32) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn lsv_69_other_files_cannot_be_opened() {
        let place = tempfile::tempdir().unwrap();
        for folder in ["read", "write", "other"] {
            fs::create_dir(place.path().join(folder)).unwrap();
            fs::write(place.path().join(folder).join("file"), "x").unwrap();
        }
        let path = |name: &str| place.path().join(name);
        let denied =
            |result: io::Result<()>| result.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
        // Landlock restricts only this thread, so other tests can still open files.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                rustix::thread::set_no_new_privs(true).unwrap();
                let read = path("read/absent/below");
                let restricted = restrict_files([&*read].into_iter(), [&*path("write")].into_iter()).unwrap();
                if !restricted {
                    eprintln!("skipped: this system has no Landlock");
                    return;
                }
                assert!(fs::read(path("read/file")).is_ok() && fs::read_dir(path("read")).is_ok());
                assert!(denied(fs::write(path("read/file"), "y")));
                assert!(fs::write(path("write/new"), "y").is_ok());
                assert!(fs::rename(path("write/new"), path("write/newer")).is_ok());
                assert!(denied(fs::read(path("other/file")).map(drop)));
                assert!(denied(fs::read_dir(path("other")).map(drop)));
                let memory = rustix::fs::memfd_create("x", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
                assert!(crate::memory::reopened(&memory).is_ok());
            });
        });
        assert!(fs::read(path("other/file")).is_ok());
    }
}
