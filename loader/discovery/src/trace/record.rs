//! A JSON object that is built one member at a time.

use crate::version::ApiVersion;
use alloc::vec::Vec;
use core::fmt::{self, Arguments, Write};
use os::memory::Grow;

/// A JSON object that is being built. If memory runs out, the whole record is dropped.
pub struct Record {
    text: Vec<u8>,
    /// `true` if the next member or element is the first one of the open object or array.
    first: bool,
    failed: bool,
}

impl Record {
    pub(crate) fn new() -> Self {
        let mut record = Self {
            text: Vec::new(),
            first: true,
            failed: false,
        };
        record.raw(b"{");
        record
    }

    /// Returns the line with a newline at its end; `None` if memory ran out.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        self.raw(b"}\n");
        (!self.failed).then_some(self.text)
    }

    /// Writes a member that is a text. Bytes that are not UTF-8 become U+FFFD.
    pub fn text(&mut self, name: &str, value: &[u8]) {
        self.name(name);
        self.string(value);
    }

    /// Writes a member whose value is a fixed word.
    pub fn word(&mut self, name: &str, value: &str) {
        self.text(name, value.as_bytes());
    }

    /// Writes a member whose value is a formatted text.
    pub fn shown(&mut self, name: &str, value: Arguments<'_>) {
        self.text(name, &os::render(value));
    }

    /// Writes a member that is a number.
    pub fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        self.print(format_args!("{value}"));
    }

    /// Writes a member that is a number, which may be negative.
    pub fn signed(&mut self, name: &str, value: i64) {
        self.name(name);
        self.print(format_args!("{value}"));
    }

    /// Writes a member that is true or false.
    pub fn flag(&mut self, name: &str, value: bool) {
        self.name(name);
        self.print(format_args!("{value}"));
    }

    /// Writes a member that is an API version, in the form `major.minor.patch`.
    pub fn version(&mut self, name: &str, version: ApiVersion) {
        let (major, minor, patch) = (version.major(), version.minor(), version.patch());
        self.shown(name, format_args!("{major}.{minor}.{patch}"));
    }

    /// Writes a member that is an object.
    pub fn object(&mut self, name: &str, fill: impl FnOnce(&mut Self)) {
        self.name(name);
        self.within(b"{", fill, b"}");
    }

    /// Writes a member that is an array of objects. `fill` writes each object.
    pub fn objects<T>(&mut self, name: &str, all: impl Iterator<Item = T>, fill: impl Fn(&mut Self, T)) {
        self.name(name);
        self.within(
            b"[",
            |list| {
                for one in all {
                    list.separate();
                    list.within(b"{", |object| fill(object, one), b"}");
                }
            },
            b"]",
        );
    }

    fn within(&mut self, open: &[u8], fill: impl FnOnce(&mut Self), close: &[u8]) {
        self.raw(open);
        self.first = true;
        fill(self);
        self.raw(close);
        self.first = false;
    }

    fn separate(&mut self) {
        if !core::mem::take(&mut self.first) {
            self.raw(b",");
        }
    }

    fn name(&mut self, name: &str) {
        self.separate();
        self.string(name.as_bytes());
        self.raw(b":");
    }

    fn print(&mut self, value: Arguments<'_>) {
        // Formatting only fails if memory runs out, and `raw` has noted the shortage.
        let _ = self.write_fmt(value);
    }

    fn string(&mut self, value: &[u8]) {
        self.raw(b"\"");
        for chunk in value.utf8_chunks() {
            chunk.valid().bytes().for_each(|byte| self.escaped(byte));
            if !chunk.invalid().is_empty() {
                self.raw("\u{FFFD}".as_bytes());
            }
        }
        self.raw(b"\"");
    }

    fn escaped(&mut self, byte: u8) {
        match byte {
            b'"' | b'\\' => self.raw(&[b'\\', byte]),
            b'\n' => self.raw(b"\\n"),
            0..0x20 => self.print(format_args!("\\u{byte:04x}")),
            _ => self.raw(&[byte]),
        }
    }

    fn raw(&mut self, bytes: &[u8]) {
        if self.text.try_room(bytes.len()).is_err() {
            self.failed = true;
        } else {
            self.text.extend_from_slice(bytes);
        }
    }
}

/// The formatted values are valid UTF-8, so no bytes need [`os::render`].
impl Write for Record {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.raw(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_one_line_of_json() {
        let mut record = Record::new();
        record.text("name", b"a\"\\\n\x01\xFF\xC3\xA4");
        record.number("most", u64::MAX);
        record.signed("result", -9);
        record.object("from", |from| from.flag("set", true));
        record.objects("none", core::iter::empty::<()>(), |_, ()| ());
        record.objects("two", [1, 2].into_iter(), |one, number| {
            one.number("first", number);
            one.number("second", number);
        });
        record.flag("last", false);
        let line = record.finish().unwrap();
        assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(value["name"], "a\"\\\n\u{1}\u{FFFD}ä");
        assert_eq!(value["most"], u64::MAX);
        assert_eq!(value["result"], -9);
        assert_eq!(value["from"]["set"], true);
        assert_eq!(value["none"], serde_json::json!([]));
        assert_eq!(
            value["two"],
            serde_json::json!([{"first": 1, "second": 1}, {"first": 2, "second": 2}])
        );
        assert_eq!(value["last"], false);
    }
}
