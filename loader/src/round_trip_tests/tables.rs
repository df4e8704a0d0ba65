//! The loader's tables at run time, in the form of `vkgen dump`.
//!
//! These tables have passed the emitters, the macros of the emitted files and the compiler. The comparison therefore finds faults in the
//! emission even if the registry was read correctly.

use crate::generated::dispatch::{DeviceTable, DeviceTerminatorTable, DriverTable, InstanceTable, device, driver};
use crate::generated::object_types::OBJECT_TYPES;
use crate::lookup::{DeviceGate, Gate, Level, NO_SLOT, ROWS, Row};
use crate::table::Slots;
use core::ffi::CStr;
use discovery::extension::{self, ExtensionKind, ExtensionRow, InstanceExtensionSet};
use serde_json::{Map, Value, json};

/// Keys of a command in the generator's dump, as far as the loader's tables have the values.
pub(super) const COMMAND_KEYS: [&str; 6] = ["name", "level", "core", "lookup", "device_lookup", "slots"];

fn text(name: &CStr) -> &str {
    name.to_str().expect("names are ASCII")
}

/// Returns all commands of the lookup table, in its order.
pub(super) fn commands() -> Vec<Value> {
    ROWS.iter().map(command).collect()
}

fn command(row: &Row) -> Value {
    let level = match row.level {
        Level::Global => "global",
        Level::Instance => "instance",
        Level::PhysicalDevice => "physical_device",
        Level::Device => "device",
    };
    // Rank 0 means that no core version has the command; rank 1 stands for version 1.0, rank 2 for 1.1, and so on.
    let core = row.rank.checked_sub(1).map(|minor| format!("1.{minor}"));
    let lookup = match row.gate() {
        Gate::Instance(set) => any(instance_names(set)),
        Gate::Always => match &core {
            Some(version) if row.level != Level::Global => json!({"rule": "core", "version": version}),
            _ => json!({"rule": "always"}),
        },
    };
    let device_lookup = match row.device_gate() {
        DeviceGate::Always => json!({"rule": "always"}),
        DeviceGate::Instance(set) => any(instance_names(set)),
        DeviceGate::Device(set) => any(set.iter().map(|it| text(it.name())).collect()),
    };
    json!({
        "name": text(row.name()),
        "level": level,
        "core": core,
        "lookup": lookup,
        "device_lookup": device_lookup,
        "slots": slots(row),
    })
}

fn instance_names(set: InstanceExtensionSet) -> Vec<&'static str> {
    set.iter().map(|it| text(it.name())).collect()
}

fn any(mut names: Vec<&str>) -> Value {
    names.sort_unstable();
    json!({"rule": "extensions", "any": names})
}

/// Returns the slots of a row: for each table with the row's command, the number of the command's slot.
fn slots(row: &Row) -> Value {
    let is_device = row.level == Level::Device;
    let chain = if is_device {
        ("device", DeviceTable::rows())
    } else {
        ("instance", InstanceTable::rows())
    };
    let driver = if is_device && text(row.name()) != "vkGetDeviceProcAddr" {
        ("device_terminator", DeviceTerminatorTable::rows())
    } else {
        ("driver", DriverTable::rows())
    };
    let mut slots = Map::new();
    for ((table, rows), slot) in [(chain, row.slot), (driver, row.driver_slot)] {
        if slot != NO_SLOT {
            let slot = usize::from(slot);
            let holder = rows.get(slot).map(|&number| ROWS[usize::from(number)].name());
            assert_eq!(holder, Some(row.name()), "the slot belongs to another command");
            slots.insert(table.to_owned(), json!(slot));
        }
    }
    Value::Object(slots)
}

/// Returns all extensions, in the order of their table.
pub(super) fn extensions() -> Vec<Value> {
    let row = |row: &ExtensionRow| {
        let kind = match row.kind {
            ExtensionKind::Instance => "instance",
            ExtensionKind::Device => "device",
        };
        json!({
            "name": text(row.name),
            "type": kind,
            "spec_version": row.spec_version,
            "platform": row.platform,
        })
    };
    extension::ALL.iter().map(row).collect()
}

/// Returns all handles with the number of their object type.
pub(super) fn handles() -> Vec<(&'static str, i32)> {
    OBJECT_TYPES.iter().map(|row| (row.handle, row.object.0)).collect()
}

/// Returns the commands without which a driver is rejected.
pub(super) fn mandatory() -> Vec<&'static str> {
    driver::MANDATORY
        .iter()
        .map(|slot| text(DriverTable::name(*slot)))
        .collect()
}

/// Returns the device commands that do nothing if neither a layer nor the driver implements them.
pub(super) fn null_tolerant() -> Vec<&'static str> {
    device::NULL_TOLERANT
        .iter()
        .map(|slot| text(DeviceTable::name(*slot)))
        .collect()
}
