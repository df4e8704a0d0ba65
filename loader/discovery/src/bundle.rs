//! The libraries of a system as a library in a bundle finds them (APP-300, DRV-56a).

use crate::version::ApiVersion;

/// The name that programs ask for.
const NAME: &[u8] = b"libvulkan.so.1";

/// Expands to the name that Debian gives its folders of libraries for this processor.
#[cfg(target_arch = "x86_64")]
macro_rules! multiarch {
    () => {
        "x86_64-linux-gnu"
    };
}
#[cfg(not(target_arch = "x86_64"))]
macro_rules! multiarch {
    () => {
        "aarch64-linux-gnu"
    };
}

/// Folders in which systems keep their libraries, in the order in which they are searched: those of one word size before those that may
/// be of either. A bundle cannot ask the dynamic linker, which would find the bundle again.
const OF_SYSTEM: [&[u8]; 5] = [
    concat!("/usr/lib/", multiarch!()).as_bytes(),
    b"/usr/lib64",
    b"/usr/lib",
    b"/usr/local/lib",
    b"/run/opengl-driver/lib",
];

/// Folders of libraries below the root that a manifest was installed into.
const BELOW_ROOT: [&[u8]; 3] = [concat!("lib/", multiarch!()).as_bytes(), b"lib64", b"lib"];

/// Bytes that are enough for the path of a library of the system.
const LONGEST: usize = 64;

/// Calls `visit` with each path at which the system's library may be, until it returns `true`.
pub fn each_of_system(mut visit: impl FnMut(&[u8]) -> bool) {
    for folder in OF_SYSTEM {
        let mut room = [0; LONGEST];
        if visit(join(folder, NAME, &mut room)) {
            return;
        }
    }
}

/// Writes `folder`, a slash and `name` into `room`, and returns the written part. Cuts off bytes that do not fit.
fn join<'r>(folder: &[u8], name: &[u8], room: &'r mut [u8]) -> &'r [u8] {
    let mut length = 0;
    let bytes = [folder, b"/", name].into_iter().flatten();
    for (to, &byte) in room.iter_mut().zip(bytes) {
        *to = byte;
        length += 1;
    }
    &room[..length]
}

/// Calls `try_path` with possible paths of the library with the bare name `library`, and returns the first result (DRV-56a). The paths are in
/// the root that the manifest was installed into. A manifest outside of `share/vulkan/icd.d` and `etc/vulkan/icd.d` has no root.
pub fn beside<R>(manifest: &[u8], library: &[u8], mut try_path: impl FnMut(&[u8]) -> Option<R>) -> Option<R> {
    let folder = &manifest[..manifest.iter().rposition(|&byte| byte == b'/')?];
    let root = [&b"/share/vulkan/icd.d"[..], b"/etc/vulkan/icd.d"]
        .iter()
        .find_map(|part| folder.strip_suffix(*part))?;
    // Manifests in /etc belong to libraries in /usr.
    let root = if root.is_empty() { b"/usr" } else { root };
    BELOW_ROOT.iter().find_map(|below| {
        let mut room = [0; LONGEST_BESIDE];
        let mut folder = [0; LONGEST_BESIDE];
        let folder = join(root, below, &mut folder);
        let path = join(folder, library, &mut room);
        // A path that fills the room was cut.
        if path.len() == LONGEST_BESIDE {
            None
        } else {
            try_path(path)
        }
    })
}

/// Bytes of the longest path that [`beside`] tries.
const LONGEST_BESIDE: usize = 1024;

/// Returns the version in the name of the file at `path`, as in `libvulkan.so.1.4.313`; `None` if the name has fewer than three numbers.
pub fn version_of_file(path: &[u8]) -> Option<ApiVersion> {
    const STEM: &[u8] = b"libvulkan.so.";
    let start = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let numbers = path.get(start..)?.strip_prefix(STEM)?;
    let mut parts = numbers.splitn(3, |&byte| byte == b'.').map(number);
    let (major, minor, patch) = (parts.next()??, parts.next()??, parts.next()??);
    let fits = major < 1 << 7 && minor < 1 << 10 && patch < 1 << 12;
    fits.then(|| ApiVersion(ApiVersion::new(major, minor).0 | patch))
}

/// A decimal number of at most four digits.
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
        let multiarch = multiarch!();
        for (manifest, root) in [
            (&b"/usr/share/vulkan/icd.d/a.json"[..], "/usr"),
            (b"/etc/vulkan/icd.d/a.json", "/usr"),
            (b"/opt/x/share/vulkan/icd.d/a.json", "/opt/x"),
        ] {
            assert_eq!(
                paths(manifest, b"liba.so"),
                [
                    format!("{root}/lib/{multiarch}/liba.so"),
                    format!("{root}/lib64/liba.so"),
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
    fn paths_of_the_system_fit() {
        for folder in OF_SYSTEM {
            assert!(folder.len() + 1 + NAME.len() < LONGEST);
        }
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
