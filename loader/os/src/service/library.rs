//! Libraries that are opened from a file without a path (LSV-39 to LSV-41).

use crate::{File, Library, OpenError};
use core::ffi::CStr;
use core::fmt::{self, Write};
use core::mem::ManuallyDrop;

/// Bytes of the longest path of a descriptor, its terminator included.
const LONGEST: usize = 32;

/// The file that a library is opened from.
///
/// It stays open as long as a library may be in the process under the name that it had from its descriptor: the system knows libraries by
/// the names that they were asked for by, so that another file of that number would be taken for the library that is there (LSV-40).
#[derive(Debug)]
pub struct LibraryFile(ManuallyDrop<File>);

impl From<File> for LibraryFile {
    fn from(file: File) -> Self {
        Self(ManuallyDrop::new(file))
    }
}

/// The path through which the system finds a descriptor.
struct Path {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Path {
    fn of(file: &File) -> Self {
        let mut path = Self {
            bytes: [0; LONGEST],
            length: 0,
        };
        // There is room for any number.
        let _ = write!(path, "/proc/self/fd/{}", file.0);
        path
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The same for the C library.
    fn terminated(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

impl Write for Path {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        // The last byte stays zero.
        let room = self.bytes[..LONGEST - 1].get_mut(self.length..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

impl LibraryFile {
    /// Opens the library in the file. Its initialisers run.
    ///
    /// # Errors
    /// The system's, in its words.
    pub fn open(&self) -> Result<Library, OpenError> {
        Library::open(Path::of(&self.0).bytes())
    }

    /// Whether a library is in the process under the name of this file.
    fn is_mapped(&self) -> bool {
        let path = Path::of(&self.0);
        // SAFETY: a terminated path; nothing is loaded, so no code of a library runs.
        let found = unsafe { libc::dlopen(path.terminated().as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if found.is_null() {
            return false;
        }
        // SAFETY: opened once more above.
        unsafe { libc::dlclose(found) };
        true
    }
}

impl Drop for LibraryFile {
    fn drop(&mut self) {
        // A library may ask never to be closed, or another one may need it.
        if !self.is_mapped() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::c_int;

    fn is_open(number: c_int) -> bool {
        // SAFETY: reads flags of whatever is open there.
        unsafe { libc::fcntl(number, libc::F_GETFD) >= 0 }
    }

    #[test]
    fn lsv_40_the_file_stays_open_while_the_library_is_there() {
        let found = Library::open(b"libm.so.6").unwrap();
        let path = crate::file_of(found.symbol(c"cos")).unwrap();
        let open = || LibraryFile::from(crate::with_terminated(&path, File::open).unwrap());
        // One that this process has under another name, and goes on having.
        let file = open();
        let number = file.0.0;
        drop(file.open().unwrap());
        drop(file);
        assert!(is_open(number));
        // What is no library leaves nothing behind.
        let file = LibraryFile::from(File::open(c"/etc/passwd").unwrap());
        let number = file.0.0;
        assert!(matches!(file.open(), Err(OpenError::Failed(_))));
        drop(file);
        assert!(!is_open(number));
    }

    #[test]
    fn lsv_39_a_path_of_a_descriptor_has_room() {
        let file = ManuallyDrop::new(File(c_int::MAX));
        assert_eq!(Path::of(&file).terminated(), c"/proc/self/fd/2147483647");
    }
}
