//! Fuzzes the record of a driver that stays closed, and the commands that are answered from it. The first byte of the input selects whether
//! the driver is opened after the first queries. The rest is the content of the record's file after the checksum.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| vulkan::fuzzed::record(input));
