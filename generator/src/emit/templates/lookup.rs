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
use core::ffi::CStr;

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
        // SAFETY: `named` takes the place of every name from the text itself.
        unsafe { core::slice::from_raw_parts(NAMES.as_ptr().add(self.start as usize), self.len as usize + 1) }
    }

    #[inline(always)]
    const fn text(self) -> &'static [u8] {
        // SAFETY: as for `bytes`.
        unsafe { core::slice::from_raw_parts(NAMES.as_ptr().add(self.start as usize), self.len as usize) }
    }
}

impl Row {
    /// The command.
    pub fn name(&self) -> &'static CStr {
        // SAFETY: `named` makes every name end at the first zero byte behind its start.
        unsafe { CStr::from_bytes_with_nul_unchecked(self.name.bytes()) }
    }
}

/// What a look-up wants to know of a command first, in one word.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Place {
    start: u16,
    len: u8,
    /// What [`Place::is_shown`] goes by.
    rank: u8,
    /// The number of its row.
    pub row: u16,
    /// Its slot, as in the row.
    pub slot: u16,
}

/// The rank up to which a device shows commands that hides none.
pub const ALL_RANKS: u8 = u8::MAX - 1;
/// The rank of what a device's look-up does not simply take from the device's table.
const UNRANKED: u8 = u8::MAX;
/// Minor versions of Vulkan 1 that have ranks.
const MINORS: u32 = 16;

impl Place {
    const fn of(number: usize) -> Self {
        let row = &ALL[number];
        let is_open = matches!(row.level, Level::Device) && matches!(row.gate, Gate::Always);
        let is_slot = is_open && !is_special(number as u16);
        assert!(row.core < version(1, MINORS), "a core version needs a rank");
        assert!(row.name.len as usize >= hash::WORD, "a name is shorter than a word");
        Self {
            start: row.name.start,
            len: row.name.len,
            rank: if is_slot { rank(row.core) } else { UNRANKED },
            row: number as u16,
            slot: row.slot,
        }
    }

    /// Whether the command is a device's, is found through any instance, and is nothing special to a device either.
    #[inline(always)]
    pub fn is_ranked(&self) -> bool {
        self.rank != UNRANKED
    }

    /// Whether a device that shows commands up to a rank answers with what is in its table's slot.
    #[inline(always)]
    pub fn is_shown(&self, highest: u8) -> bool {
        self.rank <= highest
    }
}

/// The rank of a packed core version: how many versions there were until then. 0 for what is in none.
pub const fn rank(core: u32) -> u8 {
    let mut rank = 0;
    while rank < MINORS && version(1, rank) <= core {
        rank += 1;
    }
    rank as u8
}

/// Whether a device command has an answer of its own (APP-41 to APP-44), or may be missing without harm (GEN-51).
const fn is_special(number: u16) -> bool {
    let row = &ALL[number as usize];
    let mut index = 0;
    while index < super::dispatch::device::NULL_TOLERANT.len() {
        if super::dispatch::device::NULL_TOLERANT[index] == row.slot as usize {
            return true;
        }
        index += 1;
    }
    crate::proc_addr::is_loaders(number)
}

/// The place of a command; any bytes may be asked for.
#[inline(always)]
pub fn place(name: &[u8]) -> Option<&'static Place> {
    if name.len() < hash::WORD {
        return None;
    }
    let place = &PLACES[position(name)];
    let (start, len) = (place.start, place.len);
    let text = Name { start, len }.text();
    (text.len() == name.len() && hash::same(text, name)).then_some(place)
}

/// The row of a command; any bytes may be asked for.
pub fn find(name: &[u8]) -> Option<&'static Row> {
    place(name).map(|place| &ROWS[usize::from(place.row)])
}

/// Whether this is the row with a number of [`row`].
pub fn is(it: &Row, number: u16) -> bool {
    core::ptr::eq(it, &ROWS[usize::from(number)])
}

/// The number of a command's row. For constants: a name that is no command does not compile.
pub const fn number(name: &str) -> u16 {
    let row = ROW_AT[position(name.as_bytes())];
    assert!(same(ALL[row as usize].name.text(), name.as_bytes()), "no such command");
    row
}

/// The position of a name if it is a command.
#[inline(always)]
const fn position(name: &[u8]) -> usize {
    let hash = hash::hash(name);
    hash::position(hash, DISPLACEMENTS[hash::bucket(hash)])
}

/// What is at each position. Where no command is, it is the first one, whose name has another position.
static PLACES: [Place; hash::POSITIONS] = places();

const fn places() -> [Place; hash::POSITIONS] {
    let mut places = [Place::of(0); hash::POSITIONS];
    let mut position = 0;
    while position < hash::POSITIONS {
        places[position] = Place::of(ROW_AT[position] as usize);
        position += 1;
    }
    places
}

/// The number of the row at each position.
const ROW_AT: [u16; hash::POSITIONS] = rows_at();

const fn rows_at() -> [u16; hash::POSITIONS] {
    let mut rows = [0; hash::POSITIONS];
    let mut taken = [false; hash::POSITIONS];
    let mut row = 0;
    while row < ROW_COUNT {
        let position = position(ALL[row].name.text());
        assert!(!taken[position], "two names share a position");
        taken[position] = true;
        rows[position] = row as u16;
        row += 1;
    }
    rows
}

const fn version(major: u32, minor: u32) -> u32 {
    major << 22 | minor << 12
}

/// Forgets the type of a function pointer.
const fn erase<F: Copy>(function: F) -> Function {
    assert!(size_of::<F>() == size_of::<Function>());
    // SAFETY: every `F` in the rows is a pointer to a function, and so is the result.
    unsafe { core::mem::transmute_copy(&function) }
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

        /// The rows for constants, which may not look into a static.
        const ALL: &[Row; ROW_COUNT] = &ROWS_AS_CONSTANT;

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
