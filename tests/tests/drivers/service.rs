//! Tests of drivers that a driver service publishes (LSV-37 to LSV-48). The service runs in the process of the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use loader_tests::vk::isolated;
use loader_tests::{Outcome, Scene, Vk, case, eventually, linker_words, settle};
use serde_json::{Value, json};

use crate::service_server::{Package, Server, Then};

/// Adds the driver `here` to a standard folder, and the drivers `drivers`, which only the service offers.
pub(crate) fn scene_with(scene: &mut Scene, drivers: &[&str]) {
    // The service runs in the process of the program, so the superuser must run the test.
    scene.needs_superuser("programs trust a driver service of the superuser");
    scene.driver("here").device("here").folder("xdg/data-home/vulkan/icd.d");
    for driver in drivers {
        scene.driver(driver).device(driver).unlisted();
    }
    let socket = scene.path("s");
    scene.unset("VK_DRIVER_FILES").env("VK_LOADER_SERVICE_SOCKET", socket);
    // Sorting is disabled, so the devices have the order of the scan.
    scene.env("VK_LOADER_DISABLE_SELECT", "1");
}

pub(crate) fn socket(vk: &Vk) -> PathBuf {
    vk.path("s")
}

pub(crate) fn package(vk: &Vk, instance: usize, driver: &str) -> Package {
    Package::new(instance, vk.path(&format!("libraries/libmock_{driver}.so")))
}

pub(crate) fn names(vk: &Vk) -> Vec<String> {
    let mut names = vk.instance().device_names();
    // The list begins with the devices of the last driver.
    names.reverse();
    names
}

fn loads(outcome: &Outcome, driver: &str) -> usize {
    outcome.calls(driver, "load").len()
}

/// LSV-37: without a socket and without `VK_LOADER_SERVICE_SOCKET`, the library asks no service. An empty value disables the service.
#[test]
fn lsv_37_without_a_service_nothing_changes() {
    case(|scene| {
        scene_with(scene, &["a"]);
        for value in [None, Some("")] {
            match value {
                None => scene.unset("VK_LOADER_SERVICE_SOCKET"),
                Some(value) => scene.env("VK_LOADER_SERVICE_SOCKET", value),
            };
            let outcome = scene.run(|vk| {
                let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
                assert_eq!(names(vk), ["here"]);
                assert_eq!(server.connections(), 0);
            });
            outcome.ok().not_logged("driver service");
        }
    });
}

/// LSV-38, LSV-39, LSV-40: drivers of the service come after drivers of the folders. The libraries are sealed memory files, and messages
/// name the drivers by their keys.
#[test]
fn lsv_38_drivers_of_the_service_follow_those_of_folders() {
    case(|scene| {
        scene_with(scene, &["a", "b"]);
        let outcome = scene.run(|vk| {
            let packages = [package(vk, 0, "a"), package(vk, 1, "b")];
            let server = Server::honest(&socket(vk), &packages);
            vk.extensions().expect("the query succeeds");
            for _ in 0..3 {
                assert_eq!(names(vk), ["here", "a", "b"]);
            }
            let instance = vk.instance();
            drop(instance.device(instance.named("b"), &[]));
            // There were six scans with one connection each, and the program requested each of the two libraries once.
            assert_eq!((server.connections(), server.requests()), (6, 6 + 2));
        });
        outcome.ok();
        outcome.logged(
            "DRIVER",
            "Found ICD manifest file service:0-libmock_a.so.json, version 1.0.1",
        );
        outcome.not_logged("/proc/self/fd");
        outcome.not_logged("differ from OS loaded path");
        assert_eq!((loads(&outcome, "a"), loads(&outcome, "b")), (1, 1));
        assert!(outcome.log("ERROR").is_empty() && outcome.log("WARNING | DRIVER").is_empty());
    });
}

/// LSV-38: driver filters match the name under which the service publishes a driver. The rules for portability drivers and architectures
/// apply too.
#[test]
fn lsv_38_filters_see_the_published_name() {
    case(|scene| {
        scene_with(scene, &["a", "b", "c", "d"]);
        scene.env("VK_LOADER_DRIVERS_DISABLE", "1-libmock_*");
        let outcome = scene.run(|vk| {
            let packages = [
                package(vk, 0, "a"),
                package(vk, 1, "b"),
                package(vk, 2, "c").with("library_arch", json!(if usize::BITS == 64 { "32" } else { "64" })),
                package(vk, 3, "d").with("is_portability_driver", json!(true)),
            ];
            let server = Server::honest(&socket(vk), &packages);
            assert_eq!(names(vk), ["here", "a"]);
            assert_eq!(server.requests(), 2);
            vk.set_env("VK_LOADER_DRIVERS_SELECT", Some("1-libmock_b.so.json"));
            assert_eq!(names(vk), ["b"]);
        });
        outcome.ok().logged_with("WARNING | DRIVER", "1-libmock_b.so.json");
        assert_eq!((loads(&outcome, "c"), loads(&outcome, "d")), (0, 0));
    });
}

/// LSV-38: if the loader can open an installed driver, it does not use the service's copy of the driver. If it cannot, it uses the
/// service's copy.
#[test]
fn lsv_38_an_installed_driver_takes_precedence() {
    case(|scene| {
        scene_with(scene, &["a", "b"]);
        let manifest = json!({
            "file_format_version": "1.0.1",
            "ICD": { "library_path": "/nowhere/libmock_a.so", "api_version": "1.3.280" },
        });
        scene.file("xdg/data-home/vulkan/icd.d/a.json", manifest.to_string());
        let outcome = scene.run(|vk| {
            let packages = [package(vk, 0, "here"), package(vk, 1, "a"), package(vk, 2, "b")];
            let server = Server::honest(&socket(vk), &packages);
            assert_eq!(names(vk), ["here", "a", "b"]);
            assert_eq!(server.requests(), 1 + 2);
        });
        outcome.ran();
        outcome.logged_with("INFO | DRIVER", "service:0-libmock_here.so.json is the same file as");
        assert_eq!(loads(&outcome, "here"), 1);
    });
}

/// LSV-38: if a variable replaces the search for drivers in folders, the loader also asks no service.
#[test]
fn lsv_38_replaced_searches_ask_no_service() {
    case(|scene| {
        scene_with(scene, &["a"]);
        for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
            let outcome = scene.run(|vk| {
                let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
                let manifest = vk.path("xdg/data-home/vulkan/icd.d/here.json");
                vk.set_env(variable, manifest.to_str());
                assert_eq!(names(vk), ["here"]);
                assert_eq!(server.connections(), 0);
                vk.set_env(variable, None);
                assert_eq!(names(vk), ["here", "a"]);
            });
            outcome.ok();
        }
    });
}

/// LSV-38: a program with exclusive direct drivers asks no service.
#[test]
fn lsv_38_exclusive_drivers_ask_no_service() {
    use loader_tests::ash::vk as api;
    case(|scene| {
        scene_with(scene, &["a", "own"]);
        let outcome = scene.run(|vk| {
            let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            let infos = [api::DirectDriverLoadingInfoLUNARG {
                pfn_get_instance_proc_addr: vk.direct_driver("own"),
                ..Default::default()
            }];
            let list = api::DirectDriverLoadingListLUNARG::default()
                .mode(api::DirectDriverLoadingModeLUNARG::EXCLUSIVE)
                .drivers(&infos);
            let spec = vk.spec().extensions(&["VK_LUNARG_direct_driver_loading"]).next(&list);
            assert_eq!(spec.create().expect("vkCreateInstance").device_names(), ["own"]);
            assert_eq!(server.connections(), 0);
        });
        outcome.ok();
    });
}

/// LSV-38: the trace names the service as the origin of a driver.
#[test]
fn lsv_38_the_trace_tells_the_origin() {
    case(|scene| {
        scene_with(scene, &["a"]);
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace);
        let outcome = scene.run(|vk| {
            let gone = Package {
                library: vk.path("libraries/libmock_here.so"),
                ..package(vk, 1, "a")
            };
            let broken = gone.key.clone();
            let change = move |request: &crate::service_server::Request, reply: &mut crate::service_server::Reply| {
                if request.payload["name"] == json!(broken) {
                    reply.set("status", json!("not_found"));
                }
                Then::Send
            };
            let _server = Server::changed(&socket(vk), &[package(vk, 0, "a"), gone], change);
            assert_eq!(names(vk), ["here", "a"]);
        });
        outcome.ok();
        let text = fs::read_to_string(&trace).unwrap_or_default();
        let records: Vec<Value> = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let of_service: Vec<&Value> = records
            .iter()
            .filter(|record| record["source"]["kind"] == "service")
            .collect();
        let has = |event: &str, key: &str, value: &str| {
            of_service
                .iter()
                .any(|record| record["event"] == event && record[key] == value)
        };
        if !scene.is_child() {
            let socket = scene.text_path("s");
            assert!(has("searched", "folder", &socket), "{text}");
            assert!(has("decision", "name", "service:0-libmock_a.so.json"), "{text}");
            assert!(has("decision", "name", "service:0-libmock_a.so"), "{text}");
            assert!(has("decision", "path", "service:0-libmock_a.so.json"), "{text}");
            assert!(has("decision", "code", "service.no-library"), "{text}");
            assert!(!text.contains("/proc/self/fd"), "{text}");
        }
    });
}

/// LSV-42, LSV-39: if the service offers another driver while the program runs, the next scan lists this driver, although the loader stores
/// the results of folder scans.
#[test]
fn lsv_42_a_driver_that_is_added_is_seen_at_the_next_scan() {
    case(|scene| {
        scene_with(scene, &["a", "b"]);
        // Without a log, the loader stores the results of scans.
        scene.unset("VK_LOADER_DEBUG");
        let outcome = scene.run(|vk| {
            settle();
            let server = Server::honest(&socket(vk), &[]);
            vk.extensions().expect("the query succeeds");
            assert_eq!(names(vk), ["here"]);
            server.publish(&[package(vk, 0, "a")]);
            assert_eq!(names(vk), ["here", "a"]);
            server.publish(&[package(vk, 0, "a"), package(vk, 1, "b")]);
            vk.extensions().expect("the query succeeds");
            assert_eq!(names(vk), ["here", "a", "b"]);
            server.publish(&[package(vk, 1, "b")]);
            assert_eq!(names(vk), ["here", "b"]);
        });
        outcome.ok();
    });
}

/// LSV-42, LSV-40: the loader connects to a restarted service. Keys of the earlier service are invalid, and loaded libraries stay loaded.
#[test]
fn lsv_42_a_service_that_is_restarted_is_connected_to_anew() {
    case(|scene| {
        scene_with(scene, &["a", "b"]);
        let outcome = scene.run(|vk| {
            let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            let instance = vk.instance();
            assert_eq!(instance.device_names(), ["a", "here"]);
            drop(server);
            vk.mark("dead");
            assert_eq!(names(vk), ["here"]);
            // Publishes a second driver under the key of the first driver.
            let other = Package {
                library: vk.path("libraries/libmock_b.so"),
                ..package(vk, 0, "a")
            };
            let server = Server::honest(&socket(vk), &[other]);
            assert_eq!(names(vk), ["here", "b"]);
            assert_eq!(names(vk), ["here", "b"]);
            assert_eq!((server.connections(), server.requests()), (2, 3));
            drop(instance.device(instance.named("a"), &[]));
        });
        outcome.ok();
        outcome.logged_with("WARNING | DRIVER", "The driver service cannot be reached: No such file");
        assert_eq!((loads(&outcome, "a"), loads(&outcome, "b")), (1, 1));
    });
}

/// LSV-40: if the service no longer offers a library, the loader closes this library as soon as no instance uses it.
#[test]
fn lsv_40_libraries_of_a_lost_service_are_closed_when_nothing_uses_them() {
    let descriptors = || fs::read_dir("/proc/self/fd").expect("it is there").count();
    case(|scene| {
        scene_with(scene, &["a"]);
        let outcome = scene.run(|vk| {
            let before = descriptors();
            for round in 0..5 {
                let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
                assert_eq!(names(vk), ["here", "a"]);
                drop(server);
                assert_eq!(names(vk), ["here"], "round {round}");
            }
            let server = Server::honest(&socket(vk), &[]);
            assert_eq!(names(vk), ["here"]);
            drop(server);
            assert_eq!(names(vk), ["here"]);
            // A thread of the service ends when it detects that its client has disconnected.
            eventually("no descriptor stays open", || descriptors() == before);
        });
        outcome.ok();
        assert_eq!((loads(&outcome, "a"), outcome.calls("a", "unload").len()), (5, 5));
    });
}

/// LSV-40: a library that the service replaced is closed at the next scan, unless an instance uses it.
#[test]
fn lsv_40_a_library_that_was_replaced_is_closed() {
    let is_mapped = |driver: &str| {
        let maps = fs::read_to_string("/proc/self/maps").expect("it is there");
        maps.contains(&format!("libmock_{driver}.so"))
    };
    case(|scene| {
        scene_with(scene, &["a", "b"]);
        let outcome = scene.run(|vk| {
            let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            assert_eq!(names(vk), ["here", "a"]);
            let instance = vk.instance();
            server.publish(&[package(vk, 1, "b")]);
            assert_eq!(names(vk), ["here", "b"]);
            assert!(is_mapped("a") && is_mapped("b"));
            drop(instance.device(instance.named("a"), &[]));
            drop(instance);
            assert!(!is_mapped("a") && is_mapped("b"));
            // The list has a new number and the same library, so the library is not requested again.
            let before = server.requests();
            server.publish(&[package(vk, 2, "b")]);
            assert_eq!(names(vk), ["here", "b"]);
            assert_eq!(server.requests(), before + 1);
        });
        outcome.ok();
        assert_eq!(loads(&outcome, "b"), 1);
    });
}

/// LSV-40: the unloading of the loader closes the drivers' libraries that the service sent, and leaves no descriptor open.
#[test]
fn lsv_40_unloading_the_loader_leaves_nothing() {
    let descriptors = || fs::read_dir("/proc/self/fd").expect("it is there").count();
    case(|scene| {
        scene_with(scene, &["a"]);
        let outcome = scene.run_unloaded(|scratch| {
            let mut vk = scratch.load();
            let _server = Server::honest(&socket(&vk), &[package(&vk, 0, "a")]);
            let before = descriptors();
            for _ in 0..3 {
                assert_eq!(names(&vk), ["here", "a"]);
                vk.reload(|| {
                    let maps = fs::read_to_string("/proc/self/maps").expect("it is there");
                    assert!(!maps.contains("libmock_a.so"), "{maps}");
                });
            }
            eventually("no descriptor stays open", || descriptors() == before);
        });
        outcome.ok();
        assert_eq!((loads(&outcome, "a"), outcome.calls("a", "unload").len()), (3, 3));
    });
}

/// LSV-40, LSV-42: between calls the library has no descriptor, so the program can close or reuse every descriptor.
#[test]
fn lsv_42_no_descriptor_stays_between_calls() {
    let descriptors = || {
        let opened = fs::read_dir("/proc/self/fd").expect("it is there");
        let targets = opened.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        let mut targets: Vec<PathBuf> = targets.filter(|target| !target.starts_with("/proc")).collect();
        targets.sort();
        targets
    };
    case(|scene| {
        scene_with(scene, &["a"]);
        let outcome = scene.run(|vk| {
            let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            let before = descriptors();
            vk.extensions().expect("the query succeeds");
            let instance = vk.instance();
            assert_eq!(instance.device_names(), ["a", "here"]);
            // A thread of the service ends when it detects that its client has disconnected.
            eventually("no descriptor stays open", || descriptors() == before);
            drop(instance);
            assert_eq!(server.connections(), 3);
        });
        outcome.ok();
    });
}

/// LSV-42: a forked copy of the process makes its own connection to the service, and uses the libraries that are already loaded.
#[test]
fn lsv_42_a_copy_of_the_process_connects_itself() {
    case(|scene| {
        scene_with(scene, &["a"]);
        let outcome = scene.run(|vk| {
            let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            assert_eq!(names(vk), ["here", "a"]);
            for copies in 1..3 {
                let ending = isolated(|| assert_eq!(names(vk), ["here", "a"]));
                assert_eq!(ending.signal, 0, "{}", ending.stderr);
                assert!(!ending.stderr.contains("panicked"), "{}", ending.stderr);
                assert_eq!(server.connections(), 2 * copies);
                assert_eq!(names(vk), ["here", "a"]);
            }
            assert_eq!((server.connections(), server.requests()), (5, 5 + 1));
        });
        outcome.ran();
    });
}

/// LSV-41, LSV-39, DRV-58: if the system cannot open a library that the service sent, only its driver is missing. The log contains the
/// system's error text.
#[test]
fn lsv_41_what_the_system_does_not_take_costs_one_driver() {
    case(|scene| {
        scene_with(scene, &["a"]);
        let text = scene.file("libraries/libtext.so", "no library at all");
        scene.on_disk(|| fs::set_permissions(&text, fs::Permissions::from_mode(0o644)).expect("the owner may"));
        let outcome = scene.run(|vk| {
            let broken = Package::new(0, vk.path("libraries/libtext.so"));
            let _server = Server::honest(&socket(vk), &[broken, package(vk, 1, "a")]);
            assert_eq!(names(vk), ["here", "a"]);
        });
        outcome.ok().logged_with("ERROR", linker_words::TOO_SHORT);
        outcome.logged(
            "ERROR | DRIVER",
            "loader_icd_scan: Failed loading library associated with ICD JSON service:0-libtext.so. Ignoring this JSON",
        );
    });
}

/// LSV-34: keys can contain any characters except slashes and the characters that JSON escapes.
#[test]
fn lsv_34_odd_keys_are_asked_for_as_they_are() {
    case(|scene| {
        scene_with(scene, &["a"]);
        let outcome = scene.run(|vk| {
            let key = "0-' \u{e4}";
            let mut odd = package(vk, 0, "a").with("library_path", json!(key));
            odd.key = key.into();
            let _server = Server::honest(&socket(vk), &[odd]);
            assert_eq!(names(vk), ["here", "a"]);
        });
        outcome.ok();
    });
}

/// LSV-39: the loader requests a library by the library's key in the service's list, and never opens a path in the manifest.
#[test]
fn lsv_39_a_path_in_a_published_manifest_is_never_opened() {
    case(|scene| {
        scene_with(scene, &["a", "other"]);
        let outcome = scene.run(|vk| {
            let library = vk.path("libraries/libmock_other.so");
            let path = package(vk, 0, "a").with("library_path", json!(library.to_str()));
            let server = Server::honest(&socket(vk), &[path]);
            assert_eq!(names(vk), ["here", "a"]);
            assert_eq!(server.requests(), 2);
        });
        outcome.ok();
        assert_eq!((loads(&outcome, "a"), loads(&outcome, "other")), (1, 0));
    });
}
