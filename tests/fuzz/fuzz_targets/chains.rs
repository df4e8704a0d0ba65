//! `pNext` chains of every call that looks at one: whatever is in a chain, in whatever order and how often, the call ends
//! well, the chain stays linked as it was, and structures that the loader does not know stay untouched.
//!
//! Structures are as small as their type says, and unknown ones no more than a head, so AddressSanitizer sees it when one
//! is taken for another. The driver is part of the target and offers Vulkan 1.0: the loader itself answers newer queries.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: {
        // Drivers and layers of the machine are none of this target's business.
        for name in ["VK_DRIVER_FILES", "VK_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH"] {
            // SAFETY: there is only one thread yet.
            unsafe { std::env::set_var(name, "") };
        }
    },
    |bytes: &[u8]| vulkan::fuzzed::chains(bytes)
);
