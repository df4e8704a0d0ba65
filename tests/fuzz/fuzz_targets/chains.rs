//! `pNext` chains of every call that reads one. Whatever a chain contains, in any order and number, the call succeeds. The chain stays linked as it
//! was, and structures that the loader does not know stay unchanged.
//!
//! Structures are as small as their type, and unknown ones only a head, so AddressSanitizer detects it if one is taken for another. The driver is
//! part of the target and offers Vulkan 1.0: the loader itself answers newer queries.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: {
        // Ignore the drivers and layers of the machine.
        for name in ["VK_DRIVER_FILES", "VK_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH"] {
            // SAFETY: there is only one thread yet.
            unsafe { std::env::set_var(name, "") };
        }
    },
    |bytes: &[u8]| vulkan::fuzzed::chains(bytes)
);
