//! The keys of the system's registry that list manifests (DRV-39, LAY-46 to LAY-48).

use super::environment::is_elevated;
use crate::registry::List;
use alloc::string::String;
use alloc::vec::Vec;
use core::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::ERROR_SUCCESS;
use windows_sys::Win32::System::Registry::{
    HKEY, HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE, KEY_READ, RegCloseKey, RegEnumValueW, RegOpenKeyExW,
};

/// Units of the longest name of a value that is taken, its terminator included (LAY-48).
const LONGEST_NAME: usize = 2048;

/// Shows `take` what a list holds, in the order of the registry, with the key that holds it. The part of the user comes first or
/// last as the list says, and not at all in an elevated process (LAY-47).
pub fn each_registered(list: List, mut take: impl FnMut(&str, &[u8])) {
    let (machine, user) = (
        (HKEY_LOCAL_MACHINE, "HKEY_LOCAL_MACHINE"),
        (HKEY_CURRENT_USER, "HKEY_CURRENT_USER"),
    );
    let roots = match list {
        List::Drivers => &[machine][..],
        List::ExplicitLayers | List::ImplicitLayers => &[machine, user],
    };
    for &(root, name) in roots {
        if root == HKEY_CURRENT_USER && is_elevated() {
            continue;
        }
        if let Some(key) = Key::open(root, list.key()) {
            let shown = alloc::format!("{name}\\{}", list.key());
            key.each_zero(|path| take(&shown, path));
        }
    }
}

/// An open key; closed when dropped.
struct Key(HKEY);

impl Key {
    fn open(root: HKEY, path: &str) -> Option<Self> {
        let path: Vec<u16> = path.encode_utf16().chain([0]).collect();
        let mut key = null_mut();
        // SAFETY: a key of the system's, a terminated path, and room for a handle.
        let told = unsafe { RegOpenKeyExW(root, path.as_ptr(), 0, KEY_READ, &mut key) };
        (told == ERROR_SUCCESS).then_some(Self(key))
    }

    /// Shows `take` the names of the values that are four bytes of zero, whatever type they say they are (LAY-48). A longer name
    /// ends it.
    fn each_zero(&self, mut take: impl FnMut(&[u8])) {
        for index in 0.. {
            let mut name = [0_u16; LONGEST_NAME];
            let (mut length, mut data, mut size) = (LONGEST_NAME as u32, [0xFF_u8; 4], 4);
            // SAFETY: an open key, room of these sizes, and nothing asked for where NULL stands.
            let told = unsafe {
                RegEnumValueW(
                    self.0,
                    index,
                    name.as_mut_ptr(),
                    &mut length,
                    null(),
                    null_mut(),
                    data.as_mut_ptr(),
                    &mut size,
                )
            };
            if told == windows_sys::Win32::Foundation::ERROR_MORE_DATA && (length as usize) < LONGEST_NAME {
                // Its data is longer than what counts.
                continue;
            }
            if told != ERROR_SUCCESS {
                return;
            }
            if size == 4 && data == [0; 4] {
                take(String::from_utf16_lossy(&name[..length as usize]).as_bytes());
            }
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed once, here.
        unsafe { RegCloseKey(self.0) };
    }
}
