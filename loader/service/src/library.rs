//! The files that the service sends to clients (LSV-30, LSV-34). A client receives a library as a sealed memory file or as the original
//! file. Texts that are too long for a packet are also in sealed memory files.

use crate::memory::{Copies, Group, Memory, reopened, write_at};
use crate::package::{Fault, File, library_header};
use elf::Header;
use rustix::fd::OwnedFd;
use rustix::fs::StatVfsMountFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io;

/// Number of bytes of a library that one read call requests.
const PORTION: usize = 1 << 20;

/// Method by which the service sends libraries to clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HandOut {
    /// The service sends a copy in a memory file.
    #[default]
    Memory,
    /// The service sends the original file if only root can change it and its mount allows executing programs. Otherwise, the service sends
    /// a copy.
    File,
}

/// A library that the service can send to clients.
#[derive(Debug)]
pub struct Library {
    /// The original file, if users other than root receive it; `None` if they receive a copy.
    file: Option<OwnedFd>,
    copies: Copies,
    /// The size in bytes.
    pub size: u64,
    /// The checksum of the bytes, in hexadecimal digits.
    pub sha256: String,
    /// The processor and word size that the library is for.
    pub header: Header,
}

impl Library {
    /// Copies a file into memory.
    ///
    /// # Errors
    /// The file is too large or invalid, the file changed during the copy, or the system allows no executable memory.
    pub fn copy(file: &File, memory: &Memory) -> Result<Self, Fault> {
        let size = checked_size(file)?;
        let copies = Copies::new(memory, size, true);
        let mut found = None;
        copies.make(|to| {
            let mut at = 0;
            found = Some(read(file, size, &mut |bytes| {
                write_at(to, bytes, at)?;
                at += bytes.len() as u64;
                Ok(())
            })?);
            Ok(())
        })?;
        let (header, sha256) = found.ok_or_else(|| Fault::Changed(file.shown.clone()))?;
        Ok(Self {
            file: None,
            copies,
            size,
            sha256,
            header,
        })
    }

    /// Returns a library whose original file clients receive. The caller must have checked that only root can change this file.
    ///
    /// # Errors
    /// The file is too large or invalid, or changed while it was read.
    pub fn itself(file: File, memory: &Memory) -> Result<Self, Fault> {
        let size = checked_size(&file)?;
        let (header, sha256) = read(&file, size, &mut |_| Ok(()))?;
        Ok(Self {
            file: Some(file.fd),
            copies: Copies::new(memory, size, true),
            size,
            sha256,
            header,
        })
    }

    /// Returns `true` if clients other than root receive a copy.
    pub fn is_copy(&self) -> bool {
        self.file.is_none()
    }

    /// Returns a read-only descriptor for a client. The descriptor does not share its file offset with other descriptors.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn for_client(&self, group: Group) -> io::Result<OwnedFd> {
        // Root, also in a container, could use the descriptor to reopen the file for writing, unless the file system is read-only.
        if let Some(file) = &self.file
            && (group == Group::Users || is_read_only(file))
        {
            return reopened(file);
        }
        let copy = self.copies.for_client(group, |copy, to| {
            let from = self.file.as_ref().or(copy).ok_or(Errno::NOENT)?;
            copy_bytes(from, to)
        });
        copy.or_else(|_| self.copies.shared(group))
    }
}

fn is_read_only(file: &OwnedFd) -> bool {
    rustix::fs::fstatvfs(file).is_ok_and(|state| state.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn copy_bytes(from: &OwnedFd, to: &OwnedFd) -> Result<(), Errno> {
    let mut buffer = vec![0; PORTION];
    let mut at = 0;
    loop {
        let count = rustix::io::retry_on_intr(|| rustix::io::pread(from, buffer.as_mut_slice(), at))?;
        if count == 0 {
            return Ok(());
        }
        write_at(to, &buffer[..count], at)?;
        at += count as u64;
    }
}

fn checked_size(file: &File) -> Result<u64, Fault> {
    let size = file.size();
    if size > wire::MOST_IN_LIBRARY {
        return Err(Fault::TooLarge {
            file: file.shown.clone(),
            size,
            most: wire::MOST_IN_LIBRARY,
        });
    }
    Ok(size)
}

/// Reads a library in portions, and calls `portion` with each of them. Returns the library's ELF header and its hash.
fn read(
    file: &File,
    size: u64,
    portion: &mut dyn FnMut(&[u8]) -> Result<(), Errno>,
) -> Result<(Header, String), Fault> {
    let changed = || Fault::Changed(file.shown.clone());
    let mut buffer = vec![0; PORTION];
    let mut header = None;
    let mut hash = Sha256::new();
    let mut at = 0;
    loop {
        let count = rustix::io::retry_on_intr(|| rustix::io::pread(&file.fd, buffer.as_mut_slice(), at));
        let bytes = &buffer[..count.map_err(|error| Fault::io(&*file.shown, error))?];
        if header.is_none() {
            let wrong = |wrong| Fault::Elf {
                file: file.shown.clone(),
                wrong,
            };
            header = Some(library_header(bytes).map_err(wrong)?);
            if linked::size_of_segments(bytes).is_none_or(|whole| whole > size) {
                return Err(wrong("it is cut off"));
            }
        }
        if bytes.is_empty() {
            break;
        }
        at += bytes.len() as u64;
        if at > size {
            return Err(changed());
        }
        hash.update(bytes);
        portion(bytes).map_err(|error| Fault::io("a memory file", error))?;
    }
    let header = header
        .filter(|_| at == size && !file.has_changed())
        .ok_or_else(changed)?;
    Ok((header, format!("{:x}", hash.finalize())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{SEALS, contents};
    use crate::package::{Folder, Owner};
    use rustix::fd::AsRawFd;
    use rustix::fs::{Mode, OFlags};
    use std::os::unix::fs::PermissionsExt;

    /// A valid ELF header of a library without segments.
    const HEADER: &[u8] = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\
        \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    fn with_file<T>(bytes: &[u8], look: impl FnOnce(File, &std::path::Path) -> T) -> T {
        let place = tempfile::tempdir().unwrap();
        std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(place.path().join("l.so"), bytes).unwrap();
        let owner = Owner(rustix::process::getuid().as_raw());
        let folder = Folder::named(place.path(), owner, ".").unwrap();
        look(folder.file("l.so", &mut |_| {}).unwrap(), &place.path().join("l.so"))
    }

    #[test]
    fn lsv_30_a_copy_can_be_read_and_nothing_else() {
        let bytes = [HEADER, &[7; 3 * PORTION]].concat();
        let library = with_file(&bytes, |file, _| Library::copy(&file, &Memory::default())).unwrap();
        let descriptor = library.for_client(Group::Users).unwrap();
        assert_eq!(rustix::fs::fcntl_get_seals(&descriptor).unwrap() & SEALS, SEALS);
        assert_eq!(rustix::io::write(&descriptor, b"x"), Err(Errno::BADF));
        assert_eq!(library.size, bytes.len() as u64);
        assert_eq!(library.sha256, format!("{:x}", Sha256::digest(&bytes)));
        assert_eq!(contents(descriptor), bytes);
        // Each client's descriptor has its own file offset, which is at the start of the file.
        assert_eq!(contents(library.for_client(Group::Users).unwrap()), bytes);
        // A read-only file cannot be reopened for writing.
        let copy = library.for_client(Group::Root).unwrap();
        let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
        if let Ok(writable) = rustix::fs::open(path, OFlags::RDWR, Mode::empty()) {
            assert_eq!(rustix::io::write(&writable, b"x"), Err(Errno::PERM));
        }
    }

    #[test]
    fn lsv_18_only_users_get_the_file_itself() {
        let library = with_file(HEADER, |file, _| Library::itself(file, &Memory::default())).unwrap();
        for (group, is_copy) in [
            (Group::Users, false),
            (Group::Root, true),
            (Group::UsersElsewhere, true),
            (Group::RootElsewhere, true),
        ] {
            let seals = rustix::fs::fcntl_get_seals(library.for_client(group).unwrap());
            assert_eq!(seals.is_ok_and(|seals| seals.contains(SEALS)), is_copy, "{group:?}");
        }
    }

    #[test]
    fn lsv_18_a_copy_gets_its_permissions_back_or_is_replaced() {
        let memory = Memory::default();
        let library = with_file(HEADER, |file, _| Library::copy(&file, &memory)).unwrap();
        let inode = |descriptor: &OwnedFd| rustix::fs::fstat(descriptor).unwrap().st_ino;
        let [user, root] = [Group::Users, Group::Root].map(|group| library.for_client(group).unwrap());
        assert_ne!(inode(&user), inode(&root));
        let mode = |descriptor: &OwnedFd| rustix::fs::fstat(descriptor).unwrap().st_mode;
        let before = mode(&root);
        rustix::fs::fchmod(&root, Mode::empty()).ok();
        rustix::fs::fchmod(&root, Mode::from_raw_mode(0o111)).unwrap();
        let again = library.for_client(Group::Root).unwrap();
        assert_eq!((inode(&again), mode(&again)), (inode(&root), before));
        drop(again);
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped in part: only root can give files away");
            return;
        }
        rustix::fs::fchown(&root, Some(rustix::fs::Uid::from_raw(1)), None).unwrap();
        let [other, renewed] = [Group::Users, Group::Root].map(|group| library.for_client(group).unwrap());
        assert_eq!(inode(&user), inode(&other));
        assert_ne!(inode(&root), inode(&renewed));
        assert_eq!(contents(renewed), HEADER);
        // The replaced copy counts towards the total until the client closes the copy.
        assert_eq!(memory.bytes(), 3 * HEADER.len() as u64);
        drop(root);
        assert_eq!(memory.bytes(), 2 * HEADER.len() as u64);
    }

    #[test]
    fn lsv_52_invalid_libraries_and_those_that_change_are_refused() {
        for bytes in [&b""[..], b"#!", b"not a library, but long enough for a header"] {
            let fault = with_file(bytes, |file, _| Library::copy(&file, &Memory::default())).unwrap_err();
            assert!(matches!(fault, Fault::Elf { .. }), "{fault}");
        }
        for change in [HEADER, &[HEADER, HEADER, HEADER].concat()] {
            let fault = with_file(&[HEADER, HEADER].concat(), |file, path| {
                std::fs::write(path, change).unwrap();
                Library::copy(&file, &Memory::default()).unwrap_err()
            });
            assert_eq!(fault, Fault::Changed("l.so".into()));
        }
        // A hard link to the file is not a change.
        let linked = with_file(HEADER, |file, path| {
            std::fs::hard_link(path, path.with_file_name("link")).unwrap();
            Library::copy(&file, &Memory::default())
        });
        assert!(linked.is_ok(), "{linked:?}");
        let fault = with_file(HEADER, |mut file, _| {
            file.stat.st_size = (1 << 30) + 1;
            Library::itself(file, &Memory::default()).unwrap_err()
        });
        assert!(matches!(fault, Fault::TooLarge { .. }), "{fault}");
    }
}
