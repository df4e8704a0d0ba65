//! The libraries that must accompany a driver's library on another system, in an order in which they can be opened.

use crate::{Closure, Identity, read};
use std::path::{Path, PathBuf};

/// Beginnings of the names of the C library's files, up to `.so` or a version.
const C_LIBRARY: [&str; 12] = [
    "libc",
    "libm",
    "libdl",
    "libpthread",
    "librt",
    "libresolv",
    "libutil",
    "libanl",
    "libmvec",
    "libnsl",
    "libnss_files",
    "ld-linux",
];

/// Returns `true` for a file of the C library, which must fit the dynamic linker and therefore never comes from another system.
pub fn is_of_c_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start = name.split(".so").next().unwrap_or_default();
    // File names of the C library have two forms: ld-linux-x86-64.so.2 and libc-2.31.so.
    C_LIBRARY
        .iter()
        .any(|known| start == *known || start.strip_prefix(known).is_some_and(|rest| rest.starts_with('-')))
}

/// Returns the libraries that a library needs, without the C library. Each library comes after the libraries that it needs itself.
pub fn needs_in_order(library: &Path) -> Vec<PathBuf> {
    let own = Identity::of(library).unwrap_or_else(Identity::of_this_process);
    let mut left = Closure::of(library, own).found;
    left.retain(|path| !is_of_c_library(path));
    let mut ordered = Vec::new();
    add_after_needs(library, &mut left, &mut ordered);
    // Removes the library itself, which is the last element.
    ordered.pop();
    ordered
}

/// Moves the libraries that a library needs from `left` to `ordered`, and then adds the library. Each library moves only once, so the
/// function also ends if libraries need each other.
fn add_after_needs(library: &Path, left: &mut Vec<PathBuf>, ordered: &mut Vec<PathBuf>) {
    for name in read(library).unwrap_or_default().names {
        let place = left.iter().position(|path| path.file_name() == Some(name.as_ref()));
        if let Some(place) = place {
            let needed = left.swap_remove(place);
            add_after_needs(&needed, left, ordered);
        }
    }
    ordered.push(library.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locate;

    #[test]
    fn the_c_library_is_told_from_others() {
        for name in [
            "libc.so.6",
            "libm.so.6",
            "ld-linux-x86-64.so.2",
            "libc-2.31.so",
            "libpthread.so.0",
        ] {
            assert!(is_of_c_library(Path::new(name)), "{name}");
        }
        for name in ["libcap.so.2", "libLLVM-15.so.1", "libmd.so.0", "libcurl.so"] {
            assert!(!is_of_c_library(Path::new(name)), "{name}");
        }
    }

    /// The C++ library needs a library of the compiler, and both need the C library.
    #[test]
    fn each_library_comes_after_those_that_it_needs() {
        let Some(library) = locate("libstdc++.so.6", Identity::of_this_process()) else {
            eprintln!("skipped: there is no libstdc++.so.6");
            return;
        };
        let needs = needs_in_order(&library);
        let names: Vec<_> = needs.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["libgcc_s.so.1"]);
        let version = read(&library).and_then(|needs| needs.c_library);
        assert!(version.is_some_and(|version| version.starts_with("2.")));
    }
}
