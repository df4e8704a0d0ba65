//! Answers of a driver service. The first byte of the input selects the meaning of the rest: a whole packet, the payload of a valid one, or the list
//! of manifests in a file.

use crate::service::{Described, Failure, Manifest, described_library, listed_manifests, packet_for, read_reply};
use discovery::manifest::json::Document;
use wire::{Header, MOST_IN_LIBRARY, MOST_IN_MANIFEST, MOST_PACKAGES, Operation};

fn asked() -> Header {
    Header::request(Operation::Get, 7)
}

/// Returns the result. Panics if memory ran out, because that would hide other faults.
fn told<T>(result: Result<T, Failure>) -> Option<T> {
    assert!(!matches!(result, Err(Failure::OutOfMemory)));
    result.ok()
}

fn check_payload(payload: &[u8]) -> Option<Described> {
    let document = told(read_reply(payload))?;
    let described = told(described_library(&document))?;
    assert!((1..=MOST_IN_LIBRARY).contains(&described.size));
    Some(described)
}

fn check_list(text: &[u8]) {
    for count in 0..4 {
        let reply = Document::parse(format!(r#"{{"count":{count}}}"#).into()).expect("it is JSON");
        let said = reply.root().as_object().and_then(|reply| reply.get("count"));
        let Some(list) = told(listed_manifests(text.to_vec(), said)) else {
            continue;
        };
        assert!(list.len() == count && count <= MOST_PACKAGES);
        for Manifest { name, content, .. } in &list {
            assert!(name.ends_with(b".json") || name.to_ascii_lowercase().ends_with(b".json"));
            assert!(!name.contains(&b'/') && !name.contains(&0) && std::str::from_utf8(name).is_ok());
            assert!(content.len() <= MOST_IN_MANIFEST);
        }
    }
}

/// Reads the input as a packet, the content of one, or a list of manifests.
pub fn service_client(input: &[u8]) {
    let Some((&kind, rest)) = input.split_first() else {
        return;
    };
    match kind % 3 {
        0 => {
            if let Some(payload) = told(packet_for(rest, asked())) {
                check_payload(payload);
                assert_eq!(&asked().reply().bytes(payload.len() as u32)[..], &rest[..16]);
            }
        }
        1 => {
            let described = check_payload(rest);
            let packet = [&asked().reply().bytes(rest.len() as u32)[..], rest].concat();
            // The payload of a packet with these bytes decodes to the same value.
            let payload = told(packet_for(&packet, asked())).expect("a good packet");
            assert_eq!(check_payload(payload), described);
        }
        _ => check_list(rest),
    }
}
