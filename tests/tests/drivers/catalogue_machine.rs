//! Tests of a driver catalogue and the machine around it (docs/catalogue.md): the system's catalogue, elevated processes, devices that
//! appear and disappear, and the dynamic linker's cache. Each test replaces folders of the machine only for its own thread.

use super::apart::Apart;
use super::catalogue::{LISTED, both, opened, query, scene_of_two};
use super::catalogue_file::{self as file, Entry};
use loader_tests::{Outcome, Scene, case};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Mounts a folder of the scene over the system's cache folder. Returns the path of the system's catalogue there.
pub(super) fn system_file(scene: &Scene, apart: &Apart) -> PathBuf {
    let caches = scene.folder("var-cache");
    apart.put(&caches, "/var/cache");
    file::in_folder(&caches.join("vulkan-loader"))
}

/// The loader reads the system's catalogue without any variable if the user has no valid catalogue. The superuser must own this catalogue.
#[test]
fn the_catalogue_of_the_system_is_read() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        let system = system_file(scene, &apart);
        scene_of_two(scene);
        let write = || file::write_at(scene, &system, &both(), |_| ());
        write();
        scene.unset("VK_LOADER_CATALOGUE");
        let outcome = scene.run(query);
        assert_eq!(outcome.ok().said("extensions"), [LISTED]);
        assert_eq!(opened(&outcome), [""; 0]);
        let fails = |scene: &mut Scene, change: &dyn Fn()| {
            scene.on_disk(change);
            let outcome = scene.run(query);
            assert_eq!(opened(outcome.ok()), ["none", "one"]);
            outcome.logged_with("WARNING | DRIVER", "may write to it");
        };
        fails(scene, &|| chown(&system, Some(65534), None).expect("the superuser may"));
        scene.on_disk(|| file::write_at(scene, &system, &both(), |_| ()));
        assert_eq!(opened(scene.run(query).ok()), [""; 0]);
        // With the value `on`, the loader reads the user's file first, and ignores the file if it is not valid.
        scene.env("VK_LOADER_CATALOGUE", "on");
        file::write(scene, &both()[1..]);
        assert_eq!(opened(scene.run(query).ok()), ["none"]);
        file::write_with(scene, &both()[1..], |known| known["schema"] = 1.into());
        assert_eq!(opened(scene.run(query).ok()), [""; 0]);
    });
}

/// Folder for a user's driver manifests. The folder contains the marker file of a user with a catalogue.
pub(super) const OWN: &str = "xdg/data-home/vulkan/icd.d";

/// The loader reads the user's catalogue without any variable if a manifest folder of the user contains the marker file, and the system has
/// no catalogue (DRV-274).
#[test]
fn the_users_own_catalogue_is_read_where_the_system_has_none() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        let system = system_file(scene, &apart);
        scene
            .driver("none")
            .extension("VK_KHR_display")
            .extension("VK_KHR_surface")
            .folder(OWN);
        scene
            .driver("one")
            .extension("VK_KHR_surface")
            .device("gpu")
            .folder(OWN);
        scene.unset("VK_DRIVER_FILES");
        file::prepare(scene);
        file::write(scene, &both());
        scene.unset("VK_LOADER_CATALOGUE");
        let cache = scene.text_path("cache");
        let outcome = scene.run(query);
        assert_eq!(opened(outcome.ok()), ["none", "one"], "there is no mark");
        outcome.not_logged(&cache);
        scene.file(&format!("{OWN}/vulkan-loader.catalogue"), "");
        let outcome = scene.run(query);
        assert_eq!(outcome.ok().said("extensions"), [LISTED]);
        assert_eq!(opened(&outcome), [""; 0]);
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(opened(outcome.ok()), ["one"], "an instance finds it too");
        // Without `VK_LOADER_CATALOGUE`, the loader does not read the user's catalogue if the system has a catalogue.
        scene.on_disk(|| file::write_at(scene, &system, &both()[1..], |_| ()));
        file::write_with(scene, &both(), |known| known["schema"] = 1.into());
        let outcome = scene.run(query);
        assert_eq!(opened(outcome.ok()), ["none"]);
        outcome.not_logged(&cache);
        // No entry of the system's catalogue is valid here, as in a system that was unpacked from an image.
        file::write(scene, &both());
        scene.on_disk(|| {
            file::write_at(scene, &system, &both(), |known| {
                for number in 0..2 {
                    known["drivers"][number]["library"]["identity"] = "0".into();
                }
            });
        });
        let outcome = scene.run(|vk| {
            query(vk);
            query(vk);
            drop(vk.instance());
        });
        assert_eq!(opened(outcome.ok()), ["one"], "only the instance needs it");
        file::write_with(scene, &both(), |known| known["schema"] = 1.into());
        let outcome = scene.run(query);
        assert_eq!(opened(outcome.ok()), ["none", "one"]);
        scene.on_disk(|| fs::remove_file(&system).expect("a file"));
        let outcome = scene.run(query);
        assert_eq!(opened(outcome.ok()), ["none", "one"]);
        outcome.logged_with("WARNING | DRIVER", "it has the form of another version");
        file::write(scene, &both());
        scene.env("VK_LOADER_CATALOGUE", "off");
        assert_eq!(opened(scene.run(query).ok()), ["none", "one"]);
    });
}

/// Mounts the scene's folder `share` over a folder that elevated processes search for drivers. The drivers of the machine are then
/// invisible to this process.
fn share_drivers(scene: &Scene, apart: &Apart) {
    apart.put(scene.folder("share"), "/usr/local/share");
    let nothing = scene.folder("nothing");
    for folder in ["/usr/share/vulkan", "/etc/vulkan", "/etc/xdg/vulkan"] {
        if Path::new(folder).exists() {
            apart.put(&nothing, folder);
        }
    }
}

/// Copies the scene's own catalogue, with its records, to the place of the system's catalogue.
fn share_catalogue(scene: &Scene, system: &Path) {
    let (own, made) = (scene.text_path("share"), scene.path("catalogue/cache/vulkan-loader"));
    let folder = system.parent().expect("a folder");
    scene.on_disk(|| {
        fs::create_dir_all(folder).expect("folders can be made");
        for entry in fs::read_dir(made).expect("a folder") {
            let path = entry.expect("an entry").path();
            let to = folder.join(path.file_name().expect("a name"));
            fs::copy(&path, &to).expect("a copy");
            if to == system {
                file::replace_text(&to, &[(&own, "/usr/local/share")]);
            }
        }
    });
}

/// DRV-286: elevated processes open the driver, although the system's catalogue has a record of the driver and the policy is `lazy`.
#[test]
fn drv_286_elevated_processes_open_the_driver() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        let system = system_file(scene, &apart);
        share_drivers(scene, &apart);
        scene
            .driver("one")
            .device_with("gpu", |device| device.uuids(1, 9))
            .folder("share/vulkan/icd.d");
        for variable in ["VK_DRIVER_FILES", "VK_LOADER_CATALOGUE", "XDG_DATA_DIRS"] {
            scene.unset(variable);
        }
        scene.env("VK_LOADER_DRIVER_POLICY", "lazy").lazily();
        let listed = |scene: &mut Scene| {
            // A driver service of this machine may offer further drivers, so the device is chosen by its name.
            let outcome = scene.run(|vk| {
                vk.instance_with("1.1", &[]).named("gpu");
            });
            opened(outcome.ok()).len()
        };
        assert_eq!(listed(scene), 1, "the system has no catalogue yet");
        share_catalogue(scene, &system);
        assert_eq!(listed(scene), 0);
        scene.elevated();
        assert_eq!(listed(scene), 1);
    });
}

/// An elevated process reads only the system's catalogue, and ignores the variables.
#[test]
fn elevated_processes_read_the_catalogue_of_the_system_only() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        let system = system_file(scene, &apart);
        share_drivers(scene, &apart);
        scene
            .driver("one")
            .extension("VK_KHR_surface")
            .folder("share/vulkan/icd.d");
        scene.file("share/vulkan/icd.d/vulkan-loader.catalogue", "");
        file::prepare(scene);
        scene.unset("VK_DRIVER_FILES").elevated();
        let lie = |scene: &Scene, path: &Path| {
            file::write_at(scene, path, &[Entry::new("one").offers(&["VK_KHR_display"])], |known| {
                known["drivers"][0]["manifest"]["path"] = "/usr/local/share/vulkan/icd.d/one.json".into();
            });
        };
        let listed = |scene: &mut Scene| {
            let outcome = scene.run(|vk| vk.say("first", &vk.extensions().expect("the query succeeds")[0]));
            let first = outcome.ok().said("first")[0].to_owned();
            assert_eq!(first == "VK_KHR_surface", !opened(&outcome).is_empty());
            outcome.not_logged(&scene.text_path("cache"));
            first
        };
        lie(scene, &file::path(scene));
        assert_eq!(listed(scene), "VK_KHR_surface", "the user's own is not read");
        lie(scene, &system);
        assert_eq!(listed(scene), "VK_KHR_display");
        // A file at the system's path is ignored if its owner is the user that started the process.
        scene.on_disk(|| chown(&system, Some(65534), None).expect("the superuser may"));
        assert_eq!(listed(scene), "VK_KHR_surface");
    });
}

/// Folders that replace `/dev` and `/sys`, with one graphics card and its device file.
pub(crate) struct Devices {
    root: PathBuf,
}

/// Address of the card on the PCI bus.
pub(crate) const CARD: &str = "0000:01:00.0";

impl Devices {
    pub(crate) fn new(scene: &Scene, apart: &Apart) -> Self {
        let devices = Self {
            root: scene.folder("machine"),
        };
        scene.on_disk(|| {
            devices.write("dev/dri/renderD128", "");
            devices.write("dev/null", "");
            devices.write("sys/class/drm/renderD128/device/vendor", "0x1002\n");
            devices.write(&Self::of_card("vendor"), "0x1002\n");
            devices.write(&Self::of_card("power/runtime_status"), "active\n");
            devices.bind("amdgpu");
        });
        // The test starts programs, and they need `/dev/null`.
        if !scene.is_child() {
            apart.put("/dev/null", &devices.root.join("dev/null").display().to_string());
        }
        for folder in ["dev", "sys"] {
            apart.put(devices.root.join(folder), &format!("/{folder}"));
        }
        devices
    }

    pub(crate) fn of_card(file: &str) -> String {
        format!("sys/bus/pci/devices/{CARD}/{file}")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders can be made");
        fs::write(path, text).expect("a file");
    }

    fn remove(&self, path: &str) {
        let path = self.root.join(path);
        if path.is_dir() {
            fs::remove_dir_all(path).expect("a folder")
        } else {
            fs::remove_file(path).expect("a file")
        }
    }

    /// Binds the card to a kernel driver.
    fn bind(&self, driver: &str) {
        let link = self.root.join(Self::of_card("driver"));
        let _ = fs::remove_file(&link);
        symlink(format!("../../../bus/pci/drivers/{driver}"), link).expect("a link");
    }
}

/// Adds the card at the address `CARD` to a catalogue's description of the machine.
fn with_card(known: &mut Value) {
    known["machine"]["cards"] = json!([{"address": CARD}]);
}

/// Creates an instance, and returns the outcome.
fn of_instance(scene: &mut Scene) -> Outcome {
    let outcome = scene.run(|vk| drop(vk.instance()));
    outcome.ok();
    outcome
}

/// If a device appears or disappears, or its kernel driver changes, the loader also opens drivers that had no device.
#[test]
fn devices_that_come_and_go_are_seen() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        scene_of_two(scene);
        let devices = Devices::new(scene, &apart);
        file::write_with(scene, &both(), with_card);
        let same = |scene: &mut Scene, what: &str| {
            assert_eq!(opened(&of_instance(scene)), ["one"], "{what}");
        };
        let other = |scene: &mut Scene, what: &str| {
            assert_eq!(opened(&of_instance(scene)), ["none", "one"], "{what}");
        };
        same(scene, "nothing has changed");
        for node in [
            "dev/dri/renderD129",
            "dev/dri/card0",
            "dev/nvidiactl",
            "dev/dxg",
            "sys/bus/pci/devices/0000:02:00.0",
        ] {
            scene.on_disk(|| devices.write(node, ""));
            other(scene, node);
            scene.on_disk(|| devices.remove(node));
            same(scene, node);
        }
        // A new node of a device that is not a graphics device has no effect.
        scene.on_disk(|| devices.write("dev/sda", ""));
        same(scene, "a disk");
        for driver in ["vfio-pci", "nouveau"] {
            scene.on_disk(|| devices.bind(driver));
            other(scene, driver);
        }
        scene.on_disk(|| devices.bind("amdgpu"));
        same(scene, "the kernel driver is back");
        scene.on_disk(|| devices.write("sys/class/drm/renderD128/device/vendor", "0x8086\n"));
        other(scene, "another chip");
        scene.on_disk(|| devices.write("sys/class/drm/renderD128/device/vendor", "0x1002\n"));
        scene.on_disk(|| devices.remove("dev/dri/renderD128"));
        other(scene, "the node is gone");
        scene.on_disk(|| devices.write("dev/dri/renderD128", ""));
        same(scene, "the node is back");
        // The name of the node leads to another device, as in a container that is started again with another device of its host.
        apart.put("/dev/null", "/dev/dri/renderD128");
        other(scene, "another device of the same name");
        // An extension query uses the catalogue even if the machine's devices have changed.
        assert_eq!(opened(scene.run(query).ok()), [""; 0]);
    });
}

/// With the policy `no-wake`, the loader does not open a driver whose devices are all suspended, if another driver is open.
#[test]
fn what_sleeps_is_let_sleep_where_a_policy_wants_that() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        scene.driver("discrete").device("sleeper");
        scene.driver("one").device("gpu");
        file::prepare(scene);
        let devices = Devices::new(scene, &apart);
        let on = |places: &[&str]| places.iter().map(|place| json!({"pci": place})).collect::<Vec<_>>();
        let entries = |places: &[&str]| {
            let discrete = Entry::new("discrete").with("devices", on(places).into());
            [discrete, Entry::new("one").devices(1)]
        };
        file::write_with(scene, &entries(&[CARD]), with_card);
        let state = |scene: &Scene, word: &str| {
            scene.on_disk(|| devices.write(&Devices::of_card("power/runtime_status"), &format!("{word}\n")));
        };
        let both = ["discrete", "one"];
        state(scene, "suspended");
        assert_eq!(opened(&of_instance(scene)), both, "a policy has to be asked for");
        scene.env("VK_LOADER_DRIVER_POLICY", "no-wake");
        let outcome = of_instance(scene);
        assert_eq!(opened(&outcome), ["one"]);
        outcome.logged_with("INFO | DRIVER", "libmock_discrete.so");
        outcome.logged_with("INFO | DRIVER", "all its devices are suspended");
        for word in ["active", "suspending", "resuming", "unsupported", ""] {
            state(scene, word);
            assert_eq!(opened(&of_instance(scene)), both, "{word}");
        }
        state(scene, "suspended");
        // The loader opens the driver if one of its devices is awake or has an unknown address.
        for places in [&[CARD, "0000:02:00.0"][..], &["../../../../etc"], &["", CARD], &[]] {
            file::write_with(scene, &entries(places), with_card);
            assert_eq!(opened(&of_instance(scene)), both, "{places:?}");
        }
        file::write_with(scene, &entries(&[CARD, CARD]), with_card);
        assert_eq!(opened(&of_instance(scene)), ["one"]);
        // A card that appeared after the update can be awake and belong to the driver, so the loader opens the driver.
        scene.on_disk(|| devices.write("sys/bus/pci/devices/0000:02:00.0/vendor", "0x1002\n"));
        assert_eq!(opened(&of_instance(scene)), both);
        scene.on_disk(|| devices.remove("sys/bus/pci/devices/0000:02:00.0"));
        assert_eq!(opened(&of_instance(scene)), ["one"]);
        // Creating an instance wakes the card if there is no other driver. A query wakes no card.
        scene.env("VK_LOADER_DRIVERS_DISABLE", "one.json");
        assert_eq!(opened(&of_instance(scene)), ["discrete"]);
        let outcome = scene.run(|vk| drop(vk.extensions().expect("the query succeeds")));
        assert_eq!(opened(outcome.ok()), [""; 0]);
    });
}

/// With the policy `no-wake`, the loader opens a driver with suspended devices if no other driver reports a device.
#[test]
fn what_sleeps_is_woken_where_nothing_else_has_a_device() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        scene.driver("discrete").device("sleeper");
        scene.driver("one").fail("vkEnumeratePhysicalDevices", -3);
        file::prepare(scene);
        let devices = Devices::new(scene, &apart);
        let discrete = Entry::new("discrete").with("devices", json!([{"pci": CARD}]));
        file::write_with(scene, &[discrete, Entry::new("one").devices(1)], with_card);
        scene.on_disk(|| devices.write(&Devices::of_card("power/runtime_status"), "suspended\n"));
        scene.env("VK_LOADER_DRIVER_POLICY", "no-wake");
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["sleeper"]));
        outcome.ok();
    });
}

/// If a manifest names a library without a folder, the loader uses the driver's catalogue entry while the dynamic linker's cache does not
/// change.
#[test]
fn libraries_without_a_folder_need_the_same_linker_cache() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        scene
            .driver("one")
            .extension("VK_KHR_display")
            .extension("VK_KHR_surface")
            .library_path("libmock_one.so");
        let cache = scene.file("ld.so.cache", "");
        let libraries = scene.folder("libraries");
        let made = scene.path("made.cache");
        scene.on_disk(|| {
            let list = scene.file(
                "ld.so.conf",
                format!("include /etc/ld.so.conf\n{}\n", libraries.display()),
            );
            fs::copy(library_of_mock(), libraries.join("libmock_one.so")).expect("a copy");
            let made = Command::new("/sbin/ldconfig")
                .args(["-X", "-C"])
                .arg(&made)
                .arg("-f")
                .arg(list)
                .status()
                .expect("ldconfig can be started");
            assert!(made.success());
        });
        // Writes the linker's cache into the existing file, so that the mount at /etc/ld.so.cache shows it. A second call changes only the
        // times of the file.
        let renew =
            |scene: &Scene| scene.on_disk(|| fs::write(&cache, fs::read(&made).expect("it was made")).expect("a file"));
        renew(scene);
        apart.put(&cache, "/etc/ld.so.cache");
        file::prepare(scene);
        let entries = || [Entry::new("one").offers(&["VK_KHR_display", "VK_KHR_surface"])];
        let write = |scene: &Scene| {
            file::write_with(scene, &entries(), |known| {
                known["drivers"][0]["library"]["named"] = "libmock_one.so".into();
                known["linker-cache"] = file::identity("/etc/ld.so.cache".as_ref()).into();
            });
        };
        write(scene);
        assert_eq!(opened(scene.run(query).ok()), [""; 0]);
        renew(scene);
        let outcome = scene.run(query);
        assert_eq!(outcome.ok().said("extensions"), [LISTED]);
        assert_eq!(opened(&outcome), ["one"], "another one may be found under that name");
        outcome.logged_with("INFO | DRIVER", "ld.so.cache has changed");
        write(scene);
        assert_eq!(opened(scene.run(query).ok()), [""; 0]);
        // Rewriting the library changes its times, so the entry no longer applies.
        let library = scene.library("one");
        scene.on_disk(|| fs::write(&library, fs::read(&library).expect("a file")).expect("a file"));
        let outcome = scene.run(query);
        assert_eq!(opened(outcome.ok()), ["one"]);
        outcome.logged_with("INFO | DRIVER", "has changed");
        // An entry without `linker-cache` cannot show that the library's bare name still leads to the same file, so the loader opens the
        // driver.
        file::write_with(scene, &entries(), |known| {
            known["drivers"][0]["library"]["named"] = "libmock_one.so".into();
        });
        assert_eq!(opened(scene.run(query).ok()), ["one"]);
    });
}

/// Returns the path of the mock driver. The scene's drivers are copies of this file.
fn library_of_mock() -> PathBuf {
    loader_tests::built("mock_driver")
}
