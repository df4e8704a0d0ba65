//! Fuzzes answers of a driver service. The first byte of the input selects the meaning of the other bytes: a whole packet, the payload of a
//! valid packet, or the list of manifests in a file.

use client::{Failure, List, packet_for, read_reply};
use wire::{Header, MOST_IN_MANIFEST, MOST_NEEDS, MOST_PACKAGES, Operation};

fn asked() -> Header {
    Header::request(Operation::Get, 7)
}

/// Returns the value of a result. Panics if the system has no more memory, because a lack of memory would hide other faults.
fn told<T>(result: Result<T, Failure>) -> Option<T> {
    assert!(!matches!(result, Err(Failure::OutOfMemory)));
    result.ok()
}

fn check_payload(payload: &[u8]) -> bool {
    told(read_reply(payload, &mut Default::default())).is_some()
}

fn check_list(text: &[u8]) {
    let Some(list) = told(List::read(text.to_vec())) else {
        return;
    };
    assert!(list.manifests().count() == list.count() && list.count() <= MOST_PACKAGES);
    for manifest in list.manifests() {
        let name = manifest.name;
        assert!(name.to_ascii_lowercase().ends_with(b".json"));
        assert!(!name.contains(&b'/') && !name.contains(&0) && std::str::from_utf8(name).is_ok());
        assert!(manifest.content.len() <= MOST_IN_MANIFEST);
        assert!(manifest.needs().count() <= MOST_NEEDS);
        for need in manifest.needs() {
            assert!(wire::is_key(need.key) && need.name().len() < need.key.len() + 1);
            let _ = wire::compare_versions(need.file(), need.library.c_library());
        }
    }
}

/// Reads the input as a packet, as the payload of a packet, or as a list of manifests.
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
            let is_good = check_payload(rest);
            let packet = [&asked().reply().bytes(rest.len() as u32)[..], rest].concat();
            // A packet with these bytes as its payload must be decoded to the same value.
            let payload = told(packet_for(&packet, asked())).expect("a good packet");
            assert_eq!(check_payload(payload), is_good);
        }
        _ => check_list(rest),
    }
}
