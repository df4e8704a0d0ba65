//! The text of a driver catalogue.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vulkan::catalogue::{Content, parse};

fuzz_target!(|input: &[u8]| {
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
});
