//! Tests that entries are used only in processes that would load the recorded files.

use crate::closure::{Checked, Found, Mount, Object, Place, Process, look};
use crate::tests::{LIBRARY, document, read};
use crate::{Doubt, Identity, LINKER_CACHE, LinkerCacheSum, Look};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;

pub(crate) const DRIVER: &str = "/lib/libvulkan_radeon.so";

/// An imitated file that the process under test sees.
#[derive(Clone)]
pub(crate) struct File {
    identity: Identity,
    is_open: bool,
    pub(crate) content: Option<Vec<u8>>,
    /// Number of the file's mount.
    pub(crate) mount: u64,
}

/// An imitated process: its files, objects (path, name, folders of `DT_RPATH`) and symbols.
#[derive(Clone, Default)]
pub(crate) struct One {
    files: BTreeMap<String, File>,
    objects: Vec<(&'static str, &'static str, &'static str)>,
    symbol: Option<&'static CStr>,
    search: &'static str,
    /// `true` if folders cannot be listed.
    hides: bool,
    /// `true` if the process has reached its limit of open files, so no folder can be opened.
    is_full: bool,
    /// Number of the mount from which no library can be loaded.
    refused: u64,
    /// Paths whose mount was examined.
    pub(crate) examined: RefCell<Vec<String>>,
    /// Beginning of each object in memory.
    head: Vec<u8>,
    /// Version of the C library.
    version: &'static str,
}

pub(crate) fn inode(inode: u64) -> Identity {
    Identity { inode, ..LIBRARY }
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

impl One {
    /// Returns the imitated process as it was when the driver was asked.
    pub(crate) fn then() -> Self {
        Self::default()
            .with(DRIVER, LIBRARY)
            .with("/lib/libdrm.so.2", inode(20))
            .with("/lib/libz.so.1", inode(21))
    }

    pub(crate) fn with(mut self, path: &str, identity: Identity) -> Self {
        let file = File {
            identity,
            is_open: true,
            content: Some(Vec::new()),
            mount: 1,
        };
        self.files.insert(path.into(), file);
        self
    }

    pub(crate) fn change(mut self, path: &str, change: impl FnOnce(&mut File)) -> Self {
        change(self.files.get_mut(path).unwrap());
        self
    }

    pub(crate) fn object(mut self, path: &'static str, name: &'static str, search: &'static str) -> Self {
        self.objects.push((path, name, search));
        self
    }

    pub(crate) fn head(mut self, head: &[u8]) -> Self {
        self.head = head.to_vec();
        self
    }

    pub(crate) fn refused(mut self, mount: u64) -> Self {
        self.refused = mount;
        self
    }

    pub(crate) fn search(mut self, search: &'static str) -> Self {
        self.search = search;
        self
    }

    pub(crate) fn check(&self, document: &Value) -> Result<(), (Doubt, Option<u16>)> {
        let catalogue = read(document).unwrap();
        let mut files: Vec<Checked<'_>> = catalogue.files().map(Checked::from).collect();
        let mut mount = Mount::default();
        look(self, self.search.as_bytes(), &mut files, &mut mount);
        let doubts: Vec<Option<Doubt>> = files.iter().map(|file| file.doubt).collect();
        let entry = catalogue.entries().next().unwrap();
        entry.check(self, &doubts, &mut mount, catalogue.has_same_linker_cache(self))
    }
}

impl Look for One {
    fn names(&self, folder: &[u8], take: &mut dyn FnMut(&[u8])) -> bool {
        let folder = format!("{}/", text(folder));
        let below = self
            .files
            .keys()
            .filter_map(|path| path.strip_prefix(&folder)?.split('/').next());
        if !self.hides {
            below.for_each(|name| take(name.as_bytes()));
        }
        !self.hides
    }

    fn link(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
        assert_eq!(path, b"/proc/self/exe");
        take(b"/game/bin/game");
    }

    fn text(&self, _: &[u8], _: &mut dyn FnMut(&[u8])) {}

    fn device_number(&self, path: &[u8]) -> Option<u64> {
        let folder = format!("{}/", text(path));
        let is_at = |file: &String| file == text(path) || file.starts_with(&folder);
        (path == b"." || self.files.keys().any(is_at)).then_some(0)
    }
}

impl Process for One {
    type Folder = String;

    fn folder(&self, path: &[u8]) -> Place<String> {
        match self.exists(path) {
            true if self.is_full => Place::Unknown,
            true => Place::Open(text(path).into()),
            false => Place::Missing,
        }
    }

    fn file_in(&self, folder: &String, name: &[u8]) -> Option<Found> {
        let path = format!("{folder}/{}", text(name));
        let above = Found {
            identity: LIBRARY,
            is_open: true,
            mount: 1,
        };
        self.file(path.as_bytes())
            // The imitated process has only files; a path above a file is a folder.
            .or_else(|| self.exists(path.as_bytes()).then_some(above))
    }

    fn file(&self, path: &[u8]) -> Option<Found> {
        self.files.get(text(path)).map(|file| Found {
            identity: file.identity,
            is_open: file.is_open,
            mount: file.mount,
        })
    }

    fn may_execute(&self, path: &[u8]) -> bool {
        self.examined.borrow_mut().push(text(path).into());
        let mount = self.files[text(path)].mount;
        mount == 0 || mount != self.refused
    }

    fn opened(&self, path: &[u8]) -> Option<Found> {
        let is_open = self.files.get(text(path))?.content.is_some();
        self.file(path).map(|found| Found { is_open, ..found })
    }

    fn read(&self, path: &[u8], most: usize, take: &mut dyn FnMut(&[u8])) -> bool {
        let content = self.files.get(text(path)).and_then(|file| file.content.as_deref());
        content
            .inspect(|content| take(&content[..most.min(content.len())]))
            .is_some()
    }

    fn objects(&self, take: &mut dyn FnMut(&Object<'_>)) {
        for (path, name, search) in &self.objects {
            let [path, name, search] = [path, name, search].map(|text| text.as_bytes());
            take(&Object {
                path,
                name,
                search,
                own_search: if name == b"libvulkan.so.1" { b"/own" } else { b"" },
                is_audited: name == b"libaudited.so",
                head: &self.head,
            });
        }
    }

    fn c_library(&self) -> &'static [u8] {
        self.version.as_bytes()
    }

    fn exports(&self, symbol: &CStr) -> bool {
        self.symbol == Some(symbol)
    }
}

/// Returns a catalogue in which a driver depends on two files.
pub(crate) fn known() -> Value {
    let mut known = document();
    known["files"] = json!([
        ["/lib/libdrm.so.2", inode(20).to_string(), "libdrm.so.2"],
        ["/lib/libz.so.1", inode(21).to_string(), "libz.so libz.so.1"],
    ]);
    known["drivers"][0]["files"] = json!([0, 1]);
    known
}

pub(crate) const SHADOWED: Result<(), (Doubt, Option<u16>)> = Err((Doubt::Shadowed, Some(0)));

#[test]
fn each_file_of_a_driver_must_be_the_same() {
    assert_eq!(One::then().check(&known()), Ok(()));
    for (path, number) in [
        (DRIVER, None),
        ("/lib/libdrm.so.2", Some(0)),
        ("/lib/libz.so.1", Some(1)),
    ] {
        let doubt = |one: One| one.check(&known());
        let change = |identity| One::then().with(path, identity);
        assert_eq!(doubt(change(inode(99))), Err((Doubt::Library, number)));
        let mut gone = One::then();
        gone.files.remove(path);
        assert_eq!(doubt(gone), Err((Doubt::Library, number)));
        let unreadable = |file: &mut File| (file.is_open, file.content) = (false, None);
        assert_eq!(
            doubt(One::then().change(path, unreadable)),
            Err((Doubt::Unreadable, number))
        );
        // The file need not be readable for other users.
        assert_eq!(doubt(One::then().change(path, |file| file.is_open = false)), Ok(()));
    }
}

#[test]
fn an_entry_without_a_list_of_its_files_does_not_count() {
    for (list, number) in [
        (json!(null), None),
        (json!([2]), Some(2)),
        (json!([-1]), None),
        (json!([0.5]), None),
        (json!(["0"]), None),
        (json!([65536]), None),
    ] {
        let mut odd = known();
        odd["drivers"][0]["files"] = list;
        assert_eq!(One::then().check(&odd), Err((Doubt::Unknown, number)));
    }
    for member in [0, 1] {
        let mut odd = known();
        odd["files"][1][member] = json!(7);
        assert_eq!(One::then().check(&odd), Err((Doubt::Library, Some(1))), "{member}");
    }
}

#[test]
fn a_place_where_nothing_was_must_be_empty() {
    let mut absent = known();
    absent["files"][1] = json!(["/opt/lib", "", ""]);
    assert_eq!(One::then().check(&absent), Ok(()));
    let there = One::then().with("/opt/lib", inode(5));
    assert_eq!(there.check(&absent), Err((Doubt::Library, Some(1))));
}

#[test]
fn folders_of_the_process_matter_where_they_have_another_file_of_a_name() {
    let other = |path| One::then().with(path, inode(99));
    for (path, search, expected) in [
        ("/other/libdrm.so.2", "/other", SHADOWED),
        ("/other/libz.so", "/empty:/other", Err((Doubt::Shadowed, Some(1)))),
        ("/other/libdrm.so.2", "/empty;/other", SHADOWED),
        ("/other/libdrm.so.20", "/other", Ok(())),
        ("/other/libvulkan_radeon.so", "/other", Ok(())),
        ("/other/libdrm.so.2", "", Ok(())),
        ("./libdrm.so.2", "/other:", SHADOWED),
        ("/other/glibc-hwcaps/x86-64-v3/libdrm.so.2", "/other", SHADOWED),
        ("/other/glibc-hwcaps/x86-64-v3/libm.so.6", "/other", Ok(())),
        ("/other/libm.so.6", "/$PLATFORM", SHADOWED),
        ("/game/bin/../lib/libdrm.so.2", "$ORIGIN/../lib", SHADOWED),
        ("/game/bin/libm.so.6", "${ORIGIN}", Ok(())),
        // The file in an earlier folder is a link to the recorded file.
        ("/other/libdrm.so.2", "/lib:/other", Ok(())),
        ("/other/libz.so", "/lib:/other", Err((Doubt::Shadowed, Some(1)))),
    ] {
        assert_eq!(other(path).search(search).check(&known()), expected, "{path} {search}");
        // The folders of `search` are also tested as a `DT_RPATH`, which the linker searches first.
        let at_root = search.is_empty() || search.starts_with("/lib");
        if !at_root {
            let by_path = other(path).object("", "", search);
            assert_eq!(by_path.check(&known()), expected, "{path} {search}");
        }
    }
    for (version, expected) in [
        ("2.36", SHADOWED),
        ("2.31", SHADOWED),
        ("2.4.9000", SHADOWED),
        ("2.37", Ok(())),
        ("2.41", Ok(())),
        ("3.1", Ok(())),
        ("", Ok(())),
    ] {
        let one = One {
            version,
            ..other("/other/tls/libm.so.6").search("/other")
        };
        assert_eq!(one.check(&known()), expected, "{version}");
    }
    let by_library = other("/app/plugins/libdrm.so.2").object("/app/libapp.so", "", "$ORIGIN/plugins");
    assert_eq!(by_library.check(&known()), SHADOWED);
    let foreign = |class| move |file: &mut File| file.content = Some(vec![0x7F, b'E', b'L', b'F', class]);
    for (class, expected) in [(1, Ok(())), (2, SHADOWED)] {
        let class = if cfg!(target_pointer_width = "64") {
            class
        } else {
            3 - class
        };
        let one = other("/other/libdrm.so.2").change("/other/libdrm.so.2", foreign(class));
        assert_eq!(one.search("/other").check(&known()), expected, "{class}");
    }
    // A user may have permission to open a file in a folder but not to list the folder.
    let hidden = |path, hides| One {
        hides,
        ..other(path).search("/other")
    };
    for (path, expected) in [
        ("/other/libdrm.so.2", SHADOWED),
        ("/other/libm.so.6", Ok(())),
        ("/other/glibc-hwcaps/x86-64-v3/libm.so.6", SHADOWED),
    ] {
        assert_eq!(hidden(path, true).check(&known()), expected, "{path}");
    }
    // The path of the loaded object differs from the recorded path, but leads to the same file.
    assert_eq!(
        One::then()
            .with("/other/libdrm.so.2", inode(20))
            .search("/other")
            .check(&known()),
        Ok(())
    );
}

#[test]
fn what_is_loaded_matters_where_it_has_a_name_of_the_driver_or_its_functions() {
    let loaded = |path, name| One::then().with("/run/libdrm.so.2", inode(99)).object(path, name, "");
    for (path, name, expected) in [
        ("/run/libdrm.so.2", "", SHADOWED),
        ("/run/libother.so", "libdrm.so.2", SHADOWED),
        ("/lib/libdrm.so.2", "libdrm.so.2", Ok(())),
        ("/run/liboverlay.so", "liboverlay.so", Ok(())),
        ("linux-vdso.so.1", "linux-vdso.so.1", Ok(())),
        ("", "", Ok(())),
        ("", "libaudited.so", SHADOWED),
    ] {
        assert_eq!(loaded(path, name).check(&known()), expected, "{path} {name}");
    }
    // The linker uses a library that the process has loaded under the requested name, no matter which files the folders contain.
    let here = || loaded("/lib/libdrm.so.2", "libdrm.so.2").with("/other/libdrm.so.2", inode(99));
    assert_eq!(here().search("/other").check(&known()), Ok(()));
    let unnamed = loaded("/lib/libdrm.so.2", "").with("/other/libdrm.so.2", inode(99));
    assert_eq!(unnamed.search("/other").check(&known()), SHADOWED);
    let same = One::then()
        .with("/usr/lib/libdrm.so.2", inode(20))
        .object("/usr/lib/libdrm.so.2", "libdrm.so.2", "");
    assert_eq!(same.check(&known()), Ok(()));
    for (symbol, expected) in [
        (c"vk_icdGetInstanceProcAddr", SHADOWED),
        (c"vkGetInstanceProcAddr", Ok(())),
    ] {
        let exporting = One {
            symbol: Some(symbol),
            ..One::then()
        };
        assert_eq!(exporting.check(&known()), expected, "{symbol:?}");
    }
}

#[test]
fn names_need_the_same_linker_cache() {
    let path = text(LINKER_CACHE);
    let with_cache = |identity, content: &str| {
        let content = Some(content.as_bytes().to_vec());
        One::then()
            .with(path, identity)
            .change(path, |file| file.content = content)
    };
    let cache = with_cache(inode(77), "cache");
    let mut written = known();
    written["linker-cache"] = json!(inode(77).to_string());
    written["linker-cache-sum"] = json!(LinkerCacheSum::of(&cache).to_string());
    let doubt = Err((Doubt::LinkerCache, None));
    let image = Identity {
        changed: (0, 0),
        ..LIBRARY
    };
    for (now, expected) in [
        (&cache, Ok(())),
        (&with_cache(inode(78), "cache"), Ok(())),
        (&with_cache(image, "cache"), Ok(())),
        (&with_cache(inode(78), "other"), doubt),
        (&with_cache(image, "other"), doubt),
        (&One::then(), doubt),
    ] {
        assert_eq!(now.check(&written), expected);
    }
    // A driver that is named by its path and needs no other library does not depend on the linker's cache.
    written["drivers"][0]["files"] = json!([]);
    assert_eq!(One::then().check(&written), Ok(()));
    // A name without a folder depends on the linker's cache, even if there never was a cache.
    written["drivers"][0]["library"]["named"] = json!("libvulkan_radeon.so");
    assert_eq!(cache.check(&written), Ok(()));
    assert_eq!(One::then().check(&written), doubt);
    written["linker-cache"] = json!("");
    assert_eq!(One::then().check(&written), doubt);
}

/// The dynamic linker does not replace `$ORIGIN` at the beginning of a longer word, for example in `$ORIGINAL`.
#[test]
fn a_longer_word_than_origin_is_not_replaced() {
    let other = One::then().with("/game/bin/lib/libdrm.so.2", inode(30));
    assert_eq!(other.clone().search("$ORIGIN/lib").check(&known()), SHADOWED);
    // `$ORIGINAL` is an ordinary name, but `$PLATFORM` has a value that only the dynamic linker knows, so the search cannot be predicted.
    assert_eq!(other.search("$ORIGINAL/lib").check(&known()), SHADOWED);
}

/// A folder that cannot be opened now may contain any library.
#[test]
fn a_process_without_a_free_descriptor_opens_the_driver_if_a_folder_is_searched() {
    let full = |search| One {
        is_full: true,
        ..One::then().with("/other/libm.so.6", inode(99)).search(search)
    };
    assert_eq!(full("").check(&known()), Ok(()));
    assert_eq!(full("/empty").check(&known()), Ok(()));
    assert_eq!(full("/other").check(&known()), SHADOWED);
}

/// If the linker found a file of the driver through `LD_LIBRARY_PATH` when the driver was asked, the linker does not find that file in a
/// process without the variable.
#[test]
fn a_file_that_the_variable_led_to_must_be_found_in_the_process() {
    let mut searched = known();
    searched["files"][0] = json!(["/lib/libdrm.so.2", inode(20).to_string(), "libdrm.so.2", "", "path"]);
    for (search, expected) in [
        ("", SHADOWED),
        ("/other", SHADOWED),
        ("/lib", Ok(())),
        ("/other:/lib", Ok(())),
    ] {
        let one = One::then().with("/other/libm.so.6", inode(99)).search(search);
        assert_eq!(one.check(&searched), expected, "{search}");
    }
    // If the process has loaded a library of the requested name, the linker uses it, no matter what the variable contains.
    let loaded = One::then().object("/lib/libdrm.so.2", "libdrm.so.2", "");
    assert_eq!(loaded.check(&searched), Ok(()));
    let moved = One::then().with("/other/libdrm.so.2", inode(20)).search("/other");
    assert_eq!(moved.check(&searched), Ok(()), "a link to the same file");
}
