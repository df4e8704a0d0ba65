//! Replacement for the stubs, on processors for which there is no machine code. Unknown functions are not forwarded (DRV-230).

use super::Stubs;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::table::Slot;
use crate::translation;

/// `true` if this processor can forward unknown functions.
pub(crate) const SUPPORTED: bool = false;

/// Ends the process after a handle failed its check.
///
/// # Safety
/// None. The function is only `unsafe` because the machine-code stub of the same name is `unsafe`.
pub unsafe extern "C" fn vkl_reject(row: u32) {
    translation::rejected_handle(row)
}

pub(super) fn device_thunks() -> Option<Stubs> {
    None
}

pub(super) fn device_terminators() -> Option<Stubs> {
    None
}

pub(super) fn physical_device_thunks() -> Option<Stubs> {
    None
}

pub(super) fn physical_device_terminators() -> Option<Stubs> {
    None
}

type Function = unsafe extern "system" fn();

/// Number of stubs in each row of the table of stubs.
const WIDTH: usize = 16;

/// The table that contains a stub.
trait Table {
    /// Reports a call through slot `index`.
    fn report(index: u32) -> !;
}

impl Table for DeviceTable {
    fn report(index: u32) -> ! {
        translation::missing_device_command(index)
    }
}

impl Table for InstanceTable {
    fn report(index: u32) -> ! {
        translation::missing_instance_command(index)
    }
}

unsafe extern "system" fn missing<T: Table, const ROW: usize, const COLUMN: usize>() {
    T::report((ROW * WIDTH + COLUMN) as u32)
}

/// Expands to an array with one element for each stub of a row.
macro_rules! row {
    ($element:ident) => {
        [
            $element!(0),
            $element!(1),
            $element!(2),
            $element!(3),
            $element!(4),
            $element!(5),
            $element!(6),
            $element!(7),
            $element!(8),
            $element!(9),
            $element!(10),
            $element!(11),
            $element!(12),
            $element!(13),
            $element!(14),
            $element!(15),
        ]
    };
}

/// Returns one row of stubs.
const fn stubs<T: Table, const ROW: usize>() -> [Function; WIDTH] {
    macro_rules! stub {
        ($column:literal) => {
            missing::<T, ROW, $column>
        };
    }
    row!(stub)
}

/// Declares the rows of a table, four for each `$base`.
macro_rules! block {
    ($name:ident, $table:ty, $($base:literal)*) => {
        static $name: &[[Function; WIDTH]] = &[$(
            stubs::<$table, { $base }>(),
            stubs::<$table, { $base + 1 }>(),
            stubs::<$table, { $base + 2 }>(),
            stubs::<$table, { $base + 3 }>(),
        )*];
    };
}

block!(DEVICE, DeviceTable, 0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76);
block!(INSTANCE, InstanceTable, 0 4 8 12 16 20);

const _: () = assert!(DeviceTable::SLOT_COUNT <= 80 * WIDTH && InstanceTable::SLOT_COUNT <= 24 * WIDTH);

fn at(rows: &[[Function; WIDTH]], index: usize) -> Slot {
    rows.get(index / WIDTH).map(|row| row[index % WIDTH])
}

fn holds(rows: &[[Function; WIDTH]], function: Slot) -> bool {
    rows.iter()
        .flatten()
        .any(|stub| crate::table::to_word(Some(*stub)) == crate::table::to_word(function))
}

pub(super) fn missing_device(index: usize) -> Slot {
    at(DEVICE, index)
}

pub(super) fn missing_instance(index: usize) -> Slot {
    at(INSTANCE, index)
}

pub(super) fn is_missing_device(function: Slot) -> bool {
    holds(DEVICE, function)
}
