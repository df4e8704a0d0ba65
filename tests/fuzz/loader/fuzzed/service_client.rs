//! Fuzzes answers of a driver service. The first byte of the input selects the meaning of the other bytes: the payload of an answer, or the
//! list of drivers in a file.

use client::List;
use wire::Listed;

fn check_payload(payload: &[u8]) {
    if let Some(status) = wire::status_of(payload) {
        assert!(!status.contains(&b'"') && payload.len() >= status.len());
    }
}

fn check_list(text: &[u8]) {
    let Some(list) = List::read(text.to_vec()) else {
        return;
    };
    // The texts of a valid list, joined again, equal the input, and the last library belongs to a driver.
    let texts = list.libraries().flat_map(|library| library.texts());
    assert_eq!(texts.flat_map(|text| [text, b"\0"]).collect::<Vec<_>>().concat(), text);
    assert!(list.libraries().last().is_none_or(|library| library.is_driver()));
    for library in list.libraries() {
        assert!(library.name().len() <= library.key.len());
        let _ = (
            library.symbols(),
            wire::compare_versions(library.file, library.c_library),
        );
    }
    let mut rest = text;
    assert_eq!(Listed::take(&mut rest), list.libraries().next());
}

/// Reads the input as the payload of an answer, or as a list of drivers.
pub fn service_client(input: &[u8]) {
    match input.split_first() {
        Some((kind, rest)) if kind % 2 == 0 => check_payload(rest),
        Some((_, rest)) => check_list(rest),
        None => {}
    }
}
