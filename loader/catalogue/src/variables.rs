//! Variables that make drivers answer otherwise than when they were asked.

/// How the names of variables begin that drivers read, in capitals. Options of driconf are variables too, in small letters.
pub const PREFIXES: &[&str] = &[
    "MESA_",
    "RADV_",
    "ACO_",
    "AMD_",
    "AMDVLK_",
    "INTEL_",
    "ANV_",
    "HASVK_",
    "NVK_",
    "NAK_",
    "LP_",
    "GALLIUM_",
    "VN_",
    "TU_",
    "FD_",
    "V3D_",
    "PAN_",
    "PANVK_",
    "PVR_",
    "PCO_",
    "ROGUE_",
    "ASAHI_",
    "AGX_",
    "HK_",
    "NIR_",
    "MDA_",
    "DRI_",
    "DRIRC_",
    "__NV_",
    "__VK_LAYER_NV_",
    "__GL_",
    "NVPRESENT_",
];

/// Variables that change which files a driver consists of, or put others between it and the kernel.
pub const NAMES: &[&str] = &["LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES"];

/// Whether what a driver answered without this variable says nothing of what it answers with it.
pub fn matters(name: &[u8]) -> bool {
    let begins = |prefix: &&str| {
        name.get(..prefix.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(prefix.as_bytes()))
    };
    // Most variables begin with none of these letters.
    NAMES.iter().any(|known| known.as_bytes() == name) || PREFIXES.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_drivers_are_told_from_others() {
        for name in [
            "MESA_VK_VERSION_OVERRIDE",
            "RADV_DEBUG",
            "radv_gfx12_hiz_wa",
            "AMD_VULKAN_ICD",
            "__NV_PRIME_RENDER_OFFLOAD",
            "DRI_PRIME",
            "LP_NUM_THREADS",
            "LD_PRELOAD",
            "NVK_I_WANT_A_BROKEN_VULKAN_DRIVER",
        ] {
            assert!(matters(name.as_bytes()), "{name}");
        }
        for name in [
            "",
            "PATH",
            "HOME",
            "LPDEST",
            "VK_DRIVER_FILES",
            "VK_LOADER_CATALOGUE",
            "DISPLAY",
            "DRI",
            "LD_BIND_NOW",
        ] {
            assert!(!matters(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn prefixes_are_capitals_and_differ() {
        for (index, prefix) in PREFIXES.iter().enumerate() {
            assert!(
                prefix.ends_with('_') && !prefix.bytes().any(|byte| byte.is_ascii_lowercase()),
                "{prefix}"
            );
            assert!(!PREFIXES[..index].contains(prefix), "{prefix}");
        }
    }
}
