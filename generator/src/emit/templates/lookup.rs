//! From a command's name to what the loader knows of it.

use super::dispatch::device::slot as device;
use super::dispatch::device_terminator::slot as device_terminator;
use super::dispatch::driver::slot as driver;
use super::dispatch::instance::slot as instance;
use super::extensions::{DeviceExtension, DeviceExtensionSet, InstanceExtension, InstanceExtensionSet};
use super::pfn::*;
use super::{terminator, trampoline};
use crate::handle::{App, Chain};
use crate::proc_addr::hash;
use std::ffi::CStr;

/// A function of any type.
pub type Function = unsafe extern "system" fn();

/// The object a command is dispatched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
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
pub enum Gate {
    /// Always.
    Always,
    /// If one of these extensions is enabled.
    Instance(InstanceExtensionSet),
}

/// When the bottom of the device chain gives out the loader's terminator (APP-45).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceGate {
    /// Always.
    Always,
    /// If one of these extensions is enabled on the driver's device.
    Device(DeviceExtensionSet),
    /// If one of these extensions is enabled on the instance.
    Instance(InstanceExtensionSet),
}

/// The first parameter of a command, if it is a handle that the trampoline checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter(u8);

/// Every name that a checked parameter has, and the empty one.
const PARAMETERS: [&str; 7] = [
    "",
    "commandBuffer",
    "device",
    "externalQueue",
    "instance",
    "physicalDevice",
    "queue",
];

impl Parameter {
    const fn of(name: &str) -> Self {
        let mut number = 0;
        while number < PARAMETERS.len() {
            if same(PARAMETERS[number].as_bytes(), name.as_bytes()) {
                return Self(number as u8);
            }
            number += 1;
        }
        panic!("a checked parameter of another name: list it")
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        PARAMETERS[self.0 as usize]
    }
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// What the loader knows of one command.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    name: Name,
    /// What it is dispatched on.
    pub level: Level,
    /// The handle that its trampoline checks; empty for a command that takes none.
    pub parameter: Parameter,
    /// The packed core version that brought it; 0 if it is in no core version.
    pub core: u32,
    /// When the instance-level lookup finds it.
    pub gate: Gate,
    /// What the application calls.
    pub trampoline: Function,
    /// What ends the chain.
    pub terminator: Option<Function>,
    /// When a device's lookup gives out the terminator.
    pub device_gate: DeviceGate,
    /// Slot in the device table for a device-level command and in the instance table for others, or [`NO_SLOT`].
    pub slot: u16,
    /// Slot of the driver's function: in the device-terminator table for a device-level command other than
    /// `vkGetDeviceProcAddr`, in the driver table for others, or [`NO_SLOT`].
    pub driver_slot: u16,
}

/// Says that a command has no slot in a table.
pub const NO_SLOT: u16 = u16::MAX;

/// Where a command's name lies in [`NAMES`].
#[derive(Clone, Copy, Debug)]
struct Name {
    start: u16,
    len: u8,
}

impl Name {
    /// The name with its terminator.
    const fn bytes(self) -> &'static [u8] {
        let (_, rest) = NAMES.as_bytes().split_at(self.start as usize);
        rest.split_at(self.len as usize + 1).0
    }

    const fn text(self) -> &'static [u8] {
        self.bytes().split_at(self.len as usize).0
    }
}

impl Row {
    /// The command.
    pub fn name(&self) -> &'static CStr {
        // SAFETY: `named` makes every name end at the first zero byte behind its start.
        unsafe { CStr::from_bytes_with_nul_unchecked(self.name.bytes()) }
    }
}

/// The row of a command; any bytes may be asked for.
pub fn find(name: &[u8]) -> Option<&'static Row> {
    find_number(name).map(|number| &ROWS[usize::from(number)])
}

/// The number of a command's row; any bytes may be asked for.
pub fn find_number(name: &[u8]) -> Option<u16> {
    let number = position(name);
    ROWS.get(usize::from(number))
        .is_some_and(|row| row.name.text() == name)
        .then_some(number)
}

/// Whether this is the row with a number of [`row`].
pub fn is(it: &Row, number: u16) -> bool {
    std::ptr::eq(it, &ROWS[usize::from(number)])
}

/// The number of a command's row. For constants: a name that is no command does not compile.
pub const fn number(name: &str) -> u16 {
    let row = position(name.as_bytes());
    assert!(
        same(ROWS_AS_CONSTANT[row as usize].name.text(), name.as_bytes()),
        "no such command"
    );
    row
}

/// The number of the row that a name has, if it is a command.
const fn position(name: &[u8]) -> u16 {
    let hash = hash::hash(name);
    INDEX[hash::position(hash, DISPLACEMENTS[hash::bucket(hash)])]
}

/// The row at each position of the hash; a number past the end where there is none.
static INDEX: [u16; hash::POSITIONS] = index();

const fn index() -> [u16; hash::POSITIONS] {
    let mut index = [u16::MAX; hash::POSITIONS];
    let mut row = 0;
    while row < ROW_COUNT {
        let hash = hash::hash(ROWS_AS_CONSTANT[row].name.text());
        let position = hash::position(hash, DISPLACEMENTS[hash::bucket(hash)]);
        assert!(index[position] == u16::MAX, "two names share a position");
        index[position] = row as u16;
        row += 1;
    }
    index
}

const fn version(major: u32, minor: u32) -> u32 {
    major << 22 | minor << 12
}

/// Forgets the type of a function pointer.
const fn erase<F: Copy>(function: F) -> Function {
    assert!(size_of::<F>() == size_of::<Function>());
    // SAFETY: every `F` in the rows is a pointer to a function, and so is the result.
    unsafe { std::mem::transmute_copy(&function) }
}

macro_rules! optional {
    ([]) => {
        None
    };
    ([$function:expr]) => {
        Some(erase($function))
    };
}

macro_rules! gate {
    ([]) => {
        Gate::Always
    };
    ([$($extension:ident)+]) => {
        Gate::Instance(InstanceExtensionSet::of(&[$(InstanceExtension::$extension),+]))
    };
}

macro_rules! device_gate {
    ([]) => {
        DeviceGate::Always
    };
    ([Device $($extension:ident)+]) => {
        DeviceGate::Device(DeviceExtensionSet::of(&[$(DeviceExtension::$extension),+]))
    };
    ([Instance $($extension:ident)+]) => {
        DeviceGate::Instance(InstanceExtensionSet::of(&[$(InstanceExtension::$extension),+]))
    };
}

macro_rules! slot {
    ([]) => {
        NO_SLOT
    };
    ([$slot:expr]) => {
        $slot as u16
    };
}

/// Gives each row its name: they stand in [`NAMES`] in the same order.
const fn named(mut rows: [Row; ROW_COUNT]) -> [Row; ROW_COUNT] {
    let text = NAMES.as_bytes();
    assert!(text.len() <= u16::MAX as usize, "the names need a wider offset");
    let (mut row, mut start, mut at) = (0, 0, 0);
    while at < text.len() {
        if text[at] == 0 {
            assert!(at - start <= u8::MAX as usize, "a name needs a wider length");
            rows[row].name = Name {
                start: start as u16,
                len: (at - start) as u8,
            };
            row += 1;
            start = at + 1;
        }
        at += 1;
    }
    assert!(row == ROW_COUNT, "a row without a name");
    rows
}

/// A row: name, level and checked parameter, core version, gate, trampoline, terminator, gate of the terminator, slot, slot of the driver.
macro_rules! rows {
    ($(
        $name:ident: $level:ident $($parameter:ident)?, ($major:literal, $minor:literal), $gate:tt, [$trampoline:expr], $terminator:tt,
        $device_gate:tt, $slot:tt, $driver_slot:tt;
    )*) => {
        /// How many commands there are.
        pub const ROW_COUNT: usize = [$(stringify!($name)),*].len();

        /// The names of all commands, each with a zero byte behind it.
        const NAMES: &str = concat!($(stringify!($name), "\0"),*);

        /// All commands, sorted by name.
        pub static ROWS: [Row; ROW_COUNT] = ROWS_AS_CONSTANT;

        /// The number of each command's row.
        pub mod row {
            $(pub const $name: u16 = super::number(stringify!($name));)*
        }

        const ROWS_AS_CONSTANT: [Row; ROW_COUNT] = named([$(Row {
            name: Name { start: 0, len: 0 },
            level: Level::$level,
            parameter: Parameter::of(stringify!($($parameter)?)),
            core: version($major, $minor),
            gate: gate!($gate),
            trampoline: erase($trampoline),
            terminator: optional!($terminator),
            device_gate: device_gate!($device_gate),
            slot: slot!($slot),
            driver_slot: slot!($driver_slot),
        }),*]);
    };
}
