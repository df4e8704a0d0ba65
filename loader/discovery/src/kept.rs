//! Driver manifests that a scan has kept so far. Several paths of one file belong to one driver (DRV-11).

use crate::manifest::DriverManifest;
use crate::text::Text;
use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory};
use os::{Status, with_terminated};

/// The driver manifests that a scan has kept so far. Stores nothing in scans in which two manifests cannot belong to one driver, so a scan
/// usually allocates no memory.
#[derive(Debug)]
pub struct Kept<'l> {
    earlier: Vec<Earlier<'l>>,
    is_needed: bool,
}

/// A manifest that the scan kept earlier.
#[derive(Debug)]
struct Earlier<'l> {
    file: (u64, u64),
    path: &'l Text,
    library: Text,
}

impl<'l> Kept<'l> {
    /// Returns an empty list for a scan that reads `manifests` files.
    pub const fn among(manifests: usize) -> Self {
        Self {
            earlier: Vec::new(),
            is_needed: manifests > 1,
        }
    }

    /// Returns an empty list for a scan that uses `manifests`, which an earlier scan has read. [`Self::add`] compares manifests only if two
    /// of `manifests` are the same file.
    pub fn among_known<'m>(manifests: impl Iterator<Item = &'m DriverManifest> + Clone) -> Self {
        let mut rest = manifests;
        let mut is_needed = false;
        while let Some(manifest) = rest.next() {
            is_needed = manifest.file.is_some() && rest.clone().any(|other| other.file == manifest.file);
            if is_needed {
                break;
            }
        }
        Self {
            earlier: Vec::new(),
            is_needed,
        }
    }

    /// Adds the manifest found under `path`. Returns the path under which the same driver was kept before, if any.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn add(&mut self, path: &'l Text, manifest: &DriverManifest) -> Result<Option<&'l Text>, OutOfMemory> {
        let Some(file) = manifest.file.filter(|_| self.is_needed) else {
            return Ok(None);
        };
        for earlier in &self.earlier {
            if earlier.file == file && earlier.has_library_of(manifest) {
                return Ok(Some(earlier.path));
            }
        }
        let library = Text::try_new(&manifest.library_path)?;
        self.earlier.try_push(Earlier { file, path, library })?;
        Ok(None)
    }
}

impl Earlier<'_> {
    /// Returns `true` if both manifests name the same library. A relative library path is relative to the manifest's folder, so two links
    /// to one manifest can refer to different libraries. Two different manifests can also have one identity: file systems may store equal
    /// files once, and a shared folder of a virtual machine may combine several file systems.
    fn has_library_of(&self, manifest: &DriverManifest) -> bool {
        let file = |path: &Text| {
            with_terminated(path, Status::at)
                .ok()
                .and_then(|found| found.identity())
        };
        let [one, other] = [&self.library, &manifest.library_path];
        one == other || file(one).is_some_and(|one| file(other) == Some(one))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::journal::testing::Lines;
    use crate::journal::{Journal, Source};
    use crate::manifest::driver::{DriverOutcome, read_driver_manifest};
    use crate::text::scratch::Scratch;
    use std::os::unix::fs::symlink;

    fn read(path: &Text) -> DriverManifest {
        let lines = Lines::default();
        match read_driver_manifest(path, (Source::BuildTime, None), true, &mut Journal::new(&lines)).unwrap() {
            DriverOutcome::Driver(manifest) => manifest,
            other => panic!("{other:?}"),
        }
    }

    /// Returns `true` if both paths belong to the same driver.
    fn is_repeat(first: &Text, second: &Text) -> bool {
        let mut kept = Kept::among(2);
        assert_eq!(kept.add(first, &read(first)).unwrap(), None);
        kept.add(second, &read(second)).unwrap() == Some(first)
    }

    #[test]
    fn drv_11_one_file_is_one_driver_where_it_leads_to_one_library() {
        let scratch = Scratch::create();
        let text = |library: &str| {
            format!(r#"{{"file_format_version":"1.0.1","ICD":{{"library_path":"{library}","api_version":"1.3.0"}}}}"#)
        };
        for folder in ["one", "two"] {
            scratch.folder(folder);
        }
        let link = |from: &str, to: &str| symlink(scratch.path(from).as_path(), scratch.path(to).as_path()).unwrap();
        link("one", "alias");
        let absolute = format!("{}/libx.so", scratch.path("one"));
        for (name, library) in [("bare", "libx.so"), ("absolute", &*absolute), ("relative", "./libx.so")] {
            let first = scratch.file(&format!("one/{name}.json"), text(library).as_bytes());
            let (linked, hard) = (
                scratch.path(&format!("two/{name}.json")),
                scratch.path(&format!("one/{name}2.json")),
            );
            link(&format!("one/{name}.json"), &format!("two/{name}.json"));
            std::fs::hard_link(first.as_path(), hard.as_path()).unwrap();
            assert!(is_repeat(&first, &hard), "{name}");
            assert_eq!(is_repeat(&first, &linked), name != "relative", "{name}");
            let copy = scratch.file(&format!("two/{name}2.json"), text(library).as_bytes());
            assert!(!is_repeat(&first, &copy), "{name}");
        }
        let [first, second] = ["one/relative.json", "alias/relative.json"].map(|path| scratch.path(path));
        assert!(!is_repeat(&first, &second), "the library does not exist");
        scratch.file("one/libx.so", b"");
        assert!(is_repeat(&first, &second));
        assert!(!is_repeat(&first, &scratch.path("two/relative.json")));
    }

    #[test]
    fn drv_11_one_number_of_two_files_is_two_drivers() {
        let scratch = Scratch::create();
        let [first, second] = ["one", "two"].map(|name| {
            let text = format!(
                r#"{{"file_format_version":"1.0.1","ICD":{{"library_path":"/lib{name}.so","api_version":"1.3.0"}}}}"#
            );
            scratch.file(&format!("{name}.json"), text.as_bytes())
        });
        let file = read(&first).file;
        let mut kept = Kept::among(2);
        assert_eq!(kept.add(&first, &read(&first)).unwrap(), None);
        let other = DriverManifest { file, ..read(&second) };
        assert_eq!(kept.add(&second, &other).unwrap(), None);
    }
}
