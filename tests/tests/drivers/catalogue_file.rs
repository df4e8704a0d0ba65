//! Writes catalogue files for scenes, and tests that the loader ignores invalid catalogue files.

use ::catalogue::{ARCHITECTURE, Fingerprint, Identity, Look, MOST_BYTES, SCHEMA, boot_text, pack, unpack};
use loader_tests::{Scene, case};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

/// Time at which the drivers of the catalogue were asked: 2026-11-22 18:05 UTC.
const ASKED: u64 = 1_795_370_700;

/// Entry of a driver in a catalogue.
pub(crate) struct Entry {
    driver: &'static str,
    members: Value,
}

impl Entry {
    /// Returns the entry of a driver that answered, has no extensions and no devices, and whose hardware is unknown.
    pub(crate) fn new(driver: &'static str) -> Self {
        let members = json!({"asked": ASKED, "outcome": "answered", "hardware": "unknown", "extensions": [], "devices": [], "files": []});
        Self { driver, members }
    }

    /// Returns this entry with the additional member `name`.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.members[name] = value;
        self
    }

    pub(crate) fn offers(self, names: &[&str]) -> Self {
        let listed = names.iter().map(|name| json!(format!("{name} 1"))).collect();
        self.with("extensions", listed)
    }

    pub(crate) fn devices(self, count: usize) -> Self {
        self.with("devices", vec![json!({}); count].into())
    }

    pub(crate) fn without_devices(self) -> Self {
        self.with("devices", Value::Null)
    }

    pub(crate) fn hardware(self, word: &str) -> Self {
        self.with("hardware", word.into())
    }

    pub(crate) fn failed(self, code: i32) -> Self {
        self.with("outcome", "failed".into()).with("code", code.into())
    }

    pub(crate) fn crashed(self, signal: u32) -> Self {
        self.with("outcome", "crashed".into())
            .with("signal", signal.into())
            .with("extensions", Value::Null)
    }

    pub(crate) fn hung(self, seconds: u32) -> Self {
        self.with("outcome", "hung".into())
            .with("seconds", seconds.into())
            .with("extensions", Value::Null)
    }

    fn json(&self, scene: &Scene) -> Value {
        let library = scene.library(self.driver).display().to_string();
        let mut all = self.members.clone();
        all["manifest"] = json!({"path": scene.manifest(self.driver).display().to_string()});
        all["library"] = json!({"named": library, "path": library, "identity": identity(library.as_ref())});
        all
    }
}

/// Returns the identity of a file as text, as a catalogue contains it.
pub(crate) fn identity(path: &Path) -> String {
    let found = fs::metadata(path).expect("it is there");
    let identity = Identity {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    };
    identity.to_string()
}

/// Reads the files and folders in which the kernel describes this machine.
struct Here;

impl Look for Here {
    fn names(&self, folder: &[u8], take: &mut dyn FnMut(&[u8])) -> bool {
        let entries = fs::read_dir(OsStr::from_bytes(folder)).into_iter().flatten().flatten();
        entries.for_each(|entry| take(entry.file_name().as_bytes()));
        true
    }

    fn link(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
        if let Ok(target) = fs::read_link(OsStr::from_bytes(path)) {
            take(target.as_os_str().as_bytes());
        }
    }

    fn text(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
        if let Ok(text) = fs::read(OsStr::from_bytes(path)) {
            take(&text);
        }
    }

    fn device_number(&self, path: &[u8]) -> Option<u64> {
        let found = fs::metadata(OsStr::from_bytes(path)).ok()?;
        Some(found.rdev())
    }
}

/// Enables the catalogue and all log lines. The loader then searches for the catalogue in a cache folder of the scene.
pub(crate) fn prepare(scene: &mut Scene) {
    let caches = scene.path("cache");
    scene
        .env("XDG_CACHE_HOME", caches)
        .env("VK_LOADER_CATALOGUE", "on")
        .env("VK_LOADER_DEBUG", "all");
    scene.run(|_| ()).ok();
}

/// Returns the path of the user's own catalogue.
pub(crate) fn path(scene: &Scene) -> PathBuf {
    in_folder(&scene.path("cache/vulkan-loader"))
}

/// Returns the path of the catalogue file in `folder`, a folder that contains catalogues.
pub(crate) fn in_folder(folder: &Path) -> PathBuf {
    folder.join(format!("catalogue-{ARCHITECTURE}.bin"))
}

/// Replaces words in all texts of a catalogue.
pub(crate) fn replace_text(path: &Path, words: &[(&str, &str)]) {
    let known = unpack(&fs::read(path).expect("it was written")).expect("a catalogue");
    let replace = |text: String, (old, new): &(&str, &str)| text.replace(old, new);
    let text = words.iter().fold(known.to_string(), replace);
    let known: Value = serde_json::from_str(&text).expect("it is JSON");
    // Overwriting the file keeps its permissions: only its owner can write it, as the loader requires.
    fs::write(path, pack(&known)).expect("it can be written");
}

/// Writes a catalogue file with the content that `change` returns for a catalogue without drivers.
pub(crate) fn write_changed(scene: &Scene, change: impl FnOnce(Value) -> Vec<u8>) {
    write(scene, &[]);
    scene.on_disk(|| {
        let known = unpack(&fs::read(path(scene)).expect("it was written")).expect("a catalogue");
        put(scene, change(known));
    });
}

/// Writes a catalogue with entries for drivers of a scene.
pub(crate) fn write(scene: &Scene, entries: &[Entry]) {
    write_with(scene, entries, |_| ());
}

/// Writes a catalogue with the given entries, after `change` has edited the whole catalogue.
pub(crate) fn write_with(scene: &Scene, entries: &[Entry], change: impl FnOnce(&mut Value)) {
    write_at(scene, &path(scene), entries, change);
}

/// Writes the catalogue to another path. The fingerprint of the machine contains the graphics cards that `change` adds. Unless `change` sets a
/// fingerprint or the text of another boot, the drivers were asked on this machine after its last boot.
pub(crate) fn write_at(scene: &Scene, path: &Path, entries: &[Entry], change: impl FnOnce(&mut Value)) {
    scene.on_disk(|| {
        let mut known = json!({
            "schema": SCHEMA, "loader": env!("CARGO_PKG_VERSION"), "architecture": ARCHITECTURE, "made": ASKED,
            "linker-cache": "", "variables": [], "files": [],
            "machine": {"cards": []},
            "drivers": entries.iter().map(|entry| entry.json(scene)).collect::<Vec<_>>()
        });
        change(&mut known);
        let machine = &mut known["machine"];
        if machine["fingerprint"].is_null() {
            let cards = machine["cards"].as_array().into_iter().flatten();
            let places = cards.filter_map(|card| Some(card["address"].as_str()?.as_bytes()));
            let fingerprint = Fingerprint::of(&Here, places.clone()).to_string();
            let devices = Fingerprint::of_devices(&Here, places).to_string();
            machine["fingerprint"] = fingerprint.into();
            machine["devices"] = devices.into();
            if machine["boot"].is_null() {
                boot_text(&Here, &mut |text| {
                    machine["boot"] = String::from_utf8_lossy(text).into()
                });
            }
        }
        put_at(path, pack(&known));
    });
}

/// Writes the user's own catalogue, and replaces an existing file or folder.
fn put(scene: &Scene, text: impl AsRef<[u8]>) {
    put_at(&path(scene), text);
}

fn put_at(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    let _ = fs::remove_file(path);
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, Permissions::from_mode(0o644)).expect("the owner may");
}

fn scene_of_one(scene: &mut Scene) {
    scene.driver("one").extension("VK_KHR_surface").device("gpu");
    prepare(scene);
}

fn entries() -> [Entry; 1] {
    [Entry::new("one").offers(&["VK_KHR_display"]).devices(1)]
}

/// Returns `true` if the loader answers a query from the catalogue. Checks that a log line contains `words`.
fn believes(scene: &mut Scene, words: &str) -> bool {
    let outcome = scene.run(|vk| {
        vk.say("first", &vk.extensions().expect("the query succeeds")[0]);
    });
    let outcome = outcome.ok();
    assert!(outcome.stderr.contains(words), "no `{words}`\n{}", outcome.all());
    outcome.said("first") == ["VK_KHR_display"]
}

/// The loader ignores a catalogue of another schema, loader or architecture, and an invalid file (DRV-269).
#[test]
fn other_files_are_ignored_with_a_reason() {
    case(|scene| {
        scene_of_one(scene);
        write(scene, &entries());
        assert!(believes(scene, ""));
        for (member, value, words) in [
            ("schema", json!(1), "it has the form of another version"),
            ("schema", json!(SCHEMA - 1), "it has the form of another version"),
            ("loader", json!("1.0.0"), "it is of another loader"),
            (
                "architecture",
                json!("vax"),
                "it is not a whole catalogue of this architecture",
            ),
            ("drivers", json!({}), "it is not a whole catalogue of this architecture"),
            (
                "drivers",
                json!(vec![0; 100_000]),
                "it is not a whole catalogue of this architecture",
            ),
        ] {
            write_with(scene, &entries(), |known| known[member] = value);
            assert!(!believes(scene, words), "{member}");
        }
        for text in ["", "{", r#"{"schema": 3}"#, "VKLCATLG"] {
            scene.on_disk(|| put(scene, text));
            assert!(!believes(scene, "catalogue"), "{text}");
        }
        let mut large = vec![b' '; usize::try_from(MOST_BYTES).expect("small")];
        large.extend_from_slice(b"{}");
        scene.on_disk(|| put(scene, &large));
        assert!(!believes(scene, "catalogue"));
    });
}

/// The loader ignores a file that lacks bytes at its end or has additional bytes (DRV-269).
#[test]
fn a_part_of_a_file_is_ignored() {
    case(|scene| {
        scene_of_one(scene);
        let changes: [fn(&mut Vec<u8>); 5] = [
            |content| content.truncate(8),
            |content| content.truncate(24),
            |content| content.truncate(content.len() / 2),
            |content| content.truncate(content.len() - 1),
            |content| content.push(b'x'),
        ];
        for (number, change) in changes.iter().enumerate() {
            write(scene, &entries());
            scene.on_disk(|| {
                let mut content = fs::read(path(scene)).expect("it was written");
                change(&mut content);
                put(scene, content);
            });
            assert!(!believes(scene, "catalogue"), "{number}");
        }
        write(scene, &entries());
        assert!(believes(scene, ""));
    });
}

/// The loader ignores a catalogue that another user owns or can write to. The loader also ignores a path that is not a regular file, for
/// example a link.
#[test]
fn files_of_others_are_ignored_with_a_reason() {
    case(|scene| {
        scene_of_one(scene);
        for mode in [0o664, 0o646] {
            write(scene, &entries());
            scene.on_disk(|| fs::set_permissions(path(scene), Permissions::from_mode(mode)).expect("the owner may"));
            assert!(
                !believes(scene, "it belongs to another user, or others may write to it"),
                "{mode:o}"
            );
        }
        write(scene, &entries());
        // Only the superuser can change the owner of a file.
        scene.on_disk(|| {
            if chown(path(scene), Some(65534), None).is_err() {
                fs::set_permissions(path(scene), Permissions::from_mode(0o666)).expect("the owner may");
            }
        });
        assert!(!believes(
            scene,
            "it belongs to another user, or others may write to it"
        ));
        write(scene, &entries());
        scene.on_disk(|| {
            let moved = scene.path("cache/moved.json");
            fs::rename(path(scene), &moved).expect("a rename");
            symlink(&moved, path(scene)).expect("a link");
        });
        assert!(!believes(scene, "catalogue"));
        scene.on_disk(|| {
            fs::remove_file(path(scene)).expect("a link");
            fs::create_dir(path(scene)).expect("a folder");
        });
        assert!(!believes(scene, "catalogue"));
    });
}

/// The loader ignores invalid entries of a catalogue.
#[test]
fn odd_entries_do_not_count() {
    case(|scene| {
        scene_of_one(scene);
        for (member, value) in [
            ("extensions", json!(null)),
            ("extensions", json!(["VK_KHR_display"])),
            ("extensions", json!([format!("{} 1", "x".repeat(300))])),
            ("extensions", json!(vec!["VK_KHR_display 1"; 2000])),
            ("outcome", json!("maybe")),
            ("library", json!("/x")),
        ] {
            write_with(scene, &entries(), |known| known["drivers"][0][member] = value.clone());
            assert!(!believes(scene, ""), "{member} {value:.60}");
        }
    });
}
