//! Facts about a command.

use super::hash;
use super::index::INDEX;
use crate::generated::lookup::{FACTS, PARAMETERS, ROW_COUNT, functions};
use core::ffi::CStr;
use discovery::extension::{DeviceExtension, DeviceExtensionSet, InstanceExtension, InstanceExtensionSet};
use discovery::version::ApiVersion;

/// A function of any type.
pub(crate) type Function = unsafe extern "system" fn();

/// Kind of object on which a command is dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// The command needs no object.
    Global,
    /// The command is dispatched on an instance.
    Instance,
    /// The command is dispatched on a physical device.
    PhysicalDevice,
    /// The command is dispatched on a device, or on an object that descends from a device.
    Device,
}

/// Condition under which the instance-level lookup finds a command (APP-27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// The command is always found.
    Always,
    /// The command is found if one of these extensions is enabled.
    Instance(InstanceExtensionSet),
}

impl Gate {
    /// Returns the gate of a command that needs one of these extensions. The gate is open if the list is empty.
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

/// Condition under which the end of the device chain returns the loader's terminator (APP-45).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceGate {
    /// The command is always found.
    Always,
    /// The command is found if one of these extensions is enabled on the driver's device.
    Device(DeviceExtensionSet),
    /// The command is found if one of these extensions is enabled on the instance.
    Instance(InstanceExtensionSet),
}

impl DeviceGate {
    /// Returns the gate of a command that needs one of these extensions. The gate is open if both lists are empty; at least one list must
    /// be empty.
    pub(crate) const fn any_of(device: &[DeviceExtension], instance: &[InstanceExtension]) -> Self {
        match (device, instance) {
            ([], []) => Self::Always,
            (_, []) => Self::Device(DeviceExtensionSet::of(device)),
            ([], _) => Self::Instance(InstanceExtensionSet::of(instance)),
            _ => panic!("a terminator needs instance extensions and device extensions"),
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
    /// Finds the parameter by its name. In a constant, a name that is not listed fails to compile.
    pub(crate) const fn of(name: &str) -> Self {
        let mut number = 0;
        while number < PARAMETERS.len() {
            if equal(PARAMETERS[number].as_bytes(), name.as_bytes()) {
                return Self(number as u8);
            }
            number += 1;
        }
        panic!("the list lacks the name of a checked parameter")
    }

    /// Returns the name of the parameter.
    pub(crate) fn name(self) -> &'static str {
        PARAMETERS[self.0 as usize]
    }
}

/// Returns `true` if two texts are equal.
pub(super) const fn equal(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// Facts about one command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Number of the row, as in [`crate::generated::lookup::row`].
    pub number: u16,
    /// Slot in the device table for a device-level command and in the instance table for others, or [`NO_SLOT`].
    pub slot: u16,
    /// Slot of the driver's function: in the device-terminator table for every device-level command except `vkGetDeviceProcAddr`, in the
    /// driver table for others, or [`NO_SLOT`].
    #[cfg(test)]
    pub driver_slot: u16,
    /// Level of the object on which the command is dispatched.
    pub level: Level,
    /// Handle that the command's trampoline checks; empty for a command without such a handle.
    pub parameter: Parameter,
    /// [`rank`] of the core version that introduced the command.
    pub rank: u8,
    /// `true` if the command belongs to no platform, or to one for which this library is built.
    pub is_built: bool,
    gates: u8,
    /// Index of the command's terminator, or [`NO_TERMINATOR`].
    terminator: u8,
}

/// Slot of a command that is not in a table.
pub(crate) const NO_SLOT: u16 = u16::MAX;
const NO_TERMINATOR: u8 = u8::MAX;

impl Row {
    /// Returns the name of the command.
    pub(crate) fn name(&self) -> &'static CStr {
        let place = &INDEX.places[usize::from(self.number) + 1];
        let length = hash::SHORTEST + usize::from(place.beyond) + 1;
        // SAFETY: `index` took the offset and length of every name from the text itself, in which a NUL ends each name.
        unsafe {
            let name = INDEX.names.as_ptr().add(usize::from(place.start));
            CStr::from_bytes_with_nul_unchecked(core::slice::from_raw_parts(name, length))
        }
    }

    /// Returns the condition under which the instance-level lookup finds the command.
    pub(crate) fn gate(&self) -> Gate {
        GATES[usize::from(self.gates)].0
    }

    /// Returns the condition under which a device's lookup returns the command's terminator.
    pub(crate) fn device_gate(&self) -> DeviceGate {
        GATES[usize::from(self.gates)].1
    }

    /// Returns the function that the application calls.
    pub(crate) fn trampoline(&self) -> Function {
        // SAFETY: the table of functions has the trampoline of each row at the index of the row.
        unsafe { functions::at(usize::from(self.number)) }
    }

    /// Returns the function at the end of the chain.
    pub(crate) fn terminator(&self) -> Option<Function> {
        // SAFETY: the terminators follow the trampolines in the table, in the order of their numbers.
        (self.terminator != NO_TERMINATOR).then(|| unsafe { functions::at(ROW_COUNT + usize::from(self.terminator)) })
    }
}

/// Number of minor versions of Vulkan 1 that have ranks.
const MINORS: u32 = 16;
/// Rank for a device that hides no commands.
pub(crate) const ALL_RANKS: u8 = u8::MAX;

/// Returns the rank of a packed core version: the number of minor versions up to this version. Returns 0 for a command that is in no core
/// version.
pub(crate) const fn rank(core: u32) -> u8 {
    let mut rank = 0;
    while rank < MINORS && ApiVersion::new(1, rank).0 <= core {
        rank += 1;
    }
    rank as u8
}

/// Upper bound on the number of different pairs of gates.
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
    // The pair `(Always, Always)`, which most commands have, comes first.
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
            "a core version has no rank"
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
            assert!(
                terminators < NO_TERMINATOR,
                "the number of a terminator does not fit into its type"
            );
        }
        number += 1;
    }
    (gates, rows)
}
