//! From a command's name to what the loader knows of it.

use super::dispatch::device::slot as device;
use super::dispatch::device_terminator::slot as device_terminator;
use super::dispatch::driver::slot as driver;
use super::dispatch::instance::slot as instance;
use super::extensions::{DeviceExtension, DeviceExtensionSet, InstanceExtension, InstanceExtensionSet};
use super::pfn::*;
use super::{terminator, trampoline};
use crate::function_table::functions;
use crate::handle::{App, Chain};
use crate::proc_addr::hash;
use core::ffi::CStr;
use core::num::NonZeroUsize;

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

/// When the end of the device chain gives out the loader's terminator (APP-45).
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

impl Parameter {
    const fn of(name: &str) -> Self {
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
    pub fn name(self) -> &'static str {
        PARAMETERS[self.0 as usize]
    }
}

const fn equal(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// What the loader knows of one command.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its number among those of [`row`].
    pub number: u16,
    /// Slot in the device table for a device-level command and in the instance table for others, or [`NO_SLOT`].
    pub slot: u16,
    /// Slot of the driver's function: in the device-terminator table for a device-level command other than
    /// `vkGetDeviceProcAddr`, in the driver table for others, or [`NO_SLOT`].
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
pub const NO_SLOT: u16 = u16::MAX;
const NO_TERMINATOR: u8 = u8::MAX;

impl Row {
    /// The command.
    pub fn name(&self) -> &'static CStr {
        let place = &INDEX.places[usize::from(self.number) + 1];
        let length = hash::SHORTEST + usize::from(place.beyond) + 1;
        // SAFETY: `index` takes start and length of every name from the text itself, where a zero byte follows.
        unsafe {
            let name = INDEX.names.as_ptr().add(usize::from(place.start));
            CStr::from_bytes_with_nul_unchecked(core::slice::from_raw_parts(name, length))
        }
    }

    /// When the instance-level lookup finds it.
    pub fn gate(&self) -> Gate {
        GATES[usize::from(self.gates)].0
    }

    /// When a device's lookup gives out the terminator.
    pub fn device_gate(&self) -> DeviceGate {
        GATES[usize::from(self.gates)].1
    }

    /// What the application calls.
    pub fn trampoline(&self) -> Function {
        // SAFETY: every row has a trampoline.
        unsafe { functions::at(usize::from(self.number)) }
    }

    /// What ends the chain.
    pub fn terminator(&self) -> Option<Function> {
        // SAFETY: the terminators stand behind the trampolines in the order of their numbers.
        (self.terminator != NO_TERMINATOR).then(|| unsafe { functions::at(ROW_COUNT + usize::from(self.terminator)) })
    }
}

/// Minor versions of Vulkan 1 that have ranks.
const MINORS: u32 = 16;
/// The rank up to which a device shows commands that hides none.
pub const ALL_RANKS: u8 = u8::MAX;

/// The rank of a packed core version: how many versions there were until then. 0 for what is in none.
pub const fn rank(core: u32) -> u8 {
    let mut rank = 0;
    while rank < MINORS && version(1, rank) <= core {
        rank += 1;
    }
    rank as u8
}

/// What a look-up wants to know of a command first, in one word.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Place {
    /// Where its name starts in the text.
    start: u16,
    /// How many bytes its name is longer than the shortest.
    beyond: u8,
    /// [`Command::is_plain`].
    plain: bool,
    /// [`Command::answer`].
    answer: u16,
    /// The next place with the same position, or 0.
    next: u16,
}

/// Which of a device's answers is always NULL.
pub const NO_ANSWER: usize = super::dispatch::DeviceTable::SLOT_COUNT;

/// Everything that a look-up reads, in one place so that it has one address.
#[repr(C)]
struct Index {
    /// The names, each with a zero byte behind it.
    names: [u8; NAMES.len()],
    /// The first place of each position, or 0.
    heads: [u16; hash::POSITIONS],
    /// A place a command, in the order of the rows, behind one of a length that no name has.
    places: [Place; ROW_COUNT + 1],
}

static INDEX: Index = index();

/// The same for constants, which may not look into a static.
const KNOWN: &Index = &index();

const fn index() -> Index {
    let text = NAMES.as_bytes();
    assert!(text.len() <= u16::MAX as usize, "the names need a wider offset");
    let mut index = Index {
        heads: [0; hash::POSITIONS],
        places: [Place {
            start: 0,
            beyond: u8::MAX,
            plain: false,
            answer: 0,
            next: 0,
        }; ROW_COUNT + 1],
        names: [0; NAMES.len()],
    };
    let (mut row, mut start, mut at) = (0, 0, 0);
    while at < text.len() {
        index.names[at] = text[at];
        if text[at] == 0 {
            let (_, name) = text.split_at(start);
            let (name, _) = name.split_at(at - start);
            let Some(position) = hash::position_of(name) else {
                panic!("a name is too short");
            };
            let beyond = name.len() - hash::SHORTEST;
            assert!(beyond < u8::MAX as usize, "a name needs a wider length");
            index.places[row + 1] = Place {
                start: start as u16,
                beyond: beyond as u8,
                plain: FACTS[row].is_ungated(),
                answer: FACTS[row].answer(),
                next: index.heads[position],
            };
            row += 1;
            index.heads[position] = row as u16;
            start = at + 1;
        }
        at += 1;
    }
    assert!(row == ROW_COUNT, "a row without a name");
    index
}

/// A command that was found by its name: the number of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command(NonZeroUsize);

impl Command {
    /// The command with a name; any bytes may be asked for. No byte but those of the name is read.
    #[inline(always)]
    pub fn find(name: &[u8]) -> Option<Self> {
        // Shorter names give a number above all others.
        let beyond = name.len().wrapping_sub(hash::SHORTEST);
        if beyond >= usize::from(u8::MAX) {
            return None;
        }
        let given = name.as_ptr();
        // Where the last word starts.
        let end = hash::FIRST + beyond;
        // SAFETY: a name that is not too short has both words.
        let (first, last) = unsafe { (word(given, hash::FIRST), word(given, end)) };
        let position = hash::position(name.len(), u64::from_le(first), u64::from_le(last));
        let mut number = usize::from(INDEX.heads[position]);
        loop {
            // SAFETY: heads and links are numbers of places.
            let place = unsafe { INDEX.places.get_unchecked(number) };
            // SAFETY: a name starts there. It is read only if it is as long as the given one.
            let known = unsafe { INDEX.names.as_ptr().add(usize::from(place.start)) };
            // SAFETY: both names have all words that start until `end`.
            if place.beyond == beyond as u8 && unsafe { word(known, end) == last && same(given, known, end) } {
                // SAFETY: no name is as long as what stands at place 0.
                return Some(Self(unsafe { NonZeroUsize::new_unchecked(number) }));
            }
            number = usize::from(place.next);
            if number == 0 {
                return None;
            }
        }
    }

    #[inline(always)]
    fn place(self) -> &'static Place {
        // SAFETY: it is the number of a place.
        unsafe { INDEX.places.get_unchecked(self.0.get()) }
    }

    /// What is known of it.
    #[inline(always)]
    pub fn row(self) -> &'static Row {
        // SAFETY: a command's number is that of a row.
        unsafe { ROWS.get_unchecked(self.0.get() - 1) }
    }

    /// Whether every valid instance finds it.
    #[inline(always)]
    pub fn is_plain(self) -> bool {
        self.place().plain
    }

    /// Which of a device's answers is its own; [`NO_ANSWER`] for what is not of a device.
    #[inline(always)]
    pub fn answer(self) -> usize {
        usize::from(self.place().answer)
    }

    /// What the application calls.
    #[inline(always)]
    pub fn trampoline(self) -> Function {
        // SAFETY: every row has a trampoline.
        unsafe { functions::at(self.0.get() - 1) }
    }
}

/// Whether two texts agree in all words that start before `end`, one at least.
///
/// # Safety
/// Both have these words.
#[inline(always)]
unsafe fn same(one: *const u8, other: *const u8, end: usize) -> bool {
    let mut offset = 0;
    // SAFETY: the offset is below `end`, so a word follows in both.
    while unsafe { word(one, offset) == word(other, offset) } {
        offset += hash::WORD;
        if offset >= end {
            return true;
        }
    }
    false
}

/// The word at an offset.
///
/// # Safety
/// It is readable.
#[inline(always)]
unsafe fn word(text: *const u8, offset: usize) -> u64 {
    // SAFETY: by this function's contract.
    unsafe { text.add(offset).cast::<u64>().read_unaligned() }
}

/// The row of a command; any bytes may be asked for.
pub fn find(name: &[u8]) -> Option<&'static Row> {
    Command::find(name).map(Command::row)
}

/// The number of a command's row. For constants: a name that is no command does not compile.
pub const fn number(name: &str) -> u16 {
    let name = name.as_bytes();
    let Some(position) = hash::position_of(name) else {
        panic!("no such command");
    };
    let mut number = KNOWN.heads[position];
    while number != 0 {
        let place = &KNOWN.places[number as usize];
        let (_, text) = KNOWN.names.split_at(place.start as usize);
        let (text, _) = text.split_at(hash::SHORTEST + place.beyond as usize);
        if equal(text, name) {
            return number - 1;
        }
        number = place.next;
    }
    panic!("no such command")
}

const fn version(major: u32, minor: u32) -> u32 {
    major << 22 | minor << 12
}

/// A row as it is written down.
struct Facts {
    level: Level,
    parameter: Parameter,
    core: u32,
    gate: Gate,
    has_terminator: bool,
    device_gate: DeviceGate,
    slot: u16,
    driver_slot: u16,
    is_built: bool,
}

impl Facts {
    const fn is_ungated(&self) -> bool {
        matches!(self.gate, Gate::Always) && !matches!(self.level, Level::Global) && self.is_built
    }

    const fn answer(&self) -> u16 {
        match self.level {
            Level::Device => self.slot,
            Level::Global | Level::Instance | Level::PhysicalDevice => NO_ANSWER as u16,
        }
    }

    const fn has_gates(&self, gates: &(Gate, DeviceGate)) -> bool {
        let same_gate = match (self.gate, gates.0) {
            (Gate::Always, Gate::Always) => true,
            (Gate::Instance(one), Gate::Instance(other)) => one.0 == other.0,
            _ => false,
        };
        same_gate
            && match (self.device_gate, gates.1) {
                (DeviceGate::Always, DeviceGate::Always) => true,
                (DeviceGate::Device(one), DeviceGate::Device(other)) => one.0 == other.0,
                (DeviceGate::Instance(one), DeviceGate::Instance(other)) => one.0 == other.0,
                _ => false,
            }
    }
}

/// Room for the different pairs of gates.
const MOST_GATES: usize = 64;

/// The pairs of gates that commands have.
static GATES: [(Gate, DeviceGate); MOST_GATES] = gates_and_rows().0;

const fn gates_and_rows() -> ([(Gate, DeviceGate); MOST_GATES], [Row; ROW_COUNT]) {
    let mut gates = [(Gate::Always, DeviceGate::Always); MOST_GATES];
    let mut rows = [Row {
        number: 0,
        slot: 0,
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
        while pair < pairs && !facts.has_gates(&gates[pair]) {
            pair += 1;
        }
        if pair == pairs {
            gates[pair] = (facts.gate, facts.device_gate);
            pairs += 1;
        }
        assert!(facts.core < version(1, MINORS), "a core version needs a rank");
        rows[number] = Row {
            number: number as u16,
            slot: facts.slot,
            driver_slot: facts.driver_slot,
            level: facts.level,
            parameter: facts.parameter,
            rank: rank(facts.core),
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

macro_rules! has_terminator {
    () => {
        false
    };
    ($terminator:path) => {
        true
    };
}

/// Whether a platform's predicate holds.
macro_rules! is_built {
    () => {
        true
    };
    ($platform:meta) => {
        cfg!($platform)
    };
}

/// A row: name, level and checked parameter, core version, gate, trampoline, terminator, gate of the terminator, slot, slot of the
/// driver, platform.
macro_rules! rows {
    ($(
        $name:ident: $level:ident $($parameter:ident)?, ($major:literal, $minor:literal), $gate:tt,
        [$trampoline:path as $trampoline_type:ty], [$($terminator:path as $terminator_type:ty)?], $device_gate:tt, $slot:tt,
        $driver_slot:tt $(, platform($platform:meta))?;
    )*) => {
        /// How many commands there are.
        pub const ROW_COUNT: usize = [$(stringify!($name)),*].len();

        /// The names of all commands, each with a zero byte behind it.
        const NAMES: &str = concat!($(stringify!($name), "\0"),*);

        /// All commands, sorted by name.
        pub static ROWS: [Row; ROW_COUNT] = gates_and_rows().1;

        /// The number of each command's row.
        pub mod row {
            $(pub const $name: u16 = super::number(stringify!($name));)*
        }

        const FACTS: &[Facts; ROW_COUNT] = &[$(Facts {
            level: Level::$level,
            parameter: Parameter::of(stringify!($($parameter)?)),
            core: version($major, $minor),
            gate: gate!($gate),
            has_terminator: has_terminator!($($terminator)?),
            device_gate: device_gate!($device_gate),
            slot: slot!($slot),
            driver_slot: slot!($driver_slot),
            is_built: is_built!($($platform)?),
        }),*];

        functions!($($trampoline,)* $($($terminator,)?)*);

        // Every function has the type of its command.
        $(
            const _: $trampoline_type = $trampoline;
            $(const _: $terminator_type = $terminator;)?
        )*
    };
}
