//! Tests of faulty and hostile services, and of processes that trust fewer services (LSV-42 to LSV-48). A faulty service can prevent only
//! the use of its own drivers.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, chown};

use loader_tests::{Outcome, Scene, case, eventually, linker_words};
use serde_json::json;
use wire::Operation;

use crate::service::{names, package, scene_with, socket};
use crate::service_server::{Reply, Request, SEALS, Server, Then, copy_with, memory, sealed};

/// Runs a program whose service offers the drivers `bad` and `good`, and changes its answers with `change`. Checks that the program lists
/// the devices `expected`, and that it never loads `bad`.
pub(crate) fn changed(
    scene: &mut Scene,
    change: impl Fn(&Request, &mut Reply) -> Then + Send + Sync + 'static,
    expected: &[&str],
) -> Outcome {
    let outcome = scene.run(move |vk| {
        let packages = [package(vk, 0, "bad"), package(vk, 1, "good")];
        let _server = Server::changed(&socket(vk), &packages, change);
        assert_eq!(names(vk), expected);
    });
    outcome.ok();
    assert!(outcome.calls("bad", "load").is_empty(), "{}", outcome.all());
    outcome
}

/// Starts a service whose packet with the first library is invalid.
pub(crate) fn with_bad(
    change: impl Fn(&mut Reply) -> Then + Send + Sync + 'static,
) -> impl Fn(&Request, &mut Reply) -> Then {
    move |request, reply| {
        if request.payload["name"] == json!("0-libmock_bad.so") {
            change(reply)
        } else {
            Then::Send
        }
    }
}

pub(crate) fn of(text: &str) -> String {
    format!("The driver service {text}. Going on without service:0-libmock_bad.so")
}

/// LSV-47: the loader does not open a file that the service or other processes could change, and skips only that driver.
#[test]
fn lsv_47_files_that_others_can_change_are_refused() {
    case(|scene| {
        scene_with(scene, &["bad", "good"]);
        let (both, error) = (["here", "good"], "ERROR | DRIVER");
        let library = scene.library("bad");
        for missing in [
            libc::F_SEAL_SEAL,
            libc::F_SEAL_SHRINK,
            libc::F_SEAL_GROW,
            libc::F_SEAL_WRITE,
        ] {
            let library = library.clone();
            let change = with_bad(move |reply| {
                reply.files = vec![copy_with(&library, SEALS & !missing)];
                Then::Send
            });
            changed(scene, change, &both).logged(error, &of("sent a file that others can change"));
        }
        for (owner, mode) in [(1000, 0o644), (0, 0o664), (0, 0o646)] {
            scene.on_disk(|| {
                if library.exists() {
                    chown(&library, Some(owner), None).expect("the superuser may");
                    fs::set_permissions(&library, fs::Permissions::from_mode(mode)).expect("the superuser may");
                }
            });
            let path = library.clone();
            let change = with_bad(move |reply| {
                chown(&path, Some(owner), None).expect("the superuser may");
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("the superuser may");
                reply.files = vec![File::open(&path).expect("it is there").into()];
                Then::Send
            });
            changed(scene, change, &both).logged(error, &of("sent a file that others can change"));
        }
        let change = with_bad(|reply| {
            reply.files = vec![File::open("/").expect("it is there").into()];
            Then::Send
        });
        changed(scene, change, &both).logged(error, &of("sent a file that others can change"));
    });
}

/// LSV-47: the library accepts a file that only the superuser can write, in place of a sealed file.
#[test]
fn lsv_47_a_file_of_the_superuser_is_trusted() {
    case(|scene| {
        scene_with(scene, &["a"]);
        let outcome = scene.run(|vk| {
            let package = package(vk, 0, "a");
            let path = package.library.clone();
            chown(&path, Some(0), None).expect("the superuser may");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the superuser may");
            let change = move |request: &Request, reply: &mut Reply| {
                if request.is(Operation::Get) {
                    reply.files = vec![File::open(&path).expect("it is there").into()];
                }
                Then::Send
            };
            let _server = Server::changed(&socket(vk), &[package], change);
            assert_eq!(names(vk), ["here", "a"]);
        });
        outcome.ok();
    });
}

/// LSV-62: if a file is not a library, the loader skips only that driver.
#[test]
fn lsv_62_a_file_that_is_not_a_library_is_refused() {
    case(|scene| {
        scene_with(scene, &["bad", "good"]);
        let change = with_bad(|reply| {
            reply.files = vec![memory("other", b"no library", SEALS)];
            Then::Send
        });
        changed(scene, change, &["here", "good"]).logged_with("ERROR", linker_words::TOO_SHORT);
    });
}

/// LSV-47: the service sends exactly one descriptor with a library. With any other number of descriptors, the loader skips the driver, and
/// no descriptor remains open.
#[test]
fn lsv_47_one_descriptor_and_no_other_number() {
    case(|scene| {
        scene_with(scene, &["bad", "good"]);
        for count in [0, 2, 60] {
            let outcome = scene.run(move |vk| {
                let before = fs::read_dir("/proc/self/fd").expect("it is there").count();
                let packages = [package(vk, 0, "bad"), package(vk, 1, "good")];
                let library = packages[0].library.clone();
                let change = with_bad(move |reply| {
                    reply.files = (0..count).map(|_| sealed(&library)).collect();
                    Then::Send
                });
                let server = Server::changed(&socket(vk), &packages, change);
                assert_eq!(names(vk), ["here", "good"]);
                drop(server);
                assert_eq!(names(vk), ["here"]);
                let _server = Server::honest(&socket(vk), &[]);
                assert_eq!(names(vk), ["here"]);
                drop(_server);
                assert_eq!(names(vk), ["here"]);
                eventually("no descriptor stays open", || {
                    fs::read_dir("/proc/self/fd").expect("it is there").count() <= before
                });
            });
            outcome.ok().logged("ERROR | DRIVER", &of("sent an invalid answer"));
            assert!(outcome.calls("bad", "load").is_empty());
        }
    });
}

/// LSV-63, LSV-34, LSV-35: after a malformed answer, the loader skips only the driver that the answer describes. If the list is malformed,
/// the scan finds no drivers of the service, and the next scan connects again.
#[test]
fn lsv_63_malformed_answers() {
    case(|scene| {
        scene_with(scene, &["bad", "good"]);
        let lists = |change: fn(&mut Reply)| {
            move |request: &Request, reply: &mut Reply| {
                if request.is(Operation::Manifests) {
                    change(reply);
                }
                Then::Send
            }
        };
        type Change = fn(&mut Reply);
        let packets: [Change; 11] = [
            |reply| reply.header.request += 1,
            |reply| reply.header.request = 0,
            |reply| reply.header.is_reply = false,
            |reply| reply.header.operation = 2,
            |reply| reply.last = |packet| packet[0] = b'X',
            |reply| reply.last = |packet| packet[4] += 1,
            |reply| reply.last = |packet| packet.truncate(15),
            |reply| reply.last = |packet| packet.truncate(17),
            |reply| reply.payload = vec![b' '; 65536 + 1],
            |reply| reply.payload = b"{".to_vec(),
            |reply| reply.payload = b"[]".to_vec(),
        ];
        let files: [Change; 3] = [
            |reply| reply.files = vec![memory("x", b"{}", SEALS)],
            |reply| reply.files = vec![memory("x", b"0-a.so\0\0\0\0short\0{}\0", SEALS)],
            |reply| reply.files = vec![memory("x", &[0; 2 << 10], SEALS)],
        ];
        for change in packets.into_iter().chain(files) {
            let name = scene.text_path("s");
            let line = format!("The driver service sent an invalid answer. Going on without {name}");
            changed(scene, lists(change), &["here"]).logged("ERROR | DRIVER", &line);
        }
        let outcome = changed(
            scene,
            lists(|reply| reply.files = vec![memory("x", b"", SEALS & !libc::F_SEAL_WRITE)]),
            &["here"],
        );
        outcome.logged_with("ERROR | DRIVER", "sent a file that others can change");
        let (level, other) = ("WARNING | DRIVER", 96 - usize::BITS);
        for (word, level, text) in [
            ("denied", level, "answered \"denied\"".to_owned()),
            ("timeout", level, "answered \"timeout\"".to_owned()),
            // LSV-50: the service has drivers, but not for this program.
            (
                "word_size",
                "INFO | DRIVER",
                format!("has drivers for {other}-bit programs only"),
            ),
        ] {
            let change = move |request: &Request, reply: &mut Reply| {
                if request.is(Operation::Manifests) {
                    reply.payload = json!({"status": word}).to_string().into();
                    reply.files.clear();
                }
                Then::Send
            };
            let line = format!("The driver service {text}");
            changed(scene, change, &["here"]).logged_with(level, &line);
        }
        let change = with_bad(|reply| {
            reply.payload = json!({"status": "not_found"}).to_string().into();
            reply.files.clear();
            Then::Send
        });
        changed(scene, change, &["here", "good"]).logged("WARNING | DRIVER", &of("does not have the library"));
    });
}

/// LSV-63: after a malformed answer, the next request is on a new connection.
#[test]
fn lsv_63_a_connection_with_a_malformed_answer_is_not_used_again() {
    case(|scene| {
        scene_with(scene, &["bad", "good"]);
        let outcome = scene.run(|vk| {
            let packages = [package(vk, 0, "bad"), package(vk, 1, "good")];
            let change = with_bad(|reply| {
                reply.header.request += 1;
                Then::Send
            });
            let server = Server::changed(&socket(vk), &packages, change);
            assert_eq!(names(vk), ["here", "good"]);
            assert_eq!(server.connections(), 2);
        });
        outcome.ok().logged("ERROR | DRIVER", &of("sent an invalid answer"));
    });
}

/// LSV-50: if a service does not know the program's word size, it can offer a library of another word size. The loader skips this library.
#[test]
fn lsv_50_a_library_of_another_class_costs_nothing() {
    case(|scene| {
        scene_with(scene, &["a", "good"]);
        let outcome = scene.run(|vk| {
            let mut other = package(vk, 0, "a");
            let mut bytes = fs::read(&other.library).expect("the case has it");
            bytes[4] ^= 3;
            other.library = vk.path("other.so");
            fs::write(&other.library, bytes).expect("the folder is the case's");
            let _server = Server::honest(&socket(vk), &[other, package(vk, 1, "good")]);
            assert_eq!(names(vk), ["here", "good"]);
        });
        outcome.ok().logged_with("INFO", linker_words::OTHER_CLASS);
    });
}

/// LSV-47: the loader does not trust a service of a user who is neither the superuser nor the user of the build.
#[test]
fn lsv_47_a_service_of_another_user_is_not_trusted() {
    case(|scene| {
        scene_with(scene, &["a"]);
        for user in [1000, 65534] {
            let outcome = scene.run(|vk| {
                let server = Server::of_user(&socket(vk), &[package(vk, 0, "a")], user);
                assert_eq!(names(vk), ["here"]);
                assert_eq!(server.requests(), 0);
            });
            let line = format!("The driver service is run by user {user}, who is not trusted");
            outcome.ok().logged_with("ERROR | DRIVER", &line);
        }
    });
}

/// LSV-47: if `VK_LOADER_SERVICE_SOCKET` names a socket, the library trusts the owner of the socket's folder, unless other users can write
/// to the folder. It trusts the superuser in every folder.
#[test]
fn lsv_47_the_variable_vouches_for_the_owner_of_the_folder() {
    case(|scene| {
        scene_with(scene, &["a"]);
        let socket = scene.path("own/s");
        scene.env("VK_LOADER_SERVICE_SOCKET", socket);
        for (mode, owner, user, expected) in [
            (0o755, 1000, 1000, &["here", "a"][..]),
            (0o755, 65534, 65534, &["here", "a"]),
            (0o775, 1000, 1000, &["here"]),
            (0o755, 1000, 0, &["here", "a"]),
        ] {
            let outcome = scene.run(|vk| {
                let folder = vk.path("own");
                fs::create_dir(&folder).expect("the folder is the case's");
                chown(&folder, Some(owner), None).expect("the superuser may");
                fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("the superuser may");
                let _server = Server::of_user(&folder.join("s"), &[package(vk, 0, "a")], user);
                assert_eq!(names(vk), expected);
                drop(_server);
                fs::remove_dir(&folder).expect("it is empty");
            });
            outcome.ok();
        }
    });
}
