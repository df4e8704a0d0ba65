//! Macros that declare dispatch tables and the order of their slots from lists of commands. The generator emits the lists.
//!
//! Each macro declares, in the module that calls it, a table with a slot per command, and `mod slot` with the numbers of the slots.
//! [`crate::table`] fills tables.

use discovery::extension::InstanceExtension;
pub(crate) use promises::limits::UNKNOWN_SLOTS;

/// A trampoline that serves two names of one physical-device command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedEntry {
    /// Slot of the core name. The trampoline calls the function in this slot.
    pub core: usize,
    /// Slot of the extension's name for the command.
    pub alias: usize,
    /// Extension that adds the alias. If the extension is enabled, the loader copies the alias's function to the slot of the core name
    /// (DRV-159).
    pub extension: InstanceExtension,
}

/// Declares a table of functions that enter a chain; no slot is ever empty.
///
/// The first row names the table, and the magic number in front of its slots, if there is one. Each other row has a command and the type of
/// its function.
macro_rules! chain_table {
    ($table:ident $(, $magic:ident)?; $($name:ident: $function:ty;)*) => {
        /// Functions of the topmost entity of a chain.
        #[repr(C)]
        pub struct $table {
            $(
                /// Distinguishes a table of this loader from anything else to which a handle may point.
                pub $magic: u64,
            )?
            $(pub $name: $crate::table::Entry<$function>,)*
            /// Slots for functions that the loader did not know when it was built.
            pub unknown: [$crate::table::Entry<$crate::table::Slot>; $crate::dispatch_table::UNKNOWN_SLOTS],
        }

        // SAFETY: `repr(C)` fixes the layout, and every slot is an `Entry`.
        unsafe impl $crate::table::SharedSlots for $table {}

        $crate::dispatch_table::table_slots!($table: $($name)*);
    };
}

/// Declares a table of a driver's functions; any slot may be empty. The first row names the table. Each other row has a command and the
/// type of its function.
macro_rules! driver_table {
    ($table:ident; $($name:ident: $function:ty;)*) => {
        /// The functions of a driver.
        #[repr(C)]
        pub struct $table {
            $(pub $name: Option<$function>,)*
        }

        $crate::dispatch_table::table_slots!($table: $($name)*);
        $crate::dispatch_table::late_table!($table: $($name: $function;)*);
    };
}

/// Declares a table for instances and physical devices of a driver that is not open yet. Its functions open the driver first.
macro_rules! late_table {
    (DriverTable: $($name:ident: $function:ty;)*) => {
        /// Functions that open the driver and then call the driver's own functions.
        #[cfg(all(
            feature = "lazy",
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))]
        pub(crate) const LATE: DriverTable = DriverTable {
            // SAFETY: both types are pointers to functions, and the stub of a slot takes the arguments of its command.
            $($name: Some(unsafe {
                core::mem::transmute::<unsafe extern "system" fn(), $function>($crate::unopened::stub::<{ slot::$name }>)
            }),)*
        };

        /// `true` for the slot of a command that returns a `VkResult`.
        #[cfg(all(
            feature = "lazy",
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))]
        pub(crate) static FAILS: [bool; DriverTable::SLOT_COUNT] =
            [$(<$function as $crate::unopened::Late>::FAILS),*];
    };
    ($table:ident: $($rest:tt)*) => {};
}

/// Declares the rows and the numbers of a table's slots, for commands in slot order.
macro_rules! table_slots {
    ($table:ident: $first:ident $($other:ident)*) => {
        impl $table {
            /// Number of commands that have a slot.
            pub const SLOT_COUNT: usize = [stringify!($first), $(stringify!($other)),*].len();
        }

        /// The row of each slot's command, in slot order.
        static ROWS: [u16; $table::SLOT_COUNT] = [
            $crate::lookup::number(stringify!($first)),
            $($crate::lookup::number(stringify!($other))),*
        ];

        /// Numbers of the slots, one constant for each command.
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

/// Declares pairs of slots that share a trampoline. Each row has the core name, the extension's name for the command, and the extension.
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

pub(crate) use {chain_table, driver_table, late_table, shared_entries, table_slots};
