//! Tests of programs that read a driver catalogue during an update, a hostile catalogue, or an outdated catalogue.

use super::apart::Apart;
use super::catalogue::{LISTED, both, opened, query, scene_of_two};
use super::catalogue_file::{self as file, Entry};
use super::catalogue_machine::{OWN, system_file};
use ::catalogue::{pack, unpack};
use loader_tests::vk::isolated;
use loader_tests::{Outcome, Scene, Scratch, case, processor_time};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Number of programs that run at the same time.
const PROGRAMS: usize = 10;
/// Number of queries in each program.
const TIMES: usize = 20;
/// Extensions in the first catalogue, in the second catalogue, and in the driver itself.
const LISTS: [[&str; 2]; 3] = [
    ["VK_KHR_display", "VK_KHR_surface"],
    ["VK_KHR_surface", "VK_KHR_display"],
    ["VK_KHR_surface", "VK_EXT_swapchain_colorspace"],
];

/// Runs ten programs at a time, while `replace` installs two catalogues alternately. The catalogues contain the first two lists of
/// [`LISTS`]. Each program must see one of the first `allowed` lists.
fn read_while(scene: &mut Scene, allowed: usize, replace: impl Fn(&Path, &[u8]) + Sync) -> Outcome {
    scene.driver("one").extensions(&LISTS[2]);
    file::prepare(scene);
    scene.limit(60).env("VK_LOADER_DEBUG", "");
    let texts = [0, 1].map(|number| {
        file::write(scene, &[Entry::new("one").offers(&LISTS[number])]);
        fs::read(file::path(scene)).unwrap_or_default()
    });
    let program = |scratch: &Scratch| {
        for _ in 0..TIMES {
            let list = scratch.load().extensions().expect("the query succeeds");
            if !LISTS[..allowed].iter().any(|allowed| list[..2] == allowed[..]) {
                eprintln!("listed: {list:?}");
                std::process::abort();
            }
        }
    };
    let path = file::path(scene);
    let done = AtomicBool::new(scene.is_child());
    thread::scope(|scope| {
        scope.spawn(|| {
            for text in texts.iter().cycle() {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                replace(&path, text);
            }
        });
        let outcome = scene.run_unloaded(|scratch| {
            let one = || isolated(|| program(scratch));
            thread::scope(|scope| {
                let programs: Vec<_> = (0..PROGRAMS).map(|_| scope.spawn(one)).collect();
                for program in programs {
                    let ending = program.join().expect("a program");
                    assert_eq!(ending.signal, 0, "{}", ending.stderr);
                }
            });
        });
        done.store(true, Ordering::Relaxed);
        outcome
    })
}

/// Ten programs start while updates replace the catalogue. Each program reads the old catalogue or the new one, and opens no driver.
#[test]
fn programs_that_start_during_an_update_see_the_old_or_the_new() {
    case(|scene| {
        let outcome = read_while(scene, 2, |path, text| {
            let new = path.with_extension("new");
            fs::write(&new, text).expect("a file");
            fs::set_permissions(&new, Permissions::from_mode(0o644)).expect("the owner may");
            fs::rename(&new, path).expect("a rename");
        });
        assert_eq!(opened(outcome.ok()), [""; 0]);
    });
}

/// The loader uses a catalogue completely or not at all, even if a program changes the file in place. No update changes a file in place.
#[test]
fn a_file_that_is_replaced_while_it_is_read_is_seen_whole_or_not_at_all() {
    case(|scene| {
        let outcome = read_while(scene, 3, |path, text| {
            let (begin, end) = text.split_at(text.len() / 2);
            fs::write(path, begin).expect("a file");
            thread::yield_now();
            fs::write(path, [begin, end].concat()).expect("a file");
        });
        outcome.ok();
    });
}

/// The time of a query has an upper limit, even with a hostile catalogue file.
#[test]
fn hostile_files_cost_bounded_time() {
    case(|scene| {
        scene_of_two(scene);
        scene.limit(120).env("VK_LOADER_DEBUG", "");
        let entry = |extensions: &Value| {
            json!({"manifest": {"path": "/x"}, "library": {"named": "/x", "path": "/x", "identity": ""},
            "outcome": "answered", "hardware": "absent", "devices": [], "extensions": extensions})
        };
        let names: Value = (0..1024).map(|number| json!(format!("VK_{number} 1"))).collect();
        let members: Value = (0..30_000).map(|number| (format!("m{number}"), json!(0))).collect();
        let variable = json!({"name": "A", "value": "B"});
        for (what, member, value) in [
            ("entries", "drivers", json!(vec![json!({}); 100_000])),
            ("as many as may be", "drivers", json!(vec![entry(&json!([])); 256])),
            ("extensions", "drivers", json!(vec![entry(&names); 25])),
            ("members", "a", members.clone()),
            ("members of an entry", "drivers", json!([members])),
            ("a string", "drivers", json!("x".repeat(900_000))),
            ("variables", "variables", json!(vec![variable; 20_000])),
        ] {
            file::write_changed(scene, |mut known| {
                known[member] = value;
                pack(&known)
            });
            let outcome = scene.run(|vk| {
                let seconds = processor_time(|| {
                    query(vk);
                    drop(vk.instance());
                });
                vk.say("seconds", seconds);
            });
            let took: f64 = outcome.ok().said("seconds")[0].parse().expect("a number");
            assert_eq!(outcome.said("extensions"), [LISTED], "{what}");
            assert_eq!(opened(&outcome), ["none", "one"], "{what}");
            // The limit is a hundred times the time of a release build.
            assert!(took < 3.0, "{what}: {took} s");
        }
    });
}

/// A program lists outdated extensions at most once. At an instance creation, the loader reads the present extensions from the driver. The
/// next program starts with the same catalogue, until an update of the catalogue queries the drivers again.
#[test]
fn what_held_when_drivers_were_asked_is_listed_once() {
    case(|scene| {
        scene.driver("one").extension("VK_KHR_surface").device("gpu");
        file::prepare(scene);
        let before = || [Entry::new("one").offers(&["VK_KHR_display"])];
        let now = || [Entry::new("one").offers(&["VK_KHR_surface"]).devices(1)];
        let lists = |scene: &mut Scene| {
            let outcome = scene.run(|vk| {
                let say = || vk.say("first", &vk.extensions().expect("the query succeeds")[0]);
                say();
                let enabled = vk.spec().extensions(&["VK_KHR_display"]).create();
                assert!(enabled.is_err(), "no driver has it");
                say();
                assert_eq!(vk.instance_with("1.1", &["VK_KHR_surface"]).device_names(), ["gpu"]);
                say();
            });
            outcome.ok().said("first").join(" ")
        };
        file::write(scene, &before());
        for program in ["the first", "the next"] {
            let found = "VK_KHR_display VK_KHR_surface VK_KHR_surface";
            assert_eq!(lists(scene), found, "{program}");
        }
        file::write(scene, &now());
        assert_eq!(lists(scene), "VK_KHR_surface VK_KHR_surface VK_KHR_surface");
    });
}

/// If the catalogue wrongly lists a driver as a driver without a device, the loader does not open this driver while another driver works.
/// The loader opens it again only after another catalogue update, or after a change of the machine's devices or of the driver's file. If the
/// driver's hardware is present, the loader also opens it after a boot.
#[test]
fn a_driver_that_is_left_out_is_not_asked() {
    case(|scene| {
        scene.driver("late").device("late");
        scene.driver("one").device("gpu");
        file::prepare(scene);
        let entries = |late| {
            [
                Entry::new("late").hardware("present").devices(late),
                Entry::new("one").devices(1),
            ]
        };
        let devices = |scene: &mut Scene| {
            let outcome = scene.run(|vk| {
                for _ in 0..2 {
                    let mut names = vk.instance().device_names();
                    names.sort_unstable();
                    vk.say("devices", names.join(","));
                }
            });
            outcome.ok().said("devices").join(" ")
        };
        file::write(scene, &entries(0));
        assert_eq!(devices(scene), "gpu gpu");
        file::write(scene, &entries(1));
        assert_eq!(devices(scene), "gpu,late gpu,late");
        for (member, value) in [("fingerprint", "0123456789abcdef"), ("boot", "other"), ("boot", "")] {
            file::write_with(scene, &entries(0), |known| known["machine"][member] = value.into());
            assert_eq!(devices(scene), "gpu,late gpu,late", "{member} {value}");
        }
    });
}

/// The superuser must own the system's catalogue. The loader ignores a catalogue of another user at this path, even if that user runs the
/// program.
#[test]
fn the_system_file_is_never_that_of_its_reader() {
    /// User ID of `nobody`.
    const NOBODY: u32 = 65534;
    case(|scene| {
        scene.needs_superuser("only the superuser can give files away");
        scene.copies_library();
        let Some(apart) = Apart::enter(scene) else { return };
        let caches = scene.folder("var-cache");
        apart.put(&caches, "/var/cache");
        scene_of_two(scene);
        scene.unset("VK_LOADER_CATALOGUE");
        let system = file::in_folder(&caches.join("vulkan-loader"));
        scene.on_disk(|| fs::set_permissions(scene.root(), Permissions::from_mode(0o777)).expect("the owner may"));
        for (owner, believed) in [(0, true), (NOBODY, false)] {
            file::write_at(scene, &system, &both(), |_| ());
            scene.on_disk(|| chown(&system, Some(owner), None).expect("the superuser may"));
            let outcome = scene.run_unloaded(|scratch| {
                // `setuid` hides the variables that the process started with, and the loader then ignores every entry. `prctl` makes these
                // variables readable again. SAFETY: the calls have no pointer arguments.
                let failed = unsafe { libc::setuid(NOBODY) | libc::prctl(libc::PR_SET_DUMPABLE, 1) };
                assert_eq!(failed, 0);
                query(&scratch.load());
            });
            assert_eq!(outcome.ok().said("extensions"), [LISTED]);
            assert_eq!(opened(&outcome).is_empty(), believed, "{owner}");
        }
    });
}

/// The system's catalogue describes a library that replaced the loaded one. The linker uses the loaded library, so no entry of the system's
/// catalogue counts, and the loader reads the user's catalogue (DRV-271, DRV-274).
#[test]
fn the_users_own_catalogue_is_read_if_the_systems_describes_a_replaced_library() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        let system = system_file(scene, &apart);
        scene.driver("none").extension("VK_KHR_surface").folder(OWN);
        scene
            .driver("one")
            .extension("VK_KHR_surface")
            .device("gpu")
            .folder(OWN);
        scene.unset("VK_DRIVER_FILES");
        file::prepare(scene);
        scene.unset("VK_LOADER_CATALOGUE");
        scene.file(&format!("{OWN}/vulkan-loader.catalogue"), "");
        let (library, newer) = (scene.library("none"), scene.path("newer.so"));
        scene.on_disk(|| {
            let mut content = fs::read(&library).expect("a library");
            // Changes a part of the header that the dynamic linker does not read.
            content[0x28] ^= 1;
            fs::write(&newer, content).expect("a file");
        });
        file::write(scene, &both());
        scene.on_disk(|| file::write_at(scene, &system, &both()[..1], |_| ()));
        let outcome = scene.run(|vk| {
            // SAFETY: the initialisation of a mock driver has no preconditions.
            let loaded = unsafe { libloading::Library::new(library.to_str().expect("plain")) }.expect("a library");
            fs::rename(&newer, &library).expect("a rename");
            let text = fs::read(&system).expect("a catalogue");
            let mut known = unpack(&text).expect("a catalogue");
            known["drivers"][0]["library"]["identity"] = file::identity(&library).into();
            fs::write(&system, pack(&known)).expect("a file");
            drop(vk.extensions().expect("the query succeeds"));
            drop(loaded);
        });
        assert_eq!(
            opened(outcome.ok()),
            ["none"],
            "the user's catalogue knows the other one"
        );
    });
}
