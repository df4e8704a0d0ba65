//! The hook that a container specification names (CDI). The hook runs when a container starts. The hook adds each library that the
//! container lacks or has in an older version (LSV-66 defines the comparison), and never replaces a newer library.
//!
//! A container runtime runs the hook within the container's mounts, before the container's files become the root. Therefore, the hook can
//! access the file trees of the host and the container, and only this container sees a new mount.

use crate::causes::elf::{is_usual, read, usual_folders};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, ResolveFlags, mkdirat, openat2};
use rustix::io::Errno;
use std::cmp::Ordering;
use std::ffi::CString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

/// Names under which C libraries are installed.
const C_LIBRARY: [&str; 2] = ["libc.so.6", "libc.so"];

/// The file tree of a container.
struct Root {
    folder: OwnedFd,
    /// The folder with the container's C library. The container's linker also finds other libraries in this folder.
    usual: PathBuf,
    /// The version of the container's C library.
    version: String,
}

/// Adds libraries to the container that `state` describes. Each path in `libraries` is also the path that the library needs
/// in the container.
///
/// # Errors
///
/// The state is malformed, a library needs a newer C library, or the system refuses a mount.
pub(crate) fn run(libraries: &[PathBuf], mut state: impl Read) -> io::Result<()> {
    let mut text = String::new();
    state.read_to_string(&mut text)?;
    let root = Root::of(&text)?;
    for library in libraries {
        root.put(library)
            .map_err(|error| io::Error::other(format!("{}: {error}", library.display())))?;
    }
    Ok(())
}

impl Root {
    fn of(state: &str) -> io::Result<Self> {
        let member = |text: &str, pointer: &str| -> io::Result<PathBuf> {
            let json: serde_json::Value = serde_json::from_str(text).map_err(io::Error::other)?;
            let path = json.pointer(pointer).and_then(serde_json::Value::as_str);
            path.map(PathBuf::from)
                .ok_or_else(|| io::Error::other(format!("the state of the container has no {pointer}")))
        };
        let bundle = member(state, "/bundle")?;
        let config = fs::read_to_string(bundle.join("config.json"))?;
        let path = bundle.join(member(&config, "/root/path")?);
        let folder = rustix::fs::open(&path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let mut root = Self {
            folder,
            usual: PathBuf::new(),
            version: String::new(),
        };
        let found = usual_folders().find_map(|usual| {
            let library = C_LIBRARY
                .iter()
                .find_map(|name| root.open(&Path::new(usual).join(name)).ok())?;
            Some((usual, version_of_c_library(&path_of(&library))?))
        });
        let (usual, version) = found.ok_or_else(|| io::Error::other("the container has no GNU C library"))?;
        (root.usual, root.version) = (usual.into(), version);
        Ok(root)
    }

    /// Opens a file of the container. Links in the path cannot leave the container's file tree.
    fn open(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let inner = path.strip_prefix("/").unwrap_or(path);
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        openat2(&self.folder, inner, flags, Mode::empty(), ResolveFlags::IN_ROOT)
    }

    /// Mounts a library at its path. If the container's linker does not search that folder, also mounts the library in a folder that the
    /// linker searches.
    fn put(&self, library: &Path) -> io::Result<()> {
        let source = fs::canonicalize(library)?;
        self.put_to(library, &source)?;
        if library.parent().is_some_and(is_usual) {
            Ok(())
        } else {
            self.put_to(&self.usual.join(library.file_name().unwrap_or_default()), &source)
        }
    }

    fn put_to(&self, path: &Path, source: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default();
        let own_folders = [path.parent().unwrap_or(path), &self.usual].into_iter();
        let folders = own_folders
            .map(Path::to_owned)
            .chain(usual_folders().map(PathBuf::from));
        let own = folders
            .map(|folder| folder.join(name))
            .find_map(|path| self.open(&path).ok());
        if own.as_ref().is_some_and(|own| !is_older(&path_of(own), source)) {
            return Ok(());
        }
        let needed = read(source).and_then(|needs| needs.c_library).unwrap_or_default();
        if wire::compare_versions(needed.as_bytes(), self.version.as_bytes()) == Ordering::Greater {
            return Err(io::Error::other(format!(
                "the driver needs version {needed} of the C library, and the container has {}",
                self.version
            )));
        }
        let place = match own {
            Some(own) => own,
            None => self.create(path)?,
        };
        mount_read_only(source, &fs::read_link(path_of(&place))?)
    }

    /// Creates an empty file and the folders above it.
    fn create(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut folder = PathBuf::new();
        let mut above = self.open(Path::new("."))?;
        for part in path.parent().unwrap_or(path).components() {
            let Component::Normal(part) = part else { continue };
            folder.push(part);
            match mkdirat(&above, part, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => above = self.open(&folder)?,
                // Creating a folder on a read-only file system fails even if the folder exists, so this code tries to open the folder.
                Err(error) => above = self.open(&folder).map_err(|_| error)?,
            }
        }
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = path.file_name().unwrap_or_default();
        let created = rustix::fs::openat(&above, name, flags, Mode::from_raw_mode(0o755))?;
        drop(created);
        Ok(self.open(path)?)
    }
}

/// Returns the version of a C library. The version is in the sentence that the library prints when it runs as a program. The newest version
/// of a symbol would not suffice, because not every release of glibc adds a symbol version to `libc.so.6`.
fn version_of_c_library(library: &Path) -> Option<String> {
    let content = fs::read(library).ok()?;
    let after = |text: &[u8], words: &[u8]| {
        let place = text.windows(words.len()).position(|window| window == words)?;
        Some(place + words.len())
    };
    let sentence = &content[after(&content, b"GNU C Library (")?..];
    let line = sentence.split(|&byte| byte == b'\n').next()?;
    let version = line[after(line, b"release version ")?..].trim_ascii_end();
    let version = std::str::from_utf8(version).ok()?.trim_end_matches('.');
    let is_version = version.split('.').all(|number| number.parse::<u32>().is_ok());
    is_version.then(|| version.to_owned())
}

/// Returns `true` if the library `own` is older than the library `other` of the same name.
fn is_older(own: &Path, other: &Path) -> bool {
    // The file's name contains the version, but the name of a link to the file may not. Therefore, links are resolved.
    let real = fs::read_link(own).unwrap_or_default();
    let [one, two] = [&real, other].map(|path| path.file_name().unwrap_or_default().as_bytes());
    let symbols = |path: &Path| {
        let file = fs::File::open(path).ok()?;
        wire::exported_symbols(|place, room| file.read_exact_at(room, place).is_ok())
    };
    match wire::compare_versions(one, two) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => symbols(own) < symbols(other),
    }
}

/// Returns a path that refers to an open file.
fn path_of(file: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Mounts a file over another file, read-only. The container's programs do not run yet, so they cannot change the path or write to the file
/// in the meantime.
fn mount_read_only(source: &Path, place: &Path) -> io::Result<()> {
    let [source, place] = [source, place].map(|path| CString::new(path.as_os_str().as_bytes()));
    let (source, place) = (source?, place?);
    let protected = libc::MS_REMOUNT | libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV;
    for flags in [0, protected] {
        let flags = libc::MS_BIND | flags;
        // SAFETY: `mount` needs a source and a target that end with a null byte, and both are C strings. The other pointers may be null.
        let result = unsafe {
            libc::mount(
                source.as_ptr(),
                place.as_ptr(),
                std::ptr::null(),
                flags,
                std::ptr::null(),
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_container_is_found_by_its_state() {
        let bundle = tempfile::tempdir().expect("a folder");
        let state = serde_json::json!({"bundle": bundle.path().to_str()}).to_string();
        let refused = |state: &str| run(&[], state.as_bytes()).expect_err("it is invalid").to_string();
        assert!(refused("{").contains("EOF"));
        assert!(refused("{}").contains("/bundle"));
        assert!(refused(&state).contains("No such file"));
        fs::write(bundle.path().join("config.json"), r#"{"root":{"path":"tree"}}"#).expect("room");
        assert!(refused(&state).contains("No such file"));
        fs::create_dir(bundle.path().join("tree")).expect("room");
        assert!(refused(&state).contains("no GNU C library"));
    }

    #[test]
    fn the_version_of_a_c_library_is_that_of_its_release() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for (sentence, version) in [
            (
                "GNU C Library (Debian GLIBC 2.31-13) stable release version 2.31.\nGLIBC_2.30\0",
                Some("2.31"),
            ),
            (
                "GNU C Library (GNU libc) development release version 2.43.9000.\n",
                Some("2.43.9000"),
            ),
            ("GNU C Library (GNU libc) stable release version later.\n", None),
            ("release version 2.31.\n", None),
        ] {
            fs::write(file.path(), format!("\x7fELF\0\0{sentence}")).expect("room");
            assert_eq!(version_of_c_library(file.path()).as_deref(), version, "{sentence}");
        }
    }

    #[test]
    fn the_newer_of_two_libraries_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let [older, newer] = ["libz.so.1.2.13", "libz.so.1.3"].map(|name| folder.path().join(name));
        for path in [&older, &newer] {
            fs::write(path, "").expect("room");
        }
        let is_replaced = |own: &Path, other: &Path| {
            let own = fs::File::open(own).expect("it is there").into();
            is_older(&path_of(&own), other)
        };
        assert!(is_replaced(&older, &newer));
        assert!(!is_replaced(&newer, &older) && !is_replaced(&older, &older));
    }

    #[test]
    fn a_file_is_created_inside() {
        let bundle = tempfile::tempdir().expect("a folder");
        let tree = bundle.path().join("tree");
        fs::create_dir_all(tree.join("real")).expect("room");
        std::os::unix::fs::symlink("/real", tree.join("usr")).expect("room");
        let root = Root {
            folder: rustix::fs::open(&tree, OFlags::PATH, Mode::empty()).expect("it is there"),
            usual: PathBuf::new(),
            version: String::new(),
        };
        // The link must refer to a folder within the tree, not to a folder of this system.
        let file = root.create(Path::new("/usr/lib/x/liba.so")).expect("it can be created");
        assert_eq!(
            fs::read_link(path_of(&file)).expect("it has a path"),
            tree.join("real/lib/x/liba.so")
        );
        assert!(root.open(Path::new("/../../etc/passwd")).is_err());
        assert!(root.open(Path::new("/usr/lib/x/liba.so")).is_ok());
    }
}
