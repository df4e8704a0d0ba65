//! Collections that report a failed allocation instead of aborting.

use super::HostAllocator;
use allocator_api2::{boxed, vec};
use core::ffi::CStr;
use core::ops::{Deref, DerefMut};
use os::memory::OutOfMemory;

/// A growable array in host memory. Every operation that may allocate returns a `Result`.
pub struct HostVec<T>(vec::Vec<T, HostAllocator>);

impl<T> HostVec<T> {
    /// Returns an empty array; allocates nothing.
    pub const fn new(allocator: HostAllocator) -> Self {
        Self(vec::Vec::new_in(allocator))
    }

    /// Returns an empty array with room for `capacity` elements.
    pub fn try_with_capacity(capacity: usize, allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        let mut made = Self::new(allocator);
        made.try_reserve_exact(capacity)?;
        Ok(made)
    }

    /// Returns the number of elements for which there is room.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Makes room for exactly `additional` more elements.
    pub fn try_reserve_exact(&mut self, additional: usize) -> Result<(), OutOfMemory> {
        self.0.try_reserve_exact(additional).map_err(|_| OutOfMemory)
    }

    /// Appends one element.
    pub fn try_push(&mut self, value: T) -> Result<(), OutOfMemory> {
        self.0.try_reserve(1).map_err(|_| OutOfMemory)?;
        self.0.push(value);
        Ok(())
    }

    /// Collects the elements of an iterator.
    pub fn try_from_iter(items: impl IntoIterator<Item = T>, allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        let items = items.into_iter();
        let mut made = Self::try_with_capacity(items.size_hint().0, allocator)?;
        for item in items {
            made.try_push(item)?;
        }
        Ok(made)
    }

    /// Removes and returns the element at `index`, keeping the order of the others.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    pub fn remove(&mut self, index: usize) -> T {
        self.0.remove(index)
    }

    /// Removes and returns the last element.
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Keeps only the elements that `keep` accepts.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }

    /// Shortens the array to `len` elements.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Removes every element.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Extends the array to `len` elements with copies of `value`; never shortens it.
    pub fn try_fill_to(&mut self, len: usize, value: T) -> Result<(), OutOfMemory>
    where
        T: Clone,
    {
        if len > self.0.len() {
            self.0.try_reserve_exact(len - self.0.len()).map_err(|_| OutOfMemory)?;
            self.0.resize(len, value);
        }
        Ok(())
    }

    /// Returns `len` elements whose bytes are all zero.
    ///
    /// # Safety
    /// A `T` whose bytes are all zero is valid.
    pub unsafe fn try_zeroed(len: usize, allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        let mut made = Self::try_with_capacity(len, allocator)?;
        // SAFETY: there is room for `len` elements, and the caller promises that a `T` whose bytes are all zero is valid.
        unsafe {
            made.0.as_mut_ptr().write_bytes(0, len);
            made.0.set_len(len);
        }
        Ok(made)
    }

    /// Returns the allocator of the elements.
    pub fn allocator(&self) -> HostAllocator {
        *self.0.allocator()
    }
}

impl<T: Copy> HostVec<T> {
    /// Copies the elements of a slice.
    pub fn try_from_slice(items: &[T], allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        let mut made = Self::new(allocator);
        made.try_append(items)?;
        Ok(made)
    }

    /// Appends copies of all elements of a slice at once.
    pub fn try_append(&mut self, items: &[T]) -> Result<(), OutOfMemory> {
        self.try_reserve_exact(items.len())?;
        let length = self.0.len();
        // SAFETY: there is room for the elements after the last one, and `items` cannot overlap this spare room. `T: Copy` makes the copies
        // valid.
        unsafe {
            let end = self.0.as_mut_ptr().add(length);
            core::ptr::copy_nonoverlapping(items.as_ptr(), end, items.len());
            self.0.set_len(length + items.len());
        }
        Ok(())
    }
}

impl<T> Deref for HostVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for HostVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> IntoIterator for HostVec<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T, HostAllocator>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a HostVec<T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// One value in host memory at an address that does not change.
pub(crate) struct HostBox<T>(boxed::Box<T, HostAllocator>);

impl<T> HostBox<T> {
    /// Moves `value` into host memory.
    pub(crate) fn try_new(value: T, allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        boxed::Box::try_new_in(value, allocator)
            .map(Self)
            .map_err(|_| OutOfMemory)
    }

    /// Creates a value in host memory without moving it; for large values.
    ///
    /// # Safety
    /// `write` makes the memory that it gets a valid value.
    pub(crate) unsafe fn try_new_in_place(
        allocator: HostAllocator,
        write: impl FnOnce(*mut T),
    ) -> Result<Self, OutOfMemory> {
        let mut room = boxed::Box::<T, _>::try_new_uninit_in(allocator).map_err(|_| OutOfMemory)?;
        write(room.as_mut_ptr());
        // SAFETY: the caller promises that `write` initialised the value.
        Ok(Self(unsafe { room.assume_init() }))
    }

    /// Releases ownership. The caller must pass both results to [`HostBox::from_raw`] later.
    pub(crate) fn into_raw(self) -> (*mut T, HostAllocator) {
        boxed::Box::into_raw_with_allocator(self.0)
    }

    /// Takes back the ownership of a value.
    ///
    /// # Safety
    /// Both arguments came from one call of [`HostBox::into_raw`], and no other call gets them.
    pub(crate) unsafe fn from_raw(raw: *mut T, allocator: HostAllocator) -> Self {
        // SAFETY: the caller promises that both came from one `into_raw` and are used once.
        Self(unsafe { boxed::Box::from_raw_in(raw, allocator) })
    }

    /// Returns the address of the value.
    pub(crate) fn as_ptr(&self) -> *mut T {
        core::ptr::from_ref::<T>(&self.0).cast_mut()
    }
}

impl<T> Deref for HostBox<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for HostBox<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// A byte string in host memory for C: it ends with a NUL and contains no other.
pub(crate) struct HostText(HostVec<u8>);

impl HostText {
    /// Copies `text` up to its first NUL.
    pub(crate) fn try_new(text: &[u8], allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        let text = CStr::from_bytes_until_nul(text).map_or(text, CStr::to_bytes);
        let mut made = HostVec::try_with_capacity(text.len() + 1, allocator)?;
        made.try_append(text)?;
        made.0.push(0);
        Ok(Self(made))
    }

    /// Returns the text without its terminator.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0[..self.0.len() - 1]
    }

    /// Returns the text with its terminator.
    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or_default()
    }
}
