//! The environment, and the decision whether this process may trust it.
//!
//! Only this module decides whether a process is elevated, by the integrity level of its token (APP-211, DRV-5).

use alloc::vec::Vec;
use core::ffi::CStr;
use std::env;
use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::Security::{
    GetSidSubAuthority, GetSidSubAuthorityCount, GetTokenInformation, TOKEN_MANDATORY_LABEL, TOKEN_QUERY,
    TokenIntegrityLevel,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

// A constant of `winnt.h`. The module of `windows-sys` that has it takes a fifth of the crate's compile time.
const SECURITY_MANDATORY_HIGH_RID: u32 = 0x3000;

/// Returns the value of a variable, unless this process was started with elevated privileges.
pub fn secure_value(name: &CStr) -> Option<Vec<u8>> {
    if is_elevated() { None } else { plain_value(name) }
}

/// Returns the value of a variable, regardless of the privileges of the process.
pub fn plain_value(name: &CStr) -> Option<Vec<u8>> {
    env::var_os(name.to_str().ok()?).map(|value| value.into_encoded_bytes())
}

/// `true` if ignored variables are reported to users (DRV-5).
pub const TELLS_OF_IGNORED: bool = true;

/// Returns `true` if [`secure_value`] hides a variable that is set.
pub fn is_ignored(name: &CStr) -> bool {
    is_elevated() && plain_value(name).is_some()
}

/// Returns `true` if [`secure_value`] would return `expected` now.
pub fn has_secure_value(name: &CStr, expected: Option<&CStr>) -> bool {
    secure_value(name).as_deref() == expected.map(CStr::to_bytes)
}

/// Returns `true` if [`plain_value`] would return `expected` now.
pub fn has_plain_value(name: &CStr, expected: Option<&CStr>) -> bool {
    plain_value(name).as_deref() == expected.map(CStr::to_bytes)
}

/// Returns `true` if the integrity level of this process is high or above (APP-211). An unknown level is treated as elevated.
pub(super) fn is_elevated() -> bool {
    integrity_level().is_none_or(|level| level >= SECURITY_MANDATORY_HIGH_RID)
}

fn integrity_level() -> Option<u32> {
    let mut token = core::ptr::null_mut();
    // SAFETY: the pseudo-handle of this process is always valid, and the call writes the token only to `token`.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut token) } == 0 {
        return None;
    }
    // This buffer is large enough for the integrity label of any token (`TOKEN_MANDATORY_LABEL` and its SID), and aligned for it.
    let mut room = [0_u64; 16];
    let (size, mut length) = (size_of_val(&room) as u32, 0);
    // SAFETY: the token is open, and `room` has `size` bytes.
    let told = unsafe { GetTokenInformation(token, TokenIntegrityLevel, room.as_mut_ptr().cast(), size, &mut length) };
    // SAFETY: the token was opened above and is closed once.
    unsafe { CloseHandle(token) };
    if told == 0 {
        return None;
    }
    // SAFETY: the system has written the integrity label into `room`, followed by the SID of the label.
    let label = unsafe { &*room.as_ptr().cast::<TOKEN_MANDATORY_LABEL>() };
    // SAFETY: the SID is valid; its last subauthority is the integrity level.
    unsafe {
        let parts = *GetSidSubAuthorityCount(label.Label.Sid);
        let last = u32::from(parts).checked_sub(1)?;
        Some(*GetSidSubAuthority(label.Label.Sid, last))
    }
}
