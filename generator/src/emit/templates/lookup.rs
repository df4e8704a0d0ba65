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

/// What the loader knows of one command.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The command.
    pub name: &'static CStr,
    /// What it is dispatched on.
    pub level: Level,
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

/// The row of a command; any bytes may be asked for.
pub fn find(name: &[u8]) -> Option<&'static Row> {
    let hash = hash::hash(name);
    let row = INDEX[hash::position(hash, DISPLACEMENTS[hash::bucket(hash)])];
    ROWS.get(usize::from(row)).filter(|row| row.name.to_bytes() == name)
}

/// The row at each position of the hash; a number past the end where there is none.
static INDEX: [u16; hash::POSITIONS] = index();

const fn index() -> [u16; hash::POSITIONS] {
    let mut index = [u16::MAX; hash::POSITIONS];
    let mut row = 0;
    while row < ROWS.len() {
        let hash = hash::hash(ROWS[row].name.to_bytes());
        let position = hash::position(hash, DISPLACEMENTS[hash::bucket(hash)]);
        assert!(index[position] == u16::MAX, "two names share a position");
        index[position] = row as u16;
        row += 1;
    }
    index
}

const fn c_name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name without its terminator"),
    }
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

/// A row: name, level, core version, gate, trampoline, terminator, gate of the terminator, slot, slot of the driver.
macro_rules! rows {
    ($(
        $name:ident: $level:ident, ($major:literal, $minor:literal), $gate:tt, [$trampoline:expr], $terminator:tt,
        $device_gate:tt, $slot:tt, $driver_slot:tt;
    )*) => {
        /// How many commands there are.
        pub const ROW_COUNT: usize = [$(stringify!($name)),*].len();

        /// All commands, sorted by name.
        pub static ROWS: [Row; ROW_COUNT] = [$(Row {
            name: c_name(concat!(stringify!($name), "\0")),
            level: Level::$level,
            core: version($major, $minor),
            gate: gate!($gate),
            trampoline: erase($trampoline),
            terminator: optional!($terminator),
            device_gate: device_gate!($device_gate),
            slot: slot!($slot),
            driver_slot: slot!($driver_slot),
        }),*];
    };
}
