//! Devices that a driver of the service reports, and that an installed driver serves already (LSV-68).

use super::facts;
use super::order::Traits;
use super::walk::{Device, scratch};
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
pub(super) fn drop_served(
    instance: &Instance,
    found: &mut HostVec<Device<'_>>,
    journal: &mut Journal<'_>,
) -> Result<(), VkResult> {
    if !cfg!(feature = "service") || !found.iter().any(|device| device.driver.is_of_service) {
        return Ok(());
    }
    let mut installed = HostVec::new(scratch(instance));
    for device in found.iter().filter(|device| !device.driver.is_of_service) {
        installed.try_push(Traits::of(instance, device, true)?)?;
    }
    let mut kept = HostVec::try_with_capacity(found.len(), scratch(instance))?;
    for &device in found.iter() {
        let is_served = device.driver.is_of_service && {
            let traits = Traits::of(instance, &device, true)?;
            installed.iter().any(|other| traits.is_same_device(other))
        };
        if is_served {
            journal.decide(Decision {
                subject: Subject::PhysicalDevice,
                name: facts::name_of(&facts::properties(&device)),
                path: Text::default(),
                verdict: Verdict::Dropped(Reason::from(DeviceReason::Served)),
                source: Source::Service,
            })
        } else {
            kept.try_push(device)?
        }
    }
    *found = kept;
    Ok(())
}
