//! Memory of thread-local variables that a library needs from the start of a thread.

use super::closure::{self, Closure, Identity};
use crate::regular;
use elf::{HEADER_BYTES, Header};
use std::io::Read;
use std::path::Path;

/// `PT_TLS`, the kind of segment that describes thread-local variables.
const THREAD_LOCAL: u32 = 7;
/// Number of bytes that contain the program headers of usual libraries.
const BEGINNING: u64 = 1 << 16;
/// Memory is reserved in steps of this number of bytes, which leaves some of it to other libraries.
const STEP: u64 = 1 << 14;

/// Returns the number of bytes to reserve for the thread-local variables of a library and of the libraries that it needs.
pub(super) fn needed(library: &Path, own: Identity) -> u64 {
    let others = Closure::of(library, own).found.into_iter();
    let others = others.filter(|path| !closure::is_of_c_library(path));
    let all = others.filter(|path| path != library).chain([library.to_path_buf()]);
    let sum = all.fold(0_u64, |sum, path| sum.saturating_add(size(&path).unwrap_or_default()));
    (sum / STEP).saturating_add(1).saturating_mul(STEP)
}

/// Returns the size of a library's thread-local variables, including alignment.
fn size(library: &Path) -> Option<u64> {
    let mut bytes = Vec::new();
    regular::open(library)
        .ok()?
        .take(BEGINNING)
        .read_to_end(&mut bytes)
        .ok()?;
    let header = bytes.get(..HEADER_BYTES)?;
    let form = Header::read(header).ok()?.form;
    let table = form.segments(header)?;
    let rows = bytes.get(usize::try_from(table.at).ok()?..)?;
    let rows = rows.chunks_exact(table.each.max(1)).take(table.count);
    let mut segments = rows.filter_map(|row| form.segment(row));
    let found = segments.find(|segment| segment.kind == THREAD_LOCAL)?;
    Some(found.memory_size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn more_memory_is_reserved_than_a_library_needs() {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, library) = (folder.path().join("a.c"), folder.path().join("liba.so"));
        let text = "static __thread char held[70000]; char *get(int at) { return held + at; }\n";
        std::fs::write(&source, text).expect("a file");
        let mut command = Command::new("cc");
        let made = command
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .status();
        assert!(made.expect("a compiler").success());
        assert_eq!(size(&library), Some(70000));
        let own = Identity::of(&library).expect("a library");
        assert_eq!(needed(&library, own), 5 * STEP);
        assert_eq!(needed(&source, own), STEP);
    }
}
