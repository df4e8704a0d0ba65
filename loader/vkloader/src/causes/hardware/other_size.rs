//! Finds the drivers of a card that are installed only for another word size or processor than the program's.

use super::drivers::known;
use crate::causes::elf::TO_CORRECT;
use crate::causes::multiarch;
use crate::report::{Dropped, Report, codes, rank};

/// Returns the finding that the program found one of the drivers in `libraries` for another word size or processor.
fn found<'a>(libraries: &[&str], report: &'a Report) -> Option<&'a Dropped> {
    let is_it = |one: &&Dropped| {
        let names = [Some(one.name.as_str()), one.file.as_deref()];
        let mut drivers = names.into_iter().flatten().filter_map(known);
        multiarch::CODES.contains(&one.code.as_str()) && drivers.any(|driver| libraries.contains(&driver))
    };
    report.dropped.iter().find(is_it)
}

/// Returns the rank of the finding that the program found one of the drivers in `libraries` for another word size or processor.
pub(super) fn rank_of(libraries: &[&str], report: &Report) -> Option<u8> {
    found(libraries, report).map(|one| one.rank)
}

/// Returns `true` if a manifest names one of the drivers in `libraries` for another word size, and if that driver is also installed for the program's. The
/// remedy is then to correct the manifest.
pub(super) fn leads_away(libraries: &[&str], report: &Report) -> bool {
    found(libraries, report).is_some_and(|one| one.advice.starts_with(TO_CORRECT))
}

/// Adds to the finding about a missing driver that one of the drivers in `libraries` is installed for another word size or processor. The remedy is
/// then to install the same driver for the program's. Adds nothing if another finding comes first.
pub(super) fn explain(missing: &mut Dropped, libraries: &[&str], report: &Report) {
    let is_first = missing.rank == rank::HARDWARE && missing.code == codes::HARDWARE_NO_DRIVER.name;
    let Some(other) = found(libraries, report).filter(|_| is_first) else {
        return;
    };
    missing.reason =
        "The Vulkan driver of the graphics card is installed only for another word size or processor than the program's."
            .into();
    let fact = other.findings.first().cloned();
    missing
        .findings
        .insert(0, fact.unwrap_or_else(|| other.name.as_str().into()));
    if !other.advice.is_empty() {
        missing.advice.clone_from(&other.advice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_with_a_driver_of_another_word_size_needs_the_driver_of_the_programs() {
        let other = Dropped {
            code: multiarch::CODES[0].into(),
            findings: ["/usr/lib32/libvulkan_radeon.so is for x86, 32 bit"].into(),
            advice: "Install the package for x86-64, 64 bit".into(),
            ..codes::DRIVER_NONE_HAS_DEVICE.about("/usr/lib32/libvulkan_radeon.so")
        };
        let report = Report {
            dropped: vec![other],
            ..Report::default()
        };
        for (library, advice) in [
            ("libvulkan_radeon", "Install the package for x86-64, 64 bit"),
            ("libvulkan_intel", codes::HARDWARE_NO_DRIVER.remedy),
        ] {
            let mut missing = codes::HARDWARE_NO_DRIVER.about("0000:03:00.0");
            explain(&mut missing, &[library], &report);
            assert_eq!(missing.advice, advice, "{library}");
        }
    }
}
