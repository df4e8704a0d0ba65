//! Fuzzes answers of a driver service. The first byte of the input selects the meaning of the other bytes: a whole packet, the payload of a
//! valid packet, or the list of manifests in a file.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| vulkan::fuzzed::service_client(input));
