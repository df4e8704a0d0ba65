//! Joins findings about manifests of drivers that one variable leaves out. The driver of a card that the program cannot use keeps a finding of
//! its own.

use super::deliberate::{is_left_out, serves};
use super::elf::{self, About};
use super::hardware::{is_used, known};
use crate::manifests;
use crate::report::{Dropped, Report, codes, rank};
use reasons::Code;
use std::path::Path;

/// Joins the findings. Adds the faults that the drivers of the cards have besides the variable.
pub(super) fn join(report: &mut Report) {
    let (left_out, mut kept): (Vec<Dropped>, Vec<Dropped>) =
        std::mem::take(&mut report.dropped).into_iter().partition(is_left_out);
    let mut others: Vec<(Dropped, Vec<String>)> = Vec::new();
    for mut one in left_out {
        let is_same =
            |other: &Dropped| (&other.code, &other.variable, other.rank) == (&one.code, &one.variable, one.rank);
        if let Some(card) = unused_card(&one, report) {
            one.findings.insert(0, format!("it is the driver of {card}"));
            add_fault(&mut one, report);
            kept.push(one);
        } else if let Some((_, names)) = others.iter_mut().find(|(other, _)| is_same(other)) {
            names.push(one.name);
        } else {
            others.push((one, Vec::new()));
        }
    }
    for (mut one, names) in others {
        let is_of_card = |other: &Dropped| (&other.code, &other.variable) == (&one.code, &one.variable);
        if kept.iter().any(is_of_card) {
            one.rank = one.rank.max(rank::ASIDE);
        }
        if !names.is_empty() {
            one.findings
                .insert(0, format!("the same is true of {}", names.join(", ")));
        }
        kept.push(one);
    }
    report.dropped = kept;
}

/// Returns the card of a driver that a variable leaves out, if the program can use the card with no other driver.
fn unused_card(one: &Dropped, report: &Report) -> Option<String> {
    let library = known(&one.name)?;
    let mut cards = report.hardware.iter();
    let card = cards.find(|card| serves(library, card) && !is_used(card, &report.devices))?;
    Some(card.to_string())
}

/// Adds the reason why the library of a driver would not open either. The files of a program in a sandbox are not examined.
fn add_fault(one: &mut Dropped, report: &Report) {
    let manifest = Path::new(&one.name);
    let Some(library) = manifests::named(manifest).filter(|_| report.inside.is_none()) else {
        return;
    };
    let library = manifests::found(manifest, &library).display().to_string();
    let mut driver = codes::DRIVER_NONE_HAS_DEVICE.about(library);
    driver.code = Code::DriverNotOpened.name().into();
    driver.file = Some(one.name.clone());
    let loader = report.loader.as_ref();
    let about = About {
        manifest: Some(&one.name),
        loader: loader.and_then(|loader| loader.path.as_deref()).map(Path::new),
        program: loader.and_then(|loader| loader.executable.as_deref()).map(Path::new),
        limits: &report.limits,
    };
    elf::explain(&mut driver, &about);
    if let Some(fault) = driver.findings.first() {
        one.findings.insert(
            1,
            format!("without the variable, its library would not open: {}", &**fault),
        );
        one.advice = format!("{}. Also: {}", one.advice.trim_end_matches('.'), driver.advice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Card;

    fn left_out(file: &str) -> Dropped {
        Dropped {
            code: Code::DriverManifestNotSelected.name().into(),
            rank: Code::DriverManifestNotSelected.rank(),
            variable: Some("VK_LOADER_DRIVERS_SELECT".into()),
            ..codes::SEARCH_REPLACED.about(format!("/usr/share/vulkan/icd.d/{file}"))
        }
    }

    #[test]
    fn the_manifest_of_an_unused_card_comes_before_those_of_other_drivers() {
        let files = [
            "libvulkan_gfxstream.so",
            "libvulkan_lvp.so",
            "libGLX_nvidia.so",
            "libvulkan_radeon.so",
        ];
        let mut report = Report {
            dropped: files.map(left_out).into(),
            ..Report::default()
        };
        report.hardware.push(Card {
            place: "0000:01:00.0".into(),
            vendor: 0x10DE,
            device: 0x2484,
            kernel_driver: Some("nvidia".into()),
            node: None,
        });
        join(&mut report);
        report.dropped.sort_by_key(|one| one.rank);
        let [card, others] = &report.dropped[..] else {
            panic!("{:?}", report.dropped)
        };
        assert!(card.name.ends_with("libGLX_nvidia.so") && card.rank < rank::ASIDE);
        assert!(card.findings[0].contains("0000:01:00.0"), "{:?}", card.findings);
        assert!(others.findings[0].ends_with("libvulkan_lvp.so, /usr/share/vulkan/icd.d/libvulkan_radeon.so"));
        assert_eq!(others.rank, rank::ASIDE);
        // Without a card, the first manifest stands for all of them.
        report.hardware.clear();
        report.dropped = files.map(left_out).into();
        join(&mut report);
        assert_eq!(report.dropped.len(), 1);
        assert!(report.dropped[0].rank < rank::ASIDE);
    }
}
