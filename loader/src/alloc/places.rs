use super::{HostAllocator, HostVec};
use os::memory::OutOfMemory;

/// The values of a list, sorted, each with its place in the list: finds the place of a value. The one type of its elements keeps the library
/// small, since each type that is sorted brings some 3 KB.
pub(crate) struct Places(HostVec<(usize, usize)>);

impl Places {
    /// The places of values that come in the order of the list.
    ///
    /// # Errors
    /// When memory runs out.
    pub(crate) fn of(values: impl Iterator<Item = usize>, allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        let mut sorted = HostVec::try_from_iter(values.enumerate().map(|(place, value)| (value, place)), allocator)?;
        sorted.sort_unstable();
        Ok(Self(sorted))
    }

    /// Returns the first place of a value.
    pub(crate) fn get(&self, value: usize) -> Option<usize> {
        let at = self.0.partition_point(|&(other, _)| other < value);
        self.0
            .get(at)
            .filter(|&&(other, _)| other == value)
            .map(|&(_, place)| place)
    }

    /// Returns the places of values that have another place before.
    pub(crate) fn repeats(&self) -> impl Iterator<Item = usize> {
        self.0
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| pair[1].1)
    }
}
