//! Fuzzes `pNext` chains of every call that reads a chain. The call must succeed with any structures in the chain, in any order and number.
//! The links of the chain must not change, and structures that the loader does not know must remain unchanged.
//!
//! Structures are as small as their type, and unknown structures have only the members `sType` and `pNext`. AddressSanitizer therefore
//! detects an access with the wrong type. The driver is part of the target and offers Vulkan 1.0, so the loader itself answers newer
//! queries.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: {
        // These variables exclude the drivers and layers of the machine from the run.
        for name in ["VK_DRIVER_FILES", "VK_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH"] {
            // SAFETY: no other thread is running.
            unsafe { std::env::set_var(name, "") };
        }
    },
    |bytes: &[u8]| vulkan::fuzzed::chains(bytes)
);
