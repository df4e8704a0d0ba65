//! Tests of services that are slow, silent or missing, and of a lack of memory during a request (LSV-42). Each call must end in time.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use loader_tests::vk::{Heap, Refusal, isolated};
use loader_tests::{case, eventually, retried};
use serde_json::json;

use crate::service::{names, package, scene_with, socket};
use crate::service_hostile::{changed, of, with_bad};
use crate::service_server::{Reply, Request, Server, Then, bound};

/// LSV-42: a service that accepts connections but never answers delays a scan by six seconds. A service that never accepts does the same.
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
            assert!(took >= Duration::from_secs(6), "{took:?}");
            // The next scans do not connect to the address of the silent service, even if another service listens there.
            drop(server);
            let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            assert_eq!(names(vk), ["here"]);
            assert_eq!(names(vk), ["here"]);
            assert_eq!(server.connections(), 0);
        });
        outcome
            .ok()
            .logged_with("WARNING | DRIVER", "The driver service gave no answer in time");
        // Several threads wait for the service at the same time, and not one after the other.
        let outcome = scene.run(|vk| {
            let server = Server::changed(&socket(vk), &[package(vk, 0, "a")], |_, _| Then::Keep);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| vk.extensions().map(drop));
                }
            });
            // Each call scans twice: for the count, and for the names. The second scan does not ask the service.
            assert!(server.connections() <= 4 && server.requests() <= 4);
        });
        outcome
            .ok()
            .logged_with("WARNING | DRIVER", "The driver service gave no answer in time");
        let outcome = scene.run(|vk| {
            let listener = bound(&socket(vk));
            let descriptor = std::os::fd::AsRawFd::as_raw_fd(&listener);
            // SAFETY: the socket is bound and open.
            let listens = unsafe { libc::listen(descriptor, 0) };
            assert_eq!(listens, 0);
            // Fills the queue of waiting connections, so that the next client must wait.
            let fillers: Vec<OwnedFd> = std::iter::from_fn(|| waiting_client(&socket(vk))).collect();
            assert!(!fillers.is_empty());
            let began = Instant::now();
            assert_eq!(names(vk), ["here"]);
            let took = began.elapsed();
            assert!(took >= Duration::from_secs(6), "{took:?}");
            // The next scan does not connect again, although the queue is now empty.
            drop(fillers);
            let listener = UnixListener::from(listener);
            listener.set_nonblocking(true).expect("a socket has this mode");
            while listener.accept().is_ok() {}
            assert_eq!(names(vk), ["here"]);
            assert!(listener.accept().is_err());
        });
        outcome
            .ok()
            .logged_with("WARNING | DRIVER", "The driver service gave no answer in time");
    });
}

/// LSV-42: while the queue of connections is full, a scan waits for the connection, as it does for an answer.
#[test]
fn lsv_42_a_full_queue_is_waited_for() {
    case(|scene| {
        scene_with(scene, &["a"]);
        let outcome = scene.run(|vk| {
            let _server = Server::late(&socket(vk), &[package(vk, 0, "a")], Duration::from_secs(2));
            let fillers: Vec<OwnedFd> = std::iter::from_fn(|| waiting_client(&socket(vk))).collect();
            assert!(!fillers.is_empty());
            assert_eq!(names(vk), ["here", "a"]);
        });
        outcome.ok();
    });
}

/// LSV-42: if a service asks for more time, the next scan sends a request again. If a service answers each request just before the limit,
/// the scan ends after the limit for all answers. The number of drivers does not matter.
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
                thread::sleep(Duration::from_millis(4500));
                Then::Send
            };
            let packages = [0, 1, 2, 3, 4].map(|number| package(vk, number, "a"));
            let server = Server::changed(&socket(vk), &packages, slow);
            names(vk);
            // The list and five libraries would need six requests. The time limit for all answers expires before the second answer.
            assert!((1..=2).contains(&server.requests()), "{}", server.requests());
        });
        outcome.ran();
    });
}

/// LSV-42: the library sends a request again to a busy service within the time limit, so that each of a thousand instances has its driver.
#[test]
fn lsv_42_a_busy_service_is_asked_again() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.env("VK_LOADER_DEBUG", "").limit(90);
        let outcome = scene.run(|vk| {
            let asked = AtomicUsize::new(0);
            let busy = move |request: &Request, reply: &mut Reply| match asked.fetch_add(1, Ordering::Relaxed) % 4 {
                0 => {
                    *reply = Reply::new(request, &json!({"status": "busy"}), Vec::new());
                    Then::Send
                }
                // Closes the connection without a reply, as a service does above its connection limit.
                1 if request.is(wire::Operation::Manifests) => Then::Close,
                _ => Then::Send,
            };
            let _server = Server::changed(&socket(vk), &[package(vk, 0, "a")], busy);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for round in 0..80 {
                            assert_eq!(names(vk), ["here", "a"], "round {round}");
                        }
                    });
                }
            });
        });
        outcome.ok();
        let outcome = scene.run(|vk| {
            let busy = |_: &Request, reply: &mut Reply| {
                reply.payload = json!({"status": "busy"}).to_string().into();
                reply.files.clear();
                Then::Send
            };
            let server = Server::changed(&socket(vk), &[package(vk, 0, "a")], busy);
            assert_eq!(names(vk), ["here"]);
            assert!((2..100).contains(&server.requests()), "{}", server.requests());
            // The next scans do not ask a service that was busy for the whole time.
            let before = server.requests();
            assert_eq!(names(vk), ["here"]);
            assert_eq!(server.requests(), before);
        });
        outcome.ok();
    });
}

/// Sleeps for longer than a scan waits.
extern "C" fn sleep_in_handler(_: libc::c_int) {
    thread::sleep(Duration::from_secs(7));
}

/// LSV-42: a program that is stopped during a scan finds its drivers. A signal handler stops the thread of the program, and not that of the
/// service.
#[test]
fn lsv_42_a_stopped_program_finds_its_drivers() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.limit(60);
        let outcome = scene.run(|vk| {
            // SAFETY: the handler calls only a function that a signal handler may call.
            unsafe { libc::signal(libc::SIGUSR1, sleep_in_handler as *const () as libc::sighandler_t) };
            // SAFETY: the function has no preconditions.
            let program = unsafe { libc::pthread_self() };
            let was_stopped = AtomicBool::new(false);
            let change = move |_: &Request, _: &mut Reply| {
                if was_stopped.swap(true, Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(200));
                } else {
                    // SAFETY: the thread exists, because it waits for the answer of the service.
                    unsafe { libc::pthread_kill(program, libc::SIGUSR1) };
                }
                Then::Send
            };
            let _server = Server::changed(&socket(vk), &[package(vk, 0, "a")], change);
            assert_eq!(names(vk), ["here", "a"]);
        });
        outcome.ok();
    });
}

/// Connects a client to the queue of waiting connections. Returns `None` if the queue is full.
fn waiting_client(path: &std::path::Path) -> Option<OwnedFd> {
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: the structure has only numbers, for which zero is valid.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (place, &byte) in address.sun_path.iter_mut().zip(path.as_os_str().as_bytes()) {
        *place = byte as std::ffi::c_char;
    }
    // SAFETY: the call creates a descriptor, which this function then owns.
    let made: OwnedFd = unsafe {
        std::os::fd::FromRawFd::from_raw_fd(libc::socket(
            libc::AF_UNIX,
            libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK,
            0,
        ))
    };
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the pointer and the length describe a valid address, and the descriptor is open.
    let connected = retried(|| unsafe { libc::connect(made.as_raw_fd(), (&raw const address).cast(), length) });
    match connected {
        Ok(_) => Some(made),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => None,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// LSV-42: if a service ends the connection at each request of one kind, only these requests fail.
#[test]
fn lsv_42_a_service_that_dies_while_it_is_asked() {
    case(|scene| {
        scene_with(scene, &["bad", "good"]);
        let change = |_: &Request, _: &mut Reply| Then::Close;
        changed(scene, change, &["here"]).logged_with("WARNING | DRIVER", "The driver service ended the connection");
        let outcome = changed(scene, with_bad(|_| Then::Close), &["here", "good"]);
        outcome.logged("WARNING | DRIVER", &of("ended the connection"));
    });
}

/// LSV-42: the library connects again if the service ends a connection that has waited for a long time, to make room for another
/// connection.
#[test]
fn lsv_42_a_connection_that_ends_late_is_made_anew() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.limit(60);
        let outcome = scene.run(|vk| {
            let ended = AtomicBool::new(false);
            let change = move |_: &Request, _: &mut Reply| {
                if ended.swap(true, Ordering::SeqCst) {
                    Then::Send
                } else {
                    thread::sleep(Duration::from_millis(1300));
                    Then::Close
                }
            };
            let server = Server::changed(&socket(vk), &[package(vk, 0, "a")], change);
            assert_eq!(names(vk), ["here", "a"]);
            assert!(server.connections() >= 2);
        });
        outcome.ok();
    });
}

/// LSV-42: later scans do not ask a service that never sends a library.
#[test]
fn lsv_42_a_service_that_sends_no_library_rests() {
    case(|scene| {
        scene_with(scene, &["bad", "good"]);
        scene.limit(60);
        let outcome = scene.run(|vk| {
            let packages = [package(vk, 0, "bad"), package(vk, 1, "good")];
            let server = Server::changed(&socket(vk), &packages, with_bad(|_| Then::Keep));
            assert_eq!(names(vk), ["here"]);
            assert_eq!(names(vk), ["here"]);
            assert_eq!(server.connections(), 1);
        });
        outcome.ran();
    });
}

/// LSV-42: eight threads list drivers and create instances while the service stops and starts again.
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
                    // Ends the server soon after a thread has received a driver from it.
                    let before = made.load(Ordering::SeqCst);
                    eventually("a driver comes from the service", || {
                        made.load(Ordering::SeqCst) > before
                    });
                    drop(server);
                    thread::sleep(Duration::from_millis(5));
                }
                ended.store(true, Ordering::SeqCst);
            });
            let _server = Server::honest(&socket(vk), &packages);
            assert_eq!(names(vk), ["here", "a", "b"]);
        });
        outcome.ok();
    });
}

/// LSV-42, DRV-4, APP-174: if an allocation fails, the queries and the creation of an instance return their usual answers or out of memory.
/// The same calls succeed afterwards.
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
            // Each forked copy of the process first creates its own connection.
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

/// Makes a system call fail in this thread.
#[cfg(target_pointer_width = "64")]
fn forbid(call: std::ffi::c_long) {
    let step = |code: u32, jf, k| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf,
        k,
    };
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    // The filter loads the number of the call, which is at the start of the data, and compares the number.
    let mut filter = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, call as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, refused),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: `program` points to the filter, which has this length. The system copies both before the call returns.
    let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(set, 0, "the superuser may set a filter");
}

/// LSV-42: a process that may not set a time limit for the connection does not wait without one.
#[cfg(target_pointer_width = "64")]
#[test]
fn lsv_42_a_limit_that_cannot_be_set() {
    case(|scene| {
        scene_with(scene, &["a"]);
        let outcome = scene.run(|vk| {
            let server = Server::honest(&socket(vk), &[package(vk, 0, "a")]);
            forbid(libc::SYS_setsockopt);
            assert_eq!(names(vk), ["here"]);
            assert_eq!(server.requests(), 0);
        });
        outcome
            .ok()
            .logged_with("WARNING | DRIVER", "The driver service cannot be reached");
    });
}

/// LSV-42, APP-174: if the service's list of manifests is too large for the library's emergency pool, a query for extensions fails with out
/// of memory.
#[test]
fn lsv_42_no_memory_for_a_large_list() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.env("VK_LOADER_DEBUG", "").limit(60);
        let outcome = scene.run(|vk| {
            let padding = json!("x".repeat(60_000));
            let padded = |number| package(vk, number, "a").with("padding", padding.clone());
            let _server = Server::honest(&socket(vk), &(0..6).map(padded).collect::<Vec<_>>());
            let heap = Heap::of(vk);
            let query = || vk.extensions();
            let usual = query();
            assert!(usual.is_ok(), "{usual:?}");
            heap.refuse_none();
            assert_eq!(query(), usual);
            let count = heap.large();
            assert!(count > 0, "the list is large");
            for number in 1..=count {
                heap.refuse(Refusal::Large(number));
                let refused = Err(loader_tests::ash::vk::Result::ERROR_OUT_OF_HOST_MEMORY);
                assert_eq!(query(), refused, "large request {number} of {count}");
            }
            heap.refuse_none();
            assert_eq!(query(), usual);
        });
        outcome.ran();
    });
}
