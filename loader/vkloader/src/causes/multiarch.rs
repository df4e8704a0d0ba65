//! Finds drivers and layers for another word size than the program's. Systems with both word sizes normally have both kinds of files.

use crate::report::Report;

/// Codes of drivers and layers for another word size or processor.
pub(super) const CODES: [&str; 3] = [
    "driver.wrong-architecture",
    "driver-manifest.architecture",
    "layer-library.wrong-architecture",
];

/// Removes the findings about drivers and layers of another word size if the same driver or layer also exists for the program's word size.
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

/// Returns the file name up to the first dot, which is the same for all word sizes: `radeon_icd` for `radeon_icd.i686.json`.
fn stem(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split('.').next().unwrap_or(file).into()
}
