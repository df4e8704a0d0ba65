//! Libraries that are opened from files without a path (LSV-39 to LSV-41).

use crate::memory::Grow;
use crate::{File, Library, OpenError, canonical, since_start, with_terminated};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::ptr::NonNull;

/// Length in bytes of the longest path of a descriptor.
const LONGEST: usize = FOLDER.len() + 2 * u64::BITS as usize + "/2147483647".len();
/// Folder in which the system lists the descriptors of a process.
const FOLDER: &[u8] = b"/proc/self/fd";

/// Bytes that identify a library.
pub type Mark = [u8; 64];

/// A library that was opened from a file. The library is closed when the last copy of this value is dropped.
#[derive(Clone)]
pub struct SharedLibrary(Arc<Opened>);

/// An open library, and libraries that are closed after it.
struct Opened {
    library: Library,
    _needs: Vec<Library>,
    mark: Mark,
}

impl SharedLibrary {
    /// Opens the library in the last file, which runs the initialisers of the library. The other files are libraries that it needs, with
    /// their names. Each of these libraries is opened after the libraries that it needs itself, unless a library of the same name is open.
    /// If one of them does not open, opening the last library also fails, and the system reports the reason. The files may be closed
    /// afterwards.
    ///
    /// # Errors
    /// The system's error text.
    pub fn open(files: &[(Vec<u8>, File)], mark: Mark) -> Result<Self, OpenError> {
        let Some(((_, last), others)) = files.split_last() else {
            return Err(OpenError::NotAPath);
        };
        let open = |file| Library::open(Path::of(file, since_start()).bytes());
        let mut needs = Vec::new();
        for (name, file) in others {
            // Two drivers of one scan may need the same library.
            if !is_open(name)
                && let Ok(library) = open(file)
            {
                needs.push_or_note(library);
            }
        }
        let library = open(last)?;
        Ok(Self(Arc::new(Opened {
            library,
            _needs: needs,
            mark,
        })))
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
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
    let opened = with_terminated(name, |name| {
        // SAFETY: the name is terminated. With this flag the call loads nothing, so it runs no code.
        Ok(NonNull::new(unsafe { libc::dlopen(name.as_ptr(), flags) }))
    });
    // Drops the new handle, which decrements the reference count of the library again.
    opened.is_ok_and(|opened| opened.map(Library).is_some())
}

/// Returns the file that the dynamic linker finds for a library name without the linker's cache, and the path of the file.
#[cfg(target_env = "gnu")]
pub fn find_library(name: &[u8]) -> Option<(File, Vec<u8>)> {
    folders::visit(|folder| {
        let path = crate::render(format_args!("{}/{}", crate::Raw(folder), crate::Raw(name)));
        let path = canonical(&path).ok()?;
        let file = with_terminated(&path, File::open).ok()?;
        Some((file, path))
    })
}

/// The folders that the linker searches for libraries.
#[cfg(target_env = "gnu")]
mod folders {
    use crate::memory::Grow;
    use alloc::vec::Vec;
    use core::ffi::{CStr, c_char, c_uint, c_void};
    use core::mem::offset_of;
    use core::ptr::null;

    /// Beginning of the list of folders in the form that the dynamic linker writes.
    #[repr(C)]
    struct Folders {
        size: usize,
        count: c_uint,
        first: [Folder; 0],
    }

    #[repr(C)]
    struct Folder {
        name: *const c_char,
        flags: c_uint,
    }

    /// Passes the folders to `look` until it returns a value, and returns that value.
    pub(super) fn visit<T>(mut look: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
        // SAFETY: a null name means the program, which is open as long as the process runs.
        let program = unsafe { libc::dlopen(null(), libc::RTLD_LAZY) };
        let ask = |request, room: *mut c_void| {
            // SAFETY: `program` is the program's handle, and `room` is as large as the request demands.
            unsafe { libc::dlinfo(program, request, room) == 0 }
        };
        let mut head = Folders {
            size: 0,
            count: 0,
            first: [],
        };
        if !ask(libc::RTLD_DI_SERINFOSIZE, (&raw mut head).cast()) {
            return None;
        }
        let mut room = Vec::<usize>::new();
        let words = head.size.div_ceil(size_of::<usize>());
        room.try_exact_room(words).ok()?;
        room.resize(words, 0);
        let begin = room.as_mut_ptr();
        // SAFETY: the room has more bytes than this structure, and is aligned for it.
        unsafe { begin.cast::<Folders>().write(head) };
        if !ask(libc::RTLD_DI_SERINFO, begin.cast()) {
            return None;
        }
        // SAFETY: the call succeeded, so the linker filled the structure at the beginning of `room`.
        let count = unsafe { (*begin.cast::<Folders>()).count };
        // SAFETY: the folders begin at this offset, inside `room`.
        let first = unsafe { begin.byte_add(offset_of!(Folders, first)) }.cast::<Folder>();
        (0..count as usize).find_map(|index| {
            // SAFETY: the linker wrote `count` folders, each with a terminated name.
            let name = unsafe { CStr::from_ptr((*first.add(index)).name) };
            look(name.to_bytes())
        })
    }
}

/// Returns `None`: only the GNU C library reports the folders that the linker searches.
#[cfg(not(target_env = "gnu"))]
pub fn find_library(_: &[u8]) -> Option<(File, Vec<u8>)> {
    None
}

/// A path through which the system finds a descriptor.
///
/// The system identifies an open library by the text of its path, even after another file has got the number of the descriptor. Therefore
/// no path may ever repeat in a process. The redundant parts between the folder and the number encode the time, one bit each.
struct Path {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Path {
    /// Returns the path of a file for a time in nanoseconds. Opening a library takes longer than a nanosecond, so the next library whose
    /// descriptor has the same number gets another path.
    fn of(file: &File, moment: u64) -> Self {
        let mut path = Self {
            bytes: [0; LONGEST],
            length: 0,
        };
        path.push(FOLDER);
        for bit in (0..u64::BITS - moment.leading_zeros()).rev() {
            path.push(if moment >> bit & 1 == 1 { b"/." } else { b"/" });
        }
        path.push(b"/");
        let mut unit = 1_000_000_000;
        while unit > 0 {
            if file.0 >= unit || unit == 1 {
                path.push(&[b'0' + (file.0 / unit % 10) as u8]);
            }
            unit /= 10;
        }
        path
    }

    /// Adds bytes. The buffer is large enough for any number.
    fn push(&mut self, text: &[u8]) {
        for &byte in text {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
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
        let files = [(Vec::new(), first)];
        let opened = SharedLibrary::open(&files, [1; 64]).unwrap();
        assert!(!opened.symbol(c"cos").is_null() && *opened.mark() == [1; 64]);
        // SAFETY: both descriptors belong to this function.
        assert_eq!(unsafe { libc::dup2(second.0, number) }, number);
        let other = SharedLibrary::open(&files, [2; 64]).unwrap();
        assert!(other.symbol(c"cos").is_null() && !other.symbol(c"malloc").is_null());
        // A failed attempt to open a file that is not a library leaves no descriptor open.
        let text = [(Vec::new(), File::open(c"/etc/passwd").unwrap())];
        assert!(matches!(SharedLibrary::open(&text, [3; 64]), Err(OpenError::Failed(_))));
    }
}
