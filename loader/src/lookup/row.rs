//! What is known of a command.

use super::hash;
use super::index::INDEX;
use crate::generated::lookup::{FACTS, PARAMETERS, ROW_COUNT, functions};
use core::ffi::CStr;
use discovery::extension::{DeviceExtension, DeviceExtensionSet, InstanceExtension, InstanceExtensionSet};
use discovery::version::ApiVersion;

/// A function of any type.
pub(crate) type Function = unsafe extern "system" fn();

/// The object a command is dispatched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// None: callable before an instance exists.
    Global,
    /// An instance.
    Instance,
    /// A physical device.
    PhysicalDevice,
    /// A device, or an object that descends from one.
    Device,
}

/// When the instance-level lookup finds a command (APP-27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Always.
    Always,
    /// If one of these extensions is enabled.
    Instance(InstanceExtensionSet),
}

impl Gate {
    /// The gate of what needs one of these extensions, if any.
    pub(crate) const fn any_of(extensions: &[InstanceExtension]) -> Self {
        match extensions {
            [] => Self::Always,
            _ => Self::Instance(InstanceExtensionSet::of(extensions)),
        }
    }

    const fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Always, Self::Always) => true,
            (Self::Instance(one), Self::Instance(other)) => one.0 == other.0,
            (Self::Always, Self::Instance(_)) | (Self::Instance(_), Self::Always) => false,
        }
    }
}

/// When the end of the device chain gives out the loader's terminator (APP-45).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceGate {
    /// Always.
    Always,
    /// If one of these extensions is enabled on the driver's device.
    Device(DeviceExtensionSet),
    /// If one of these extensions is enabled on the instance.
    Instance(InstanceExtensionSet),
}

impl DeviceGate {
    /// The gate of what needs one of these extensions, if any; they are all of the device or all of the instance.
    pub(crate) const fn any_of(device: &[DeviceExtension], instance: &[InstanceExtension]) -> Self {
        match (device, instance) {
            ([], []) => Self::Always,
            (_, []) => Self::Device(DeviceExtensionSet::of(device)),
            ([], _) => Self::Instance(InstanceExtensionSet::of(instance)),
            _ => panic!("a terminator behind extensions of both kinds"),
        }
    }

    const fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Always, Self::Always) => true,
            (Self::Device(one), Self::Device(other)) => one.0 == other.0,
            (Self::Instance(one), Self::Instance(other)) => one.0 == other.0,
            (Self::Always, _) | (Self::Device(_), _) | (Self::Instance(_), _) => false,
        }
    }
}

/// The first parameter of a command, if it is a handle that the trampoline checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter(u8);

impl Parameter {
    /// The parameter with a name. For constants: a name that is not listed does not compile.
    pub(crate) const fn of(name: &str) -> Self {
        let mut number = 0;
        while number < PARAMETERS.len() {
            if equal(PARAMETERS[number].as_bytes(), name.as_bytes()) {
                return Self(number as u8);
            }
            number += 1;
        }
        panic!("a checked parameter of another name: list it")
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        PARAMETERS[self.0 as usize]
    }
}

/// Whether two texts are the same.
pub(super) const fn equal(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// What the loader knows of one command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Its number among those of [`crate::generated::lookup::row`].
    pub number: u16,
    /// Slot in the device table for a device-level command and in the instance table for others, or [`NO_SLOT`].
    pub slot: u16,
    /// Slot of the driver's function: in the device-terminator table for a device-level command other than
    /// `vkGetDeviceProcAddr`, in the driver table for others, or [`NO_SLOT`].
    #[cfg(test)]
    pub driver_slot: u16,
    /// What it is dispatched on.
    pub level: Level,
    /// The handle that its trampoline checks; empty for a command that takes none.
    pub parameter: Parameter,
    /// The [`rank`] of the core version that brought it.
    pub rank: u8,
    /// Whether it belongs to no platform, or to one that this library is built for.
    pub is_built: bool,
    gates: u8,
    /// Which of the terminators is its own, or [`NO_TERMINATOR`].
    terminator: u8,
}

/// Says that a command has no slot in a table.
pub(crate) const NO_SLOT: u16 = u16::MAX;
const NO_TERMINATOR: u8 = u8::MAX;

impl Row {
    /// The command.
    pub(crate) fn name(&self) -> &'static CStr {
        let place = &INDEX.places[usize::from(self.number) + 1];
        let length = hash::SHORTEST + usize::from(place.beyond) + 1;
        // SAFETY: `index` takes start and length of every name from the text itself, where a zero byte follows.
        unsafe {
            let name = INDEX.names.as_ptr().add(usize::from(place.start));
            CStr::from_bytes_with_nul_unchecked(core::slice::from_raw_parts(name, length))
        }
    }

    /// When the instance-level lookup finds it.
    pub(crate) fn gate(&self) -> Gate {
        GATES[usize::from(self.gates)].0
    }

    /// When a device's lookup gives out the terminator.
    pub(crate) fn device_gate(&self) -> DeviceGate {
        GATES[usize::from(self.gates)].1
    }

    /// What the application calls.
    pub(crate) fn trampoline(&self) -> Function {
        // SAFETY: every row has a trampoline.
        unsafe { functions::at(usize::from(self.number)) }
    }

    /// What ends the chain.
    pub(crate) fn terminator(&self) -> Option<Function> {
        // SAFETY: the terminators stand behind the trampolines in the order of their numbers.
        (self.terminator != NO_TERMINATOR).then(|| unsafe { functions::at(ROW_COUNT + usize::from(self.terminator)) })
    }
}

/// Minor versions of Vulkan 1 that have ranks.
const MINORS: u32 = 16;
/// The rank up to which a device shows commands that hides none.
pub(crate) const ALL_RANKS: u8 = u8::MAX;

/// The rank of a packed core version: how many versions there were until then. 0 for what is in none.
pub(crate) const fn rank(core: u32) -> u8 {
    let mut rank = 0;
    while rank < MINORS && ApiVersion::new(1, rank).0 <= core {
        rank += 1;
    }
    rank as u8
}

/// Room for the different pairs of gates.
const MOST_GATES: usize = 64;

/// All commands, sorted by name.
pub(crate) static ROWS: [Row; ROW_COUNT] = gates_and_rows().1;

/// The pairs of gates that commands have.
static GATES: [(Gate, DeviceGate); MOST_GATES] = gates_and_rows().0;

const fn gates_and_rows() -> ([(Gate, DeviceGate); MOST_GATES], [Row; ROW_COUNT]) {
    let mut gates = [(Gate::Always, DeviceGate::Always); MOST_GATES];
    let mut rows = [Row {
        number: 0,
        slot: 0,
        #[cfg(test)]
        driver_slot: 0,
        level: Level::Global,
        parameter: Parameter(0),
        rank: 0,
        is_built: false,
        gates: 0,
        terminator: NO_TERMINATOR,
    }; ROW_COUNT];
    // The first pair is that of most commands.
    let (mut number, mut pairs, mut terminators) = (0, 1, 0);
    while number < ROW_COUNT {
        let facts = &FACTS[number];
        let mut pair = 0;
        while pair < pairs && !(facts.gate.is(gates[pair].0) && facts.device_gate.is(gates[pair].1)) {
            pair += 1;
        }
        if pair == pairs {
            gates[pair] = (facts.gate, facts.device_gate);
            pairs += 1;
        }
        assert!(
            facts.core.0 < ApiVersion::new(1, MINORS).0,
            "a core version needs a rank"
        );
        rows[number] = Row {
            number: number as u16,
            slot: facts.slot,
            #[cfg(test)]
            driver_slot: facts.driver_slot,
            level: facts.level,
            parameter: facts.parameter,
            rank: rank(facts.core.0),
            is_built: facts.is_built,
            gates: pair as u8,
            terminator: NO_TERMINATOR,
        };
        if facts.has_terminator {
            rows[number].terminator = terminators;
            terminators += 1;
            assert!(terminators < NO_TERMINATOR, "a terminator needs a wider number");
        }
        number += 1;
    }
    (gates, rows)
}
