//! Drivers whose failed call ended the call of the program. The library writes no decision about such a driver.

use super::is_same;
use crate::events::Record;
use crate::names;
use crate::report::{Dropped, Facts, Report, ended, rank};
use reasons::Code;

/// Result of a call for which memory is too short. The library then returns the same result to the program.
const OUT_OF_HOST_MEMORY: i32 = -1;

/// Functions of drivers whose result may end the call of the program, each with the code of the failure.
const FUNCTIONS: [(&str, Code); 4] = [
    ("vkEnumeratePhysicalDevices", Code::DeviceEnumerationFailed),
    ("vkEnumeratePhysicalDeviceGroups", Code::DeviceEnumerationFailed),
    ("vkEnumeratePhysicalDeviceGroupsKHR", Code::DeviceEnumerationFailed),
    (
        "vkEnumerateInstanceExtensionProperties",
        Code::DriverExtensionQueryFailed,
    ),
];

/// Beginning of the remedy for a driver that reports too little memory. A driver may report this for other reasons too.
const SHORT: &str = "If free -h shows that memory is short, or the service or container has a limit (MemoryMax=, docker run --memory), free memory or raise \
     the limit. Otherwise the driver itself is at fault: ";

/// Adds a finding for each driver whose failed call has no other finding.
pub(super) fn add(report: &mut Report, records: &[&Record]) {
    let mut found: Vec<Dropped> = Vec::new();
    for call in &report.failed {
        let code = FUNCTIONS
            .iter()
            .find(|(name, _)| *name == call.name)
            .map(|(_, code)| *code);
        let (Some(library), Some(code)) = (&call.library, code) else {
            continue;
        };
        let is_it = |one: &Dropped| {
            let mut names = [Some(one.name.as_str()), one.file.as_deref()].into_iter().flatten();
            names.any(|name| is_same(name, library))
        };
        let is_known = report.dropped.iter().chain(&found).any(is_it);
        let has_device = report.devices.iter().any(|device| is_same(&device.driver, library));
        let is_of_layer = report.layers.iter().any(|layer| is_same(&layer.library, library));
        if !is_known && !has_device && !is_of_layer {
            found.push(of_call(library, code, call.code, records));
        }
    }
    report.dropped.extend(found);
}

/// Returns the finding about a driver whose function returned `result`.
fn of_call(library: &str, code: Code, result: i32, records: &[&Record]) -> Dropped {
    let row = code.row();
    let mut found = Dropped {
        subject: "driver".into(),
        code: row.name.into(),
        name: library.into(),
        file: None,
        source: None,
        named_by: None,
        reason: row.meaning.into(),
        findings: Facts::new(),
        advice: row.remedy.into(),
        set: None,
        variable: None,
        absent: None,
        is_general: false,
        names_file: false,
        rank: rank::of(Some(code)),
    };
    found.findings.push(format!("the result: {}", names::result(result)));
    if result == OUT_OF_HOST_MEMORY {
        found
            .findings
            .push("with this result, the program gets no device of any driver");
        explain_short(&mut found, library, records);
    }
    found
}

/// Gives a finding about a driver that reports too little memory the remedies for both possible causes.
pub(crate) fn explain_short(found: &mut Dropped, library: &str, records: &[&Record]) {
    ended::leave_out(found, library, records);
    found.advice = format!("{SHORT}{}", names::as_clause(&found.advice));
}
