//! The files that a process has mapped now, or had mapped earlier.

use super::processes::folder;
use rustix::process::Pid;
use std::collections::HashMap;
use std::io;

/// Upper bound on the number of stored mappings of a process.
const MOST: usize = 4_000;

/// A mapping: a range of a process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) is_executable: bool,
    /// Offset of the mapping in its file.
    offset: u64,
    /// Path of the file, or a name in brackets; `None` for anonymous memory.
    pub(super) path: Option<String>,
}

impl Mapping {
    /// Parses a line of `/proc/PID/maps`.
    fn parse(line: &str) -> Option<Self> {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let mut words = rest.splitn(4, ' ');
        let permissions = words.next()?;
        let offset = words.next()?;
        let _device = words.next()?;
        let path = words
            .next()?
            .split_once(' ')
            .map_or("", |(_inode, path)| path.trim_start());
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        Some(Self {
            start: u64::from_str_radix(start, 16).ok()?,
            end: u64::from_str_radix(end, 16).ok()?,
            is_executable: permissions.as_bytes().get(2) == Some(&b'x'),
            offset: u64::from_str_radix(offset, 16).ok()?,
            path: (!path.is_empty()).then(|| path.into()),
        })
    }

    /// Returns the offset in the file of the byte that is mapped at an address.
    pub(super) fn place_in_file(&self, address: u64) -> u64 {
        self.offset.wrapping_add(address.wrapping_sub(self.start))
    }

    fn has(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// The current mappings of a process, sorted by address.
#[derive(Default)]
pub(super) struct Maps(Vec<Mapping>);

impl Maps {
    /// Reads the mappings of the process to which `thread` belongs.
    ///
    /// # Errors
    /// `/proc/PID/maps` cannot be read.
    pub(super) fn of(thread: Pid) -> io::Result<Self> {
        let bytes = std::fs::read(folder(thread).join("maps"))?;
        Ok(Self::parse(&String::from_utf8_lossy(&bytes)))
    }

    fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(Mapping::parse).collect())
    }

    /// Returns the paths of the mapped files that contain code.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        let code = self.0.iter().filter(|mapping| mapping.is_executable);
        code.filter_map(|mapping| mapping.path.as_deref())
    }

    /// Returns the paths of all mapped files, each once.
    pub(super) fn all_files(&self) -> Vec<String> {
        let paths = self.0.iter().filter_map(|mapping| mapping.path.as_ref());
        let mut paths: Vec<String> = paths.filter(|path| path.starts_with('/')).cloned().collect();
        paths.dedup();
        paths
    }

    pub(super) fn find(&self, address: u64) -> Option<&Mapping> {
        let place = self.0.partition_point(|mapping| mapping.end <= address);
        self.0.get(place).filter(|mapping| mapping.has(address))
    }

    /// Returns `true` if the memory at an address is executable.
    pub(super) fn is_code(&self, address: u64) -> bool {
        self.find(address).is_some_and(|mapping| mapping.is_executable)
    }

    /// Returns the start address of the file that is mapped at an address.
    pub(super) fn base(&self, address: u64) -> Option<u64> {
        let mapping = self.find(address)?;
        mapping.path.as_ref()?;
        let place = self.0.partition_point(|other| other.end <= address);
        let same = self.0[..=place].iter().rev().filter(|other| other.path == mapping.path);
        same.map(|other| (other.start, other.offset))
            .find(|&(_, offset)| offset == 0)
            .map(|(start, _)| start)
    }
}

/// Executable mappings of each process. Includes mappings that no longer exist, because a thread may still run code of a library that was
/// unmapped.
#[derive(Default)]
pub(super) struct History(HashMap<i32, Vec<Mapping>>);

impl History {
    /// Adds the current mappings of a process.
    pub(super) fn add(&mut self, process: i32, maps: &Maps) {
        let known = self.0.entry(process).or_default();
        for mapping in &maps.0 {
            let is_library = mapping.is_executable && mapping.path.as_ref().is_some_and(|path| path.starts_with('/'));
            if is_library && known.len() < MOST && !known.contains(mapping) {
                known.push(mapping.clone());
            }
        }
    }

    /// Returns the processes with stored mappings.
    pub(super) fn processes(&self) -> Vec<i32> {
        self.0.keys().copied().collect()
    }

    /// Removes the mappings of a process that has ended or executes another program.
    pub(super) fn forget(&mut self, process: i32) {
        self.0.remove(&process);
    }

    /// Returns the executable mapping that last contained an address.
    pub(super) fn find(&self, process: i32, address: u64) -> Option<&Mapping> {
        self.0.get(&process)?.iter().rev().find(|mapping| mapping.has(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
00400000-00401000 r--p 00000000 fe:00 10                                 /opt/a program
00401000-00402000 r-xp 00001000 fe:00 10                                 /opt/a program
7f0000000000-7f0000001000 r-xp 00000000 00:00 0 
7f0000002000-7f0000003000 r-xp 00002000 fe:00 11                         /lib/gone.so (deleted)
7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0                          [stack]
";

    #[test]
    fn mappings_are_read_with_their_files() {
        let maps = Maps::parse(TEXT);
        let path = |address| maps.find(address).and_then(|mapping| mapping.path.as_deref());
        assert_eq!(path(0x40_1800), Some("/opt/a program"));
        assert_eq!(path(0x7f00_0000_2000), Some("/lib/gone.so"));
        assert_eq!((path(0x7f00_0000_0800), path(0x40_2000)), (None, None));
        assert_eq!(maps.base(0x40_1800), Some(0x40_0000));
        assert!(maps.is_code(0x7f00_0000_0000) && !maps.is_code(0x7ffc_0000_0000) && !maps.is_code(0));
    }

    #[test]
    fn code_is_remembered_by_process() {
        let mut history = History::default();
        history.add(7, &Maps::parse(TEXT));
        let found = history
            .find(7, 0x7f00_0000_2abc)
            .and_then(|mapping| mapping.path.clone());
        assert_eq!(found.as_deref(), Some("/lib/gone.so"));
        assert!(history.find(8, 0x7f00_0000_2abc).is_none() && history.find(7, 0x7f00_0000_0800).is_none());
        history.forget(7);
        assert!(history.find(7, 0x40_1800).is_none());
    }
}
