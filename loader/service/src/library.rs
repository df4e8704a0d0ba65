//! What clients get: a library in a sealed memory file or as the file itself (LSV-30), and texts that are too long for a packet, in
//! sealed memory files too (LSV-34).

use crate::limits::Rate;
use crate::package::{Elf, Fault, File, HEADER_BYTES, is_cut_off};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags, StatVfsMountFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Bytes that are read at once.
const PORTION: usize = 1 << 20;

/// What nobody may ever do to a memory file.
const SEALS: SealFlags = SealFlags::WRITE
    .union(SealFlags::GROW)
    .union(SealFlags::SHRINK)
    .union(SealFlags::SEAL);
/// Copies in a second that take the place of copies whose permissions somebody changed.
const RENEWALS: u32 = 4;

/// How libraries are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HandOut {
    /// As copies in memory files.
    #[default]
    Memory,
    /// As the files themselves, where only root can change them and programs may be run from there; otherwise as copies.
    File,
}

/// Bytes that all memory files together may have (LSV-50).
pub const MOST_MEMORY: u64 = 4 << 30;

/// How much memory all libraries have, for as long as they are there.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<AtomicU64>);

/// A part of it, given back when it is dropped.
#[derive(Debug)]
struct Share {
    of: Memory,
    size: u64,
}

impl Memory {
    fn take(&self, size: u64) -> Result<Share, Fault> {
        let add = |used: u64| used.checked_add(size).filter(|used| *used <= MOST_MEMORY);
        match self.0.fetch_update(Relaxed, Relaxed, add) {
            Ok(_) => Ok(Share { of: self.clone(), size }),
            Err(used) => Err(Fault::NoRoom {
                size,
                left: MOST_MEMORY.saturating_sub(used),
            }),
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.0.fetch_sub(self.size, Relaxed);
    }
}

/// A library that can be handed out.
///
/// Nobody can write to a sealed copy, but its owner and root can change its permissions, and then nobody else can open it. A container's
/// root is root too. So root's programs and those of other users have copies of their own, and a copy that was changed is replaced.
#[derive(Debug)]
pub struct Library {
    /// The file itself, where other users than root get that.
    file: Option<OwnedFd>,
    /// The copies for users and for root, as far as they were needed.
    copies: RefCell<[Option<MemoryCopy>; 2]>,
    renewals: Cell<Rate>,
    memory: Memory,
    /// Bytes.
    pub size: u64,
    /// Of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// What it is for.
    pub elf: Elf,
}

/// A copy in a memory file.
#[derive(Debug)]
struct MemoryCopy {
    file: OwnedFd,
    /// Its owner and permissions, as they must be.
    access: (u32, u32, u32),
    _share: Share,
}

impl MemoryCopy {
    /// Makes a copy of so many bytes, which `fill` writes.
    fn new(size: u64, memory: &Memory, fill: impl FnOnce(&OwnedFd) -> Result<(), Fault>) -> Result<Self, Fault> {
        let share = memory.take(size)?;
        let file = memory_file(MemfdFlags::EXEC).map_err(|error| match error {
            Errno::ACCESS => Fault::NoExecutableMemory,
            error => failed(error),
        })?;
        rustix::fs::ftruncate(&file, size).map_err(failed)?;
        fill(&file)?;
        seal(&file, Mode::from_raw_mode(0o555)).map_err(failed)?;
        Ok(Self {
            access: access(&file).map_err(failed)?,
            file,
            _share: share,
        })
    }

    fn is_as_it_was(&self) -> bool {
        access(&self.file) == Ok(self.access)
    }
}

fn failed(error: Errno) -> Fault {
    Fault::io("a memory file", error)
}

fn access(file: &OwnedFd) -> Result<(u32, u32, u32), Errno> {
    rustix::fs::fstat(file).map(|stat| (stat.st_uid, stat.st_gid, stat.st_mode))
}

impl Library {
    /// Copies a file into memory.
    ///
    /// # Errors
    /// It is too large, no library, or changed meanwhile; or there is no memory, or none that may be executed.
    pub fn copy(file: &File, memory: &Memory) -> Result<Self, Fault> {
        let size = checked_size(file)?;
        let mut found = None;
        let copy = MemoryCopy::new(size, memory, |to| {
            let mut at = 0;
            found = Some(read(file, size, &mut |bytes| {
                write_at(to, bytes, at)?;
                at += bytes.len() as u64;
                Ok(())
            })?);
            Ok(())
        })?;
        let found = found.ok_or_else(|| Fault::Changed(file.shown.clone()))?;
        Ok(Self::new(None, Some(copy), size, found, memory))
    }

    /// The file itself, which the caller knows to be root's alone.
    ///
    /// # Errors
    /// It is too large, no library, or changed meanwhile.
    pub fn itself(file: File, memory: &Memory) -> Result<Self, Fault> {
        let size = checked_size(&file)?;
        let found = read(&file, size, &mut |_| Ok(()))?;
        Ok(Self::new(Some(file.fd), None, size, found, memory))
    }

    fn new(
        file: Option<OwnedFd>,
        copy: Option<MemoryCopy>,
        size: u64,
        (elf, sha256): (Elf, String),
        memory: &Memory,
    ) -> Self {
        Self {
            file,
            copies: RefCell::new([copy, None]),
            renewals: Cell::new(Rate::new(RENEWALS, Duration::from_secs(1), Instant::now())),
            memory: memory.clone(),
            size,
            sha256,
            elf,
        }
    }

    /// Returns `true` if users get a copy.
    pub fn is_copy(&self) -> bool {
        self.file.is_none()
    }

    /// A descriptor for a client: read-only, with a position of its own.
    ///
    /// # Errors
    /// What the system says, or that copies are spoilt faster than they are made.
    pub fn for_client(&self, is_root: bool) -> io::Result<OwnedFd> {
        // Root could open the file behind the descriptor for writing, unless it is on a file system that can only be read.
        if let Some(file) = &self.file
            && (!is_root || is_read_only(file))
        {
            return reopened(file);
        }
        let mut copies = self.copies.borrow_mut();
        let which = usize::from(is_root);
        if !copies[which].as_ref().is_some_and(MemoryCopy::is_as_it_was) {
            let mut renewals = self.renewals.get();
            let is_admitted = renewals.admits(Instant::now());
            self.renewals.set(renewals);
            let from = self
                .file
                .as_ref()
                .or_else(|| copies.iter().flatten().next().map(|copy| &copy.file));
            let from = from
                .filter(|_| is_admitted)
                .ok_or_else(|| io::Error::other("copies are spoilt too often"))?;
            let copy = MemoryCopy::new(self.size, &self.memory, |to| copy_bytes(from, to).map_err(failed));
            copies[which] = Some(copy.map_err(io::Error::other)?);
        }
        let copy = copies[which]
            .as_ref()
            .ok_or_else(|| io::Error::other("there is no copy"))?;
        reopened(&copy.file)
    }
}

/// A text in a sealed memory file that one client alone gets.
///
/// # Errors
/// What the system says.
pub fn text_file(text: &[u8]) -> io::Result<OwnedFd> {
    let file = memory_file(MemfdFlags::NOEXEC_SEAL)?;
    write_at(&file, text, 0)?;
    seal(&file, Mode::from_raw_mode(0o444))?;
    reopened(&file)
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

/// A memory file; the flag is one that older systems do not know.
fn memory_file(flag: MemfdFlags) -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match rustix::fs::memfd_create("vk-loader-service", flags | flag) {
        Err(Errno::INVAL) => rustix::fs::memfd_create("vk-loader-service", flags),
        result => result,
    }
}

fn seal(file: &OwnedFd, mode: Mode) -> Result<(), Errno> {
    rustix::fs::fchmod(file, mode)?;
    // Older systems do not know the seal of the bits that allow executing.
    rustix::fs::fcntl_add_seals(file, SEALS | SealFlags::EXEC).or_else(|_| rustix::fs::fcntl_add_seals(file, SEALS))
}

fn write_at(file: &OwnedFd, mut bytes: &[u8], mut at: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::pwrite(file, bytes, at))?;
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

/// The same file once more: what is sent to a client shares neither position nor flags with what others got.
fn reopened(file: &OwnedFd) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
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

/// Reads a library of so many bytes and gives each portion away: what it is for, and its hash.
fn read(file: &File, size: u64, portion: &mut dyn FnMut(&[u8]) -> Result<(), Errno>) -> Result<(Elf, String), Fault> {
    let changed = || Fault::Changed(file.shown.clone());
    let mut buffer = vec![0; PORTION];
    let mut elf = None;
    let mut hash = Sha256::new();
    let mut at = 0;
    loop {
        let count = rustix::io::retry_on_intr(|| rustix::io::pread(&file.fd, buffer.as_mut_slice(), at));
        let bytes = &buffer[..count.map_err(|error| Fault::io(&*file.shown, error))?];
        if elf.is_none() {
            let header = &bytes[..bytes.len().min(HEADER_BYTES)];
            let wrong = |wrong| Fault::Elf {
                file: file.shown.clone(),
                wrong,
            };
            elf = Some(Elf::read_library(header).map_err(wrong)?);
            if is_cut_off(bytes, size) {
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
    let elf = elf.filter(|_| at == size && !file.has_changed()).ok_or_else(changed)?;
    Ok((elf, hexadecimal(&hash.finalize())))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::{Folder, Owner};
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;

    /// A header without segments.
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

    fn contents(descriptor: OwnedFd) -> Vec<u8> {
        let mut bytes = Vec::new();
        std::fs::File::from(descriptor).read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn lsv_30_a_copy_can_be_read_and_nothing_else() {
        let bytes = [HEADER, &[7; 3 * PORTION]].concat();
        let library = with_file(&bytes, |file, _| Library::copy(&file, &Memory::default())).unwrap();
        let descriptor = library.for_client(false).unwrap();
        assert_eq!(rustix::fs::fcntl_get_seals(&descriptor).unwrap() & SEALS, SEALS);
        assert_eq!(rustix::io::write(&descriptor, b"x"), Err(Errno::BADF));
        assert_eq!(library.size, bytes.len() as u64);
        assert_eq!(library.sha256, hexadecimal(&Sha256::digest(&bytes)));
        assert_eq!(contents(descriptor), bytes);
        // The next client starts at the beginning.
        assert_eq!(contents(library.for_client(false).unwrap()), bytes);
        // Whoever opens it anew gets no further.
        let copy = library.for_client(true).unwrap();
        let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
        if let Ok(writable) = rustix::fs::open(path, OFlags::RDWR, Mode::empty()) {
            assert_eq!(rustix::io::write(&writable, b"x"), Err(Errno::PERM));
        }
    }

    #[test]
    fn lsv_18_a_copy_whose_permissions_change_is_replaced() {
        let memory = Memory::default();
        let library = with_file(HEADER, |file, _| Library::copy(&file, &memory)).unwrap();
        let inode = |descriptor: &OwnedFd| rustix::fs::fstat(descriptor).unwrap().st_ino;
        let [user, root] = [false, true].map(|is_root| library.for_client(is_root).unwrap());
        assert_ne!(inode(&user), inode(&root));
        rustix::fs::fchmod(&root, Mode::empty()).ok();
        rustix::fs::fchmod(&root, Mode::from_raw_mode(0o111)).unwrap();
        let [other, renewed] = [false, true].map(|is_root| library.for_client(is_root).unwrap());
        assert_eq!(inode(&user), inode(&other));
        assert_ne!(inode(&root), inode(&renewed));
        assert_eq!(contents(renewed), HEADER);
        assert_eq!(memory.0.load(Relaxed), 2 * HEADER.len() as u64);
    }

    #[test]
    fn lsv_34_a_text_is_sealed_too() {
        let descriptor = text_file(b"[]").unwrap();
        assert_eq!(rustix::fs::fcntl_get_seals(&descriptor).unwrap() & SEALS, SEALS);
        assert_eq!(contents(descriptor), b"[]");
    }

    #[test]
    fn lsv_50_memory_has_a_limit() {
        let memory = Memory::default();
        let left = memory.take(MOST_MEMORY - 127).unwrap();
        let copy = || with_file(HEADER, |file, _| Library::copy(&file, &memory));
        let first = copy().unwrap();
        assert_eq!(copy().unwrap_err(), Fault::NoRoom { size: 64, left: 63 });
        drop(first);
        assert!(copy().is_ok());
        drop(left);
        assert_eq!(memory.0.load(Relaxed), 0);
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
        let fault = with_file(HEADER, |mut file, _| {
            file.stat.st_size = (1 << 30) + 1;
            Library::itself(file, &Memory::default()).unwrap_err()
        });
        assert!(matches!(fault, Fault::TooLarge { .. }), "{fault}");
    }
}
