//! Device groups: the drivers' own, or one per device if a driver has none (DRV-149 to DRV-158).
//!
//! The application calls [`entry`]; [`collect`] is the end of the chain, and [`sort`] orders the groups. The elements of the caller's array
//! have `pNext` chains that drivers fill; [`chain_heads`] keeps track of them while groups move and disappear.

mod chain_heads;
mod collect;
mod entry;
mod sort;

pub(super) use collect::enumerate_at_end_of_chain;
pub(crate) use entry::enumerate_physical_device_groups;

use crate::generated::types::{VK_MAX_DEVICE_GROUP_SIZE, VkPhysicalDeviceGroupProperties};
use crate::handle::{Level, PhysicalDeviceHandle};

/// Upper bound on the number of devices in a group.
const MOST_MEMBERS: usize = VK_MAX_DEVICE_GROUP_SIZE as usize;

/// A group, and the caller's element into which it was filled.
#[derive(Clone, Copy)]
struct Group<L: Level> {
    properties: VkPhysicalDeviceGroupProperties<L>,
    /// Index of the caller's element whose `sType` and `pNext` were used; past the last element if none was used.
    element: usize,
}

/// A level at which a physical device is a pointer. All levels implement this trait.
trait DeviceLevel: Level<VkPhysicalDevice = PhysicalDeviceHandle<Self>> {}
impl<L: Level<VkPhysicalDevice = PhysicalDeviceHandle<L>>> DeviceLevel for L {}

/// Returns the number of devices in a group; larger counts of a driver are reduced to the maximum (DRV-151).
fn member_count<L: Level>(properties: &VkPhysicalDeviceGroupProperties<L>) -> usize {
    (properties.physicalDeviceCount as usize).min(MOST_MEMBERS)
}

/// Returns the devices of a group.
fn members<L: DeviceLevel>(properties: &VkPhysicalDeviceGroupProperties<L>) -> &[PhysicalDeviceHandle<L>] {
    &properties.physicalDevices[..member_count(properties)]
}

/// Removes from a group the devices that `is_kept` rejects. Returns `true` if a device was removed.
fn keep_members<L: DeviceLevel>(
    properties: &mut VkPhysicalDeviceGroupProperties<L>,
    is_kept: impl Fn(PhysicalDeviceHandle<L>) -> bool,
) -> bool {
    let count = member_count(properties);
    let mut kept = 0;
    for index in 0..count {
        let device = properties.physicalDevices[index];
        properties.physicalDevices[index] = PhysicalDeviceHandle::NULL;
        if is_kept(device) {
            properties.physicalDevices[kept] = device;
            kept += 1;
        }
    }
    properties.physicalDeviceCount = kept as u32;
    if kept == 1 {
        // Vulkan demands the value 0 for a group with one device.
        properties.subsetAllocation = 0;
    }
    kept < count
}

/// Returns the same group, with each device replaced by its counterpart at another level.
///
/// # Errors
/// The error of `counterpart`.
fn translated<From: DeviceLevel, To: DeviceLevel, E>(
    properties: &VkPhysicalDeviceGroupProperties<From>,
    mut counterpart: impl FnMut(PhysicalDeviceHandle<From>) -> Result<PhysicalDeviceHandle<To>, E>,
) -> Result<VkPhysicalDeviceGroupProperties<To>, E> {
    let mut devices = [PhysicalDeviceHandle::NULL; MOST_MEMBERS];
    for (to, &from) in devices.iter_mut().zip(members(properties)) {
        *to = counterpart(from)?;
    }
    Ok(VkPhysicalDeviceGroupProperties {
        sType: properties.sType,
        pNext: properties.pNext,
        physicalDeviceCount: member_count(properties) as u32,
        physicalDevices: devices,
        subsetAllocation: properties.subsetAllocation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::{Chain, Driver};

    fn properties(count: u32) -> VkPhysicalDeviceGroupProperties<Driver> {
        let mut made = chain_heads::ChainHead::INTERNAL.group::<Driver>();
        made.physicalDeviceCount = count;
        for (index, device) in made.physicalDevices.iter_mut().enumerate() {
            *device = PhysicalDeviceHandle::from_raw(core::ptr::without_provenance_mut(index + 1));
        }
        made
    }

    #[test]
    fn drv_151_a_group_has_at_most_32_devices() {
        assert_eq!(members(&properties(33)).len(), 32);
        let same =
            |device: PhysicalDeviceHandle<Driver>| Ok::<_, ()>(PhysicalDeviceHandle::<Chain>::from_raw(device.raw()));
        let Ok(translated) = translated(&properties(u32::MAX), same) else {
            panic!("translation")
        };
        assert_eq!(translated.physicalDeviceCount, 32);
        assert_eq!(translated.physicalDevices[31].raw().addr(), 32);
    }

    #[test]
    fn drv_154_devices_are_replaced_and_the_rest_is_null() {
        let twice = |device: PhysicalDeviceHandle<Driver>| {
            let raw = core::ptr::without_provenance_mut(device.raw().addr() * 2);
            Ok::<_, ()>(PhysicalDeviceHandle::<Chain>::from_raw(raw))
        };
        let Ok(translated) = translated(&properties(2), twice) else {
            panic!("translation")
        };
        let devices = translated.physicalDevices.map(|device| device.raw().addr());
        assert_eq!(devices[..3], [2, 4, 0]);
    }

    #[test]
    fn drv_143a_a_group_keeps_its_visible_devices() {
        let kept = |wanted: &[usize]| {
            let mut group = properties(3);
            group.subsetAllocation = 1;
            let reduced = keep_members(&mut group, |device| wanted.contains(&device.raw().addr()));
            let devices = group.physicalDevices.map(|device| device.raw().addr());
            (
                reduced,
                group.physicalDeviceCount,
                devices[..3].to_vec(),
                group.subsetAllocation,
            )
        };
        assert_eq!(kept(&[1, 2, 3]), (false, 3, vec![1, 2, 3], 1));
        assert_eq!(kept(&[1, 3]), (true, 2, vec![1, 3, 0], 1));
        assert_eq!(kept(&[2]), (true, 1, vec![2, 0, 0], 0));
    }

    #[test]
    fn drv_154_a_foreign_device_is_an_error() {
        assert!(translated::<Driver, Chain, _>(&properties(1), |_| Err(())).is_err());
    }
}
