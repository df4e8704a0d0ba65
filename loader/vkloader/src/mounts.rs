//! Mounts of a process, from the file `mountinfo` in the process's folder below `/proc`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Mounts of this process, relative to the root folder of a system.
const OF_THIS_PROCESS: &str = "proc/self/mountinfo";
/// Field that separates the fields of the mount from those of the file system.
const SEPARATOR: &[u8] = b"-";

/// The mounts of a process, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mounts(Vec<Mount>);

/// One mount.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Folder or file of the file system that is visible at the mount point. `/` is the whole file system.
    pub(crate) root: PathBuf,
    /// Mount point, relative to the root folder of the process.
    pub(crate) point: PathBuf,
    /// Type of the file system, for example `tmpfs`; empty if the line lacks it.
    pub(crate) kind: String,
}

impl Mounts {
    /// Returns the mounts of this process. Returns no mounts without `/proc`.
    pub(crate) fn of_this_process() -> Self {
        Self::below(Path::new("/"))
    }

    /// Returns the mounts that the system with the root folder `root` lists for this process.
    pub(crate) fn below(root: &Path) -> Self {
        Self::parse(&fs::read(root.join(OF_THIS_PROCESS)).unwrap_or_default())
    }

    /// Returns the mounts in the text of a file `mountinfo`. Skips lines without a mount point.
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(text.split(|&byte| byte == b'\n').filter_map(Mount::parse).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all mounts, in the order in which they were made.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }

    /// Returns the visible mount at a mount point, which is the last one.
    pub(crate) fn at(&self, point: impl AsRef<Path>) -> Option<&Mount> {
        let mut all = self.0.iter().rev();
        all.find(|mount| mount.point == point.as_ref())
    }

    /// Returns the mount that contains the file at `path`. The path must be absolute and without links.
    pub(crate) fn holding(&self, path: &Path) -> Option<&Mount> {
        let holding = self.0.iter().filter(|mount| path.starts_with(&mount.point));
        holding.max_by_key(|mount| mount.point.components().count())
    }
}

impl Mount {
    /// Returns the mount in a line. The line has six fields: mount ID, parent's mount ID, device, root, mount point, and options. Optional fields
    /// follow, then `-`, and then the type of the file system, its source and its options.
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|&byte| byte == b' ');
        let (root, point) = (fields.nth(3)?, fields.next()?);
        // The separator follows the options. A mount point with this name is an earlier field.
        let kind = fields.skip(1).skip_while(|field| *field != SEPARATOR).nth(1);
        let is_path = |field: &[u8]| field.first() == Some(&b'/');
        is_path(point).then(|| Self {
            root: unescaped(root),
            point: unescaped(point),
            kind: String::from_utf8_lossy(kind.unwrap_or_default()).into_owned(),
        })
    }

    /// Returns `true` for a file system that has no files when it is mounted.
    pub(crate) fn is_empty_at_first(&self) -> bool {
        ["tmpfs", "ramfs"].contains(&self.kind.as_str())
    }

    /// Returns `true` for a file system that a container writes and that has no files of the host. Changes to an overlay stay in the container. A part
    /// of a file system of the host has another root than that file system.
    pub(crate) fn is_of_container(&self) -> bool {
        self.is_whole() && ["overlay", "fuse.fuse-overlayfs", "tmpfs", "ramfs"].contains(&self.kind.as_str())
    }

    /// Returns `true` if the mount shows the whole file system. A part of a file system has another root.
    fn is_whole(&self) -> bool {
        self.root == Path::new("/")
    }
}

/// Returns the path in a field. The kernel writes blanks, backslashes and some other bytes as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    const LENGTH: usize = 4;
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        match number(rest.get(..LENGTH).unwrap_or_default()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[LENGTH..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

/// Returns the byte that a backslash and three octal digits stand for.
fn number(text: &[u8]) -> Option<u8> {
    let (b'\\', digits) = text.split_first()? else {
        return None;
    };
    digits.iter().try_fold(0_u8, |number, &digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 8)?;
        number.checked_mul(8)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the root, the type and the point of the mount that contains a file.
    fn holding(text: &str, path: &str) -> Option<(String, String, String)> {
        let mounts = Mounts::parse(text.as_bytes());
        let mount = mounts.holding(Path::new(path))?;
        let shown = |path: &Path| path.display().to_string();
        Some((shown(&mount.root), mount.kind.clone(), shown(&mount.point)))
    }

    fn fields(root: &str, kind: &str, point: &str) -> Option<(String, String, String)> {
        Some((root.into(), kind.into(), point.into()))
    }

    /// Lines that `podman run --device /dev/dri -v /srv/mesa:/opt/mesa:ro` writes for a user without privileges.
    const PODMAN: &str = "\
        1178 1085 0:66 / / rw,relatime - overlay overlay rw,context=\"system_u:object_r:container_file_t:s0:c1,c2\",\
        lowerdir=/home/kim/.local/share/containers/storage/overlay/l/AB,upperdir=/home/kim/x,workdir=/home/kim/y,userxattr\n\
        1179 1178 0:69 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw\n\
        1180 1178 0:70 / /dev rw,nosuid,noexec - tmpfs tmpfs rw,size=65536k,mode=755,uid=1000,gid=1000,inode64\n\
        1186 1178 0:35 /srv/mesa /opt/mesa ro,relatime master:1 - btrfs /dev/nvme0n1p3 rw,seclabel,ssd,subvol=/root\n\
        1187 1180 0:5 /dri/renderD128 /dev/dri/renderD128 rw,nosuid,noexec master:9 - devtmpfs devtmpfs rw,size=4096k,mode=755\n\
        1190 1178 0:25 /containers/x/.containerenv /run/.containerenv rw,nosuid,nodev - tmpfs tmpfs rw\n";

    /// Lines that Flatpak and bubblewrap write.
    const FLATPAK: &str = "\
        632 470 0:55 /newroot / rw,nosuid,nodev,relatime master:352 - tmpfs tmpfs rw,uid=1000,gid=1000\n\
        633 632 259:2 /var/lib/flatpak/runtime/org.freedesktop.Platform/x86_64/23.08/abc/files /usr ro,nosuid,nodev,relatime \
        master:1 - ext4 /dev/nvme0n1p2 rw\n\
        640 632 0:56 / /dev rw,nosuid,relatime - tmpfs tmpfs rw,mode=755\n\
        641 640 0:6 /null /dev/null rw,nosuid,relatime master:7 - devtmpfs udev rw\n\
        650 633 259:2 /var/lib/flatpak/runtime/org.freedesktop.Platform.GL.default/x86_64/23.08/def/files \
        /usr/lib/x86_64-linux-gnu/GL/default ro,nosuid,nodev,relatime master:1 - ext4 /dev/nvme0n1p2 rw\n\
        655 632 0:6 /null /usr/lib/libLLVM.so.22.1 ro,nosuid shared:12 master:7 propagate_from:3 - devtmpfs udev rw\n";

    /// Lines of a snap, and of a distribution of WSL.
    const SNAP: &str = "\
        1012 911 7:11 / / ro,nodev,relatime master:34 - squashfs /dev/loop11 ro,errors=continue\n\
        1033 1012 8:2 / /var/lib/snapd/hostfs rw,relatime master:1 - ext4 /dev/sda2 rw\n\
        1040 1012 7:20 /usr/share/vulkan /snap/game/7/graphics ro,nodev - squashfs /dev/loop20 ro\n";
    const WSL: &str = "\
        71 59 8:48 / / rw,relatime - ext4 /dev/sdd rw,discard,errors=remount-ro,data=ordered\n\
        98 71 0:41 / /usr/lib/wsl/drivers ro,nosuid,nodev,noatime - 9p drivers ro,dirsync,aname=drivers;fmask=222;dmask=222,mmap\n\
        112 71 0:56 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync,aname=drvfs;path=C:\\134;uid=1000\n\
        120 71 0:57 / /mnt/my\\040disk\\011two rw - 9p D:\\134 rw\n";

    #[test]
    fn the_mounts_of_containers_and_sandboxes_are_read() {
        let node = "/dev/dri/renderD128";
        assert_eq!(holding(PODMAN, "/usr/lib/libx.so"), fields("/", "overlay", "/"));
        assert_eq!(
            holding(PODMAN, "/opt/mesa/libx.so"),
            fields("/srv/mesa", "btrfs", "/opt/mesa")
        );
        let mounts = Mounts::parse(PODMAN.as_bytes());
        let is_own = |path| mounts.holding(Path::new(path)).is_some_and(Mount::is_of_container);
        assert!(is_own("/usr/lib") && is_own("/dev/null") && !is_own("/opt/mesa/libx.so"));
        assert_eq!(holding(PODMAN, node), fields("/dri/renderD128", "devtmpfs", node));
        assert_eq!(holding(PODMAN, "/dev/dri"), fields("/", "tmpfs", "/dev"));
        assert_eq!(holding(FLATPAK, "/etc"), fields("/newroot", "tmpfs", "/"));
        let mounts = Mounts::parse(FLATPAK.as_bytes());
        let masked = mounts.at("/usr/lib/libLLVM.so.22.1").expect("a mount");
        assert_eq!((masked.kind.as_str(), masked.is_whole()), ("devtmpfs", false));
        assert_eq!(masked.root, Path::new("/null"));
        assert!(
            Mounts::parse(SNAP.as_bytes())
                .at("/var/lib/snapd/hostfs")
                .is_some_and(Mount::is_whole)
        );
        assert_eq!(
            holding(WSL, "/usr/lib/wsl/drivers/x"),
            fields("/", "9p", "/usr/lib/wsl/drivers")
        );
        assert_eq!(
            holding(WSL, "/mnt/my disk\ttwo/x"),
            fields("/", "9p", "/mnt/my disk\ttwo")
        );
    }

    #[test]
    fn the_innermost_and_last_mount_contains_a_file() {
        let text = "1 0 0:1 / / rw - overlay o rw\n2 1 0:2 / /home rw - ext4 d rw\n3 2 0:3 / /home rw - tmpfs t rw\n";
        assert_eq!(holding(text, "/home/kim/libx.so"), fields("/", "tmpfs", "/home"));
        assert_eq!(holding(text, "/homes/libx.so"), fields("/", "overlay", "/"));
        assert_eq!(holding(&text["1 0 0:1 / / rw - overlay o rw\n".len()..], "/opt"), None);
    }

    #[test]
    fn lines_that_no_kernel_writes_are_skipped_or_read_as_far_as_they_go() {
        for line in [
            "",
            "\n\n",
            "1 2 3",
            "1 2 3 /",
            "mount --bind a b",
            "1 2 3 / relative rw - tmpfs t rw",
            "\0\0\0",
        ] {
            assert!(Mounts::parse(line.as_bytes()).is_empty(), "{line:?}");
        }
        assert_eq!(holding("1 2 3 / /x", "/x"), fields("/", "", "/x"));
        assert_eq!(holding("1 2 3 / /x rw shared:1 -", "/x"), fields("/", "", "/x"));
        assert_eq!(holding("1 2 3 / /- - - tmpfs t rw", "/-"), fields("/", "tmpfs", "/-"));
        assert_eq!(unescaped(b"\\040\\134040\\9\\04"), Path::new(" \\040\\9\\04"));
        assert_eq!(unescaped(b"\\777\\12"), Path::new("\\777\\12"));
        assert_eq!(unescaped(b"\\377").as_os_str().as_encoded_bytes(), [0xFF]);
    }
}
