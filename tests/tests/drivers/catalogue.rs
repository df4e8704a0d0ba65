//! Tests of a valid driver catalogue (docs/catalogue.md): the drivers that are not opened, and the conditions under which all drivers are
//! opened again.

use super::apart::Apart;
use super::catalogue_file::{self as file, Entry};
use loader_tests::{Outcome, Scene, Vk, case};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::time::SystemTime;

/// Returns the drivers whose libraries were opened, in the order of opening.
pub(crate) fn opened(outcome: &Outcome) -> Vec<&str> {
    let mut all: Vec<&str> = outcome
        .journal()
        .into_iter()
        .filter_map(|line| line.strip_suffix(" load"))
        .collect();
    all.dedup();
    all
}

/// Adds two drivers and prepares the catalogue. The first driver has no device.
pub(crate) fn scene_of_two(scene: &mut Scene) {
    scene
        .driver("none")
        .extension("VK_KHR_display")
        .extension("VK_KHR_surface");
    scene.driver("one").extension("VK_KHR_surface").device("gpu");
    file::prepare(scene);
}

pub(crate) fn both() -> [Entry; 2] {
    [
        Entry::new("none")
            .offers(&["VK_KHR_display", "VK_KHR_surface"])
            .hardware("absent"),
        Entry::new("one").offers(&["VK_KHR_surface"]).devices(1),
    ]
}

/// Lists the instance extensions, which is the first call of most programs.
pub(crate) fn query(vk: &Vk) {
    vk.say(
        "extensions",
        vk.extensions().expect("the query succeeds")[..2].join(","),
    );
}

pub(crate) const LISTED: &str = "VK_KHR_display,VK_KHR_surface";

/// The catalogue answers a query without opening a driver. The extensions have the order in which the drivers would list them.
#[test]
fn extensions_of_known_drivers_are_listed_without_them() {
    case(|scene| {
        scene_of_two(scene);
        file::write(scene, &both());
        let outcome = scene.run(query);
        assert_eq!(outcome.ok().said("extensions"), [LISTED]);
        assert_eq!(opened(&outcome), [""; 0]);
        outcome.logged_with(
            "INFO | DRIVER",
            "libmock_one.so: its extensions are in the driver catalogue, of 2026-11-22",
        );
        // The loader opens a driver without a catalogue entry, at the driver's place in the order.
        file::write(scene, &both()[1..]);
        let outcome = scene.run(query);
        assert_eq!(outcome.ok().said("extensions"), [LISTED]);
        assert_eq!(opened(&outcome), ["none"]);
    });
}

/// If the catalogue lists a driver as a driver without devices on this machine, the loader creates an instance without this driver.
#[test]
fn drivers_without_a_device_are_left_out_of_an_instance() {
    case(|scene| {
        scene_of_two(scene);
        file::write(scene, &both());
        let outcome = scene.run(|vk| {
            // An extension that only the omitted driver offers can still be enabled.
            let spec = vk.spec().api("1.1").extensions(&["VK_KHR_display"]);
            let instance = spec.create().expect("vkCreateInstance");
            assert_eq!(instance.device_names(), ["gpu"]);
        });
        assert_eq!(opened(outcome.ok()), ["one"]);
        outcome.logged_with(
            "INFO | DRIVER",
            "by the driver catalogue of 2026-11-22 18:05 UTC it has no device here",
        );
    });
}

/// If the catalogue says that no driver has a device, the loader opens all drivers. If it skipped them, instance creation would fail
/// because of the catalogue.
#[test]
fn the_last_drivers_are_opened_without_devices_too() {
    case(|scene| {
        scene.driver("none");
        scene.driver("nothing");
        file::prepare(scene);
        let entries = ["none", "nothing"].map(|name| Entry::new(name).hardware("absent"));
        file::write(scene, &entries);
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(opened(outcome.ok()), ["none", "nothing"]);
    });
}

/// An entry without devices has an effect only if the hardware table lists the driver, and while the machine does not change.
#[test]
fn other_drivers_and_other_machines_are_not_believed_to_have_no_device() {
    case(|scene| {
        scene_of_two(scene);
        let opens = |scene: &mut Scene, first: Entry| {
            file::write(
                scene,
                &[first, Entry::new("one").offers(&["VK_KHR_surface"]).devices(1)],
            );
            let outcome = scene.run(|vk| drop(vk.instance()));
            opened(outcome.ok()).contains(&"none")
        };
        let entry = || Entry::new("none").offers(&["VK_KHR_display", "VK_KHR_surface"]);
        for (hardware, is_opened) in [
            ("absent", false),
            ("present", false),
            ("unknown", true),
            ("software", true),
            ("pending", true),
        ] {
            assert_eq!(opens(scene, entry().hardware(hardware)), is_opened, "{hardware}");
        }
        assert!(opens(scene, entry().hardware("absent").without_devices()));
        assert!(!opens(scene, entry().hardware("absent").without_devices().failed(-9)));
        assert!(opens(scene, entry().hardware("absent").without_devices().failed(-3)));
        // Another fingerprint means that a device file appeared or disappeared, or that the kernel or the kernel driver of a card changed.
        let entries = [entry().hardware("absent"), Entry::new("one").devices(1)];
        file::write_with(scene, &entries, |known| {
            known["machine"]["fingerprint"] = "0123456789abcdef".into()
        });
        let outcome = scene.run(|vk| {
            query(vk);
            vk.mark("queried");
            drop(vk.instance());
            vk.mark("created");
        });
        assert!(outcome.ok().between("queried", "created").contains(&"none load"));
    });
}

/// A driver that crashed or hung during the catalogue's update is not opened. The message about the driver names a remedy.
#[test]
fn drivers_that_crashed_or_hung_are_left_out() {
    case(|scene| {
        scene
            .driver("bad")
            .line("crash", "vkEnumerateInstanceExtensionProperties");
        scene.driver("slow").line("hang", "vkCreateInstance");
        scene
            .driver("one")
            .extension("VK_KHR_display")
            .extension("VK_KHR_surface")
            .device("gpu");
        // `prepare` must not open the two broken drivers.
        scene.env("VK_LOADER_DRIVERS_SELECT", "one.json");
        file::prepare(scene);
        scene.unset("VK_LOADER_DRIVERS_SELECT");
        let entries = [Entry::new("bad").crashed(6), Entry::new("slow").hung(10)];
        file::write(scene, &entries);
        let outcome = scene.run(|vk| {
            query(vk);
            assert_eq!(vk.instance().device_names(), ["gpu"]);
        });
        assert_eq!(outcome.ok().said("extensions"), [LISTED]);
        assert!(!opened(&outcome).iter().any(|name| ["bad", "slow"].contains(name)));
        for part in [
            "libmock_bad.so",
            "it crashed with signal 6 on 2026-11-22 18:05 UTC",
            "it hung for 10 seconds on 2026-11-22 18:05 UTC",
            "vkloader catalogue update",
            "VK_LOADER_CATALOGUE=off",
        ] {
            outcome.logged_with("ERROR | DRIVER", part);
        }
        // The catalogue of another machine does not show that the driver fails here, so the loader opens the driver, which crashes.
        file::write_with(scene, &entries, |known| {
            known["machine"]["fingerprint"] = "0123456789abcdef".into()
        });
        scene.run(query).crashed();
        file::write(scene, &entries);
        scene.env("VK_LOADER_CATALOGUE", "off");
        scene.run(query).crashed();
    });
}

/// A driver is opened if its library has changed.
#[test]
fn a_library_that_changed_is_opened() {
    case(|scene| {
        scene_of_two(scene);
        let library = scene.library("one");
        let other = scene.path("libraries/other.so");
        let replace = |how: usize| match how {
            // Overwrites the library with the same bytes.
            0 => fs::write(&library, fs::read(&library).expect("a file")).expect("a file"),
            // Renames another file to the path of the library.
            1 => {
                fs::copy(&library, &other).expect("a copy");
                fs::rename(&other, &library).expect("a rename");
            }
            // Changes the modification time of the library.
            2 => {
                let file = fs::File::options().write(true).open(&library).expect("a file");
                file.set_modified(SystemTime::UNIX_EPOCH).expect("the owner may");
            }
            // Replaces the library by a symbolic link to another file.
            _ => {
                fs::copy(&library, &other).expect("a copy");
                fs::remove_file(&library).expect("a file");
                symlink(&other, &library).expect("a link");
            }
        };
        for how in 0..4 {
            file::write(scene, &both());
            scene.on_disk(|| replace(how));
            let outcome = scene.run(query);
            assert_eq!(outcome.ok().said("extensions"), [LISTED], "{how}");
            assert_eq!(opened(&outcome), ["one"], "{how}");
            outcome.logged_with("INFO | DRIVER", "libmock_one.so has changed");
        }
        // A new catalogue records the target of the link as the library, so the query opens no driver.
        file::write(scene, &both());
        assert_eq!(opened(scene.run(query).ok()), [""; 0]);
    });
}

/// DRV-271: the program loads a library with the name of a file that a driver needs. The dynamic linker would use the program's library, so
/// the next query opens the driver.
#[test]
fn a_library_that_the_program_loads_between_queries_is_seen() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        scene_of_two(scene);
        // An entry with files counts only while the cache of the dynamic linker stays the same.
        apart.put(scene.file("ld.so.cache", ""), "/etc/ld.so.cache");
        let [needed, other] = ["needed", "other"].map(|folder| scene.folder(folder).join("libneeded.so"));
        scene.on_disk(|| {
            for to in [&needed, &other] {
                fs::copy(loader_tests::built("mock_layer"), to).expect("a copy");
            }
        });
        let [none, one] = both();
        file::write_with(scene, &[none, one.with("files", json!([0]))], |known| {
            let path = needed.display().to_string();
            known["files"] = json!([[path, file::identity(&needed), "libneeded.so", ""]]);
            known["linker-cache"] = file::identity("/etc/ld.so.cache".as_ref()).into();
        });
        let outcome = scene.run(|vk| {
            query(vk);
            vk.mark("asked");
            // SAFETY: the mock layer runs no code when it is loaded.
            let loaded = unsafe { libloading::Library::new(other.to_str().expect("plain")) }.expect("a library");
            query(vk);
            drop(loaded);
        });
        assert_eq!(outcome.ok().said("extensions"), [LISTED, LISTED]);
        assert_eq!(opened(&outcome), ["one"]);
        assert_eq!(outcome.journal()[0], "== asked", "{}", outcome.all());
    });
}

/// The loader reads each driver manifest in each query. If the manifest names another library, the catalogue's entry has no effect any
/// more.
#[test]
fn a_manifest_that_changed_is_followed() {
    case(|scene| {
        scene_of_two(scene);
        file::write(scene, &both());
        let (manifest, library) = (scene.manifest("one"), scene.library("none"));
        let text = format!(
            r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "{}", "api_version": "1.3.0"}}}}"#,
            library.display()
        );
        scene.on_disk(|| fs::write(&manifest, text).expect("a file"));
        assert_eq!(opened(scene.run(query).ok()), ["none"]);
    });
}

/// DRV-272: the process ignores the catalogue if the value of a variable that drivers read differs from the value during the catalogue's
/// update.
#[test]
fn variables_of_drivers_switch_it_off() {
    case(|scene| {
        scene_of_two(scene);
        file::write(scene, &both());
        for (name, value, counts) in [
            ("MESA_VK_VERSION_OVERRIDE", "1.1", false),
            ("radv_gfx12_hiz_wa", "", false),
            ("mesa_glthread", "true", true),
            ("LD_AUDIT", "/nowhere/shim.so", false),
            ("LD_HWCAP_MASK", "0", false),
            ("LD_PRELOAD", "/nowhere/shim.so", true),
            ("LD_LIBRARY_PATH", "/nowhere", true),
            ("DISPLAY", ":0", true),
        ] {
            scene.env(name, value);
            let outcome = scene.run(query);
            assert_eq!(opened(outcome.ran()).is_empty(), counts, "{name}");
            if !counts {
                outcome.logged_with("INFO | DRIVER", &format!("{name} is not as it was"));
            }
            scene.unset(name);
        }
        let with = |value: &'static str| {
            move |known: &mut serde_json::Value| {
                known["variables"] = serde_json::json!([{"name": "RADV_DEBUG", "value": value}]);
            }
        };
        scene.env("RADV_DEBUG", "info");
        file::write_with(scene, &both(), with("info"));
        assert_eq!(opened(scene.run(query).ok()), [""; 0]);
        file::write_with(scene, &both(), with("other"));
        assert_eq!(opened(scene.run(query).ok()), ["none", "one"]);
        scene.unset("RADV_DEBUG");
        assert_eq!(opened(scene.run(query).ok()), ["none", "one"], "it was set then");
    });
}

/// With `VK_LOADER_CATALOGUE=on`, the loader answers a query from the user's own catalogue. With `off` or `verify`, or without the
/// variable, it opens the drivers.
#[test]
fn the_variable_says_how_it_is_used() {
    case(|scene| {
        scene_of_two(scene);
        file::write(scene, &both());
        for (value, known) in [
            (Some("on"), true),
            (Some("off"), false),
            (Some("verify"), false),
            (None, false),
        ] {
            match value {
                Some(value) => scene.env("VK_LOADER_CATALOGUE", value),
                None => scene.unset("VK_LOADER_CATALOGUE"),
            };
            let outcome = scene.run(query);
            assert_eq!(outcome.ok().said("extensions"), [LISTED]);
            assert_eq!(opened(&outcome).is_empty(), known, "{value:?}");
            outcome.not_logged("WARNING");
        }
    });
}

/// A wrong catalogue entry affects only one start of a program. After the driver was opened, its answer replaces the entry.
#[test]
fn a_lie_is_believed_until_the_driver_speaks() {
    case(|scene| {
        scene_of_two(scene);
        let lies = [
            Entry::new("none").offers(&["VK_KHR_lie"]).devices(2),
            Entry::new("one")
                .offers(&["VK_KHR_display", "VK_KHR_surface"])
                .hardware("unknown"),
        ];
        file::write(scene, &lies);
        scene.env("VK_LOADER_DISABLE_INST_EXT_FILTER", "1");
        let body = |vk: &Vk| {
            let list = || vk.extensions().expect("the query succeeds");
            vk.say("lie", list().contains(&"VK_KHR_lie".into()));
            assert_eq!(vk.instance().device_names(), ["gpu"]);
            vk.say("lie", list().contains(&"VK_KHR_lie".into()));
            assert_eq!(list()[..2].join(","), LISTED);
        };
        let outcome = scene.run(body);
        assert_eq!(outcome.ok().said("lie"), ["true", "false"]);
        for driver in ["none", "one"] {
            let text = format!("libmock_{driver}.so has other instance extensions than the driver catalogue says");
            outcome.logged_with("WARNING | DRIVER", &text);
        }
        scene.env("VK_LOADER_CATALOGUE", "verify");
        let outcome = scene.run(body);
        assert_eq!(outcome.ok().said("lie"), ["false", "false"]);
        outcome.logged_with("WARNING | DRIVER", "has other instance extensions");
        // According to the catalogue, the driver has no device, but the driver has a device.
        file::write(
            scene,
            &[Entry::new("one").offers(&["VK_KHR_surface"]).hardware("unknown")],
        );
        scene.env("VK_LOADER_CATALOGUE", "on");
        let outcome = scene.run(|vk| {
            vk.extensions().expect("the query succeeds");
            assert_eq!(vk.instance().device_names(), ["gpu"]);
        });
        outcome
            .ok()
            .logged_with("WARNING | DRIVER", "has devices where it had none");
    });
}

/// Filters have the same effect with and without a catalogue.
#[test]
fn what_is_found_is_found_as_before() {
    case(|scene| {
        scene_of_two(scene);
        file::write(scene, &both());
        scene.env("VK_LOADER_DRIVERS_DISABLE", "none.json");
        let outcome = scene.run(|vk| {
            let list = vk.extensions().expect("the query succeeds");
            assert!(!list.contains(&"VK_KHR_display".into()));
            assert!(vk.spec().extensions(&["VK_KHR_display"]).create().is_err());
        });
        assert_eq!(opened(outcome.ok()), ["one"]);
        scene.env("VK_LOADER_DRIVERS_DISABLE", "*");
        let outcome = scene.run(|vk| {
            assert!(vk.spec().create().is_err());
        });
        assert_eq!(opened(outcome.ok()), [""; 0]);
    });
}

/// With the policy `software-last`, the loader does not open software drivers if another driver has a device.
#[test]
fn software_drivers_come_last_where_a_policy_wants_that() {
    case(|scene| {
        scene.driver("software").device_with("cpu", |device| device.kind(4));
        scene.driver("one").device("gpu");
        file::prepare(scene);
        let entries = |devices| {
            let software = Entry::new("software").hardware("software").devices(1);
            [software, Entry::new("one").devices(devices)]
        };
        let devices = |scene: &mut Scene| {
            let outcome = scene.run(|vk| {
                let mut names = vk.instance().device_names();
                names.sort_unstable();
                vk.say("devices", names.join(","));
            });
            outcome.ok().said("devices").join(";")
        };
        file::write(scene, &entries(1));
        assert_eq!(devices(scene), "cpu,gpu", "a policy has to be asked for");
        scene.env("VK_LOADER_DRIVER_POLICY", "software-last");
        assert_eq!(devices(scene), "gpu");
        // Without another driver that has a device in the catalogue, the loader opens the software driver too.
        file::write(scene, &entries(0));
        assert_eq!(devices(scene), "cpu,gpu");
        file::write(scene, &entries(1));
        scene.env("VK_LOADER_DRIVERS_DISABLE", "one.json");
        assert_eq!(devices(scene), "cpu");
        scene
            .unset("VK_LOADER_DRIVERS_DISABLE")
            .unset("VK_LOADER_DRIVER_POLICY");
        scene.file(
            "xdg/data-home/vulkan/loader_settings.d/vk_loader_settings.json",
            r#"{"file_format_version": "1.0.0", "settings": {"driver_policy": ["software-last", "unknown", 7]}}"#,
        );
        assert_eq!(devices(scene), "gpu");
        // `VK_LOADER_DRIVER_POLICY` takes precedence over the settings file, even if its value is empty.
        scene.env("VK_LOADER_DRIVER_POLICY", "");
        assert_eq!(devices(scene), "cpu,gpu");
    });
}

/// With the policy `keep-open`, a library remains open and is not loaded again for the next instance.
#[test]
fn libraries_stay_open_where_a_policy_wants_that() {
    case(|scene| {
        scene.driver("one").device("gpu");
        for (policy, loads) in [("", 2), ("keep-open", 1)] {
            scene.env("VK_LOADER_DRIVER_POLICY", policy);
            let outcome = scene.run(|vk| {
                drop(vk.instance());
                drop(vk.instance());
            });
            let journal = outcome.ok().journal();
            let count = |end: &str| journal.iter().filter(|line| line.contains(end)).count();
            assert_eq!(count("one load"), loads, "{policy}");
            assert_eq!(count("one unload"), loads, "all is closed with the library: {policy}");
        }
    });
}
