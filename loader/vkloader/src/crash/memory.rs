//! Access to the memory of another process.

use super::processes::folder;
use super::registers::number;
use rustix::process::Pid;
use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Size of a page in bytes. Either the whole page is readable, or no part of it.
const PAGE: u64 = 4096;

/// The memory of a process whose threads are stopped.
pub(super) struct Memory {
    file: File,
    /// The last page that was read. The page is kept because stacks are read word by word.
    last: RefCell<Option<(u64, Vec<u8>)>>,
}

impl Memory {
    /// Opens the memory of the process to which `thread` belongs.
    ///
    /// # Errors
    /// The system denies this process read access to the memory.
    pub(super) fn of(thread: Pid) -> io::Result<Self> {
        Ok(Self {
            file: File::open(folder(thread).join("mem"))?,
            last: RefCell::new(None),
        })
    }

    /// Opens the memory of the process to which `thread` belongs, for reading and writing.
    ///
    /// # Errors
    /// The system denies this process write access to the memory.
    pub(super) fn to_write(thread: Pid) -> io::Result<Self> {
        let path = folder(thread).join("mem");
        Ok(Self {
            file: File::options().read(true).write(true).open(path)?,
            last: RefCell::new(None),
        })
    }

    /// Overwrites bytes in the memory. The kernel permits this even for read-only code.
    pub(super) fn write(&self, address: u64, bytes: &[u8]) -> Option<()> {
        self.file.write_all_at(bytes, address).ok()
    }

    /// Reads bytes into a buffer; returns `None` if a part of the memory is not readable.
    pub(super) fn read(&self, address: u64, buffer: &mut [u8]) -> Option<()> {
        self.file.read_exact_at(buffer, address).ok()
    }

    /// Returns at most `most` readable bytes that start at an address.
    pub(super) fn bytes(&self, address: u64, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let mut length = 0;
        while length < most {
            match self
                .file
                .read_at(&mut bytes[length..], address.wrapping_add(length as u64))
            {
                Ok(more) if more > 0 => length += more,
                _ => break,
            }
        }
        bytes.truncate(length);
        bytes
    }

    /// Returns the word of `size` bytes at an address.
    pub(super) fn word(&self, address: u64, size: usize) -> Option<u64> {
        let (page, place) = (address & !(PAGE - 1), (address % PAGE) as usize);
        let mut last = self.last.borrow_mut();
        if last.as_ref().is_none_or(|(known, _)| *known != page) {
            *last = Some((page, self.bytes(page, PAGE as usize)));
        }
        let (_, bytes) = last.as_ref()?;
        match bytes.get(place..place + size) {
            Some(word) => Some(number(word)),
            // Reads a word that crosses a page boundary directly, because the cache contains a single page.
            None => {
                let mut word = [0; 8];
                self.read(address, &mut word[..size])?;
                Some(number(&word[..size]))
            }
        }
    }
}
