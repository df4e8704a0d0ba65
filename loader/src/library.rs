//! Shared libraries of drivers and layers.

use crate::generated::types::PFN_vkVoidFunction;
use crate::lookup::{self, Row};
use discovery::journal::{Journal, LogBits};
use discovery::text::Text;
use discovery::trace::Step;
use os::Raw;
use os::memory::copy_or_note;
use os::service::SharedLibrary;
use os::{file_of, is_separator, with_terminated};

pub(crate) use os::OpenError;

use crate::table;
use core::ffi::CStr;
use core::fmt;
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicBool, Ordering};
use rust_alloc::vec::Vec;

/// `true` if `VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING` was exactly `1` when the loader was loaded (DRV-236).
static KEEP_LIBRARIES: AtomicBool = AtomicBool::new(false);

/// Keeps every library open from now on (DRV-236).
pub(crate) fn keep_all() {
    KEEP_LIBRARIES.store(true, Ordering::Relaxed);
}

/// An open library; closed when dropped, unless `VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING` keeps libraries open (DRV-236).
pub(crate) struct Library {
    opened: ManuallyDrop<Opened>,
}

/// An open library.
enum Opened {
    /// A library that the system opened by its path.
    Path(os::Library),
    /// A library that a service sent, whose path no longer exists (LSV-40).
    Shared(SharedLibrary),
}

impl Library {
    /// Opens the library of a driver; see [`os::Library::open_driver`].
    ///
    /// # Errors
    /// The error text of the system.
    pub(crate) fn open_driver(path: &[u8]) -> Result<Self, OpenError> {
        Self::open_with(path, os::Library::open_driver)
    }

    /// Opens the library of a layer; see [`os::Library::open_layer`].
    ///
    /// # Errors
    /// The error text of the system.
    pub(crate) fn open_layer(path: &[u8]) -> Result<Self, OpenError> {
        Self::open_with(path, os::Library::open_layer)
    }

    /// Opens the library of a driver again. `name` is the library's name in messages; if the library has a path, `name` is that path.
    ///
    /// # Errors
    /// The error text of the system.
    pub(crate) fn open_again(&self, name: &[u8]) -> Result<Self, OpenError> {
        match &*self.opened {
            Opened::Path(_) => Self::open_driver(name),
            Opened::Shared(library) => Ok(library.clone().into()),
        }
    }

    fn open_with(path: &[u8], open: fn(&[u8]) -> Result<os::Library, OpenError>) -> Result<Self, OpenError> {
        traced(path, &|| {
            Ok(Self {
                opened: ManuallyDrop::new(Opened::Path(open(path)?)),
            })
        })
    }

    /// Returns the address of an exported function, or null. If the symbol is a function of the loader itself, it is treated as absent,
    /// because calling it would never return (LAY-215).
    pub(crate) fn function(&self, name: &CStr) -> PFN_vkVoidFunction {
        let address = match &*self.opened {
            Opened::Path(library) => library.symbol(name),
            Opened::Shared(library) => library.symbol(name),
        };
        let known = lookup::find(name.to_bytes());
        if known.is_some_and(|row| is_own_entry_point(row, address)) {
            return None;
        }
        // SAFETY: the symbol is null or the address of a function, because its name is that of a function.
        unsafe { table::from_word(address) }
    }

    /// Returns the function for a name from a manifest; null if the name contains a NUL.
    pub(crate) fn function_named(&self, name: &[u8]) -> PFN_vkVoidFunction {
        with_terminated(name, |name| Ok(self.function(name))).ok().flatten()
    }
}

impl From<SharedLibrary> for Library {
    fn from(library: SharedLibrary) -> Self {
        Self {
            opened: ManuallyDrop::new(Opened::Shared(library)),
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if !KEEP_LIBRARIES.load(Ordering::Relaxed) {
            // SAFETY: `drop` runs once, and nothing uses the field afterwards.
            unsafe { ManuallyDrop::drop(&mut self.opened) };
        }
    }
}

/// Opens a library, and records the opening under `name` as a step of the trace.
///
/// # Errors
/// The system's error text.
pub(crate) fn traced(name: &[u8], open: &dyn Fn() -> Result<Library, OpenError>) -> Result<Library, OpenError> {
    let step = Step::Open.begin(name);
    let opened = open();
    step.end_with(|record| {
        record.flag("opened", opened.is_ok());
        if let Err(error) = &opened {
            record.shown("system", format_args!("{}", error.text()));
        }
    });
    opened
}

/// Returns `true` if a driver or layer returned the address of the loader's own function for a command. A call of that function would never
/// return (LAY-215).
pub(crate) fn is_own_entry_point(row: &Row, address: *const ()) -> bool {
    #[cfg(vkl_steps_aside)]
    if crate::aside::is_jump(address) {
        return true;
    }
    core::ptr::eq(row.trampoline() as *const (), address)
        || row
            .terminator()
            .is_some_and(|terminator| core::ptr::eq(terminator as *const (), address))
}

/// Logs the system's error text for a library that did not open (DRV-58).
pub(crate) fn log_open_error(error: &OpenError, journal: &Journal<'_>) {
    let bits = match error {
        OpenError::WrongClass(_) => LogBits::INFO,
        OpenError::NotAPath | OpenError::Failed(_) => LogBits::ERROR,
    };
    journal.note(bits, format_args!("{}", error.text()));
}

/// Converts an untyped function pointer.
///
/// # Safety
/// `F` is the type of the function.
pub(crate) unsafe fn typed<F: Copy>(function: PFN_vkVoidFunction) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
    let function = function?;
    // SAFETY: both types are function pointers of one size, and the caller promises that `F` is the function's type.
    Some(unsafe { core::mem::transmute_copy::<unsafe extern "system" fn(), F>(&function) })
}

/// Returns the path of the library that contains `function`, as the system reports it. Logs a warning if this path differs from the path in
/// the manifest (DRV-60, LAY-206).
pub(crate) fn loaded_path(given: &Text, function: *const (), journal: &Journal<'_>) -> Text {
    let Some(loaded) = file_of(function).map(Text::from) else {
        return given.clone();
    };
    // Tools expect this message in the log category of layers, even if the library belongs to a driver.
    let bits = LogBits::WARN | LogBits::LAYER;
    // Skips the comparison for a bare name, which is not a path, and for equal texts, because resolving costs a system call per path
    // component.
    if *given != loaded && given.iter().any(|&byte| is_separator(byte)) && journal.wants(bits) {
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

/// Path of a library in messages: its canonical form. The path is resolved only when a log sink receives the message, because resolving
/// costs a system call per path component.
#[derive(Clone, Copy)]
pub(crate) struct RealPath<'a>(pub &'a [u8]);

impl RealPath<'_> {
    /// Returns the canonical form; a bare name, which is not a path, stays as it is.
    pub(crate) fn resolve(self) -> Vec<u8> {
        if self.0.iter().any(|&byte| is_separator(byte)) {
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

/// Returns the canonical form of a path, or the path itself if the system cannot resolve it.
fn canonical(path: &[u8]) -> Vec<u8> {
    os::canonical(path).unwrap_or_else(|_| copy_or_note(path))
}
