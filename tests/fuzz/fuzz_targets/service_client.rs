//! What a driver service answers. The first byte of the input says what the rest is: a whole packet, the payload of a good one, or the list
//! of manifests in a file.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| vulkan::fuzzed::service_client(input));
