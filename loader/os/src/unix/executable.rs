//! Path of the running executable, which each system reports in its own way.

#[cfg(not(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "dragonfly",
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "fuchsia",
    target_os = "nto",
    target_os = "haiku"
)))]
pub use by_link::running_executable;
#[cfg(any(target_os = "freebsd", target_os = "dragonfly", target_os = "netbsd"))]
pub use by_number::running_executable;
#[cfg(target_vendor = "apple")]
pub use by_question::running_executable;
#[cfg(any(target_os = "openbsd", target_os = "fuchsia", target_os = "nto", target_os = "haiku"))]
pub use unknown::running_executable;

/// Implementation for systems that have a link to the executable.
#[cfg(not(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "dragonfly",
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "fuchsia",
    target_os = "nto",
    target_os = "haiku"
)))]
mod by_link {
    use super::super::errno::Errno;
    use core::ffi::CStr;

    /// Path of the link to the executable.
    const LINK: &CStr = if cfg!(any(target_os = "illumos", target_os = "solaris")) {
        c"/proc/self/path/a.out"
    } else {
        c"/proc/self/exe"
    };

    /// Returns the absolute path of the running executable, with symbolic links resolved, in `room`. A longer path is truncated to the size
    /// of `room`. Returns `None` if the path cannot be read.
    pub fn running_executable(room: &mut [u8]) -> Option<&[u8]> {
        link_target(LINK, room).ok()
    }

    /// Returns the target of a link; if it is as long as `room` or longer, only its beginning.
    fn link_target<'r>(link: &CStr, room: &'r mut [u8]) -> Result<&'r [u8], Errno> {
        let first = room.as_mut_ptr().cast::<core::ffi::c_char>();
        // SAFETY: the path is terminated, and the memory is writable and has this length.
        let length = unsafe { libc::readlink(link.as_ptr(), first, room.len()) };
        let length = usize::try_from(length).map_err(|_| Errno::last())?;
        Ok(&room[..length])
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::system::with_terminated;
        use crate::testing::Scratch;

        #[test]
        fn links_lead_somewhere() {
            let scratch = Scratch::create();
            let file = scratch.file("file", b"");
            let link = scratch.link("link", "file");
            let target = with_terminated(&link, |link| link_target(link, &mut [0; 4096]).map(<[u8]>::to_vec));
            assert_eq!(target.as_deref(), Ok(&file[..]));
            let cut = with_terminated(&link, |link| link_target(link, &mut [0; 2]).map(<[u8]>::to_vec));
            assert_eq!(cut.as_deref(), Ok(&file[..2]));
            let none = with_terminated(&file, |file| link_target(file, &mut [0; 2]).map(<[u8]>::to_vec));
            assert_eq!(none, Err(Errno(libc::EINVAL)));
        }
    }
}

/// Implementation for systems whose kernel returns the path through `sysctl`.
#[cfg(any(target_os = "freebsd", target_os = "dragonfly", target_os = "netbsd"))]
mod by_number {
    use super::super::errno::Errno;
    use crate::find_byte;
    use core::ffi::c_int;
    use core::ptr::null_mut;

    /// Name of the `sysctl` value that contains the executable's path. The name is a list of numbers; -1 stands for this process.
    #[cfg(not(target_os = "netbsd"))]
    const PATH: [c_int; 4] = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_PATHNAME, -1];
    #[cfg(target_os = "netbsd")]
    const PATH: [c_int; 4] = [libc::CTL_KERN, libc::KERN_PROC_ARGS, -1, libc::KERN_PROC_PATHNAME];

    /// Returns the absolute path of the running executable, with symbolic links resolved, in `room`. A longer path is truncated to the size
    /// of `room`. Returns `None` if the path cannot be read.
    pub fn running_executable(room: &mut [u8]) -> Option<&[u8]> {
        let mut length = room.len();
        // SAFETY: `PATH` has this number of elements, and the memory is writable and has this length. A null new value sets nothing.
        let failed = unsafe {
            libc::sysctl(
                PATH.as_ptr(),
                PATH.len() as libc::c_uint,
                room.as_mut_ptr().cast(),
                &mut length,
                null_mut(),
                0,
            )
        };
        if failed != 0 {
            let is_longer = Errno::last().0 == libc::ENOMEM;
            return is_longer.then_some(room);
        }
        let end = find_byte(room, 0).filter(|&end| end > 0)?;
        Some(&room[..end])
    }
}

/// Implementation for Apple's systems. Apple's function returns the path with which the program was started, which may contain links.
#[cfg(target_vendor = "apple")]
mod by_question {
    use super::super::path::canonical;
    use crate::find_byte;
    use core::ffi::{c_char, c_int};

    unsafe extern "C" {
        fn _NSGetExecutablePath(text: *mut c_char, bytes: *mut u32) -> c_int;
    }

    /// Returns the absolute path of the running executable, with symbolic links resolved, in `room`. A longer path is truncated to the size
    /// of `room`. Returns `None` if the path cannot be read.
    pub fn running_executable(room: &mut [u8]) -> Option<&[u8]> {
        let mut bytes = u32::try_from(room.len()).unwrap_or(u32::MAX);
        // SAFETY: the memory for the terminated text is writable and at least this long.
        let failed = unsafe { _NSGetExecutablePath(room.as_mut_ptr().cast(), &mut bytes) };
        if failed != 0 {
            return Some(room);
        }
        let end = find_byte(room, 0)?;
        let resolved = canonical(&room[..end]).ok()?;
        let length = resolved.len().min(room.len());
        room[..length].copy_from_slice(&resolved[..length]);
        Some(&room[..length])
    }
}

/// Implementation for systems that do not report the path (LAY-55), or not reliably.
#[cfg(any(target_os = "openbsd", target_os = "fuchsia", target_os = "nto", target_os = "haiku"))]
mod unknown {
    /// Returns `None`: the path is unknown, so it matches no executable that a settings file names.
    pub fn running_executable(_: &mut [u8]) -> Option<&[u8]> {
        None
    }
}
