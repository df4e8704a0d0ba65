//! The bytes of a structure that a driver wrote.

use crate::short;

/// Bytes that a driver wrote into a structure, with their offsets.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    size: u16,
    runs: &'a [u8],
    data: &'a [u8],
}

impl<'a> Answer<'a> {
    /// Reads a value. Returns `None` unless all runs are within the structure, in order, and the data has exactly the bytes of the runs.
    pub fn read(value: &'a [u8]) -> Option<Self> {
        let size = short(value, 0)?;
        let end = 4 + 4 * usize::from(short(value, 2)?);
        let found = Self {
            size,
            runs: value.get(4..end)?,
            data: value.get(end..)?,
        };
        let (mut last, mut total) = (0, 0);
        for (at, length) in found.places() {
            let stop = at + length;
            if at < last || length == 0 || stop > usize::from(size) {
                return None;
            }
            last = stop;
            total += length;
        }
        (total == found.data.len()).then_some(found)
    }

    /// Returns the size of the structure in bytes.
    pub fn size(self) -> usize {
        self.size.into()
    }

    fn places(self) -> impl Iterator<Item = (usize, usize)> {
        let place = |run: &[u8]| Some((short(run, 0)?.into(), short(run, 2)?.into()));
        self.runs.chunks_exact(4).filter_map(place)
    }

    /// Calls `take` with the offset and the bytes of each run, until `take` returns `None`. All runs are within [`Answer::size`].
    pub fn each(self, mut take: impl FnMut(usize, &'a [u8]) -> Option<()>) -> Option<()> {
        let mut rest = self.data;
        for (at, length) in self.places() {
            let (bytes, after) = rest.split_at_checked(length)?;
            rest = after;
            take(at, bytes)?;
        }
        Some(())
    }

    /// Writes the bytes into a structure. Returns `None`, and may have written a part, if the structure is smaller than the recorded one.
    pub fn write(self, structure: &mut [u8]) -> Option<()> {
        structure.get(..self.size())?;
        self.each(|at, bytes| {
            structure.get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
            Some(())
        })
    }

    /// Returns `true` if the driver wrote no byte before the offset `first`.
    pub(crate) fn begins_from(self, first: usize) -> bool {
        self.places().next().is_none_or(|(at, _)| at >= first)
    }

    /// Returns `true` if the driver wrote a byte other than zero.
    pub fn has_content(self) -> bool {
        let is_empty = |_, bytes: &[u8]| bytes.iter().all(|byte| *byte == 0).then_some(());
        self.each(is_empty).is_none()
    }

    /// Returns `true` if a structure has the recorded bytes at the recorded offsets.
    pub fn is_in(self, structure: &[u8]) -> bool {
        self.each(|at, bytes| (structure.get(at..at + bytes.len())? == bytes).then_some(()))
            .is_some()
    }
}
