use super::{HostAllocator, HostVec};
use os::memory::OutOfMemory;

/// The values of a list in sorted order, each with its index in the list. This order is used to find the index of a value.
pub(crate) struct Places(HostVec<(usize, usize)>);

impl Places {
    /// Records the index of each value; `values` returns the values in the order of the list.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn of(values: impl Iterator<Item = usize>, allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        let mut sorted = HostVec::try_from_iter(values.enumerate().map(|(place, value)| (value, place)), allocator)?;
        os::sort(&mut sorted);
        Ok(Self(sorted))
    }

    /// Returns the first index of a value.
    pub(crate) fn get(&self, value: usize) -> Option<usize> {
        let at = self.0.partition_point(|&(other, _)| other < value);
        self.0
            .get(at)
            .filter(|&&(other, _)| other == value)
            .map(|&(_, place)| place)
    }

    /// Returns the indices of values that already occur at a smaller index.
    pub(crate) fn repeats(&self) -> impl Iterator<Item = usize> {
        self.0
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| pair[1].1)
    }
}
