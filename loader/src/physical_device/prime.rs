//! The device that `DRI_PRIME` requests (DRV-143b).

use super::facts::PciAddress;
use super::order::{Sorting, Traits};
use super::walk::{Device, scratch};
use super::wishes::{self, HIDDEN};
use crate::alloc::HostVec;
use crate::generated::types::VkResult;
use crate::instance::Instance;
use discovery::env::dri_prime::{DriPrime, Prime};
use discovery::env::{Environment, Variable};

/// Returns the device that `DRI_PRIME` requests, if the variable applies.
pub(super) fn asked(instance: &Instance) -> Option<DriPrime> {
    let environment = Environment::process();
    let value = environment.get_non_empty(Variable::DriPrime)?;
    let asked = DriPrime::parse(&value)?;
    wishes::is_left_to_mesa(instance, &environment).then_some(asked)
}

/// Sets [`Device::wish`] of each device as `DRI_PRIME` requests. If the requested device does not exist, returns `false` and changes
/// nothing.
///
/// # Errors
/// Out of host memory.
pub(super) fn judge(instance: &Instance, asked: &DriPrime, devices: &mut [Device<'_>]) -> Result<bool, VkResult> {
    let mut all = HostVec::try_with_capacity(devices.len(), scratch(instance))?;
    for device in devices.iter() {
        all.try_push(Traits::of(instance, device, false)?)?;
    }
    let order = Sorting::selecting(None).order(all.iter(), scratch(instance))?;
    let mut sorted = order.iter().map(|&(_, index)| index);
    let chosen = match &asked.wanted {
        Prime::Device(wanted) => sorted.find(|&index| all[index].is(wanted)),
        Prime::Other(number) => {
            let usual = usual(&all, sorted.clone());
            sorted
                .filter(|&index| Some(index) != usual && !all[index].is_processor())
                .nth(*number)
        }
    };
    let others = if asked.only { HIDDEN } else { 1 };
    if let Some(chosen) = chosen {
        for (index, device) in devices.iter_mut().enumerate() {
            device.wish = if index == chosen { 0 } else { others };
        }
    }
    Ok(chosen.is_some())
}

/// Returns the device of the graphics card that the firmware used, or else the first device that is not of the type CPU.
fn usual(all: &[Traits], mut sorted: impl Iterator<Item = usize> + Clone) -> Option<usize> {
    let of_firmware = sorted
        .clone()
        .find(|&index| all[index].place().is_some_and(is_of_firmware));
    of_firmware.or_else(|| sorted.find(|&index| !all[index].is_processor()))
}

/// Returns `true` if the firmware showed its own screen on the card at this address.
#[cfg(target_os = "linux")]
fn is_of_firmware([domain, bus, device, function]: PciAddress) -> bool {
    let place = format_args!("/sys/bus/pci/devices/{domain:04x}:{bus:02x}:{device:02x}.{function:x}/boot_vga");
    let mut room = [0; 2];
    os::with_terminated(&os::render(place), os::File::open_itself)
        .is_ok_and(|file| file.read(&mut room).is_ok() && room[0] == b'1')
}

/// Returns `false`, because only Linux reports the firmware's card.
#[cfg(not(target_os = "linux"))]
fn is_of_firmware(_: PciAddress) -> bool {
    false
}
