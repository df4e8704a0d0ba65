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

/// Units of the longest name of a value that is taken, its terminator included (LAY-48).
const LONGEST_NAME: usize = 2048;
/// Most bytes of data that are read.
const MOST_BYTES: usize = 1 << 20;

/// An open key; closed when dropped.
pub(super) struct Key(HKEY);

impl Key {
    /// Opens the key at a path below a root.
    pub(super) fn open(root: HKEY, path: &str) -> Option<Self> {
        let path = wide(path).ok()?;
        let mut key = null_mut();
        // SAFETY: a key of the system's, a terminated path, and room for a handle.
        let told = unsafe { RegOpenKeyExW(root, path.as_ptr(), 0, KEY_READ, &mut key) };
        // Made only for a key that is open, because dropping it closes the key.
        (told == ERROR_SUCCESS).then(|| Self(key))
    }

    /// Takes over a key that something else opened.
    ///
    /// # Safety
    /// The key is open, and nothing else closes it.
    pub(super) unsafe fn adopt(key: HKEY) -> Self {
        Self(key)
    }

    /// Shows `take` the names of the values that are four bytes of zero, whatever type they say they are (LAY-48).
    pub(super) fn each_zero(&self, take: &mut dyn FnMut(&[u8])) {
        let mut data = [0_u8; 4];
        self.each(Some(&mut data), |name, is_zero| {
            if is_zero {
                take(name);
            }
        });
    }

    /// Shows `take` the names of all values.
    pub(super) fn each_name(&self, take: &mut dyn FnMut(&[u8])) {
        self.each(None, |name, _| take(name));
    }

    /// Shows `take` the name of each value, and whether its data, if they are asked for, are four bytes of zero. A name for which
    /// there is no room ends it (LAY-48).
    fn each(&self, mut data: Option<&mut [u8; 4]>, mut take: impl FnMut(&[u8], bool)) {
        for index in 0.. {
            let mut name = [0_u16; LONGEST_NAME];
            let mut told = self.nth(index, &mut name, data.as_deref_mut());
            if told == Err(ERROR_MORE_DATA) && data.is_some() {
                // The same error stands for data that are longer than what counts, and does not say how long the name is.
                told = self.nth(index, &mut name, None).map(|(name, _)| (name, 0));
            }
            let Ok((length, size)) = told else {
                return;
            };
            let is_zero = size == 4 && data.as_deref() == Some(&[0; 4]);
            take(&utf8(name[..length].iter().copied()), is_zero);
        }
    }

    /// How many units the name of a value has, and how many bytes its data, if there is room for them; the system's error when
    /// there is no such value, or not enough room.
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
        // SAFETY: an open key, room of these sizes, and nothing asked for where NULL stands.
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

    /// The type and data of a value, if it is there.
    pub(super) fn value(&self, name: &str) -> Option<(u32, Vec<u8>)> {
        let name = wide(name).ok()?;
        let (mut kind, mut size) = (0, 0);
        // The value may grow between two questions, but not for ever.
        for _ in 0..4 {
            let mut data = Vec::new();
            data.try_exact_room(size as usize).ok()?;
            data.resize(size as usize, 0);
            // SAFETY: an open key, a terminated name, room for two numbers, and for as many bytes as the second says.
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
                // Without room it only says how much is needed.
                ERROR_SUCCESS | ERROR_MORE_DATA if size as usize <= MOST_BYTES => {}
                _ => return None,
            }
        }
        None
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed once, here.
        unsafe { RegCloseKey(self.0) };
    }
}
