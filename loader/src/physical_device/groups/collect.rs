//! Device groups of all drivers, at the end of the chain (DRV-149 to DRV-157).

use super::super::adapters::{self, Devices};
use super::super::configured;
use super::super::facts;
use super::super::terminator::tell_trimming;
use super::super::walk::{self, Device, MOST_OF_ONE_DRIVER, scratch, succeeds};
use super::super::wishes::{self, HIDDEN};
use super::chain_heads::{ChainHead, ChainHeads};
use super::{Group, keep_members, members, sort, translated};
use crate::alloc::{HostVec, Places};
use crate::driver_interface::failure;
use crate::generated::pfn::PFN_vkEnumeratePhysicalDeviceGroups;
use crate::generated::types::{VkPhysicalDeviceGroupProperties, VkResult};
use crate::handle::{Chain, Driver, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver};
use discovery::extension::InstanceExtension;
use discovery::journal::reason::DeviceReason;
use discovery::journal::{Journal, LogBits};
use discovery::log::LogSink;
use discovery::trace::Step;

const COMMAND: &str = "vkEnumeratePhysicalDeviceGroups";

type Enumerate = PFN_vkEnumeratePhysicalDeviceGroups<Driver>;

/// A driver that has groups, and the number of groups to expect.
struct GroupDriver<'a> {
    driver: &'a InstanceDriver,
    /// The driver's function that lists groups; `None` if each device is a group of its own.
    function: Option<Enumerate>,
    count: u32,
}

/// Answers `vkEnumeratePhysicalDeviceGroups` for the lowest layer.
///
/// # Safety
/// `count` is writable; `array` is null or has `*count` elements whose `sType` and `pNext` are set.
pub(in super::super) unsafe fn enumerate_at_end_of_chain(
    instance: &Instance,
    count: *mut u32,
    array: *mut VkPhysicalDeviceGroupProperties<Chain>,
) -> VkResult {
    let sink = LogSink(Some(instance));
    let mut journal = Journal::of_call(&sink);
    let result = walk::with_drivers(instance, |drivers| {
        let Devices {
            all: mut devices,
            by_adapter,
        } = adapters::devices(instance, drivers, &mut journal)?;
        let configured = configured::configurations(instance).is_some();
        let chosen = !configured && wishes::judge(instance, &mut devices, &mut journal)?;
        let sources = sources(instance, drivers, &devices, &mut journal)?;
        let total = sources
            .iter()
            .fold(0_u32, |total, source| total.saturating_add(source.count));
        if total == 0 {
            return Err(no_groups(&journal));
        }
        if array.is_null() && !chosen {
            // SAFETY: the caller promises a writable count.
            unsafe { *count = total };
            return Ok(VkResult::VK_SUCCESS);
        }
        // SAFETY: the caller promised a readable count for an array; without one the number may not even be initialised.
        let room = if array.is_null() { 0 } else { unsafe { *count } };
        // SAFETY: the count is at most the number of the array's elements, whose heads the caller has set.
        let heads = unsafe { ChainHeads::read(array, room.min(total) as usize, scratch(instance)) }?;
        let mut groups = fill(instance, &sources, &devices, &heads, &mut journal)?;
        sort::sort(instance, &mut groups, &devices, by_adapter, &journal)?;
        drop_hidden(instance, &mut groups, &devices, &mut journal)?;
        if chosen {
            remove_unwished(instance, &mut groups, &devices, &journal)?;
            wishes::check_any(instance, !groups.is_empty())?;
        }
        if array.is_null() {
            // SAFETY: the caller of this function promised that `count` is writable.
            unsafe { *count = u32::try_from(groups.len()).unwrap_or(u32::MAX) };
            return Ok(VkResult::VK_SUCCESS);
        }
        tell_trimming(
            "terminator_EnumeratePhysicalDeviceGroups",
            groups.len(),
            room as usize,
            &journal,
        );
        // SAFETY: the heads were read from this array, which has room for `*count` elements.
        Ok(unsafe { heads.answer(&groups, count, array) })
    });
    result.unwrap_or_else(|error| error)
}

fn no_groups(journal: &Journal<'_>) -> VkResult {
    journal.note(
        LogBits::ERROR,
        format_args!("{COMMAND}: no driver reports any device group"),
    );
    VkResult::VK_ERROR_INITIALIZATION_FAILED
}

/// Asks each driver for the number of its groups. A driver that fails or has no device is skipped (DRV-150).
fn sources<'a>(
    instance: &Instance,
    drivers: &[&'a InstanceDriver],
    devices: &[Device<'_>],
    journal: &mut Journal<'_>,
) -> Result<HostVec<GroupDriver<'a>>, VkResult> {
    let by_extension = instance
        .enabled
        .contains(InstanceExtension::VK_KHR_device_group_creation);
    let mut sources = HostVec::try_with_capacity(drivers.len(), scratch(instance))?;
    for &driver in drivers {
        let own = of_driver(devices, driver).count();
        if own == 0 {
            continue;
        }
        let table = &driver.table;
        let function = if by_extension {
            table.vkEnumeratePhysicalDeviceGroupsKHR
        } else {
            table.vkEnumeratePhysicalDeviceGroups
        };
        let mut count = u32::try_from(own).unwrap_or(u32::MAX);
        if let Some(function) = function {
            count = 0;
            let step = Step::Driver(driver.path()).begin(b"vkEnumeratePhysicalDeviceGroups");
            // SAFETY: function and instance belong to this driver, and the number is writable.
            let result = unsafe { function(driver.handle, &mut count, core::ptr::null_mut()) };
            step.end(result.0);
            match succeeds(result) {
                Ok(()) => count = count.min(MOST_OF_ONE_DRIVER),
                Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => return Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY),
                Err(_) => {
                    walk::fails(driver, DeviceReason::GroupsFailed("count"), journal);
                    continue;
                }
            }
        }
        sources.try_push(GroupDriver {
            driver,
            function,
            count,
        })?;
    }
    Ok(sources)
}

fn of_driver<'d, 'a>(devices: &'d [Device<'a>], driver: &'d InstanceDriver) -> impl Iterator<Item = &'d Device<'a>> {
    devices
        .iter()
        .filter(move |device| core::ptr::eq(device.driver, driver))
}

/// Asks each driver for its groups. The drivers receive the caller's chains in the order in which the loader asks them (DRV-152).
fn fill(
    instance: &Instance,
    sources: &[GroupDriver<'_>],
    devices: &[Device<'_>],
    heads: &ChainHeads,
    journal: &mut Journal<'_>,
) -> Result<HostVec<Group<Chain>>, VkResult> {
    let mut groups = HostVec::new(scratch(instance));
    for source in sources {
        match source.function {
            Some(function) => ask(instance, source, function, devices, heads, &mut groups, journal)?,
            None => {
                for device in of_driver(devices, source.driver) {
                    groups.try_push(single(device.chain, groups.len(), heads))?;
                }
            }
        }
    }
    if groups.is_empty() {
        Err(no_groups(journal))
    } else {
        Ok(groups)
    }
}

/// Returns a group with the single device of a driver without groups (APP-126).
fn single(device: PhysicalDeviceHandle<Chain>, element: usize, heads: &ChainHeads) -> Group<Chain> {
    let mut properties = heads.get(element).group::<Chain>();
    properties.physicalDeviceCount = 1;
    properties.physicalDevices[0] = device;
    Group { properties, element }
}

/// Adds the groups that one driver reports.
///
/// # Errors
/// The error code of the driver, which the caller gets too (DRV-151), or out of host memory.
fn ask(
    instance: &Instance,
    source: &GroupDriver<'_>,
    function: Enumerate,
    devices: &[Device<'_>],
    heads: &ChainHeads,
    groups: &mut HostVec<Group<Chain>>,
    journal: &mut Journal<'_>,
) -> Result<(), VkResult> {
    let (driver, room) = (source.driver, source.count);
    if room == 0 {
        return Ok(());
    }
    let first = groups.len();
    let mut reported = HostVec::new(scratch(instance));
    reported.try_fill_to(room as usize, ChainHead::INTERNAL.group::<Driver>())?;
    for (index, element) in reported.iter_mut().enumerate() {
        *element = heads.get(first + index).group();
    }
    let mut written = room;
    // SAFETY: function and instance belong to this driver, and the array has room for `written` elements.
    let result = unsafe { function(driver.handle, &mut written, reported.as_mut_ptr()) };
    if result != VkResult::VK_SUCCESS && result != VkResult::VK_INCOMPLETE {
        walk::fails(driver, DeviceReason::GroupsFailed("group information"), journal);
        return Err(failure(result));
    }
    reported.truncate(written.min(room) as usize);
    groups.try_reserve_exact(reported.len())?;
    let own = HostVec::try_from_iter(of_driver(devices, driver).map(|device| device.chain), scratch(instance))?;
    let places = Places::of(
        of_driver(devices, driver).map(|device| device.handle.raw().addr()),
        scratch(instance),
    )?;
    for (index, properties) in reported.iter().enumerate() {
        if has_left_out(properties, driver, &places) {
            continue;
        }
        let counterpart = |handle: PhysicalDeviceHandle<Driver>| {
            places
                .get(handle.raw().addr())
                .and_then(|at| own.get(at).copied())
                .ok_or_else(|| {
                    let name = driver.name();
                    journal.note(
                        LogBits::ERROR,
                        format_args!(
                            "{COMMAND}: ICD {name} reports a group with a physical device it does not enumerate"
                        ),
                    );
                    VkResult::VK_ERROR_INITIALIZATION_FAILED
                })
        };
        groups.try_push(Group {
            properties: translated(properties, counterpart)?,
            element: first + index,
        })?;
    }
    Ok(())
}

/// Returns `true` for a group of the service's driver with a device that an installed driver serves (LSV-68).
fn has_left_out(group: &VkPhysicalDeviceGroupProperties<Driver>, driver: &InstanceDriver, listed: &Places) -> bool {
    let is_left_out = |device: &PhysicalDeviceHandle<Driver>| listed.get(device.raw().addr()).is_none();
    driver.is_of_service && members(group).iter().any(is_left_out)
}

/// Removes hidden devices from their groups, so that each remaining device stays in one group (DRV-143a). Drops a group that becomes empty.
/// Records the hidden devices.
fn remove_unwished(
    instance: &Instance,
    groups: &mut HostVec<Group<Chain>>,
    devices: &[Device<'_>],
    journal: &Journal<'_>,
) -> Result<(), VkResult> {
    let hidden = devices.iter().filter(|device| device.wish == HIDDEN);
    let hidden = Places::of(hidden.map(|device| device.chain.raw().addr()), scratch(instance))?;
    let is_shown = |device: PhysicalDeviceHandle<Chain>| hidden.get(device.raw().addr()).is_none();
    let before = groups.len();
    let mut reduced = 0;
    groups.retain(|group| members(&group.properties).iter().any(|&device| is_shown(device)));
    for group in groups.iter_mut() {
        reduced += usize::from(keep_members(&mut group.properties, is_shown));
    }
    let dropped = before - groups.len();
    if dropped + reduced > 0 {
        let bits = LogBits::INFO | LogBits::DRIVER;
        let line = format_args!(
            "{COMMAND}: {dropped} groups have hidden devices only, and are not reported; {reduced} groups are reported \
             without their hidden devices"
        );
        journal.note(bits, line);
    }
    Ok(())
}

/// Drops the groups with a device that the settings file hides (DRV-156).
fn drop_hidden(
    instance: &Instance,
    groups: &mut HostVec<Group<Chain>>,
    devices: &[Device<'_>],
    journal: &mut Journal<'_>,
) -> Result<(), VkResult> {
    let Some(wanted) = configured::configurations(instance) else {
        return Ok(());
    };
    let selected = configured::select(instance, devices, wanted, journal)?;
    let shown = Places::of(
        selected.iter().map(|device| device.chain.raw().addr()),
        scratch(instance),
    )?;
    let is_hidden = |handle: &&PhysicalDeviceHandle<Chain>| shown.get(handle.raw().addr()).is_none();
    let mut number = 0;
    groups.retain(|group| {
        number += 1;
        let Some(hidden) = members(&group.properties).iter().find(is_hidden) else {
            return true;
        };
        let device = devices.iter().find(|device| device.chain.raw() == hidden.raw());
        let name = device
            .map(|device| facts::name_of(&facts::properties(device)))
            .unwrap_or_default();
        journal.decide(configured::hidden(&name, DeviceReason::GroupNotConfigured(number - 1)));
        false
    });
    Ok(())
}
