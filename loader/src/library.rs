//! Shared libraries of drivers and layers.

use crate::alloc::copy_or_note;
use crate::generated::lookup;
use crate::generated::types::PFN_vkVoidFunction;
use crate::journal::{Journal, LogBits, Raw};
use crate::manifest::Text;
use crate::os::{self, with_terminated};
use crate::proc_addr::is_own_entry_point;
use crate::state;
use crate::table;
use core::ffi::{CStr, c_void};
use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::Ordering;
use libloading::os::unix;
use rust_alloc::vec::Vec;

/// An open library; closed when dropped, unless `VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING` asks otherwise (DRV-236).
pub struct Library(NonNull<c_void>);

// SAFETY: a handle of the system's, which any thread may use and close.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

/// Why a library did not open.
#[derive(Debug)]
pub enum OpenError {
    /// The path is empty or holds a NUL, so it was never given to the system (LAY-100).
    NotAPath,
    /// It is made for another processor or word size, which is normal where 32-bit and 64-bit programs share a system
    /// (DRV-58). The system's own words.
    WrongClass(Text),
    /// Anything else, in the system's own words.
    Failed(Text),
}

impl OpenError {
    /// The system's own words.
    pub fn text(&self) -> Raw<'_> {
        Raw(match self {
            Self::NotAPath => b"the library path is empty or contains a NUL byte",
            Self::WrongClass(text) | Self::Failed(text) => text,
        })
    }
}

impl Library {
    /// Opens a library with lazy binding and local scope (DRV-56). `path` is given to the system as it is, so a bare
    /// name goes through the system's search.
    pub fn open(path: &[u8]) -> Result<Self, OpenError> {
        if path.is_empty() || os::find_byte(path, 0).is_some() {
            return Err(OpenError::NotAPath);
        }
        let flags = unix::RTLD_LAZY | unix::RTLD_LOCAL;
        let opened = with_terminated(path, |path| {
            // SAFETY: running the library's initialisers is what loading a driver or layer means; the file was named by a
            // manifest the user or the system installed.
            let open = || NonNull::new(unsafe { libc::dlopen(path.as_ptr(), flags) });
            // The crate itself takes no path that is not UTF-8.
            Ok(unix::with_dlerror(open, |words| Text::from(words.to_bytes())))
        });
        match opened {
            Ok(Ok(library)) => Ok(Self(library)),
            Ok(Err(Some(words))) if tells_wrong_class(&words) => Err(OpenError::WrongClass(words)),
            Ok(Err(Some(words))) => Err(OpenError::Failed(words)),
            Ok(Err(None)) => Err(OpenError::Failed(
                "dlopen failed, but system did not report the error".into(),
            )),
            // There was no memory for a path that has no NUL inside, which lets the call end.
            Err(_) => Err(OpenError::NotAPath),
        }
    }

    /// The address of an exported function, or null. A symbol that turns out to be the loader's own counts as absent,
    /// because calling it would never come back (LAY-215).
    pub fn function(&self, name: &CStr) -> PFN_vkVoidFunction {
        // SAFETY: a library that is open, and a terminated name; the address is only kept as an untyped word here.
        let address = unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) }.cast::<()>();
        let known = lookup::find(name.to_bytes());
        if known.is_some_and(|row| is_own_entry_point(row, address)) {
            return None;
        }
        // SAFETY: a non-null symbol of a function name is the address of a function.
        unsafe { table::from_word(address) }
    }
}

impl Library {
    /// The same for a name from a manifest; one with a NUL inside is exported by nothing.
    pub fn function_named(&self, name: &[u8]) -> PFN_vkVoidFunction {
        with_terminated(name, |name| Ok(self.function(name))).ok().flatten()
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if !state::KEEP_LIBRARIES.load(Ordering::Relaxed) {
            // SAFETY: opened once, and closed once, here.
            unsafe { libc::dlclose(self.0.as_ptr()) };
        }
    }
}

/// Whether the system's words about a library are about its word size (DRV-58).
fn tells_wrong_class(words: &[u8]) -> bool {
    const TOLD: &[u8] = b"wrong ELF class:";
    words.windows(TOLD.len()).any(|part| part == TOLD)
}

/// Reinterprets an untyped function pointer.
///
/// # Safety
/// `F` is the type of the function.
pub unsafe fn typed<F: Copy>(function: PFN_vkVoidFunction) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
    let function = function?;
    // SAFETY: both are function pointers, and the caller vouches for the signature.
    Some(unsafe { core::mem::transmute_copy::<unsafe extern "system" fn(), F>(&function) })
}

/// The path of the library that holds `function`, as the system reports it, and a warning when it is not what the manifest
/// pointed at (DRV-60, LAY-206).
pub fn loaded_path(given: &Text, function: *const (), journal: &Journal<'_>) -> Text {
    let Some(loaded) = file_of(function) else {
        return given.clone();
    };
    // Tools know it as a message about layers, whatever the library is.
    let bits = LogBits::WARN | LogBits::LAYER;
    // A bare name is no path. Most often the other two are the same text, and asking costs a system call for each part.
    if *given != loaded && given.contains(&b'/') && journal.wants(bits) {
        let (given, real) = (canonical(given), canonical(&loaded));
        if given != real {
            journal.note(
                bits,
                format_args!(
                    "Path to given binary {} was found to differ from OS loaded path {}",
                    Raw(&given),
                    Raw(&real)
                ),
            );
        }
    }
    loaded
}

/// The file that holds `function`, as the system reports it. Not canonicalised.
fn file_of(function: *const ()) -> Option<Text> {
    let mut info = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` accepts any address and fills the structure when it returns non-zero.
    let found = unsafe { libc::dladdr(function.cast(), info.as_mut_ptr()) };
    if found == 0 {
        return None;
    }
    // SAFETY: filled by the successful call above.
    let name = unsafe { info.assume_init() }.dli_fname;
    // SAFETY: `dli_fname` is null or a string that lives as long as the library is loaded.
    (!name.is_null()).then(|| Text::from(unsafe { CStr::from_ptr(name) }.to_bytes()))
}

/// The path of a library as messages give it: its canonical form. Finding that out costs a system call for each part of
/// the path, so it waits until a log sink takes the message.
#[derive(Clone, Copy)]
pub struct RealPath<'a>(pub &'a [u8]);

impl RealPath<'_> {
    /// The canonical form. A bare name is no path.
    pub fn resolve(self) -> Vec<u8> {
        if self.0.contains(&b'/') {
            canonical(self.0)
        } else {
            copy_or_note(self.0)
        }
    }
}

impl fmt::Display for RealPath<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Raw(&self.resolve()).fmt(formatter)
    }
}

/// The canonical form of a path, or the path itself when the system cannot tell.
fn canonical(path: &[u8]) -> Vec<u8> {
    os::canonical(path).unwrap_or_else(|_| copy_or_note(path))
}
