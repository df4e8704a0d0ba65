//! Devices that a driver of the service reports, and that an installed driver serves already (LSV-68).

use super::order::Traits;
use super::walk::Device;
use crate::alloc::HostVec;
use crate::generated::types::VkResult;
use crate::instance::Instance;
use discovery::journal::reason::DeviceReason;
use discovery::journal::{Decision, Journal, Reason, Source, Subject, Verdict};
use discovery::text::Text;

/// Removes the devices of the service's drivers that another driver reports too. Makes no query if no driver comes from the service.
///
/// # Errors
/// Out of host memory.
#[inline]
pub(super) fn drop_served(
    instance: &Instance,
    found: &mut HostVec<Device<'_>>,
    journal: &mut Journal<'_>,
) -> Result<(), VkResult> {
    if cfg!(feature = "service") && found.iter().any(|device| device.driver.is_of_service) {
        return drop_repeated(instance, found, journal);
    }
    Ok(())
}

/// Removes the devices of the service's drivers that another driver reports too.
#[cold]
#[inline(never)]
fn drop_repeated(
    instance: &Instance,
    found: &mut HostVec<Device<'_>>,
    journal: &mut Journal<'_>,
) -> Result<(), VkResult> {
    let mut index = 0;
    while index < found.len() {
        match name_of_served(instance, found, index)? {
            None => index += 1,
            Some(name) => {
                journal.decide(Decision {
                    subject: Subject::PhysicalDevice,
                    name,
                    path: Text::default(),
                    verdict: Verdict::Dropped(Reason::from(DeviceReason::Served)),
                    source: Source::Service,
                });
                found.remove(index);
            }
        }
    }
    Ok(())
}

/// Returns the name of a device that comes from the service, if an installed driver reports the same device.
fn name_of_served(instance: &Instance, found: &[Device<'_>], index: usize) -> Result<Option<Text>, VkResult> {
    let Some(device) = found.get(index).filter(|device| device.driver.is_of_service) else {
        return Ok(None);
    };
    let traits = Traits::of(instance, device, true)?;
    for other in found.iter().filter(|other| !other.driver.is_of_service) {
        if Traits::of(instance, other, true)?.is_same_device(&traits) {
            return Ok(Some(traits.name));
        }
    }
    Ok(None)
}
