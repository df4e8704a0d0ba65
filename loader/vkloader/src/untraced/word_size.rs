//! Programs for another word size or processor, which write no trace for this program.

mod drivers;
mod layers;
mod unnamed;

use super::LOADER;
use crate::carried;
use crate::causes;
use crate::causes::elf::Identity;
use crate::causes::{Part, install_for};
use crate::crash::Environment;
use crate::events::Record;
use crate::itself;
use crate::report::{Dropped, Report, codes};
use crate::variables::Variables;
use drivers::Driver;
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

/// A program for another processor or word size than this program.
pub(crate) struct Other {
    file: PathBuf,
    its: Identity,
    /// Variables of its process, if they are known.
    pub(crate) variables: Variables,
}

impl Other {
    /// Returns the program of a command, or the process of the command that used a Vulkan loader, if it is for another processor or word size than
    /// this program. A script may start such a process, and the process may have ended before it found a loader. `environments` are those of all
    /// processes of the command.
    pub(crate) fn of(program: &OsStr, environments: &[Environment]) -> Option<Self> {
        let file = itself::find(program)?;
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let executable = |one: &Environment| one.executable.as_deref().map(PathBuf::from);
        let with = |file: PathBuf, process: Option<&Environment>| {
            let its = Identity::of(&file).filter(|its| *its != Identity::of_this_process())?;
            let set = process.and_then(|one| one.variables.as_ref());
            let variables = set.map(|set| Variables::of_started(set)).unwrap_or_default();
            Some(Self { file, its, variables })
        };
        let is_it = |one: &&Environment| executable(one).and_then(|path| real(&path)) == real(&file);
        let own = environments.iter().rev().find(is_it);
        if let Some(found) = with(file.clone(), own) {
            return Some(found);
        }
        let is_script = Identity::of(&file).is_none();
        let mut here = environments.iter().rev().filter(|one| one.inside.is_none());
        let mut loaded = here.clone().filter(|one| one.has_loader).peekable();
        if loaded.peek().is_some() {
            return loaded.find_map(|one| with(executable(one)?, Some(one)));
        }
        here.find_map(|one| with(executable(one)?, Some(one)))
            .filter(|_| is_script)
    }

    /// Adds to the report the finding about this program. `records` is the trace of the probe, and `report` has the cards of the system and the end
    /// of the program. The loader that other programs get does not matter for this program.
    pub(crate) fn add(self, report: &mut Report, records: &[Record]) {
        report.other_loader = None;
        report.dropped.retain(|one| one.subject != "loader");
        report.variables = self.variables;
        let Some(found) = of_other_size(&self.file, self.its, records, report) else {
            return;
        };
        // A crash whose culprit is known explains more than what is not known about the devices.
        let is_crash = |one: &Dropped| one.code == codes::PROGRAM_CRASHED.name;
        let is_explained = |one: &Dropped| is_crash(one) && (one.names_file || one.set.is_some());
        let is_after = found.code == codes::PROGRAM_NO_TRACE.name || report.dropped.iter().any(is_explained);
        let crash = report.dropped.iter().position(is_crash).filter(|_| is_after);
        let place = crash.map_or(0, |place| place + 1);
        let variable = found.variable.clone();
        report.dropped.insert(place, found);
        if let Some(variable) = variable {
            causes::add_origin(report, place, &variable);
        }
    }
}

/// Returns the finding about a program with the identity `its`.
fn of_other_size(program: &Path, its: Identity, records: &[Record], report: &Report) -> Option<Dropped> {
    let mut found = codes::PROGRAM_WORD_SIZE.about(program.display().to_string());
    let own = Identity::of_this_process();
    found.findings.push(format!("it is for {its}, and vkloader for {own}"));
    if !its.is_of_family(own) && !Path::new(EMULATORS).exists() {
        // The kernel cannot start such a program, but the C library then lets a shell read its file as a script.
        found.reason = format!("The program is for {its}, and this system runs programs for {own}.");
        found.advice = format!("Use a build of the program for {own}, or an emulator such as qemu-user or box64.");
        return Some(found);
    }
    let all = drivers::all(records, its);
    let Some(loader) = drivers::file(LOADER, its) else {
        let (what, packages) = if all.is_empty() {
            let packages = to_install(&[Part::Loader, Part::Drivers], its);
            ("loader and no driver", packages)
        } else {
            ("loader", to_install(&[Part::Loader], its))
        };
        found.reason = format!("The program is for {its}, and no Vulkan {what} for such programs is installed.");
        found.advice = for_32_bits(its, &packages);
        return Some(found);
    };
    if let Some(fault) = drivers::Fault::of(&loader, its) {
        found.reason = format!(
            "The program is for {its}, and the Vulkan loader for such programs cannot be opened: {}.",
            fault.finding
        );
        found.advice = fault.advice;
        return Some(found);
    }
    found.findings.push(format!("its loader: {}", loader.display()));
    let (left_out, kept): (Vec<Driver>, Vec<Driver>) = all.into_iter().partition(|one| one.variable.is_some());
    if kept.is_empty() {
        if !unnamed::explain(&mut found, &left_out, its, report) {
            found.reason = format!("The program is for {its}, and no Vulkan driver for such programs is installed.");
            found.advice = for_32_bits(its, &to_install(&[Part::Drivers], its));
        }
        return Some(found);
    }
    if of_drivers(&mut found, &kept, its, report) {
        layers::explain(&mut found, records, its, &report.variables);
    }
    Some(found)
}

/// Adds to the finding about a program with the identity `its` the drivers for such programs, and the faults of these drivers. Returns `true` if the
/// program has a driver, and if no fault or missing driver matters.
fn of_drivers(found: &mut Dropped, drivers: &[Driver], its: Identity, report: &Report) -> bool {
    let (mut broken, whole): (Vec<&Driver>, Vec<&Driver>) = drivers.iter().partition(|one| one.fault.is_some());
    found.findings.extend(drivers.iter().map(Driver::words));
    if !whole.is_empty() {
        // The program has all that it needs, so only its devices are unknown.
        found.code = codes::PROGRAM_NO_TRACE.name.into();
        found.reason = format!("The program is for {its}, and vkloader is not, so the program left no trace.");
        if (report.ending.by, report.ending.number) == ("status", Some(0)) {
            found.advice = String::new();
        }
    }
    let is_for_card = |one: &&Driver| causes::is_for_any(&one.shown(), &report.hardware);
    let has_card = whole.iter().any(is_for_card);
    broken.sort_by_key(|one| !is_for_card(one));
    let lost = broken
        .first()
        .filter(|one| whole.is_empty() || !has_card && is_for_card(one));
    if let Some((driver, fault)) = lost.and_then(|one| Some((one, one.fault.as_ref()?))) {
        found.reason = format!(
            "The program is for {its}, and the driver {} for such programs cannot be opened: {}.",
            driver.shown(),
            fault.finding
        );
        found.advice.clone_from(&fault.advice);
        false
    } else if let Some((card, other)) = drivers::only_for_others(&report.hardware, &whole, its) {
        found.reason = format!(
            "The program is for {its}, and the Vulkan driver of the graphics card for such programs is not installed."
        );
        found.findings.push(format!("graphics card: {card}"));
        found
            .findings
            .push(format!("its driver for {}: {other}", Identity::of_this_process()));
        let of_nvidia = causes::install_nvidias(its, Path::new("/")).filter(|_| causes::is_of_nvidia(&other));
        found.advice = of_nvidia.unwrap_or_else(|| for_32_bits(its, &to_install(&[Part::Drivers], its)));
        false
    } else {
        true
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
