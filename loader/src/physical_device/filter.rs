//! Filters that hide devices by their device ID, vendor ID or driver ID (DRV-132 to DRV-134, APP-120).
//!
//! The filters work above the layers: they compare the IDs that the chain reports for its own devices.

use super::facts::{self, zeroed};
use crate::generated::types::{VkPhysicalDeviceDriverProperties, VkPhysicalDeviceProperties};
use crate::handle::{Chain, PhysicalDeviceHandle};
use crate::instance::Instance;
use discovery::env::numbers::IdRanges;
use discovery::env::{Environment, Variable};
use discovery::journal::reason::DeviceReason;
use discovery::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use discovery::text::Text;
use promises::limits::MAX_ID_ITEMS;

/// Variables of the filters, in the order in which [`IdFilters::rejecting`] receives the IDs of a device.
const VARIABLES: [Variable; 3] = [
    Variable::DeviceIdFilter,
    Variable::VendorIdFilter,
    Variable::DriverIdFilter,
];
/// Index of the filter for driver IDs (`VkDriverId`) in [`VARIABLES`].
const DRIVER: usize = 2;

/// The filters, in the order of [`VARIABLES`]. At least one of the filters is set.
pub(super) struct IdFilters([IdRanges; 3]);

impl IdFilters {
    /// Reads the variables, which may have changed since the last call. `None` if no filter is set.
    pub(super) fn read(environment: &Environment<'_>, journal: &Journal<'_>) -> Option<Self> {
        let filters = VARIABLES.map(|variable| {
            let ranges = IdRanges::parse(&environment.get(variable).unwrap_or_default());
            if ranges.truncated {
                journal.note(
                    LogBits::WARN,
                    format_args!(
                        "{} has more than {MAX_ID_ITEMS} entries; those behind the first {MAX_ID_ITEMS} are ignored",
                        variable.name()
                    ),
                );
            }
            ranges
        });
        filters.iter().any(|ranges| !ranges.is_empty()).then_some(Self(filters))
    }

    /// Returns the first filter that hides a device with the IDs `ids`. An ID that is `None` does not pass a filter that is set.
    fn rejecting(&self, ids: [Option<u32>; 3]) -> Option<Variable> {
        self.0
            .iter()
            .zip(ids)
            .zip(VARIABLES)
            .find(|((ranges, id), _)| !ranges.is_empty() && !id.is_some_and(|id| ranges.accepts(id)))
            .map(|(_, variable)| variable)
    }

    /// Returns `true` if the filters show a device. Records a hidden device.
    pub(super) fn shows(
        &self,
        instance: &Instance,
        device: PhysicalDeviceHandle<Chain>,
        journal: &mut Journal<'_>,
    ) -> bool {
        let mut properties = zeroed!(VkPhysicalDeviceProperties);
        // SAFETY: the function is the chain's, its handle was just reported by the chain, and the structure is writable.
        unsafe { (instance.table().vkGetPhysicalDeviceProperties.get())(device, &mut properties) };
        // The query for the driver ID may log a warning if the driver is old. The loader therefore sends the query only if a filter needs
        // the driver ID.
        let driver = if self.0[DRIVER].is_empty() {
            None
        } else {
            driver_id(instance, device)
        };
        let Some(variable) = self.rejecting([Some(properties.deviceID), Some(properties.vendorID), driver]) else {
            return true;
        };
        journal.decide(Decision {
            subject: Subject::PhysicalDevice,
            name: facts::name_of(&properties),
            path: Text::default(),
            verdict: Verdict::Dropped(Reason::from(DeviceReason::IdFilter(variable))),
            source: Source::Variable(variable),
        });
        false
    }
}

/// Returns `VkPhysicalDeviceDriverProperties::driverID`, if the instance can query it and the driver answers (DRV-133).
fn driver_id(instance: &Instance, device: PhysicalDeviceHandle<Chain>) -> Option<u32> {
    let table = instance.table();
    let get = if facts::properties2_is_core(instance)? {
        table.vkGetPhysicalDeviceProperties2.get()
    } else {
        table.vkGetPhysicalDeviceProperties2KHR.get()
    };
    let mut info = zeroed!(VkPhysicalDeviceDriverProperties);
    info.sType = VkPhysicalDeviceDriverProperties::STRUCTURE_TYPE;
    let mut asked = facts::properties2((&raw mut info).cast());
    // SAFETY: the version or the enabled extension makes the chain's function available; the chain has just reported the handle, and both
    // structures are writable.
    unsafe { get(device, &mut asked) };
    // No driver has the driver ID 0, so 0 means that the driver did not fill the structure.
    u32::try_from(info.driverID.0).ok().filter(|&id| id != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fixed;
    use crate::testing::Lines;

    fn filters(values: &[(&str, &str)], lines: &Lines) -> Option<IdFilters> {
        let source = Fixed::new(values);
        IdFilters::read(&Environment::new(&source), &Journal::new(lines))
    }

    #[test]
    fn drv_133_nothing_set_filters_nothing() {
        let lines = Lines::default();
        assert!(filters(&[], &lines).is_none());
        assert!(
            filters(
                &[("VK_LOADER_DEVICE_ID_FILTER", ""), ("VK_LOADER_DRIVER_ID_FILTER", ",,")],
                &lines
            )
            .is_none()
        );
        assert!(lines.take().is_empty());
    }

    #[test]
    fn drv_133_each_filter_that_is_set_must_match() {
        let lines = Lines::default();
        let set = [
            ("VK_LOADER_DEVICE_ID_FILTER", "1:5"),
            ("VK_LOADER_VENDOR_ID_FILTER", "0x10de,0x1002"),
        ];
        let filters = filters(&set, &lines).expect("set");
        let rejecting = |device, vendor| filters.rejecting([Some(device), Some(vendor), None]);
        assert_eq!(rejecting(3, 0x1002), None);
        assert_eq!(rejecting(6, 0x1002), Some(Variable::DeviceIdFilter));
        assert_eq!(rejecting(3, 0x8086), Some(Variable::VendorIdFilter));
    }

    #[test]
    fn drv_133_an_unknown_driver_fails_the_driver_filter() {
        let filters = filters(&[("VK_LOADER_DRIVER_ID_FILTER", "0:100")], &Lines::default()).expect("set");
        assert_eq!(
            filters.rejecting([Some(1), Some(1), None]),
            Some(Variable::DriverIdFilter)
        );
        assert_eq!(filters.rejecting([Some(1), Some(1), Some(4)]), None);
    }

    #[test]
    fn drv_132_too_many_entries_are_told() {
        let lines = Lines::default();
        let value = vec!["1"; MAX_ID_ITEMS + 1].join(",");
        assert!(filters(&[("VK_LOADER_VENDOR_ID_FILTER", &value)], &lines).is_some());
        let text = "VK_LOADER_VENDOR_ID_FILTER has more than 16 entries; those behind the first 16 are ignored";
        assert_eq!(lines.take(), [(LogBits::WARN, text.to_owned())]);
    }
}
