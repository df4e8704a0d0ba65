//! Reads and writes the lines of a snapshot, which have an indentation, a key and a value.

use std::collections::BTreeMap;
use std::fmt;

/// First line of every file of a snapshot.
pub const HEADING: &str = "# Facts of the Vulkan registry. Written by `vkgen import`; edit nothing here.\n";

/// Reason why a snapshot cannot be read, with the line that has the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotError {
    /// File name within the snapshot.
    pub file: &'static str,
    /// Line, counted from 1, or 0 if the fault concerns the whole file.
    pub line: usize,
    /// Fault of the line.
    pub fault: SnapshotFault,
}

/// Fault in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotFault {
    /// The file is missing.
    MissingFile,
    /// A line is indented deeper than one level below the previous line, or by an odd number of spaces.
    Indentation,
    /// A record contains a key that is not allowed in it, or contains a key twice.
    UnexpectedKey(String),
    /// A record or fact lacks this key.
    MissingKey(&'static str),
    /// The value of a key is invalid. The fields are the key and the value.
    BadValue(String, String),
    /// Two records have this name.
    DuplicateRecord(String),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        match &self.fault {
            SnapshotFault::MissingFile => f.write_str("the file is missing"),
            SnapshotFault::Indentation => f.write_str("the indentation fits no record"),
            SnapshotFault::UnexpectedKey(key) => write!(f, "`{key}` does not belong here, or stands here twice"),
            SnapshotFault::MissingKey(key) => write!(f, "`{key}` is missing"),
            SnapshotFault::BadValue(key, value) => write!(f, "cannot read `{value}` as `{key}`"),
            SnapshotFault::DuplicateRecord(name) => write!(f, "a second record of `{name}`"),
        }
    }
}

impl std::error::Error for SnapshotError {}

/// Text of a snapshot file to which lines are added.
pub(super) struct Text(String);

impl Text {
    pub(super) fn new() -> Self {
        Self(HEADING.to_owned())
    }

    pub(super) fn record(&mut self, kind: &str, name: impl fmt::Display) {
        self.line("", kind, &name.to_string());
    }

    pub(super) fn fact(&mut self, key: &str, value: impl fmt::Display) {
        self.line("  ", key, &value.to_string());
    }

    pub(super) fn optional(&mut self, key: &str, value: Option<impl fmt::Display>) {
        if let Some(value) = value {
            self.fact(key, value);
        }
    }

    /// Adds a detail to the fact that was written last.
    pub(super) fn detail(&mut self, key: &str, value: Option<impl fmt::Display>) {
        if let Some(value) = value {
            self.line("    ", key, &value.to_string());
        }
    }

    fn line(&mut self, indent: &str, key: &str, value: &str) {
        self.0.push_str(indent);
        self.0.push_str(key);
        if !value.is_empty() {
            self.0.push(' ');
            self.0.push_str(value);
        }
        self.0.push('\n');
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// Line, with the lines that are indented below it.
pub(super) struct Entry<'t> {
    key: &'t str,
    value: &'t str,
    line: usize,
    pub(super) below: Entries<'t>,
}

/// Lines of the same indentation that have not been read yet.
pub(super) struct Entries<'t> {
    file: &'static str,
    /// Line of the record that contains the entries.
    line: usize,
    entries: Vec<Entry<'t>>,
}

impl<'t> Entries<'t> {
    pub(super) fn parse(file: &'static str, text: &'t str) -> Result<Self, SnapshotError> {
        let mut all = Self {
            file,
            line: 0,
            entries: Vec::new(),
        };
        for (index, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.starts_with('#') && !line.is_empty())
        {
            let body = line.trim_start_matches(' ');
            let indent = line.len() - body.len();
            let fault = SnapshotError {
                file,
                line: index + 1,
                fault: SnapshotFault::Indentation,
            };
            let home = all.at_depth(indent / 2).filter(|_| indent % 2 == 0).ok_or(fault)?;
            let (key, value) = body.split_once(' ').unwrap_or((body, ""));
            let below = Self {
                file,
                line: index + 1,
                entries: Vec::new(),
            };
            home.entries.push(Entry {
                key,
                value,
                line: index + 1,
                below,
            });
        }
        Ok(all)
    }

    fn at_depth(&mut self, depth: usize) -> Option<&mut Self> {
        match depth {
            0 => Some(self),
            1 | 2 => self.entries.last_mut()?.below.at_depth(depth - 1),
            _ => None,
        }
    }

    /// Removes and returns all lines with this key, in order.
    pub(super) fn many(&mut self, key: &str) -> Vec<Entry<'t>> {
        let (taken, rest) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|entry| entry.key == key);
        self.entries = rest;
        taken
    }

    /// Removes and returns the line with this key. A second line with the key remains, and is reported as unexpected.
    pub(super) fn optional(&mut self, key: &str) -> Option<Entry<'t>> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(index))
    }

    pub(super) fn required(&mut self, key: &'static str) -> Result<Entry<'t>, SnapshotError> {
        let fault = SnapshotError {
            file: self.file,
            line: self.line,
            fault: SnapshotFault::MissingKey(key),
        };
        self.optional(key).ok_or(fault)
    }

    /// Removes and returns the text with this key, or returns `None` if the key is missing.
    pub(super) fn optional_text(&mut self, key: &str) -> Result<Option<String>, SnapshotError> {
        self.optional(key).map(Entry::text).transpose()
    }

    /// Reads all records of a kind. `read` must use every line of a record.
    pub(super) fn records<T>(
        &mut self,
        kind: &str,
        read: impl Fn(&str, &mut Self) -> Result<T, SnapshotError>,
    ) -> Result<BTreeMap<String, T>, SnapshotError> {
        let mut found = BTreeMap::new();
        for mut entry in self.many(kind) {
            let record = read(entry.value, &mut entry.below)?;
            let (name, line) = (entry.value.to_owned(), entry.line);
            entry.below.finish()?;
            if found.insert(name.clone(), record).is_some() {
                return Err(SnapshotError {
                    file: self.file,
                    line,
                    fault: SnapshotFault::DuplicateRecord(name),
                });
            }
        }
        Ok(found)
    }

    /// Reads all records of a file that has only one kind.
    pub(super) fn only_records<T>(
        mut self,
        kind: &str,
        read: impl Fn(&str, &mut Self) -> Result<T, SnapshotError>,
    ) -> Result<BTreeMap<String, T>, SnapshotError> {
        let found = self.records(kind, read)?;
        self.finish().map(|()| found)
    }

    /// Checks that all lines were read.
    pub(super) fn finish(self) -> Result<(), SnapshotError> {
        match self.entries.first() {
            None => Ok(()),
            Some(entry) => {
                let fault = SnapshotFault::UnexpectedKey(entry.key.to_owned());
                Err(SnapshotError {
                    file: self.file,
                    line: entry.line,
                    fault,
                })
            }
        }
    }
}

impl Entry<'_> {
    /// Returns the value. Lines that are indented below this line are an error.
    pub(super) fn text(self) -> Result<String, SnapshotError> {
        self.below.finish()?;
        Ok(self.value.to_owned())
    }

    /// Returns the value that `parse` reads from the line. Lines that are indented below this line are an error.
    pub(super) fn value_by<T>(self, parse: impl Fn(&str) -> Option<T>) -> Result<T, SnapshotError> {
        let (value, _) = self.with_details(parse, |_| Ok(()))?;
        Ok(value)
    }

    /// Returns the value that `parse` reads from the line, and the result of `details` for the lines below.
    pub(super) fn with_details<T, D>(
        mut self,
        parse: impl Fn(&str) -> Option<T>,
        details: impl Fn(&mut Entries<'_>) -> Result<D, SnapshotError>,
    ) -> Result<(T, D), SnapshotError> {
        let fault = || SnapshotFault::BadValue(self.key.to_owned(), self.value.to_owned());
        let error = |fault| SnapshotError {
            file: self.below.file,
            line: self.line,
            fault,
        };
        let value = parse(self.value).ok_or_else(|| error(fault()))?;
        let details = details(&mut self.below)?;
        self.below.finish()?;
        Ok((value, details))
    }
}
