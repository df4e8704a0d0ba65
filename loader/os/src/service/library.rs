//! Libraries that are opened from files without a path (LSV-39 to LSV-41).

use crate::{File, Library, OpenError, since_start};
use alloc::sync::Arc;
use core::ffi::CStr;
use core::fmt::{self, Write};

/// Length in bytes of the longest path of a descriptor.
const LONGEST: usize = FOLDER.len() + 2 * u64::BITS as usize + "/2147483647".len();
/// Folder in which the system lists the descriptors of a process.
const FOLDER: &str = "/proc/self/fd";

/// A library that was opened from a file. It is closed when the last copy of this value is dropped.
#[derive(Clone)]
pub struct SharedLibrary(Arc<Library>);

impl SharedLibrary {
    /// Opens the library in a file. Its initialisers run. The file may be closed afterwards.
    ///
    /// # Errors
    /// The error of the system, in its words.
    pub fn open(file: &File) -> Result<Self, OpenError> {
        let opened = Library::open(Path::of(file, since_start()).bytes())?;
        Ok(Self(Arc::new(opened)))
    }

    /// Returns the address of an exported symbol, or null. The address is valid while a copy of this value exists.
    pub fn symbol(&self, name: &CStr) -> *mut () {
        self.0.symbol(name)
    }
}

/// A path through which the system finds a descriptor.
///
/// The system knows an open library by the text of its path, also after the number of the descriptor belongs to another file. Therefore no
/// path may ever repeat in a process: the redundant parts between the folder and the number spell the time, one bit each.
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
        // The buffer is large enough for any number.
        let _ = path.write_str(FOLDER);
        for bit in (0..u64::BITS - moment.leading_zeros()).rev() {
            let _ = path.write_str(if moment >> bit & 1 == 1 { "/." } else { "/" });
        }
        let _ = write!(path, "/{}", file.0);
        path
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Write for Path {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
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
        let opened = SharedLibrary::open(&first).unwrap();
        assert!(!opened.symbol(c"cos").is_null());
        // SAFETY: both descriptors belong to this function.
        assert_eq!(unsafe { libc::dup2(second.0, number) }, number);
        let other = SharedLibrary::open(&first).unwrap();
        assert!(other.symbol(c"cos").is_null() && !other.symbol(c"malloc").is_null());
        // A failed attempt to open a file that is not a library leaves no descriptor open.
        let text = File::open(c"/etc/passwd").unwrap();
        assert!(matches!(SharedLibrary::open(&text), Err(OpenError::Failed(_))));
    }
}
