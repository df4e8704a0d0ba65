//! Keys of the system's registry (DRV-38, DRV-39, LAY-46 to LAY-48, LAY-50, APP-242).

use super::path::wide;
use crate::memory::Grow;
use crate::registry::values::utf8;
use alloc::vec::Vec;
use core::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, ERROR_SUCCESS};
use windows_sys::Win32::System::Registry::{
    HKEY, KEY_READ, RegCloseKey, RegEnumValueW, RegOpenKeyExW, RegQueryValueExW,
};

/// Upper bound on the length of a value's name, in UTF-16 units with its terminator (LAY-48).
const LONGEST_NAME: usize = 2048;
/// Upper bound on the data of a value, in bytes.
const MOST_BYTES: usize = 1 << 20;

/// An open key; closed when dropped.
pub(super) struct Key(HKEY);

impl Key {
    /// Opens the key at a path below a root.
    pub(super) fn open(root: HKEY, path: &str) -> Option<Self> {
        let path = wide(path).ok()?;
        let mut key = null_mut();
        // SAFETY: the root is a key of the system, the path is terminated, and the call writes the handle only to `key`.
        let told = unsafe { RegOpenKeyExW(root, path.as_ptr(), 0, KEY_READ, &mut key) };
        // This value is created only for an open key, because dropping the value closes the key.
        (told == ERROR_SUCCESS).then(|| Self(key))
    }

    /// Takes ownership of a key that other code opened.
    ///
    /// # Safety
    /// The key is open, and nothing else closes it.
    pub(super) unsafe fn adopt(key: HKEY) -> Self {
        Self(key)
    }

    /// Passes the names of the values whose data is four bytes of zero, regardless of their type (LAY-48).
    pub(super) fn each_zero(&self, take: &mut dyn FnMut(&[u8])) {
        let mut data = [0_u8; 4];
        self.each(Some(&mut data), |name, is_zero| {
            if is_zero {
                take(name);
            }
        });
    }

    /// Passes the names of all values.
    pub(super) fn each_name(&self, take: &mut dyn FnMut(&[u8])) {
        self.each(None, |name, _| take(name));
    }

    /// Passes the name of each value, and `true` if its data was requested and is four bytes of zero. A name that is too long ends the list
    /// (LAY-48).
    fn each(&self, mut data: Option<&mut [u8; 4]>, mut take: impl FnMut(&[u8], bool)) {
        for index in 0.. {
            let mut name = [0_u16; LONGEST_NAME];
            let mut told = self.nth(index, &mut name, data.as_deref_mut());
            if told == Err(ERROR_MORE_DATA) && data.is_some() {
                // The system returns `ERROR_MORE_DATA` also for data of more than four bytes, and then does not return the length of the
                // name. The second call therefore requests only the name.
                told = self.nth(index, &mut name, None).map(|(name, _)| (name, 0));
            }
            let Ok((length, size)) = told else {
                return;
            };
            let is_zero = size == 4 && data.as_deref() == Some(&[0; 4]);
            take(&utf8(name[..length].iter().copied()), is_zero);
        }
    }

    /// Reads the value at `index`. Returns the length of the name in UTF-16 units, and the length of the data in bytes. Fails with the
    /// system's error if the value does not exist or a buffer is too small.
    fn nth(
        &self,
        index: u32,
        name: &mut [u16; LONGEST_NAME],
        data: Option<&mut [u8; 4]>,
    ) -> Result<(usize, usize), u32> {
        let (mut length, mut size) = (LONGEST_NAME as u32, 4);
        let (room, size_of_room) = match data {
            Some(data) => (data.as_mut_ptr(), &raw mut size),
            None => (null_mut(), null_mut()),
        };
        // SAFETY: the key is open, all buffers have these sizes, and null pointers are allowed for the other results.
        let told = unsafe {
            RegEnumValueW(
                self.0,
                index,
                name.as_mut_ptr(),
                &mut length,
                null(),
                null_mut(),
                room,
                size_of_room,
            )
        };
        match told {
            ERROR_SUCCESS => Ok((length as usize, size as usize)),
            error => Err(error),
        }
    }

    /// Returns the type and data of a value, if it exists.
    pub(super) fn value(&self, name: &str) -> Option<(u32, Vec<u8>)> {
        let name = wide(name).ok()?;
        let (mut kind, mut size) = (0, 0);
        // The value may grow between two queries, so the loop repeats the query, at most four times.
        for _ in 0..4 {
            let mut data = Vec::new();
            data.try_exact_room(size as usize).ok()?;
            data.resize(size as usize, 0);
            // SAFETY: the key is open, the name is terminated, `kind` and `size` are local variables, and the buffer has `size` bytes.
            let told = unsafe {
                RegQueryValueExW(
                    self.0,
                    name.as_ptr(),
                    null(),
                    &mut kind,
                    if data.is_empty() { null_mut() } else { data.as_mut_ptr() },
                    &mut size,
                )
            };
            match told {
                ERROR_SUCCESS if data.len() >= size as usize => {
                    data.truncate(size as usize);
                    return Some((kind, data));
                }
                // If the buffer is too small, the call only returns the required size.
                ERROR_SUCCESS | ERROR_MORE_DATA if size as usize <= MOST_BYTES => {}
                _ => return None,
            }
        }
        None
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the key is open, and only this `drop` closes it.
        unsafe { RegCloseKey(self.0) };
    }
}
