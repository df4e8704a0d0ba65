//! Tests of the scan cache: a query can use the result of an earlier search, and must notice every change of files and variables (LAY-24,
//! DRV-7, APP-216, APP-243).
//!
//! The library does not store the state of a file that changed less than two seconds before it was read, so each test waits first.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::SystemTime;

use loader_tests::vk::{Messages, Vk, isolated};
use loader_tests::{Scene, case, settle, symlink};

use crate::kit::{EXPLICIT, IMPLICIT, Layer, place};

const SETTINGS: &str = "xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json";

/// Returns the number of system calls in which this process has read files.
fn reads() -> u64 {
    let text = fs::read_to_string("/proc/self/io").expect("the system counts calls");
    let line = text.lines().find_map(|line| line.strip_prefix("syscr: "));
    line.and_then(|number| number.parse().ok()).expect("calls of read")
}

/// Returns the number of system calls in which `work` reads files.
pub(crate) fn reads_of(mut work: impl FnMut()) -> u64 {
    let counted = |work: &mut dyn FnMut()| {
        let before = reads();
        work();
        reads() - before
    };
    let idle = counted(&mut || {});
    counted(&mut work) - idle
}

fn layers(vk: &Vk) -> Vec<String> {
    vk.layers().expect("layers")
}

/// Prepares a scene whose children have no log, with one explicit layer `a`.
fn quiet(scene: &mut Scene) {
    scene.unset("VK_LOADER_DEBUG");
    place(scene, &[Layer::explicit("a").folder(EXPLICIT)]);
}

/// Returns the path of the manifest of layer `a`. Also returns a function that returns the manifest's text with a different last letter in
/// the layer's name.
fn manifest(vk: &Vk) -> (PathBuf, impl Fn(char) -> String) {
    let path = vk.path(EXPLICIT).join("a.json");
    let text = fs::read_to_string(&path).expect("the manifest is there");
    (path, move |letter: char| {
        text.replace("VK_LAYER_a", &format!("VK_LAYER_{letter}"))
    })
}

/// Sets the modification time of a file.
fn set_modified(path: &Path, time: SystemTime) {
    let file = fs::File::options().write(true).open(path).expect("the file opens");
    file.set_modified(time).expect("times can be set");
}

/// LAY-24, DRV-7: queries do not read unchanged files again. Instance creation after queries does not read these files again either.
#[test]
fn lay_24_what_is_unchanged_is_not_read_again() {
    case(|scene| {
        quiet(scene);
        scene
            .driver("d")
            .device("one")
            .extension("VK_KHR_surface")
            .folder("xdg/data-home/vulkan/icd.d");
        scene.unset("VK_DRIVER_FILES");
        let outcome = scene.run(|vk| {
            settle();
            assert!(reads_of(|| drop(layers(vk))) > 0);
            assert_eq!(reads_of(|| assert_eq!(layers(vk), ["VK_LAYER_a"])), 0);
            let listed = || vk.extensions().expect("extensions").contains(&"VK_KHR_surface".into());
            assert!(reads_of(|| assert!(listed())) > 0);
            // Counts the reads of the mock driver, because the loader itself does not read the unchanged files again.
            let own = reads_of(|| assert!(listed()));
            fs::write(vk.path("xdg/data-home/vulkan/icd.d/e.json"), "{}").expect("files can be written");
            assert!(reads_of(|| assert!(listed())) > own);
            drop(vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance"));
        });
        outcome.ok();
    });
}

/// LAY-24, DRV-7: if the total size of driver manifests is large, the loader reads them again each time, even if each manifest is small.
#[test]
fn drv_7_large_lists_of_driver_manifests_are_read_again() {
    const FOLDER: &str = "xdg/data-home/vulkan/icd.d";
    case(|scene| {
        scene.unset("VK_LOADER_DEBUG").unset("VK_DRIVER_FILES");
        scene.driver("d").device("one").folder(FOLDER);
        let outcome = scene.run(|vk| {
            let query = || drop(vk.extensions().expect("extensions"));
            settle();
            query();
            // Counts the reads of the mock driver, because the loader itself does not read the unchanged files again.
            let own = reads_of(query);
            for (bytes, remembered) in [(100_000, true), (400_000, true), (600_000, false)] {
                let text = format!("{{}}{}", " ".repeat(bytes));
                for name in ["e.json", "f.json"] {
                    fs::write(vk.path(FOLDER).join(name), &text).expect("files can be written");
                }
                settle();
                assert!(reads_of(query) > own, "{bytes} bytes each are read");
                assert_eq!(reads_of(query) == own, remembered, "{bytes} bytes each");
            }
        });
        outcome.ok();
    });
}

/// DRV-97, DRV-98, DRV-7: queries include portability drivers, and instances include them only on request. The order of the calls does not
/// matter.
#[test]
fn drv_98_portability_drivers_are_remembered_and_left_out() {
    case(|scene| {
        scene.unset("VK_LOADER_DEBUG");
        scene.driver("plain").device("one");
        scene
            .driver("portable")
            .device("two")
            .extension("VK_KHR_surface")
            .manifest_members(r#""is_portability_driver": true"#);
        let outcome = scene.run(|vk| {
            settle();
            for _ in 0..2 {
                let listed = vk.extensions().expect("extensions");
                assert!(listed.contains(&"VK_KHR_surface".into()));
                assert_eq!(vk.instance().device_names(), ["one"]);
                let spec = vk.spec().extensions(&["VK_KHR_portability_enumeration"]).flags(1);
                let both = spec.create().expect("vkCreateInstance");
                assert_eq!(both.device_names().len(), 2);
            }
        });
        outcome.ok();
    });
}

/// LAY-24: the loader notices a change of a file even if the size remains the same, and the file changes immediately after the loader read
/// it.
#[test]
fn lay_24_a_manifest_rewritten_in_place_is_seen_at_once() {
    case(|scene| {
        quiet(scene);
        let outcome = scene.run(|vk| {
            let (path, text) = manifest(vk);
            settle();
            for letter in ('a'..='z').chain('a'..='z') {
                fs::write(&path, text(letter)).expect("files can be written");
                assert_eq!(layers(vk), [format!("VK_LAYER_{letter}")]);
                assert_eq!(layers(vk), [format!("VK_LAYER_{letter}")]);
            }
            settle();
            assert_eq!(layers(vk), ["VK_LAYER_z"]);
            fs::write(&path, text('y')).expect("files can be written");
            assert_eq!(layers(vk), ["VK_LAYER_y"]);
            drop(vk.spec().layer("VK_LAYER_y").create().expect("vkCreateInstance"));
        });
        outcome.ok();
    });
}

/// LAY-24: the loader notices a change of a file even if the size and the modification time remain the same.
#[test]
fn lay_24_a_manifest_with_the_time_of_the_old_one_is_seen() {
    case(|scene| {
        quiet(scene);
        let outcome = scene.run(|vk| {
            let (path, text) = manifest(vk);
            settle();
            let old = fs::metadata(&path).expect("the manifest is there");
            let time = old.modified().expect("times");
            assert_eq!(
                (layers(vk), layers(vk)),
                (vec!["VK_LAYER_a".into()], vec!["VK_LAYER_a".into()])
            );
            fs::write(&path, text('b')).expect("files can be written");
            set_modified(&path, time);
            assert_eq!(layers(vk), ["VK_LAYER_b"]);

            // The path now leads to another file, with the same size and modification time.
            settle();
            assert_eq!(
                (layers(vk), layers(vk)),
                (vec!["VK_LAYER_b".into()], vec!["VK_LAYER_b".into()])
            );
            let other = vk.path("other");
            fs::write(&other, text('c')).expect("files can be written");
            set_modified(&other, time);
            fs::rename(&other, &path).expect("files can be renamed");
            let new = fs::metadata(&path).expect("the manifest is there");
            assert_eq!((new.len(), new.modified().ok()), (old.len(), old.modified().ok()));
            assert_eq!(layers(vk), ["VK_LAYER_c"]);
        });
        outcome.ok();
    });
}

/// LAY-24, BI-8: the loader notices changes if folders contain more or fewer files, or appear and disappear, and if a file becomes a folder
/// or a link.
#[test]
fn lay_24_folders_that_change_are_seen() {
    case(|scene| {
        quiet(scene);
        let outcome = scene.run(|vk| {
            let (path, text) = manifest(vk);
            let folder = vk.path(EXPLICIT);
            settle();
            assert_eq!((layers(vk).len(), layers(vk).len()), (1, 1));
            fs::write(folder.join("b.json"), text('b')).expect("files can be written");
            assert_eq!(layers(vk), ["VK_LAYER_a", "VK_LAYER_b"]);
            settle();
            assert_eq!((layers(vk).len(), layers(vk).len()), (2, 2));
            fs::remove_file(&path).expect("files can be removed");
            assert_eq!(layers(vk), ["VK_LAYER_b"]);
            settle();
            assert_eq!((layers(vk).len(), layers(vk).len()), (1, 1));
            let away = vk.path("away");
            fs::rename(&folder, &away).expect("folders can be renamed");
            assert!(layers(vk).is_empty() && layers(vk).is_empty());
            fs::rename(&away, &folder).expect("folders can be renamed");
            assert_eq!((layers(vk).len(), layers(vk).len()), (1, 1));
            fs::remove_file(folder.join("b.json")).expect("files can be removed");
            let made = Command::new("mkfifo").arg(folder.join("b.json")).status();
            assert!(made.expect("mkfifo runs").success());
            assert!(layers(vk).is_empty());
        });
        outcome.ok();
    });
}

/// LAY-24, DRV-13: the loader notices a changed target of a link, for a manifest and for its folder.
#[test]
fn lay_24_links_that_lead_elsewhere_are_seen() {
    case(|scene| {
        quiet(scene);
        let outcome = scene.run(|vk| {
            let (path, text) = manifest(vk);
            let targets = ['x', 'y'].map(|letter| {
                let folder = vk.path(&format!("target_{letter}"));
                fs::create_dir(&folder).expect("folders can be made");
                fs::write(folder.join("file"), text(letter)).expect("files can be written");
                fs::write(folder.join("in.json"), text(letter)).expect("files can be written");
                folder
            });
            let point = |link: &Path, target: &Path| {
                drop(fs::remove_file(link));
                symlink(target, link).expect("links can be made");
            };
            point(&path, &targets[0].join("file"));
            settle();
            assert_eq!(
                (layers(vk), layers(vk)),
                (vec!["VK_LAYER_x".into()], vec!["VK_LAYER_x".into()])
            );
            point(&path, &targets[1].join("file"));
            assert_eq!(layers(vk), ["VK_LAYER_y"]);

            let link = vk.path("link");
            point(&link, &targets[0]);
            vk.set_env("VK_LAYER_PATH", link.to_str());
            settle();
            assert_eq!(
                (layers(vk), layers(vk)),
                (vec!["VK_LAYER_x".into()], vec!["VK_LAYER_x".into()])
            );
            point(&link, &targets[1]);
            assert_eq!(layers(vk), ["VK_LAYER_y"]);
        });
        outcome.ok();
    });
}

/// APP-216, LAY-67: the loader notices changes of its own variables and of the variables of layers.
#[test]
fn app_216_variables_that_change_are_seen() {
    case(|scene| {
        quiet(scene);
        let extension = r#"[{"name": "VK_EXT_debug_marker_of_a_layer", "spec_version": "2"}]"#;
        place(
            scene,
            &[Layer::implicit("i")
                .folder(IMPLICIT)
                .member("instance_extensions", extension)],
        );
        scene.driver("d").device("one");
        let outcome = scene.run(|vk| {
            let added = || {
                let listed = vk.extensions().expect("extensions");
                listed.contains(&"VK_EXT_debug_marker_of_a_layer".into())
            };
            settle();
            assert_eq!((layers(vk).len(), layers(vk).len()), (2, 2));
            assert!(added() && added());
            vk.set_env("DISABLE_i", Some("1"));
            assert!(!added() && !added());
            vk.set_env("DISABLE_i", None);
            assert!(added() && added());
            vk.set_env("VK_LOADER_LAYERS_DISABLE", Some("*_a"));
            assert_eq!(layers(vk), ["VK_LAYER_i"]);
            vk.set_env("VK_LOADER_LAYERS_DISABLE", Some("*_i"));
            assert_eq!(layers(vk), ["VK_LAYER_a"]);
            assert!(!added());
            vk.set_env("VK_LOADER_LAYERS_DISABLE", None);
            vk.set_env("VK_LAYER_PATH", Some("/nowhere"));
            assert_eq!(layers(vk), ["VK_LAYER_i"]);
            vk.set_env("VK_LOADER_DRIVERS_DISABLE", Some("*"));
            assert!(added());
            assert!(vk.spec().create().is_err(), "without drivers there is no instance");
        });
        outcome.ok();
    });
}

/// APP-216, DRV-7: the loader notices changes in variables that add folders of layers and drivers, and in variables that add only folders
/// of drivers.
#[test]
fn app_216_variables_of_places_that_change_are_seen() {
    case(|scene| {
        scene.unset("VK_LOADER_DEBUG").unset("VK_DRIVER_FILES");
        let drivers = [
            ("a", "VK_KHR_surface", "xdg/data-home"),
            ("b", "VK_KHR_display", "other"),
        ];
        for (name, extension, base) in drivers {
            let driver = scene.driver(name).extension(extension);
            driver.folder(&format!("{base}/vulkan/icd.d"));
        }
        let outcome = scene.run(|vk| {
            let offered = || {
                let listed = vk.extensions().expect("extensions");
                drivers.map(|(_, extension, _)| listed.contains(&extension.into()))
            };
            let folders = drivers.map(|(.., base)| vk.path(base).into_os_string().into_string().expect("plain"));
            let manifest = format!("{}/vulkan/icd.d/b.json", folders[1]);
            settle();
            for _ in 0..2 {
                assert_eq!([offered(), offered()], [[true, false]; 2]);
                vk.set_env("XDG_DATA_HOME", Some(&folders[1]));
                assert_eq!([offered(), offered()], [[false, true]; 2]);
                vk.set_env("XDG_DATA_HOME", Some(&folders[0]));
                assert_eq!([offered(), offered()], [[true, false]; 2]);
                vk.set_env("VK_ADD_DRIVER_FILES", Some(&manifest));
                assert_eq!([offered(), offered()], [[true, true]; 2]);
                vk.set_env("VK_ADD_DRIVER_FILES", None);
            }
        });
        outcome.ok();
    });
}

/// APP-243: the loader notices when the settings file appears, changes or disappears.
#[test]
fn app_243_settings_that_change_are_seen() {
    case(|scene| {
        quiet(scene);
        scene.driver("d").device("one");
        let outcome = scene.run(|vk| {
            let (manifest, _) = manifest(vk);
            let path = vk.path(SETTINGS);
            let write = |control: &str| {
                let entry = format!(
                    r#"{{"name": "VK_LAYER_a", "path": "{}", "control": "{control}"}}"#,
                    manifest.display()
                );
                let text = format!(r#"{{"file_format_version": "1.0.0", "settings": {{"layers": [{entry}]}}}}"#);
                fs::write(&path, text).expect("files can be written");
            };
            settle();
            assert_eq!((layers(vk).len(), layers(vk).len()), (1, 1));
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders can be made");
            write("off");
            assert!(layers(vk).is_empty() && layers(vk).is_empty());
            settle();
            assert!(layers(vk).is_empty() && layers(vk).is_empty());
            write("on");
            assert_eq!((layers(vk).len(), layers(vk).len()), (1, 1));
            fs::remove_file(&path).expect("files can be removed");
            assert_eq!((layers(vk).len(), layers(vk).len()), (1, 1));
        });
        outcome.ok();
    });
}

/// DRV-7: later queries notice changes of driver manifests, and so does the instance creation after them.
#[test]
fn drv_7_driver_manifests_that_change_are_seen() {
    case(|scene| {
        scene.unset("VK_LOADER_DEBUG");
        scene.driver("a").device("one").extension("VK_KHR_surface");
        scene.driver("b").device("two").extension("VK_KHR_display").unlisted();
        let outcome = scene.run(|vk| {
            let path = vk.path("drivers/a.json");
            let (a, b) = (
                fs::read_to_string(&path).expect("the manifest is there"),
                fs::read_to_string(vk.path("drivers/b.json")).expect("the manifest is there"),
            );
            assert_eq!(a.len(), b.len());
            let offers = |name: &str| vk.extensions().expect("extensions").contains(&name.into());
            settle();
            assert!(offers("VK_KHR_surface") && offers("VK_KHR_surface"));
            fs::write(&path, b).expect("files can be written");
            assert!(offers("VK_KHR_display") && !offers("VK_KHR_surface"));
            assert_eq!(vk.instance().device_names(), ["two"]);
            settle();
            assert!(offers("VK_KHR_display") && offers("VK_KHR_display"));
            fs::write(&path, a).expect("files can be written");
            assert_eq!(vk.instance().device_names(), ["one"]);
        });
        outcome.ok();
    });
}

/// APP-194, LAY-24: a messenger receives messages about every file, although earlier calls have read the files.
#[test]
fn lay_24_a_listener_hears_of_every_file() {
    case(|scene| {
        quiet(scene);
        scene.driver("d").device("one");
        let outcome = scene.run(|vk| {
            settle();
            assert_eq!((layers(vk).len(), layers(vk).len()), (1, 1));
            assert!(vk.extensions().is_ok() && vk.extensions().is_ok());
            let told = || {
                let messages = Messages::default();
                let info = messages.create_info();
                let spec = vk.spec().extensions(&["VK_EXT_debug_utils"]).next(&info);
                drop(spec.create().expect("vkCreateInstance"));
                messages
                    .all()
                    .into_iter()
                    .map(|message| message.text)
                    .collect::<Vec<_>>()
            };
            let first = told();
            assert!(
                first
                    .iter()
                    .any(|text| text.contains("Found manifest file") && text.contains("a.json"))
            );
            assert!(first.iter().any(|text| text.contains("Found ICD manifest file")));
            assert_eq!(layers(vk).len(), 1);
            assert_eq!(told(), first);
        });
        outcome.ok();
    });
}

/// LAY-24, APP-273: several threads and a forked process use the scan cache.
#[test]
fn lay_24_threads_and_copies_of_the_process() {
    case(|scene| {
        quiet(scene);
        let outcome = scene.run(|vk| {
            let (path, text) = manifest(vk);
            settle();
            assert_eq!((layers(vk).len(), layers(vk).len()), (1, 1));
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..200).for_each(|_| assert!(layers(vk).len() <= 1)));
                }
                for letter in 'a'..='z' {
                    fs::write(vk.path("next"), text(letter)).expect("files can be written");
                    fs::rename(vk.path("next"), &path).expect("files can be renamed");
                }
            });
            assert_eq!(layers(vk), ["VK_LAYER_z"]);
            settle();
            assert_eq!((layers(vk).len(), layers(vk).len()), (1, 1));
            let ending = isolated(|| {
                assert_eq!(layers(vk), ["VK_LAYER_z"]);
                fs::write(&path, text('y')).expect("files can be written");
                assert_eq!(layers(vk), ["VK_LAYER_y"]);
            });
            assert_eq!((ending.signal, ending.stderr.as_str()), (0, ""));
            assert_eq!(layers(vk), ["VK_LAYER_y"]);
        });
        outcome.ok();
    });
}
