//! The bundle of the running application, on macOS and iOS.

use crate::find_byte;
use core::ffi::c_void;

// Functions of Core Foundation. Objects are opaque; a text is UTF-8, and a Boolean is one byte.
#[link(name = "CoreFoundation", kind = "framework")]
unsafe extern "C" {
    fn CFBundleGetMainBundle() -> *mut c_void;
    fn CFBundleCopyResourcesDirectoryURL(bundle: *mut c_void) -> *const c_void;
    fn CFURLGetFileSystemRepresentation(url: *const c_void, absolute: u8, text: *mut u8, bytes: isize) -> u8;
    fn CFRelease(object: *const c_void);
}

/// Returns the resource folder in the bundle of the running application, written to `room`: `Contents/Resources` below the bundle on macOS,
/// the bundle itself on iOS (DRV-33). `None` if the program has no bundle, or the path does not fit (LAY-42).
pub fn bundle_resources(room: &mut [u8]) -> Option<&[u8]> {
    // SAFETY: the call takes nothing; the result is null or an object that lives as long as the process.
    let bundle = unsafe { CFBundleGetMainBundle() };
    if bundle.is_null() {
        return None;
    }
    // SAFETY: `bundle` is a live bundle. The result is null or an object that this function must release.
    let folder = unsafe { CFBundleCopyResourcesDirectoryURL(bundle) };
    if folder.is_null() {
        return None;
    }
    let bytes = isize::try_from(room.len()).unwrap_or(isize::MAX);
    // SAFETY: `folder` is a live object, and the memory for the terminated text has this length.
    let told = unsafe { CFURLGetFileSystemRepresentation(folder, 1, room.as_mut_ptr(), bytes) };
    // SAFETY: this function owns the object and releases it once.
    unsafe { CFRelease(folder) };
    if told == 0 {
        return None;
    }
    let end = find_byte(room, 0)?;
    Some(&room[..end])
}
