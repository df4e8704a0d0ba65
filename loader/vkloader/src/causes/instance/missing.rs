//! Names the features and extensions that a program asks for and its device lacks.

use crate::events::{Event, Record, Step};
use crate::features;
use crate::installed;
use crate::names;
use crate::report::{self, Device, Dropped, Report};

/// Upper bound on the number of features that a sentence names.
const MOST: usize = 4;

/// Adds to the finding about a failed `vkCreateDevice` the features that the device lacks.
pub(super) fn feature(found: &mut Dropped, report: &Report, records: &[&Record]) {
    let failed = failed(records);
    let mut names: Vec<&str> = Vec::new();
    let all = records.iter().filter_map(|record| match &record.event {
        Event::Lacks(lacking) => Some(lacking),
        _ => None,
    });
    for lacking in all {
        if let Some(name) = features::name(lacking.structure, lacking.word).filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    let device = of_device(report, failed);
    let what = match (&names[..], names.len()) {
        ([], _) => "a feature".into(),
        ([only], _) => format!("the feature {only}"),
        (_, count) if count > MOST => format!("the features {} and {} more", names[..MOST].join(", "), count - MOST),
        _ => format!("the features {}", names.join(", ")),
    };
    found.reason = format!(
        "The program asked for {what}, which {} lacks, so it got no device.",
        device.name
    );
    found.file.clone_from(&device.library);
    found.findings.extend(device.facts());
    let plural = if names.len() > 1 {
        "these features"
    } else {
        "this feature"
    };
    let others = "vulkaninfo lists the features of each device";
    let again = if device.is_software {
        String::new()
    } else {
        ", or update the driver of the device".into()
    };
    found.advice = if names.is_empty() {
        format!(
            "Choose other settings in the program, or a device that has the feature: {others}, and the program's documents or messages name \
             those that it needs."
        )
    } else {
        format!("Choose settings of the program without {plural}, or a device that has it ({others}){again}.")
    };
}

/// Adds to the finding about a failed `vkCreateDevice` the extension that the device lacks.
pub(super) fn extension(found: &mut Dropped, extension: &str, report: &Report, records: &[&Record]) {
    let device = of_device(report, failed(records));
    found.reason = format!(
        "The program asked for {extension}, which neither {} nor a layer has.",
        device.name
    );
    found.file.clone_from(&device.library);
    found.findings.extend(device.facts());
    let rest = "choose another device (vkloader devices lists them), or other settings in the program.";
    let package = device
        .owner
        .as_deref()
        .map_or(String::new(), |owner| format!(" ({owner})"));
    found.advice = if device.is_software {
        format!("A software driver has few extensions: {rest}")
    } else {
        format!("Update the driver of the device{package}; if the device is too old for the extension, {rest}")
    };
}

/// Adds to the finding about a failed `vkCreateDevice` the driver that failed, and the variable without this driver.
pub(super) fn driver(found: &mut Dropped, report: &Report, records: &[&Record]) {
    let Some(step) = failed(records) else { return };
    let code = step.result.unwrap_or_default();
    let device = of_device(report, Some(step));
    let library = step.library.clone().unwrap_or_default();
    found.reason = format!(
        "vkCreateDevice of the driver {library} ({}) failed with {}, so the program got no device.",
        device.name,
        names::result(code)
    );
    found.findings.extend(device.facts());
    let mut own = report.devices.iter().filter(|one| one.driver == library);
    let others = own.next().and_then(|own| report::without_driver(own, &report.devices));
    found.advice = format!("{}{}", report::for_result(code), others.unwrap_or_default());
    found.file = Some(library);
}

/// Returns the beginning of a remedy: updates the packages of the drivers with these files.
pub(in crate::causes) fn update(drivers: &[&str]) -> String {
    let mut packages: Vec<String> = drivers.iter().filter_map(|driver| installed::owner(driver)).collect();
    packages.sort();
    packages.dedup();
    match packages.len() {
        0 if drivers.len() == 1 => "Update the driver".into(),
        0 => "Update the drivers".into(),
        1 => format!("Update the {}", packages[0]),
        _ => format!("Update these: {}", packages.join(", ")),
    }
}

/// The device for which a call failed.
struct Failed {
    name: String,
    library: Option<String>,
    owner: Option<String>,
    is_software: bool,
}

impl Failed {
    /// Returns the driver of the device, with its package.
    fn facts(&self) -> Option<String> {
        let (library, owner) = (self.library.as_ref()?, self.owner.as_ref()?);
        Some(format!("the driver of the device: {library} ({owner})"))
    }
}

/// Returns the last failed call of `vkCreateDevice` in a driver.
fn failed<'a>(records: &[&'a Record]) -> Option<&'a Step> {
    records.iter().rev().find_map(|record| match &record.event {
        Event::End(step) if step.name == "vkCreateDevice" && step.step == "driver" => {
            Some(step).filter(|step| step.failure().is_some())
        }
        _ => None,
    })
}

/// Returns the device of a call of a driver. Without such a call, returns the only device.
fn of_device(report: &Report, step: Option<&Step>) -> Failed {
    let library = step.and_then(|step| step.library.as_deref());
    let is_it = |device: &&Device| library.is_none_or(|library| device.driver == library);
    let own: Vec<&Device> = report.devices.iter().filter(is_it).collect();
    let (name, library) = match own[..] {
        [only] => (only.name.clone(), Some(only.driver.clone())),
        _ => ("the device".into(), library.map(String::from)),
    };
    Failed {
        name,
        owner: library.as_deref().and_then(installed::owner),
        library,
        is_software: !own.is_empty() && own.iter().all(|device| device.is_software()),
    }
}
