//! The libraries that a process has loaded.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

#[cfg(target_pointer_width = "32")]
use libc::Elf32_Phdr as Header;
#[cfg(target_pointer_width = "64")]
use libc::Elf64_Phdr as Header;

/// Tags of entries in the dynamic section.
const END: isize = 0;
const STRINGS: isize = 5;
const NAME: isize = 14;
const SEARCH: isize = 15;
const LATER_SEARCH: isize = 29;
const AUDIT_OF_NEEDS: isize = 0x6FFF_FEFB;
const AUDIT: isize = 0x6FFF_FEFC;

/// An entry of the dynamic section, `ElfW(Dyn)`.
#[repr(C)]
struct Dynamic {
    tag: isize,
    value: usize,
}

/// A loaded library or program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Object<'a> {
    /// Path by which the object was opened; empty for the program itself.
    pub path: &'a [u8],
    /// `DT_SONAME` of the object; empty if it is missing.
    pub name: &'a [u8],
    /// `DT_RPATH`; empty if it is missing, or if `DT_RUNPATH` replaces it.
    pub search: &'a [u8],
    /// `DT_RUNPATH` of the object; empty if it is missing.
    pub own_search: &'a [u8],
    /// `true` if the object has `DT_AUDIT` or `DT_DEPAUDIT`. In a program, these entries name audit libraries,
    /// which can change each search of the linker.
    pub is_audited: bool,
    /// First segment in memory, which begins with the header of the object's file; empty if the process may not read it.
    pub head: &'a [u8],
}

type Take<'t> = &'t mut dyn FnMut(&libc::dl_phdr_info) -> bool;
type Callback = unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int;
type Iterate = unsafe extern "C" fn(Callback, *mut c_void) -> c_int;

/// Passes all loaded objects to `take`. The dynamic linker holds its lock meanwhile, so `take` must not open a library.
pub fn each_object(mut take: impl FnMut(&Object<'_>)) {
    iterate(&mut |info| {
        // SAFETY: `info` came from the dynamic linker, which keeps the object while its lock is held.
        take(&unsafe { object(info) });
        true
    });
}

/// Returns two numbers, at least one of which changes whenever the process loads or unloads a library.
pub fn loads_and_unloads() -> (u64, u64) {
    let mut counts = (0, 0);
    iterate(&mut |info| {
        counts = (info.dlpi_adds, info.dlpi_subs);
        false
    });
    counts
}

/// Passes the dynamic linker's description of each object to `take`, until `take` returns `false`.
fn iterate(mut take: Take<'_>) {
    // The function is looked up at run time, because few processes need it, and every import costs each process that loads this library.
    // SAFETY: the name is a terminated string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"dl_iterate_phdr".as_ptr()) };
    if found.is_null() {
        return;
    }
    // SAFETY: the C library's function `dl_iterate_phdr` has the type `Iterate`.
    let iterate = unsafe { core::mem::transmute::<*mut c_void, Iterate>(found) };
    // SAFETY: `show` gets the pointer to `take`, which outlives this call and has the type that `show` expects.
    unsafe { iterate(show, (&raw mut take).cast()) };
}

/// Passes one object to a [`Take`].
///
/// # Safety
/// `info` comes from `dl_iterate_phdr`, and `data` points to a [`Take`].
unsafe extern "C" fn show(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the caller promises a valid `info`, and `data` that points to a `Take`.
    let (info, take) = unsafe { (&*info, &mut *data.cast::<Take<'_>>()) };
    c_int::from(!take(info))
}

/// Reads the names of a loaded object.
///
/// # Safety
/// `info` describes a loaded object that stays loaded while the result is used.
unsafe fn object(info: &libc::dl_phdr_info) -> Object<'_> {
    let base = info.dlpi_addr as usize;
    let headers = if info.dlpi_phdr.is_null() {
        &[][..]
    } else {
        // SAFETY: the dynamic linker reports this number of headers.
        unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) }
    };
    // SAFETY: the name is null or a terminated text that lives as long as the object.
    let path = unsafe { text(info.dlpi_name) };
    let mut object = Object {
        path,
        // SAFETY: the caller promises that the object stays loaded, so its segments stay in memory.
        head: unsafe { head(base, headers) },
        ..Object::default()
    };
    let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) else {
        return object;
    };
    let first = base.wrapping_add(dynamic.p_vaddr as usize) as *const Dynamic;
    let (mut strings, mut name, mut search, mut own_search) = (None, None, None, None);
    // SAFETY: the dynamic section of a loaded object is at this address, and an entry with the tag 0 ends it.
    let entries = (0..).map(|place| unsafe { &*first.add(place) });
    for entry in entries.take_while(|entry| entry.tag != END) {
        match entry.tag {
            STRINGS => strings = address(base, entry.value, headers),
            NAME => name = Some(entry.value),
            SEARCH => search = Some(entry.value),
            LATER_SEARCH => own_search = Some(entry.value),
            AUDIT | AUDIT_OF_NEEDS => object.is_audited = true,
            _ => {}
        }
    }
    let text = |offset: Option<usize>| match (strings, offset) {
        // SAFETY: the table has a terminated text at each offset in the dynamic section; the linker has already read the table and the
        // section.
        (Some(strings), Some(offset)) => unsafe { text((strings + offset) as *const c_char) },
        _ => &[],
    };
    object.name = text(name);
    object.search = text(search.filter(|_| own_search.is_none()));
    object.own_search = text(own_search);
    object
}

/// Returns the segment with the beginning of an object's file; empty if that segment is writable or not readable.
///
/// # Safety
/// `headers` are those of an object that was loaded at `base`, and that stays loaded while the result is used.
unsafe fn head<'a>(base: usize, headers: &[Header]) -> &'a [u8] {
    let is_first = |header: &&Header| header.p_type == libc::PT_LOAD && header.p_offset == 0;
    let Some(first) = headers.iter().find(is_first) else {
        return &[];
    };
    if first.p_flags & (libc::PF_R | libc::PF_W) != libc::PF_R {
        return &[];
    }
    let begin = base.wrapping_add(first.p_vaddr as usize) as *const u8;
    // SAFETY: the dynamic linker has mapped this many bytes of the file at this address, readable and not writable.
    unsafe { core::slice::from_raw_parts(begin, first.p_filesz as usize) }
}

/// Returns the address in an entry of the dynamic section. Some linkers have already added the object's base address to the entry, and some
/// have not.
fn address(base: usize, value: usize, headers: &[Header]) -> Option<usize> {
    let is_within = |address: &usize| {
        headers.iter().any(|header| {
            let begin = base.wrapping_add(header.p_vaddr as usize);
            header.p_type == libc::PT_LOAD && address.wrapping_sub(begin) < header.p_memsz as usize
        })
    };
    [value, base.wrapping_add(value)].into_iter().find(is_within)
}

/// Returns the bytes of a text; an empty slice for null.
///
/// # Safety
/// `text` is null or a terminated text that lives as long as the result.
unsafe fn text<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        &[]
    } else {
        // SAFETY: the pointer is not null, so the caller promises a terminated text.
        unsafe { CStr::from_ptr(text) }.to_bytes()
    }
}

/// Returns the version of the GNU C library.
#[cfg(target_env = "gnu")]
pub fn c_library() -> &'static [u8] {
    // SAFETY: the call has no preconditions, and returns a terminated string that never changes.
    unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_bytes()
}

/// Returns an empty version, because no version of the GNU C library is in use.
#[cfg(not(target_env = "gnu"))]
pub fn c_library() -> &'static [u8] {
    b""
}

/// Returns `true` if a symbol called `symbol` is visible to all libraries of the process.
pub fn is_exported(symbol: &CStr) -> bool {
    // SAFETY: the name is a terminated string.
    !ptr::eq(unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) }, ptr::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_among_what_is_loaded() {
        let (mut names, mut program) = (Vec::new(), 0);
        each_object(|object| {
            program += usize::from(object.path.is_empty());
            names.push((object.path.to_vec(), object.name.to_vec()));
        });
        let is_c = |(path, name): &(Vec<u8>, Vec<u8>)| {
            let path = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            path.starts_with(b"libc.") && (name.is_empty() || path == name)
        };
        assert_eq!(program, 1);
        each_object(|object| assert!(object.head.starts_with(b"\x7FELF"), "{object:?}"));
        assert!(loads_and_unloads().0 >= names.len() as u64);
        assert!(names.iter().any(is_c), "{names:?}");
    }

    #[test]
    fn loads_and_unloads_are_counted() {
        let before = loads_and_unloads();
        // SAFETY: the name is terminated, and the library has no code that runs when it is loaded.
        let library = unsafe { libc::dlopen(c"libBrokenLocale.so.1".as_ptr(), libc::RTLD_NOW) };
        if library.is_null() {
            // Only the GNU C library comes with this library.
            return;
        }
        let between = loads_and_unloads();
        // SAFETY: `library` came from `dlopen`, and nothing refers to it.
        unsafe { libc::dlclose(library) };
        assert!(before != between && between != loads_and_unloads());
    }

    #[test]
    fn symbols_of_the_c_library_are_visible() {
        assert!(is_exported(c"getenv") && !is_exported(c"vk_icdGetInstanceProcAddr"));
    }
}
