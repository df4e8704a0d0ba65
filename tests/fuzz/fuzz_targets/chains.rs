//! Fuzzes `pNext` chains of every call that reads a chain. Whatever structures a chain contains, in any order and number, the call
//! succeeds. The chain keeps its links, and structures that the loader does not know stay unchanged.
//!
//! Structures are as small as their type, and unknown structures are only a head. So AddressSanitizer detects it if the loader takes one
//! structure for another. The driver is part of the target and offers Vulkan 1.0, so the loader itself answers newer queries.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: {
        // Ignore the drivers and layers of the machine.
        for name in ["VK_DRIVER_FILES", "VK_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH"] {
            // SAFETY: no other thread is running.
            unsafe { std::env::set_var(name, "") };
        }
    },
    |bytes: &[u8]| vulkan::fuzzed::chains(bytes)
);
