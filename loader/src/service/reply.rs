//! Parsers for answers of a service, which may be malformed or false (LSV-34, LSV-35).

use super::failure::Failure;
use discovery::journal::reason::ServiceReason;
use discovery::manifest::file::{FileError, parse_json};
use discovery::manifest::json::{Document, Value};
use discovery::text::{Text, has_json_name};
use os::memory::{Grow, copy};
use rust_alloc::vec::Vec;
use wire::{Header, MOST_IN_LIBRARY, MOST_IN_MANIFEST, MOST_IN_REPLY, MOST_PACKAGES, Packet, status};

/// SHA-256 of the bytes of a library.
pub(crate) type Sum = [u8; SUM];
/// Length of a checksum in bytes.
const SUM: usize = 32;
/// Upper bound on the bytes of a published name. It is larger than a key and the ending of a manifest need.
const LONGEST_NAME: usize = 255;

/// A published manifest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The name under which it was published: a file name.
    pub name: Text,
    /// Text of the manifest.
    pub content: Vec<u8>,
    /// Checksum of the library, if the service sent it.
    pub sum: Option<Sum>,
}

/// The service's description of a library.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Described {
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 of the bytes.
    pub sum: Sum,
}

fn bad(problem: &'static str) -> Failure {
    ServiceReason::BadReply(problem).into()
}

/// Returns the payload of the packet that answers a request.
///
/// # Errors
/// The fault of the packet. Later packets of this connection cannot be trusted then.
pub(crate) fn packet_for(bytes: &[u8], asked: Header) -> Result<&[u8], Failure> {
    let packet = Packet::read(bytes, MOST_IN_REPLY).map_err(|_| bad("a packet that is none"))?;
    match packet.header == asked.reply() {
        true => Ok(packet.payload),
        false => Err(bad("the answer to another request")),
    }
}

/// Returns the document in a successful answer.
///
/// # Errors
/// The fault of the answer, or the error that the service reports.
pub(crate) fn read_reply(payload: &[u8]) -> Result<Document, Failure> {
    let document = json(copy(payload)?)?;
    let reply = document.root().as_object().ok_or_else(|| bad("no object"))?;
    match reply.get("status") {
        None => Ok(document),
        Some(word) => match word.as_text().unwrap_or_default() {
            word if word == status::OK.as_bytes() => Ok(document),
            word if word == status::TIMEOUT.as_bytes() => Err(ServiceReason::TimedOut.into()),
            word if word == status::NOT_FOUND.as_bytes() => Err(ServiceReason::NoLibrary.into()),
            word => Err(ServiceReason::Refused(Text::try_new(&word[..word.len().min(LONGEST_NAME)])?).into()),
        },
    }
}

/// Returns the manifests from the file that came with an answer. `count` is the number of manifests that the answer states.
///
/// # Errors
/// The fault of the list.
pub(crate) fn listed_manifests(text: Vec<u8>, count: Option<Value<'_>>) -> Result<Vec<Manifest>, Failure> {
    let document = json(text)?;
    let list = document.root().as_array().ok_or_else(|| bad("a list that is none"))?;
    if list.len() > MOST_PACKAGES {
        return Err(bad("more manifests than there can be"));
    }
    if count.and_then(whole_number) != Some(list.len() as u64) {
        return Err(bad("another number of manifests than it says"));
    }
    let mut manifests = Vec::new();
    manifests.try_exact_room(list.len())?;
    for entry in list.iter() {
        manifests.push(manifest(entry)?);
    }
    Ok(manifests)
}

fn manifest(entry: Value<'_>) -> Result<Manifest, Failure> {
    let text = |member| entry.as_object()?.get(member)?.as_raw_text();
    let name = text("name").filter(|name| is_file_name(name));
    let name = name.ok_or_else(|| bad("a manifest without a name"))?;
    let content = text("contents").filter(|content| content.len() <= MOST_IN_MANIFEST);
    let content = content.ok_or_else(|| bad("a manifest without a text"))?;
    Ok(Manifest {
        name: Text::try_new(name)?,
        content: copy(content)?,
        sum: text("sha256").and_then(checksum),
    })
}

fn is_file_name(name: &[u8]) -> bool {
    name.len() <= LONGEST_NAME
        && has_json_name(name)
        && !name.iter().any(|&byte| byte == b'/' || byte.is_ascii_control())
        && core::str::from_utf8(name).is_ok()
}

/// Returns the description in the answer to a request for a library.
///
/// # Errors
/// The fault of the answer.
pub(crate) fn described_library(reply: &Document) -> Result<Described, Failure> {
    let reply = reply.root().as_object().ok_or_else(|| bad("no object"))?;
    if reply.get("status").is_none() {
        return Err(bad("no status"));
    }
    let size = reply.get("size").and_then(whole_number);
    let size = size.filter(|size| (1..=MOST_IN_LIBRARY).contains(size));
    let sum = reply.text("sha256").and_then(checksum);
    Ok(Described {
        size: size.ok_or_else(|| bad("no size"))?,
        sum: sum.ok_or_else(|| bad("no checksum"))?,
    })
}

fn json(text: Vec<u8>) -> Result<Document, Failure> {
    parse_json(text).map_err(|error| match error {
        FileError::Unusable(_) => bad("no JSON"),
        FileError::OutOfMemory => Failure::OutOfMemory,
    })
}

fn whole_number(value: Value<'_>) -> Option<u64> {
    let number = value.as_number()?;
    // A number that does not fit into 32 bits is not a valid size.
    let whole = number as u32;
    (f64::from(whole) == number).then_some(whole.into())
}

fn checksum(digits: &[u8]) -> Option<Sum> {
    let mut sum = [0; SUM];
    if digits.len() != 2 * SUM {
        return None;
    }
    for (byte, pair) in sum.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |place: usize| char::from(pair[place]).to_digit(16);
        *byte = (digit(0)? << 4 | digit(1)?) as u8;
    }
    Some(sum)
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
