//! Parsers for answers of a service, which may be malformed or false (LSV-34, LSV-35).

use super::failure::Failure;
use alloc::vec::Vec;
use discovery::journal::reason::{Fault, Problem};
use discovery::manifest::file::{FileError, parse_json};
use discovery::manifest::json::{Document, Elements, Object, Value};
use discovery::text::{Text, has_json_name};
use os::memory::copy;
use os::service::Mark;
use wire::{Header, MOST_IN_MANIFEST, MOST_IN_REPLY, MOST_NEEDS, MOST_PACKAGES, Packet, status};

/// SHA-256 of a library, as hexadecimal digits that the service sent. The checksum only distinguishes libraries. Seals prevent changes to
/// the bytes.
pub type Sum = Mark;
/// Upper bound on the bytes of a published name. A key is always shorter, even with the suffix of a manifest.
const LONGEST_NAME: usize = 255;

/// A list of manifests whose entries have been checked.
#[derive(Debug)]
pub struct List(Document);

/// A published manifest.
#[derive(Clone, Copy)]
pub struct Manifest<'a> {
    /// File name under which the manifest was published.
    pub name: &'a [u8],
    /// Text of the manifest.
    pub content: &'a [u8],
    /// The library of the driver.
    pub library: Listed<'a>,
    needs: Elements<'a>,
}

/// A library in a list.
#[derive(Clone, Copy)]
pub struct Listed<'a> {
    /// Checksum of the library.
    pub sum: &'a Sum,
    object: Object<'a>,
}

/// A library that a driver needs in addition to its own library.
#[derive(Clone, Copy)]
pub struct Need<'a> {
    /// Description of the library.
    pub library: Listed<'a>,
    /// The key of the library: an instance number, and the name under which other libraries need this library.
    pub key: &'a [u8],
}

/// Returns the payload of the packet that answers a request.
///
/// # Errors
/// The fault of the packet. After a fault, later packets of the connection cannot be trusted.
pub fn packet_for(bytes: &[u8], asked: Header) -> Result<&[u8], Failure> {
    match Packet::read(bytes, MOST_IN_REPLY) {
        Ok(packet) if packet.header == asked.reply() => Ok(packet.payload),
        Ok(_) => Err(Problem::OtherRequest.into()),
        Err(_) => Err(Problem::Packet.into()),
    }
}

/// Returns the document in a successful answer. With [`Fault::Refused`], `said` gets the status.
///
/// # Errors
/// The fault of the answer, or the error that the service reports.
pub fn read_reply(payload: &[u8], said: &mut Text) -> Result<Document, Failure> {
    let document = json(copy(payload)?)?;
    let reply = document.root().as_object().ok_or(Problem::Object)?;
    let Some(word) = reply.get("status") else {
        return Ok(document);
    };
    let word = word.as_text().unwrap_or_default();
    if word == status::OK.as_bytes() {
        Ok(document)
    } else if word == status::TIMEOUT.as_bytes() {
        Err(Fault::TimedOut.into())
    } else if word == status::NOT_FOUND.as_bytes() {
        Err(Fault::NoLibrary.into())
    } else {
        *said = Text::try_new(&word[..word.len().min(LONGEST_NAME)])?;
        Err(Fault::Refused.into())
    }
}

impl List {
    /// Reads the list in the file that came with an answer.
    ///
    /// # Errors
    /// The fault of the list. One malformed entry makes the whole list invalid.
    pub fn read(text: Vec<u8>) -> Result<Self, Failure> {
        let document = json(text)?;
        let list = document.root().as_array().ok_or(Problem::List)?;
        if list.len() > MOST_PACKAGES {
            return Err(Problem::TooMany.into());
        }
        list.iter().try_for_each(|entry| Manifest::of(entry).map(drop))?;
        Ok(Self(document))
    }

    /// Returns the manifests, in the order in which the service sent them.
    pub fn manifests(&self) -> impl Iterator<Item = Manifest<'_>> {
        let entries = self.0.root().as_array().unwrap_or_default().iter();
        entries.filter_map(|entry| Manifest::of(entry).ok())
    }

    /// Returns the number of manifests.
    pub fn count(&self) -> usize {
        self.0.root().as_array().unwrap_or_default().len()
    }
}

impl<'a> Manifest<'a> {
    fn of(entry: Value<'a>) -> Result<Self, Problem> {
        let object = entry.as_object().ok_or(Problem::Name)?;
        let text = |member| object.get(member)?.as_raw_text();
        let name = text("name").filter(|name| is_file_name(name));
        let content = text("contents").filter(|content| content.len() <= MOST_IN_MANIFEST);
        let manifest = Self {
            name: name.ok_or(Problem::Name)?,
            content: content.ok_or(Problem::Content)?,
            library: Listed::of(entry).ok_or(Problem::Sum)?,
            needs: object.array("needs").unwrap_or_default(),
        };
        if manifest.needs.len() == manifest.needs().count() && manifest.needs.len() <= MOST_NEEDS {
            Ok(manifest)
        } else {
            Err(Problem::Need)
        }
    }

    /// Returns the libraries that the driver needs. A library comes after the libraries that it needs itself.
    pub fn needs(&self) -> impl Iterator<Item = Need<'a>> + use<'a> {
        self.needs.iter().filter_map(|need| {
            let library = Listed::of(need)?;
            let key = library.object.text("key").filter(|key| wire::is_key(key))?;
            Some(Need { library, key })
        })
    }
}

impl<'a> Listed<'a> {
    fn of(entry: Value<'a>) -> Option<Self> {
        let object = entry.as_object()?;
        let sum = object.text("sha256")?.try_into().ok()?;
        Some(Self { sum, object })
    }

    /// Returns the oldest version of the C library that the library works with; empty if the library works with every version.
    pub fn c_library(&self) -> &'a [u8] {
        self.object.text("c_library").unwrap_or_default()
    }
}

impl<'a> Need<'a> {
    /// Returns the name under which other libraries need this library.
    pub fn name(&self) -> &'a [u8] {
        self.key.splitn(2, |&byte| byte == b'-').last().unwrap_or_default()
    }

    /// Returns the file name of the library, which contains its version.
    pub fn file(&self) -> &'a [u8] {
        self.library.object.text("file").unwrap_or_default()
    }

    /// Returns the number of symbols that the library exports.
    pub fn symbols(&self) -> f64 {
        let symbols = self.library.object.get("symbols");
        symbols.and_then(Value::as_number).unwrap_or_default()
    }
}

fn is_file_name(name: &[u8]) -> bool {
    name.len() <= LONGEST_NAME
        && has_json_name(name)
        && !name.iter().any(|&byte| byte == b'/' || byte.is_ascii_control())
        && core::str::from_utf8(name).is_ok()
}

fn json(text: Vec<u8>) -> Result<Document, Failure> {
    parse_json(text).map_err(|error| match error {
        FileError::Unusable(_) => Problem::Json.into(),
        FileError::OutOfMemory => Failure::OutOfMemory,
    })
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
