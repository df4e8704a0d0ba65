//! Tests of libraries that drivers of a service need, and of devices that an installed driver serves too (LSV-66 to LSV-68).

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use loader_tests::{Scene, Vk, case};
use serde_json::{Value, json};
use wire::Operation;

use crate::service::{names, package, scene_with, socket};
use crate::service_server::{Package, Server, Then};

/// Name of the library that other libraries of these tests need.
const NEEDED: &str = "libneeded.so.1";

/// Returns a driver that needs a library. The library is a copy of another mock driver.
fn needing(vk: &Vk, key: &str, more: Value) -> Package {
    let mut package = package(vk, 0, "a");
    package.needs = vec![(key.into(), vk.path("libraries/libmock_need.so"), more)];
    package
}

/// Creates a folder that the system's linker searches. The folder has the needed library in `file`.
fn with_folder(scene: &mut Scene, file: &str) -> PathBuf {
    let folder = scene.path("own");
    scene.on_disk(|| {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("the folder is the case's");
        fs::copy("/proc/self/exe", folder.join(file)).expect("any ELF file will do");
        if file != NEEDED {
            symlink(file, folder.join(NEEDED)).expect("the folder is the case's");
        }
    });
    scene.env("LD_LIBRARY_PATH", &folder);
    folder
}

/// LSV-66: if the system lacks a library, the service sends it, and the loader opens it before the driver. A process requests each library
/// once.
#[test]
fn lsv_66_a_lacking_library_comes_with_its_driver() {
    case(|scene| {
        scene_with(scene, &["a", "need"]);
        let outcome = scene.run(|vk| {
            let server = Server::honest(&socket(vk), &[needing(vk, "0-libneeded.so.1", json!({}))]);
            for _ in 0..2 {
                assert_eq!(names(vk), ["here", "a"]);
            }
            assert_eq!(server.requests(), 2 + 2);
            let maps = fs::read_to_string("/proc/self/maps").expect("it is there");
            assert!(maps.contains("libmock_need.so"), "{maps}");
            // The loader closes a needed library together with its driver.
            server.publish(&[]);
            assert_eq!(names(vk), ["here"]);
            let maps = fs::read_to_string("/proc/self/maps").expect("it is there");
            assert!(!maps.contains("libmock_need.so"), "{maps}");
        });
        outcome.ok();
        let order = outcome.all();
        let at = |name: &str| order.find(&format!("{name} load"));
        assert!(at("need") <= at("a"), "{order}");
    });
}

/// LSV-66: if two drivers need a library of the same name, the loader opens the first one only. The name is that inside the library, so the
/// case uses a library of this machine.
#[cfg(target_env = "gnu")]
#[test]
fn lsv_66_two_drivers_share_a_library() {
    case(|scene| {
        scene_with(scene, &["a", "b"]);
        let outcome = scene.run(|vk| {
            let maps = || fs::read_to_string("/proc/self/maps").expect("it is there");
            let text = maps();
            let mut paths = text.lines().filter_map(|line| line.split_whitespace().last());
            let c_library = paths.find(|path| path.ends_with("/libc.so.6")).expect("it is open");
            let file = PathBuf::from(c_library).with_file_name("libutil.so.1");
            let with_need = |number, name| {
                let mut package = package(vk, number, name);
                let newer = json!({"file": "libutil.so.99"});
                package.needs = vec![(format!("{number}-libutil.so.1"), file.clone(), newer)];
                package
            };
            let server = Server::honest(&socket(vk), &[with_need(0, "a"), with_need(1, "b")]);
            assert_eq!(names(vk), ["here", "a", "b"]);
            assert_eq!(server.requests(), 1 + 4);
            let text = maps();
            let of_file = text.lines().filter(|line| line.contains("libutil.so.1"));
            let inodes: BTreeSet<_> = of_file.filter_map(|line| line.split_whitespace().nth(4)).collect();
            assert_eq!(inodes.len(), 1, "{text}");
        });
        outcome.ok();
    });
}

/// LSV-66: if the process has opened a library, the loader opens no second library with the same name.
#[test]
fn lsv_66_an_open_library_is_not_asked_for() {
    case(|scene| {
        scene_with(scene, &["a", "need"]);
        let outcome = scene.run(|vk| {
            let newer = json!({"file": "libc.so.99", "symbols": 1_000_000});
            let server = Server::honest(&socket(vk), &[needing(vk, "0-libc.so.6", newer)]);
            assert_eq!(names(vk), ["here", "a"]);
            assert_eq!(server.requests(), 2);
        });
        outcome.ok();
    });
}

/// LSV-66: if two libraries have the same name, the loader uses the newer one. The versions in the file names decide. If the versions are
/// equal or missing, the numbers of exported symbols decide.
#[test]
fn lsv_66_the_newer_library_is_used() {
    case(|scene| {
        scene_with(scene, &["a", "need"]);
        for (own, file, symbols, requests) in [
            ("libneeded.so.1.5", "libneeded.so.1.4", 1_000_000, 2),
            ("libneeded.so.1.5", "libneeded.so.1.10", 0, 3),
            ("libneeded.so.1.5", "libneeded.so.1.5", 1_000_000, 3),
            ("libneeded.so.1.5", "libneeded.so.1.5", 0, 2),
            (NEEDED, NEEDED, 1_000_000, 3),
            (NEEDED, NEEDED, 0, 2),
            // The newer library needs version 2.999 of the C library, so the loader uses the older library.
            ("libneeded.so.1.5", "libneeded.so.1.999", 0, 2),
        ] {
            with_folder(scene, own);
            let outcome = scene.run(|vk| {
                let c_library = if file.ends_with("999") { "2.999" } else { "2.2" };
                let need = json!({"file": file, "symbols": symbols, "c_library": c_library});
                let server = Server::honest(&socket(vk), &[needing(vk, "0-libneeded.so.1", need)]);
                assert_eq!(names(vk), ["here", "a"]);
                assert_eq!(server.requests(), requests, "{own} {file} {symbols}");
            });
            outcome.ok();
        }
    });
}

/// LSV-66: a driver is skipped if the service does not send its library.
#[test]
fn lsv_66_a_library_that_does_not_come_costs_its_driver() {
    case(|scene| {
        scene_with(scene, &["a", "need", "good"]);
        let outcome = scene.run(|vk| {
            let packages = [needing(vk, "0-libneeded.so.1", json!({})), package(vk, 1, "good")];
            let change = |request: &crate::service_server::Request, reply: &mut crate::service_server::Reply| {
                if request.payload["name"] == json!("0-libneeded.so.1") {
                    reply.files.clear();
                }
                Then::Send
            };
            let _server = Server::changed(&socket(vk), &packages, change);
            assert_eq!(names(vk), ["here", "good"]);
        });
        outcome
            .ok()
            .logged_with("ERROR | DRIVER", "The driver service sent an invalid answer");
    });
}

/// LSV-67: if the driver or one of its needed libraries needs a newer C library, the loader refuses the driver, and does not request its
/// library.
#[test]
fn lsv_67_a_newer_c_library_is_named() {
    case(|scene| {
        scene_with(scene, &["a", "need", "good"]);
        for of_driver in [true, false] {
            let outcome = scene.run(|vk| {
                let mut new = needing(
                    vk,
                    "0-libneeded.so.1",
                    json!({"c_library": if of_driver { "2.2" } else { "2.999" }}),
                );
                new.c_library = if of_driver { "2.999" } else { "2.2" };
                let mut good = package(vk, 1, "good");
                good.c_library = "2.2.5";
                let server = Server::honest(&socket(vk), &[new, good]);
                assert_eq!(names(vk), ["here", "good"]);
                assert_eq!(server.requests(), 2);
            });
            let line = "The driver service has a driver for version 2.999 of the C library, and this program has 2.";
            outcome.ok().logged_with("WARNING | DRIVER", line);
        }
    });
}

/// LSV-67: a program with a C library other than glibc uses only drivers that state no version of glibc.
#[cfg(target_env = "musl")]
#[test]
fn lsv_67_a_driver_for_the_gnu_c_library_is_skipped() {
    case(|scene| {
        scene_with(scene, &["a", "good"]);
        let outcome = scene.run(|vk| {
            let mut gnu = package(vk, 0, "a");
            gnu.c_library = "2.2";
            let server = Server::honest(&socket(vk), &[gnu, package(vk, 1, "good")]);
            assert_eq!(names(vk), ["here", "good"]);
            assert_eq!(server.requests(), 2);
        });
        let line = "The driver service has a driver for the GNU C library, which this program does not use.";
        outcome.ok().logged_with("INFO | DRIVER", line);
    });
}

/// LSV-42: if a connection ends before the service has sent a library, another connection receives the remaining answers.
#[test]
fn lsv_42_an_ended_connection_is_replaced() {
    case(|scene| {
        scene_with(scene, &["a", "b"]);
        let outcome = scene.run(|vk| {
            let ended = std::sync::atomic::AtomicBool::new(false);
            let change = move |request: &crate::service_server::Request, _: &mut crate::service_server::Reply| {
                let is_first = request.is(Operation::Get) && !ended.swap(true, std::sync::atomic::Ordering::Relaxed);
                if is_first { Then::Close } else { Then::Send }
            };
            let server = Server::changed(&socket(vk), &[package(vk, 0, "a"), package(vk, 1, "b")], change);
            assert_eq!(names(vk), ["here", "a", "b"]);
            assert_eq!((server.connections(), server.requests()), (2, 1 + 3));
        });
        outcome.ok();
    });
}

/// LSV-68: a device that an installed driver serves is not listed again, also not in groups. Other devices of the same driver remain in the
/// lists.
#[test]
fn lsv_68_a_device_is_listed_once() {
    case(|scene| {
        scene.needs_superuser("programs trust a driver service of the superuser");
        scene
            .driver("here")
            .device_with("uuid", |device| device.ids(1, 2).uuids(0xAB, 1))
            .device_with("place", |device| device.ids(1, 3).api("1.2").pci(0, 0x65, 0, 0))
            .device_with("processor", |device| device.ids(1, 4).kind(4))
            .folder("xdg/data-home/vulkan/icd.d");
        scene
            .driver("a")
            .device_with("same uuid", |device| device.ids(1, 2).uuids(0xAB, 2))
            .device_with("same place", |device| device.ids(9, 9).api("1.2").pci(0, 0x65, 0, 0))
            .device_with("same processor", |device| device.ids(1, 4).kind(4))
            .device_with("other uuid", |device| device.ids(1, 2).uuids(0xAC, 1))
            .device_with("other kind", |device| device.ids(1, 4).kind(2))
            .unlisted();
        let socket_path = scene.path("s");
        scene
            .unset("VK_DRIVER_FILES")
            .env("VK_LOADER_SERVICE_SOCKET", socket_path);
        scene.env("VK_LOADER_DISABLE_SELECT", "1");
        let outcome = scene.run(|vk| {
            let _server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            let instance = vk.spec().api("1.1").create().expect("vkCreateInstance");
            let mut names = instance.device_names();
            names.sort();
            assert_eq!(names, ["other kind", "other uuid", "place", "processor", "uuid"]);
            let groups = instance.group_names();
            assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 5);
        });
        outcome.ok();
        for name in ["same uuid", "same place", "same processor"] {
            let line = format!("Device \"{name}\" of the driver service is left out: an installed driver serves it");
            outcome.logged_with("INFO", &line);
        }
    });
}
