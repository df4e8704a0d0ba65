//! Drivers and layers for the other word size of a system that has both: nothing is wrong with them.

use crate::report::Report;

/// Codes of what is for another word size or processor.
const CODES: [&str; 3] = [
    "driver.wrong-architecture",
    "driver-manifest.architecture",
    "layer-library.wrong-architecture",
];

/// Takes out what is left out for its word size, where the same driver or layer for the program's own works.
pub(super) fn forget(report: &mut Report) {
    let drivers = report.drivers.iter();
    let working: Vec<String> = drivers
        .flat_map(|driver| [Some(driver.library.as_str()), driver.manifest.as_deref()])
        .chain(
            report
                .layers
                .iter()
                .flat_map(|layer| [Some(layer.library.as_str()), Some(layer.name.as_str())]),
        )
        .flatten()
        .map(stem)
        .collect();
    report.dropped.retain(|dropped| {
        let is_counterpart = [Some(dropped.name.as_str()), dropped.file.as_deref()]
            .into_iter()
            .flatten()
            .any(|name| working.contains(&stem(name)));
        !(CODES.contains(&dropped.code.as_str()) && is_counterpart)
    });
}

/// The file name up to the first dot, which the packages of all word sizes have in common: `radeon_icd` of `radeon_icd.i686.json`.
fn stem(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split('.').next().unwrap_or(file).into()
}
