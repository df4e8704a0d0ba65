//! Tests of a driver in a file-system image whose file times are meaningless (docs/catalogue.md). For files of this image, the build ID
//! identifies the driver.

use super::catalogue_file::{self as file, Entry};
use loader_tests::{Scene, case, skip};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted image, which is unmounted when the value is dropped.
struct Mounted(PathBuf);

impl Mounted {
    /// Makes an image of a folder, and mounts the image. All file times are 1, as in a reproducible image.
    fn of(folder: &Path, image: &Path, place: &Path) -> Result<Self, String> {
        let run = |command: &mut Command| match command.output() {
            Ok(done) if done.status.success() => Ok(()),
            Ok(done) => Err(String::from_utf8_lossy(&done.stderr).trim().to_string()),
            Err(error) => Err(format!("{}: {error}", command.get_program().display())),
        };
        run(Command::new("mkfs.erofs").arg("-T1").arg(image).arg(folder))?;
        run(Command::new("mount")
            .args(["-t", "erofs", "-o", "loop,ro"])
            .arg(image)
            .arg(place))?;
        Ok(Self(place.into()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let done = Command::new("umount").arg(&self.0).status();
        if !done.is_ok_and(|status| status.success()) {
            eprintln!("{} is still mounted", self.0.display());
        }
    }
}

/// Returns `true` if the loader uses a catalogue entry with this build ID for a driver in the image. The entry lists another extension than
/// the driver, so a query shows whether the loader uses the entry. Also checks that the log contains `words`.
fn counts(scene: &mut Scene, build_id: Option<&str>, words: &str) -> bool {
    file::write_with(
        scene,
        &[Entry::new("one").offers(&["VK_KHR_display"]).devices(1)],
        |known| {
            if let Some(id) = build_id {
                known["drivers"][0]["library"]["build-id"] = id.into();
            }
        },
    );
    let outcome = scene.run(|vk| vk.say("first", &vk.extensions().expect("the query succeeds")[0]));
    let outcome = outcome.ok();
    assert!(outcome.stderr.contains(words), "no `{words}`\n{}", outcome.all());
    outcome.said("first") == ["VK_KHR_display"]
}

/// Returns the build ID of a library, in the form that `readelf` prints it.
fn build_id(library: &Path) -> String {
    let done = Command::new("readelf")
        .arg("-nW")
        .arg(library)
        .output()
        .expect("readelf");
    let text = String::from_utf8(done.stdout).expect("text");
    let id = text
        .split("Build ID: ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next());
    id.expect("the linker of the tests writes one").into()
}

/// If the catalogue entry and the driver's library have a build ID, only the build ID decides whether the loader uses the entry.
#[test]
fn a_driver_without_times_counts_by_its_build_id() {
    case(|scene| {
        scene.driver("one").extension("VK_KHR_surface").device("gpu");
        file::prepare(scene);
        let library = scene.library("one");
        let mut mounted = None;
        let mut problem = None;
        scene.on_disk(|| {
            let inside = scene.folder("inside");
            fs::copy(&library, inside.join("one.so")).expect("a copy");
            let place = scene.folder("image");
            match Mounted::of(&inside, &scene.path("image.erofs"), &place) {
                Ok(image) => mounted = Some(image),
                Err(reason) => return problem = Some(reason),
            }
            fs::remove_file(&library).expect("the copy is there");
            symlink(place.join("one.so"), &library).expect("a link");
            assert_eq!(fs::metadata(&library).expect("mounted").ctime(), 1);
        });
        if let Some(reason) = problem {
            return skip(&format!("no image of a file system can be mounted: {reason}"));
        }
        let id = build_id(&library);
        assert!(counts(scene, Some(&id), "its extensions are in the driver catalogue"));
        let other = format!("{}{}", if id.starts_with('0') { '1' } else { '0' }, &id[1..]);
        assert!(!counts(scene, Some(&other), "libmock_one.so has changed"));
        assert!(!counts(scene, Some(&id[2..]), "libmock_one.so has changed"));
        assert!(!counts(scene, Some(""), "has times that prove nothing"));
        assert!(!counts(scene, None, "has times that prove nothing"));
        drop(mounted);
    });
}
