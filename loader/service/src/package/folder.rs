//! Folders and files of a package (LSV-49, LSV-50). Each component of a path is opened separately, and each check uses the opened
//! descriptor. Paths must not contain symbolic links or `..`, and only root may change the files.

use super::fault::Fault;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, StatVfsMountFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// The user whose files are trusted: root. Tests that do not run as root trust their own user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(pub u32);

impl Owner {
    /// Root, the only user whom the program trusts.
    pub const ROOT: Self = Self(0);

    /// Returns `true` if the user `self` owns the file, and no other user may write to it.
    fn holds(self, stat: &Stat) -> bool {
        // A folder to which all users may write is rejected, even with the sticky bit.
        stat.st_uid == self.0 && Mode::from_raw_mode(stat.st_mode) & (Mode::WGRP | Mode::WOTH) == Mode::empty()
    }

    fn check(self, stat: &Stat, shown: &str) -> Result<(), Fault> {
        if self.holds(stat) {
            return Ok(());
        }
        Err(Fault::Writable {
            file: shown.to_owned(),
            owner: stat.st_uid,
            mode: Mode::from_raw_mode(stat.st_mode).as_raw_mode(),
        })
    }
}

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    /// The path of the folder, for file watches. Files in the folder are opened relative to `fd`.
    path: PathBuf,
    /// Name of the folder in messages, relative to the package.
    shown: String,
    owner: Owner,
    stat: Stat,
}

/// A regular file that is open.
#[derive(Debug)]
pub struct File {
    /// Descriptor that is open for reading.
    pub fd: OwnedFd,
    /// State of the file when it was opened.
    pub stat: Stat,
    /// Name of the file in messages, relative to the package.
    pub shown: String,
}

/// State of a file. A later comparison with the state at that time detects changes.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
    links: u64,
}

impl Stamp {
    /// Returns the stamp for a file with this state.
    // The integer types differ between processors, so some casts have no effect.
    #[allow(
        clippy::unnecessary_cast,
        reason = "the types of the numbers differ between processors"
    )]
    pub fn new(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as i64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            links: stat.st_nlink as u64,
        }
    }

    /// Returns `true` if both are stamps of the same file with the same content. Packages of several drivers contain hard links to the same
    /// libraries. A new link affects only the change time and the number of links, so the change time is compared only for equal numbers.
    pub fn is_same(&self, other: &Self) -> bool {
        let content = |one: &Self| (one.device, one.inode, one.size, one.modified);
        content(self) == content(other) && (self.changed == other.changed || self.links != other.links)
    }
}

impl File {
    /// Returns the size of the file in bytes when it was opened.
    pub fn size(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or(0)
    }

    /// Returns the state of the file when it was opened, with which a later check can detect changes.
    pub fn stamp(&self) -> Stamp {
        Stamp::new(&self.stat)
    }

    /// Returns `true` if the file has changed since the service opened it.
    pub fn has_changed(&self) -> bool {
        rustix::fs::fstat(&self.fd).map_or(true, |stat| !Stamp::new(&stat).is_same(&self.stamp()))
    }

    /// Returns `true` if the file's mount allows mapping the file as code.
    pub fn may_be_executed(&self) -> bool {
        rustix::fs::fstatvfs(&self.fd).is_ok_and(|state| !state.f_flag.contains(StatVfsMountFlags::NOEXEC))
    }
}

impl Folder {
    /// Opens a folder that the administrator named, by a path that may contain links.
    ///
    /// # Errors
    /// The folder cannot be opened, or users other than the owner may change it.
    pub fn named(path: &Path, owner: Owner, shown: &str) -> Result<Self, Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| Fault::io(shown, error))?;
        Self::checked(fd, path.to_owned(), shown.to_owned(), owner)
    }

    fn checked(fd: OwnedFd, path: PathBuf, shown: String, owner: Owner) -> Result<Self, Fault> {
        let stat = rustix::fs::fstat(&fd).map_err(|error| Fault::io(&*shown, error))?;
        owner.check(&stat, &shown)?;
        Ok(Self {
            fd,
            path,
            shown,
            owner,
            stat,
        })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the device and the inode of the folder.
    pub fn identity(&self) -> (u64, u64) {
        let stamp = Stamp::new(&self.stat);
        (stamp.device, stamp.inode)
    }

    fn show(&self, name: &str) -> String {
        match self.shown.as_str() {
            "." | ".." => name.to_owned(),
            shown => format!("{shown}/{name}"),
        }
    }

    /// Opens a folder that is directly inside this one.
    ///
    /// # Errors
    /// The folder does not exist, is a link or another kind of file, or users other than the owner may change it.
    pub fn folder(&self, name: &str) -> Result<Self, Fault> {
        let shown = self.show(name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = open_component(self.fd.as_fd(), name, flags).map_err(|error| self.fault(name, error, "folder"))?;
        Self::checked(fd, self.path.join(name), shown, self.owner)
    }

    /// Opens the package called `name` in this folder, which contains packages. Names in messages are relative to the package.
    ///
    /// # Errors
    /// Returns the errors of [`Folder::folder`], or [`Fault::Absent`] if the package does not exist.
    pub fn package(&self, name: &str) -> Result<Self, Fault> {
        let found = self.folder(name);
        match found {
            Ok(folder) => Ok(Self {
                shown: ".".to_owned(),
                ..folder
            }),
            Err(Fault::Io { .. }) if self.is_absent(name) => Err(Fault::Absent),
            Err(fault) => Err(fault),
        }
    }

    /// Returns `true` if the folder contains no file with this name.
    pub fn is_absent(&self, name: &str) -> bool {
        matches!(
            rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW),
            Err(Errno::NOENT)
        )
    }

    /// Opens a regular file at a path of one or more components below this folder. Calls `visit` with each folder of the path.
    ///
    /// # Errors
    /// The file does not exist, a component is a link, the file is not a regular file, or users other than the owner may change it.
    pub fn file(&self, path: &str, visit: &mut dyn FnMut(&Path)) -> Result<File, Fault> {
        let Some((first, rest)) = path.split_once('/') else {
            return self.own_file(path);
        };
        let inner = self.folder(first)?;
        visit(inner.path());
        inner.file(rest, visit)
    }

    fn own_file(&self, name: &str) -> Result<File, Fault> {
        let shown = self.show(name);
        // Opening a pipe could block until another process opens it, and an opened terminal could become the terminal of this process.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = open_component(self.fd.as_fd(), name, flags).map_err(|error| self.fault(name, error, "file"))?;
        let stat = rustix::fs::fstat(&fd).map_err(|error| Fault::io(&*shown, error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Fault::Kind {
                file: shown,
                wanted: "regular file",
            });
        }
        self.owner.check(&stat, &shown)?;
        Ok(File { fd, stat, shown })
    }

    /// Converts an error of the system for the path component `name` into a fault.
    fn fault(&self, name: &str, error: Errno, wanted: &'static str) -> Fault {
        let file = self.show(name);
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        let kind = stat.map(|stat| FileType::from_raw_mode(stat.st_mode));
        match (error, kind) {
            (_, Ok(FileType::Symlink)) => Fault::Link(file),
            // The entry is a socket, a device without hardware, or a file where a folder is required.
            (Errno::NXIO | Errno::NODEV | Errno::NOTDIR, Ok(_)) => Fault::Kind { file, wanted },
            _ => Fault::io(file, error),
        }
    }

    /// Returns `true` if only root may change this folder and all folders above it. Does not open files.
    pub fn is_safe_up_to_root(&self) -> bool {
        let mut path = PathBuf::from(".");
        let mut last = None;
        loop {
            let Ok(stat) = rustix::fs::statat(&self.fd, &path, AtFlags::empty()) else {
                return false;
            };
            if !self.owner.holds(&stat) {
                return false;
            }
            let here = (stat.st_dev, stat.st_ino);
            if last == Some(here) {
                return true;
            }
            last = Some(here);
            path.push("..");
        }
    }
}

/// Opens an entry directly inside a folder. Uses `openat2`, which can reject symbolic links and paths that leave the folder. If the system
/// does not support or allow `openat2`, uses `openat`, whose flags suffice for a single component.
fn open_component(folder: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let rules = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(folder, name, flags, Mode::empty(), rules) {
        Err(Errno::NOSYS | Errno::PERM) => open_without_rules(folder, name, flags),
        result => result,
    }
}

fn open_without_rules(folder: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    if name.contains('/') || matches!(name, "" | "." | "..") {
        return Err(Errno::XDEV);
    }
    rustix::fs::openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct Tree {
        place: tempfile::TempDir,
    }

    impl Tree {
        fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
            std::fs::create_dir(place.path().join("a")).unwrap();
            std::fs::write(place.path().join("a/file"), "x").unwrap();
            symlink("file", place.path().join("a/link")).unwrap();
            symlink("a", place.path().join("b")).unwrap();
            Self { place }
        }

        fn folder(&self) -> Folder {
            Folder::named(self.place.path(), owner(), ".").unwrap()
        }
    }

    fn owner() -> Owner {
        Owner(rustix::process::getuid().as_raw())
    }

    fn open(tree: &Tree, path: &str) -> Result<File, Fault> {
        tree.folder().file(path, &mut |_| {})
    }

    #[test]
    fn lsv_49_links_are_refused_wherever_they_are() {
        let tree = Tree::new();
        assert_eq!(open(&tree, "a/file").unwrap().shown, "a/file");
        assert_eq!(open(&tree, "a/link").unwrap_err(), Fault::Link("a/link".into()));
        assert_eq!(open(&tree, "b/file").unwrap_err(), Fault::Link("b".into()));
        // Repeats the check with `openat`, which the program uses on older systems.
        let folder = tree.folder();
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let older = |name: &str| open_without_rules(folder.fd.as_fd(), name, flags);
        assert_eq!(older("b").unwrap_err(), Errno::LOOP);
        assert!(older("a").is_ok());
        for name in ["..", ".", "", "a/file", "/"] {
            assert_eq!(older(name).unwrap_err(), Errno::XDEV, "{name}");
        }
        assert!(open_component(folder.fd.as_fd(), "..", flags).is_err());
    }

    #[test]
    fn lsv_50_only_regular_files_are_read() {
        let tree = Tree::new();
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(
            rustix::fs::CWD,
            tree.place.path().join("fifo"),
            fifo,
            Mode::from_raw_mode(0o644),
            0,
        )
        .unwrap();
        for name in ["fifo", "a"] {
            assert!(matches!(open(&tree, name), Err(Fault::Kind { .. })), "{name}");
        }
        assert!(matches!(open(&tree, "a/file/more"), Err(Fault::Kind { .. })));
        assert!(matches!(open(&tree, "none"), Err(Fault::Io { .. })));
    }

    #[test]
    fn lsv_49_what_others_may_change_is_refused() {
        let tree = Tree::new();
        for (path, mode) in [("a/file", 0o664), ("a/file", 0o646), ("a", 0o775), ("a", 0o1757)] {
            let place = tree.place.path().join(path);
            let before = std::fs::metadata(&place).unwrap().permissions();
            std::fs::set_permissions(&place, PermissionsExt::from_mode(mode)).unwrap();
            let fault = open(&tree, "a/file").unwrap_err();
            assert!(
                matches!(&fault, Fault::Writable { file, .. } if file == path),
                "{path} {mode:o}: {fault}"
            );
            std::fs::set_permissions(&place, before).unwrap();
        }
        assert!(open(&tree, "a/file").is_ok());
        let other = Owner(owner().0 + 1);
        assert!(matches!(
            Folder::named(tree.place.path(), other, "."),
            Err(Fault::Writable { .. })
        ));
    }
}
