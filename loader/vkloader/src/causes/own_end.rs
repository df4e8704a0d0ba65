//! Ranks the end of a program that ended itself after the reasons why it had no graphics card. Many programs end with an exception or SIGABRT if
//! they find no card.

use super::deliberate::{is_left_out, may_serve};
use super::hardware::is_hardware;
use super::late;
use crate::events::Record;
use crate::report::{Card, Dropped, Report, codes, rank};

/// Ranks the crash of a program that ended itself after the causes of a missing card. Does so if the program listed the devices, and then created
/// none of them.
pub(super) fn rank_after_causes(report: &mut Report, records: &[&Record]) {
    let mut crash = report.crash.iter();
    let is_own = crash.any(|crash| crash.is_abort_of_program() && crash.is_of_program());
    if is_own && late::has_listed(records) && !late::has_device(records) && !report.devices.iter().any(is_hardware) {
        demote(&mut report.dropped, &report.hardware);
    }
}

/// Ranks the crash in `dropped` after the findings about a missing card, if there are any.
fn demote(dropped: &mut [Dropped], cards: &[Card]) {
    let is_cause = |one: &Dropped| one.rank < rank::STATUS && one.explains_missing_card() && !is_spare(one, cards);
    if !dropped.iter().any(is_cause) {
        return;
    }
    let ends = dropped.iter_mut().filter(|one| one.code == codes::PROGRAM_CRASHED.name);
    for one in ends.filter(|one| one.rank < rank::STATUS) {
        one.rank = rank::STATUS;
        let words = "it had listed the devices, and no graphics card was among them";
        one.findings.insert(0, words);
    }
}

/// Returns `true` for a manifest that a variable leaves out, and whose driver is for none of the cards.
fn is_spare(one: &Dropped, cards: &[Card]) -> bool {
    is_left_out(one) && !may_serve(&one.name, cards.iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reasons::Code;

    #[test]
    fn the_filter_that_leaves_out_a_card_comes_before_the_end_of_the_program() {
        let card = Card::of_amd();
        let left_out = |library: &str| Dropped {
            code: Code::DriverManifestDisabled.name().into(),
            subject: "driver manifest".into(),
            rank: Code::DriverManifestDisabled.rank(),
            ..codes::SEARCH_REPLACED.about(format!("/usr/share/vulkan/icd.d/{library}"))
        };
        for (cause, is_first) in [
            (left_out("libvulkan_radeon.so"), true),
            (left_out("libvulkan_nouveau.so"), false),
            (left_out("libvulkan_gfxstream.so"), false),
            (codes::HARDWARE_NO_PERMISSION.about("/dev/dri/renderD128"), true),
            (codes::HARDWARE_NONE.about("the system"), false),
            (codes::VARIABLE_NO_MATCH.about("VK_INSTANCE_LAYERS"), false),
        ] {
            let name = cause.name.clone();
            let mut dropped = [codes::PROGRAM_CRASHED.about("the program"), cause];
            demote(&mut dropped, std::slice::from_ref(&card));
            dropped.sort_by_key(|one| one.rank);
            assert_eq!(dropped[0].name == name, is_first, "{name}");
        }
    }
}
