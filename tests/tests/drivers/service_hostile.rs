//! Services that are not what they should be, and processes that trust them less (LSV-42 to LSV-48): each costs its own drivers at most.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use loader_tests::vk::{Heap, Refusal, isolated};
use loader_tests::{Outcome, Scene, Vk, case};
use serde_json::json;
use wire::{Header, Operation};

use crate::service::{names, package, scene_with, socket};
use crate::service_server::{Reply, Request, SEALS, Server, Then, bound, copy_with, memory, sealed, sum};

/// Runs a program whose service changes what it says. The driver in a folder is always there; `good` is, where only the other one is
/// concerned.
fn changed(
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

/// One that concerns the answer with the first library only.
fn with_bad(change: impl Fn(&mut Reply) -> Then + Send + Sync + 'static) -> impl Fn(&Request, &mut Reply) -> Then {
    move |request, reply| match request.payload["name"] == json!("0-libmock_bad.so") {
        true => change(reply),
        false => Then::Send,
    }
}

fn of(text: &str) -> String {
    format!("The driver service {text}. Going on without service:0-libmock_bad.so")
}

/// LSV-47, section B6: a file that the service or others could change is not opened, and costs one driver.
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

/// LSV-47: a file of the superuser alone is as good as a sealed one.
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

/// Section B6: what is not what was promised, by size or checksum, is not opened.
#[test]
fn lsv_47_other_bytes_than_promised_are_refused() {
    case(|scene| {
        scene_with(scene, &["bad", "good"]);
        let both = ["here", "good"];
        let library = scene.library("bad");
        let change = with_bad(move |reply| {
            let mut bytes = fs::read(&library).expect("it is there");
            *bytes.last_mut().expect("it is not empty") ^= 1;
            reply.files = vec![memory("other", &bytes, SEALS)];
            Then::Send
        });
        changed(scene, change, &both).logged(
            "ERROR | DRIVER",
            &of("sent a file of another checksum than it promised"),
        );
        let change = with_bad(|reply| {
            reply.set("sha256", json!(sum(b"other")));
            Then::Send
        });
        changed(scene, change, &both).logged(
            "ERROR | DRIVER",
            &of("sent a file of another checksum than it promised"),
        );
        let change = with_bad(|reply| {
            reply.set("size", json!(1));
            Then::Send
        });
        changed(scene, change, &both).logged("ERROR | DRIVER", &of("sent a file of another size than it promised"));
    });
}

/// LSV-47: exactly one descriptor comes with a library; none, two, or more than there is room for cost one driver, and stay nowhere.
#[test]
fn lsv_47_one_descriptor_and_no_other_number() {
    case(|scene| {
        scene_with(scene, &["bad", "good"]);
        for (count, words) in [
            (0, "sent no file"),
            (2, "sent more than one file"),
            (60, "sent more than one file"),
        ] {
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
                let gone = (0..500).any(|_| {
                    thread::sleep(Duration::from_millis(10));
                    fs::read_dir("/proc/self/fd").expect("it is there").count() <= before
                });
                assert!(gone, "descriptors stay");
            });
            outcome.ok().logged("ERROR | DRIVER", &of(words));
            assert!(outcome.calls("bad", "load").is_empty());
        }
    });
}

/// Section B6, LSV-34, LSV-35: answers that are none. After one in the list there is no driver of the service in this scan; the next one
/// connects anew.
#[test]
fn lsv_34_answers_that_are_none() {
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
        let rows: [(Change, &str); 14] = [
            (|reply| reply.header.request += 1, "the answer to another request"),
            (|reply| reply.header.request = 0, "the answer to another request"),
            (|reply| reply.header.is_reply = false, "the answer to another request"),
            (
                |reply| {
                    reply.header = Header {
                        operation: 2,
                        ..reply.header
                    }
                },
                "the answer to another request",
            ),
            (|reply| reply.last = |packet| packet[0] = b'X', "a packet that is none"),
            (|reply| reply.last = |packet| packet[4] = 2, "a packet that is none"),
            (
                |reply| reply.last = |packet| packet.truncate(15),
                "a packet that is none",
            ),
            (
                |reply| reply.last = |packet| packet.truncate(17),
                "a packet that is none",
            ),
            (
                |reply| reply.payload = vec![b' '; 65536 + 1],
                "a packet that is too long",
            ),
            (|reply| reply.payload = b"{".to_vec(), "no JSON"),
            (|reply| reply.payload = b"[]".to_vec(), "no object"),
            (
                |reply| reply.set("count", json!(3)),
                "another number of manifests than it says",
            ),
            (
                |reply| reply.files = vec![memory("x", b"{}", SEALS)],
                "a list that is none",
            ),
            (
                |reply| reply.files = vec![memory("x", br#"[{"name":"../x.json","contents":"{}"},0]"#, SEALS)],
                "a manifest without a name",
            ),
        ];
        for (change, problem) in rows {
            let name = scene.text_path("s");
            let line = format!("The driver service gave a wrong answer ({problem}). Going on without {name}");
            changed(scene, lists(change), &["here"]).logged("ERROR | DRIVER", &line);
        }
        let outcome = changed(
            scene,
            lists(|reply| reply.files = vec![memory("x", b"[]", SEALS & !libc::F_SEAL_WRITE)]),
            &["here"],
        );
        outcome.logged_with("ERROR | DRIVER", "sent a file that others can change");
        for (word, words) in [("busy", "answered \"busy\""), ("timeout", "gave no answer in time")] {
            let change = move |request: &Request, reply: &mut Reply| {
                if request.is(Operation::Manifests) {
                    reply.payload = json!({"status": word}).to_string().into();
                    reply.files.clear();
                }
                Then::Send
            };
            changed(scene, change, &["here"]).logged_with("WARNING | DRIVER", words);
        }
        let change = with_bad(|reply| {
            reply.payload = json!({"status": "not_found"}).to_string().into();
            reply.files.clear();
            Then::Send
        });
        changed(scene, change, &["here", "good"]).logged("WARNING | DRIVER", &of("does not have the library"));
    });
}

/// LSV-50: a library of another word size, which a service offers that does not see what the program is, is not read to its end.
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
            let wrong_sum = |request: &Request, reply: &mut Reply| {
                if request.is(Operation::Get) && request.payload["name"] == json!("0-libmock_a.so") {
                    reply.set("sha256", json!("0".repeat(64)));
                }
                Then::Send
            };
            let _server = Server::changed(&socket(vk), &[other, package(vk, 1, "good")], wrong_sum);
            assert_eq!(names(vk), ["here", "good"]);
        });
        outcome.ok().not_logged("checksum");
    });
}

/// LSV-47: whoever is neither the superuser nor the user of the build is not believed.
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

/// LSV-42: a service that takes connections and says nothing costs a scan six seconds, one that takes none costs one.
#[test]
fn lsv_42_a_silent_service_has_a_limit() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.limit(60);
        let outcome = scene.run(|vk| {
            let server = Server::changed(&socket(vk), &[package(vk, 0, "a")], |_, _| Then::Keep);
            let began = Instant::now();
            assert_eq!(names(vk), ["here"]);
            let took = began.elapsed();
            assert!(
                (Duration::from_secs(6)..Duration::from_secs(9)).contains(&took),
                "{took:?}"
            );
            // The scans that follow pass over it, whoever it is by now.
            drop(server);
            let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            let began = Instant::now();
            assert_eq!(names(vk), ["here"]);
            assert_eq!(names(vk), ["here"]);
            assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
            assert_eq!(server.connections(), 0);
        });
        outcome
            .ok()
            .logged_with("WARNING | DRIVER", "The driver service gave no answer in time");
        // Of several threads that ask at once, those that wait for the first one do not wait again.
        let outcome = scene.run(|vk| {
            let _server = Server::changed(&socket(vk), &[package(vk, 0, "a")], |_, _| Then::Keep);
            let began = Instant::now();
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| vk.extensions().map(drop));
                }
            });
            // Each asks twice, for the number and for the names.
            let took = began.elapsed();
            assert!(took < Duration::from_secs(6 + 4), "{took:?}");
        });
        outcome
            .ok()
            .logged_with("WARNING | DRIVER", "The driver service gave no answer in time");
        let outcome = scene.run(|vk| {
            let listener = bound(&socket(vk));
            let descriptor = std::os::fd::AsRawFd::as_raw_fd(&listener);
            // SAFETY: a bound socket.
            let listens = unsafe { libc::listen(descriptor, 0) };
            assert_eq!(listens, 0);
            // As many as it lets wait, and one that waits to wait.
            let filler = |_| {
                let path = socket(vk);
                thread::spawn(move || connect_and_stay(&path))
            };
            let fillers: Vec<_> = (0..2).map(filler).collect();
            thread::sleep(Duration::from_millis(200));
            let began = Instant::now();
            assert_eq!(names(vk), ["here"]);
            let took = began.elapsed();
            assert!(
                (Duration::from_millis(900)..Duration::from_secs(4)).contains(&took),
                "{took:?}"
            );
            drop(fillers);
        });
        outcome
            .ok()
            .logged_with("WARNING | DRIVER", "The driver service gave no answer in time");
    });
}

/// LSV-42: a service that says itself that it needs more time is asked again by the next scan; one that answers each time in the nick of
/// time holds up a scan for twice the limit of one answer, and not for that of each driver.
#[test]
fn lsv_42_all_answers_of_a_slow_service_have_a_limit() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.limit(90);
        let outcome = scene.run(|vk| {
            let asked = AtomicUsize::new(0);
            let first_late = move |_: &Request, reply: &mut Reply| {
                if asked.fetch_add(1, Ordering::Relaxed) == 0 {
                    reply.set("status", json!("timeout"));
                }
                Then::Send
            };
            let _server = Server::changed(&socket(vk), &[package(vk, 0, "a")], first_late);
            assert_eq!(names(vk), ["here"]);
            assert_eq!(names(vk), ["here", "a"]);
        });
        outcome.ok();
        let outcome = scene.run(|vk| {
            let slow = |_: &Request, _: &mut Reply| {
                thread::sleep(Duration::from_secs(5));
                Then::Send
            };
            let packages = [0, 1, 2, 3, 4].map(|number| package(vk, number, "a"));
            let _server = Server::changed(&socket(vk), &packages, slow);
            let began = Instant::now();
            names(vk);
            let took = began.elapsed();
            assert!(
                (Duration::from_secs(10)..Duration::from_secs(16)).contains(&took),
                "{took:?}"
            );
        });
        outcome.ran();
    });
}

/// Connects as any client would, and does nothing.
fn connect_and_stay(path: &std::path::Path) {
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: a structure of numbers.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (place, &byte) in address.sun_path.iter_mut().zip(path.as_os_str().as_bytes()) {
        *place = byte as std::ffi::c_char;
    }
    // SAFETY: makes a descriptor, which is this function's.
    let made: OwnedFd = unsafe {
        std::os::fd::FromRawFd::from_raw_fd(libc::socket(
            libc::AF_UNIX,
            libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC,
            0,
        ))
    };
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: an address of this length.
    unsafe { libc::connect(made.as_raw_fd(), (&raw const address).cast(), length) };
    thread::sleep(Duration::from_secs(8));
}

/// LSV-42: a service that dies while it is asked costs what it was asked for, and the next scan connects anew.
#[test]
fn lsv_42_a_service_that_dies_while_it_is_asked() {
    case(|scene| {
        scene_with(scene, &["bad", "good"]);
        let change = |_: &Request, _: &mut Reply| Then::Close;
        changed(scene, change, &["here"]).logged_with("WARNING | DRIVER", "The driver service ended the connection");
        let outcome = changed(scene, with_bad(|_| Then::Close), &["here"]);
        outcome.logged("WARNING | DRIVER", &of("ended the connection"));
        let outcome = scene.run(|vk| {
            let died = AtomicBool::new(false);
            let change = with_bad(move |_| match died.swap(true, Ordering::SeqCst) {
                false => Then::Close,
                true => Then::Send,
            });
            let packages = [package(vk, 0, "bad"), package(vk, 1, "good")];
            let server = Server::changed(&socket(vk), &packages, change);
            assert_eq!(names(vk), ["here"]);
            assert_eq!(names(vk), ["here", "bad", "good"]);
            assert_eq!(server.connections(), 2);
        });
        outcome.ok();
    });
}

/// LSV-42: eight threads list and create at once while the service dies and comes back.
#[test]
fn lsv_42_threads_while_the_service_dies() {
    case(|scene| {
        scene_with(scene, &["a", "b"]);
        scene.env("VK_LOADER_DEBUG", "").limit(60);
        let outcome = scene.run(|vk| {
            let packages = [package(vk, 0, "a"), package(vk, 1, "b")];
            let (ended, made) = (AtomicBool::new(false), AtomicUsize::new(0));
            thread::scope(|scope| {
                for number in 0..8 {
                    let (ended, made) = (&ended, &made);
                    scope.spawn(move || {
                        while !ended.load(Ordering::SeqCst) {
                            if number % 2 == 0 {
                                vk.extensions().expect("the query succeeds");
                            } else {
                                let names = names(vk);
                                assert!(names[0] == "here" && names.len() <= 3, "{names:?}");
                                made.fetch_add(names.len() - 1, Ordering::SeqCst);
                            }
                        }
                    });
                }
                for _ in 0..20 {
                    let server = Server::honest(&socket(vk), &packages);
                    // It dies soon after some thread was served.
                    let before = made.load(Ordering::SeqCst);
                    let began = Instant::now();
                    while made.load(Ordering::SeqCst) == before && began.elapsed() < Duration::from_secs(1) {
                        thread::sleep(Duration::from_millis(20));
                    }
                    drop(server);
                    thread::sleep(Duration::from_millis(5));
                }
                ended.store(true, Ordering::SeqCst);
            });
            assert!(made.load(Ordering::SeqCst) > 0, "some drivers came from the service");
            let _server = Server::honest(&socket(vk), &packages);
            assert_eq!(names(vk), ["here", "a", "b"]);
        });
        outcome.ok();
    });
}

/// A file system of its own for this thread, with a service at the usual place.
fn at_the_usual_place(vk: &Vk) -> Server {
    use std::ptr::null;
    // SAFETY: terminated texts; only this thread sees what changes.
    unsafe {
        assert_eq!(
            libc::unshare(libc::CLONE_NEWNS),
            0,
            "the superuser can have a file system of its own"
        );
        let private = libc::MS_REC | libc::MS_PRIVATE;
        assert_eq!(libc::mount(null(), c"/".as_ptr(), null(), private, null()), 0);
        let run = c"/run".as_ptr();
        assert_eq!(libc::mount(c"none".as_ptr(), run, c"tmpfs".as_ptr(), 0, null()), 0);
    }
    fs::create_dir("/run/vulkan-loader").expect("the folder is empty");
    fs::set_permissions("/run/vulkan-loader", fs::Permissions::from_mode(0o755)).expect("the superuser may");
    Server::honest(wire::SOCKET.as_ref(), &[package(vk, 0, "a")])
}

/// LSV-37, LSV-33: the usual place is looked at once, at the first scan.
#[test]
fn lsv_37_the_usual_place() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.unset("VK_LOADER_SERVICE_SOCKET");
        let outcome = scene.run(|vk| {
            let server = at_the_usual_place(vk);
            assert_eq!(names(vk), ["here", "a"]);
            assert_eq!(server.connections(), 1);
        });
        outcome.ok();
        let outcome = scene.run(|vk| {
            assert_eq!(names(vk), ["here"]);
            let server = at_the_usual_place(vk);
            assert_eq!(names(vk), ["here"]);
            assert_eq!(server.connections(), 0);
        });
        outcome.ok();
    });
}

/// LSV-48: an elevated program does not look at the variable, and takes the usual place only in a folder of the superuser.
#[test]
fn lsv_48_an_elevated_program_asks_only_at_the_usual_place() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.elevated();
        let named = |vk: &Vk| {
            // Drivers of this machine are found too.
            let names = vk.spec().create().map(|instance| instance.device_names());
            names.is_ok_and(|names| names.contains(&"a".into()))
        };
        let outcome = scene.run(|vk| {
            let server = Server::honest(&vk.path("s"), &[package(vk, 0, "a")]);
            assert!(!named(vk));
            assert_eq!(server.connections(), 0);
        });
        outcome.ok().not_logged("driver service");
        let outcome = scene.run(|vk| {
            let _server = at_the_usual_place(vk);
            assert!(named(vk));
        });
        outcome.ok();
        for (owner, mode) in [(0, 0o775), (0, 0o757), (1000, 0o755)] {
            let outcome = scene.run(|vk| {
                let server = at_the_usual_place(vk);
                fs::set_permissions("/run/vulkan-loader", fs::Permissions::from_mode(mode)).expect("the superuser may");
                chown("/run/vulkan-loader", Some(owner), None).expect("the superuser may");
                assert!(!named(vk));
                assert_eq!(server.connections(), 0);
            });
            outcome
                .ok()
                .logged_with("ERROR | DRIVER", "in a folder that is not the superuser's alone");
        }
    });
}

/// DRV-4, APP-174: where memory runs out, the call says so or does without, and the same calls succeed afterwards.
#[test]
fn lsv_42_memory_that_runs_out() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.env("VK_LOADER_DEBUG", "").limit(60);
        let outcome = scene.run(|vk| {
            let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            let heap = Heap::of(vk);
            let program = || {
                let extensions = vk.extensions().map(|list| list.len())?;
                let instance = vk.spec().create()?;
                instance.devices().map(|devices| (extensions, devices.len()))
            };
            heap.refuse_none();
            let usual = program();
            assert_eq!(usual.map(|(_, devices)| devices), Ok(2));
            let count = heap.count();
            drop(server);
            assert_eq!(names(vk), ["here"]);
            // Each copy begins with a connection of its own.
            let _server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            for number in (1..=count).step_by(count.div_ceil(60)) {
                for refusal in [Refusal::Only(number), Refusal::From(number)] {
                    let ending = isolated(|| {
                        heap.refuse(refusal);
                        let answer = program();
                        heap.refuse_none();
                        assert!(
                            answer == usual || answer == Err(loader_tests::ash::vk::Result::ERROR_OUT_OF_HOST_MEMORY),
                            "{answer:?}"
                        );
                        assert_eq!(program(), usual);
                    });
                    let fine = ending.signal == 0 && !ending.stderr.contains("panicked");
                    assert!(fine, "{refusal:?} of {count}: {ending:?}");
                }
            }
        });
        outcome.ran();
    });
}
