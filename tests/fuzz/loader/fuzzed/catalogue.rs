//! Fuzzes a driver catalogue, or the beginning of a library.

use crate::unopened::{Content, parse};
use catalogue::{BuildId, HEAD_BYTES};

/// Reads the input as a catalogue and as the beginning of a library.
pub fn catalogue(input: &[u8]) {
    if let Some(id) = BuildId::in_head(input) {
        let written = id.to_string();
        assert!((16..=128).contains(&written.len()) && id.is_written(written.as_bytes()));
        assert_eq!(BuildId::in_head(&input[..input.len().min(HEAD_BYTES)]), Some(id));
    }
    let once = parse(input.to_vec());
    assert_eq!(once, parse(input.to_vec()));
    let Some(Content {
        entries,
        longest_name,
        most_extensions,
        most_devices,
        left_out,
    }) = once
    else {
        return;
    };
    assert!(entries <= catalogue::MOST_ENTRIES && left_out <= entries);
    assert!(longest_name <= catalogue::LONGEST_NAME);
    assert!(most_extensions <= catalogue::MOST_EXTENSIONS && most_devices <= catalogue::MOST_DEVICES);
}
