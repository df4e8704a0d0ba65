//! Tests of `vkloader service` with correct and incorrect services.

mod machine;

use machine::Machine;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::retry_on_intr;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags,
    SocketType, accept, bind, listen, recv, sendmsg, socket_with,
};
use std::io::{IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Output;
use std::time::Instant;
use wire::{Header, MOST_IN_REPLY, MOST_IN_REQUEST, Operation, Packet};

/// A packet that a service sends.
#[derive(Default)]
struct Sent {
    bytes: Vec<u8>,
    files: Vec<OwnedFd>,
}

/// Returns a packet with the payload `payload`.
fn reply(header: Header, payload: &str) -> Sent {
    Sent {
        bytes: [&header.bytes(payload.len() as u32)[..], payload.as_bytes()].concat(),
        files: Vec::new(),
    }
}

/// Returns a packet with the payload `payload` and a memory file.
fn with_file(header: Header, payload: &str, content: &str) -> Sent {
    let file = memfd_create("content", MemfdFlags::CLOEXEC).expect("a memory file");
    let mut file = std::fs::File::from(file);
    // Writing moves the file offset to the end. A service may leave the offset there, so `vkloader` must reset it.
    file.write_all(content.as_bytes()).expect("it takes bytes");
    Sent {
        files: vec![file.into()],
        ..reply(header, payload)
    }
}

const MANIFEST: &str =
    r#"{"file_format_version": "1.0.1", "ICD": {"library_path": "0-libvulkan_lvp.so", "api_version": "1.3.230"}}"#;
const DEVICES: &str = r#"{"devices": [{"node": "renderD128", "driver": "amdgpu", "active_icds": ["0", "11"]}, {"node": "renderD129", "driver": "odd", "active_icds": []}]}"#;
const STATE: &str = r#"{"core/vulkan_loader": {"health": "OK", "config": {},
    "devices": {"drm-renderD128": {"driver": "amdgpu", "active_icds": ["10", "11"], "icds": [{"package": "broken", "flags": 1}, {"package": "radv", "flags": 1}]}},
    "icds": {"9": {"package": "broken", "status": "failed", "error": "metadata.json: version is 2", "later": 1},
             "10": {"package": "radv", "status": "initialized", "version": 1, "library_path": "10-libvulkan_radeon.so", "size": 1234,
                    "bits": 64, "sha256": "0123456789abcdef0123", "error": ""},
             "11": {"package": "radv-32", "status": "initialized", "bits": 32}},
    "clients": 3, "later": []}}"#;

/// Returns a list with a driver and a library that the driver needs.
fn list() -> String {
    let sum = "0f".repeat(wire::DIGITS / 2);
    let library = |key, manifest| format!("{key}\0{key}\x0088\0\0{sum}\0{manifest}\0");
    library("0-libz.so.1", "") + &library("0-libvulkan_lvp.so", MANIFEST)
}

/// Returns the replies of a correct service.
fn good(operation: Operation, header: Header) -> Vec<Sent> {
    vec![match operation {
        Operation::Features => reply(header, r#"{"features": 7, "later": true}"#),
        Operation::Devices => reply(header, DEVICES),
        Operation::Manifests => with_file(header, r#"{"count": 1}"#, &list()),
        Operation::Inspect => with_file(header, r#"{"status": "ok"}"#, STATE),
        Operation::Get => panic!("vkloader service never sends this request"),
    }]
}

/// Sends a packet.
fn send(client: BorrowedFd<'_>, sent: &Sent) {
    let files: Vec<BorrowedFd<'_>> = sent.files.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
    }
    // The error is ignored, because the client may already have ended.
    let parts = [IoSlice::new(&sent.bytes)];
    let _ = retry_on_intr(|| sendmsg(client, &parts, &mut control, SendFlags::NOSIGNAL));
}

/// Runs `vkloader service` with the arguments `words` against a fake service. `service` returns the packets of a reply. If there are no
/// packets, the service closes the connection.
fn beside(words: &[&str], service: impl Fn(Operation, Header) -> Vec<Sent> + Send + 'static) -> Output {
    let machine = Machine::new();
    let path = machine.path("service.sock");
    let server = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("a socket");
    bind(&server, &SocketAddrUnix::new(&path).expect("a short path")).expect("a free path");
    listen(&server, 4).expect("it listens");
    let serving = std::thread::spawn(move || {
        let client = retry_on_intr(|| accept(&server)).expect("a client");
        loop {
            let mut bytes = vec![0; MOST_IN_REQUEST + wire::HEADER_BYTES];
            let Ok((count, _)) = retry_on_intr(|| recv(&client, &mut bytes[..], RecvFlags::empty())) else {
                return;
            };
            if count == 0 {
                return;
            }
            let packet = Packet::read(&bytes[..count], MOST_IN_REQUEST).expect("clients send packets");
            assert!(
                serde_json::from_slice::<serde_json::Value>(packet.payload).is_ok_and(|payload| payload.is_object())
            );
            let operation = Operation::from_number(packet.header.operation).expect("clients ask what there is");
            let all = service(operation, packet.header.reply());
            if all.is_empty() {
                return;
            }
            for sent in &all {
                send(client.as_fd(), sent);
            }
        }
    });
    let mut arguments = vec!["service", "--socket", path.to_str().expect("plain")];
    arguments.extend(words);
    let output = machine.run(&arguments);
    serving.join().expect("the client sends only valid requests");
    output
}

fn said(output: &Output) -> (String, String, i32) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap_or(-1),
    )
}

/// Runs `vkloader service` against a service that sends wrong packets for one operation. Returns the output, the error output and the exit
/// status.
fn but_for(wrong: Operation, sent: impl Fn(Header) -> Vec<Sent> + Send + 'static) -> (String, String, i32) {
    said(&beside(&[], move |operation, header| {
        if operation == wrong {
            sent(header)
        } else {
            good(operation, header)
        }
    }))
}

#[test]
fn lsv_44_all_is_told_to_those_that_run_the_service() {
    let (out, _, code) = said(&beside(&[], good));
    assert_eq!(code, 0, "{out}");
    for words in [
        "health OK, clients: 3",
        "drm-renderD128  amdgpu",
        "10 (radv), 11 (radv-32)",
        "broken, radv",
        "0123456789ab\n",
        "metadata.json: version is 2",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    assert!(
        out.contains("0-libvulkan_lvp.so.json  64-bit    0-libvulkan_lvp.so  1.3.230"),
        "{out}"
    );
    assert!(out.contains("initialized  32-bit"), "{out}");
    let places = ["\n  9  ", "\n  10 "].map(|start| out.find(start));
    assert!(places.is_sorted() && places[0].is_some(), "{out}");
}

#[test]
fn lsv_45_without_rights_devices_and_manifests_are_told() {
    let (out, _, code) = but_for(Operation::Inspect, |header| {
        vec![reply(header, r#"{"status": "denied"}"#)]
    });
    assert_eq!(code, 0, "{out}");
    for words in [
        "renderD128  amdgpu",
        "renderD129  odd            nothing",
        "0-libvulkan_lvp.so",
        "Only root and the user of the service can see",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    assert!(!out.contains("Drivers\n") && !out.contains("health"), "{out}");
}

#[test]
fn json_has_all_that_was_told() {
    let output = beside(&["--json"], good);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((told["features"].as_u64(), output.status.code()), (Some(7), Some(0)));
    assert_eq!(told["devices"][1]["node"], "renderD129");
    assert_eq!(told["manifests"][0]["name"], "0-libvulkan_lvp.so.json");
    assert_eq!(told["inspect"]["core/vulkan_loader"]["icds"]["9"]["later"], 1);
}

#[test]
fn a_service_without_a_driver_ends_it_with_one() {
    let (out, _, code) = but_for(Operation::Manifests, |header| {
        vec![with_file(header, r#"{"count": 0}"#, "")]
    });
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("Handed out to programs\n  none"), "{out}");
}

#[test]
fn lsv_35_packets_that_are_no_reply_are_passed_over() {
    let (out, error, code) = but_for(Operation::Devices, |header| {
        let other = Header::request(Operation::Features, 0).reply();
        let late = Header { request: 77, ..header };
        vec![reply(other, "{}"), reply(late, "{}"), reply(header, DEVICES)]
    });
    assert_eq!((code, &*error), (0, ""), "{out}");
}

#[test]
fn what_is_no_service_is_named() {
    type Wrong = fn(Header) -> Vec<Sent>;
    let cases: [(Operation, &str, Wrong); 16] = [
        (Operation::Features, "does not begin as packets do", |header| {
            vec![Sent {
                bytes: vec![b'x'; header.bytes(0).len()],
                ..Sent::default()
            }]
        }),
        (Operation::Features, "without a header", |_| {
            vec![Sent {
                bytes: b"HTTP/1.1".to_vec(),
                ..Sent::default()
            }]
        }),
        (Operation::Features, "of version 1", |header| {
            let mut bytes = header.bytes(0);
            bytes[4] = 1;
            vec![Sent {
                bytes: bytes.to_vec(),
                ..Sent::default()
            }]
        }),
        (Operation::Features, "wrong length of 9", |header| {
            vec![Sent {
                bytes: [&header.bytes(9)[..], b"{}"].concat(),
                ..Sent::default()
            }]
        }),
        (Operation::Features, "longer than allowed", |header| {
            vec![reply(header, &" ".repeat(MOST_IN_REPLY + 1))]
        }),
        (Operation::Features, "cannot be read", |header| {
            vec![reply(header, "{\"features\": ")]
        }),
        (Operation::Features, "no features", |header| vec![reply(header, "[]")]),
        (Operation::Features, "status busy", |header| {
            vec![reply(header, r#"{"status": "busy"}"#)]
        }),
        (Operation::Features, "closed the connection", |_| Vec::new()),
        (Operation::Features, "none was the reply", |header| {
            (0..200)
                .map(|_| reply(Header { request: 99, ..header }, "{}"))
                .collect()
        }),
        (Operation::Devices, "devices: ", |header| {
            vec![reply(header, r#"{"devices": 7}"#)]
        }),
        (Operation::Manifests, "a file should have come", |header| {
            vec![reply(header, "{}")]
        }),
        (Operation::Manifests, "more than one file", |header| {
            let mut sent = with_file(header, "{}", "[]");
            sent.files.extend(with_file(header, "", "").files);
            vec![sent]
        }),
        (Operation::Manifests, "an invalid list", |header| {
            vec![with_file(header, "{}", &list()[..200])]
        }),
        (Operation::Manifests, "is not a file", |header| {
            let (reader, writer) = std::io::pipe().expect("a pipe");
            // The pipe stays open, so reading from it would block the client.
            std::mem::forget(writer);
            vec![Sent {
                files: vec![reader.into()],
                ..reply(header, "{}")
            }]
        }),
        (Operation::Inspect, "cannot be read", |header| {
            vec![with_file(header, "{}", "{\"core/")]
        }),
    ];
    for (operation, words, wrong) in cases {
        let (out, error, code) = but_for(operation, wrong);
        assert_eq!((code, &*out), (2, ""), "{words}: {error}");
        assert!(
            error.contains(words) && error.contains("service.sock"),
            "{words}: {error}"
        );
    }
}

#[test]
fn lsv_42_a_silent_service_is_given_up() {
    let since = Instant::now();
    let (_, error, code) = but_for(Operation::Devices, |_| {
        vec![reply(Header::request(Operation::Features, 0).reply(), "{}")]
    });
    assert_eq!(code, 2);
    assert!(error.contains("within 6 s"), "{error}");
    assert!(since.elapsed() >= wire::REPLY_LIMIT, "{:?}", since.elapsed());
}

#[test]
fn nobody_listens() {
    let mut machine = Machine::new();
    let file = machine.file("file", "");
    let stream = machine.path("stream.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&stream).expect("a socket");
    for path in [
        "/nowhere/service.sock",
        file.to_str().expect("plain"),
        stream.to_str().expect("plain"),
        &"/x".repeat(200),
    ] {
        let (out, error, code) = said(&machine.run(&["service", "--socket", path]));
        assert_eq!((code, &*out), (2, ""), "{error}");
        assert!(error.contains("no driver service: ") && error.contains(path), "{error}");
    }
    for (value, words) in [
        ("", "switches the service off"),
        ("/nowhere/else.sock", "/nowhere/else.sock: no driver"),
    ] {
        machine.variable("VK_LOADER_SERVICE_SOCKET", value);
        let (_, error, code) = said(&machine.run(&["service"]));
        assert_eq!(code, 2);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn names_do_not_act_on_a_terminal() {
    let (out, _, code) = but_for(Operation::Inspect, |header| {
        let state = STATE.replace("broken", "bro\\u001b[31mken\\n  forged");
        vec![with_file(header, "{}", &state)]
    });
    assert_eq!(code, 0);
    assert!(
        !out.contains('\x1b') && !out.lines().any(|line| line.trim_start().starts_with("forged")),
        "{out}"
    );
}
