//! Devices that the settings file selects (APP-258 to APP-260, DRV-123).

use super::walk::{Device, scratch};
use super::{described, facts};
use crate::alloc::{HostAllocator, HostVec};
use crate::generated::types::VkResult;
use crate::instance::Instance;
use discovery::journal::reason::DeviceReason;
use discovery::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use discovery::settings::{DeviceConfiguration, uuid_text};
use discovery::text::Text;
use discovery::version::ApiVersion;
use os::memory::OutOfMemory;

/// Returns the selection of the settings file, if it has one; an empty selection hides all devices.
pub(super) fn configurations(instance: &Instance) -> Option<&[DeviceConfiguration]> {
    instance.device_configurations()
}

/// Properties that identify a device in a configuration, and the name by which messages refer to the device.
struct Identity {
    name: Text,
    api_version: ApiVersion,
    device_uuid: [u8; 16],
    driver_uuid: [u8; 16],
    driver_version: u32,
}

impl Identity {
    fn of(device: &Device<'_>) -> Self {
        let properties = facts::properties(device);
        let api_version = ApiVersion(properties.apiVersion);
        // A device of Vulkan 1.0 matches no configuration, and lacks the command that returns UUIDs.
        let (device_uuid, driver_uuid) = if api_version.without_patch() >= ApiVersion::V1_1 {
            facts::uuids(device)
        } else {
            Default::default()
        };
        Self {
            name: facts::name_of(&properties),
            api_version,
            device_uuid,
            driver_uuid,
            driver_version: properties.driverVersion,
        }
    }

    fn is(&self, wanted: &DeviceConfiguration) -> bool {
        self.api_version.without_patch() >= ApiVersion::V1_1
            && self.device_uuid == wanted.device_uuid
            && self.driver_uuid == wanted.driver_uuid
            && self.driver_version == wanted.driver_version
    }
}

/// Returns the index of the device for each configuration. A device serves one configuration only.
fn assign(
    identities: &[Identity],
    wanted: &[DeviceConfiguration],
    allocator: HostAllocator,
) -> Result<HostVec<Option<usize>>, OutOfMemory> {
    let mut assigned = HostVec::<Option<usize>>::try_with_capacity(wanted.len(), allocator)?;
    for configuration in wanted {
        let free = identities
            .iter()
            .enumerate()
            .position(|(index, identity)| identity.is(configuration) && !assigned.contains(&Some(index)));
        assigned.try_push(free)?;
    }
    Ok(assigned)
}

/// Returns the configured devices, in configured order.
///
/// # Errors
/// Out of host memory, or no configured device is present.
pub(super) fn select<'a>(
    instance: &Instance,
    devices: &[Device<'a>],
    wanted: &[DeviceConfiguration],
    journal: &mut Journal<'_>,
) -> Result<HostVec<Device<'a>>, VkResult> {
    let scratch = scratch(instance);
    let mut identities = HostVec::try_with_capacity(devices.len(), scratch)?;
    for device in devices {
        identities.try_push(Identity::of(device))?;
    }
    let assigned = assign(&identities, wanted, scratch)?;
    for (configuration, _) in wanted.iter().zip(&assigned).filter(|(_, found)| found.is_none()) {
        tell_absent(configuration, journal);
    }
    for (index, identity) in identities.iter().enumerate() {
        if !assigned.contains(&Some(index)) {
            journal.decide(hidden(&identity.name, DeviceReason::NotConfigured));
        }
    }
    let mut selected = HostVec::try_with_capacity(wanted.len(), scratch)?;
    for &index in assigned.iter().flatten() {
        selected.try_push(devices[index])?;
    }
    if selected.is_empty() {
        journal.note(
            LogBits::WARN,
            format_args!(
                "loader_apply_settings_device_configurations: None of the settings file device configurations had \
                 deviceUUID's that corresponded to enumerated VkPhysicalDevices. Returning \
                 VK_ERROR_INITIALIZATION_FAILED"
            ),
        );
        return Err(VkResult::VK_ERROR_INITIALIZATION_FAILED);
    }
    described::describe(selected.iter(), |_| "configured");
    Ok(selected)
}

/// Returns the decision to hide a device, or the group that contains it.
pub(super) fn hidden(name: &Text, reason: DeviceReason) -> Decision {
    Decision {
        subject: Subject::PhysicalDevice,
        name: name.clone(),
        path: Text::default(),
        verdict: Verdict::Dropped(Reason::from(reason)),
        source: Source::Settings,
    }
}

fn tell_absent(configuration: &DeviceConfiguration, journal: &Journal<'_>) {
    let DeviceConfiguration {
        device_uuid,
        driver_uuid,
        driver_version,
        device_name,
        driver_name,
    } = configuration;
    journal.note(
        LogBits::WARN,
        format_args!(
            "The physical device \"{device_name}\" of driver \"{driver_name}\" that the loader settings configure is \
             not present: deviceUUID {}, driverUUID {}, driverVersion {driver_version}",
            uuid_text(device_uuid),
            uuid_text(driver_uuid)
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use discovery::settings::ShortName;

    fn identity(device: u8, driver_version: u32, api_version: ApiVersion) -> Identity {
        Identity {
            name: Text::default(),
            api_version,
            device_uuid: [device; 16],
            driver_uuid: [9; 16],
            driver_version,
        }
    }

    fn wanted(device: u8, driver_version: u32) -> DeviceConfiguration {
        DeviceConfiguration {
            device_uuid: [device; 16],
            driver_uuid: [9; 16],
            driver_version,
            device_name: ShortName::default(),
            driver_name: ShortName::default(),
        }
    }

    fn assigned(identities: &[Identity], wanted: &[DeviceConfiguration]) -> Vec<Option<usize>> {
        assign(identities, wanted, HostAllocator::system())
            .expect("memory")
            .to_vec()
    }

    #[test]
    fn app_259_configured_order_counts() {
        let present = [1, 2, 3].map(|device| identity(device, 7, ApiVersion::V1_1));
        assert_eq!(
            assigned(&present, &[wanted(3, 7), wanted(5, 7), wanted(1, 7)]),
            [Some(2), None, Some(0)]
        );
    }

    #[test]
    fn app_259_all_three_values_must_match() {
        let present = [identity(1, 7, ApiVersion::V1_1)];
        let mut other_driver = wanted(1, 7);
        other_driver.driver_uuid = [8; 16];
        assert_eq!(
            assigned(&present, &[wanted(1, 8), wanted(2, 7), other_driver]),
            [None; 3]
        );
    }

    #[test]
    fn app_259_devices_below_1_1_never_match() {
        assert_eq!(assigned(&[identity(1, 7, ApiVersion::V1_0)], &[wanted(1, 7)]), [None]);
    }

    #[test]
    fn app_259_a_device_serves_one_configuration() {
        let twins = [identity(1, 7, ApiVersion::V1_1), identity(1, 7, ApiVersion::V1_1)];
        assert_eq!(
            assigned(&twins, &[wanted(1, 7), wanted(1, 7), wanted(1, 7)]),
            [Some(0), Some(1), None]
        );
    }
}
