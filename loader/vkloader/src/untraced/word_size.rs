//! Programs for another word size or processor, which write no trace for this program.

use super::LOADER;
use crate::carried;
use crate::causes;
use crate::causes::elf::{Closure, Identity, locate};
use crate::causes::{Part, install_for};
use crate::events::{Event, Record};
use crate::itself;
use crate::manifests;
use crate::report::{Dropped, Report, codes};
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages for 32-bit programs on x86 systems: the first constant names the loader, and the second one the drivers.
const LOADER_32: &str = "libvulkan1:i386 (Debian, Ubuntu; first: dpkg --add-architecture i386 && apt update), vulkan-loader.i686 (Fedora) or \
    lib32-vulkan-icd-loader (Arch)";
const DRIVERS_32: &str = "mesa-vulkan-drivers:i386 (Debian, Ubuntu; first: dpkg --add-architecture i386 && apt update), mesa-vulkan-drivers.i686 \
    (Fedora), lib32-vulkan-radeon, lib32-vulkan-intel or lib32-nvidia-utils (Arch)";

/// File that exists if the kernel can start programs through emulators.
const EMULATORS: &str = "/proc/sys/fs/binfmt_misc/register";

/// For a 32-bit program, executes the 32-bit `vkloader` if it is installed. Returns only if the 32-bit `vkloader` is not installed, or if
/// this machine cannot run it.
pub(crate) fn become_32_bits(program: &OsStr) {
    let is_32 = itself::find(program)
        .and_then(|program| Identity::of(&program))
        .is_some_and(Identity::is_x86_32);
    let is_other = is_32 && !Identity::of_this_process().is_x86_32();
    if let Some(vkloader) = carried::program_of_32_bits().filter(|_| is_other) {
        // Ignores the error, which means that this machine cannot run 32-bit programs.
        let _ = Command::new(vkloader).args(std::env::args_os().skip(1)).exec();
    }
}

/// Returns `true` if a program is for another processor or word size than this program.
pub(crate) fn is_of_other_size(program: &OsStr) -> bool {
    let its = itself::find(program).and_then(|program| Identity::of(&program));
    its.is_some_and(|its| its != Identity::of_this_process())
}

/// Returns the finding about a program for another processor or word size than this program. `records` is the trace of the probe, and `report` has
/// the cards of the system and the end of the program.
pub(crate) fn of_other_size(program: &OsStr, records: &[Record], report: &Report) -> Option<Dropped> {
    let program = itself::find(program)?;
    let its = Identity::of(&program)?;
    let mut found = codes::PROGRAM_WORD_SIZE.about(program.display().to_string());
    let own = Identity::of_this_process();
    found.findings.push(format!("it is for {its}, and vkloader for {own}"));
    if !its.is_of_family(own) && !Path::new(EMULATORS).exists() {
        // The kernel cannot start such a program, but the C library then lets a shell read its file as a script.
        found.reason = format!("The program is for {its}, and this system runs programs for {own}.");
        found.advice = format!("Use a build of the program for {own}, or an emulator such as qemu-user or box64.");
        return Some(found);
    }
    let drivers = drivers(records, its);
    let Some(loader) = locate(LOADER, its) else {
        let (what, packages) = if drivers.is_empty() {
            let packages = to_install(&[Part::Loader, Part::Drivers], its);
            ("loader and no driver", packages)
        } else {
            ("loader", to_install(&[Part::Loader], its))
        };
        found.reason = format!("The program is for {its}, and no Vulkan {what} for such programs is installed.");
        found.advice = for_32_bits(its, &packages);
        return Some(found);
    };
    found.findings.push(format!("its loader: {}", loader.display()));
    if drivers.is_empty() {
        found.reason = format!("The program is for {its}, and no Vulkan driver for such programs is installed.");
        found.advice = for_32_bits(its, &to_install(&[Part::Drivers], its));
        return Some(found);
    }
    of_drivers(&mut found, &drivers, its, report);
    Some(found)
}

/// Adds to the finding about a program with the identity `its` the drivers for such programs, and the libraries that these drivers lack.
fn of_drivers(found: &mut Dropped, drivers: &[(String, PathBuf)], its: Identity, report: &Report) {
    let mut whole = Vec::new();
    let mut broken = Vec::new();
    for (manifest, library) in drivers {
        let missing = Closure::of(library, its).missing;
        let shown = library.display();
        found.findings.push(match missing.first() {
            Some((name, by)) => {
                let words = format!("{name} is missing, which {} needs", by.display());
                let finding = format!("{shown} of {manifest} cannot be opened: {words}");
                broken.push((shown.to_string(), missing, words));
                finding
            }
            None => {
                whole.push(shown.to_string());
                format!("its driver: {shown} of {manifest}")
            }
        });
    }
    if !whole.is_empty() {
        // The program has all that it needs, so only its devices are unknown.
        found.code = codes::PROGRAM_NO_TRACE.name.into();
        found.reason = format!("The program is for {its}, and vkloader is not, so the program left no trace.");
        if (report.ending.by, report.ending.number) == ("status", Some(0)) {
            found.advice = String::new();
        }
    }
    let is_for_card = |library: &str| causes::is_for_any(library, &report.hardware);
    let has_card = whole.iter().any(|library| is_for_card(library));
    broken.sort_by_key(|(library, ..)| !is_for_card(library));
    let lost = broken
        .first()
        .filter(|(library, ..)| whole.is_empty() || !has_card && is_for_card(library));
    if let Some((library, missing, words)) = lost {
        let names: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
        found.reason =
            format!("The program is for {its}, and the driver {library} for such programs cannot be opened: {words}.");
        found.advice = causes::install(&names, its);
    }
}

/// Returns the packages with parts of the system for programs with the identity `its`: as a command, if the package manager is known.
fn to_install(parts: &[Part], its: Identity) -> String {
    if let Some(command) = install_for(parts, its, Path::new("/")) {
        return format!("it: {command}");
    }
    let names = parts.iter().map(|part| match part {
        Part::Drivers => DRIVERS_32,
        Part::Loader | Part::CLibrary => LOADER_32,
    });
    names.collect::<Vec<_>>().join("; and a driver: ")
}

/// Returns the remedy that installs packages for 32-bit programs. For other programs, returns the general remedy.
fn for_32_bits(its: Identity, packages: &str) -> String {
    if its.is_x86_32() {
        format!("Install {packages}.")
    } else {
        codes::PROGRAM_WORD_SIZE.remedy.into()
    }
}

/// Returns the manifests in a trace whose driver is a library for programs with the identity `its`, each with the library. Without a trace, because
/// the loader is another one, returns those in the usual folders.
fn drivers(records: &[Record], its: Identity) -> Vec<(String, PathBuf)> {
    let has_trace = records.iter().any(|record| matches!(record.event, Event::Loaded(_)));
    let decided = records.iter().filter_map(|record| match &record.event {
        Event::Decision(decision) if decision.subject == "driver-manifest" => Some(decision.name.clone()),
        _ => None,
    });
    let all: Vec<String> = if has_trace {
        decided.collect()
    } else {
        causes::usual_manifests()
    };
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for name in all {
        let path = Path::new(&name);
        let library = manifests::named(path).map(|named| manifests::found(path, &named));
        let library = library.and_then(|library| locate(&library.display().to_string(), its));
        let is_new = found.iter().all(|(known, _)| *known != name);
        if let Some(library) = library.filter(|library| is_new && Identity::of(library) == Some(its)) {
            found.push((name, library));
        }
    }
    found
}
