//! Comparison of a record with the driver, after the driver is opened (DRV-285).

use super::open::Opened;
use super::{Device, Sleeper, ask};
use crate::generated::dispatch::DriverTable;
use crate::generated::types::{VkPhysicalDeviceGroupProperties, VkResult};
use crate::handle::{Driver, PhysicalDeviceHandle};
use crate::table::Slots as _;
use crate::unopened::catalogue;
use core::sync::atomic::Ordering;
use discovery::journal::{Journal, LogBits};
use record::{Answer, DRIVER, Key, Query, Record};

/// Bytes of `VkPhysicalDeviceProperties` that identify a device without UUIDs: its vendor and device numbers, its type and its name.
const NUMBERS: core::ops::Range<usize> = 8..276;

/// Returns `true` if a device of the driver is the recorded one, by its UUIDs. For a driver without UUIDs, or without a command for them,
/// compares the numbers and the name of the device.
pub(super) fn is_device(device: &Device, opened: &Opened, handle: PhysicalDeviceHandle<Driver>) -> bool {
    let Some(record) = device.sleeper().closed.record() else {
        return false;
    };
    let key = device.key(Query::Properties).with(record::IDENTITY);
    if let Some((_, answer)) = record.answer(key)
        && answer.has_content()
        && ask::has_properties2(&opened.table)
    {
        return ask::agrees(opened, handle, key, answer);
    }
    let Some((_, answer)) = record.answer(device.key(Query::Properties)) else {
        return false;
    };
    let mut known = [0_u8; 2048];
    let Some(get) = opened.table.vkGetPhysicalDeviceProperties else {
        return false;
    };
    let mut found = [0_u64; 256];
    // SAFETY: function and device belong to this driver, and the memory is larger than the structure.
    unsafe { get(handle, found.as_mut_ptr().cast()) };
    let mut is_one = true;
    let _ = answer.write(&mut known);
    for (at, word) in found.iter().enumerate() {
        for (byte, now) in word.to_ne_bytes().into_iter().enumerate() {
            let at = at * 8 + byte;
            // Only the bytes in `NUMBERS` identify the device; the others need not match.
            is_one &= !NUMBERS.contains(&at) || known.get(at) == Some(&now);
        }
    }
    is_one
}

/// Compares the rows that served as answers with the answers of the opened driver. Logs the first difference, after which the entry is no
/// longer used.
pub(super) fn all(sleeper: &Sleeper, journal: &Journal<'_>) {
    let (Some(opened), Some(record)) = (sleeper.opened(), sleeper.closed.record()) else {
        return;
    };
    let what = if !opened.lists_recorded {
        Some("other devices")
    } else if !commands_agree(sleeper, opened, record) {
        Some("other commands")
    } else {
        differing(sleeper, opened, record)
    };
    if let Some(what) = what {
        journal.note(
            LogBits::WARN | LogBits::DRIVER,
            format_args!("Answers before the driver was opened came from the record, which is wrong"),
        );
        catalogue::contradict_record(sleeper.closed.known, &opened.path, what, journal);
    }
}

/// Returns a description of the first row that served as an answer and that the driver does not confirm.
pub(super) fn differing(sleeper: &Sleeper, opened: &Opened, record: Record<'_>) -> Option<&'static str> {
    let words = sleeper.answered.iter().map(|word| word.load(Ordering::SeqCst));
    let rows = words.enumerate().flat_map(|(word, bits)| {
        let bits = (0..32).filter(move |bit| bits & (1 << bit) != 0);
        bits.map(move |bit| word * 32 + bit)
    });
    rows.filter_map(|row| record.row(row))
        .find_map(|(key, value)| difference(sleeper, (opened, record), key, value))
}

/// Returns `true` if the driver's instance has each command that every recorded instance had, and lacks each command that every recorded
/// instance lacked. Commands of extensions need not agree, because the record does not say which extension makes a command available.
fn commands_agree(sleeper: &Sleeper, opened: &Opened, record: Record<'_>) -> bool {
    let agrees = |(slot, command): (usize, &u16)| {
        let recorded = record.has_command(sleeper.request.minor(), *command, || None);
        recorded.is_none_or(|recorded| recorded == opened.table.get(slot).is_some())
    };
    DriverTable::rows().iter().enumerate().all(agrees)
}

/// Returns `false` if the key is that of the first queue family, whose row stands for the number of families, and the driver has a
/// different number of families. Returns `true` otherwise.
fn families_agree(record: Record<'_>, (key, opened): (Key, &Opened), handle: PhysicalDeviceHandle<Driver>) -> bool {
    let is_first = (key.index, key.kind) == (0, 0);
    !is_first || ask::families(&opened.table, handle) == Some(record.families(key.device))
}

/// Returns `true` if the driver lists the recorded groups in the same order, or if there is no memory for the driver's list.
fn groups_agree(sleeper: &Sleeper, opened: &Opened, record: Record<'_>) -> bool {
    let groups = match ask::groups(opened) {
        Ok(groups) => groups,
        Err(result) => return result == VkResult::VK_ERROR_OUT_OF_HOST_MEMORY,
    };
    let is_same = |(group, recorded): (&VkPhysicalDeviceGroupProperties<Driver>, &[u8])| {
        let Some((subset, numbers)) = recorded.split_first() else {
            return false;
        };
        let devices = group.physicalDevices.iter().take(group.physicalDeviceCount as usize);
        let known = numbers
            .iter()
            .map(|number| sleeper.devices.get(usize::from(*number))?.real());
        (group.subsetAllocation != 0) == (*subset != 0) && devices.map(|device| Some(*device)).eq(known)
    };
    let first = Key::of(DRIVER, Query::Group);
    groups.len() == record.each(first).count() && groups.iter().zip(record.each(first)).all(is_same)
}

/// Returns a description of a row of the record if the opened driver answers differently; `None` if the driver confirms the row.
fn difference(
    sleeper: &Sleeper,
    (opened, record): (&Opened, Record<'_>),
    key: Key,
    value: &[u8],
) -> Option<&'static str> {
    if key.device == DRIVER {
        let is_group = key.query == Query::Group as u16;
        return (is_group && !groups_agree(sleeper, opened, record)).then_some("other groups");
    }
    let handle = sleeper.devices.get(usize::from(key.device))?.real()?;
    let answered = |word| {
        let answer = Answer::read(value);
        let agrees = answer.is_some_and(|answer| ask::agrees(opened, handle, key, answer));
        (!agrees).then_some(word)
    };
    match key.query {
        query if query == Query::Extensions as u16 => {
            (!ask::lists(opened, handle, value)).then_some("other device extensions")
        }
        query if query == Query::NoTools as u16 => ask::has_tools(&opened.table, handle).then_some("other tools"),
        query if query == Query::Properties as u16 => answered("other device properties"),
        query if query == Query::Features as u16 => answered("other device features"),
        query if query == Query::Memory as u16 => answered("other memory"),
        query if query == Query::QueueFamilies as u16 => {
            let is_other = !families_agree(record, (key, opened), handle);
            is_other
                .then_some("other queue families")
                .or_else(|| answered("other queue families"))
        }
        _ => answered("other formats"),
    }
}
