//! Sealed memory files for clients (LSV-18, LSV-30, LSV-34), and the limit on their total size (LSV-50).

use crate::limits::Rate;
use crate::package::Fault;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;
use std::cell::{Cell, RefCell};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The seals that together prevent every change of a memory file.
pub const SEALS: SealFlags = SealFlags::WRITE
    .union(SealFlags::GROW)
    .union(SealFlags::SHRINK)
    .union(SealFlags::SEAL);
/// Upper bound on renewed copies per second. A renewed copy replaces a copy whose owner a client changed.
const RENEWALS: u32 = 4;
/// Upper bound on replaced copies that clients of a group have open. At this bound, the service no longer replaces a copy of the group whose
/// owner a client changed.
const MOST_LENT: usize = 8;
/// Upper bound on the bytes of all memory files together (LSV-50).
pub const MOST_MEMORY: u64 = 4 << 30;

/// Total size of all copies. A copy counts towards the total until the service and all clients have closed the copy.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Used>>);

#[derive(Debug, Default)]
struct Used {
    bytes: u64,
    /// Copies that the service has replaced, but that clients still have open.
    lent: Vec<(Group, u64, OwnedFd)>,
}

impl Memory {
    /// Adds the size of a new copy to the total.
    ///
    /// # Errors
    /// The total would exceed [`MOST_MEMORY`].
    fn take(&self, size: u64) -> Result<(), Fault> {
        let mut used = self.used();
        used.bytes = used
            .bytes
            .checked_add(size)
            .filter(|bytes| *bytes <= MOST_MEMORY)
            .ok_or(Fault::NoRoom {
                size,
                left: MOST_MEMORY.saturating_sub(used.bytes),
            })?;
        Ok(())
    }

    /// Returns the total. First subtracts the replaced copies that clients have closed.
    fn used(&self) -> MutexGuard<'_, Used> {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Used { bytes, lent } = &mut *used;
        lent.retain(|(_, size, file)| {
            let is_lent = is_lent(file);
            *bytes -= if is_lent { 0 } else { *size };
            is_lent
        });
        used
    }
}

/// Returns `true` if another process has the memory file open. `file` is a read-only descriptor for this memory file. The system grants a
/// write lease only if no other process has the file open.
#[allow(unsafe_code, reason = "no library has a safe function for this")]
fn is_lent(file: &OwnedFd) -> bool {
    // SAFETY: the command `F_SETLEASE` takes a number instead of a pointer. The descriptor is borrowed, so it is open.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) };
    // `EAGAIN` means that another process has the file open. `EACCES` means that a client changed the owner of the file. Such a file also
    // counts as open.
    result != 0
        && matches!(
            io::Error::last_os_error().raw_os_error(),
            Some(libc::EAGAIN | libc::EACCES)
        )
}

/// A sealed memory file.
#[derive(Debug)]
struct MemoryCopy {
    /// Read-only descriptor; `None` after the copy is dropped.
    file: Option<OwnedFd>,
    /// The clients that receive the copy.
    group: Group,
    /// User, group and permissions that the file must have.
    access: (u32, u32, u32),
    size: u64,
    memory: Memory,
}

impl Drop for MemoryCopy {
    fn drop(&mut self) {
        let mut used = self.memory.used();
        match self.file.take().filter(is_lent) {
            Some(file) => used.lent.push((self.group, self.size, file)),
            None => used.bytes -= self.size,
        }
    }
}

/// A group of clients that receive the same copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Ordinary users in the PID namespace of this process.
    Users,
    /// Root in the PID namespace of this process.
    Root,
    /// Ordinary users in other PID namespaces. Root of a container can take the ID of an ordinary user, and is then in this group.
    UsersElsewhere,
    /// Root in other PID namespaces.
    RootElsewhere,
}

impl Group {
    /// Number of groups.
    const COUNT: usize = 4;

    /// Returns the group of a user's client.
    pub fn of(user: u32, is_elsewhere: bool) -> Self {
        match (user == 0, is_elsewhere) {
            (false, false) => Self::Users,
            (true, false) => Self::Root,
            (false, true) => Self::UsersElsewhere,
            (true, true) => Self::RootElsewhere,
        }
    }
}

/// Copies of the same bytes, one for each [`Group`]. The service makes each copy when a client first needs it.
///
/// Nobody can write to a sealed copy. However, its owner and root, even root in a container, can change its permissions, so that no other
/// process can open the copy. Therefore, the groups receive different copies. The service restores the permissions of a copy, and replaces a
/// copy whose owner a client changed. The limits on replaced copies apply to each group.
#[derive(Debug)]
pub struct Copies {
    made: RefCell<[Option<MemoryCopy>; Group::COUNT]>,
    renewals: Cell<[Rate; Group::COUNT]>,
    memory: Memory,
    size: u64,
    is_program: bool,
}

impl Copies {
    /// Prepares copies, but makes none yet. `size` is the number of bytes. `is_program` is `true` for a library, and `false` for a text.
    pub fn new(memory: &Memory, size: u64, is_program: bool) -> Self {
        Self {
            made: RefCell::default(),
            renewals: Cell::new([Rate::new(RENEWALS, Duration::from_secs(1), Instant::now()); Group::COUNT]),
            memory: memory.clone(),
            size,
            is_program,
        }
    }

    /// Creates the copy for ordinary users. `fill` writes the content of the copy.
    ///
    /// # Errors
    /// Memory ran out, the system allows no executable memory, or `fill` failed.
    pub fn make(&self, fill: impl FnOnce(&OwnedFd) -> Result<(), Fault>) -> Result<(), Fault> {
        self.made.borrow_mut()[Group::Users as usize] = Some(self.copy(Group::Users, fill)?);
        Ok(())
    }

    /// Returns a read-only descriptor for a client. The descriptor has a separate file offset. If there is no copy for the client's group
    /// yet, `fill` writes one. The first argument of `fill` is another group's copy, if there is one.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn for_client(
        &self,
        group: Group,
        fill: impl FnOnce(Option<&OwnedFd>, &OwnedFd) -> Result<(), Errno>,
    ) -> io::Result<OwnedFd> {
        let mut made = self.made.borrow_mut();
        let which = group as usize;
        let is_spoilt = made[which].as_ref().is_some_and(|copy| !copy.restore());
        if made[which].is_none() || is_spoilt && self.may_renew(group) {
            let from = made.iter().flatten().find_map(|copy| copy.file.as_ref());
            let copy = self.copy(group, |to| fill(from, to).map_err(failed));
            made[which] = Some(copy.map_err(io::Error::other)?);
        }
        let file = made[which].as_ref().and_then(|copy| copy.file.as_ref());
        let file = file.ok_or_else(|| io::Error::other("there is no copy"))?;
        reopened(file)
    }

    /// Returns a descriptor that shares its file offset with the descriptors of other clients. The caller uses this descriptor if the
    /// process can no longer open the copy. Clients that may open any file, for example those of root, can still open that copy.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn shared(&self, group: Group) -> io::Result<OwnedFd> {
        let made = self.made.borrow();
        let copy = made[group as usize].as_ref();
        let file = copy.and_then(|copy| copy.file.as_ref());
        file.ok_or_else(|| io::Error::other("there is no copy"))?.try_clone()
    }

    /// Returns `true` if the service may replace a changed copy of a group now.
    fn may_renew(&self, group: Group) -> bool {
        let mut renewals = self.renewals.get();
        let used = self.memory.used();
        let lent = used.lent.iter().filter(|(of, ..)| *of == group);
        let may_renew = renewals[group as usize].admits(Instant::now()) && lent.count() < MOST_LENT;
        self.renewals.set(renewals);
        may_renew
    }

    fn copy(&self, group: Group, fill: impl FnOnce(&OwnedFd) -> Result<(), Fault>) -> Result<MemoryCopy, Fault> {
        self.memory.take(self.size)?;
        let mut copy = MemoryCopy {
            file: None,
            group,
            access: (0, 0, 0),
            size: self.size,
            memory: self.memory.clone(),
        };
        let (flag, mode) = if self.is_program {
            (MemfdFlags::EXEC, 0o555)
        } else {
            (MemfdFlags::NOEXEC_SEAL, 0o444)
        };
        let file = memory_file(flag).map_err(|error| match error {
            Errno::ACCESS => Fault::NoExecutableMemory,
            error => failed(error),
        })?;
        rustix::fs::ftruncate(&file, self.size).map_err(failed)?;
        fill(&file)?;
        seal(&file, Mode::from_raw_mode(mode)).map_err(failed)?;
        let file = reopened(&file).map_err(|error| Fault::io("a memory file", error))?;
        copy.access = access(&file).map_err(failed)?;
        copy.file = Some(file);
        Ok(copy)
    }
}

impl MemoryCopy {
    /// Restores the permissions of the copy. Returns `false` if the owner of the copy has changed, because the new owner could change the
    /// permissions again.
    fn restore(&self) -> bool {
        let Some(file) = &self.file else { return false };
        let is_as_it_was = || access(file) == Ok(self.access);
        is_as_it_was() || rustix::fs::fchmod(file, Mode::from_raw_mode(self.access.2)).is_ok() && is_as_it_was()
    }
}

/// A text that several clients receive.
#[derive(Debug)]
pub struct Text {
    bytes: Vec<u8>,
    copies: Copies,
}

impl Text {
    /// Prepares a text that no client has received yet.
    pub fn new(bytes: Vec<u8>, memory: &Memory) -> Self {
        let copies = Copies::new(memory, bytes.len() as u64, false);
        Self { bytes, copies }
    }

    /// Returns a read-only descriptor for a client. The descriptor does not share its file offset with the descriptors of other clients.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn for_client(&self, group: Group) -> io::Result<OwnedFd> {
        let copy = self.copies.for_client(group, |_, to| write_at(to, &self.bytes, 0));
        // If another client made the shared copy unusable, this client receives a separate file.
        copy.or_else(|_| text_file(&self.bytes))
    }
}

/// Returns a text in a sealed memory file for a single client.
///
/// # Errors
/// Returns the error that the system reported.
pub fn text_file(text: &[u8]) -> io::Result<OwnedFd> {
    let file = memory_file(MemfdFlags::NOEXEC_SEAL)?;
    write_at(&file, text, 0)?;
    seal(&file, Mode::from_raw_mode(0o444))?;
    reopened(&file)
}

fn failed(error: Errno) -> Fault {
    Fault::io("a memory file", error)
}

fn access(file: &OwnedFd) -> Result<(u32, u32, u32), Errno> {
    rustix::fs::fstat(file).map(|stat| (stat.st_uid, stat.st_gid, stat.st_mode))
}

/// Creates a memory file. Tries again without `flag`, because older systems do not support `flag`.
fn memory_file(flag: MemfdFlags) -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match rustix::fs::memfd_create("vk-loader-service", flags | flag) {
        Err(Errno::INVAL) => rustix::fs::memfd_create("vk-loader-service", flags),
        result => result,
    }
}

fn seal(file: &OwnedFd, mode: Mode) -> Result<(), Errno> {
    rustix::fs::fchmod(file, mode)?;
    let mut seals = SEALS | SealFlags::EXEC;
    // The system refuses to seal a file while one of the file's pages is being moved. Each attempt waits for some time before it fails.
    for _ in 0..10 {
        match rustix::fs::fcntl_add_seals(file, seals) {
            Err(Errno::BUSY) => {}
            // Older systems do not support the seal for the executable bits.
            Err(Errno::INVAL) if seals != SEALS => seals = SEALS,
            result => return result,
        }
    }
    Err(Errno::BUSY)
}

/// Writes all bytes to a file, from the offset `at`.
///
/// # Errors
/// Returns the error that the system reported.
pub fn write_at(file: &OwnedFd, mut bytes: &[u8], mut at: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::pwrite(file, bytes, at))?;
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

/// Opens the file of a descriptor again. The returned descriptor, which a client receives, does not share its file offset or flags with
/// another descriptor.
///
/// # Errors
/// Returns the error that the system reported.
pub fn reopened(file: &OwnedFd) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Returns the bytes of a descriptor's file.
#[cfg(test)]
pub(crate) fn contents(descriptor: OwnedFd) -> Vec<u8> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut std::fs::File::from(descriptor), &mut bytes).unwrap();
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    impl Memory {
        /// Returns the total size of the copies.
        pub(crate) fn bytes(&self) -> u64 {
            self.used().bytes
        }
    }

    #[test]
    fn lsv_34_a_text_is_sealed_too() {
        let memory = Memory::default();
        let text = Text::new(b"[]".into(), &memory);
        for descriptor in [text_file(b"[]").unwrap(), text.for_client(Group::Users).unwrap()] {
            assert_eq!(rustix::fs::fcntl_get_seals(&descriptor).unwrap() & SEALS, SEALS);
            assert_eq!(contents(descriptor), b"[]");
        }
        assert_eq!(contents(text.for_client(Group::Root).unwrap()), b"[]");
        assert_eq!(memory.bytes(), 4);
    }

    #[test]
    fn lsv_50_a_copy_counts_until_nobody_has_it() {
        let memory = Memory::default();
        let text = Text::new(b"[]".into(), &memory);
        let [held, mapped] = [Group::Users, Group::Root].map(|group| text.for_client(group).unwrap());
        drop(text);
        assert_eq!(memory.bytes(), 4);
        drop(held);
        assert_eq!(memory.bytes(), 2);
        drop(mapped);
        assert_eq!(memory.bytes(), 0);
        memory.take(MOST_MEMORY - 1).unwrap();
        assert_eq!(memory.take(2), Err(Fault::NoRoom { size: 2, left: 1 }));
    }

    #[test]
    fn lsv_18_copies_that_clients_spoil_and_hold_are_limited() {
        let memory = Memory::default();
        let text = Text::new(b"[]".into(), &memory);
        let first = text.for_client(Group::Root).unwrap();
        let inode = |descriptor: &OwnedFd| rustix::fs::fstat(descriptor).unwrap().st_ino;
        for _ in 0..2 * RENEWALS {
            rustix::fs::fchmod(&first, Mode::empty()).ok();
            assert_eq!(inode(&text.for_client(Group::Root).unwrap()), inode(&first));
        }
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped in part: only root can give files away");
            return;
        }
        // Above the usual rate, only the number of copies that clients hold limits the replacements.
        let rate = Rate::new(1000, Duration::from_secs(1), Instant::now());
        text.copies.renewals.set([rate; Group::COUNT]);
        let mut held = Vec::new();
        for _ in 0..4 * MOST_LENT {
            let copy = text.for_client(Group::Root).unwrap();
            rustix::fs::fchown(&copy, Some(rustix::fs::Uid::from_raw(1)), None).unwrap();
            rustix::fs::fchmod(&copy, Mode::empty()).unwrap();
            held.push(copy);
        }
        let copies: BTreeSet<_> = held.iter().map(inode).collect();
        assert_eq!(copies.len(), MOST_LENT + 1);
        assert!(memory.bytes() <= 2 * (MOST_LENT as u64 + 1));
        assert!(text.for_client(Group::Users).is_ok());
    }

    #[test]
    fn lsv_18_spoilt_copies_are_replaced_at_a_rate() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can give files away");
            return;
        }
        let text = Text::new(b"[]".into(), &Memory::default());
        let (began, mut copies) = (Instant::now(), BTreeSet::new());
        for _ in 0..10 * RENEWALS {
            let copy = text.for_client(Group::Root).unwrap();
            rustix::fs::fchown(&copy, Some(rustix::fs::Uid::from_raw(1)), None).unwrap();
            copies.insert(rustix::fs::fstat(&copy).unwrap().st_ino);
        }
        // The first copy replaces none.
        let most = 1.0 + f64::from(RENEWALS) * (1.0 + began.elapsed().as_secs_f64());
        assert!(copies.len() as f64 <= most, "{} of at most {most}", copies.len());
    }
}
