//! Fuzzes packets of a client to the driver service. Each packet must be a request, be refused, or end the connection. Every answer must be
//! a packet.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use loader_fuzz::twice;
use service::drivers::{Drivers, Lookup, Rules};
use service::protocol::{Reply, Request};
use wire::{Header, MOST_IN_REPLY, MOST_IN_REQUEST, Packet};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Checks the answers to a request before the first scan, and after a scan that found no driver.
fn check_answer(request: &Request) {
    let now = *START;
    let rules = Rules {
        allow_fallback: false,
        ..Rules::default()
    };
    let mut drivers = Drivers::<()>::new(rules);
    let waits = matches!(
        request,
        Request::Get(..)
            | Request::Manifests {
                wait_for_idle: true,
                ..
            }
    );
    assert_eq!(request.is_pending(&drivers, now), waits);
    drivers.devices_seen(now, Vec::new());
    if let Request::Get(key, _) = request {
        assert!(wire::is_key(key.as_bytes()));
        assert!(matches!(drivers.look_up(now, key), Lookup::Absent));
    }
    assert!(!request.is_pending(&drivers, now));
}

fn check_packet(packet: &Packet<'_>) {
    let request = twice(|| Request::read(packet));
    if let Ok(request) = &request {
        check_answer(request);
    }
    let status = request.err().unwrap_or(wire::status::OK);
    let bytes = Reply::status(status).packet(packet.header);
    let reply = Packet::read(&bytes, MOST_IN_REPLY).expect("an answer is a packet");
    assert_eq!(reply.header, packet.header.reply());
    service::json::object::<BTreeMap<String, String>>(reply.payload).expect("an answer is JSON");
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(packet) = twice(|| Packet::read(bytes, MOST_IN_REQUEST)) {
        check_packet(&packet);
    }
    // A valid header precedes the bytes, so that the input reaches the code after the check of the header.
    let Some((operation, payload)) = bytes.split_first() else {
        return;
    };
    let header = Header {
        operation: u16::from(operation % 8),
        is_reply: false,
        request: 1,
    };
    check_packet(&Packet { header, payload });
});
