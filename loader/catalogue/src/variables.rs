//! Variables that make drivers answer otherwise than when they were asked.

/// First variables that change which files a driver consists of, or put others between it and the kernel. Then how the names of variables
/// begin that drivers read, up to an underscore and in capitals: options of driconf are variables too, in small letters. One text: each
/// address in a list is one that the dynamic linker has to set in every process.
const KNOWN: &[u8] = b"\
    LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT GLIBC_TUNABLES MESA_ RADV_ ACO_ AMD_ AMDVLK_ INTEL_ ANV_ HASVK_ NVK_ NAK_ LP_ \
    GALLIUM_ VN_ TU_ FD_ V3D_ PAN_ PANVK_ PVR_ PCO_ ROGUE_ ASAHI_ AGX_ HK_ NIR_ MDA_ DRI_ DRIRC_ __NV_ __VK_LAYER_NV_ __GL_ \
    NVPRESENT_";

/// Whether what a driver answered without this variable says nothing of what it answers with it.
pub fn matters(name: &[u8]) -> bool {
    KNOWN
        .split(|&byte| byte == b' ')
        .any(|known| match known.ends_with(b"_") {
            true => name
                .get(..known.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(known)),
            false => known == name,
        })
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
    fn names_are_capitals_and_differ() {
        let all: Vec<&str> = str::from_utf8(KNOWN).unwrap().split(' ').collect();
        for (index, name) in all.iter().enumerate() {
            let is_capital = |byte: u8| byte == b'_' || byte.is_ascii_uppercase() || byte.is_ascii_digit();
            assert!(!name.is_empty() && name.bytes().all(is_capital), "{name}");
            assert!(!all[..index].contains(name), "{name}");
        }
        assert_eq!(all.iter().position(|name| name.ends_with('_')), Some(4));
    }
}
