//! `sType` and `pNext` of the caller's elements, while groups are reordered and dropped (DRV-152).
//!
//! A `pNext` chain must reach the driver that fills the element, and must then stay with the group that the driver
//! wrote. The chain must never get lost or appear twice, because the application owns it and will read it.

use super::{Group, MOST_MEMBERS};
use crate::alloc::{HostAllocator, HostVec};
use crate::generated::types::{VkPhysicalDeviceGroupProperties, VkResult, VkStructureType};
use crate::handle::{Level, PhysicalDeviceHandle};
use core::ffi::c_void;
use os::memory::OutOfMemory;

/// The first two members of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainHead {
    s_type: VkStructureType,
    next: *mut c_void,
}

impl ChainHead {
    /// Head of an element that the application did not supply.
    pub(super) const INTERNAL: Self = Self {
        s_type: VkStructureType::VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES,
        next: core::ptr::null_mut(),
    };

    /// Returns an element with this head and no devices.
    pub(super) fn group<L: super::DeviceLevel>(self) -> VkPhysicalDeviceGroupProperties<L> {
        VkPhysicalDeviceGroupProperties {
            sType: self.s_type,
            pNext: self.next,
            physicalDeviceCount: 0,
            physicalDevices: [PhysicalDeviceHandle::NULL; MOST_MEMBERS],
            subsetAllocation: 0,
        }
    }
}

/// Heads of the caller's elements.
pub(super) struct ChainHeads(HostVec<ChainHead>);

impl ChainHeads {
    /// Reads up to `most` elements of the caller's array; none if the array is NULL.
    ///
    /// # Safety
    /// `array` is null or holds `count` elements whose `sType` and `pNext` are set.
    pub(super) unsafe fn read<L: Level>(
        array: *const VkPhysicalDeviceGroupProperties<L>,
        count: usize,
        allocator: HostAllocator,
    ) -> Result<Self, OutOfMemory> {
        let count = if array.is_null() { 0 } else { count };
        let head = |index| {
            // SAFETY: `index` is below the caller's count, so `sType` and `pNext` are set; the other members are not read.
            unsafe {
                let element = array.add(index);
                ChainHead {
                    s_type: (*element).sType,
                    next: (*element).pNext,
                }
            }
        };
        HostVec::try_from_iter((0..count).map(head), allocator).map(Self)
    }

    /// Returns the head for the element at `index`.
    pub(super) fn get(&self, index: usize) -> ChainHead {
        self.0.get(index).copied().unwrap_or(ChainHead::INTERNAL)
    }

    /// Returns the heads for all of the caller's elements. The first elements contain groups, and `elements` names the element for which
    /// each of these groups was filled. Each head appears once: heads of dropped groups are assigned to elements without a head.
    fn arranged(&self, elements: impl Iterator<Item = usize> + Clone) -> Result<HostVec<ChainHead>, OutOfMemory> {
        let allocator = self.0.allocator();
        let mut left = HostVec::new(allocator);
        left.try_fill_to(self.0.len(), true)?;
        for element in elements.clone().take(self.0.len()) {
            if let Some(left) = left.get_mut(element) {
                *left = false;
            }
        }
        let mut unused = self
            .0
            .iter()
            .zip(&left)
            .filter(|(_, left)| **left)
            .map(|(head, _)| *head);
        let mut elements = elements;
        let mut arranged = HostVec::try_with_capacity(self.0.len(), allocator)?;
        for _ in 0..self.0.len() {
            let own = elements.next().and_then(|element| self.0.get(element).copied());
            arranged.try_push(own.or_else(|| unused.next()).unwrap_or(ChainHead::INTERNAL))?;
        }
        Ok(arranged)
    }

    /// Answers an array call with `groups`: writes as many as fit, and returns `VK_INCOMPLETE` if some do not fit.
    ///
    /// # Safety
    /// `count` is writable, and `array` has room for `*count` elements. These heads belong to all elements of the array, or to as many
    /// elements as there were groups before some groups were dropped.
    pub(super) unsafe fn answer<L: Level>(
        &self,
        groups: &[Group<L>],
        count: *mut u32,
        array: *mut VkPhysicalDeviceGroupProperties<L>,
    ) -> VkResult {
        let written = groups.len().min(self.0.len());
        let heads = match self.arranged(groups[..written].iter().map(|group| group.element)) {
            Ok(heads) => heads,
            Err(error) => return error.into(),
        };
        for (index, head) in heads.iter().enumerate() {
            // SAFETY: there are at most as many heads as elements.
            let element = unsafe { array.add(index) };
            if let Some(group) = groups[..written].get(index) {
                // SAFETY: the element is in the caller's array.
                unsafe { element.write(group.properties) };
            }
            // SAFETY: the element is in the caller's array.
            unsafe {
                (*element).sType = head.s_type;
                (*element).pNext = head.next;
            }
        }
        // SAFETY: the caller promises a writable count.
        unsafe { *count = u32::try_from(written).unwrap_or(u32::MAX) };
        if written < groups.len() {
            VkResult::VK_INCOMPLETE
        } else {
            VkResult::VK_SUCCESS
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::Chain;

    fn head(number: usize) -> ChainHead {
        ChainHead {
            s_type: VkStructureType(7),
            next: core::ptr::without_provenance_mut(number),
        }
    }

    fn heads(count: usize) -> ChainHeads {
        let made = HostVec::try_from_iter((1..=count).map(head), HostAllocator::system());
        ChainHeads(made.expect("memory"))
    }

    fn arranged(count: usize, elements: &[usize]) -> Vec<usize> {
        let arranged = heads(count).arranged(elements.iter().copied()).expect("memory");
        arranged.iter().map(|head| head.next.addr()).collect()
    }

    #[test]
    fn drv_152_a_chain_travels_with_its_group() {
        assert_eq!(arranged(3, &[2, 0, 1]), [3, 1, 2]);
    }

    #[test]
    fn drv_152_a_group_without_chain_takes_one_that_is_left() {
        // Element 5 was internal: the caller had room for only two of the six groups.
        assert_eq!(arranged(2, &[5, 0]), [2, 1]);
        assert_eq!(arranged(2, &[5, 4]), [1, 2]);
    }

    #[test]
    fn drv_152_no_chain_is_lost_when_groups_are_dropped() {
        assert_eq!(arranged(3, &[2]), [3, 1, 2]);
        assert_eq!(arranged(3, &[]), [1, 2, 3]);
    }

    #[test]
    fn drv_157_a_short_array_is_filled_and_incomplete() {
        let group = |count, element| {
            let mut properties = ChainHead::INTERNAL.group::<Chain>();
            properties.physicalDeviceCount = count;
            Group { properties, element }
        };
        let groups = [group(1, 1), group(2, 0), group(3, 2)];
        let mut array = [head(1).group::<Chain>(), head(2).group::<Chain>()];
        let mut count = 2;
        // SAFETY: the array has two elements whose heads are set.
        let heads = unsafe { ChainHeads::read(array.as_ptr(), 2, HostAllocator::system()) }.expect("memory");
        // SAFETY: the array has room for `count` elements, and the heads were read from it.
        let result = unsafe { heads.answer(&groups, &mut count, array.as_mut_ptr()) };
        assert_eq!((result, count), (VkResult::VK_INCOMPLETE, 2));
        let seen = array.map(|element| (element.physicalDeviceCount, element.pNext.addr(), element.sType.0));
        assert_eq!(seen, [(1, 2, 7), (2, 1, 7)]);
    }
}
