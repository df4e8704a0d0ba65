//! Finds drivers and layers for another word size than the program's. Systems with programs of both word sizes normally have drivers and
//! layers for both.

use super::elf::{self, Identity};
use super::overriding::REPLACING;
use crate::paths::file_name;
use crate::report::{Card, Dropped, Report, Verdict, codes, other, rank};
use crate::shell::word;
use crate::{installed, manifests};
use catalogue::hardware::{self, Row};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// Codes of findings about drivers and layers for another word size or processor.
pub(super) const CODES: [&str; 3] = [
    "driver.wrong-architecture",
    "driver-manifest.architecture",
    "layer-library.wrong-architecture",
];

/// Removes the findings about drivers and layers of another word size if the program lacks nothing. This is so if the
/// same driver or layer exists for the program's word size, another driver for the same hardware, or a driver of the same package.
pub(super) fn forget(report: &mut Report) {
    let is_it = |one: &Dropped| CODES.contains(&one.code.as_str());
    if !report.dropped.iter().any(is_it) {
        return;
    }
    let names_of_drivers: Vec<&str> = report
        .drivers
        .iter()
        .flat_map(|driver| [Some(driver.library.as_str()), driver.manifest.as_deref()])
        .flatten()
        .collect();
    let layers = report.layers.iter();
    let names_of_layers = layers.flat_map(|layer| [layer.library.as_str(), layer.name.as_str()]);
    let names = names_of_drivers.iter().copied().chain(names_of_layers);
    let families: Vec<String> = names.map(family).collect();
    let hardware: Vec<&Row> = names_of_drivers.iter().filter_map(|name| row(name)).collect();
    let packages: OnceCell<Vec<String>> = OnceCell::new();
    let cards = &report.hardware;
    let own_packages = || packages.get_or_init(|| names_of_drivers.iter().filter_map(|name| package(name)).collect());
    report.dropped.retain(|dropped| {
        let names = || {
            [Some(dropped.name.as_str()), dropped.file.as_deref()]
                .into_iter()
                .flatten()
        };
        let is_same = || names().any(|name| families.contains(&family(name)));
        let serves = |other: &Row| hardware.iter().any(|own| is_for_hardware_of(own, other));
        let is_served = || names().filter_map(row).any(serves);
        let is_packaged = || names().filter_map(package).any(|name| own_packages().contains(&name));
        let is_for_card = || {
            names()
                .filter_map(row)
                .any(|row| cards.iter().any(|card| drives(row, card)))
        };
        let is_spare = || is_packaged() && !is_misplaced(dropped, &names_of_drivers) && !is_for_card();
        let is_lacking_nothing = || is_served() || is_spare();
        !is_it(dropped) || !(is_same() || is_of_driver(dropped) && is_lacking_nothing())
    });
}

/// Returns `true` if a driver is for a card that the system shows.
pub(super) fn drives(driver: &Row, card: &Card) -> bool {
    let kernel_driver = card.kernel_driver.as_deref();
    kernel_driver.is_some_and(|kernel_driver| driver.kernel_drivers.contains(&kernel_driver))
}

/// Returns `true` if the library of a driver is for a processor of another family, but no package for that processor brings it. `used` has the
/// libraries of the drivers that the program opened.
fn is_misplaced(dropped: &Dropped, used: &[&str]) -> bool {
    let is_of_other = dropped.code == CODES[0] && dropped.rank == rank::BROKEN;
    // Packages for other processors name their libraries by path, because each processor has folders of its own.
    let owner = || installed::owner(&dropped.name).filter(|_| dropped.name.starts_with('/'));
    let is_own = |owner: &String| used.iter().any(|path| installed::owner(path).as_ref() == Some(owner));
    is_of_other && owner().is_none_or(|owner| is_own(&owner))
}

/// Makes the findings about drivers of another word size side notes if a program can use each card that the system shows.
pub(super) fn set_aside(report: &mut Report) {
    let is_used = |card: &Card| {
        let mut devices = report.devices.iter().filter(|device| device.is_usable);
        devices.any(|device| device.pci.as_deref() == Some(&card.place) || device.vendor == card.vendor)
    };
    if report.verdict != Verdict::Hardware || !report.hardware.iter().all(is_used) {
        return;
    }
    let found = report.dropped.iter_mut();
    let others = found.filter(|one| is_of_driver(one) && CODES.contains(&one.code.as_str()));
    others.for_each(|one| one.rank = rank::ASIDE);
}

/// Returns the row of a known driver. `path` is the path of its library, or of its manifest.
fn row(path: &str) -> Option<&'static Row> {
    hardware::of(other::library_of(path).as_bytes())
}

/// Returns `true` if the driver `own` is for all hardware for which the driver `other` is.
fn is_for_hardware_of(own: &Row, other: &Row) -> bool {
    let mut drivers = other.kernel_drivers.iter();
    let is_known = other.is_software || !other.kernel_drivers.is_empty();
    is_known && own.is_software == other.is_software && drivers.all(|driver| own.kernel_drivers.contains(driver))
}

/// Returns the name of the package that contains the manifest at a path, without the processor for which the package is. Returns `None` for
/// other files.
fn package(path: &str) -> Option<String> {
    let owner = Some(path)
        .filter(|path| path.ends_with(".json"))
        .and_then(installed::owner)?;
    let name = owner.strip_prefix("package ").unwrap_or(&owner);
    let name = name.split(':').next().unwrap_or(name);
    let name = name.strip_prefix("lib32-").unwrap_or(name);
    let ends = [".x86_64", ".i686", ".i386", ".aarch64", ".armv7hl"];
    let end = ends.iter().find_map(|end| name.strip_suffix(end));
    Some(end.unwrap_or(name).into())
}

/// Handles a variable that replaces the search for drivers, but names only drivers for another word size. Makes the findings about these
/// drivers the first causes. `of_variable` is the rank of the finding about the variable.
pub(super) fn blame_variable(report: &mut Report, variable: &str, of_variable: u8) {
    let is_broken = |one: &Dropped| is_of_driver(one) && one.rank < rank::ASIDE && !CODES.contains(&one.code.as_str());
    if report.is_usable() || !report.drivers.is_empty() || report.dropped.iter().any(is_broken) {
        return;
    }
    let own = report.loader.as_ref().and_then(|loader| loader.path.as_deref());
    let own = own
        .and_then(|path| Identity::of(Path::new(path)))
        .unwrap_or_else(Identity::of_this_process);
    let is_of_other = |one: &&mut Dropped| is_of_driver(one) && CODES.contains(&one.code.as_str());
    for one in report.dropped.iter_mut().filter(is_of_other) {
        let rest = match counterpart(one, own) {
            Some(path) => format!(
                "Name the manifest for {own}: {variable}={}",
                word(&path.display().to_string())
            ),
            None => one.advice.trim_end_matches('.').to_owned(),
        };
        one.advice = format!("{rest}, or: unset {variable}");
        one.variable = Some(variable.into());
        one.rank = of_variable.saturating_sub(1);
    }
}

/// Blames a misspelt path in a variable that replaces the search for drivers, if the variable also names the same driver for another word
/// size. Removes the findings about the other word size, because lists with both word sizes are usual.
pub(super) fn blame_misspelt(report: &mut Report) {
    let set = |name: &&str| report.variables.get(name).is_some();
    let Some(variable) = REPLACING.into_iter().find(set).filter(|_| report.drivers.is_empty()) else {
        return;
    };
    let value = report.variables.get(variable).unwrap_or_default();
    let own = report.loader.as_ref().and_then(|loader| loader.path.as_deref());
    let own = own.and_then(|path| Identity::of(Path::new(path)));
    let own = own.unwrap_or_else(Identity::of_this_process);
    let mut misspelt: Vec<(&str, PathBuf)> = Vec::new();
    report.dropped.retain(|one| {
        let manifest = [one.file.as_deref(), Some(one.name.as_str())];
        let manifest = manifest.into_iter().flatten().find(|path| path.ends_with(".json"));
        let is_meant =
            |word: &&str| !word.is_empty() && !Path::new(word).exists() && manifest.map(stem) == Some(stem(word));
        let meant = || Some((value.split(':').find(is_meant)?, counterpart(one, own)?));
        let is_of_other = is_of_driver(one) && CODES.contains(&one.code.as_str());
        let found = is_of_other.then(meant).flatten();
        let is_kept = found.is_none();
        misspelt.extend(found);
        is_kept
    });
    for (path, exists) in misspelt {
        let exists = exists.display().to_string();
        let words: Vec<&str> = value
            .split(':')
            .map(|word| if word == path { &exists } else { word })
            .collect();
        let is_it = |one: &&mut Dropped| {
            (one.code.as_str(), one.name.as_str()) == (codes::VARIABLE_NO_MATCH.name, variable)
                && one.reason.starts_with(&format!("{path} in "))
        };
        for one in report.dropped.iter_mut().filter(is_it) {
            one.rank = rank::SILENT - 1;
            one.advice = format!(
                "Correct the path: {variable}={}, or: unset {variable}",
                word(&words.join(":"))
            );
        }
    }
}

fn is_of_driver(found: &Dropped) -> bool {
    found.subject.starts_with("driver")
}

/// Returns the manifest of the same driver for the word size in `own`, from the folder of the driver's manifest.
fn counterpart(driver: &Dropped, own: Identity) -> Option<PathBuf> {
    let mut names = [driver.file.as_deref(), Some(driver.name.as_str())]
        .into_iter()
        .flatten();
    let manifest = Path::new(names.find(|path| path.ends_with(".json"))?);
    let start = stem(manifest.to_str()?);
    let entries = std::fs::read_dir(manifest.parent()?).ok()?.flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().find(|path| {
        let is_same = path.extension().is_some_and(|ending| ending == "json") && stem(&path.to_string_lossy()) == start;
        let library = manifests::named(path).map(|named| manifests::found(path, &named));
        let opens = || {
            let file = elf::locate(library.as_ref()?.to_str()?, own)?;
            Some(Identity::of(&file)? == own)
        };
        is_same && path != manifest && opens() == Some(true)
    })
}

/// Words for a word size or processor in the names of drivers and layers.
const SIZES: [&str; 8] = ["x86_64", "x86", "amd64", "i386", "i686", "aarch64", "64", "32"];

/// Returns the part of a name that drivers and layers of the same kind for all word sizes share: `amd` for `amd_icd32.json`, and `acme` for
/// `libvulkan_acme.so` and `acme_icd.i686.json`.
pub(crate) fn family(path: &str) -> String {
    let file = stem(path);
    let mut name = file.as_str();
    for beginning in ["libvulkan_", "lib"] {
        name = name.strip_prefix(beginning).unwrap_or(name);
    }
    let is_sign = |sign: char| ['_', '-'].contains(&sign);
    for ends in [&SIZES[..], &["icd"], &SIZES[..]] {
        let end = ends.iter().find_map(|end| name.strip_suffix(end));
        name = end.map_or(name, |rest| rest.trim_end_matches(is_sign));
    }
    if name.is_empty() { file } else { name.into() }
}

/// Returns the file name up to the first dot, which is the same for all word sizes: `radeon_icd` for `radeon_icd.i686.json`.
pub(super) fn stem(path: &str) -> String {
    let file = file_name(path);
    file.split('.').next().unwrap_or(file).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_of_all_word_sizes_have_one_family() {
        for (family_name, names) in [
            ("amd", &["/etc/vulkan/icd.d/amd_icd32.json", "amd_icd64.json"][..]),
            ("amdvlk", &["/usr/lib/i386-linux-gnu/amdvlk32.so", "amdvlk64.so"]),
            (
                "acme",
                &[
                    "acme_icd.i686.json",
                    "acme.json",
                    "libvulkan_acme.so",
                    "/opt/libacme.so.2",
                    "acme-x86_64.json",
                ],
            ),
            ("GLX_nvidia", &["libGLX_nvidia.so.0"]),
            (
                "VK_LAYER_VALVE_steam_overlay",
                &["VK_LAYER_VALVE_steam_overlay_32", "VK_LAYER_VALVE_steam_overlay_64"],
            ),
            ("lib32", &["lib32.so"]),
        ] {
            for name in names {
                assert_eq!(family(name), family_name, "{name}");
            }
        }
    }

    #[test]
    fn a_library_of_no_package_is_misplaced_if_it_is_for_a_processor_of_another_family() {
        for (rank, is_it) in [(rank::BROKEN, true), (rank::ASIDE, false)] {
            let found = Dropped {
                code: CODES[0].into(),
                rank,
                ..codes::DRIVER_NONE_HAS_DEVICE.about("/nowhere/libvulkan_odd.so")
            };
            assert_eq!(is_misplaced(&found, &["/nowhere/libvulkan_lvp.so"]), is_it);
        }
    }

    #[test]
    fn a_driver_for_a_card_of_the_system_is_no_spare_part_of_its_package() {
        let card = Card::of_amd();
        let row = |library: &str| hardware::of(library.as_bytes()).expect("a known driver");
        assert!(drives(row("libvulkan_radeon.so"), &card));
        assert!(!drives(row("libvulkan_intel.so"), &card) && !drives(row("libvulkan_lvp.so"), &card));
    }

    #[test]
    fn a_driver_for_the_same_hardware_takes_the_place_of_another() {
        let row = |library: &str| hardware::of(library.as_bytes()).expect("a known driver");
        let (mesas, amds) = (row("libvulkan_radeon.so"), row("amdvlk32.so"));
        let (intels, software) = (row("libvulkan_intel.so"), row("libvulkan_lvp.so"));
        assert!(is_for_hardware_of(mesas, amds) && is_for_hardware_of(intels, row("libvulkan_intel_hasvk.so")));
        assert!(!is_for_hardware_of(software, amds) && !is_for_hardware_of(mesas, intels));
        assert!(!is_for_hardware_of(mesas, software), "software draws without hardware");
        assert!(!is_for_hardware_of(mesas, row("libvulkan_dzn.so")), "the driver of WSL");
    }
}
