//! Chooses the privileges that the library under test finds in its process (APP-211).
//!
//! Wine reports every process as elevated, and the process that runs the tests may be elevated too. This module therefore replaces the
//! system's function in the library's table of imports. A child is an ordinary process for the library, unless its test needs an elevated
//! process.
//! The library's own code handles the result.

use std::env;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::with_exposed_provenance_mut;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Security::{
    GetSidSubAuthority, GetTokenInformation, TOKEN_INFORMATION_CLASS, TOKEN_MANDATORY_LABEL, TokenIntegrityLevel,
};
use windows_sys::Win32::System::Memory::{PAGE_READWRITE, VirtualProtect};

// Constants of `winnt.h`. The module of `windows-sys` that has them takes a fifth of the crate's compile time.
const SECURITY_MANDATORY_MEDIUM_RID: u32 = 0x2000;
const SECURITY_MANDATORY_HIGH_RID: u32 = 0x3000;

/// Variable that is set in children that must be elevated.
pub(crate) const ELEVATED: &str = "LOADER_TESTS_ELEVATED";

/// Replaces `GetTokenInformation` and `GetProcAddress` in the imports of the library at this address.
pub(crate) fn answer(library: usize) {
    replace(library, c"GetTokenInformation", tell as *const () as usize);
    replace(
        library,
        c"GetProcAddress",
        super::adapters::look_up as *const () as usize,
    );
}

/// Replaces an import of the library by another function.
fn replace(library: usize, name: &CStr, function: usize) {
    let place = import(library, name).unwrap_or_else(|| panic!("the library imports {name:?}"));
    // SAFETY: the entry is in the table of imports of a loaded library that no other thread runs yet.
    unsafe {
        assert_ne!(
            VirtualProtect(place.cast(), size_of::<usize>(), PAGE_READWRITE, &mut 0),
            0
        );
        place.write(function);
    }
}

/// Replacement for `GetTokenInformation`: returns the system's answer with the integrity level that the test requests for this child.
unsafe extern "system" fn tell(
    token: HANDLE,
    class: TOKEN_INFORMATION_CLASS,
    room: *mut c_void,
    size: u32,
    length: *mut u32,
) -> i32 {
    // SAFETY: the caller passes the arguments that the function demands.
    let told = unsafe { GetTokenInformation(token, class, room, size, length) };
    if told != 0 && class == TokenIntegrityLevel {
        let level = match env::var_os(ELEVATED) {
            Some(_) => SECURITY_MANDATORY_HIGH_RID,
            None => SECURITY_MANDATORY_MEDIUM_RID,
        };
        // SAFETY: the system filled in a label, whose identifier has one part.
        unsafe { *GetSidSubAuthority((*room.cast::<TOKEN_MANDATORY_LABEL>()).Label.Sid, 0) = level };
    }
    told
}

/// Returns the place where a loaded library stores the address of the imported function of this name.
fn import(library: usize, name: &CStr) -> Option<*mut usize> {
    // SAFETY: the library is loaded. Its headers and tables contain the offset of each table, and each table ends with a zero.
    unsafe {
        let word = |offset: usize| with_exposed_provenance_mut::<u32>(library + offset).read_unaligned() as usize;
        let header = word(0x3c);
        // The data directories come after a header whose length depends on the size of addresses. The second data directory describes the
        // imports.
        let mut table = word(header + 24 + if cfg!(target_pointer_width = "64") { 112 } else { 96 } + 8);
        while word(table + 12) != 0 {
            let (names, addresses) = (word(table), word(table + 16));
            for index in 0.. {
                let entry = with_exposed_provenance_mut::<usize>(library + names + index * size_of::<usize>()).read();
                if entry == 0 {
                    break;
                }
                // If the highest bit is set, a number identifies the import. Otherwise, the import's name comes after two other bytes.
                let is_named = entry.cast_signed() > 0;
                if is_named && CStr::from_ptr(with_exposed_provenance_mut::<c_char>(library + entry + 2)) == name {
                    return Some(with_exposed_provenance_mut(
                        library + addresses + index * size_of::<usize>(),
                    ));
                }
            }
            table += 20;
        }
    }
    None
}
