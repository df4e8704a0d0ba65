//! Fuzzes the text of a driver catalogue, or the beginning of a library.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| vulkan::fuzzed::catalogue(input));
