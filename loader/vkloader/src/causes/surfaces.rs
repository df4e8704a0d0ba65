//! Explains programs that fail because of a surface, the object with which a device shows its images in a window.

use super::display::{self, System};
use crate::events::{Event, Record, Step};
use crate::names;
use crate::regular;
use crate::report::{self, Device, Dropped, Report, codes};
use crate::shell::word;
use crate::show::driver_word;
use std::collections::HashMap;
use std::path::Path;

/// Command that asks a device if a queue family can show images on a surface.
const SUPPORT: &str = "vkGetPhysicalDeviceSurfaceSupportKHR";

/// A call of the program about a surface.
struct Asked<'a> {
    /// End of the call.
    call: &'a Step,
    /// Ends of the calls of drivers within this call.
    of_drivers: Vec<&'a Step>,
}

impl Asked<'_> {
    /// Returns the library of the driver that answered, if a driver was asked.
    fn library(&self) -> Option<&str> {
        self.of_drivers.last()?.library.as_deref()
    }

    /// Returns the call of a driver that failed, if one did.
    fn failed_driver(&self) -> Option<&Step> {
        self.of_drivers.iter().find(|step| step.failure().is_some()).copied()
    }
}

/// Returns the calls of the program about surfaces, in order.
fn calls<'a>(records: &[&'a Record]) -> Vec<Asked<'a>> {
    let mut open: HashMap<&str, Vec<&Step>> = HashMap::new();
    let mut found = Vec::new();
    for record in records {
        let thread = record.thread.as_str();
        match &record.event {
            Event::Begin(step) if step.step == "call" => drop(open.insert(thread, Vec::new())),
            Event::End(step) if step.step == "driver" => open.entry(thread).or_default().push(step),
            Event::End(call) if call.step == "call" && call.name.contains("Surface") => found.push(Asked {
                call,
                of_drivers: open.remove(thread).unwrap_or_default(),
            }),
            _ => {}
        }
    }
    found
}

/// Returns `true` if the program tried to create a surface. The program had a window then, so it had a display.
pub(super) fn has_window(records: &[&Record]) -> bool {
    calls(records)
        .iter()
        .any(|asked| System::of_command(&asked.call.name).is_some())
}

/// Returns `true` if no device can show images on the surface of the program, or if a call about a surface failed.
pub(super) fn is_refused(records: &[&Record]) -> bool {
    let calls = calls(records);
    let answers = answers(&calls);
    let is_unable = !answers.is_empty() && answers.iter().all(|one| !one.is_able);
    is_unable || calls.iter().any(|one| one.call.failure().is_some())
}

/// Returns the window system of the last surface that the program created.
fn system(calls: &[Asked<'_>]) -> Option<System> {
    let mut names = calls.iter().rev().filter(|one| one.call.result == Some(0));
    names.find_map(|one| System::of_command(&one.call.name))
}

/// Answers of the devices of one driver.
struct Answers<'a> {
    library: &'a str,
    /// `true` if a queue family can show images.
    is_able: bool,
    /// `true` if the driver said that a queue family can show images, and a layer changed the answer.
    is_changed: bool,
    /// Facts about failures of the driver.
    facts: Vec<String>,
}

/// Returns the answers of each driver to the program's question about support of a surface.
fn answers<'a>(calls: &'a [Asked<'_>]) -> Vec<Answers<'a>> {
    let mut all: Vec<Answers<'_>> = Vec::new();
    for asked in calls.iter().filter(|one| one.call.name == SUPPORT) {
        let (Some(library), Some(supported)) = (asked.library(), asked.call.supported) else {
            continue;
        };
        let place = all.iter().position(|one| one.library == library).unwrap_or_else(|| {
            all.push(Answers {
                library,
                is_able: false,
                is_changed: false,
                facts: Vec::new(),
            });
            all.len() - 1
        });
        let own = &mut all[place];
        own.is_able |= supported;
        own.is_changed |= !supported && asked.of_drivers.iter().any(|step| step.supported == Some(true));
        if let Some(failed) = asked.failed_driver() {
            let code = failed.result.unwrap_or_default();
            let fact = format!("{} of the driver returned {}", failed.name, names::result(code));
            if !own.facts.contains(&fact) {
                own.facts.push(fact);
            }
        }
    }
    all
}

/// Returns a finding if no queue family of a device can show images on the surface of a program that then failed. Programs that end without
/// a failure count if no device can show images, and if they created no device.
pub(super) fn cannot_present(report: &Report, records: &[&Record]) -> Option<Dropped> {
    let calls = calls(records);
    let answers = answers(&calls);
    let unable = answers.iter().find(|one| !one.is_able)?;
    let able = answers.iter().find(|one| one.is_able);
    let has_device = super::late::has_device(records);
    let has = |code: &codes::Row| report.dropped.iter().any(|one| one.code == code.name);
    let has_failed = report.ended.is_some() && !has(codes::PROGRAM_KILLED) && !has(codes::PROGRAM_ENDED);
    if has_device && (able.is_some() || !has_failed) {
        return None;
    }
    let devices: Vec<&Device> = report
        .devices
        .iter()
        .filter(|one| one.driver == unable.library)
        .collect();
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    let name = if names.is_empty() {
        unable.library.into()
    } else {
        names.join(", ")
    };
    let system = system(&calls);
    let on = system.map_or("the window system", System::words);
    let mut found = codes::DEVICE_CANNOT_PRESENT.about(&name);
    found.file = Some(unable.library.into());
    found.reason = format!(
        "{name} cannot present to the surface of the program ({on}): {SUPPORT} said no for all queue families."
    );
    found.findings.extend(unable.facts.iter().cloned());
    if unable.is_changed {
        let layers: Vec<&str> = report.layers.iter().map(|layer| layer.name.as_str()).collect();
        found.findings.insert(
            0,
            format!(
                "the driver said yes, and a layer changed the answer: {}",
                layers.join(", ")
            ),
        );
        found.advice = report::one_after_the_other(&report.layers, &report.variables);
        return Some(found);
    }
    found.findings.extend(lacks_extension(unable.library, system, records));
    found.advice = remedy(report, unable.library, able.map(|one| one.library), system);
    Some(found)
}

/// Returns a fact if a driver does not list the instance extension for surfaces of a window system.
fn lacks_extension(library: &str, system: Option<System>, records: &[&Record]) -> Option<String> {
    let extensions = system?.extensions();
    let mut offers = records.iter().filter_map(|record| match &record.event {
        Event::Offers(offers) if offers.library == library => Some(offers),
        _ => None,
    });
    let offers = offers.next_back()?;
    let is_there = extensions
        .iter()
        .any(|name| offers.extensions.iter().any(|own| own.name == *name));
    (!is_there).then(|| format!("the driver does not have {}", extensions.join(" or ")))
}

/// Returns the remedy for a device that cannot show images. `able` is the library of a driver with a device that can.
fn remedy(report: &Report, library: &str, able: Option<&str>, system: Option<System>) -> String {
    if let Some(able) = able {
        let device = report.devices.iter().find(|one| one.driver == able);
        let name = device.map_or(able, |device| device.name.as_str());
        let choice = word(&format!("driver:{}", driver_word(able)));
        return format!("Choose a device that can present, {name}: VK_LOADER_DEVICE_SELECT={choice} PROGRAM");
    }
    if let Some(words) = system.and_then(|system| without_modeset(Path::new("/"), library, system)) {
        return words;
    }
    let other = system.and_then(|system| display::other_system(system, &report.variables));
    other.unwrap_or_else(|| codes::DEVICE_CANNOT_PRESENT.remedy.into())
}

/// Returns the remedy if NVIDIA's kernel module does not set modes, without which NVIDIA's driver cannot present to Wayland. `root` is the
/// root folder of the system.
fn without_modeset(root: &Path, library: &str, system: System) -> Option<String> {
    const PARAMETER: &str = "sys/module/nvidia_drm/parameters/modeset";
    let is_of_nvidia = library.contains("nvidia") && system == System::Wayland;
    let value = regular::text(root.join(PARAMETER)).ok().filter(|_| is_of_nvidia)?;
    (value.trim() == "N").then(|| {
        "Add nvidia-drm.modeset=1 to the kernel's command line, and start the machine again: without it, NVIDIA's driver cannot present to \
         Wayland."
            .into()
    })
}

/// Results of calls about surfaces.
const SURFACE_LOST: i32 = -1_000_000_000;
const NATIVE_WINDOW_IN_USE: i32 = -1_000_000_001;
const EXTENSION_NOT_PRESENT: i32 = -7;

/// Completes the finding about a failed call, if the call is about a surface: adds the driver or layer that made the call fail.
pub(super) fn explain(found: &mut Dropped, report: &Report, records: &[&Record]) {
    let calls = calls(records);
    let mut failed = calls.iter().rev().filter(|one| one.call.failure().is_some());
    let Some(asked) = failed.find(|one| one.call.name == found.name) else {
        return;
    };
    let code = asked.call.result.unwrap_or_default();
    let (call, result) = (&asked.call.name, names::result(code));
    if let Some(driver) = asked.failed_driver() {
        let library = driver.library.clone().unwrap_or_default();
        found.reason = format!(
            "{} of the driver {library} failed with {result}, so the program has no surface.",
            driver.name
        );
        found.advice = for_result(code, report);
        found.file = Some(library);
        return;
    }
    let is_disabled = |error: &String| error.contains("extension not enabled") && error.contains(call.as_str());
    if report.errors.iter().any(is_disabled) {
        found.reason = format!("The program called {call} without the extension of this command, so the call failed.");
        found.advice = "Update the program: it must enable the extension in vkCreateInstance.".into();
        return;
    }
    if report.layers.is_empty() {
        found.advice = for_result(code, report);
        return;
    }
    let names: Vec<&str> = report.layers.iter().map(|layer| layer.name.as_str()).collect();
    let who = if let [only] = names[..] { only } else { "a layer" };
    found.reason = format!("{who} made {call} fail with {result}: no driver failed in this call.");
    found
        .findings
        .insert(0, format!("the layers of the call: {}", names.join(", ")));
    found.advice = report::one_after_the_other(&report.layers, &report.variables);
    if let [only] = &report.layers[..] {
        found.subject = "layer".into();
        found.code = codes::LAYER_CALL_FAILED.name.into();
        found.name.clone_from(&only.name);
        found.file = Some(only.manifest.clone());
    }
}

/// Returns the remedy for a driver that fails in a call about a surface.
fn for_result(code: i32, report: &Report) -> String {
    match code {
        SURFACE_LOST => "The window or the connection to its display is gone: start the program in the session of the display, and look for \
             messages of the X server or compositor."
            .into(),
        NATIVE_WINDOW_IN_USE => "Another surface or OpenGL already draws in the window: close overlays and capture programs, or start the program \
             without OpenGL."
            .into(),
        EXTENSION_NOT_PRESENT => "Update the driver, or start the program with another window system: env -u WAYLAND_DISPLAY SDL_VIDEODRIVER=x11 \
             QT_QPA_PLATFORM=xcb GDK_BACKEND=x11 PROGRAM"
            .into(),
        _ if report.devices.len() > 1 => {
            "Update the driver, or choose another device: vkloader devices prints the words for VK_LOADER_DEVICE_SELECT.".into()
        }
        _ => "Update the driver, and start the program in the session of the display.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvidias_module_without_modes_is_named_for_wayland() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("sys/module/nvidia_drm/parameters");
        std::fs::create_dir_all(&folder).expect("folders");
        let library = "/usr/lib/libGLX_nvidia.so.0";
        assert_eq!(without_modeset(root.path(), library, System::Wayland), None);
        std::fs::write(folder.join("modeset"), "N\n").expect("a file");
        let words = without_modeset(root.path(), library, System::Wayland).expect("a remedy");
        assert!(words.contains("nvidia-drm.modeset=1"), "{words}");
        assert_eq!(without_modeset(root.path(), library, System::X11), None);
        assert_eq!(
            without_modeset(root.path(), "/usr/lib/libvulkan_radeon.so", System::Wayland),
            None
        );
        std::fs::write(folder.join("modeset"), "Y\n").expect("a file");
        assert_eq!(without_modeset(root.path(), library, System::Wayland), None);
    }
}
