//! The process that records a driver's answers about its devices (docs/catalogue.md).
//!
//! The process calls the driver in the same way as the library, below all layers. The process asks each question for each version of
//! Vulkan, with and without the driver's instance extensions, and with memory that was filled with two patterns. Answers that differ are
//! not recorded.

mod ask;
mod callbacks;
mod devices;
mod machine;
mod profiles;
mod ways;

use crate::probe;
use crate::vulkan::GetProcAddr;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use record::{Builder, DRIVER, Key, MOST_DEVICES, Query};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::process::ExitCode;
use ways::{Driver, Way};

/// Exit status of a process that printed the reason why there is no record.
pub(crate) const NO_RECORD: u8 = 42;

/// Prints the record of a driver, or the reason why there is none. Nothing else in this process uses the driver.
///
/// # Errors
///
/// The output cannot be written.
pub(crate) fn print(library: &OsStr) -> io::Result<ExitCode> {
    probe::be_expendable();
    let mut answers = probe::answers()?;
    match make(library) {
        Ok(record) => {
            answers.write_all(&record)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(reason) => {
            answers.write_all(reason.to_string().as_bytes())?;
            Ok(ExitCode::from(NO_RECORD))
        }
    }
}

/// Returns the record of a driver.
///
/// # Errors
/// Returns the reason why there is no record.
fn make(library: &OsStr) -> io::Result<Vec<u8>> {
    let library = library
        .to_str()
        .ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
    if let Some(name) = machine::variable() {
        return Err(io::Error::other(format!(
            "{name} may change what drivers say about devices"
        )));
    }
    let nodes = machine::open_nodes();
    // SAFETY: the initialisers of a library may run any code. This process exists only for this driver, so a crash ends no other work.
    let opened = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) }.map_err(io::Error::other)?;
    let driver =
        Driver::negotiate(&opened).ok_or_else(|| io::Error::other("the driver has no interface for loaders"))?;
    std::mem::forget(opened);
    let ways = ways::all(&driver).map_err(|code| io::Error::other(format!("vkCreateInstance returned {code}")))?;
    let count = ways::devices(&ways).ok_or_else(|| io::Error::other("the devices differ between instances"))?;
    let count = u16::try_from(count)
        .ok()
        .filter(|count| *count <= MOST_DEVICES)
        .ok_or_else(|| io::Error::other("there are too many devices"))?;
    let mut made = Builder::new(count);
    facts(&driver, &ways, &mut made);
    let opened: Vec<String> = machine::open_nodes();
    let opened = opened.into_iter().filter(|path| !nodes.contains(path));
    made.add_all(Query::Node, opened.map(String::into_bytes));
    let profiles = profiles::read(driver.address())
        .ok_or_else(|| io::Error::other("its profiles select programs in an unusual way"))?;
    made.add_all(Query::Names, [profiles.names]);
    made.add_all(Query::File, profiles.files);
    made.add_all(Query::Machine, machine::memory());
    for device in 0..count {
        devices::add(&ways, device, &mut made);
        if !made.identifies(device) {
            let reason = "a device has neither UUIDs nor constant properties, by which it could be found again";
            return Err(io::Error::other(reason));
        }
    }
    devices::add_groups(&ways, &mut made);
    callbacks::add(&ways, &mut made);
    let (file, _) = made
        .finish()
        .ok_or_else(|| io::Error::other("the record is too large"))?;
    Ok(file)
}

/// Adds the driver's versions, and the list of commands that each instance provides.
fn facts(driver: &Driver, ways: &[Way], made: &mut Builder) {
    let numbers = [
        driver.interface,
        driver.version,
        driver.has_physical_device_look_up.into(),
    ];
    let versions = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    made.add(Key::of(DRIVER, Query::Versions), versions);
    for way in ways {
        let mut bits = vec![0_u8; record::COMMANDS.len().div_ceil(8)];
        for (number, name) in record::COMMANDS.iter().enumerate() {
            if way.has(name) {
                bits[number / 8] |= 1 << (number % 8);
            }
        }
        let index = way.minor * 2 + u32::from(way.with_extensions);
        made.add(Key::of(DRIVER, Query::Commands).at(index), bits);
    }
}

/// The type of a driver's look-up function.
type LookUp = GetProcAddr;
