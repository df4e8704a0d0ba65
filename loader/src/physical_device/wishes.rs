//! Hides devices and orders the others, as a list of visible devices (DRV-143a) or `DRI_PRIME` (DRV-143b) requests.

use super::order::{Sorting, Traits};
use super::prime;
use super::walk::{Device, scratch};
use crate::alloc::{HostAllocator, HostVec};
use crate::generated::types::VkResult;
use crate::instance::{Instance, VisibleDevices};
use core::fmt::Formatter;
use discovery::env::device_select::{DeviceWords, Wanted, Word};
use discovery::env::{Environment, Variable};
use discovery::journal::reason::DeviceReason;
use discovery::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use discovery::text::Text;
use os::memory::OutOfMemory;
use os::{Raw, Show};
use promises::limits::MAX_VISIBLE_WORDS;

/// Value of [`Device::wish`] for a hidden device. For any other device, the value is the position of the word that selects the device in
/// the user's list of devices.
pub(super) const HIDDEN: usize = usize::MAX;

/// Upper bound on the number of words that select no device and are reported one by one.
const MOST_REPORTED: usize = 16;

const WARN: LogBits = LogBits::WARN.with(LogBits::DRIVER);

/// Returns the devices to show, in the order that the user wishes, or else in the given order.
///
/// # Errors
/// Out of host memory.
pub(super) fn shown<'a>(
    instance: &Instance,
    mut devices: HostVec<Device<'a>>,
    journal: &mut Journal<'_>,
) -> Result<HostVec<Device<'a>>, VkResult> {
    if !judge(instance, &mut devices, journal)? {
        return Ok(devices);
    }
    let mut shown = in_order(&devices, scratch(instance))?;
    shown.retain(|device| device.wish != HIDDEN);
    check_any(instance, !shown.is_empty())?;
    Ok(shown)
}

/// Checks that a device remains. Layers can handle the error that a machine without a device causes, but some of them do not expect an
/// empty list.
///
/// # Errors
/// Every device is hidden.
pub(super) fn check_any(instance: &Instance, any: bool) -> Result<(), VkResult> {
    if any {
        return Ok(());
    }
    if let Some(visible) = instance.visible() {
        visible.note_all_hidden();
    }
    Err(VkResult::VK_ERROR_INITIALIZATION_FAILED)
}

/// Returns the answer for the application if every device is hidden: an empty list with success, although the chain reports a failure in
/// this case. Returns `None` if the chain's answer remains.
pub(super) fn empty_answer(instance: &Instance, result: VkResult) -> Option<(u32, VkResult)> {
    let is_empty = instance.visible()?.takes_all_hidden() && result == VkResult::VK_ERROR_INITIALIZATION_FAILED;
    is_empty.then_some((0, VkResult::VK_SUCCESS))
}

/// Sets [`Device::wish`] of each device. Returns `true` if a variable or the settings file chose a device.
///
/// # Errors
/// Out of host memory.
pub(super) fn judge(
    instance: &Instance,
    devices: &mut [Device<'_>],
    journal: &mut Journal<'_>,
) -> Result<bool, VkResult> {
    let variable = match instance.visible() {
        Some(visible) => {
            judge_visible(instance, visible, devices, journal)?;
            visible.variable
        }
        None => {
            let Some(wanted) = prime::asked(instance) else {
                return Ok(false);
            };
            if !prime::judge(instance, &wanted, devices)? {
                return Ok(false);
            }
            Some(Variable::DriPrime)
        }
    };
    for device in devices.iter().filter(|device| device.wish == HIDDEN) {
        journal.decide(Decision {
            subject: Subject::PhysicalDevice,
            name: super::facts::name_of(&super::facts::properties(device)),
            path: Text::default(),
            verdict: Verdict::Dropped(Reason::from(DeviceReason::NotVisible(variable))),
            source: variable.map_or(Source::Settings, Source::Variable),
        });
    }
    Ok(true)
}

/// Returns a copy of `devices` in the order of [`Device::wish`]. Devices with the same value keep their order.
///
/// # Errors
/// Memory ran out.
pub(super) fn in_order<'a>(
    devices: &[Device<'a>],
    allocator: HostAllocator,
) -> Result<HostVec<Device<'a>>, OutOfMemory> {
    let places = devices.iter().enumerate().map(|(place, device)| (device.wish, place));
    let mut places = HostVec::try_from_iter(places, allocator)?;
    os::sort(&mut places);
    HostVec::try_from_iter(places.iter().map(|&(_, place)| devices[place]), allocator)
}

/// Returns the trace's word for the list or variable that chose the devices of an instance.
pub(super) fn rule(instance: &Instance) -> &'static str {
    match instance.visible() {
        Some(visible) if visible.variable.is_none() => "visible-in-file",
        Some(_) => "visible",
        None => "dri-prime",
    }
}

fn judge_visible(
    instance: &Instance,
    visible: &VisibleDevices,
    devices: &mut [Device<'_>],
    journal: &Journal<'_>,
) -> Result<(), VkResult> {
    let words = visible.words();
    let is_reported = visible.is_to_report();
    // The report names words that would choose a device, and these may contain the device's UUID.
    let with_uuid = words.asks_for_uuid() || is_reported;
    let mut all = HostVec::try_with_capacity(devices.len(), scratch(instance))?;
    for device in devices.iter() {
        all.try_push(Traits::of(instance, device, with_uuid)?)?;
    }
    let mut unmatched = 0;
    devices.iter_mut().for_each(|device| device.wish = HIDDEN);
    for (place, word) in words.words.iter().enumerate() {
        let mut any = false;
        if let Some(wanted) = word.wanted.as_ref().filter(|wanted| !is_ambiguous(wanted, &all)) {
            for (device, _) in devices.iter_mut().zip(&all).filter(|(_, traits)| traits.is(wanted)) {
                any = true;
                device.wish = device.wish.min(place);
            }
        }
        if !any {
            unmatched += 1;
            if is_reported && unmatched <= MOST_REPORTED {
                report(visible, word, &all, journal);
            }
        }
    }
    if is_reported {
        report_rest(visible, &words, unmatched, journal);
    }
    Ok(())
}

/// Returns `true` if several UUIDs begin with the digits of a word.
fn is_ambiguous(wanted: &Wanted, all: &[Traits]) -> bool {
    let Wanted::Uuid(beginning) = wanted else { return false };
    let mut found = all.iter().filter(|traits| traits.is(wanted)).map(Traits::uuid);
    let first = found.next();
    beginning.is_partial() && found.any(|uuid| Some(uuid) != first)
}

/// Reports a word that chooses no device, with the words that would choose one.
fn report(visible: &VisibleDevices, word: &Word, all: &[Traits], journal: &Journal<'_>) {
    let (name, text) = (visible.name(), Raw(&word.text));
    let would = Show(|out: &mut Formatter<'_>| {
        for (place, traits) in all.iter().take(MOST_REPORTED).enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(out, "{comma}{} ({})", traits.word(), traits.name())?;
        }
        Ok(())
    });
    let why = match &word.wanted {
        Some(wanted) if is_ambiguous(wanted, all) => "begins the UUIDs of several devices",
        Some(_) => "matches no device",
        None if word.is_number() => "is a number, and numbers mean other devices in other programs",
        None => "is no way to choose a device",
    };
    journal.note(WARN, format_args!("{name}: '{text}' {why}; these words would: {would}"));
}

/// Reports the number of words that were not reported one by one, or not read.
fn report_rest(visible: &VisibleDevices, words: &DeviceWords, unmatched: usize, journal: &Journal<'_>) {
    let name = visible.name();
    if unmatched > MOST_REPORTED {
        let more = unmatched - MOST_REPORTED;
        journal.note(WARN, format_args!("{name}: {more} more words choose no device"));
    }
    if words.truncated {
        journal.note(
            WARN,
            format_args!("{name}: only the first {MAX_VISIBLE_WORDS} words count"),
        );
    }
}

/// Returns `true` if `DRI_PRIME` may choose a device: no variable of the loader chooses a device, and Mesa's layer, which reads `DRI_PRIME`
/// too, is not active.
pub(super) fn is_left_to_mesa(instance: &Instance, environment: &Environment<'_>) -> bool {
    let has_layer = instance.layers().is_some_and(|layers| {
        let mut chain = layers.chain.iter();
        chain.any(|layer| layer.name.bytes() == b"VK_LAYER_MESA_device_select")
    });
    !has_layer && environment.get_non_empty(Variable::DeviceSelect).is_none() && Sorting::of(instance).is_some()
}
