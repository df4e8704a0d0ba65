//! Converts catalogues between JSON and the binary format, which [`Packed`] describes.

use crate::packed::{ARRAY, HEAD, KIND_BITS, MAGIC, NODE, NUMBER, OBJECT, Packed, TEXT};
use crate::{Json, Problem, SCHEMA};
use serde_json::Value;
use std::collections::BTreeMap;

/// Kinds of nodes that only [`unpack`] reads, not the library.
const NULL: u64 = 0;
const FALSE: u64 = 1;
const TRUE: u64 = 2;
/// Upper bound on the nesting of values. No catalogue has more than six levels.
const MOST_LEVELS: usize = 16;

/// The nodes and texts of a file while the file is being built.
#[derive(Default)]
struct Writer<'v> {
    nodes: Vec<u64>,
    texts: Vec<u8>,
    known: BTreeMap<&'v str, u64>,
}

impl<'v> Writer<'v> {
    fn node(&mut self, kind: u64, small: usize, large: u64) {
        self.nodes.push(kind | (small as u64) << KIND_BITS | large << 32);
    }

    fn text(&mut self, text: &'v str) {
        let offset = *self.known.entry(text).or_insert_with(|| {
            let offset = self.texts.len() as u64;
            self.texts.extend_from_slice(text.as_bytes());
            offset
        });
        self.node(TEXT, text.len(), offset);
    }

    /// Adds an array or object; `add` adds the values in it.
    fn container(&mut self, kind: u64, count: usize, add: impl FnOnce(&mut Self)) {
        let place = self.nodes.len();
        self.node(kind, count, 0);
        add(self);
        self.nodes[place] |= (self.nodes.len() as u64) << 32;
    }

    fn value(&mut self, value: &'v Value) {
        match value {
            Value::Null => self.nodes.push(NULL),
            Value::Bool(is_true) => self.nodes.push(if *is_true { TRUE } else { FALSE }),
            // Numbers in a catalogue are whole numbers.
            Value::Number(number) => match number.as_i64() {
                Some(number) => self.nodes.push((number << KIND_BITS) as u64 | NUMBER),
                None => self.nodes.push(NULL),
            },
            Value::String(text) => self.text(text),
            Value::Array(all) => self.container(ARRAY, all.len(), |writer| {
                all.iter().for_each(|element| writer.value(element));
            }),
            Value::Object(all) => self.container(OBJECT, all.len(), |writer| {
                for (name, value) in all {
                    writer.text(name);
                    writer.value(value);
                }
            }),
        }
    }
}

/// Returns the content of the file for a value. The head of the file contains the schema of the value, or [`SCHEMA`] if the value has no
/// schema.
pub fn pack(value: &Value) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.value(value);
    let schema = value["schema"].as_u64().unwrap_or(SCHEMA);
    let size = HEAD + writer.nodes.len() * NODE + writer.texts.len();
    let mut file = MAGIC.to_vec();
    for number in [schema, size as u64, writer.nodes.len() as u64, 0] {
        file.extend_from_slice(&(number as u32).to_le_bytes());
    }
    writer
        .nodes
        .iter()
        .for_each(|node| file.extend_from_slice(&node.to_le_bytes()));
    file.append(&mut writer.texts);
    file
}

/// Returns the value that a file contains.
///
/// # Errors
/// The file is not a catalogue, is incomplete, or has a schema version other than [`SCHEMA`].
pub fn unpack(file: &[u8]) -> Result<Value, Problem> {
    Packed::read(file).map(|root| value(root, MOST_LEVELS))
}

/// Returns a value with at most `left` levels; deeper levels become null. Bytes that are not UTF-8 become replacement characters.
fn value(node: Packed<'_>, left: usize) -> Value {
    let Some(left) = left.checked_sub(1) else {
        return Value::Null;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if let Some(bytes) = node.text() {
        return text(bytes).into();
    }
    if let Some(number) = node.number() {
        return (number as i64).into();
    }
    if let Some((_, elements)) = node.elements() {
        return elements.map(|element| value(element, left)).collect();
    }
    if node.is(OBJECT) {
        let members = node.members();
        return members
            .filter_map(|(name, member)| Some((text(name.text()?), value(member, left))))
            .collect();
    }
    if node.is(TRUE) || node.is(FALSE) {
        node.is(TRUE).into()
    } else {
        Value::Null
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::document;
    use crate::{Catalogue, Entry, Reader};
    use serde_json::json;

    #[test]
    fn a_file_has_the_value_it_was_made_from() {
        let value = json!({
            "schema": SCHEMA, "none": null, "yes": true, "no": false, "numbers": [0, -9, 1, i32::MIN, u32::MAX, 1_764_000_000_123_u64],
            "texts": ["", "a", "é\0", "a"], "empty": [[], {}], "nested": {"a": {"b": [{"c": "a"}]}, "d": 1}
        });
        assert_eq!(unpack(&pack(&value)), Ok(value));
        assert_eq!(unpack(&pack(&document())), Ok(document()));
    }

    #[test]
    fn other_files_are_refused() {
        let whole = pack(&document());
        for end in 0..whole.len() {
            assert!(unpack(&whole[..end]).is_err(), "{end}");
        }
        assert_eq!(unpack(&[&whole[..], b"x"].concat()), Err(Problem::NotACatalogue));
        assert_eq!(unpack(b"{\"schema\": 3}"), Err(Problem::NotACatalogue));
        for schema in [0, SCHEMA - 1, SCHEMA + 1] {
            assert_eq!(unpack(&pack(&json!({"schema": schema}))), Err(Problem::OtherSchema));
        }
    }

    /// Reads everything in a file that the library would read, and returns the number of elements.
    fn read_all(file: &[u8]) -> usize {
        let reader = Reader {
            loader: "1.4.366",
            architecture: "x86_64",
        };
        let Ok(catalogue) = Packed::read(file).and_then(|root| Catalogue::read(root, reader)) else {
            return 0;
        };
        let of_entry = |entry: Entry<'_, Packed<'_>>| {
            entry.extensions().into_iter().flatten().count()
                + entry.files().into_iter().flatten().count()
                + entry.devices().unwrap_or_default()
                + usize::from(entry.has_device(b"", 0, 0))
        };
        catalogue.entries().map(of_entry).sum::<usize>() + catalogue.files().count() + catalogue.variables().count()
    }

    /// A value cannot extend beyond the value that contains it. Otherwise, reading a small file could take years.
    #[test]
    fn values_end_with_the_value_that_contains_them() {
        let container = |count: u64, end: u64| ARRAY | count << KIND_BITS | end << 32;
        let nodes = [
            container(2, 4),
            container(3, 3),
            container(9, 4),
            NUMBER | 7 << KIND_BITS,
        ];
        let mut file = MAGIC.to_vec();
        for number in [SCHEMA as usize, HEAD + NODE * nodes.len(), nodes.len(), 0] {
            file.extend_from_slice(&(number as u32).to_le_bytes());
        }
        file.extend(nodes.into_iter().flat_map(u64::to_le_bytes));
        assert_eq!(unpack(&file), Ok(json!([[[]], 7])));
    }

    /// Reading a file never panics and always ends, whatever the file contains.
    #[test]
    fn every_byte_of_a_file_may_be_wrong() {
        let whole = pack(&document());
        assert!(read_all(&whole) > 0);
        for place in 0..whole.len() {
            for wrong in [0, 1, 0x7F, 0xFF, whole[place] ^ 1, whole[place] ^ 0x10] {
                let mut file = whole.clone();
                file[place] = wrong;
                read_all(&file);
                let _ = unpack(&file);
            }
        }
    }
}
