//! Packages of the system's store (DRV-36, LAY-45).

use super::path::{ended, wide};
use super::run_time::Module;
use crate::memory::Grow;
use crate::registry::values::utf8;
use alloc::vec::Vec;
use core::ptr::null_mut;
use windows_sys::Win32::Foundation::{ERROR_INSUFFICIENT_BUFFER, ERROR_SUCCESS};

type PackagesByFamily = unsafe extern "system" fn(*const u16, *mut u32, *mut *mut u16, *mut u32, *mut u16) -> u32;
type PackagePath = unsafe extern "system" fn(*const u16, *mut u32, *mut u16) -> u32;

/// Upper bound on the number of UTF-16 units in names or in a path; larger counts are treated as invalid.
const MOST: u32 = 1 << 16;

/// Returns the root folder of the first package of a family; `None` if the family has no package, or if the system has no packages.
pub(super) fn root_of_first(family: &str) -> Option<Vec<u8>> {
    let module = Module::of_system(c"kernel32.dll")?;
    // SAFETY: `GetPackagesByPackageFamily` has the type `PackagesByFamily`.
    let by_family: PackagesByFamily = unsafe { module.function(c"GetPackagesByPackageFamily") }?;
    // SAFETY: `GetPackagePathByFullName` has the type `PackagePath`.
    let path_of: PackagePath = unsafe { module.function(c"GetPackagePathByFullName") }?;
    let family = wide(family).ok()?;

    let (mut count, mut length) = (0, 0);
    // SAFETY: the name is terminated, and the call writes only to `count` and `length`; null buffers query the required room.
    let told = unsafe { by_family(family.as_ptr(), &mut count, null_mut(), &mut length, null_mut()) };
    if told != ERROR_INSUFFICIENT_BUFFER || count == 0 || length > MOST {
        return None;
    }
    let mut names = zeroed(count as usize, null_mut())?;
    let mut text = zeroed(length as usize, 0)?;
    // SAFETY: the family name is terminated. `names` has `count` elements, and `text` has `length` UTF-16 units.
    let told = unsafe {
        by_family(
            family.as_ptr(),
            &mut count,
            names.as_mut_ptr(),
            &mut length,
            text.as_mut_ptr(),
        )
    };
    let first = *names.first().filter(|_| told == ERROR_SUCCESS && count > 0)?;

    let mut length = 0;
    // SAFETY: the system has just returned this terminated name, which is in `text`; a null buffer queries the required size.
    let told = unsafe { path_of(first, &mut length, null_mut()) };
    if told != ERROR_INSUFFICIENT_BUFFER || length > MOST {
        return None;
    }
    let mut path = zeroed(length as usize, 0)?;
    // SAFETY: the name is terminated, and `path` has `length` UTF-16 units.
    let told = unsafe { path_of(first, &mut length, path.as_mut_ptr()) };
    let path = utf8(ended(&path).iter().copied());
    (told == ERROR_SUCCESS && !path.is_empty()).then_some(path)
}

fn zeroed<T: Copy>(length: usize, zero: T) -> Option<Vec<T>> {
    let mut room = Vec::new();
    room.try_exact_room(length).ok()?;
    room.resize(length, zero);
    Some(room)
}
