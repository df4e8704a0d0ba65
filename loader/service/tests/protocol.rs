//! Tests of the service's replies to each kind of client (LSV-33 to LSV-36, LSV-46, LSV-59 to LSV-61).

mod machine;

use machine::{HANG, case, eventually, library};
use rustix::fd::OwnedFd;
use rustix::fs::SealFlags;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use steady::once_in_some_attempts;
use vk_loader_service::limits;
use wire::{Header, Operation};

/// LSV-33: all users can connect to the socket, regardless of the service's umask.
#[test]
fn lsv_33_the_socket_is_for_all() {
    case(|mut machine| {
        fs::remove_dir(machine.path("run")).unwrap();
        // The service sets the permissions of the socket, so the umask has no effect.
        machine.with_umask(0o077);
        machine.start();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(machine.socket()), mode(machine.path("run"))), (0o666, 0o755));
    });
}

/// LSV-34: the service answers each operation as the protocol defines.
#[test]
fn lsv_34_each_operation_has_its_answer() {
    case(|mut machine| {
        machine.device("renderD128", "one");
        machine.device("renderD129", "none");
        machine.package("a");
        machine.start();
        machine.expect(&["0-liba.so.json"]);
        let mut client = machine.client();
        let text = |reply: &machine::Reply| reply.payload.to_string();
        assert_eq!(text(&client.ask(Operation::Features, "{}")), r#"{"features":7}"#);
        let devices = client.ask(Operation::Devices, "{}");
        assert_eq!(
            text(&devices),
            r#"{"devices":[{"active_icds":["0"],"driver":"one","node":"renderD128"},{"active_icds":[],"driver":"none","node":"renderD129"}]}"#
        );
        let manifests = client.manifests(false);
        let expected = machine::manifest("0-liba.so");
        assert_eq!(manifests, [("0-liba.so.json".to_owned(), expected)]);
        let mut reply = client.get("0-liba.so");
        assert_eq!(reply.status(), "ok");
        assert_eq!(reply.payload.get("size").and_then(Value::as_u64), Some(100_000));
        let seals = rustix::fs::fcntl_get_seals(&reply.descriptors[0]).unwrap();
        assert!(seals.contains(SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL));
        assert_eq!(reply.attached(), library(64, 100_000));
        assert_eq!(text(&client.get("1-liba.so")), r#"{"status":"not_found"}"#);
        // Together with the key, a client can send the checksum from its list. The client then never receives a different library under the
        // same key.
        let sum = reply.payload.get("sha256").and_then(Value::as_str).unwrap();
        for (sum, status) in [(sum, "ok"), (&*"0".repeat(64), "not_found")] {
            let payload = format!(r#"{{"name":"0-liba.so","sha256":"{sum}"}}"#);
            assert_eq!(client.ask(Operation::Get, &payload).status(), status);
        }
        assert_eq!(client.ask(Operation::Inspect, "{}").status(), "ok");
    });
}

/// LSV-35: the service answers `unsupported` to an unknown operation, and the connection stays open.
#[test]
fn lsv_35_unknown_operations_leave_the_connection() {
    case(|mut machine| {
        machine.start();
        let mut client = machine.client();
        for operation in [0, 5, 7, 99] {
            let header = Header {
                operation,
                is_reply: false,
                request: 5,
            };
            client.send_raw(&[&header.bytes(2)[..], b"{}"].concat(), &[]).unwrap();
            let reply = client.receive().unwrap();
            assert_eq!((reply.status(), reply.header), ("unsupported", header.reply()));
        }
        assert!(client.is_alive());
    });
}

/// LSV-35: the service answers a packet of another version with its own version, and then closes the connection.
#[test]
fn lsv_35_another_version_is_answered() {
    case(|mut machine| {
        machine.start();
        for version in [0, 1, 0xff] {
            let mut client = machine.client();
            let mut bytes = client.packet(Operation::Manifests, "{}");
            bytes[4] = version;
            client.send_raw(&bytes, &[]).unwrap();
            let reply = client.receive().expect("it is answered");
            assert_eq!(reply.payload.to_string(), r#"{"status":"unsupported","version":2}"#);
            assert_eq!(reply.header, Header::request(Operation::Manifests, 1).reply());
            assert!(client.receive().is_none());
        }
    });
}

/// LSV-59: a partial, oversized or invalid packet closes the connection.
#[test]
fn lsv_59_a_malformed_packet_closes_the_connection() {
    case(|mut machine| {
        machine.start();
        let good = machine.client().packet(Operation::Features, "{}");
        let changed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            bytes
        };
        let long = machine
            .client()
            .packet(Operation::Features, &format!("{{}}{}", " ".repeat(4095)));
        let packets = [
            changed(&|bytes| bytes.truncate(1)),
            changed(&|bytes| bytes.truncate(15)),
            changed(&|bytes| bytes.truncate(17)),
            changed(&|bytes| bytes.push(0)),
            changed(&|bytes| bytes[0] = b'X'),
            changed(&|bytes| bytes[12] = 3),
            vec![0xff; 5000],
            vec![b'x'; 100_000],
            long,
        ];
        for bytes in packets {
            let client = machine.client();
            client.send_raw(&bytes, &[]).unwrap();
            assert!(client.receive().is_none(), "{:?}", &bytes[..bytes.len().min(20)]);
        }
        // A packet that is sent as two messages is invalid, because each message must be a complete packet.
        let client = machine.client();
        client.send_raw(&good[..8], &[]).unwrap();
        let _ = client.send_raw(&good[8..], &[]);
        assert!(client.receive().is_none());
        // The service accepts the longest allowed payload.
        let mut client = machine.client();
        let longest = client.packet(Operation::Features, &format!("{{}}{}", " ".repeat(4094)));
        client.send_raw(&longest, &[]).unwrap();
        assert!(client.receive().is_some());
    });
}

/// LSV-60: the service answers `bad_request` to a malformed name.
#[test]
fn lsv_60_bad_names_are_bad_requests() {
    case(|mut machine| {
        machine.start();
        let mut client = machine.client();
        for payload in [r#"{"name":"a/b"}"#, "[\"a\"]", "{}", "x", ""] {
            assert_eq!(client.ask(Operation::Get, payload).status(), "bad_request", "{payload}");
        }
        assert!(client.is_alive());
    });
}

/// LSV-61: if a client sends descriptors, the service closes them and the connection.
#[test]
fn lsv_61_descriptors_of_clients_are_closed() {
    case(|mut machine| {
        machine.start();
        assert!(machine.client().is_alive());
        let (_ours, theirs) = std::io::pipe().unwrap();
        let theirs = OwnedFd::from(theirs);
        let theirs: Vec<OwnedFd> = (0..5).map(|_| theirs.try_clone().unwrap()).collect();
        eventually("the first client is gone", || machine.client().is_alive());
        let before = machine.count("fd");
        for _ in 0..20 {
            let mut client = machine.client();
            let packet = client.packet(Operation::Features, "{}");
            client.send_raw(&packet, &theirs).unwrap();
            assert!(client.receive().is_none());
        }
        eventually("they are closed", || machine.count("fd") <= before);
        assert!(machine.client().is_alive());
    });
}

/// LSV-3, LSV-4, LSV-35: a request for a library waits until the service has read the package, and other requests do not wait.
#[test]
fn lsv_35_an_answer_is_held_back_until_all_is_read() {
    case(|mut machine| {
        machine.device("renderD128", "one");
        machine.package_with("a", &machine::manifest("liba.so"), &library(64, 200 << 20));
        let mut client = None;
        once_in_some_attempts("others are served while an answer is held back", || {
            machine.kill();
            machine.start();
            let client = client.insert(machine.client());
            client.send(Operation::Get, r#"{"name":"0-liba.so"}"#);
            client.send(Operation::Get, r#"{"name":"7-liba.so"}"#);
            let mut other = machine.client();
            let known = other.is_alive().then(|| other.manifests(false).len());
            // On a busy machine, the service may already have read the library. The attempt is then repeated.
            client.waits() && known == Some(0)
        });
        let client = client.expect("there was an attempt");
        let statuses: Vec<_> = (0..2).map(|_| client.receive().unwrap()).collect();
        let known: Vec<_> = statuses.iter().map(machine::Reply::status).collect();
        // On a busy machine, a request may reach its time limit before the service has read the library.
        assert!(
            matches!(known[..], ["ok" | "timeout", "not_found" | "timeout"]),
            "{known:?}"
        );
        eventually("it is read", || machine.client().get("0-liba.so").status() == "ok");
    });
}

/// LSV-3: the service gives out a library while it still reads the package of another device.
#[test]
fn lsv_3_a_library_is_given_out_while_others_are_read() {
    case(|mut machine| {
        machine.device("renderD128", "one");
        machine.device("renderD129", "two");
        machine.package_with("a", &machine::manifest("liba.so"), &library(64, 1 << 20));
        machine.package_with("b", &machine::manifest("libb.so"), &library(64, 200 << 20));
        once_in_some_attempts("a library is given out while another is read", || {
            machine.kill();
            machine.start();
            let mut client = machine.client();
            let status = client.get("0-liba.so").status().to_owned();
            let known = machine.client().manifests(false).len();
            // On a busy machine, the service may have read both libraries before the second request.
            status == "ok" && known < 2
        });
        eventually("both are read", || machine.client().manifests(false).len() == 2);
    });
}

/// LSV-46: the service answers a thousand requests in a row, and delays requests beyond the limit per second.
#[test]
fn lsv_46_many_requests_take_longer_and_are_answered() {
    case(|mut machine| {
        machine.start_with_soft();
        let (place, machine) = (machine.socket(), &machine);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..250 {
                        let mut client = machine::Connection::try_new(&place).unwrap();
                        assert_eq!(client.manifests(true).len(), 1);
                        assert_eq!(client.get("0-libsoft.so").status(), "ok");
                    }
                });
            }
        });
        // The limit applies to the user, regardless of the user's number of connections.
        let begin = std::time::Instant::now();
        let mut clients: Vec<_> = (0..10).map(|_| machine.client()).collect();
        for _ in 0..limits::REQUESTS_A_SECOND / 5 {
            for client in &mut clients {
                assert_eq!(client.ask(Operation::Features, "{}").status(), "");
            }
        }
        assert!(begin.elapsed() >= Duration::from_millis(900), "{:?}", begin.elapsed());
    });
}

/// LSV-45: only root may request the state.
#[test]
fn lsv_45_the_state_is_for_root() {
    case(|mut machine| {
        machine.start();
        let socket = machine.socket();
        for (user, expected) in [(54321, "denied"), (0, "ok")] {
            let mut client = machine::connections(&socket, user, 1).remove(0);
            assert_eq!(client.ask(Operation::Inspect, "{}").status(), expected);
        }
    });
}

/// LSV-46: closing the last copy of a lingering socket can take hours, so a separate thread must close the copy.
#[test]
fn lsv_46_a_socket_that_lingers_holds_up_nobody() {
    case(|mut machine| {
        machine.start();
        let lingering = Lingering::new();
        let mut ways: [fn(&mut machine::Connection, OwnedFd); 5] = [
            // The client sends a socket with a request.
            |client, socket| {
                let packet = client.packet(Operation::Features, "{}");
                client.send_raw(&packet, &[socket]).unwrap();
            },
            // The client sends the socket with a packet that ends the connection.
            |client, socket| client.send_raw(b"garbage", &[socket]).unwrap(),
            // The client sends the socket just before the connection ends.
            |client, socket| {
                let packet = client.packet(Operation::Features, "{}");
                client.send_raw(&packet, &[socket]).unwrap();
                rustix::net::shutdown(&client.socket, rustix::net::Shutdown::Both).unwrap();
            },
            // The next client sends the socket with an empty packet, which looks like the end of the connection. The client after that
            // sends the socket with the packet that follows an empty packet.
            |client, socket| client.send_raw(b"", &[socket]).unwrap(),
            |client, socket| {
                client.send_raw(b"", &[]).unwrap();
                client.send_raw(b"garbage", &[socket]).unwrap();
            },
        ];
        for way in &mut ways {
            let mut hostile = machine.client();
            let socket = lingering.socket();
            // While the service is stopped, the client closes its own copy. The service then has the last copy of the socket.
            machine.signal(rustix::process::Signal::STOP);
            way(&mut hostile, socket);
            machine.signal(rustix::process::Signal::CONT);
            assert!(machine.client().is_alive() && machine.client().is_alive());
            drop(hostile);
        }
        // Waits until the connections of other clients are closed. Closing these connections must not wait for the lingering socket.
        let before = machine.count("fd");
        for _ in 0..200 {
            let mut client = machine.client();
            let packet = client.packet(Operation::Features, "{}");
            let _ = client.send_raw(&packet, &[]).and_then(|()| client.send_raw(b"", &[]));
        }
        eventually("all is closed", || machine.count("fd") <= before);
        // After all clients have disconnected, the service uses hardly any processor time.
        machine.expect_idle();
    });
}

/// LSV-46: the service continues to work when the number of lingering sockets exceeds its descriptors and threads.
#[test]
fn lsv_46_many_sockets_that_linger_hold_up_nobody() {
    case(|mut machine| {
        machine.start();
        // An answer shows that all threads of the service have started.
        assert!(machine.client().is_alive());
        let lingering = Lingering::new();
        let before = machine.count("task");
        for _ in 0..12 {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    // The system closes the copies of this thread when the thread ends, and then does not linger.
                    nix::sched::unshare(nix::sched::CloneFlags::CLONE_FILES).unwrap();
                    for _ in 0..100 {
                        let sockets = [lingering.socket()];
                        // The service may have closed this connection to accept a new one.
                        let _ = machine.client().send_raw(b"garbage", &sockets);
                        std::mem::forget(sockets);
                    }
                });
            });
            assert!(machine.client().is_alive());
        }
        eventually("all is closed", || machine.count("task") <= before);
    });
}

/// A TCP server that accepts connections and never reads.
struct Lingering(std::net::TcpListener);

impl Lingering {
    fn new() -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        rustix::net::sockopt::set_socket_recv_buffer_size(&listener, 1024).unwrap();
        rustix::net::listen(&listener, 4096).unwrap();
        Self(listener)
    }

    /// Returns a socket whose last copy takes an hour to close.
    fn socket(&self) -> OwnedFd {
        let socket = std::net::TcpStream::connect(self.0.local_addr().unwrap()).unwrap();
        rustix::net::sockopt::set_socket_send_buffer_size(&socket, 1024).unwrap();
        rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::from_secs(3600))).unwrap();
        socket.set_nonblocking(true).unwrap();
        while std::io::Write::write(&mut &socket, &[0; 65536]).is_ok() {}
        socket.set_nonblocking(false).unwrap();
        socket.into()
    }
}

/// LSV-35: a request that waits for too long is answered with `timeout`. Each new device holds the list back for a short time.
#[test]
fn lsv_35_an_answer_is_held_back_for_a_limited_time() {
    case(|mut machine| {
        machine.start();
        let (begin, is_over) = (Instant::now(), AtomicBool::new(false));
        // Two nodes take turns, so that one of them is always new. A node with another vendor is another device.
        let renew = |number: u16| {
            let node = format!("renderD{}", 128 + number % 2);
            let _ = fs::remove_file(machine.path("dri").join(&node));
            machine.write(&format!("sys/class/drm/{node}/device/vendor"), format!("{number:#x}\n"));
            machine.write(&format!("dri/{node}"), "");
        };
        renew(0);
        let is_late = std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in (0..=u16::MAX).cycle() {
                    if is_over.load(Ordering::SeqCst) || begin.elapsed() > 2 * HANG {
                        break;
                    }
                    renew(number);
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            let mut client = machine.client();
            let mut is_late = || {
                let asked = Instant::now();
                let reply = client.ask(Operation::Manifests, wire::MANIFESTS);
                assert!(asked.elapsed() < HANG, "an answer was held back for too long");
                reply.status() == "timeout"
            };
            let is_late = std::iter::from_fn(|| (begin.elapsed() < HANG).then(&mut is_late)).any(|late| late);
            is_over.store(true, Ordering::SeqCst);
            is_late
        });
        if !is_late {
            return machine::skip("the machine is too slow to show new devices all the time");
        }
        assert!(begin.elapsed() >= wire::HELD_BACK);
    });
}

/// LSV-18: a client cannot change the bytes of a library that another client runs.
#[test]
fn lsv_18_no_client_changes_what_another_runs() {
    case(|mut machine| {
        machine.start_with_soft();
        let hostile = machine.client().get("0-libsoft.so").descriptors.remove(0);
        assert!(rustix::io::pwrite(&hostile, b"x", 0).is_err());
        assert!(rustix::fs::ftruncate(&hostile, 0).is_err());
        // Root can reopen the file for writing, but the seals prevent every change.
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&hostile));
        if let Ok(writable) = fs::File::options().write(true).open(path) {
            assert!(rustix::io::pwrite(&writable, b"x", 0).is_err() && writable.set_len(0).is_err());
        }
        assert_eq!(machine.client().get("0-libsoft.so").attached(), library(64, 100_000));
    });
}

/// LSV-36: the service sends only descriptors of regular files, never of folders or devices.
#[test]
fn lsv_36_no_folder_or_device_is_sent() {
    case(|mut machine| {
        machine.start_with_device();
        let mut client = machine.client();
        for operation in Operation::ALL {
            let reply = client.ask(operation, r#"{"name":"0-liba.so"}"#);
            let expected = matches!(operation, Operation::Get | Operation::Manifests | Operation::Inspect);
            assert_eq!(reply.descriptors.len(), usize::from(expected), "{operation:?}");
            for descriptor in reply.descriptors {
                assert!(
                    fs::File::from(descriptor).metadata().unwrap().is_file(),
                    "{operation:?}"
                );
            }
        }
    });
}
