//! Order of devices if no adapter enumeration of the system orders them (DRV-137 to DRV-143).

use super::described;
use super::facts::{self, PciAddress};
use super::walk::{Device, scratch};
use super::wishes;
use crate::alloc::{HostAllocator, HostVec};
use crate::generated::types::{VkPhysicalDeviceType, VkResult};
use crate::instance::Instance;
use core::fmt::{Display, Formatter};
use core::sync::atomic::Ordering;
use discovery::env::device_select::{DeviceWords, MOST, Wanted, lower_case};
use discovery::env::{Environment, Variable};
use discovery::journal::{Journal, LogBits};
use discovery::settings::uuid_text;
use discovery::text::{Text, file_name};
use os::memory::OutOfMemory;
use os::{Raw, Show};
use rust_alloc::vec::Vec;

const TOLD: LogBits = LogBits::INFO.with(LogBits::DRIVER);

/// Properties of a device on which the order depends.
#[derive(Clone)]
pub(super) struct Traits {
    /// Name of the device.
    pub(super) name: Text,
    vendor_id: u32,
    device_id: u32,
    kind: VkPhysicalDeviceType,
    pci: Option<PciAddress>,
    /// UUID of the device, if the selection needs it.
    uuid: Option<[u8; 16]>,
    /// File name of the driver, in lower case.
    driver: Text,
    /// Position of the device in the user's list of requested devices.
    wish: usize,
}

/// Sort criteria, most important first (DRV-139). The derived comparison makes the ranks a total order (DRV-142).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Index of the word of `VK_LOADER_DEVICE_SELECT` that chose this device as the default; the maximum for all other devices.
    preference: usize,
    wish: usize,
    kind: usize,
    without_pci: bool,
    pci: PciAddress,
    ids: u32,
}

impl Rank {
    /// Rank after the ranks of all devices.
    pub(super) const LAST: Self = Self {
        preference: usize::MAX,
        wish: usize::MAX,
        kind: usize::MAX,
        without_pci: true,
        pci: [u32::MAX; 4],
        ids: u32::MAX,
    };
}

/// Types of devices, best first. Types that are missing here come last.
const KINDS: [VkPhysicalDeviceType; 5] = [
    VkPhysicalDeviceType::VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
    VkPhysicalDeviceType::VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
    VkPhysicalDeviceType::VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU,
    VkPhysicalDeviceType::VK_PHYSICAL_DEVICE_TYPE_OTHER,
    VkPhysicalDeviceType::VK_PHYSICAL_DEVICE_TYPE_CPU,
];

impl Traits {
    /// Reads the traits of a device from the device's driver.
    ///
    /// # Errors
    /// Out of host memory.
    #[inline(never)]
    pub(super) fn of(instance: &Instance, device: &Device<'_>, with_uuid: bool) -> Result<Self, VkResult> {
        let properties = facts::properties(device);
        let uuids = with_uuid.then(|| facts::uuids_by_any(device)).flatten();
        Ok(Self {
            uuid: uuids.map(|(own, _)| own),
            wish: device.wish,
            driver: lower_case(file_name(device.driver.path())).into(),
            name: facts::name_of(&properties),
            vendor_id: properties.vendorID,
            device_id: properties.deviceID,
            kind: properties.deviceType,
            pci: facts::pci_address(instance, device, &properties)?,
        })
    }

    /// Returns the name of the device.
    pub(super) fn name(&self) -> Raw<'_> {
        Raw(&self.name)
    }

    /// Returns the UUID of the device, if it was requested and is known.
    pub(super) fn uuid(&self) -> Option<[u8; 16]> {
        self.uuid
    }

    /// Returns the address of the device on the PCI bus.
    pub(super) fn place(&self) -> Option<PciAddress> {
        self.pci
    }

    /// Returns `true` if the device has the type `VK_PHYSICAL_DEVICE_TYPE_CPU`.
    pub(super) fn is_processor(&self) -> bool {
        self.kind == VkPhysicalDeviceType::VK_PHYSICAL_DEVICE_TYPE_CPU
    }

    /// Returns `true` if another driver reports the same device: at the same address on the PCI bus, or with the same vendor number, device
    /// number and UUID. Two software drivers with the same vendor and device numbers also count as one device.
    // If the compiler inlined this function, the caller would copy all properties.
    #[inline(never)]
    pub(super) fn is_same_device(&self, other: &Self) -> bool {
        let has_same_numbers = (self.vendor_id, self.device_id) == (other.vendor_id, other.device_id);
        let has_same_uuid = self.uuid == other.uuid && self.uuid.is_some_and(|uuid| uuid != [0; 16]);
        let is_same_processor = self.is_processor() && other.is_processor();
        self.pci.is_some() && self.pci == other.pci || has_same_numbers && (has_same_uuid || is_same_processor)
    }

    /// Returns a word with which a user can choose the device, for messages.
    pub(super) fn word(&self) -> impl Display + '_ {
        Show(|out: &mut Formatter<'_>| match (self.pci, self.uuid) {
            (Some([domain, bus, device, function]), _) => {
                write!(out, "pci:{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
            }
            (None, Some(uuid)) => write!(out, "GPU-{}", uuid_text(&uuid)),
            (None, None) => write!(out, "{:x}:{:x}", self.vendor_id, self.device_id),
        })
    }

    /// Returns `true` if a word selects the device.
    pub(super) fn is(&self, wanted: &Wanted) -> bool {
        match wanted {
            Wanted::Numbers(vendor, device) => (self.vendor_id, self.device_id) == (*vendor, *device),
            Wanted::Pci(address) => self.pci == Some(*address),
            Wanted::Uuid(beginning) => self.uuid.is_some_and(|own| beginning.begins(&own)),
            Wanted::Type(word) => described::type_word(self.kind) == *word,
            // The word is empty if there was no memory for it.
            Wanted::Driver(part) => !part.is_empty() && self.driver.windows(part.len()).any(|found| found == part),
            Wanted::Name(pattern) => pattern.matches(&self.name),
        }
    }

    fn rank(&self, preference: Option<usize>) -> Rank {
        Rank {
            preference: preference.unwrap_or(usize::MAX),
            wish: self.wish,
            kind: KINDS.iter().position(|&kind| kind == self.kind).unwrap_or(KINDS.len()),
            without_pci: self.pci.is_none(),
            pci: self.pci.unwrap_or_default(),
            ids: self.device_id ^ self.vendor_id,
        }
    }
}

impl Rank {
    /// Returns `true` if `VK_LOADER_DEVICE_SELECT` chose the device.
    pub(super) fn is_default(&self) -> bool {
        self.preference != usize::MAX
    }

    /// Returns the first criterion that distinguishes two devices, as the word that stands for it in a trace. `wished_by` is the word for
    /// the list or variable that states the user's wishes.
    fn criterion(&self, other: &Self, wished_by: &'static str) -> &'static str {
        let criteria = [
            (self.preference != other.preference, "selected"),
            (self.wish != other.wish, wished_by),
            (self.kind != other.kind, "type"),
            (self.without_pci != other.without_pci, "has-pci-address"),
            (self.pci != other.pci, "pci-address"),
            (self.ids != other.ids, "ids"),
        ];
        let differs = criteria.iter().find(|(differs, _)| *differs);
        differs.map_or("reported", |(_, word)| word)
    }

    /// Returns the mark that the log prints after the device's name.
    pub(super) fn mark(&self) -> &'static str {
        if self.is_default() { "[default]" } else { "" }
    }
}

/// Sort order of an instance's devices.
pub(super) struct Sorting {
    /// Value of `VK_LOADER_DEVICE_SELECT`.
    value: Option<Vec<u8>>,
    /// Words of this value, which select the default device (DRV-140).
    select: DeviceWords,
}

impl Sorting {
    /// Returns the sort order; `None` if devices stay as the drivers report them (DRV-137).
    pub(super) fn of(instance: &Instance) -> Option<Self> {
        let environment = Environment::process();
        let able = instance.supports_properties2.load(Ordering::Relaxed) != 0;
        let sorts = os::SORTED_BY_PROPERTIES && able && !environment.is_non_zero(Variable::DisableSelect);
        sorts.then(|| Self::selecting(environment.get(Variable::DeviceSelect)))
    }

    /// Returns the sort order if `VK_LOADER_DEVICE_SELECT` has the value `value`.
    pub(super) fn selecting(value: Option<Vec<u8>>) -> Self {
        let select = value.as_deref().map(DeviceWords::select).unwrap_or_default();
        Self { value, select }
    }

    /// Returns `true` if the order depends on UUIDs.
    pub(super) fn asks_for_uuid(&self) -> bool {
        self.select.asks_for_uuid()
    }

    /// Warns about words of `VK_LOADER_DEVICE_SELECT` that are invalid, or too many to be read.
    pub(super) fn warn(&self, journal: &Journal<'_>) {
        for word in self.select.words.iter().filter(|word| word.wanted.is_none()) {
            journal.note(
                LogBits::WARN | LogBits::DRIVER,
                format_args!(
                    "{}: '{}' is no way to choose a device, and is ignored",
                    Variable::DeviceSelect.name(),
                    Raw(&word.text)
                ),
            );
        }
        if self.select.truncated {
            journal.note(
                LogBits::WARN | LogBits::DRIVER,
                format_args!("{}: only the first {MOST} items count", Variable::DeviceSelect.name()),
            );
        }
    }

    /// Logs the selected device and its index in the unsorted list (DRV-141).
    pub(super) fn tell<'a>(
        &self,
        order: &[(Rank, usize)],
        name: impl Fn(usize) -> Option<Raw<'a>>,
        journal: &Journal<'_>,
    ) {
        const FUNCTION: &str = "linux_env_var_default_device:";
        let Some(value) = &self.value else { return };
        journal.note(
            LogBits::DEBUG | LogBits::DRIVER,
            format_args!(
                "{FUNCTION}  Found '{}' set to {}",
                Variable::DeviceSelect.name(),
                Raw(value)
            ),
        );
        let default = order.iter().find(|(rank, _)| rank.is_default());
        if let Some((index, name)) = default.and_then(|&(_, index)| Some((index, name(index)?))) {
            journal.note(
                TOLD,
                format_args!("{FUNCTION}  Found default at index {index} '{name}'"),
            );
        }
    }

    /// Returns the new order of `all`: the rank and the old index for each position. The first selected device is the default (DRV-140),
    /// and equal devices keep their order (DRV-139).
    pub(super) fn order<'a>(
        &self,
        all: impl Iterator<Item = &'a Traits> + Clone,
        allocator: HostAllocator,
    ) -> Result<HostVec<(Rank, usize)>, OutOfMemory> {
        let mut wanted = self.select.wanted();
        let default = wanted.find_map(|(preference, wanted)| {
            let index = all.clone().position(|traits| traits.is(wanted))?;
            Some((index, preference))
        });
        let ranked = all.enumerate().map(|(index, traits)| {
            let preference = default.and_then(|(chosen, preference)| (chosen == index).then_some(preference));
            (traits.rank(preference), index)
        });
        let mut order = HostVec::try_from_iter(ranked, allocator)?;
        // The index makes all elements different, so the result is that of a stable sort.
        os::sort(&mut order);
        Ok(order)
    }
}

/// Sorts the devices that the drivers reported, if this instance sorts them.
///
/// # Errors
/// Out of host memory.
pub(super) fn sort<'a>(
    instance: &Instance,
    devices: HostVec<Device<'a>>,
    journal: &Journal<'_>,
) -> Result<HostVec<Device<'a>>, VkResult> {
    let Some(sorting) = Sorting::of(instance) else {
        described::describe(devices.iter(), |_| match instance.visible() {
            Some(_) => wishes::rule(instance),
            None if os::SORTED_BY_ADAPTERS => "adapter",
            None => "reported",
        });
        return Ok(devices);
    };
    sorting.warn(journal);
    let scratch = scratch(instance);
    let mut all = HostVec::try_with_capacity(devices.len(), scratch)?;
    for device in &devices {
        all.try_push(Traits::of(instance, device, sorting.asks_for_uuid())?)?;
    }
    let order = sorting.order(all.iter(), scratch)?;
    journal.note(TOLD, format_args!("linux_read_sorted_physical_devices:"));
    journal.note(TOLD, format_args!("     Original order:"));
    for (index, traits) in all.iter().enumerate() {
        journal.note(TOLD, format_args!("           [{index}] {}", traits.name()));
    }
    sorting.tell(&order, |index| all.get(index).map(Traits::name), journal);
    journal.note(TOLD, format_args!("     Sorted order:"));
    for (place, (rank, index)) in order.iter().enumerate() {
        journal.note(
            TOLD,
            format_args!("           [{place}] {}  {}", all[*index].name(), rank.mark()),
        );
    }
    // The rule of a device is the criterion that puts it before the next one; for the last device, the criterion that puts it after the
    // previous one.
    described::describe(order.iter().map(|&(_, index)| &devices[index]), |place| {
        let neighbour = order.get(place + 1).or_else(|| order.get(place.wrapping_sub(1)));
        neighbour.map_or("only", |(other, _)| {
            order[place].0.criterion(other, wishes::rule(instance))
        })
    });
    Ok(HostVec::try_from_iter(
        order.iter().map(|&(_, index)| devices[index]),
        scratch,
    )?)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a device of a type (by its number), at an address on the bus, with a device number.
    pub(in crate::physical_device) fn traits(kind: i32, pci: Option<PciAddress>, device_id: u32) -> Traits {
        Traits {
            name: Text::from("device"),
            vendor_id: 0x10,
            device_id,
            kind: VkPhysicalDeviceType(kind),
            pci,
            uuid: Some([0xAB; 16]),
            wish: 0,
            driver: Text::from("libvulkan_mock.so"),
        }
    }

    fn order(select: &str, all: &[Traits]) -> Vec<usize> {
        let sorting = Sorting::selecting(Some(select.into()));
        let order = sorting.order(all.iter(), HostAllocator::system()).expect("memory");
        order.iter().map(|(_, index)| *index).collect()
    }

    #[test]
    fn drv_139_types_in_the_documented_order() {
        let all = [99, 4, 0, 3, 1, 2, -1].map(|kind| traits(kind, None, 0));
        assert_eq!(order("", &all), [5, 4, 3, 2, 1, 0, 6]);
    }

    #[test]
    fn drv_143a_wishes_count_before_types_and_after_the_selected_device() {
        let mut all = [traits(4, None, 1), traits(2, None, 2), traits(2, None, 3)];
        all[1].wish = 2;
        all[2].wish = 1;
        assert_eq!(order("", &all), [0, 2, 1]);
        assert_eq!(order("10:2", &all), [1, 0, 2]);
    }

    #[test]
    fn drv_139_type_counts_more_than_bus() {
        let all = [traits(1, Some([0, 0, 0, 0]), 0), traits(2, None, 0)];
        assert_eq!(order("", &all), [1, 0]);
    }

    #[test]
    fn drv_139_bus_places_ascend_and_come_before_none() {
        let at = |place| traits(2, Some(place), 0);
        let all = [
            traits(2, None, 0),
            at([1, 0, 0, 0]),
            at([0, 2, 0, 0]),
            at([0, 1, 3, 1]),
            at([0, 1, 3, 0]),
            at([0, 1, 2, 7]),
        ];
        assert_eq!(order("", &all), [5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn drv_139_numbers_decide_last_and_are_unsigned() {
        let all = [0xF000_0010, 0x13, 0x12].map(|device_id| traits(2, None, device_id));
        // Devices are sorted by the exclusive or of vendor and device number: here 0xF0000000, 3 and 2, because the vendor is 0x10.
        assert_eq!(order("", &all), [2, 1, 0]);
    }

    #[test]
    fn drv_139_equal_devices_stay_as_they_are() {
        let all = [1, 1, 1, 1].map(|device_id| traits(2, Some([0; 4]), device_id));
        assert_eq!(order("", &all), [0, 1, 2, 3]);
    }

    #[test]
    fn each_word_chooses_and_the_first_that_fits_wins() {
        let mut all = [
            traits(2, None, 0x20),
            traits(4, Some([1, 2, 3, 4]), 0x30),
            traits(2, None, 0x11),
        ];
        all[0].name = Text::from("other");
        all[0].uuid = None;
        all[2].driver = Text::from("libvulkan_radeon.so");
        for (select, first) in [
            ("pci:1:2:3.4", 1),
            ("uuid:ABABABABABABABABABABABABABABABAB", 1),
            ("type:cpu", 1),
            ("driver:RADEON", 2),
            ("name:OTH*", 0),
            ("name:*vic*", 1),
            ("type:integrated,nonsense,10:20", 0),
            ("type:virtual,driver:radeon,type:cpu", 2),
        ] {
            assert_eq!(order(select, &all)[0], first, "{select}");
        }
    }

    #[test]
    fn drv_140_only_the_first_match_moves_to_the_front() {
        let all = [
            traits(2, None, 0x20),
            traits(4, None, 0x30),
            traits(2, None, 0x11),
            traits(4, None, 0x30),
        ];
        assert_eq!(order("0x10:0x30", &all), [1, 2, 0, 3]);
        assert_eq!(
            order("0x10:0x31", &all),
            [2, 0, 1, 3],
            "an unmatched value changes nothing"
        );
        assert_eq!(order("10-30", &all), [2, 0, 1, 3], "a malformed value changes nothing");
    }
}
