//! A library in a bundle that steps aside for the system's library (APP-300).
//!
//! A program that brings its own Vulkan loader may run years later, on a system with newer drivers. When this build of the library is
//! loaded, it looks for the system's library. If the system's library is not older than this library, each exported function jumps to the
//! function of the same name in the system's library. Functions that a program looks up through these functions then also belong to the
//! system's library. If the system's library is older or missing, the exported functions jump to the functions of this library.

mod jump;

use crate::generated::exports::{EXPORTS, TARGETS};
use core::ffi::CStr;
use core::mem::transmute;
use core::sync::atomic::Ordering;
use discovery::journal::LogBits;
use discovery::version::ApiVersion;
use discovery::{bundle, log};
use os::{Library, Mutex, OpenError, Raw, Status, canonical, with_terminated};

pub(crate) use jump::jump;

/// Functions that the system's library must have, so that this library steps aside.
const NEEDED: [&CStr; 4] = [
    c"vkCreateInstance",
    c"vkEnumerateInstanceExtensionProperties",
    c"vkGetDeviceProcAddr",
    c"vkGetInstanceProcAddr",
];

/// The system's library, while this library steps aside for it.
static SYSTEM: Mutex<Option<Library>> = Mutex::new(None);

/// An exported function.
pub(crate) struct Export {
    /// Name of the exported function.
    name: &'static CStr,
    /// Exported symbol with this name: a jump to the function's target.
    jump: unsafe extern "C" fn(),
}

/// Defines one exported function for each name, and the array of their targets.
macro_rules! exports {
    ($($name:ident;)*) => {
        /// Number of each exported function: its index in `TARGETS`.
        enum Number {
            $($name),*
        }

        /// The number of exported functions.
        const COUNT: usize = [$(Number::$name),*].len();

        /// Targets of the jumps. Initially, these are this library's own functions; [`crate::aside::decide`] may change them.
        pub(crate) static TARGETS: [core::sync::atomic::AtomicPtr<()>; COUNT] =
            [$(core::sync::atomic::AtomicPtr::new(super::trampoline::$name as *mut ())),*];

        /// All exported functions, in the order of their numbers.
        pub(crate) static EXPORTS: [crate::aside::Export; COUNT] =
            [$(crate::aside::Export::new(concat!(stringify!($name), "\0"), jumps::$name)),*];

        mod jumps {
            $(
                #[unsafe(naked)]
                #[unsafe(no_mangle)]
                pub(super) unsafe extern "C" fn $name() {
                    crate::aside::jump!(super::TARGETS, super::Number::$name)
                }
            )*
        }
    };
}
pub(crate) use exports;

impl Export {
    /// Returns an exported function from its name, which ends with a NUL, and its jump.
    pub(crate) const fn new(name: &'static str, jump: unsafe extern "C" fn()) -> Self {
        match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => Self { name, jump },
            Err(_) => panic!("a name has no NUL inside"),
        }
    }
}

/// Looks for the system's library, and makes all exported functions jump to that library if it is not older than this library. `own` is the
/// version of this library. Must run while this library is loaded, before a program can call its functions.
pub(crate) fn decide(own: ApiVersion) {
    let Some(here) = os::file_of(decide as *const ()) else {
        return;
    };
    let here = identity(&here);
    bundle::each_of_system(|path| {
        let found = identity(path);
        if found.is_none() {
            return false;
        }
        // The system's library is this library itself, possibly found through another path.
        if found == here {
            return true;
        }
        match opened(path, own) {
            Ok(library) => {
                log::message(
                    LogBits::INFO,
                    format_args!("Stepping aside for {}, which is not older", Raw(path)),
                );
                step_aside(&library);
                *SYSTEM.lock() = Some(library);
                true
            }
            Err(reason) => {
                log::message(
                    LogBits::INFO,
                    format_args!("Not stepping aside for {}: {reason}", Raw(path)),
                );
                false
            }
        }
    });
}

/// Closes the system's library.
pub(crate) fn forget() {
    let system = SYSTEM.lock().take();
    drop(system);
}

/// Returns `true` if `address` is the address of an exported symbol of this library.
pub(crate) fn is_jump(address: *const ()) -> bool {
    EXPORTS
        .iter()
        .any(|export| core::ptr::eq(export.jump as *const (), address))
}

/// Opens the system's library at `path`.
///
/// # Errors
/// The reason why this library does not step aside.
fn opened(path: &[u8], own: ApiVersion) -> Result<Library, Refusal> {
    let real = canonical(path).map_err(|_| Refusal::Unreadable)?;
    let named = bundle::version_of_file(&real);
    if let Some(version) = named.filter(|version| *version < own) {
        return Err(Refusal::Older(version));
    }
    let library = Library::open(path).map_err(Refusal::NotOpened)?;
    if let Some(absent) = NEEDED.iter().find(|name| library.symbol(name).is_null()) {
        return Err(Refusal::Lacks(absent));
    }
    match named.or_else(|| reported(&library)) {
        Some(version) if version >= own => Ok(library),
        version => Err(Refusal::Older(version.unwrap_or(ApiVersion::V1_0))),
    }
}

/// Reason why this library does not step aside for another loader.
enum Refusal {
    Unreadable,
    Older(ApiVersion),
    NotOpened(OpenError),
    Lacks(&'static CStr),
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Unreadable => formatter.write_str("its path cannot be followed"),
            Self::Older(version) => write!(
                formatter,
                "version {}.{}.{} is older",
                version.major(),
                version.minor(),
                version.patch()
            ),
            Self::NotOpened(error) => write!(formatter, "{}", error.text()),
            Self::Lacks(name) => write!(formatter, "it lacks {}", Raw(name.to_bytes())),
        }
    }
}

/// Returns the version that a library reports; `None` for a library of Vulkan 1.0, which lacks `vkEnumerateInstanceVersion`.
fn reported(library: &Library) -> Option<ApiVersion> {
    type EnumerateInstanceVersion = unsafe extern "system" fn(*mut u32) -> i32;
    let function = library.symbol(c"vkEnumerateInstanceVersion");
    if function.is_null() {
        return None;
    }
    // SAFETY: a Vulkan loader exports `vkEnumerateInstanceVersion` with the type in the registry, which `EnumerateInstanceVersion` repeats.
    let function = unsafe { transmute::<*mut (), EnumerateInstanceVersion>(function) };
    let mut version = 0;
    // SAFETY: `version` is a writable number, and nothing else uses it during the call.
    let result = unsafe { function(&mut version) };
    (result == 0).then_some(ApiVersion(version))
}

/// Makes the exported functions jump to the functions of `library`. If `library` lacks a function, this library's own function stays. That
/// function ends the process with a message if it gets an object of `library`.
fn step_aside(library: &Library) {
    for (export, target) in EXPORTS.iter().zip(&TARGETS) {
        let function = library.symbol(export.name);
        if !function.is_null() {
            target.store(function, Ordering::Relaxed);
        }
    }
}

/// Returns the numbers of the device and inode of the file at `path`; `None` if there is no file at this path.
fn identity(path: &[u8]) -> Option<(u64, u64)> {
    let status = with_terminated(path, Status::at).ok()?;
    status.identity()
}
