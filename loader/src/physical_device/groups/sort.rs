//! Order of groups, and of the devices in each group (DRV-155).

use super::super::order::{Rank, Sorting, Traits};
use super::super::walk::{Device, scratch};
use super::super::wishes;
use super::{Group, member_count, members};
use crate::alloc::{HostAllocator, HostVec, Places};
use crate::generated::types::VkResult;
use crate::handle::{Chain, PhysicalDeviceHandle};
use crate::instance::Instance;
use discovery::journal::{Journal, LogBits};
use os::memory::OutOfMemory;

const TOLD: LogBits = LogBits::INFO.with(LogBits::DRIVER);

/// Traits of each device, by its handle.
pub(super) struct DeviceTraits {
    traits: HostVec<Traits>,
    places: Places,
}

impl DeviceTraits {
    fn of(instance: &Instance, devices: &[Device<'_>], with_uuid: bool) -> Result<Self, VkResult> {
        let mut traits = HostVec::try_with_capacity(devices.len(), scratch(instance))?;
        for device in devices {
            traits.try_push(Traits::of(instance, device, with_uuid)?)?;
        }
        let handles = devices.iter().map(|device| device.chain.raw().addr());
        let places = Places::of(handles, scratch(instance))?;
        Ok(Self { traits, places })
    }

    fn get(&self, device: PhysicalDeviceHandle<Chain>) -> Option<&Traits> {
        self.traits.get(self.places.get(device.raw().addr())?)
    }
}

/// Sorts groups in place, if this instance sorts devices. All members of the groups are among `devices`. On a system that sorts by
/// adapters, the first `by_adapter` elements of `devices` are in the order of their adapters.
///
/// # Errors
/// Out of host memory.
pub(super) fn sort(
    instance: &Instance,
    groups: &mut [Group<Chain>],
    devices: &[Device<'_>],
    by_adapter: usize,
    journal: &Journal<'_>,
) -> Result<(), VkResult> {
    if instance.visible().is_some() && Sorting::of(instance).is_none() {
        let wished = wishes::in_order(devices, scratch(instance))?;
        let sorted = wished.iter().map(|device| device.chain);
        return Ok(follow(sorted, groups, scratch(instance))?);
    }
    if os::SORTED_BY_ADAPTERS {
        let sorted = devices[..by_adapter].iter().map(|device| device.chain);
        return Ok(follow(sorted, groups, scratch(instance))?);
    }
    let Some(sorting) = Sorting::of(instance) else {
        return Ok(());
    };
    sorting.warn(journal);
    let known = DeviceTraits::of(instance, devices, sorting.asks_for_uuid())?;
    tell("Original", groups, &known, &[], journal);
    let ranks = arrange(groups, &sorting, &known, scratch(instance), journal)?;
    tell("Sorted", groups, &known, &ranks, journal);
    Ok(())
}

/// Sorts the groups and their members. Returns the rank of each group, which is the rank of its first device.
fn arrange(
    groups: &mut [Group<Chain>],
    sorting: &Sorting,
    known: &DeviceTraits,
    allocator: HostAllocator,
    journal: &Journal<'_>,
) -> Result<HostVec<Option<Rank>>, OutOfMemory> {
    let mut ranks = HostVec::try_with_capacity(groups.len(), allocator)?;
    let mut ranked = HostVec::try_with_capacity(groups.len(), allocator)?;
    for (index, group) in groups.iter_mut().enumerate() {
        let rank = arrange_members(group, sorting, known, allocator, journal)?;
        ranks.try_push(rank)?;
        // A group without a known device comes last; the index keeps groups of equal rank in their order.
        ranked.try_push((rank.unwrap_or(Rank::LAST), index))?;
    }
    os::sort(&mut ranked);
    let unsorted = HostVec::try_from_slice(groups, allocator)?;
    for (to, (_, index)) in groups.iter_mut().zip(&ranked) {
        *to = unsorted[*index];
    }
    HostVec::try_from_iter(ranked.iter().map(|&(_, index)| ranks[index]), allocator)
}

/// Arranges the groups, and the devices in each, in the order of `sorted`. Devices that are not in `sorted` follow, in their previous
/// order.
fn follow(
    sorted: impl Iterator<Item = PhysicalDeviceHandle<Chain>>,
    groups: &mut [Group<Chain>],
    allocator: HostAllocator,
) -> Result<(), OutOfMemory> {
    let places = Places::of(sorted.map(|device| device.raw().addr()), allocator)?;
    let place = |device: PhysicalDeviceHandle<Chain>| places.get(device.raw().addr()).unwrap_or(usize::MAX);
    let mut ranked = HostVec::try_with_capacity(groups.len(), allocator)?;
    for (index, group) in groups.iter_mut().enumerate() {
        let before = group.properties.physicalDevices;
        let members = members(&group.properties).iter().enumerate();
        let mut order = HostVec::try_from_iter(members.map(|(index, &device)| (place(device), index)), allocator)?;
        os::sort(&mut order);
        for (to, (_, index)) in group.properties.physicalDevices.iter_mut().zip(&order) {
            *to = before[*index];
        }
        ranked.try_push((order.first().map_or(usize::MAX, |(place, _)| *place), index))?;
    }
    os::sort(&mut ranked);
    let unsorted = HostVec::try_from_slice(groups, allocator)?;
    for (to, (_, index)) in groups.iter_mut().zip(&ranked) {
        *to = unsorted[*index];
    }
    Ok(())
}

fn arrange_members(
    group: &mut Group<Chain>,
    sorting: &Sorting,
    known: &DeviceTraits,
    allocator: HostAllocator,
    journal: &Journal<'_>,
) -> Result<Option<Rank>, OutOfMemory> {
    let count = member_count(&group.properties);
    let before = group.properties.physicalDevices;
    let order = sorting.order(
        before[..count].iter().filter_map(|&device| known.get(device)),
        allocator,
    )?;
    let name = |index: usize| known.get(before[index]).map(Traits::name);
    sorting.tell(&order, name, journal);
    for (to, (_, index)) in group.properties.physicalDevices.iter_mut().zip(&order) {
        *to = before[*index];
    }
    Ok(order.first().map(|(rank, _)| *rank))
}

/// Logs the groups; `ranks` has the ranks of sorted groups.
fn tell(order: &str, groups: &[Group<Chain>], known: &DeviceTraits, ranks: &[Option<Rank>], journal: &Journal<'_>) {
    journal.note(TOLD, format_args!("linux_sort_physical_device_groups:  {order} order:"));
    for (number, group) in groups.iter().enumerate() {
        journal.note(TOLD, format_args!("           Group {number}"));
        // Marks only the first device of a group, because it is the group's default device.
        let mut mark = ranks.get(number).copied().flatten().map_or("", |rank| rank.mark());
        for (place, &device) in members(&group.properties).iter().enumerate() {
            if let Some(traits) = known.get(device) {
                let name = traits.name();
                if ranks.is_empty() {
                    journal.note(TOLD, format_args!("               [{place}] {name}"))
                } else {
                    journal.note(
                        TOLD,
                        format_args!("               [{place}] {name} {} {mark}", os::Address(device.raw())),
                    )
                }
            }
            mark = "";
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::order::tests::traits;
    use super::super::chain_heads::ChainHead;
    use super::*;
    use crate::testing::Lines;

    fn device(number: usize) -> PhysicalDeviceHandle<Chain> {
        PhysicalDeviceHandle::from_raw(core::ptr::without_provenance_mut(number))
    }

    /// Returns device 1 as a CPU, 2 and 3 as integrated, 4 and 5 as discrete; the device number is 0x30 for 1 and 3.
    fn known() -> DeviceTraits {
        let kinds = [(1, 4, 0x30), (2, 1, 0x20), (3, 1, 0x30), (4, 2, 0x20), (5, 2, 0x20)];
        let all = kinds.map(|(number, kind, device_id)| (device(number), traits(kind, None, device_id)));
        let allocator = HostAllocator::system();
        let places = Places::of(all.iter().map(|(device, _)| device.raw().addr()), allocator).expect("memory");
        let traits = HostVec::try_from_iter(all.into_iter().map(|(_, traits)| traits), allocator).expect("memory");
        DeviceTraits { traits, places }
    }

    fn made(groups: &[&[usize]]) -> Vec<Group<Chain>> {
        let mut made: Vec<Group<Chain>> = Vec::new();
        for (element, numbers) in groups.iter().enumerate() {
            let mut properties = ChainHead::INTERNAL.group::<Chain>();
            properties.physicalDeviceCount = numbers.len() as u32;
            for (to, &number) in properties.physicalDevices.iter_mut().zip(*numbers) {
                *to = device(number);
            }
            made.push(Group { properties, element });
        }
        made
    }

    fn numbers(groups: &[Group<Chain>]) -> Vec<Vec<usize>> {
        let numbers = |group: &Group<Chain>| members(&group.properties).iter().map(|d| d.raw().addr()).collect();
        groups.iter().map(numbers).collect()
    }

    fn arranged(select: &str, groups: &[&[usize]]) -> Vec<Vec<usize>> {
        let mut made = made(groups);
        let sorting = Sorting::selecting(Some(select.into()));
        let lines = Lines::default();
        arrange(
            &mut made,
            &sorting,
            &known(),
            HostAllocator::system(),
            &Journal::new(&lines),
        )
        .expect("memory");
        numbers(&made)
    }

    #[test]
    fn drv_155_groups_follow_devices_that_adapters_sort() {
        let followed = |sorted: &[usize], groups: &[&[usize]]| {
            let mut made = made(groups);
            let sorted = sorted.iter().map(|&number| device(number));
            follow(sorted, &mut made, HostAllocator::system()).expect("memory");
            numbers(&made)
        };
        assert_eq!(
            followed(&[4, 1, 3], &[&[1, 2], &[5], &[3, 4], &[6]]),
            [vec![4, 3], vec![1, 2], vec![5], vec![6]]
        );
        assert_eq!(
            followed(&[], &[&[5, 1], &[], &[2]]),
            [vec![5, 1], vec![], vec![2]],
            "nothing is sorted"
        );
    }

    #[test]
    fn drv_155_members_first_then_groups_by_first_member() {
        assert_eq!(
            arranged("", &[&[1], &[2, 3], &[1, 4]]),
            [vec![4, 1], vec![3, 2], vec![1]]
        );
    }

    #[test]
    fn app_128_equal_groups_keep_their_order() {
        assert_eq!(arranged("", &[&[5], &[4]]), [vec![5], vec![4]]);
    }

    #[test]
    fn drv_142_two_groups_with_a_default_go_by_the_other_criteria() {
        assert_eq!(
            arranged("10:30", &[&[4], &[2, 1], &[4, 3]]),
            [vec![3, 4], vec![1, 2], vec![4]]
        );
    }

    #[test]
    fn a_group_without_devices_comes_last() {
        assert_eq!(arranged("", &[&[], &[1]]), [vec![1], vec![]]);
    }
}
