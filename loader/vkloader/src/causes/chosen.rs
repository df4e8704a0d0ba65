//! Finds variables with which programs themselves choose their devices, if the value leaves out each graphics card.

use super::elf::{self, Closure};
use crate::report::{Device, Dropped, Report, codes, rank};
use crate::shell::word;
use crate::variables::Variables;
use std::fs;
use std::path::{Path, PathBuf};

/// Meaning of a variable's value.
#[derive(Clone, Copy)]
enum Kind {
    /// Numbers of devices in the list that programs get, separated by commas.
    Numbers,
    /// A part of the name of the device, in which the case of letters counts if the field is `true`.
    Part(bool),
    /// The UUID of the device.
    Uuid,
    /// The file of the Vulkan loader.
    Loader,
    /// The names of graphics APIs. Each word of the field stands for Vulkan.
    Api(&'static [&'static str]),
    /// A list of words. The word in the field turns Vulkan off.
    Off(&'static str),
}

/// A variable that programs read.
struct Row {
    name: &'static str,
    /// Programs that read the variable.
    programs: &'static str,
    kind: Kind,
}

const fn row(name: &'static str, programs: &'static str, kind: Kind) -> Row {
    Row { name, programs, kind }
}

const OF_GGML: &str = "llama.cpp, whisper.cpp and other programs with ggml";
const OF_WGPU: &str = "programs with wgpu";
const OF_SDL: &str = "programs with SDL";

const ROWS: [Row; 15] = [
    row("GGML_VK_VISIBLE_DEVICES", OF_GGML, Kind::Numbers),
    row("LLAMA_ARG_DEVICE", "llama.cpp", Kind::Off("none")),
    row("WGPU_ADAPTER_NAME", OF_WGPU, Kind::Part(false)),
    row("WGPU_BACKEND", OF_WGPU, Kind::Api(&["vulkan", "vk", "primary"])),
    row(
        "DXVK_FILTER_DEVICE_NAME",
        "programs for Windows with DXVK",
        Kind::Part(true),
    ),
    row("DXVK_FILTER_DEVICE_UUID", "programs for Windows with DXVK", Kind::Uuid),
    row(
        "VKD3D_FILTER_DEVICE_NAME",
        "programs for Windows with vkd3d-proton",
        Kind::Part(true),
    ),
    row("VKD3D_VULKAN_DEVICE", "programs for Windows with vkd3d", Kind::Numbers),
    row("GDK_VULKAN_DEVICE", "programs with GTK", Kind::Numbers),
    row("GDK_DISABLE", "programs with GTK", Kind::Off("vulkan")),
    row("QT_VK_PHYSICAL_DEVICE_INDEX", "programs with Qt", Kind::Numbers),
    row("QT_VULKAN_LIB", "programs with Qt", Kind::Loader),
    row("SDL_VULKAN_LIBRARY", OF_SDL, Kind::Loader),
    row("SDL_GPU_DRIVER", OF_SDL, Kind::Api(&["vulkan"])),
    row("TI_VISIBLE_DEVICE", "programs with Taichi", Kind::Numbers),
];

/// Adds a finding about a variable that leaves out each graphics card. If it is not known that the program reads the variable, only adds a fact to
/// the finding about the program's failure.
pub(super) fn find(report: &mut Report) {
    let has_no_instance = report
        .dropped
        .iter()
        .any(|one| one.code == codes::PROGRAM_NO_INSTANCE.name);
    if report.devices.is_empty() && !has_no_instance {
        return;
    }
    let program = report.loader.as_ref().and_then(|loader| loader.executable.clone());
    let program = program.unwrap_or_default();
    let problems = ROWS.iter().filter_map(|row| {
        let value = report.variables.get(row.name)?;
        let (fact, right) = row.problem(&value, &report.devices)?;
        (!report.devices.is_empty() || row.uses_none()).then_some((row, fact, right))
    });
    let problems: Vec<(&Row, String, Option<String>)> = problems.collect();
    let rows: Vec<&Row> = problems.iter().map(|(row, ..)| *row).collect();
    let read = read_by(Path::new(&program), &rows);
    for (row, fact, right) in problems {
        if read.contains(&row.name) {
            demote_end(report);
            report.dropped.push(row.finding(fact, right));
        } else if let Some(failed) = failed(report) {
            failed.findings.push(fact);
        }
    }
}

/// Returns the variables in `rows` whose name is in the file of a program, in a library beside it, or in a library that it needs. Wine runs
/// programs for Windows, whose files are not known.
fn read_by(program: &Path, rows: &[&Row]) -> Vec<&'static str> {
    let names = |rows: &[&Row]| -> Vec<&'static str> { rows.iter().map(|row| row.name).collect() };
    let file = program.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    if file.starts_with("wine") {
        let mut rows = rows.to_vec();
        rows.retain(|row| row.programs.contains("Windows"));
        return names(&rows);
    }
    let mut found = texts_of(program, &names(rows));
    // The library of SDL 2 may be a small one that opens SDL 3 itself, which has the names of the variables.
    if needs_sdl(program) {
        let of_sdl = rows.iter().filter(|row| row.programs == OF_SDL).map(|row| row.name);
        found.extend(of_sdl);
    }
    found
}

/// Returns `true` if a program needs a library of SDL.
fn needs_sdl(program: &Path) -> bool {
    let own = elf::Identity::of(program).unwrap_or_else(elf::Identity::of_this_process);
    let is_sdl = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with("libSDL"))
    };
    Closure::of(program, own).found.iter().any(is_sdl)
}

/// Returns `true` if a program contains a text, as for [`texts_of`].
pub(super) fn has_text(program: &Path, text: &'static str) -> bool {
    !texts_of(program, &[text]).is_empty()
}

/// Returns the texts in `words` that the file of a program contains, a library beside it, or a library that it needs.
pub(crate) fn texts_of<'a>(program: &Path, words: &[&'a str]) -> Vec<&'a str> {
    let own = elf::Identity::of(program).unwrap_or_else(elf::Identity::of_this_process);
    let beside = program.parent().and_then(|folder| fs::read_dir(folder).ok());
    let beside = beside.into_iter().flatten().flatten().map(|entry| entry.path());
    let is_library = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().contains(".so"))
    };
    let needed = || Closure::of(program, own).found;
    let files = std::iter::once(program.to_path_buf())
        .chain(beside.filter(is_library))
        .chain(std::iter::once_with(needed).flatten());
    let mut missing = words.to_vec();
    let mut found = Vec::new();
    for file in files {
        if missing.is_empty() {
            break;
        }
        let here = elf::contained(&file, &missing);
        missing.retain(|name| !here.contains(name));
        found.extend(here);
    }
    found
}

/// Returns the variables with which programs use no Vulkan, each with a fact, for a program that opened no Vulkan loader.
pub(crate) fn without_vulkan() -> Vec<(String, &'static str)> {
    let variables = Variables::default();
    let problems = ROWS.iter().filter_map(|row| {
        let value = variables.get(row.name)?;
        let (fact, _) = row.problem(&value, &[]).filter(|_| row.uses_none())?;
        Some((fact, row.name))
    });
    problems.collect()
}

/// Returns `true` for a usable graphics card.
fn is_card(device: &Device) -> bool {
    device.is_usable && !device.is_software()
}

/// Returns the finding that the program created no instance, or that it ended with a failure.
fn failed(report: &mut Report) -> Option<&mut Dropped> {
    let is_it =
        |one: &&mut Dropped| [codes::PROGRAM_NO_INSTANCE.name, codes::PROGRAM_FAILED.name].contains(&one.code.as_str());
    report.dropped.iter_mut().filter(is_it).min_by_key(|one| one.rank)
}

/// Lowers the rank of the finding about the end of the program, if the program ended itself. Most programs without a device end in this way.
pub(super) fn demote_end(report: &mut Report) {
    let is_own = report.crash.as_ref().is_none_or(|crash| crash.is_abort_of_program());
    let is_end = |one: &&mut Dropped| {
        [codes::PROGRAM_CRASHED.name, codes::PROGRAM_NO_INSTANCE.name].contains(&one.code.as_str())
    };
    let ends = report.dropped.iter_mut().filter(is_end);
    ends.filter(|_| is_own)
        .for_each(|one| one.rank = one.rank.max(rank::STATUS));
}

impl Row {
    /// Returns `true` for a variable with which programs use no Vulkan at all.
    fn uses_none(&self) -> bool {
        matches!(self.kind, Kind::Loader | Kind::Api(_) | Kind::Off(_))
    }

    /// Returns a fact about a value that leaves out each graphics card, and a value with which the program has one. Returns `None` for other values.
    fn problem(&self, value: &str, devices: &[Device]) -> Option<(String, Option<String>)> {
        if self.suits(value, devices) {
            return None;
        }
        let (name, programs) = (self.name, self.programs);
        let shown = if value.is_empty() { "empty" } else { value };
        let mut right = None;
        let how = match self.kind {
            Kind::Loader => format!("which {programs} open as the Vulkan loader, and which is not there"),
            Kind::Api(_) | Kind::Off(_) => format!("with which {programs} use no Vulkan"),
            Kind::Numbers | Kind::Part(_) | Kind::Uuid => {
                let all = || devices.iter().enumerate();
                let mut usable = all().filter(|(_, device)| device.is_usable);
                let first = all().find(|(_, device)| is_card(device)).or_else(|| usable.next());
                right = first.map(|(place, device)| match self.kind {
                    Kind::Numbers => place.to_string(),
                    Kind::Uuid => device.uuid.clone().unwrap_or_default(),
                    _ => device.name.clone(),
                });
                let names: Vec<String> = all()
                    .map(|(place, device)| format!("{place} {}", device.name))
                    .collect();
                format!(
                    "with which {programs} choose a device, and the devices are: {}",
                    names.join(", ")
                )
            }
        };
        Some((format!("{name} is {shown}, {how}"), right))
    }

    /// Returns `true` if a program with this value may use a graphics card, or any device on a machine without a card.
    fn suits(&self, value: &str, devices: &[Device]) -> bool {
        let words = || value.split([',', ' ', ':']).filter(|word| !word.is_empty());
        let has_card = devices.iter().any(is_card);
        let chooses = |fits: &dyn Fn(usize, &Device) -> bool| {
            let mut all = devices.iter().enumerate();
            all.any(|(place, device)| (is_card(device) || !has_card) && fits(place, device))
        };
        match self.kind {
            Kind::Numbers => {
                let numbers: Option<Vec<usize>> = words().map(|word| word.parse().ok()).collect();
                numbers.is_some_and(|numbers| {
                    numbers.iter().all(|number| *number < devices.len())
                        && chooses(&|place, _| numbers.contains(&place))
                })
            }
            Kind::Part(_) | Kind::Uuid if value.is_empty() => true,
            Kind::Part(true) => chooses(&|_, device| device.name.contains(value)),
            Kind::Part(false) => chooses(&|_, device| device.name.to_lowercase().contains(&value.to_lowercase())),
            Kind::Uuid => {
                let digits = |text: &str| text.replace('-', "").to_lowercase();
                chooses(&|_, device| device.uuid.as_deref().is_some_and(|own| digits(own) == digits(value)))
            }
            Kind::Loader => !value.contains('/') || Path::new(value).exists(),
            Kind::Api(known) => value.is_empty() || words().any(|word| known.contains(&word.to_lowercase().as_str())),
            Kind::Off(off) => !words().any(|word| word == off),
        }
    }

    fn finding(&self, fact: String, right: Option<String>) -> Dropped {
        let name = self.name;
        Dropped {
            reason: format!("{name}, which the program reads, leaves out each graphics card."),
            advice: match right {
                Some(right) => format!(
                    "Choose a device that exists: {name}={} PROGRAM, or: unset {name}",
                    word(&right)
                ),
                None => format!("If this is unintended: unset {name}"),
            },
            findings: [fact].into(),
            ..codes::VARIABLE_OF_PROGRAM.about(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report;

    #[test]
    fn values_that_leave_out_each_card_are_known() {
        let devices = [("NVIDIA RTX 4090", "discrete"), ("llvmpipe", "cpu")].map(|(name, kind)| Device {
            name: name.into(),
            kind: kind.into(),
            is_usable: true,
            ..report::of_other(&crate::probe::Device::default(), "")
        });
        for (name, value, right) in [
            ("GGML_VK_VISIBLE_DEVICES", "0", None),
            ("GGML_VK_VISIBLE_DEVICES", "1,0", None),
            ("GGML_VK_VISIBLE_DEVICES", "1", Some("0")),
            ("GGML_VK_VISIBLE_DEVICES", "5", Some("0")),
            ("GGML_VK_VISIBLE_DEVICES", "", Some("0")),
            ("GGML_VK_VISIBLE_DEVICES", "gpu", Some("0")),
            ("WGPU_ADAPTER_NAME", "nvidia", None),
            ("WGPU_ADAPTER_NAME", "radeon", Some("NVIDIA RTX 4090")),
            ("DXVK_FILTER_DEVICE_NAME", "nvidia", Some("NVIDIA RTX 4090")),
            ("WGPU_BACKEND", "gl,vulkan", None),
            ("WGPU_BACKEND", "gl", Some("")),
            ("LLAMA_ARG_DEVICE", "none", Some("")),
            ("GDK_DISABLE", "gl,vulkan", Some("")),
            ("SDL_VULKAN_LIBRARY", "/nowhere/libvulkan.so.1", Some("")),
            ("SDL_VULKAN_LIBRARY", "libvulkan.so.1", None),
        ] {
            let row = ROWS.iter().find(|row| row.name == name).expect("a row");
            let found = row.problem(value, &devices);
            let found = found.map(|(_, right)| right.unwrap_or_default());
            assert_eq!(found.as_deref(), right, "{name}={value}");
        }
    }
}
