//! Libraries that are opened from files without a path (LSV-39 to LSV-41).

use crate::{File, Library, OpenError, canonical, since_start};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;

/// Length in bytes of the longest [`Path`]: the folder, at most two bytes for each bit of the time, and the largest descriptor number.
const LONGEST: usize = FOLDER.len() + 2 * u64::BITS as usize + "/2147483647".len();
/// Folder in which the system lists the descriptors of a process.
const FOLDER: &[u8] = b"/proc/self/fd";

/// Bytes that identify a library.
pub type Mark = [u8; 64];

/// A library that was opened from a file. The library is closed when the last copy of this value is dropped.
#[derive(Clone)]
pub struct SharedLibrary(Arc<Opened>);

/// An open library.
struct Opened {
    library: Library,
    /// A library that `library` needs, and that was opened earlier. Rust drops the fields in order, so `library` is closed first.
    _earlier: Option<SharedLibrary>,
    mark: Mark,
}

/// A file of a library.
pub struct SentFile {
    /// The name by which other libraries need the library; empty for a library that no other library needs.
    pub name: Vec<u8>,
    /// The file.
    pub file: File,
    /// The next file in the list, in which each library comes after the libraries that it needs.
    pub next: Option<Box<SentFile>>,
}

impl SharedLibrary {
    /// Opens the library in the last file, which runs the initialisers of the library. The other files are libraries that it needs. Each
    /// library comes after the libraries that it needs itself, and is not opened if a library of its name is open. If an earlier library
    /// does not open, opening the last library also fails, and the system reports the reason. The files may be closed afterwards.
    ///
    /// # Errors
    /// The system's error text.
    pub fn open(mut files: Option<&SentFile>, mark: Mark) -> Result<Self, OpenError> {
        let mut opened = None;
        while let Some(SentFile { name, file, next }) = files {
            files = next.as_deref();
            // Two drivers of one scan may need the same library.
            if is_open(name) {
                continue;
            }
            match Library::open(Path::of(file, since_start()).bytes()) {
                Ok(library) => {
                    let _earlier = opened.take();
                    opened = Some(Self(Arc::new(Opened {
                        library,
                        _earlier,
                        mark,
                    })));
                }
                Err(error) if name.is_empty() => return Err(error),
                Err(_) => {}
            }
        }
        opened.ok_or(OpenError::NotAPath)
    }

    /// Returns the bytes that identify the library.
    pub fn mark(&self) -> &Mark {
        &self.0.mark
    }

    /// Returns the address of an exported symbol, or null. The address is valid while a copy of this value exists.
    pub fn symbol(&self, name: &CStr) -> *mut () {
        self.0.library.symbol(name)
    }
}

/// Returns `true` if a library called `name` is open. The system then uses that library for every library that needs the name.
pub fn is_open(name: &[u8]) -> bool {
    // With `RTLD_NOLOAD`, the system opens only a library that is already loaded. The new handle is closed at once.
    Library::open_with(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD).is_ok()
}

/// Returns the canonical path of the file that the dynamic linker would find for a library name if it had no cache, and the open file.
/// The linker skips files that the process may not read.
// If the function were inlined, the list of folders would enlarge the caller's stack frame, and accesses to the frame would need longer
// instructions.
#[cfg(target_env = "gnu")]
#[inline(never)]
pub fn find_library(name: &[u8]) -> Option<(Vec<u8>, File)> {
    folders::visit(|folder| {
        let path = crate::render(format_args!("{}/{}", crate::Raw(folder), crate::Raw(name)));
        let path = canonical(&path).ok()?;
        let file = crate::with_terminated(&path, File::open).ok()?;
        Some((path, file))
    })
}

/// The folders that the linker searches for libraries.
#[cfg(target_env = "gnu")]
mod folders {
    use core::ffi::{CStr, c_char, c_uint};
    use core::mem::MaybeUninit;
    use core::ptr::null;

    /// Size in bytes of the buffer for the folders and their names. The folders of the system need about 300 bytes.
    const ROOM: usize = 8192;

    /// The list of folders in the form that the dynamic linker writes. The texts of the folders' names come after the last entry.
    #[repr(C)]
    struct Folders {
        size: usize,
        count: c_uint,
        folders: [Folder; ROOM / size_of::<Folder>()],
    }

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Folder {
        name: *const c_char,
        flags: c_uint,
    }

    /// Passes the folders to `look` until it returns a value, and returns that value.
    pub(super) fn visit<T>(mut look: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
        // SAFETY: a null name means the program, which is open as long as the process runs.
        let program = unsafe { libc::dlopen(null(), libc::RTLD_LAZY) };
        let mut room = MaybeUninit::<Folders>::uninit();
        let list = room.as_mut_ptr();
        // SAFETY: `RTLD_DI_SERINFOSIZE` writes only the members `size` and `count`, and `room` contains both.
        let is_known = unsafe { libc::dlinfo(program, libc::RTLD_DI_SERINFOSIZE, list.cast()) } == 0;
        // SAFETY: `dlinfo` succeeded, so it has written `size`.
        if !is_known || unsafe { (*list).size } > size_of::<Folders>() {
            return None;
        }
        // SAFETY: the linker writes as many bytes as the member `size` says, and `room` has at least this size.
        if unsafe { libc::dlinfo(program, libc::RTLD_DI_SERINFO, list.cast()) } != 0 {
            return None;
        }
        // SAFETY: the call succeeded, so the linker filled the structure.
        let count = unsafe { (*list).count };
        (0..count as usize).find_map(|index| {
            // SAFETY: the linker wrote `count` folders, each with a terminated name.
            let name = unsafe { CStr::from_ptr((&raw const (*list).folders).cast::<Folder>().add(index).read().name) };
            look(name.to_bytes())
        })
    }
}

/// Returns `None`: only the GNU C library reports the folders that the linker searches.
#[cfg(not(target_env = "gnu"))]
pub fn find_library(_: &[u8]) -> Option<(Vec<u8>, File)> {
    None
}

/// A path through which the system finds a descriptor.
///
/// The system identifies an open library by the text of its path, even after another file has got the number of the descriptor. Therefore
/// no path may ever repeat in a process. Between the folder and the number, redundant parts (`/` or `/.`)
/// encode the time, one bit each.
struct Path {
    bytes: [u8; LONGEST],
    /// Number of unused bytes before the path.
    unused: usize,
}

impl Path {
    /// Returns a path of `file` that encodes the time `moment`, in nanoseconds. Opening a library takes longer than a nanosecond, so the
    /// next library whose descriptor has the same number gets another path.
    fn of(file: &File, mut moment: u64) -> Self {
        let mut path = Self {
            bytes: [0; LONGEST],
            unused: LONGEST,
        };
        // The path is written from its end to its beginning, because the last digit of a number is the first that a division yields.
        let mut number = file.0.unsigned_abs();
        loop {
            path.prepend(b'0' + (number % 10) as u8);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        path.prepend(b'/');
        while moment > 0 {
            if moment & 1 == 1 {
                path.prepend(b'.');
            }
            path.prepend(b'/');
            moment >>= 1;
        }
        for &byte in FOLDER.iter().rev() {
            path.prepend(byte);
        }
        path
    }

    /// Adds a byte at the beginning of the path. The buffer is large enough for every descriptor number and time.
    // Without this attribute, each caller would contain a copy of the function.
    #[inline(never)]
    fn prepend(&mut self, byte: u8) {
        self.unused = self.unused.saturating_sub(1);
        if let Some(place) = self.bytes.get_mut(self.unused) {
            *place = byte;
        }
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(self.unused..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::ManuallyDrop;

    fn path(number: i32, moment: u64) -> Vec<u8> {
        Path::of(&ManuallyDrop::new(File(number)), moment).bytes().into()
    }

    #[test]
    fn lsv_40_a_path_never_repeats() {
        assert_eq!(path(7, 5), b"/proc/self/fd/.//./7");
        assert_eq!(path(i32::MAX, u64::MAX).len(), LONGEST);
        let mut paths: Vec<_> = (0..256)
            .flat_map(|moment| [path(1, moment), path(11, moment)])
            .collect();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), 512);
    }

    #[test]
    fn lsv_40_a_number_that_is_used_again_leads_to_another_library() {
        let file_of = |function: &CStr, name: &[u8]| {
            let found = Library::open(name).unwrap();
            let path = crate::file_of(found.symbol(function)).unwrap();
            crate::with_terminated(&path, File::open).unwrap()
        };
        let (first, second) = (file_of(c"cos", b"libm.so.6"), file_of(c"dlopen", b"libc.so.6"));
        let number = first.0;
        let sent = |file| SentFile {
            name: Vec::new(),
            file,
            next: None,
        };
        let file = sent(first);
        let opened = SharedLibrary::open(Some(&file), [1; 64]).unwrap();
        assert!(!opened.symbol(c"cos").is_null() && *opened.mark() == [1; 64]);
        // SAFETY: both descriptors belong to this function.
        assert_eq!(unsafe { libc::dup2(second.0, number) }, number);
        let other = SharedLibrary::open(Some(&file), [2; 64]).unwrap();
        assert!(other.symbol(c"cos").is_null() && !other.symbol(c"malloc").is_null());
        // A failed attempt to open a file that is not a library leaves no descriptor open.
        let text = sent(File::open(c"/etc/passwd").unwrap());
        let opened = SharedLibrary::open(Some(&text), [3; 64]);
        assert!(matches!(opened, Err(OpenError::Failed(_))));
    }
}
