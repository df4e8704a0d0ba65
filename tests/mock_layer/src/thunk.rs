//! Intercepts commands whose signature the layer does not know.
//!
//! Each intercepted name has a thunk, which is a numbered piece of machine code. The thunk saves the argument registers and calls
//! [`route`]. Then the thunk restores the registers and jumps to the address that [`route`] returned. [`route`] reads the first argument, a
//! dispatchable handle, and can replace it by the handle that the layer wrapped.

#[cfg(target_arch = "arm")]
mod arm;
#[cfg(target_arch = "riscv64")]
mod riscv64;
#[cfg(target_arch = "x86")]
mod x86;

use std::ffi::{CString, c_void};
use std::sync::{PoisonError, RwLock};

use ash::vk;

use crate::layer::{dispatch_word, layer};

/// Maximum number of names that one library can intercept. Vulkan has fewer commands.
const SLOTS: usize = 1536;

static NAMES: RwLock<Vec<(usize, CString)>> = RwLock::new(Vec::new());

/// Returns the thunk for `name` in layer `identity`. The same name always has the same thunk.
pub(crate) fn intercept(identity: usize, name: &str) -> vk::PFN_vkVoidFunction {
    let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
    let wanted = CString::new(name).ok()?;
    let slot = names
        .iter()
        .position(|(owner, known)| *owner == identity && *known == wanted)
        .or_else(|| {
            (names.len() < SLOTS).then(|| {
                names.push((identity, wanted));
                names.len() - 1
            })
        })?;
    let address = (&raw const mock_layer_thunks).addr() + slot * THUNK_SIZE;
    // SAFETY: the address is the start of a thunk, which is code with the calling convention of C.
    Some(unsafe { std::mem::transmute::<usize, unsafe extern "system" fn()>(address) })
}

/// Frees the list of names.
pub(crate) fn forget() {
    *NAMES.write().unwrap_or_else(PoisonError::into_inner) = Vec::new();
}

/// Returns the address at which a thunk continues. `thunk` is an address inside the thunk, and `first` points to the saved first argument.
///
/// # Safety
/// Only a thunk may call this function. `first` points to the saved register, which contains a valid dispatchable handle.
unsafe extern "C" fn route(thunk: usize, first: *mut usize) -> *const c_void {
    let slot = (thunk - (&raw const mock_layer_thunks).addr()) / THUNK_SIZE;
    let (identity, name) = NAMES.read().unwrap_or_else(PoisonError::into_inner)[slot].clone();
    let layer = layer(identity);
    let text = name.to_string_lossy();
    // SAFETY: the caller promises that `first` points to the saved register.
    let inner = layer.inner(unsafe { *first });
    // SAFETY: the caller promises that `first` points to the saved register, which the thunk restores afterwards.
    unsafe { *first = crate::inquire::handed_on(&layer, &text, inner) };
    if layer.config.lists("intercept", &text) {
        layer.journal(&text);
    }
    if layer.config.lists("reenter", &text) {
        crate::reenter::enumerate(&layer);
    }
    if let Some(code) = layer.config.number_of("fail", &text) {
        return failing(code);
    }
    // SAFETY: the first argument of every command except the global commands is a valid dispatchable handle.
    match layer.below(unsafe { dispatch_word(inner) }, &name) {
        Some(function) => function as *const c_void,
        None => {
            eprintln!("mock layer {}: nothing below implements {text}", layer.name());
            std::process::abort()
        }
    }
}

/// Returns a function that returns `code` for all arguments.
fn failing(code: i64) -> *const c_void {
    extern "C" fn success() -> i32 {
        vk::Result::SUCCESS.as_raw()
    }
    extern "C" fn initialization_failed() -> i32 {
        vk::Result::ERROR_INITIALIZATION_FAILED.as_raw()
    }
    extern "C" fn out_of_host_memory() -> i32 {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY.as_raw()
    }
    extern "C" fn device_lost() -> i32 {
        vk::Result::ERROR_DEVICE_LOST.as_raw()
    }
    match vk::Result::from_raw(code as i32) {
        vk::Result::SUCCESS => success as *const c_void,
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => out_of_host_memory as *const c_void,
        vk::Result::ERROR_DEVICE_LOST => device_lost as *const c_void,
        _ => initialization_failed as *const c_void,
    }
}

const THUNK_SIZE: usize = 16;

unsafe extern "C" {
    static mock_layer_thunks: u8;
}

#[cfg(all(target_arch = "x86_64", not(windows)))]
std::arch::global_asm!(
    ".pushsection .text.mock_layer_thunks,\"ax\",@progbits",
    ".p2align 4",
    ".hidden mock_layer_thunks",
    ".globl mock_layer_thunks",
    "mock_layer_thunks:",
    ".rept {slots}",
    ".p2align 4",
    "lea r11, [rip]",
    "jmp 2f",
    ".endr",
    ".p2align 4",
    "2:",
    "push rbp",
    "mov rbp, rsp",
    "sub rsp, 192",
    "mov [rsp], rdi",
    "mov [rsp + 8], rsi",
    "mov [rsp + 16], rdx",
    "mov [rsp + 24], rcx",
    "mov [rsp + 32], r8",
    "mov [rsp + 40], r9",
    "movups [rsp + 48], xmm0",
    "movups [rsp + 64], xmm1",
    "movups [rsp + 80], xmm2",
    "movups [rsp + 96], xmm3",
    "movups [rsp + 112], xmm4",
    "movups [rsp + 128], xmm5",
    "movups [rsp + 144], xmm6",
    "movups [rsp + 160], xmm7",
    "mov rdi, r11",
    "mov rsi, rsp",
    "call {route}",
    "mov rdi, [rsp]",
    "mov rsi, [rsp + 8]",
    "mov rdx, [rsp + 16]",
    "mov rcx, [rsp + 24]",
    "mov r8, [rsp + 32]",
    "mov r9, [rsp + 40]",
    "movups xmm0, [rsp + 48]",
    "movups xmm1, [rsp + 64]",
    "movups xmm2, [rsp + 80]",
    "movups xmm3, [rsp + 96]",
    "movups xmm4, [rsp + 112]",
    "movups xmm5, [rsp + 128]",
    "movups xmm6, [rsp + 144]",
    "movups xmm7, [rsp + 160]",
    "leave",
    "jmp rax",
    ".popsection",
    slots = const SLOTS,
    route = sym route,
);

// The calling convention of Windows passes arguments in four registers of each kind. The called function needs stack space for the first
// four arguments.
#[cfg(all(target_arch = "x86_64", windows))]
std::arch::global_asm!(
    ".section .text$mock_layer_thunks,\"xr\"",
    ".p2align 4",
    ".globl mock_layer_thunks",
    "mock_layer_thunks:",
    ".rept {slots}",
    ".p2align 4",
    "lea r11, [rip]",
    "jmp 2f",
    ".endr",
    ".p2align 4",
    "2:",
    "push rbp",
    "mov rbp, rsp",
    "sub rsp, 128",
    "mov [rsp + 32], rcx",
    "mov [rsp + 40], rdx",
    "mov [rsp + 48], r8",
    "mov [rsp + 56], r9",
    "movups [rsp + 64], xmm0",
    "movups [rsp + 80], xmm1",
    "movups [rsp + 96], xmm2",
    "movups [rsp + 112], xmm3",
    "mov rcx, r11",
    "lea rdx, [rsp + 32]",
    "call {route}",
    "mov rcx, [rsp + 32]",
    "mov rdx, [rsp + 40]",
    "mov r8, [rsp + 48]",
    "mov r9, [rsp + 56]",
    "movups xmm0, [rsp + 64]",
    "movups xmm1, [rsp + 80]",
    "movups xmm2, [rsp + 96]",
    "movups xmm3, [rsp + 112]",
    "leave",
    "jmp rax",
    ".text",
    slots = const SLOTS,
    route = sym route,
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".pushsection .text.mock_layer_thunks,\"ax\",@progbits",
    ".p2align 4",
    ".hidden mock_layer_thunks",
    ".globl mock_layer_thunks",
    "mock_layer_thunks:",
    ".rept {slots}",
    ".p2align 4",
    "adr x16, .",
    "b 2f",
    ".endr",
    ".p2align 4",
    "2:",
    "stp x29, x30, [sp, #-224]!",
    "mov x29, sp",
    "stp x0, x1, [sp, #16]",
    "stp x2, x3, [sp, #32]",
    "stp x4, x5, [sp, #48]",
    "stp x6, x7, [sp, #64]",
    "stp q0, q1, [sp, #80]",
    "stp q2, q3, [sp, #112]",
    "stp q4, q5, [sp, #144]",
    "stp q6, q7, [sp, #176]",
    "str x8, [sp, #208]",
    "mov x0, x16",
    "add x1, sp, #16",
    "bl {route}",
    "mov x16, x0",
    "ldr x8, [sp, #208]",
    "ldp q6, q7, [sp, #176]",
    "ldp q4, q5, [sp, #144]",
    "ldp q2, q3, [sp, #112]",
    "ldp q0, q1, [sp, #80]",
    "ldp x6, x7, [sp, #64]",
    "ldp x4, x5, [sp, #48]",
    "ldp x2, x3, [sp, #32]",
    "ldp x0, x1, [sp, #16]",
    "ldp x29, x30, [sp], #224",
    "br x16",
    ".popsection",
    slots = const SLOTS,
    route = sym route,
);
