//! Variables that make drivers answer otherwise than when they were asked.

/// First variables that let others change what the dynamic linker does. Then how the names of variables
/// begin that drivers read, up to an underscore and in capitals: options of driconf are variables too, in small letters. One text: each
/// address in a list is one that the dynamic linker has to set in every process.
const KNOWN: &[u8] = b"\
    LD_AUDIT GLIBC_TUNABLES MESA_ RADV_ ACO_ AMD_ AMDVLK_ INTEL_ ANV_ HASVK_ NVK_ NAK_ LP_ \
    GALLIUM_ VN_ TU_ FD_ V3D_ PAN_ PANVK_ PVR_ PCO_ ROGUE_ ASAHI_ AGX_ HK_ NIR_ MDA_ DRI_ DRIRC_ __NV_ __VK_LAYER_NV_ __GL_ \
    NVPRESENT_";

/// Variables with such names that change nothing that a catalogue says. Each was set to one value or several, and everything that
/// vulkaninfo prints of lavapipe and of the drivers without a device stayed the same, with Mesa 22. Variables of a driver whose hardware
/// was not there are not among them.
const HARMLESS: &[u8] = b"\
    mesa_glthread mesa_no_error MESA_SHADER_CACHE_DISABLE MESA_SHADER_CACHE_DIR MESA_SHADER_CACHE_MAX_SIZE MESA_GLSL_CACHE_DISABLE \
    MESA_DISK_CACHE_SINGLE_FILE MESA_VK_WSI_PRESENT_MODE LP_NUM_THREADS";

/// Whether what a driver answered without this variable says nothing of what it answers with it.
pub fn matters(name: &[u8]) -> bool {
    let words = |list: &'static [u8]| list.split(|&byte| byte == b' ');
    !words(HARMLESS).any(|known| known == name)
        && words(KNOWN).any(|known| match known.ends_with(b"_") {
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
            "LD_AUDIT",
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
            "LP_NUM_THREADS",
            "mesa_glthread",
            "LD_LIBRARY_PATH",
            "LD_PRELOAD",
        ] {
            assert!(!matters(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn names_are_capitals_and_differ() {
        for name in HARMLESS.split(|&byte| byte == b' ') {
            let is_known = KNOWN.split(|&byte| byte == b' ').any(|known| {
                let begin = name.get(..known.len());
                begin.is_some_and(|begin| begin.eq_ignore_ascii_case(known))
            });
            assert!(is_known && !matters(name), "{}", name.escape_ascii());
        }
        let all: Vec<&str> = str::from_utf8(KNOWN).unwrap().split(' ').collect();
        for (index, name) in all.iter().enumerate() {
            let is_capital = |byte: u8| byte == b'_' || byte.is_ascii_uppercase() || byte.is_ascii_digit();
            assert!(!name.is_empty() && name.bytes().all(is_capital), "{name}");
            assert!(!all[..index].contains(name), "{name}");
        }
        assert_eq!(all.iter().position(|name| name.ends_with('_')), Some(2));
    }
}
