//! Finds the reason why a program has no instance, and the layers that are too old for the program.

mod extensions;
mod link;
mod missing;

pub(super) use missing::update;

use super::{chosen, display, hardware, late, surfaces, unfound, unsearched, words};
use crate::events::{Event, Record};
use crate::installed;
use crate::names;
use crate::report::{self, Call, Crashed, Device, Dropped, Fact, Kind, Report, codes, rank};
use crate::shell::word;
pub(crate) use link::{LINK, TO_LINK};

const OUT_OF_HOST_MEMORY: i32 = -1;
const LAYER_NOT_PRESENT: i32 = -6;
const EXTENSION_NOT_PRESENT: i32 = -7;

/// Phrases in log messages about a layer that is older than the program.
const OLDER: [&str; 3] = [
    "Layer ",
    " uses API version ",
    " which is older than the application specified API version of ",
];

/// Adds the reason why the program has no instance. `of_program` is `true` for the user's program, and `false` for the probe, which
/// requests the newest version.
pub(super) fn find(report: &mut Report, records: &[&Record], of_program: bool) {
    let mut found = Vec::new();
    if report.loader.is_some() && report.ended.is_none() || of_program {
        found.extend(refused(report, records));
    }
    if of_program {
        // Newer versions rarely matter to a layer that works, so a program that does not fail needs no remedy.
        let is_harmless = report.ended.is_none() && report.is_usable();
        let all = records.iter().filter_map(|record| older(record, report));
        found.extend(all.map(|one| Dropped {
            advice: if is_harmless && one.rank == rank::ASIDE {
                String::new()
            } else {
                one.advice
            },
            ..one
        }));
    }
    for one in found {
        if !report
            .dropped
            .iter()
            .any(|known| (&known.code, &known.name) == (&one.code, &one.name))
        {
            report.dropped.push(one);
        }
    }
    if of_program {
        after_failure(report, records);
        let place = report
            .dropped
            .iter()
            .position(|dropped| dropped.code == codes::PROGRAM_FAILED.name);
        if let Some(place) = place {
            let mut failed = report.dropped.remove(place);
            compare_versions(&mut failed, report, records);
            report.dropped.insert(place, failed);
        }
        chosen::find(report);
        display::find_variable(report, records);
        report.dropped.extend(display::missing(report, records));
        report.dropped.extend(surfaces::cannot_present(report, records));
        report.dropped.extend(failed_call(report, records));
        report.dropped.extend(link::missing(report, records));
        let without_dri3 = display::without_dri3(report, records);
        report.dropped.extend(without_dri3);
        late::chose_none(report, records);
    }
}

/// Lowers the rank of a crash that followed from a failed call. Many programs end with SIGABRT after a failure, for example through a C++
/// exception. Others use the device that they did not get.
fn after_failure(report: &mut Report, records: &[&Record]) {
    let has_none = !report.is_usable() && report.devices.is_empty();
    let is_own =
        |crash: &Crashed| crash.is_abort_of_program() || crash.may_lack_object() || has_none && crash.is_own_fault();
    let is_own = report.crash.as_ref().is_some_and(is_own);
    let is_failed = report.failed.iter().any(|call| has_failed_at_last(call, records));
    let crashed = report
        .dropped
        .iter_mut()
        .find(|one| one.code == codes::PROGRAM_CRASHED.name);
    if let Some(crashed) = crashed.filter(|_| is_own && is_failed) {
        crashed.rank = rank::STATUS;
        crashed.findings.insert(0, "a call of the program had failed before");
    }
}

/// Calls without whose success programs do not go on.
const CREATING: [&str; 2] = ["vkCreateInstance", "vkCreateDevice"];

/// Returns `true` for a call of the program that also failed in its last attempt, and after which the program created neither an instance nor a
/// device. Programs often repeat a failed call with fewer extensions, or ask for layers that they do not need.
fn has_failed_at_last(call: &Call, records: &[&Record]) -> bool {
    let mut ends = records.iter().rev().filter_map(|record| match &record.event {
        Event::End(step) if step.step == "call" => Some(step),
        _ => None,
    });
    let last = ends.find(|step| {
        let has_succeeded = step.failure().is_none();
        step.name == call.name || has_succeeded && CREATING.contains(&step.name.as_str())
    });
    call.library.is_none() && last.is_none_or(|step| step.name == call.name && step.failure().is_some())
}

/// Texts before and after the name of a device extension that a device lacks.
const LACKS_EXTENSION: [&str; 2] = [
    "Device extension ",
    " not supported by selected physical device or enabled layers",
];

/// Returns a finding about the failed calls of a program that ended with a failure.
fn failed_call(report: &Report, records: &[&Record]) -> Option<Dropped> {
    let has_failed = report.dropped.iter().any(|dropped| {
        let is_abort = dropped.code == codes::PROGRAM_CRASHED.name && dropped.rank == rank::STATUS;
        dropped.code == codes::PROGRAM_FAILED.name || is_abort
    });
    let own = report.failed.iter().filter(|call| has_failed_at_last(call, records));
    let mut calls = own.filter(|call| call.name != "vkCreateInstance").peekable();
    // Many programs create their surface before they list devices.
    let is_early = |call: &&&Call| call.name.contains("Surface") && report.devices.is_empty();
    let first = calls
        .peek()
        .filter(|call| has_failed && (report.is_usable() || is_early(call)))?;
    let has_unsupported_feature = first.code == FEATURE_NOT_PRESENT;
    let is_of_driver = first.name == "vkCreateDevice" && first.code < 0 && !NOT_OFFERED.contains(&first.code);
    let mut found = codes::PROGRAM_CALL_FAILED.about(&first.name);
    found.findings = calls
        .map(|call| format!("{} returned {}", call.name, call.result))
        .collect();
    let errors = report.errors.iter().map(|error| Fact::of_log(error));
    found.findings.extend(errors);
    let mut errors = report.errors.iter();
    let extension = errors.find_map(|error| between(error, LACKS_EXTENSION[0], LACKS_EXTENSION[1]));
    if let Some(extension) = extension {
        missing::extension(&mut found, extension, report, records);
    } else if is_of_driver {
        missing::driver(&mut found, report, records);
    }
    if has_unsupported_feature {
        missing::feature(&mut found, report, records);
    }
    surfaces::explain(&mut found, report, records);
    Some(found)
}

/// Results of a call that asks for something which the device does not offer.
const NOT_OFFERED: [i32; 2] = [EXTENSION_NOT_PRESENT, FEATURE_NOT_PRESENT];
/// Result of a call that asks for a feature which the device lacks.
const FEATURE_NOT_PRESENT: i32 = -8;

/// Returns a finding if the program's last attempt to create an instance failed.
fn refused(report: &Report, records: &[&Record]) -> Option<Dropped> {
    let is_known = |code: &codes::Row| report.dropped.iter().any(|dropped| dropped.code == code.name);
    if is_known(codes::LAYER_CALL_FAILED) {
        return None;
    }
    let mut results = records.iter().filter_map(|record| match &record.event {
        Event::Begin(step) if step.step == "call" && step.name == "vkCreateInstance" => Some(None),
        Event::End(step) if step.step == "call" && step.name == "vkCreateInstance" => Some(step.failure()),
        _ => None,
    });
    let Some(last) = results.next_back() else {
        return Some(without_instance(report, records));
    };
    let code = last?;
    let row = match code {
        LAYER_NOT_PRESENT => codes::INSTANCE_LAYER_MISSING,
        EXTENSION_NOT_PRESENT => codes::INSTANCE_EXTENSION_MISSING,
        _ => codes::INSTANCE_FAILED,
    };
    let mut found = row.about("vkCreateInstance");
    found.findings = [format!("the result: {}", names::result(code))].into();
    if code == LAYER_NOT_PRESENT {
        name_layer(&mut found, report, records);
        without_drivers(&mut found, report);
    }
    if code == EXTENSION_NOT_PRESENT {
        extensions::name(&mut found, report);
    }
    let same = |call: &&Call| (call.code, call.name.as_str()) == (code, "vkCreateInstance");
    let driver = report.failed.iter().filter(same).find_map(|call| call.library.clone());
    if let Some(library) = driver.filter(|_| code == OUT_OF_HOST_MEMORY) {
        found.name.clone_from(&library);
        found.reason = "The driver reports that memory is short, so the program got no instance.".into();
        report::explain_short(&mut found, &library, records);
        found.rank = rank::BROKEN;
    }
    found
        .findings
        .extend(report.errors.iter().map(|error| Fact::of_log(error)));
    Some(found)
}

/// Returns the finding about a program that created no instance. The program may have read the list of instance extensions before, for which
/// the library opens drivers. Without a driver, the list lacks the extensions for windows.
fn without_instance(report: &Report, records: &[&Record]) -> Dropped {
    let mut found = codes::PROGRAM_NO_INSTANCE.about_any("the program");
    if report.searched.is_empty() {
        return found;
    }
    found.reason = "The program read the list of instance extensions, but never created an instance.".into();
    // A driver is not opened if the driver catalogue answers for it.
    let is_answered = |record: &&Record| matches!(&record.event, Event::Catalogue(one) if one.used != "none");
    let has_driver = report.kept.iter().any(|name| name.contains(".so"));
    if !has_driver && !records.iter().any(is_answered) {
        found
            .findings
            .push("no driver could be opened, so that the list lacks the extensions for windows");
        found.rank = rank::CONSEQUENCE;
    }
    found
}

/// Returns the text between two given texts.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

/// Variable that sets the version of Vulkan that Mesa's drivers report.
const OVERRIDE: &str = "MESA_VK_VERSION_OVERRIDE";

/// Adds the usable devices to `found`, the finding about the program's failure, if the program requested a newer API version than each of
/// them has, and created none of them. A software device counts only on a machine without another device. A program that requests the version of
/// the loader itself does not need that version.
fn compare_versions(found: &mut Dropped, report: &Report, records: &[&Record]) {
    let asked = report.asked_version.as_deref();
    let Some((asked, wanted)) = asked.and_then(|asked| Some((asked, minor(asked)?))) else {
        return;
    };
    let is_of_loader = report.loader.as_ref().is_some_and(|loader| loader.version == asked);
    if is_of_loader || late::has_device(records) || !late::has_listed(records) {
        return;
    }
    let is_older = |device: &&Device| minor(&device.api_version).is_some_and(|own| own < wanted);
    let has_card = report.devices.iter().any(hardware::is_hardware);
    let counts = |device: &&Device| device.is_usable && !(has_card && device.is_software());
    let usable = || report.devices.iter().filter(counts);
    if !usable().all(|device| is_older(&device)) {
        return;
    }
    let findings: Vec<String> = usable()
        .map(|device| {
            let owner = installed::owner(&device.driver).map_or(String::new(), |owner| format!(" ({owner})"));
            format!(
                "{} has Vulkan {}: {}{owner}",
                device.name, device.api_version, device.driver
            )
        })
        .collect();
    if findings.is_empty() {
        return;
    }
    let none = if usable().count() < report.devices.len() {
        "no graphics card"
    } else {
        "no device"
    };
    found.reason = format!("{} It asks for Vulkan {asked}, which {none} has.", found.reason);
    found.findings.extend(findings);
    if let Some(value) = report.variables.get(OVERRIDE) {
        found.advice =
            format!("Unset {OVERRIDE}, which is {value}: Mesa's drivers report this version in place of their own.");
        found.variable = Some(OVERRIDE.into());
    } else {
        let drivers: Vec<&str> = usable().map(|device| device.driver.as_str()).collect();
        found.advice = format!(
            "{}; a device that stays too old needs an older version of the program; otherwise read the output of the program.",
            missing::update(&drivers)
        );
    }
}

/// Returns the major and minor number of a version text.
fn minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Layers that programs request. Each row has the name of the layer, its package in Debian and Ubuntu, and its package in Fedora and Arch.
const PACKAGES: [(&str, [&str; 2]); 5] = [
    (
        "VK_LAYER_KHRONOS_validation",
        ["vulkan-validationlayers", "vulkan-validation-layers"],
    ),
    ("VK_LAYER_MANGOHUD_overlay", ["mangohud", "mangohud"]),
    ("VK_LAYER_MANGOHUD_overlay_x86_64", ["mangohud", "mangohud"]),
    ("VK_LAYER_VKBASALT_post_processing", ["vkbasalt", "vkbasalt"]),
    ("VK_LAYER_MESA_overlay", ["mesa-vulkan-drivers", "vulkan-mesa-layers"]),
];

/// Layers of the Vulkan SDK that Debian, Ubuntu and Fedora do not have.
const OF_SDK: [&str; 4] = [
    "VK_LAYER_LUNARG_api_dump",
    "VK_LAYER_LUNARG_screenshot",
    "VK_LAYER_LUNARG_monitor",
    "VK_LAYER_KHRONOS_profiles",
];

/// Returns the beginning of the remedy for a layer that is not installed: the packages that contain the layer.
pub(super) fn to_install(layer: &str) -> Option<String> {
    if OF_SDK.contains(&layer) {
        return Some(
            "Install the layer: the Vulkan SDK of https://vulkan.lunarg.com, or vulkan-extra-layers (Arch)".into(),
        );
    }
    let (_, [debian, others]) = PACKAGES.iter().find(|(known, _)| *known == layer)?;
    Some(format!(
        "Install the layer: {debian} (Debian, Ubuntu) or {others} (Fedora, Arch)"
    ))
}

/// Adds to the finding the name of the layer that a program requested, and the reason why the layer is missing.
fn name_layer(found: &mut Dropped, report: &Report, records: &[&Record]) {
    let refused = records.iter().rev().find_map(|record| match &record.event {
        Event::Refused(refused) => Some(refused.name.as_str()),
        _ => None,
    });
    let Some(name) = refused.or_else(|| unopened(report)) else {
        return;
    };
    found.name = name.into();
    found.reason = format!("The program asked for {name}, which is not installed, so it got no instance.");
    let left_out = |dropped: &&Dropped| dropped.name == name && dropped.code != codes::INSTANCE_LAYER_MISSING.name;
    if let Some(dropped) = report.dropped.iter().find(left_out) {
        leave_out_layer(found, &names::as_clause(dropped.reason.trim_end_matches('.')));
        found.findings.insert(0, dropped.in_short());
        found.file.clone_from(&dropped.file);
        found.advice.clone_from(&dropped.advice);
        found.variable.clone_from(&dropped.variable);
    } else if let Some(unfound) = unfound::find(name, report, records) {
        leave_out_layer(found, &unfound.why);
        found.findings.insert(0, unfound.finding);
        found.file = unfound.file;
        found.advice = unfound.advice;
        found.variable = unfound.variable.map(String::from);
    } else if let Some(layer) = words::successor(name) {
        found.advice = format!(
            "{name} no longer exists, and {layer} replaces it: update the program, or start it without the option that asks for the layer."
        );
        if let Some(unfound) = unfound::find(layer, report, records) {
            found.advice = format!("{} Also: {}", found.advice, unfound.advice);
            found
                .findings
                .insert(0, format!("{layer} is installed, but left out: {}", unfound.why));
            found.variable = unfound.variable.map(String::from);
        }
    } else if let Some(layer) = unfound::similar(name, records) {
        found.advice = format!("Correct the name in the options or settings of the program: {layer} is installed.");
    } else {
        if let Some(install) = to_install(name) {
            found.advice = format!("{install}; or start the program without the option that asks for it.");
        }
        if let Some(nowhere) = unfound::leading_nowhere(records) {
            searched_nowhere(found, nowhere);
        }
    }
    if found.variable.is_none()
        && found.code == codes::INSTANCE_LAYER_MISSING.name
        && let Some(replaced) = words::replaced_layers(records)
    {
        found.findings.insert(0, replaced);
        found.advice = format!("{} Also: unset VK_LAYER_PATH", found.advice);
        found.variable = Some("VK_LAYER_PATH".into());
    }
}

/// Variables that lead the search for drivers to other folders than those of the system.
const LEADING: [&str; 8] = [
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_ADD_DRIVER_FILES",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "VK_LOADER_SERVICE_SOCKET",
];

/// Adds to the finding about a missing layer that the system has no driver either. The loader refuses the layer before it searches for drivers.
fn without_drivers(found: &mut Dropped, report: &Report) {
    let is_led = || LEADING.iter().any(|name| report.variables.get(name).is_some());
    if report.inside.is_some() || !report.searched.is_empty() || is_led() || !unsearched::usual_manifests().is_empty() {
        return;
    }
    let home = report.variables.get("HOME").unwrap_or_default();
    let at_home = [".config", ".local/share"].map(|below| std::path::Path::new(&home).join(below).join("vulkan/icd.d"));
    if at_home.iter().all(|folder| !folder.exists()) {
        let words = "the usual folders have no manifest of a driver, which the program needs too";
        found.findings.insert(0, words);
        found.advice = format!(
            "{} Also install a driver; without the layer, vkloader explain names its package.",
            found.advice
        );
    }
}

/// Adds to the finding about a missing layer the variable that adds a folder without layers, because this may be the folder of the layer.
fn searched_nowhere(found: &mut Dropped, nowhere: unfound::Nowhere) {
    let unfound::Nowhere {
        variable,
        why,
        corrected,
    } = nowhere;
    found.reason = format!(
        "The program asked for {}, which is not installed, and {why}, so the program got no instance.",
        found.name
    );
    let correct = match corrected {
        Some(set) => format!("Name the folder that exists: {set} PROGRAM"),
        None => format!("Correct the path in {variable}"),
    };
    found.advice = format!(
        "{correct}. If the layer is not there: {}",
        names::as_clause(&found.advice)
    );
    found.variable = Some(variable.into());
}

/// Changes the finding about a missing layer to one about a layer that is installed but left out. `why` is the reason, without a full stop.
fn leave_out_layer(found: &mut Dropped, why: &str) {
    let name = &found.name;
    found.reason = format!("The program asked for {name}, which is installed, but was left out: {why}.");
    found.code = codes::INSTANCE_LAYER_LEFT_OUT.name.into();
}

/// Returns the requested layer whose library could not be used. The loader then refuses the instance without a record about the layer.
fn unopened(report: &Report) -> Option<&str> {
    let is_layer = |one: &&Dropped| one.code.starts_with("layer-library.");
    let is_requested = |one: &&Dropped| {
        let mut logged = one.findings.iter().filter_map(|fact| fact.words(&Kind::Log));
        logged.any(|words| words.contains("Requested layer "))
    };
    let mut all = report.dropped.iter().filter(is_layer);
    let found = all.clone().find(is_requested).or_else(|| all.next())?;
    Some(&found.name)
}

/// Returns a finding if the message is about a layer that is older than the program.
fn older(record: &Record, report: &Report) -> Option<Dropped> {
    let Event::Message(message) = &record.event else {
        return None;
    };
    let (layer, versions) = message.text.strip_prefix(OLDER[0])?.split_once(OLDER[1])?;
    let (own, wanted) = versions.split_once(OLDER[2])?;
    let wanted = wanted.split(". ").next().unwrap_or(wanted);
    let mut found = codes::LAYER_OLDER.about(layer);
    found.findings = [format!("it is for Vulkan {own}, and the program asks for {wanted}")].into();
    found.advice = format!(
        "Update the layer, or start the program without it: VK_LOADER_LAYERS_DISABLE={} PROGRAM",
        word(layer)
    );
    if let Some(active) = report.layers.iter().find(|one| one.name == layer) {
        report::add_switch(&mut found, active, &report.variables);
        let is_wanted = active.enabled_by != "implicit" || found.variable.is_some();
        let is_far = |(own, wanted): ((u32, u32), (u32, u32))| own.0 < wanted.0 || own.1 + MANY_VERSIONS <= wanted.1;
        if is_wanted && minor(own).zip(minor(wanted)).is_some_and(is_far) {
            found.rank = rank::ASKED_FOR;
        }
    }
    Some(found)
}

/// Number of versions of Vulkan by which a layer must be older than the program to count as too old. Layers that are one version older are usual,
/// and most of them work.
const MANY_VERSIONS: u32 = 2;

#[cfg(test)]
mod tests {
    #[test]
    fn a_layer_that_is_not_installed_comes_with_its_source() {
        let advice = |layer: &str| super::to_install(layer).unwrap_or_default();
        assert!(advice("VK_LAYER_LUNARG_api_dump").contains("https://vulkan.lunarg.com"));
        assert!(advice("VK_LAYER_KHRONOS_validation").contains("vulkan-validationlayers (Debian"));
        assert!(advice("VK_LAYER_other").is_empty());
    }
}
