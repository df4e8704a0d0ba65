//! Finds causes that a loader cannot detect: missing libraries, unreachable hardware, and files that override others without a message.

mod altered;
mod chosen;
mod companions;
mod deliberate;
mod display;
pub(crate) mod elf;
mod executable;
mod foreign;
mod hardware;
mod instance;
mod late;
mod left_out;
mod limits;
mod linker;
mod loader;
mod manifest;
mod masked;
mod mesa;
mod minor;
pub(crate) mod multiarch;
mod null;
mod open_files;
mod order;
mod origin;
mod outside;
mod overriding;
mod own_end;
mod packages;
mod printed;
mod replacing;
mod sandbox;
mod scripts;
mod settings;
mod snap;
mod spelling;
mod surfaces;
mod switches;
mod symbols;
mod taken_out;
mod unasked;
mod unfound;
mod uninstalled;
mod unmade;
mod unnamed;
mod unsearched;
pub(crate) mod words;

use crate::paths::file_name;
pub(crate) use chosen::{texts_of, without_vulkan};
pub(crate) use deliberate::is_for_any;
pub(crate) use display::{before_loader as display_before_loader, has_not_listed};
pub(crate) use hardware::{for_cards, is_used};
pub(crate) use instance::{LINK, TO_LINK};
pub(crate) use limits::Limits;
pub(crate) use linker::{Unfound, unfound, worth_watching};
pub(crate) use loader::before_usual;
pub(crate) use manifest::is_odd as is_odd_manifest;
pub(crate) use origin::add_origin;
pub(crate) use origin::of_value as origin_of;
pub(crate) use overriding::REPLACING;
pub(crate) use packages::{Part, install, install_for, install_nvidias, is_of_nvidia, to_reinstall};
pub(crate) use scripts::clearing;
pub(crate) use snap::Snap;
pub(crate) use symbols::of_layer as symbol_of_layer;
pub(crate) use unasked::facts as facts_without_trace;
pub(crate) use unsearched::{for_flatpak, usual_manifests};

use crate::child::Finished;
use crate::events::{Event, Record};
use crate::report::{self, Absent, ActiveLayer, Call, Crashed, Dropped, Kind, Printed, Report, Verdict, codes};
use crate::variables::Variables;
use std::path::Path;

/// Adds causes to a report that are not in the trace. `watched` is a second run with the dynamic linker's log, if there was one.
/// `of_program` is `true` for the user's program, and `false` for the probe.
pub(crate) fn find(report: &mut Report, finished: &Finished, watched: Option<&Finished>, of_program: bool) {
    let records: Vec<&Record> = finished.records.iter().collect();
    hardware::survey(report);
    let own = explain_each(report, &records, watched);
    sandbox::complete(report);
    display::of_crash_in_sandbox(report);
    adapt(report, own);
    manifest::permit_all(&mut report.dropped);
    null::explain(report, &records);
    report.forget_refusals();
    multiarch::forget(report);
    let is_replaced = variables(&records).any(|(name, value)| replacing::is_replacing(name, value));
    hardware::find(report, is_replaced);
    multiarch::set_aside(report);
    foreign::explain(report);
    if report.loader.is_some() {
        find_in_settings(report, &records, of_program);
    }
    add_missing_driver(report);
    snap::complete(report);
    for dropped in &mut report.dropped {
        limits::explain(dropped, &report.limits);
    }
    open_files::explain(report, &records);
    taken_out::complete(report);
    origin::name_application(report);
    outside::complete(report);
    order::follow_from_devices(report, &records);
    order::put_crashed_children_first(report);
    order::put_drivers_first(report);
    late::cards_first(report);
    order::put_software_last(report);
    deliberate::rank_after_faults(report, &usual_manifests());
    deliberate::set_aside_left_out(report);
    left_out::join(report);
    own_end::rank_after_causes(report, &records);
    // If several drivers fail for one reason, the drivers without a card here come last.
    let Report { dropped, hardware, .. } = report;
    dropped.sort_by_key(|one| (one.rank, hardware::is_without_card(one, hardware)));
    advise_on_hardware(report);
}

/// Adds causes to each finding alone. Returns the identity of the loader, or of this process if the loader is not known.
fn explain_each(report: &mut Report, records: &[&Record], watched: Option<&Finished>) -> elf::Identity {
    elf::examine(
        report.variables.get("LD_LIBRARY_PATH"),
        report.variables.get("LD_PRELOAD"),
    );
    let loader = report.loader.as_ref().and_then(|loader| loader.path.as_deref());
    let program = report.loader.as_ref().and_then(|loader| loader.executable.as_deref());
    let own = loader.and_then(|loader| elf::Identity::of(Path::new(loader)));
    let own = own.unwrap_or_else(elf::Identity::of_this_process);
    let is_usable = report.verdict == Verdict::Hardware;
    let home = report.variables.get("HOME").unwrap_or_default();
    let sandbox = sandbox::Sandbox::of(report);
    for dropped in &mut report.dropped {
        let manifest = manifest::of(dropped, records);
        let about = elf::About {
            manifest: manifest.as_deref(),
            loader: loader.map(Path::new),
            program: program.map(Path::new),
            limits: &report.limits,
        };
        let is_kept_out = report
            .inside
            .as_deref()
            .is_some_and(|inside| sandbox::explain(dropped, inside, sandbox, own));
        if is_kept_out {
            continue;
        }
        elf::explain(dropped, &about);
        elf::exports::explain(dropped, manifest.as_deref(), own);
        altered::explain(dropped, own);
        manifest::explain(dropped, &home);
        manifest::wrong_member(dropped, own);
        let (layers, failed, printed) = (&report.layers[..], &report.failed[..], &report.printed[..]);
        of_crash(
            dropped,
            own,
            report.crash.as_ref(),
            (&report.variables, layers, failed, printed),
        );
        printed::explain(dropped, own, is_usable);
        loader::explain(dropped, records);
        let words = (&report.printed[..], report.ending.number);
        symbols::explain(dropped, words, records, (own, program.map(Path::new)));
        if dropped.code == "device.enumeration-failed" && dropped.name.is_empty() {
            dropped.name = dropped.file.clone().unwrap_or_default();
        }
        companions::explain(dropped, own);
        if let Some(watched) = watched {
            let kept_out = report.inside.as_deref().map(|inside| (inside, sandbox));
            linker::explain(dropped, &watched.linker, own, kept_out);
        }
    }
    own
}

/// Adds causes to a finding about a crash.
fn of_crash(
    dropped: &mut Dropped,
    own: elf::Identity,
    crash: Option<&Crashed>,
    (variables, layers, failed, printed): (&Variables, &[ActiveLayer], &[Call], &[Printed]),
) {
    let is_in_linker = crash.is_some_and(|crash| !crash.mapped.is_empty());
    if is_in_linker && dropped.code == codes::PROGRAM_FAILED.name {
        elf::damage::of_crash(dropped, own, crash);
    }
    if dropped.code == codes::PROGRAM_CRASHED.name {
        elf::damage::of_crash(dropped, own, crash);
        display::of_crash(dropped, crash, variables);
        executable::explain(dropped, crash);
        // An abort is a layer's fault only if a call failed. The trace lacks the calls of devices, so the messages of the program count too.
        let has_failed = failed.iter().any(|call| call.library.is_none());
        let tells = crash.is_some_and(|crash| crash.exception.is_none()) && report::tells_failure(printed);
        let suspects = if has_failed || tells { layers } else { &[] };
        let is_abort = |crash: &Crashed| crash.is_abort_of_program() && (has_failed || crash.exception.is_none());
        if crash.is_some_and(is_abort) {
            report::suspect_for_abort(dropped, suspects, variables);
        }
    }
}

/// Adds causes in variables, in settings, and in the calls of the program.
fn find_in_settings(report: &mut Report, records: &[&Record], of_program: bool) {
    overriding::find(report, records);
    deliberate::name_left_out_card(report, &usual_manifests());
    words::find(report, records);
    multiarch::blame_misspelt(report);
    switches::find(report);
    uninstalled::find(report, Path::new("/"));
    let mesas = mesa::find(report, |name| report.variables.nonempty(name));
    report.dropped.extend(mesas);
    let variables = &report.variables;
    let dropped = report.dropped.iter_mut();
    dropped.for_each(|one| mesa::blame_debugging(one, |name| variables.nonempty(name)));
    instance::find(report, records, of_program);
    unmade::explain(report, records);
    late::after_device(report, records);
    origin::add_all(report);
}

/// Copies the remedy of a finding about hardware to the first finding, because users follow the first remedy. Does so if only software
/// drivers can use each of the cards, and the first finding is that no driver has a device, or that no driver is installed.
fn advise_on_hardware(report: &mut Report) {
    const ONLY_SOFTWARE: [&codes::Row; 3] = [
        codes::HARDWARE_WITHOUT_VULKAN,
        codes::HARDWARE_DISPLAY_ONLY,
        codes::HARDWARE_NONE,
    ];
    // A driver that is not known here may be for hardware that the system's lists do not show. Mesa's gfxstream is only for guests of the
    // Android emulator, and belongs to the same package as Mesa's other drivers.
    let is_unknown = |dropped: &Dropped| {
        dropped.code == "driver.no-devices"
            && catalogue::hardware::of(dropped.name.as_bytes()).is_none()
            && !dropped.name.ends_with("/libvulkan_gfxstream.so")
    };
    if report.hardware.is_empty() && report.dropped.iter().any(is_unknown) {
        return;
    }
    let is_it = |dropped: &&Dropped| ONLY_SOFTWARE.iter().any(|row| row.name == dropped.code);
    let mut cards = report.hardware.iter().map(ToString::to_string);
    if !cards.all(|card| report.dropped.iter().filter(is_it).any(|one| one.name == card)) {
        return;
    }
    let Some(hardware) = report.dropped.iter().find(is_it) else {
        return;
    };
    let (finding, advice) = (hardware.in_short(), hardware.advice.clone());
    // On a machine without a card, the remedy of the first finding has the names of more packages.
    let none = &codes::DRIVER_NONE_INSTALLED;
    let is_card = hardware.code != codes::HARDWARE_NONE.name;
    if let Some(first) = report.dropped.first_mut()
        && (first.code == codes::DRIVER_NONE_HAS_DEVICE.name
            || is_card && first.code == none.name && first.advice == none.remedy)
    {
        first.findings.insert(0, finding);
        first.advice = advice;
    }
}

/// Adapts remedies to facts about several files.
fn adapt(report: &mut Report, own: elf::Identity) {
    already_used(report);
    loader::of_no_package(report, own);
    loader::broken(report, own);
    loader::without_functions(report, own);
    loader::older_than_program(report, own);
}

/// Adds the remedies for cards whose drivers are missing to findings that precede them. These are the finding that no driver is installed, and the
/// one about a library that has no Vulkan.
fn add_missing_driver(report: &mut Report) {
    let all = report.dropped.iter();
    let missing: Vec<(String, String)> = all
        .filter(|one| one.code == codes::HARDWARE_NO_DRIVER.name)
        .map(|one| (one.name.clone(), one.advice.clone()))
        .collect();
    let Some((_, install)) = missing.first() else {
        return;
    };
    let is_one = missing.iter().all(|(_, advice)| advice == install);
    let for_each = || {
        let all = missing.iter().map(|(card, advice)| format!("For {card}: {advice}"));
        all.collect::<Vec<_>>().join(" ")
    };
    let install_all = if is_one { install.clone() } else { for_each() };
    let row = &codes::DRIVER_NONE_INSTALLED;
    for one in &mut report.dropped {
        let first = one.findings.first();
        if first.is_some_and(|fact| *fact.kind() == Kind::WithoutVulkan) {
            one.advice = format!("{} {install}", one.advice);
        } else if one.code == row.name && one.advice == row.remedy {
            let cards: Vec<&str> = missing.iter().map(|(card, _)| card.as_str()).collect();
            one.findings.insert(0, format!("graphics card: {}", cards.join("; ")));
            one.advice.clone_from(&install_all);
        }
    }
}

/// Recommends removing a manifest whose library is missing, if a driver with a library of the same name is already in use.
fn already_used(report: &mut Report) {
    let file = |path: &str| file_name(path).to_owned();
    let used: Vec<String> = report.drivers.iter().map(|driver| file(&driver.library)).collect();
    for dropped in &mut report.dropped {
        let is_copy = dropped.absent == Some(Absent::Elsewhere) && used.contains(&file(&dropped.name));
        if let Some(manifest) = dropped.file.as_deref().filter(|_| is_copy) {
            dropped.advice = elf::without_library(manifest, &dropped.name);
        }
    }
}

/// Returns the variables of the process, with their values.
fn variables<'a>(records: &'a [&Record]) -> impl Iterator<Item = (&'a str, &'a str)> {
    records
        .iter()
        .flat_map(|record| match &record.event {
            Event::Loaded(loaded) => &loaded.variables[..],
            _ => &[],
        })
        .map(|variable| (variable.name.as_str(), variable.value.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system without any driver has a remedy for its card, and not for the cards of others.
    #[test]
    fn the_driver_that_a_card_needs_is_recommended_first() {
        let none = || codes::DRIVER_NONE_INSTALLED.about_any("no driver");
        let missing = |card: &str, advice: &str| Dropped {
            advice: advice.into(),
            ..codes::HARDWARE_NO_DRIVER.about(card)
        };
        let first = |dropped: Vec<Dropped>| {
            let mut report = Report {
                dropped,
                ..Report::default()
            };
            add_missing_driver(&mut report);
            report.dropped.swap_remove(0).advice
        };
        let usual = codes::DRIVER_NONE_INSTALLED.remedy;
        assert_eq!(first(vec![none()]), usual);
        assert_eq!(first(vec![none(), missing("a", "Install x.")]), "Install x.");
        assert_eq!(
            first(vec![none(), missing("a", "Install x."), missing("b", "Install y.")]),
            "For a: Install x. For b: Install y."
        );
        let own = Dropped {
            advice: "Reinstall z.".into(),
            ..none()
        };
        assert_eq!(first(vec![own, missing("a", "Install x.")]), "Reinstall z.");
    }

    /// No package has a driver for a card without Vulkan.
    #[test]
    fn a_card_without_vulkan_comes_first_where_no_driver_is_installed() {
        let card = || report::Card {
            place: "0000:00:02.0".into(),
            vendor: 0x8086,
            device: 0x0126,
            kernel_driver: Some("i915".into()),
            node: None,
        };
        for (code, is_told) in [
            (codes::HARDWARE_WITHOUT_VULKAN, true),
            (codes::HARDWARE_NO_DRIVER, false),
        ] {
            let mut report = Report {
                dropped: vec![
                    codes::DRIVER_NONE_INSTALLED.about_any("no driver"),
                    code.about(card().to_string()),
                ],
                hardware: vec![card()],
                ..Report::default()
            };
            advise_on_hardware(&mut report);
            assert_eq!(report.dropped[0].advice == code.remedy, is_told, "{}", code.name);
        }
    }
}
