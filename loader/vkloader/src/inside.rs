//! Files that a program in a sandbox sees. They may differ from those that this process sees under the same paths.

use crate::mounts::{Mount, Mounts};
use std::path::{Path, PathBuf};

/// The root folder of a process whose files may differ from those of this process.
#[derive(Debug)]
pub(crate) struct Inside {
    #[cfg(target_os = "linux")]
    root: std::os::fd::OwnedFd,
    /// Keeps the mounts after the last process of the sandbox has ended.
    #[cfg(target_os = "linux")]
    _namespace: std::os::fd::OwnedFd,
    identity: Identity,
    mounts: Mounts,
    /// `true` if the process has mounts of its own. A process in a changed root folder (`chroot`) may have the mounts of this process.
    pub(crate) has_own_mounts: bool,
}

/// Device and inode of a process's mount namespace and of its root folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    namespace: (u64, u64),
    root: (u64, u64),
}

/// State of a path in the sandbox, compared with the same path outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The sandbox has the same file.
    Same,
    /// The sandbox has another file, which may be as good.
    Other,
    /// The sandbox has something in place of the file that is of another kind or empty, such as `/dev/null`.
    Covered,
    /// The sandbox has no such file.
    Absent,
}

impl PartialEq for Inside {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Inside {
    /// Returns the visible mount that contains a path, unless this is the root file system of the sandbox.
    pub(crate) fn mount_over(&self, path: &Path) -> Option<&Mount> {
        let mount = self.mounts.holding(path)?;
        (mount.point != Path::new("/")).then_some(mount)
    }

    pub(crate) fn mounts(&self) -> &Mounts {
        &self.mounts
    }

    /// Returns `true` if a path leads to a file in the sandbox.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.state(path).is_some_and(|state| state != State::Absent)
    }

    /// Returns `true` if a file exists outside of the sandbox, and is missing or covered in it.
    pub(crate) fn lacks(&self, path: &Path) -> bool {
        path.exists()
            && self
                .state(path)
                .is_some_and(|state| matches!(state, State::Absent | State::Covered))
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Identity, Inside, Mounts, Path, PathBuf, State};
    use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat, fstat, open, openat2, stat};
    use rustix::io::Errno;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::fs::MetadataExt;

    impl Identity {
        /// Returns the identity of the process whose folder below `/proc` is `folder`.
        fn of(folder: &Path) -> Option<Self> {
            let identity = |path| {
                std::fs::metadata(folder.join(path))
                    .ok()
                    .map(|status| (status.dev(), status.ino()))
            };
            Some(Self {
                namespace: identity("ns/mnt")?,
                root: identity("root")?,
            })
        }
    }

    impl Inside {
        /// Returns the files of the process whose folder below `/proc` is `folder`. Returns `None` if they are those of this process, or if the
        /// system does not show them.
        pub(crate) fn of(folder: &Path) -> Option<Self> {
            let own = Identity::of(Path::new("/proc/self"))?;
            let identity = Identity::of(folder).filter(|identity| *identity != own)?;
            let opened = |path: &str, flags| open(folder.join(path), flags | OFlags::CLOEXEC, Mode::empty()).ok();
            Some(Self {
                root: opened("root", OFlags::PATH | OFlags::DIRECTORY)?,
                _namespace: opened("ns/mnt", OFlags::RDONLY)?,
                mounts: Mounts::parse(&std::fs::read(folder.join("mountinfo")).unwrap_or_default()),
                has_own_mounts: identity.namespace != own.namespace,
                identity,
            })
        }

        /// Returns the path of the root folder, through which this process reads files of the sandbox. Absolute links lead out of it.
        pub(crate) fn root(&self) -> PathBuf {
            format!("/proc/self/fd/{}", self.root.as_raw_fd()).into()
        }

        /// Opens a path in the sandbox without access to its content. Links lead to files of the sandbox.
        fn open(&self, path: &Path) -> Result<OwnedFd, Errno> {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            openat2(&self.root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT)
        }

        /// Compares a path of the sandbox with the same path outside. Returns `None` if the state in the sandbox is unknown.
        pub(crate) fn state(&self, path: &Path) -> Option<State> {
            let inside = match self.open(path) {
                Ok(file) => fstat(file).ok()?,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Some(State::Absent),
                Err(_) => return None,
            };
            Some(match stat(path) {
                Ok(outside) if is_same_file(&outside, &inside) || is_same_device(&outside, &inside) => State::Same,
                Ok(outside) if covers(&inside, &outside) => State::Covered,
                _ => State::Other,
            })
        }
    }

    fn is_same_file(one: &Stat, other: &Stat) -> bool {
        (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    }

    fn kind(status: &Stat) -> FileType {
        FileType::from_raw_mode(status.st_mode)
    }

    fn is_same_device(one: &Stat, other: &Stat) -> bool {
        kind(one) == kind(other) && kind(one).is_char_device() && one.st_rdev == other.st_rdev
    }

    /// Returns `true` if `inside` cannot replace the file `outside`.
    fn covers(inside: &Stat, outside: &Stat) -> bool {
        kind(inside) != kind(outside) || kind(outside).is_file() && inside.st_size == 0 && outside.st_size > 0
    }
}

#[cfg(not(target_os = "linux"))]
impl Inside {
    /// Returns the path of the root folder of the sandbox.
    pub(crate) fn root(&self) -> PathBuf {
        "/".into()
    }

    /// Compares a path of the sandbox with the same path outside, which this system does not permit.
    pub(crate) fn state(&self, _: &Path) -> Option<State> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_files_of_this_process_are_no_sandbox() {
        assert!(Inside::of(Path::new("/proc/self")).is_none());
    }

    /// The sandbox has the files of this process without a folder, with an empty file in place of another one.
    #[test]
    fn missing_and_covered_files_of_a_sandbox_are_found_after_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| folder.path().join(name);
        for name in ["hidden/library", "covered", "same"] {
            std::fs::create_dir_all(file(name).parent().expect("a folder")).expect("folders");
            std::fs::write(file(name), "content").expect("a file");
        }
        let mut sandbox = Command::new("bwrap");
        sandbox.args(["--bind", "/", "/", "--tmpfs"]).arg(file("hidden"));
        sandbox.args(["--ro-bind", "/dev/null"]).arg(file("covered"));
        sandbox.args(["sh", "-c", "echo $$; read line; exit 0"]);
        let started = sandbox
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = started else {
            return steady::skip("bubblewrap is not installed");
        };
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).expect("a pipe");
        let Ok(process) = line.trim().parse::<u32>() else {
            steady::ending(&mut child);
            return steady::skip("bubblewrap makes no sandbox here");
        };
        let inside = Inside::of(Path::new(&format!("/proc/{process}"))).expect("another namespace");
        drop(child.stdin.take());
        assert!(child.wait().expect("it ends").success());
        let state = |name| inside.state(&file(name));
        assert_eq!(state("hidden/library"), Some(State::Absent));
        assert_eq!(state("covered"), Some(State::Covered));
        assert_eq!(state("same"), Some(State::Same));
        let lacks = |name| inside.lacks(&file(name));
        assert!(lacks("hidden/library") && lacks("covered") && !lacks("same") && !lacks("nowhere"));
        assert!(inside.has(&file("same")) && !inside.has(&file("hidden/library")));
        let mount = inside.mount_over(&file("hidden/library")).expect("a mount");
        assert_eq!(
            (mount.point.as_path(), mount.kind.as_str()),
            (file("hidden").as_path(), "tmpfs")
        );
        assert!(inside.has_own_mounts && inside.root().join("usr").exists());
    }
}
