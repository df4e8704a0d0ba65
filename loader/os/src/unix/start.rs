//! The memory in which the kernel put the arguments and variables of the process.
//!
//! Linux puts these texts at the end of the stack, in this order: the arguments, the variables, and the path of the program. The C library
//! keeps the address of the number of arguments; the pointers to the arguments follow that number. The auxiliary vector has the address of
//! the path.

use core::ffi::{CStr, c_char, c_ulong, c_void};
use core::ops::Range;

/// Keys of the auxiliary vector: the dynamic linker's address, and the program's path.
const AT_BASE: c_ulong = 7;
const AT_EXECFN: c_ulong = 31;

/// Upper bound on the distance in bytes between the number of arguments and the path of the program. Linux allows six megabytes
/// of arguments and variables.
const MOST_BYTES: usize = 8 << 20;

/// Returns an entry of the auxiliary vector; `None` if the C library lacks the function `getauxval`.
fn auxiliary(key: c_ulong) -> Option<c_ulong> {
    type Value = unsafe extern "C" fn(c_ulong) -> c_ulong;
    // SAFETY: the name is a terminated string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"getauxval".as_ptr()) };
    // SAFETY: the C library's function `getauxval` has the type `Value`, and reads a list that the kernel wrote before the process started.
    (!found.is_null()).then(|| unsafe { core::mem::transmute::<*mut c_void, Value>(found)(key) })
}

/// Returns `true` if the process was started as the dynamic linker with a program as its argument, in which case the linker's own options
/// apply.
pub fn is_started_by_linker() -> bool {
    // A base of zero means that the kernel loaded no linker beside the program.
    auxiliary(AT_BASE) == Some(0)
}

/// Returns the variables with which the program was started, each terminated, in the memory where the kernel put them. The program may have
/// overwritten this memory since. Returns `None` if the memory cannot be found: with a C library other than GNU's, or after the program has
/// changed its arguments.
pub fn first_variables() -> Option<&'static [u8]> {
    let (arguments, rest) = texts()?;
    let variables = rest.get(arguments.len()..)?;
    variables.last().is_none_or(|&last| last == 0).then_some(variables)
}

/// Returns the name by which the program was started, from the memory that [`first_variables`] reads. Returns `None` in the same cases, and
/// if the program was started without a name.
pub fn first_argument() -> Option<&'static [u8]> {
    let (arguments, _) = texts()?;
    CStr::from_bytes_until_nul(arguments).ok().map(CStr::to_bytes)
}

/// Returns the texts of the arguments, and the same texts with those of the variables.
fn texts() -> Option<(&'static [u8], &'static [u8])> {
    let end = auxiliary(AT_EXECFN)? as usize;
    // SAFETY: the name is a terminated string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_stack_end".as_ptr()) };
    // SAFETY: the GNU dynamic linker's variable `__libc_stack_end` is a pointer that is set before any program code runs.
    let begin = *unsafe { found.cast::<*const usize>().as_ref() }?;
    // The limit also excludes a null pointer, which is too far from the end.
    let size = end.checked_sub(begin.addr()).filter(|size| *size <= MOST_BYTES)?;
    // SAFETY: the pointer is the address of the stack at the start of the process, where the kernel put the number of arguments.
    let count = unsafe { *begin };
    if count >= size / size_of::<usize>() {
        return None;
    }
    // SAFETY: the kernel put this many pointers after the number, all of them below `end`.
    let arguments = unsafe { core::slice::from_raw_parts(begin.add(1).cast::<*const c_char>(), count) };
    let place = place_of(arguments, begin.addr()..end)?;
    let pointer = begin.with_addr(place.start).cast::<u8>();
    // SAFETY: the range from `place.start` to `end` is part of the first thread's stack, which stays mapped, because this stack never
    // shrinks.
    let all = unsafe { core::slice::from_raw_parts(pointer, end - place.start) };
    Some((all.get(..place.len())?, all))
}

/// Returns the addresses of the texts of the arguments in the stack. Returns `None` if there is no argument, or if the texts do not follow
/// each other, because the program has changed the texts or the pointers to them.
fn place_of(arguments: &[*const c_char], stack: Range<usize>) -> Option<Range<usize>> {
    let (mut first, mut last, mut size) = (usize::MAX, 0, 0);
    for text in arguments {
        if !stack.contains(&text.addr()) {
            return None;
        }
        // SAFETY: the address is within the memory that the kernel filled, and the path of the program after it is terminated.
        let length = unsafe { CStr::from_ptr(*text) }.count_bytes() + 1;
        size += length;
        if size > stack.len() {
            return None;
        }
        first = first.min(text.addr());
        last = last.max(text.addr() + length);
    }
    (last <= stack.end && last.checked_sub(first) == Some(size)).then_some(first..last)
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_that_the_kernel_shows() {
        let known = std::fs::read("/proc/self/environ").unwrap();
        assert_eq!(first_variables().unwrap(), known);
        // SAFETY: no other test reads or changes this variable.
        unsafe { std::env::set_var("VKL_LATER_VARIABLE", "1") };
        assert_eq!(first_variables().unwrap(), known);
        let arguments = std::fs::read("/proc/self/cmdline").unwrap();
        assert_eq!(first_argument(), arguments.split(|byte| *byte == 0).next());
    }
}
