//! Types and macros for the rows about commands, which the generator emits.

use super::{DeviceGate, Gate, Level, NO_ANSWER, NO_SLOT, Parameter};
use discovery::version::ApiVersion;

/// Facts about a command, in the form of a row that the generator writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Level of the object on which the command is dispatched.
    pub level: Level,
    /// Handle that the command's trampoline checks.
    pub parameter: Parameter,
    /// Core version that introduced the command; 0.0 if no core version has it.
    pub core: ApiVersion,
    /// Condition under which the instance-level lookup finds the command.
    pub gate: Gate,
    /// `true` if the command has a terminator.
    pub has_terminator: bool,
    /// Condition under which a device's lookup returns the terminator.
    pub device_gate: DeviceGate,
    /// Slot in the table of the command's chain, or [`NO_SLOT`].
    pub slot: u16,
    /// Slot in the table of the driver, or [`NO_SLOT`].
    #[cfg(test)]
    pub driver_slot: u16,
    /// `true` if the command belongs to no platform, or to one for which this library is built.
    pub is_built: bool,
}

impl Facts {
    /// Returns the value of [`super::Command::is_plain`] for this command.
    pub(super) const fn is_ungated(&self) -> bool {
        matches!(self.gate, Gate::Always) && !matches!(self.level, Level::Global) && self.is_built
    }

    /// Returns the value of [`super::Command::answer`] for this command.
    pub(super) const fn answer(&self) -> u16 {
        match self.level {
            Level::Device => self.slot,
            Level::Global | Level::Instance | Level::PhysicalDevice => NO_ANSWER as u16,
        }
    }
}

/// Returns the only slot in `slots`; [`NO_SLOT`] if the row lists no slot in this table.
pub(crate) const fn slot_or_none(slots: &[usize]) -> u16 {
    match slots {
        [] => NO_SLOT,
        [slot] => *slot as u16,
        _ => panic!("a command has more than one slot in a table"),
    }
}

/// Returns `true` if `names` is not empty. The macro passes an optional part of a row as a list of zero or one names.
pub(crate) const fn is_listed(names: &[&str]) -> bool {
    !names.is_empty()
}

/// Declares names, numbers, facts and functions of all commands, sorted by name.
///
/// A row has: name, level and checked parameter, trampoline. These optional parts follow: core version, gate, terminator, gate of the
/// terminator by device or instance extensions, tables of the chain and of the driver, platform.
///
/// The names `trampoline` and `terminator` must resolve to the functions where the macro is called.
macro_rules! commands {
    ($(
        $name:ident: $level:ident $($parameter:ident)?, $trampoline:ident as $trampoline_type:ty
        $(, core($major:literal, $minor:literal))?
        $(, gate($($gate:ident)+))?
        $(, terminator($terminator:ident as $terminator_type:ty))?
        $(, if_on_device($($on_device:ident)+))?
        $(, if_on_instance($($on_instance:ident)+))?
        $(, slot($table:ident))?
        $(, driver_slot($driver_table:ident))?
        $(, platform($platform:meta))?;
    )*) => {
        /// Number of commands.
        pub const ROW_COUNT: usize = [$(stringify!($name)),*].len();

        /// Names of all commands. A NUL ends each name.
        pub const NAMES: &str = concat!($(stringify!($name), "\0"),*);

        /// Numbers of the rows, one constant for each command.
        pub mod row {
            $(pub const $name: u16 = $crate::lookup::number(stringify!($name));)*
        }

        /// Facts about each command.
        pub const FACTS: &[$crate::lookup::Facts; ROW_COUNT] = &[$($crate::lookup::Facts {
            level: $crate::lookup::Level::$level,
            parameter: $crate::lookup::Parameter::of(stringify!($($parameter)?)),
            core: discovery::version::ApiVersion::new(0 $(+ $major)?, 0 $(+ $minor)?),
            gate: $crate::lookup::Gate::any_of(&[$($(discovery::extension::InstanceExtension::$gate),+)?]),
            has_terminator: $crate::lookup::is_listed(&[$(stringify!($terminator))?]),
            device_gate: $crate::lookup::DeviceGate::any_of(
                &[$($(discovery::extension::DeviceExtension::$on_device),+)?],
                &[$($(discovery::extension::InstanceExtension::$on_instance),+)?],
            ),
            slot: $crate::lookup::slot_or_none(&[$($crate::generated::dispatch::$table::slot::$name)?]),
            #[cfg(test)]
            driver_slot: $crate::lookup::slot_or_none(&[$($crate::generated::dispatch::$driver_table::slot::$name)?]),
            is_built: true $(&& cfg!($platform))?,
        }),*];

        $crate::lookup::functions!($(trampoline::$trampoline,)* $($(terminator::$terminator,)?)*);

        // Checks at compile time that every function has the type of its command.
        $(
            const _: $trampoline_type = trampoline::$trampoline;
            $(const _: $terminator_type = terminator::$terminator;)?
        )*
    };
}

pub(crate) use commands;
