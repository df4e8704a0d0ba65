//! Shared libraries.

#[cfg(not(target_env = "gnu"))]
use super::object_file::is_foreign;
use super::with_terminated;
use crate::find_byte;
use crate::memory::copy_or_note;
use crate::open_error::OpenError;
use alloc::vec::Vec;
use core::ffi::{CStr, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use libloading::os::unix;

/// An open library; closed when dropped. To keep the library open permanently, forget the value.
pub struct Library(pub(crate) NonNull<c_void>);

// SAFETY: any thread may use and close a handle of the system's linker.
unsafe impl Send for Library {}
// SAFETY: any thread may use and close a handle of the system's linker.
unsafe impl Sync for Library {}

impl Library {
    /// Opens a library with lazy binding and local scope (DRV-56). The system gets `path` unchanged, so the
    /// system searches its folders for a bare name. Loading a driver or layer runs its initialisers.
    ///
    /// # Errors
    /// The error text of the system.
    pub fn open(path: &[u8]) -> Result<Self, OpenError> {
        Self::open_with(path, unix::RTLD_LAZY | unix::RTLD_LOCAL)
    }

    /// Opens a library like [`open`](Self::open), with other flags.
    pub(crate) fn open_with(path: &[u8], flags: c_int) -> Result<Self, OpenError> {
        if path.is_empty() || find_byte(path, 0).is_some() {
            return Err(OpenError::NotAPath);
        }
        let opened = with_terminated(path, |path| {
            // SAFETY: the user or the system installed the manifest that names this file, so the file is trusted to the same degree.
            let open = || NonNull::new(unsafe { libc::dlopen(path.as_ptr(), flags) });
            // Calls `dlopen` itself, because the function of the crate `libloading` that opens a library only accepts UTF-8 paths.
            let opened = unix::with_dlerror(open, |words| copy_or_note(words.to_bytes()));
            Ok(opened.map_err(|words| failure(path, words)))
        });
        match opened {
            Ok(opened) => opened.map(Self),
            // `with_terminated` fails for a path with a NUL, or because memory ran out; a shortage of memory also ends the Vulkan call.
            Err(_) => Err(OpenError::NotAPath),
        }
    }

    /// Returns the address of an exported symbol, or null. The address is valid while the library is open.
    pub fn symbol(&self, name: &CStr) -> *mut () {
        // SAFETY: the library is open, and the name is terminated.
        unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) }.cast()
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // A library from a service stays open (LSV-23), and cannot be distinguished from others.
        if cfg!(all(target_os = "fuchsia", feature = "fuchsia-service")) {
            return;
        }
        // SAFETY: the library was opened once, and this is the only call that closes it.
        unsafe { libc::dlclose(self.0.as_ptr()) };
    }
}

/// Returns the reason why the library at `path` did not open, with the system's error text if it has one.
fn failure(path: &CStr, words: Option<Vec<u8>>) -> OpenError {
    match words {
        Some(words) if is_wrong_class(path, &words) => OpenError::WrongClass(words),
        Some(words) => OpenError::Failed(words),
        None => OpenError::Failed(copy_or_note(b"dlopen failed, but system did not report the error")),
    }
}

/// Returns `true` if the system's error text says that the library has another word size (DRV-58).
#[cfg(target_env = "gnu")]
fn is_wrong_class(_: &CStr, words: &[u8]) -> bool {
    tells_wrong_class(words)
}

/// Returns `true` if the system's error text or the header of the file at `path` says that the library is for another machine (DRV-58). If
/// `path` is a bare name, this function does not search folders for the file.
#[cfg(not(target_env = "gnu"))]
fn is_wrong_class(path: &CStr, words: &[u8]) -> bool {
    tells_wrong_class(words) || is_foreign(path)
}

/// Returns `true` if the system's error text about a library is about its word size.
fn tells_wrong_class(words: &[u8]) -> bool {
    const TOLD: &[u8] = if cfg!(target_vendor = "apple") {
        b"incompatible architecture"
    } else {
        b"wrong ELF class:"
    };
    words.windows(TOLD.len()).any(|part| part == TOLD)
}

/// Returns the file that contains the code or data at `address`, as the system reports it, not canonicalised. `None` if the address is not
/// in a library.
pub fn file_of(address: *const ()) -> Option<Vec<u8>> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` accepts any address, and the structure is writable.
    let found = unsafe { libc::dladdr(address.cast(), info.as_mut_ptr()) };
    if found == 0 {
        return None;
    }
    // SAFETY: `dladdr` succeeded, so it has filled the structure.
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
            panic!("the library opened, or failed without an error text");
        };
        assert!(words.starts_with(b"/nowhere/libnone.so"), "{}", words.escape_ascii());
        assert!(tells_wrong_class(b"libx.so: wrong ELF class: ELFCLASS32"));
    }
}
