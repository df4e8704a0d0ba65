//! Log lines about the active settings (APP-262).

use core::fmt;

use super::{Control, DeviceConfiguration, LayerEntry, Settings};
use crate::env::device_select::DeviceWords;
use crate::journal::bits::NAMES;
use crate::journal::{Journal, LogBits};
use os::Show;

/// The severities and categories that the log line "Loader Settings Filters for Logging to Standard Error" can list.
const SHOWN: LogBits = LogBits::ERROR
    .with(LogBits::WARN)
    .with(LogBits::INFO)
    .with(LogBits::DEBUG)
    .with(LogBits::PERF)
    .with(LogBits::DRIVER)
    .with(LogBits::LAYER);

impl Settings {
    /// Logs the active settings, as consecutive lines.
    pub fn describe(&self, journal: &Journal<'_>) {
        journal.note(
            LogBits::INFO,
            format_args!("Using layer configurations found in loader settings from {}", self.path),
        );
        if journal.wants(LogBits::DEBUG) {
            Lines(journal).add_settings(self);
        }
    }
}

/// Writer of the lines after the first line, which names the settings file.
struct Lines<'a>(&'a Journal<'a>);

impl Lines<'_> {
    fn add(&self, line: fmt::Arguments<'_>) {
        self.0.note(LogBits::DEBUG, line);
    }

    fn add_settings(&self, settings: &Settings) {
        if !settings.log_mask.is_empty() {
            let names = names(settings.log_mask);
            self.add(format_args!(
                "Loader Settings Filters for Logging to Standard Error: {names}"
            ));
        }
        if let Some(layers) = &settings.layers {
            self.add(format_args!("Layer Configurations count = {}", layers.len()));
            for (index, layer) in layers.iter().enumerate() {
                self.add_layer(index, layer);
            }
        }
        if !settings.additional_drivers.is_empty() {
            self.add_drivers(settings);
        }
        for chain in &settings.layer_order {
            self.add(format_args!("Layer Order: {chain}"));
        }
        for policy in settings.driver_policies.names() {
            self.add(format_args!("Driver Policy: {policy}"));
        }
        if !settings.visible_devices.is_empty() {
            let words = DeviceWords::shown_in_file(&settings.visible_devices);
            self.add(format_args!("Visible Devices: {words}"));
        }
        if let Some(devices) = &settings.device_configurations {
            self.add(format_args!("----"));
            self.add(format_args!("Device Configurations count = {}", devices.len()));
            for (index, device) in devices.iter().enumerate() {
                self.add_device(index, device);
            }
        }
        self.add(format_args!("---------------------------------"));
    }

    fn add_layer(&self, index: usize, layer: &LayerEntry) {
        self.add(format_args!("---- Layer Configuration [{index}] ----"));
        if layer.control != Control::Unordered {
            let kind = if layer.implicit { "Implicit" } else { "Explicit" };
            self.add(format_args!("Name: {}", layer.name));
            self.add(format_args!("Path: {}", layer.path));
            self.add(format_args!("Layer Type: {kind}"));
        }
        self.add(format_args!("Control: {}", layer.control.word()));
    }

    fn add_drivers(&self, settings: &Settings) {
        self.add(format_args!("----"));
        let exclusively = settings.additional_drivers_exclusive;
        self.add(format_args!("Use Additional Drivers Exclusively = {exclusively}"));
        let count = settings.additional_drivers.len();
        self.add(format_args!("Additional Driver Configurations count = {count}"));
        for (index, path) in settings.additional_drivers.iter().enumerate() {
            self.add(format_args!("---- Driver Configuration [{index}] ----"));
            self.add(format_args!("Path: {path}"));
        }
    }

    fn add_device(&self, index: usize, device: &DeviceConfiguration) {
        self.add(format_args!("---- Device Configuration [{index}] ----"));
        self.add(format_args!("deviceUUID: {}", uuid_text(&device.device_uuid)));
        self.add(format_args!("driverUUID: {}", uuid_text(&device.driver_uuid)));
        self.add(format_args!("driverVersion: {}", device.driver_version));
        for (label, name) in [("deviceName", &device.device_name), ("driverName", &device.driver_name)] {
            if !name.as_bytes().is_empty() {
                self.add(format_args!("{label}: {name}"));
            }
        }
    }
}

/// Returns the names of the enabled log levels, separated by bars.
fn names(mask: LogBits) -> impl fmt::Display {
    Show(move |out: &mut fmt::Formatter<'_>| {
        let set = NAMES
            .iter()
            .filter(|(bit, _)| SHOWN.contains(*bit) && mask.contains(*bit));
        for (place, (_, name)) in set.enumerate() {
            let bar = if place == 0 { "" } else { " | " };
            write!(out, "{bar}{name}")?;
        }
        Ok(())
    })
}

/// Returns a UUID as hexadecimal digits in the form 8-4-4-4-12.
pub fn uuid_text(uuid: &[u8; 16]) -> impl fmt::Display {
    Show(move |out: &mut fmt::Formatter<'_>| {
        for (index, byte) in uuid.iter().enumerate() {
            let line = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(out, "{line}{byte:02x}")?;
        }
        Ok(())
    })
}
