//! Tests of clients that exceed their limits (LSV-46): other clients are not affected, and the service's memory stays small.

mod machine;

use machine::{Connection, Machine, case, connections};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::AsFd;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::process::{Resource, Rlimit};
use serde_json::Value;
use std::fs::File;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use vk_loader_service::harden::DESCRIPTORS;
use vk_loader_service::limits::{CLIENTS, CLIENTS_OF_USER, REQUESTS_A_SECOND, UNREAD_OF_USER};
use wire::Operation;

/// Upper bound on the service's peak memory in kilobytes, without libraries. The bound is a measured value with a margin for other
/// machines.
const MOST_MEMORY: u64 = 32 << 10;

fn memory(machine: &Machine) -> u64 {
    let row = machine.status(machine.process(), "VmHWM");
    row.trim_end_matches("kB").trim().parse().expect("it is a number")
}

/// LSV-46: a connection above the limit of a user replaces an older connection of the same user. A connection above the limit of all users
/// also replaces an older one.
#[test]
fn lsv_46_one_client_too_many_takes_the_place_of_another() {
    case(|mut machine| {
        machine.start();
        let socket = machine.socket();
        let mut clients = connections(&socket, 20_000, CLIENTS_OF_USER);
        assert!(clients.iter_mut().all(Connection::is_alive));
        // The oldest connection of the same user is closed.
        let mut one_more = connections(&socket, 20_000, 1);
        assert!(one_more[0].is_alive() && !clients.remove(0).is_alive());
        assert!(clients.iter_mut().all(Connection::is_alive));
        for user in 20_001..20_004 {
            clients.extend(connections(&socket, user, CLIENTS_OF_USER));
        }
        assert_eq!(clients.len() + one_more.len(), CLIENTS);
        assert!(clients.iter_mut().all(Connection::is_alive));
        // Other users, including root, can always connect.
        for user in [30_000, 30_001, 0] {
            let mut other = connections(&socket, user, 1);
            assert!(other[0].is_alive(), "user {user}");
            clients.append(&mut other);
        }
        clients.append(&mut one_more);
        let alive = clients.iter_mut().filter_map(|client| client.is_alive().then_some(()));
        assert_eq!(alive.count(), CLIENTS);
    });
}

/// LSV-46: the service answers all of ten thousand requests that many clients send at once.
#[test]
fn lsv_46_ten_thousand_requests_at_once() {
    const REQUESTS: usize = 10_000;
    case(|mut machine| {
        machine.start_with_device();
        let socket = machine.socket();
        let mut clients: Vec<_> = (0..8)
            .flat_map(|user| connections(&socket, 20_000 + user, 32))
            .collect();
        let begin = Instant::now();
        let each = REQUESTS.div_ceil(clients.len());
        let mut asked = 0;
        for turn in 0..each {
            for client in clients.iter_mut().take(REQUESTS - asked) {
                match turn % 4 {
                    0 => client.send(Operation::Features, "{}"),
                    1 => client.send(Operation::Manifests, "{}"),
                    2 => client.send(Operation::Get, r#"{"name":"0-liba.so"}"#),
                    _ => client.send(Operation::Devices, "{}"),
                }
                asked += 1;
            }
        }
        let mut answered = 0;
        for turn in 0..each {
            for client in clients.iter().take(REQUESTS - answered) {
                let reply = client.receive().expect("the connection stays");
                assert_ne!(reply.status(), "busy");
                assert_eq!(
                    reply.descriptors.len(),
                    usize::from(matches!(reply.header.operation, 2 | 3)),
                    "{turn}"
                );
                answered += 1;
            }
        }
        let (taken, memory) = (begin.elapsed(), memory(&machine));
        assert_eq!((asked, answered), (REQUESTS, REQUESTS));
        println!(
            "figure {REQUESTS} requests of {} clients: {} ms, at most {memory} kB",
            clients.len(),
            taken.as_millis()
        );
        assert!(memory < MOST_MEMORY, "{memory} kB");
    });
}

/// LSV-46: the service answers no further requests of a client that never reads a reply, and serves other clients.
#[test]
fn lsv_46_a_client_that_never_reads_is_not_served() {
    case(|mut machine| {
        machine.start_with_soft();
        let mut hostile: Vec<_> = (0..20).map(|_| machine.client()).collect();
        for client in &mut hostile {
            let packet = client.packet(Operation::Get, r#"{"name":"0-libsoft.so"}"#);
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            let end = (0..100_000).find_map(|_| rustix::net::send(&client.socket, &packet, flags).err());
            assert_eq!(end, Some(rustix::io::Errno::AGAIN));
        }
        let (busy, begin) = (machine.processor_time(), Instant::now());
        let mut other = machine.client();
        let mut slowest = Duration::ZERO;
        for _ in 0..100 {
            let asked = Instant::now();
            assert!(other.is_alive());
            slowest = slowest.max(asked.elapsed());
            std::thread::sleep(Duration::from_millis(5));
        }
        let busy = machine.processor_time() - busy;
        println!(
            "figure flood of {} clients: slowest answer for another {} us, at most {} kB",
            hostile.len(),
            slowest.as_micros(),
            memory(&machine)
        );
        assert!(busy < begin.elapsed() / 2, "{busy:?}");
        assert!(memory(&machine) < MOST_MEMORY);
        assert_eq!(machine.client().get("0-libsoft.so").status(), "ok");
        // Each client has one reply. Each further one comes after the client has read the last one.
        machine.signal(rustix::process::Signal::STOP);
        for client in &hostile[1..] {
            assert!(client.receive().is_some() && client.waits());
        }
        machine.signal(rustix::process::Signal::CONT);
        for _ in 0..20 {
            assert_eq!(
                hostile[0].receive().map(|reply| reply.status().to_owned()).as_deref(),
                Some("ok")
            );
        }
    });
}

/// LSV-46: if a user exceeds the rate of requests, the connections of this user take turns.
#[test]
fn lsv_46_connections_above_the_rate_take_turns() {
    case(|mut machine| {
        machine.start();
        let socket = machine.socket();
        let mut flood = Flood::new(&socket, 20_000);
        let mut last = connections(&socket, 20_000, 1).remove(0);
        let mut other = connections(&socket, 20_001, 1).remove(0);
        // Between two answers for the last connection, each connection of the flood gets about one answer. At first, the last connection has
        // waited for longest.
        let cycle = flood.clients.len();
        let (mut turn, mut early) = (0, 0);
        while turn < 5 {
            while !flood.is_delayed(&mut other) {
                if flood.begin.elapsed() > machine::HANG {
                    return machine::skip("the machine is too slow to exceed the rate of requests");
                }
            }
            last.send(Operation::Features, "{}");
            let mut before = 0;
            while last.waits() {
                before += flood.renew();
                assert!(before < 3 * cycle, "turn {turn}: {before} answers for others");
            }
            before += flood.renew();
            assert!(last.receive().is_some());
            // On a busy machine, the flood may fall below the rate during a turn. The service then answers the last connection at once. Such
            // turns are exceptions, but a service without turns has no others.
            if flood.is_delayed(&mut other) {
                if turn == 0 || before > cycle / 2 {
                    turn += 1;
                } else {
                    early += 1;
                    assert!(early < 20, "turn {turn}: {before} answers for others");
                }
            }
        }
    });
}

/// Connections of one user that send a new request after each answer.
struct Flood {
    clients: Vec<Connection>,
    answers: usize,
    begin: Instant,
}

impl Flood {
    fn new(socket: &Path, user: u32) -> Self {
        let begin = Instant::now();
        let mut clients = connections(socket, user, CLIENTS_OF_USER - 8);
        clients
            .iter_mut()
            .for_each(|client| client.send(Operation::Features, "{}"));
        Self {
            clients,
            answers: 0,
            begin,
        }
    }

    /// Replaces the requests that were answered. Returns the number of answers. Fails if the service has answered more requests than the
    /// rate allows.
    fn renew(&mut self) -> usize {
        let mut renewed = 0;
        for client in self.clients.iter_mut().filter(|client| !client.waits()) {
            assert!(client.receive().is_some());
            client.send(Operation::Features, "{}");
            renewed += 1;
        }
        self.answers += renewed;
        let most = (1.0 + self.begin.elapsed().as_secs_f64()) * f64::from(REQUESTS_A_SECOND);
        assert!(
            self.answers <= most as usize + 1,
            "{} answers of at most {most}",
            self.answers
        );
        renewed
    }

    /// Returns `true` if all requests are older than a request of another user that was answered. The service answers requests in the
    /// order in which they came, so it delays these.
    fn is_delayed(&mut self, other: &mut Connection) -> bool {
        self.renew() == 0 && other.is_alive() && self.clients.iter().all(Connection::waits)
    }
}

/// Starts the service with a limit of `descriptors` open descriptors.
fn start_limited(machine: &mut Machine, descriptors: usize) {
    machine.package("soft");
    let script = format!(r#"ulimit -n {descriptors}; exec "$0" "$@""#);
    machine.wrap = vec!["sh".to_owned(), "-c".to_owned(), script];
    machine.start();
    machine.expect(&["0-libsoft.so.json"]);
}

/// Leaves replies unread on more connections than a process may have, and waits until the service has closed all of these connections.
fn leave_unread(machine: &mut Machine, user: u32) -> Vec<Connection> {
    let mut kept = Vec::new();
    for _ in 0..3 {
        let mut clients = connections(&machine.socket(), user, 100);
        for client in &mut clients {
            let get = client.packet(Operation::Get, r#"{"name":"0-libsoft.so"}"#);
            // The service may already have closed the connection.
            let _ = client.send_raw(&get, &[]);
            let _ = client.send_raw(b"garbage", &[]);
        }
        machine::eventually("all are closed", || clients.iter().all(is_over));
        kept.append(&mut clients);
    }
    kept
}

/// Returns `true` if the service has closed the connection. Reads no data.
fn is_over(client: &Connection) -> bool {
    let mut looked = [PollFd::new(&client.socket, PollFlags::empty())];
    let found = rustix::event::poll(&mut looked, Some(&Timespec::default()));
    found.is_ok_and(|_| looked[0].revents().contains(PollFlags::HUP))
}

/// LSV-46: replies that a user never reads do not affect other users, even after the connections are closed.
#[test]
fn lsv_46_unread_replies_of_closed_connections_count() {
    case(|mut machine| {
        // The service runs as a user of its own, because the system counts the sent descriptors of each user.
        machine.user = Some((1 << 24) + 2 * std::process::id());
        start_limited(&mut machine, 1000);
        let kept = leave_unread(&mut machine, 20_000);
        for user in [0, 20_001] {
            let mut other = connections(&machine.socket(), user, 1).remove(0);
            for _ in 0..3 {
                let mut library = other.get("0-libsoft.so");
                assert_eq!(library.attached().len(), 100_000, "user {user}");
            }
        }
        assert!(!connections(&machine.socket(), 20_000, 1)[0].is_alive());
        machine.expect_idle();
        drop(kept);
        machine::eventually("the user is served again", || {
            connections(&machine.socket(), 20_000, 1)[0].is_alive()
        });
    });
}

/// LSV-46: unread replies do not keep a place. A process that never reads loses its connections before a client that reads.
#[test]
fn lsv_46_a_client_that_reads_keeps_its_place() {
    case(|mut machine| {
        machine.start_with_soft();
        let socket = machine.socket();
        let mut unread = connections(&socket, 20_000, CLIENTS_OF_USER - 1);
        for client in &mut unread {
            client.send(Operation::Get, r#"{"name":"0-libsoft.so"}"#);
        }
        machine::eventually("all are answered", || !unread.iter().any(Connection::waits));
        let mut reading = connections(&socket, 20_000, 1);
        for _ in 0..20 {
            assert_eq!(reading[0].get("0-libsoft.so").status(), "ok");
            let mut one_more = connections(&socket, 20_000, 1).remove(0);
            assert!(one_more.is_alive());
            reading.push(one_more);
        }
        assert!(unread[..20].iter().all(is_over) && !unread[20..].iter().any(is_over));
    });
}

/// Number of descriptors in one packet.
const AT_ONCE: usize = 50;

/// Sends packets with [`AT_ONCE`] descriptors that nobody receives, as a user. Returns the sockets that keep the descriptors on their way.
fn send_descriptors(user: u32, packets: usize) -> (UnixStream, UnixStream) {
    let thread = std::thread::spawn(move || {
        let user = rustix::fs::Uid::from_raw(user);
        rustix::thread::set_thread_res_uid(user, user, user).expect("root may be anybody");
        let ends = UnixStream::pair().unwrap();
        let file = File::open("/dev/null").unwrap();
        let sent = [file.as_fd(); AT_ONCE];
        for _ in 0..packets {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_ONCE))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            assert!(control.push(SendAncillaryMessage::ScmRights(&sent)));
            let parts = [IoSlice::new(b"x")];
            rustix::net::sendmsg(&ends.0, &parts, &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT).unwrap();
        }
        ends
    });
    thread.join().expect("the thread does not fail")
}

/// LSV-46: if the system refuses to pass further descriptors, the service answers `busy` and keeps the connection open.
#[test]
fn lsv_46_a_service_without_descriptors_is_busy() {
    case(|mut machine| {
        // The system counts the sent descriptors of each user, also those of other processes.
        let user = (1 << 24) + 2 * std::process::id() + 1;
        machine.user = Some(user);
        start_limited(&mut machine, 64);
        let kept = send_descriptors(user, 2);
        let mut other = connections(&machine.socket(), 20_001, 1).remove(0);
        assert_eq!(other.get("0-libsoft.so").status(), "busy");
        drop(kept);
        machine::eventually("it is served again", || other.get("0-libsoft.so").status() == "ok");
    });
}

/// LSV-46: a process with the user ID of a service of root, as in a container, does not use up the descriptors that the service may send.
#[test]
fn lsv_46_sent_descriptors_of_others_do_not_count() {
    case(|mut machine| {
        let user = (1 << 25) + std::process::id();
        machine.config(&format!(r#"{{"fallback":"soft","user":{user}}}"#));
        machine.start_with_soft();
        let is_limited = machine.status(machine.process(), "CapEff") == "0000000000000000";
        // In a user namespace, the capability does not count.
        if is_limited
            || !std::fs::read_to_string("/proc/self/uid_map")
                .unwrap()
                .contains("4294967295")
        {
            return machine::skip("the system limits the descriptors that this service sends");
        }
        let most = Some(2 * DESCRIPTORS);
        let limit = Rlimit {
            current: most,
            maximum: most,
        };
        rustix::process::setrlimit(Resource::Nofile, limit).unwrap();
        let packets = 1 + DESCRIPTORS as usize / AT_ONCE;
        let _kept: Vec<_> = (0..=packets / 100).map(|_| send_descriptors(user, 100)).collect();
        let mut other = connections(&machine.socket(), 20_001, 1).remove(0);
        assert_eq!(other.get("0-libsoft.so").status(), "ok");
        assert_eq!(other.manifests(true).len(), 1);
    });
}

/// LSV-46: connections that the service cannot close count for their user alone.
#[test]
fn lsv_46_connections_that_stay_open_count_for_their_user() {
    case(|mut machine| {
        // Three threads of the service and another program leave no thread that could close a connection with descriptors.
        let user = (1 << 26) + std::process::id();
        let occupy = || Command::new("sleep").arg("600").uid(user).spawn().unwrap();
        let mut other = occupy();
        machine.user = Some(user);
        machine.wrap = ["prlimit", "--nproc=4"].map(str::to_owned).to_vec();
        machine.start();
        assert!(machine.client().is_alive());
        // The service receives all packets together with the connections.
        let leave = |count| {
            machine.signal(rustix::process::Signal::STOP);
            let clients = connections(&machine.socket(), 20_000, count);
            for client in &clients {
                let sent = [File::open("/dev/null").unwrap().into()];
                client.send_raw(b"garbage", &sent).unwrap();
            }
            machine.signal(rustix::process::Signal::CONT);
            clients
        };
        let fill = || {
            for _ in 0..UNREAD_OF_USER / 64 {
                let clients = leave(64);
                machine::eventually("all are closed", || clients.iter().all(is_over));
            }
        };
        fill();
        assert!(!connections(&machine.socket(), 20_000, 1)[0].is_alive());
        assert!(connections(&machine.socket(), 20_001, 1)[0].is_alive());
        // The service closes them once it can, also without another event.
        machine.expect_idle();
        other.kill().and_then(|()| other.wait()).unwrap();
        machine::eventually("all are closed", || machine.count("fd") < UNREAD_OF_USER);
        other = occupy();
        fill();
        // The service accepts no further connections, which would use up its descriptors.
        let clients = leave(64);
        machine::eventually("all are closed", || clients.iter().all(is_over));
        let _waiting = leave(200);
        machine.expect_idle();
        assert!(machine.count("fd") < UNREAD_OF_USER + 200, "{}", machine.count("fd"));
        other.kill().and_then(|()| other.wait()).unwrap();
    });
}

/// LSV-46: if the service has no free descriptor, the user with the most connections makes room.
#[test]
fn lsv_46_without_a_free_descriptor_the_largest_user_makes_room() {
    case(|mut machine| {
        machine.user = Some(54321);
        start_limited(&mut machine, 64);
        let clients = connections(&machine.socket(), 20_000, 64);
        machine::eventually("another user is served", || {
            connections(&machine.socket(), 20_001, 1)[0].is_alive()
        });
        assert!(clients.iter().any(is_over));
    });
}

/// LSV-46: if clients disconnect before the service answers them, no descriptor stays open in the service.
#[test]
fn lsv_46_clients_that_come_and_go_leave_nothing() {
    case(|mut machine| {
        machine.start_with_soft();
        // This request makes the service create a copy for root.
        assert_eq!(machine.client().get("0-libsoft.so").status(), "ok");
        let before = machine.count("fd");
        for round in 0..500 {
            let mut client = machine.client();
            client.send(Operation::Get, r#"{"name":"0-libsoft.so"}"#);
            client.send(Operation::Manifests, r#"{"wait_for_idle":true}"#);
            if round % 2 == 0 {
                // This client disconnects before it has received an answer.
                continue;
            }
            assert!(client.receive().is_some());
        }
        machine::eventually("all is closed", || machine.count("fd") <= before);
        machine::eventually("nobody is left", || {
            machine.inspect().get("clients").and_then(Value::as_u64) == Some(1)
        });
    });
}
