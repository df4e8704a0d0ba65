//! Shared libraries.

#[cfg(not(target_env = "gnu"))]
use super::object_file::is_foreign;
use super::with_terminated;
use crate::find_byte;
use crate::memory::copy_or_note;
use crate::open_error::OpenError;
use alloc::vec::Vec;
use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use libloading::os::unix;

/// An open library; closed when dropped. To keep it open for good, forget it.
pub struct Library(pub(crate) NonNull<c_void>);

// SAFETY: a handle of the system's, which any thread may use and close.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Opens a library with lazy binding and local scope (DRV-56). `path` is given to the system as it is, so a bare
    /// name goes through the system's search. Its initialisers run: that is what loading a driver or layer means.
    ///
    /// # Errors
    /// The system's, in its words.
    pub fn open(path: &[u8]) -> Result<Self, OpenError> {
        if path.is_empty() || find_byte(path, 0).is_some() {
            return Err(OpenError::NotAPath);
        }
        let flags = unix::RTLD_LAZY | unix::RTLD_LOCAL;
        let opened = with_terminated(path, |path| {
            // SAFETY: the file was named by a manifest that the user or the system installed, and is trusted as that is.
            let open = || NonNull::new(unsafe { libc::dlopen(path.as_ptr(), flags) });
            // The crate itself takes no path that is not UTF-8.
            let opened = unix::with_dlerror(open, |words| copy_or_note(words.to_bytes()));
            Ok(opened.map_err(|words| failure(path, words)))
        });
        match opened {
            Ok(opened) => opened.map(Self),
            // There was no memory for a path that has no NUL inside, which lets the call end.
            Err(_) => Err(OpenError::NotAPath),
        }
    }

    /// The address of an exported symbol, or null. It is valid while the library is open.
    pub fn symbol(&self, name: &CStr) -> *mut () {
        // SAFETY: a library that is open, and a terminated name.
        unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) }.cast()
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // What came from a service stays (LSV-23), and cannot be told from the rest.
        if cfg!(all(target_os = "fuchsia", feature = "fuchsia-service")) {
            return;
        }
        // SAFETY: opened once, and closed once, here.
        unsafe { libc::dlclose(self.0.as_ptr()) };
    }
}

/// Why the library at `path` did not open, in the system's words if it had any.
fn failure(path: &CStr, words: Option<Vec<u8>>) -> OpenError {
    match words {
        Some(words) if is_wrong_class(path, &words) => OpenError::WrongClass(words),
        Some(words) => OpenError::Failed(words),
        None => OpenError::Failed(copy_or_note(b"dlopen failed, but system did not report the error")),
    }
}

/// Whether a library did not open because of its word size (DRV-58): the system's words say so.
#[cfg(target_env = "gnu")]
fn is_wrong_class(_: &CStr, words: &[u8]) -> bool {
    tells_wrong_class(words)
}

/// Whether a library did not open because it is for another machine (DRV-58): the system's words or the file say so. A bare
/// name is not looked for.
#[cfg(not(target_env = "gnu"))]
fn is_wrong_class(path: &CStr, words: &[u8]) -> bool {
    tells_wrong_class(words) || is_foreign(path)
}

/// Whether the system's words about a library are about its word size.
fn tells_wrong_class(words: &[u8]) -> bool {
    const TOLD: &[u8] = if cfg!(target_vendor = "apple") {
        b"incompatible architecture"
    } else {
        b"wrong ELF class:"
    };
    words.windows(TOLD.len()).any(|part| part == TOLD)
}

/// The file that holds the code or data at `address`, as the system reports it, not canonicalised. `None` where that is no
/// library's.
pub fn file_of(address: *const ()) -> Option<Vec<u8>> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` accepts any address and fills the structure when it returns non-zero.
    let found = unsafe { libc::dladdr(address.cast(), info.as_mut_ptr()) };
    if found == 0 {
        return None;
    }
    // SAFETY: filled by the successful call above.
    let name = unsafe { info.assume_init() }.dli_fname;
    // SAFETY: `dli_fname` is null or a string that lives as long as the library is loaded.
    (!name.is_null()).then(|| copy_or_note(unsafe { CStr::from_ptr(name) }.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drv_56_a_library_opens_and_has_symbols() {
        let library = Library::open(b"libm.so.6").unwrap();
        let cosine = library.symbol(c"cos");
        assert!(!cosine.is_null() && library.symbol(c"no such symbol").is_null());
        let file = file_of(cosine).unwrap();
        assert!(file.windows(4).any(|part| part == b"libm"), "{}", file.escape_ascii());
    }

    #[test]
    fn lay_100_what_is_no_path_is_not_opened() {
        for path in [&b""[..], b"libm.so.6\0"] {
            assert!(matches!(Library::open(path), Err(OpenError::NotAPath)));
        }
        let Err(OpenError::Failed(words)) = Library::open(b"/nowhere/libnone.so") else {
            panic!("it failed with words");
        };
        assert!(words.starts_with(b"/nowhere/libnone.so"), "{}", words.escape_ascii());
        assert!(tells_wrong_class(b"libx.so: wrong ELF class: ELFCLASS32"));
    }
}
