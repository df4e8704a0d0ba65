//! Fuzzes a driver catalogue, or the beginning of a library.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let mut file = input.to_vec();
    // After most mutations, the size in the header is wrong, and the loader would ignore the file. The target therefore corrects the size.
    if let (Some(size), Ok(length)) = (file.get_mut(12..16), u32::try_from(input.len())) {
        size.copy_from_slice(&length.to_le_bytes());
    }
    vulkan::fuzzed::catalogue(&file);
    // The reader of `vkloader` returns a value or an error for any file.
    let _ = catalogue::unpack(&file);
});
