//! Controls the C library's heap for the library under test. The heap can refuse chosen requests. This module replaces the functions that
//! request memory from the C library, in the table of imports of the library under test. Requests of drivers, layers and the test itself
//! are therefore neither counted nor refused.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use super::{Commands, Vk};

/// Number of requests so far.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Numbers of the first and the last refused request.
static REFUSED: [AtomicUsize; 2] = [const { AtomicUsize::new(usize::MAX) }; 2];
/// Size in bytes of the largest request that is not refused.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Number of large requests so far, and the number of the refused request. The second number is zero if no request is refused.
static LARGE: AtomicUsize = AtomicUsize::new(0);
static REFUSED_LARGE: AtomicUsize = AtomicUsize::new(0);
/// Number of files and folders that the library opened or tried to open, and the number of the refused attempt. This number is zero if no
/// attempt is refused.
static OPENINGS: AtomicUsize = AtomicUsize::new(0);
static REFUSED_OPENING: AtomicUsize = AtomicUsize::new(0);
/// Number of opened files and folders at the time of the last refusal.
static OPENINGS_BEFORE: AtomicUsize = AtomicUsize::new(0);
/// Number of blocks that the library has allocated and not freed.
static LIVE: AtomicIsize = AtomicIsize::new(0);

/// Size in bytes of the library's emergency pool. A request above this size counts as a large request.
const POOL: usize = 1 << 18;

/// Requests that the heap refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request with this number.
    Only(usize),
    /// The request with this number, and all later requests.
    From(usize),
    /// Each request for more bytes than this number.
    Above(usize),
    /// The request with this number, among those that the library's emergency pool cannot serve.
    Large(usize),
    /// The attempt with this number to open a file or folder, as if the system had no memory.
    Opening(usize),
}

/// The heap of the library under test.
pub struct Heap(());

impl Heap {
    /// Installs the replacements in the library's imports. The replacements remain until the library is unloaded.
    pub fn of(vk: &Vk) -> Self {
        let object = Object::around(vk.address("vkGetInstanceProcAddr"));
        let replaced = REPLACEMENTS
            .iter()
            .map(|(name, function)| object.replace(name, *function as usize))
            .sum::<usize>();
        assert!(replaced > 0, "the library asks for memory");
        LIVE.store(0, Ordering::Relaxed);
        Self::refuse_none(&Self(()));
        Self(())
    }

    /// Refuses the requests for memory or files that `refusal` selects, counted from this call.
    pub fn refuse(&self, refusal: Refusal) {
        const NONE: usize = usize::MAX;
        let (first, last, most) = match refusal {
            Refusal::Only(number) => (number, number, NONE),
            Refusal::From(number) => (number, NONE, NONE),
            Refusal::Above(bytes) => (NONE, NONE, bytes),
            Refusal::Large(_) | Refusal::Opening(_) => (NONE, NONE, NONE),
        };
        let (large, opening) = match refusal {
            Refusal::Large(number) => (number, 0),
            Refusal::Opening(number) => (0, number),
            _ => (0, 0),
        };
        for counter in [&COUNT, &LARGE, &OPENINGS] {
            counter.store(0, Ordering::Relaxed);
        }
        MOST.store(most, Ordering::Relaxed);
        REFUSED_LARGE.store(large, Ordering::Relaxed);
        REFUSED_OPENING.store(opening, Ordering::Relaxed);
        REFUSED[0].store(first, Ordering::Relaxed);
        REFUSED[1].store(last, Ordering::Relaxed);
    }

    /// Stops refusing requests, and restarts the counts from zero.
    pub fn refuse_none(&self) {
        self.refuse(Refusal::From(usize::MAX));
    }

    /// Returns the number of requests since the last call of [`Heap::refuse`] or [`Heap::refuse_none`].
    pub fn count(&self) -> usize {
        COUNT.load(Ordering::Relaxed)
    }

    /// Returns the number of large requests since the last call of [`Heap::refuse`] or [`Heap::refuse_none`]. The library's emergency pool
    /// cannot serve these requests.
    pub fn large(&self) -> usize {
        LARGE.load(Ordering::Relaxed)
    }

    /// Returns the number of files and folders that the library opened or tried to open since the last call of [`Heap::refuse`] or
    /// [`Heap::refuse_none`].
    pub fn openings(&self) -> usize {
        OPENINGS.load(Ordering::Relaxed)
    }

    /// Returns the number of files and folders that the library opened or tried to open after the last refusal.
    pub fn openings_after_refusal(&self) -> usize {
        self.openings() - OPENINGS_BEFORE.load(Ordering::Relaxed)
    }

    /// Returns the number of blocks that the library has requested since [`Heap::of`] and not freed.
    pub fn live(&self) -> isize {
        LIVE.load(Ordering::Relaxed)
    }
}

/// Returns `true` and sets the error number if the next request, for this number of bytes, must be refused.
fn is_refused(bytes: usize) -> bool {
    let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    let counted = (REFUSED[0].load(Ordering::Relaxed)..=REFUSED[1].load(Ordering::Relaxed)).contains(&number);
    let is_large = bytes > POOL;
    let large = LARGE.fetch_add(is_large.into(), Ordering::Relaxed) + 1;
    let counted = counted || is_large && large == REFUSED_LARGE.load(Ordering::Relaxed);
    noted(counted || bytes > MOST.load(Ordering::Relaxed))
}

/// Returns `true` if a request that opens a file or folder must fail.
fn is_opening_refused() -> bool {
    let number = OPENINGS.fetch_add(1, Ordering::Relaxed) + 1;
    noted(number == REFUSED_OPENING.load(Ordering::Relaxed)) || is_refused(0)
}

/// Returns `refused`. For a refusal, also sets the error number and stores the number of openings so far.
fn noted(refused: bool) -> bool {
    if refused {
        OPENINGS_BEFORE.store(OPENINGS.load(Ordering::Relaxed), Ordering::Relaxed);
        // SAFETY: the error number of this thread can always be written.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
    }
    refused
}

/// Counts a block that the library has received.
fn counted<T>(block: *mut T) -> *mut T {
    LIVE.fetch_add(isize::from(!block.is_null()), Ordering::Relaxed);
    block
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    if is_refused(size) {
        return std::ptr::null_mut();
    }
    // SAFETY: the library passes the arguments that the C library's function requires.
    counted(unsafe { libc::malloc(size) })
}

unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    if is_refused(count.saturating_mul(size)) {
        return std::ptr::null_mut();
    }
    // SAFETY: the library passes the arguments that the C library's function requires.
    counted(unsafe { libc::calloc(count, size) })
}

unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    if is_refused(size) {
        return std::ptr::null_mut();
    }
    // SAFETY: the library passes the arguments that the C library's function requires. The number of blocks remains the same, because the
    // new block replaces the old one.
    unsafe { libc::realloc(block, size) }
}

unsafe extern "C" fn posix_memalign(block: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    if is_refused(size) {
        return libc::ENOMEM;
    }
    LIVE.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the library passes the arguments that the C library's function requires.
    unsafe { libc::posix_memalign(block, alignment, size) }
}

unsafe extern "C" fn free(block: *mut c_void) {
    LIVE.fetch_sub(isize::from(!block.is_null()), Ordering::Relaxed);
    // SAFETY: the library passes the arguments that the C library's function requires.
    unsafe { libc::free(block) };
}

unsafe extern "C" fn open64(path: *const c_char, flags: c_int) -> c_int {
    if is_opening_refused() {
        return -1;
    }
    // SAFETY: the library passes valid arguments. The call needs no third argument, because the library creates no files.
    unsafe { libc::open64(path, flags) }
}

unsafe extern "C" fn opendir(path: *const c_char) -> *mut libc::DIR {
    if is_opening_refused() {
        return std::ptr::null_mut();
    }
    // SAFETY: the library passes the arguments that the C library's function requires.
    unsafe { libc::opendir(path) }
}

unsafe extern "C" fn realpath(path: *const c_char, room: *mut c_char) -> *mut c_char {
    if is_refused(0) {
        return std::ptr::null_mut();
    }
    // SAFETY: the library passes the arguments that the C library's function requires.
    counted(unsafe { libc::realpath(path, room) })
}

/// Functions through which the library requests memory, directly or inside the C library.
const REPLACEMENTS: &[(&str, *const ())] = &[
    ("malloc", malloc as *const ()),
    ("calloc", calloc as *const ()),
    ("realloc", realloc as *const ()),
    ("posix_memalign", posix_memalign as *const ()),
    ("free", free as *const ()),
    ("open64", open64 as *const ()),
    ("opendir", opendir as *const ()),
    ("realpath", realpath as *const ()),
];

/// Entry of the table that describes an object to the dynamic linker.
#[repr(C)]
struct Dynamic {
    tag: usize,
    value: usize,
}

/// Dynamic section of a loaded object.
struct Object {
    base: usize,
    dynamic: *const Dynamic,
}

const DT_PLTRELSZ: usize = 2;
const DT_STRTAB: usize = 5;
const DT_SYMTAB: usize = 6;
const DT_RELA: usize = 7;
const DT_RELASZ: usize = 8;
const DT_REL: usize = 17;
const DT_RELSZ: usize = 18;
const DT_PLTREL: usize = 20;
const DT_JMPREL: usize = 23;

/// Number of words of a relocation, without and with an addend.
const REL: usize = 2;
const RELA: usize = 3;
/// Bit position of the symbol's index in a relocation.
const SYMBOL_SHIFT: u32 = if cfg!(target_pointer_width = "64") { 32 } else { 8 };
/// Size in bytes of an entry in the symbol table. The entry begins with the offset of the symbol's name.
const SYMBOL: usize = if cfg!(target_pointer_width = "64") { 24 } else { 16 };

impl Object {
    /// Finds the loaded object that contains an address.
    fn around(address: usize) -> Self {
        unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
            // SAFETY: the C library passes its description of an object, and the pair that `dl_iterate_phdr` received.
            let (info, found) = unsafe { (&*info, &mut *found.cast::<(usize, Option<Object>)>()) };
            // SAFETY: the C library's description states the number of segments at this address.
            let segments = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
            let base = info.dlpi_addr as usize;
            let holds = segments.iter().any(|segment| {
                let begin = base + segment.p_vaddr as usize;
                segment.p_type == libc::PT_LOAD && (begin..begin + segment.p_memsz as usize).contains(&found.0)
            });
            let dynamic = segments.iter().find(|segment| segment.p_type == libc::PT_DYNAMIC);
            if let (true, Some(dynamic)) = (holds, dynamic) {
                let dynamic = std::ptr::with_exposed_provenance(base + dynamic.p_vaddr as usize);
                found.1 = Some(Object { base, dynamic });
            }
            0
        }
        let mut found: (usize, Option<Self>) = (address, None);
        // SAFETY: `look` uses the pair only during this call, which the pair outlives.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
        found.1.expect("a loaded library has a dynamic section")
    }

    /// Returns the value of the first entry with this tag.
    fn value(&self, tag: usize) -> Option<usize> {
        let mut entry = self.dynamic;
        // SAFETY: `dynamic` is the start of the dynamic section of a loaded library, and the section ends with a tag of zero.
        unsafe {
            while (*entry).tag != 0 {
                if (*entry).tag == tag {
                    return Some((*entry).value);
                }
                entry = entry.add(1);
            }
        }
        None
    }

    /// Returns the address in an entry. The dynamic linker may have added the base address already.
    fn address(&self, tag: usize) -> Option<usize> {
        let value = self.value(tag)?;
        Some(if value < self.base { self.base + value } else { value })
    }

    /// Replaces every import of this name by `function`. Returns the number of changed entries.
    fn replace(&self, name: &str, function: usize) -> usize {
        let of_jumps = if self.value(DT_PLTREL) == Some(DT_RELA) {
            RELA
        } else {
            REL
        };
        let tables = [
            (DT_RELA, DT_RELASZ, RELA),
            (DT_REL, DT_RELSZ, REL),
            (DT_JMPREL, DT_PLTRELSZ, of_jumps),
        ];
        let mut replaced = 0;
        for (table, size, words) in tables {
            let (Some(table), Some(size)) = (self.address(table), self.value(size)) else {
                continue;
            };
            let table: *const usize = std::ptr::with_exposed_provenance(table);
            // SAFETY: the table has this size in bytes, and is mapped while the library is loaded.
            let table = unsafe { std::slice::from_raw_parts(table, size / size_of::<usize>()) };
            for relocation in table.chunks_exact(words) {
                if self.symbol(relocation[1] >> SYMBOL_SHIFT) == name.as_bytes() {
                    write_word(self.base + relocation[0], function);
                    replaced += 1;
                }
            }
        }
        replaced
    }

    /// Returns the name of a symbol. The name is empty for relocations without a symbol.
    fn symbol(&self, index: usize) -> &[u8] {
        let symbols = self.address(DT_SYMTAB).expect("an object has symbols");
        let names = self.address(DT_STRTAB).expect("symbols have names");
        let symbol: *const u32 = std::ptr::with_exposed_provenance(symbols + index * SYMBOL);
        // SAFETY: the index belongs to a symbol in the table, and the symbol's name is a string in the table of names.
        unsafe {
            let name: *const c_char = std::ptr::with_exposed_provenance(names + *symbol as usize);
            CStr::from_ptr(name).to_bytes()
        }
    }
}

/// Writes a word into memory that may be read-only.
fn write_word(address: usize, word: usize) {
    // SAFETY: the word is in a table of imports, which no other thread changes. The page of the table remains writable.
    unsafe {
        let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).expect("a page has a size");
        let begin = std::ptr::with_exposed_provenance_mut(address & !(page - 1));
        let access = libc::PROT_READ | libc::PROT_WRITE;
        assert_eq!(libc::mprotect(begin, page, access), 0, "the imports can be changed");
        *std::ptr::with_exposed_provenance_mut::<usize>(address) = word;
    }
}
