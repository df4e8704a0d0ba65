//! Construction of a record.

use crate::{Answer, DRIVER, FORM, HEAD, IDENTITY, Key, MAGIC, MOST_BYTES, MOST_DEVICES, Query, ROW, checksum};
use std::collections::BTreeMap;

/// A record that is being created.
#[derive(Debug, Default)]
pub struct Builder {
    rows: BTreeMap<Key, Vec<u8>>,
    devices: u16,
}

impl Builder {
    /// Returns an empty record of this many devices.
    pub fn new(devices: u16) -> Self {
        Self {
            rows: BTreeMap::new(),
            devices,
        }
    }

    /// Adds a row with this key and value.
    pub fn add(&mut self, key: Key, value: Vec<u8>) {
        self.rows.insert(key, value);
    }

    /// Returns `true` if the record has the UUIDs or the properties of a device. The loader needs one of them to find the device again
    /// after it has opened the driver.
    pub fn identifies(&self, device: u16) -> bool {
        let properties = Key::of(device, Query::Properties);
        let uuids = self
            .rows
            .get(&properties.with(IDENTITY))
            .and_then(|value| Answer::read(value));
        self.rows.contains_key(&properties) || uuids.is_some_and(Answer::has_content)
    }

    /// Adds values with consecutive indices.
    pub fn add_all(&mut self, query: Query, values: impl IntoIterator<Item = Vec<u8>>) {
        for (index, value) in (0..).zip(values) {
            self.add(Key::of(DRIVER, query).at(index), value);
        }
    }

    /// Adds the extensions of a device.
    pub fn add_extensions<'e>(&mut self, device: u16, all: impl Iterator<Item = (&'e [u8], u32)>) {
        let mut value = Vec::new();
        for (name, version) in all {
            value.extend(version.to_le_bytes());
            value.push(name.len() as u8);
            value.extend(name);
        }
        self.add(Key::of(device, Query::Extensions), value);
    }

    /// Returns the encoded value of a structure. `written` marks the bytes that the driver wrote; all other bytes are left out.
    pub fn structure(bytes: &[u8], written: &[bool]) -> Vec<u8> {
        let (mut runs, mut data): (Vec<(u16, u16)>, Vec<u8>) = (Vec::new(), Vec::new());
        for (at, byte) in bytes.iter().enumerate().filter(|(at, _)| written[*at]) {
            match runs.last_mut() {
                Some((start, length)) if usize::from(*start + *length) == at => *length += 1,
                _ => runs.push((at as u16, 1)),
            }
            data.push(*byte);
        }
        let mut value = Vec::new();
        value.extend((bytes.len() as u16).to_le_bytes());
        value.extend((runs.len() as u16).to_le_bytes());
        for (start, length) in runs {
            value.extend(start.to_le_bytes());
            value.extend(length.to_le_bytes());
        }
        value.extend(data);
        value
    }

    /// Returns the file and its checksum; `None` if the record would be too large.
    pub fn finish(self) -> Option<(Vec<u8>, u64)> {
        let mut rows = Vec::new();
        let mut data: Vec<u8> = Vec::new();
        let mut known: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        let first = HEAD + ROW * self.rows.len();
        for (key, value) in &self.rows {
            let at = *known.entry(value.clone()).or_insert_with(|| {
                let at = (first + data.len()) as u32;
                data.extend(value);
                at
            });
            rows.extend(key.device.to_le_bytes());
            rows.extend(key.query.to_le_bytes());
            for number in [key.index, key.kind, at, value.len() as u32] {
                rows.extend(number.to_le_bytes());
            }
        }
        let mut content = Vec::new();
        content.extend((self.rows.len() as u32).to_le_bytes());
        content.extend(u32::from(self.devices).to_le_bytes());
        content.extend(rows);
        content.extend(data);
        let sum = checksum(&content);
        let mut file = MAGIC.to_vec();
        file.extend(FORM.to_le_bytes());
        file.extend(0_u32.to_le_bytes());
        file.extend(sum.to_le_bytes());
        file.extend(content);
        let fits = self.devices <= MOST_DEVICES && file.len() <= MOST_BYTES * (usize::from(self.devices) + 1);
        fits.then_some((file, sum))
    }
}
