//! Dispatch tables: one pointer a command, sorted by name.

/// How many functions unknown at build time each table has room for (GEN-68).
pub const UNKNOWN_SLOTS: usize = 250;

/// A slot seen without its type.
pub use crate::table::Slot;

/// Declares rows and numbers of a table's slots; the commands stand in slot order.
macro_rules! table_slots {
    ($table:ident, $first:ident: $($name:ident)*) => {
        impl $table {
            /// How many commands have a slot.
            pub const SLOT_COUNT: usize = [$(stringify!($name)),*].len();
        }

        /// The row of each slot's command, in slot order.
        static ROWS: [u16; $table::SLOT_COUNT] = [$(super::super::lookup::number(stringify!($name))),*];

        /// The number of each command's slot.
        pub mod slot {
            use super::$table;
            use core::mem::{offset_of, size_of};

            const FIRST: usize = offset_of!($table, $first);

            $(pub const $name: usize = (offset_of!($table, $name) - FIRST) / size_of::<usize>();)*
        }

        // SAFETY: the structure is `repr(C)` and its slots are single pointers in the order of the names.
        unsafe impl crate::table::Slots for $table {
            const COUNT: usize = Self::SLOT_COUNT;
            const FIRST: usize = core::mem::offset_of!($table, $first);

            fn rows() -> &'static [u16] {
                &ROWS
            }
        }
    };
}

/// Declares the pairs of slots that share a trampoline.
macro_rules! shared_entries {
    ($($core:ident $alias:ident $extension:ident;)*) => {
        /// A trampoline that serves two names.
        pub struct SharedEntry {
            /// Slot of the core name, which the trampoline calls.
            pub core: usize,
            /// Slot of the extension's name.
            pub alias: usize,
            /// If this extension is enabled, the chain is entered under the extension's name (DRV-159).
            pub extension: super::super::extensions::InstanceExtension,
        }

        /// All shared trampolines of physical-device commands.
        pub static SHARED_ENTRIES: &[SharedEntry] = &[$(SharedEntry {
            core: slot::$core,
            alias: slot::$alias,
            extension: super::super::extensions::InstanceExtension::$extension,
        }),*];
    };
}

pub mod device;
pub mod device_terminator;
pub mod driver;
pub mod instance;

pub use device::DeviceTable;
pub use device_terminator::DeviceTerminatorTable;
pub use driver::DriverTable;
pub use instance::InstanceTable;
