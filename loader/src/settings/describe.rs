//! Active settings as log lines (APP-262).

use core::fmt;
use rust_alloc::string::String;
use rust_alloc::vec::Vec;

use super::{Control, DeviceConfiguration, LayerEntry, Settings};
use crate::journal::bits::NAMES;
use crate::journal::{Journal, LogBits, Raw, render};

/// The bits that the line about standard error names.
const SHOWN: LogBits = LogBits::ERROR
    .with(LogBits::WARN)
    .with(LogBits::INFO)
    .with(LogBits::DEBUG)
    .with(LogBits::PERF)
    .with(LogBits::DRIVER)
    .with(LogBits::LAYER);

impl Settings {
    /// Logs what is active, in one unbroken run of lines.
    pub fn describe(&self, journal: &Journal<'_>) {
        for (bits, line) in lines(self) {
            journal.note(bits, format_args!("{}", Raw(&line)));
        }
    }
}

/// The lines that tell what the settings are, each with its level.
pub(super) fn lines(settings: &Settings) -> Vec<(LogBits, Vec<u8>)> {
    let mut lines = Lines(Vec::new());
    lines.0.push((
        LogBits::INFO,
        render(format_args!(
            "Using layer configurations found in loader settings from {}",
            settings.path
        )),
    ));
    if !settings.log_mask.is_empty() {
        let set = NAMES
            .iter()
            .filter(|(bit, _)| SHOWN.contains(*bit) && settings.log_mask.contains(*bit));
        let names: Vec<&str> = set.map(|(_, name)| *name).collect();
        let names = names.join(" | ");
        lines.add(format_args!(
            "Loader Settings Filters for Logging to Standard Error: {names}"
        ));
    }
    if let Some(layers) = &settings.layers {
        lines.add(format_args!("Layer Configurations count = {}", layers.len()));
        for (index, layer) in layers.iter().enumerate() {
            lines.add_layer(index, layer);
        }
    }
    if !settings.additional_drivers.is_empty() {
        lines.add_drivers(settings);
    }
    if let Some(devices) = &settings.device_configurations {
        lines.add(format_args!("----"));
        lines.add(format_args!("Device Configurations count = {}", devices.len()));
        for (index, device) in devices.iter().enumerate() {
            lines.add_device(index, device);
        }
    }
    lines.add(format_args!("---------------------------------"));
    lines.0
}

struct Lines(Vec<(LogBits, Vec<u8>)>);

impl Lines {
    fn add(&mut self, line: fmt::Arguments<'_>) {
        self.0.push((LogBits::DEBUG, render(line)));
    }

    fn add_layer(&mut self, index: usize, layer: &LayerEntry) {
        self.add(format_args!("---- Layer Configuration [{index}] ----"));
        if layer.control != Control::Unordered {
            let kind = if layer.implicit { "Implicit" } else { "Explicit" };
            self.add(format_args!("Name: {}", layer.name));
            self.add(format_args!("Path: {}", layer.path));
            self.add(format_args!("Layer Type: {kind}"));
        }
        self.add(format_args!("Control: {}", layer.control.word()));
    }

    fn add_drivers(&mut self, settings: &Settings) {
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

    fn add_device(&mut self, index: usize, device: &DeviceConfiguration) {
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

/// A UUID as 8-4-4-4-12 hexadecimal digits.
pub fn uuid_text(uuid: &[u8; 16]) -> String {
    let mut text = String::new();
    for (index, byte) in uuid.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.extend(
            [byte >> 4, byte & 0xF]
                .iter()
                .filter_map(|&digit| char::from_digit(digit.into(), 16)),
        );
    }
    text
}
