//! The devices that an instance shows, as the user requested when the instance was created (DRV-143a).

use super::Instance;
use crate::alloc::HostVec;
use core::sync::atomic::{AtomicBool, Ordering};
use discovery::env::device_select::{DeviceWords, has_words};
use discovery::env::{Environment, Variable};
use discovery::journal::{Journal, LogBits};
use discovery::settings::Settings;
use os::memory::OutOfMemory;

/// Name by which messages refer to the list in the settings file.
const IN_FILE: &str = "visible_devices of the settings file";

/// Variables that choose the devices to show, or the first device.
const CHOOSING: [Variable; 5] = [
    Variable::VisibleDevices,
    Variable::DeviceSelect,
    Variable::DeviceIdFilter,
    Variable::VendorIdFilter,
    Variable::DriverIdFilter,
];

/// Returns the name of the variable or setting that chooses devices for an instance; `None` if the user did not choose.
#[cold]
pub(super) fn chooser(settings: Option<&Settings>, environment: &Environment<'_>) -> Option<&'static str> {
    let in_file = match settings {
        Some(settings) if settings.device_configurations.is_some() => {
            Some("device_configurations of the settings file")
        }
        Some(settings) if !settings.visible_devices.is_empty() => Some(IN_FILE),
        _ => None,
    };
    let is_set = |variable: &Variable| environment.get_non_empty(*variable).is_some();
    in_file.or_else(|| CHOOSING.into_iter().find(is_set).map(Variable::name))
}

/// A list of the only devices to show.
pub(crate) struct VisibleDevices {
    value: HostVec<u8>,
    /// The variable that has the list; `None` for the settings file.
    pub variable: Option<Variable>,
    is_reported: AtomicBool,
    /// `true` after an enumeration that hid every device.
    hid_all: AtomicBool,
}

impl VisibleDevices {
    /// Returns the words of the list, each of which selects devices.
    pub(crate) fn words(&self) -> DeviceWords {
        let read = match self.variable {
            Some(_) => DeviceWords::visible,
            None => DeviceWords::visible_in_file,
        };
        read(&self.value)
    }

    /// Returns the name by which messages refer to the list.
    pub(crate) fn name(&self) -> &'static str {
        self.variable.map_or(IN_FILE, Variable::name)
    }

    /// Returns `true` to the first caller, which then reports words that match no device.
    pub(crate) fn is_to_report(&self) -> bool {
        !self.is_reported.swap(true, Ordering::Relaxed)
    }
}

impl VisibleDevices {
    /// Notes that an enumeration at the end of the chain hid every device.
    pub(crate) fn note_all_hidden(&self) {
        self.hid_all.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if an enumeration hid every device since the last call of this function.
    pub(crate) fn takes_all_hidden(&self) -> bool {
        self.hid_all.swap(false, Ordering::Relaxed)
    }
}

impl Instance {
    /// Stores the list that applies to this instance, and returns its words. The settings file takes precedence over the variable, and
    /// `device_configurations` takes precedence over both lists.
    ///
    /// # Errors
    /// Memory ran out.
    pub(crate) fn choose_visible(
        &self,
        settings: Option<&Settings>,
        environment: &Environment<'_>,
        journal: &Journal<'_>,
    ) -> Result<Option<DeviceWords>, OutOfMemory> {
        let asked = environment.get_non_empty(Variable::VisibleDevices);
        let in_file = settings.map_or(&[][..], |settings| &settings.visible_devices);
        if asked.is_none() && in_file.is_empty() {
            return Ok(None);
        }
        let configured = settings.filter(|settings| settings.device_configurations.is_some());
        let chooser = configured.or(settings.filter(|_| !in_file.is_empty()));
        // A program that `vkloader` runs may have the same words in the variable and in the settings file. The warning is only for
        // different words.
        let is_other = |asked: &[u8]| DeviceWords::visible(asked) != DeviceWords::visible_in_file(in_file);
        let is_replaced = asked
            .as_ref()
            .is_some_and(|asked| configured.is_some() || is_other(asked));
        if let Some(chooser) = chooser.filter(|_| is_replaced) {
            let name = Variable::VisibleDevices.name();
            let line = format_args!(
                "{name} is ignored: the settings file {} chooses the devices",
                chooser.path
            );
            journal.note(LogBits::WARN | LogBits::DRIVER, line);
        }
        if let Some(chooser) = configured.filter(|_| !in_file.is_empty()) {
            let line = format_args!(
                "{IN_FILE} is ignored: device_configurations in {} chooses the devices",
                chooser.path
            );
            journal.note(LogBits::WARN | LogBits::DRIVER, line);
        }
        let (value, variable) = match &asked {
            Some(value) if chooser.is_none() => (&value[..], Some(Variable::VisibleDevices)),
            _ => (in_file, None),
        };
        if configured.is_some() || variable.is_some() && !has_words(value) {
            return Ok(None);
        }
        // Only the creation of the instance sets the list, and it runs once.
        let visible = self.visible.get_or_set(VisibleDevices {
            value: HostVec::try_from_slice(value, self.allocator)?,
            variable,
            is_reported: AtomicBool::new(false),
            hid_all: AtomicBool::new(false),
        });
        let name = visible.name();
        let bits = LogBits::INFO | LogBits::DRIVER;
        match variable {
            Some(_) => journal.note(bits, format_args!("{name} chooses the devices: {}", os::Raw(value))),
            None => journal.note(
                bits,
                format_args!("{name} chooses the devices: {}", DeviceWords::shown_in_file(value)),
            ),
        }
        Ok(Some(visible.words()))
    }

    /// Returns the list of the only devices to show; `None` if all devices are shown.
    pub(crate) fn visible(&self) -> Option<&VisibleDevices> {
        self.visible.get()
    }
}
