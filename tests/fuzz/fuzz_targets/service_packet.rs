//! Packets of a client to the driver service: each is a request, is refused, or ends the connection, and every answer is a packet.
#![no_main]

use std::sync::LazyLock;
use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use loader_fuzz::twice;
use service::drivers::{Drivers, Lookup, Rules};
use service::held::{Answer, Awaited};
use service::json::{DEPTH, Json};
use service::protocol::{Reply, Request};
use wire::{Header, MOST_IN_REPLY, MOST_IN_REQUEST, Packet};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Returns the nesting depth of a value.
fn depth(json: &Json) -> usize {
    let inner = match json {
        Json::List(values) => values.iter().map(depth).max(),
        Json::Object(members) => members.iter().map(|(_, value)| depth(value)).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

/// Returns `true` if all its numbers are whole and short: others are rounded when they are read.
fn is_exact(json: &Json) -> bool {
    match json {
        Json::Number(number) => !number.is_f64(),
        Json::List(values) => values.iter().all(is_exact),
        Json::Object(members) => members.iter().all(|(_, value)| is_exact(value)),
        _ => true,
    }
}

/// A text is read to the same value once more when it was written, and keeps the limits.
fn check_json(text: &[u8]) {
    let Ok(json) = Json::read(text) else { return };
    assert!(depth(&json) <= DEPTH);
    if let Json::Object(members) = &json {
        let mut keys: Vec<_> = members.iter().map(|(key, _)| key).collect();
        keys.sort();
        assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "a key is there twice");
    }
    let written = json.to_string();
    let again = Json::read(written.as_bytes()).expect("what was written is JSON");
    if is_exact(&json) {
        assert_eq!(again, json);
    }
}

/// Checks the answers to a request before anything was read, and after a scan that found nothing.
fn check_answer(request: &Request) {
    let awaited = match request {
        Request::Get(key) => {
            assert!(wire::is_key(key.as_bytes()));
            Awaited::Library(key.clone())
        }
        Request::Manifests { wait_for_idle, class } => Awaited::Manifests {
            idle: *wait_for_idle,
            class: *class,
        },
        _ => return,
    };
    let now = *START;
    let rules = Rules {
        allow_fallback: false,
        ..Rules::default()
    };
    let mut drivers = Drivers::<()>::new(rules);
    let until = now + wire::HELD_BACK;
    let waits = !matches!(awaited, Awaited::Manifests { idle: false, .. });
    assert_eq!(
        matches!(awaited.answer(&drivers, now, until), Answer::Wait),
        waits
    );
    assert_eq!(
        matches!(awaited.answer(&drivers, until, until), Answer::Timeout),
        waits
    );
    drivers.devices_seen(now, Vec::new());
    if let Awaited::Library(key) = &awaited {
        assert!(matches!(drivers.look_up(now, key), Lookup::Absent));
    }
    assert!(!matches!(
        awaited.answer(&drivers, now, until),
        Answer::Wait | Answer::Timeout
    ));
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
    Json::read(reply.payload).expect("an answer is JSON");
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(packet) = twice(|| Packet::read(bytes, MOST_IN_REQUEST)) {
        check_packet(&packet);
    }
    // The same with a valid header, so that the code after it is reached.
    let Some((operation, payload)) = bytes.split_first() else {
        return;
    };
    check_json(payload);
    let header = Header {
        operation: u16::from(operation % 8),
        is_reply: false,
        request: 1,
    };
    check_packet(&Packet { header, payload });
});
