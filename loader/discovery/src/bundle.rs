//! Paths at which a loader inside a bundle searches for the system's libraries (APP-300, DRV-56a).

use crate::version::ApiVersion;

/// File name of the library that programs load.
const NAME: &[u8] = b"libvulkan.so.1";

/// Name that Debian gives its folders of libraries for this processor.
const MULTIARCH: &[u8] = if cfg!(target_arch = "x86_64") {
    b"x86_64-linux-gnu"
} else if cfg!(target_arch = "x86") {
    b"i386-linux-gnu"
} else if cfg!(target_arch = "arm") {
    b"arm-linux-gnueabihf"
} else if cfg!(target_arch = "riscv64") {
    b"riscv64-linux-gnu"
} else if cfg!(target_arch = "loongarch64") {
    b"loongarch64-linux-gnu"
} else {
    b"aarch64-linux-gnu"
};

/// Names of two folders that contain only libraries of this build's word size: the first for folders below `/usr` or another installation
/// prefix, the second for NixOS.
const OF_WORD_SIZE: [&[u8]; 2] = if cfg!(target_pointer_width = "64") {
    [b"lib64", b"opengl-driver"]
} else {
    [b"lib32", b"opengl-driver-32"]
};

/// Folders in which systems keep their libraries, in the order of the search: folders for one word size come before folders that may
/// contain both word sizes. The loader in a bundle cannot ask the dynamic linker for the system's library, because the linker would find
/// the loader in the bundle again.
const OF_SYSTEM: [&[&[u8]]; 5] = [
    &[b"/usr/lib", MULTIARCH],
    &[b"/usr", OF_WORD_SIZE[0]],
    &[b"/usr/lib"],
    &[b"/usr/local/lib"],
    &[b"/run", OF_WORD_SIZE[1], b"lib"],
];

/// Folders of libraries below the installation prefix of a manifest.
const BELOW_ROOT: [&[&[u8]]; 3] = [&[b"lib", MULTIARCH], &[OF_WORD_SIZE[0]], &[b"lib"]];

/// Upper bound on the length of a path from [`OF_SYSTEM`], in bytes.
const LONGEST: usize = 64;

/// Calls `visit` with each path at which the system's Vulkan loader may be, until `visit` returns `true`.
pub fn each_of_system(mut visit: impl FnMut(&[u8]) -> bool) {
    for folder in OF_SYSTEM {
        let mut room = [0; LONGEST];
        if visit(join(folder.iter().copied().chain([NAME]), &mut room)) {
            return;
        }
    }
}

/// Writes parts of a path with slashes between them into `room`, and returns the written part. Cuts off bytes that do not fit.
fn join<'r, 'p>(parts: impl Iterator<Item = &'p [u8]>, room: &'r mut [u8]) -> &'r [u8] {
    let mut length = 0;
    for (place, part) in parts.enumerate() {
        let slash = if place == 0 { &b""[..] } else { b"/" };
        for (to, &byte) in room[length..].iter_mut().zip(slash.iter().chain(part)) {
            *to = byte;
            length += 1;
        }
    }
    &room[..length]
}

/// Calls `try_path` with possible paths of the library with the name `library`, and returns the first result (DRV-56a). The paths are below
/// the installation prefix of the manifest. A manifest outside of `share/vulkan/icd.d` and `etc/vulkan/icd.d` has no prefix.
pub fn beside<R>(manifest: &[u8], library: &[u8], mut try_path: impl FnMut(&[u8]) -> Option<R>) -> Option<R> {
    let folder = &manifest[..manifest.iter().rposition(|&byte| byte == b'/')?];
    let root = [&b"/share/vulkan/icd.d"[..], b"/etc/vulkan/icd.d"]
        .iter()
        .find_map(|part| folder.strip_suffix(*part))?;
    // Libraries of manifests in `/etc` are installed in `/usr`.
    let root: &[u8] = if root.is_empty() { b"/usr" } else { root };
    BELOW_ROOT.iter().find_map(|below| {
        let mut room = [0; LONGEST_BESIDE];
        let parts = [root].into_iter().chain(below.iter().copied()).chain([library]);
        let path = join(parts, &mut room);
        // A path that fills the buffer may have been cut off, so it is not tried.
        if path.len() == LONGEST_BESIDE {
            None
        } else {
            try_path(path)
        }
    })
}

/// Upper bound on the length of a path that [`beside`] tries, in bytes.
const LONGEST_BESIDE: usize = 1024;

/// Returns the version in the name of the file at `path`, for example `libvulkan.so.1.4.313`; `None` if the name has fewer than three
/// numbers.
pub fn version_of_file(path: &[u8]) -> Option<ApiVersion> {
    const STEM: &[u8] = b"libvulkan.so.";
    let start = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let numbers = path.get(start..)?.strip_prefix(STEM)?;
    let mut parts = numbers.splitn(3, |&byte| byte == b'.').map(number);
    let (major, minor, patch) = (parts.next()??, parts.next()??, parts.next()??);
    let fits = major < 1 << 7 && minor < 1 << 10 && patch < 1 << 12;
    fits.then(|| ApiVersion(ApiVersion::new(major, minor).0 | patch))
}

/// Reads a decimal number of at most four digits.
fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 4 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(manifest: &[u8], library: &[u8]) -> Vec<String> {
        let mut paths = Vec::new();
        beside(manifest, library, |path| -> Option<()> {
            paths.push(String::from_utf8_lossy(path).into_owned());
            None
        });
        paths
    }

    #[test]
    fn drv_56a_libraries_lie_beside_the_root_of_the_manifest() {
        let text = |name: &'static [u8]| str::from_utf8(name).expect("text");
        let (multiarch, word_size) = (text(MULTIARCH), text(OF_WORD_SIZE[0]));
        for (manifest, root) in [
            (&b"/usr/share/vulkan/icd.d/a.json"[..], "/usr"),
            (b"/etc/vulkan/icd.d/a.json", "/usr"),
            (b"/opt/x/share/vulkan/icd.d/a.json", "/opt/x"),
        ] {
            assert_eq!(
                paths(manifest, b"liba.so"),
                [
                    format!("{root}/lib/{multiarch}/liba.so"),
                    format!("{root}/{word_size}/liba.so"),
                    format!("{root}/lib/liba.so")
                ]
            );
        }
        for manifest in [&b"/home/u/a.json"[..], b"a.json", b""] {
            assert!(paths(manifest, b"liba.so").is_empty());
        }
        assert!(paths(b"/usr/share/vulkan/icd.d/a.json", &[b'x'; LONGEST_BESIDE]).is_empty());
    }

    #[test]
    fn app_300_the_systems_folders_are_searched() {
        let mut paths = Vec::new();
        each_of_system(|path| {
            paths.push(String::from_utf8_lossy(path).into_owned());
            false
        });
        assert!(paths.iter().all(|path| path.len() < LONGEST), "{paths:?}");
        let folders: Vec<_> = paths
            .iter()
            .map(|path| path.trim_end_matches("/libvulkan.so.1"))
            .collect();
        if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            let expected = [
                "/usr/lib/x86_64-linux-gnu",
                "/usr/lib64",
                "/usr/lib",
                "/usr/local/lib",
                "/run/opengl-driver/lib",
            ];
            assert_eq!(folders, expected);
        }
        let mut visited = 0;
        each_of_system(|_| {
            visited += 1;
            visited == 2
        });
        assert_eq!(visited, 2);
    }

    #[test]
    fn app_300_the_version_stands_in_the_name_of_the_file() {
        let version =
            |name: &[u8]| version_of_file(name).map(|version| (version.major(), version.minor(), version.patch()));
        assert_eq!(version(b"/usr/lib/libvulkan.so.1.4.313"), Some((1, 4, 313)));
        assert_eq!(version(b"libvulkan.so.1.3.0"), Some((1, 3, 0)));
        for name in [
            &b"/usr/lib/libvulkan.so.1"[..],
            b"/usr/lib/libvulkan.so",
            b"/usr/lib/libvulkan.so.1.4",
            b"/usr/lib/libvulkan.so.1.4.313.1",
            b"/usr/lib/libvulkan.so.1.4.x",
            b"/usr/lib/libvulkan.so.1.4.99999",
            b"/usr/lib/libvulkan.so.1.4.4096",
            b"/usr/lib/libvulkan.so.1.4.",
            b"/libvulkan.so.1.4.313/libother.so",
            b"",
        ] {
            assert_eq!(version(name), None, "{}", name.escape_ascii());
        }
    }
}
