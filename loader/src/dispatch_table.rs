//! Dispatch tables and the order of their slots, made of lists of commands. The lists are emitted.
//!
//! Each macro declares, in the module that calls it, a table with a slot for each command and `mod slot` with the slots' numbers.
//! [`crate::table`] fills tables.

use discovery::extension::InstanceExtension;
pub(crate) use promises::limits::UNKNOWN_SLOTS;

/// A trampoline that serves two names of one command of physical devices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedEntry {
    /// Slot of the core name, which the trampoline calls.
    pub core: usize,
    /// Slot of the extension's name.
    pub alias: usize,
    /// If this extension is enabled, the chain is entered under the extension's name (DRV-159).
    pub extension: InstanceExtension,
}

/// Declares a table of functions that lead into a chain, none of which is ever missing. First row: the table, and the name of the
/// number in front of its slots, if it has one; then command and type of its function.
macro_rules! chain_table {
    ($table:ident $(, $magic:ident)?; $($name:ident: $function:ty;)*) => {
        /// The functions that a chain begins with.
        #[repr(C)]
        pub struct $table {
            $(
                /// Tells a table of this loader from anything else a handle may point to.
                pub $magic: u64,
            )?
            $(pub $name: $crate::table::Entry<$function>,)*
            /// Functions that were not known when the loader was built.
            pub unknown: [$crate::table::Entry<$crate::table::Slot>; $crate::dispatch_table::UNKNOWN_SLOTS],
        }

        // SAFETY: every slot is an entry.
        unsafe impl $crate::table::SharedSlots for $table {}

        $crate::dispatch_table::table_slots!($table: $($name)*);
    };
}

/// Declares a table of a driver's functions, any of which may be missing. First row: the table; then command and type of its
/// function.
macro_rules! driver_table {
    ($table:ident; $($name:ident: $function:ty;)*) => {
        /// The functions of a driver.
        #[repr(C)]
        pub struct $table {
            $(pub $name: Option<$function>,)*
        }

        $crate::dispatch_table::table_slots!($table: $($name)*);
    };
}

/// Declares rows and numbers of a table's slots; the commands stand in slot order.
macro_rules! table_slots {
    ($table:ident: $first:ident $($other:ident)*) => {
        impl $table {
            /// How many commands have a slot.
            pub const SLOT_COUNT: usize = [stringify!($first), $(stringify!($other)),*].len();
        }

        /// The row of each slot's command, in slot order.
        static ROWS: [u16; $table::SLOT_COUNT] = [
            $crate::lookup::number(stringify!($first)),
            $($crate::lookup::number(stringify!($other))),*
        ];

        /// The number of each command's slot.
        pub mod slot {
            use super::$table;
            use core::mem::{offset_of, size_of};

            const FIRST: usize = offset_of!($table, $first);

            pub const $first: usize = 0;
            $(pub const $other: usize = (offset_of!($table, $other) - FIRST) / size_of::<usize>();)*
        }

        // SAFETY: the structure is `repr(C)` and its slots are single pointers in the order of the names.
        unsafe impl $crate::table::Slots for $table {
            const COUNT: usize = Self::SLOT_COUNT;
            const FIRST: usize = core::mem::offset_of!($table, $first);

            fn rows() -> &'static [u16] {
                &ROWS
            }
        }
    };
}

/// Declares the pairs of slots that share a trampoline, of rows: core name, name of the extension, extension.
macro_rules! shared_entries {
    ($($core:ident $alias:ident $extension:ident;)*) => {
        /// All shared trampolines of physical-device commands.
        pub static SHARED_ENTRIES: &[$crate::dispatch_table::SharedEntry] = &[$($crate::dispatch_table::SharedEntry {
            core: slot::$core,
            alias: slot::$alias,
            extension: discovery::extension::InstanceExtension::$extension,
        }),*];
    };
}

pub(crate) use {chain_table, driver_table, shared_entries, table_slots};
