//! Tests of the decision that explains a failure, and of its text.

use super::*;
use crate::journal::Journal;
use crate::journal::reason::{FileKind, FileReason, LayerReason};
use crate::journal::testing::Lines;
use crate::text::Text;

fn dropped(subject: Subject, name: &str, path: &str, reason: impl Into<Reason>) -> Decision {
    Decision {
        subject,
        name: name.into(),
        path: path.into(),
        verdict: Verdict::Dropped(reason.into()),
        source: Source::BuildTime,
    }
}

fn library(reason: DriverLibraryReason) -> Decision {
    dropped(Subject::DriverLibrary, "libx.so", "/x.json", reason)
}

fn text_of(decisions: impl IntoIterator<Item = Decision>) -> String {
    let lines = Lines::default();
    let mut journal = Journal::of_call(&lines);
    for decision in decisions {
        journal.decide(decision);
    }
    journal.take_cause().text().to_string()
}

#[test]
fn app_89a_the_words_of_a_cause() {
    let words = |words: &str| library(DriverLibraryReason::NotOpened(words.into()));
    let manifest = |reason: DriverManifestReason| dropped(Subject::DriverManifest, "/x.json", "", reason);
    let mut named = dropped(Subject::DriverManifest, "/x.json", "", FileReason::NotFound);
    named.source = Source::Variable(Variable::DriverFiles);
    let mut beside = dropped(Subject::DriverManifest, "/x.json", "", FileReason::InvalidJson(None));
    beside.source = Source::Variable(Variable::XdgDataDirs);
    let failed = dropped(
        Subject::PhysicalDevice,
        "",
        "/libx.so",
        DeviceReason::EnumerationFailed(-3),
    );
    let pattern = Text::default();
    let cases = [
        (words("libx.so: cannot open"), "libx.so named by /x.json: cannot open"),
        (
            words("liby.so: cannot open"),
            "libx.so named by /x.json: liby.so: cannot open",
        ),
        (words(""), "libx.so named by /x.json: not opened"),
        (
            library(DriverLibraryReason::CreationFailed(-9)),
            "libx.so named by /x.json: creation failed with VkResult -9",
        ),
        (
            library(DriverLibraryReason::NegotiationRefused),
            "libx.so named by /x.json: negotiation refused",
        ),
        (
            manifest(DriverManifestReason::NoLibraryPath),
            "/x.json: no library path",
        ),
        (
            manifest(DriverManifestReason::NotSelected),
            "/x.json: not selected by VK_LOADER_DRIVERS_SELECT",
        ),
        (
            manifest(DriverManifestReason::Disabled { pattern }),
            "/x.json: disabled by VK_LOADER_DRIVERS_DISABLE",
        ),
        (named, "/x.json named by VK_DRIVER_FILES: not found"),
        (beside, "/x.json: invalid json"),
        (failed, "/libx.so: enumeration failed with VkResult -3"),
    ];
    for (decision, expected) in cases {
        assert_eq!(text_of([decision]), expected);
    }
}

#[test]
fn app_89a_the_best_explanation_counts_and_of_equals_the_first() {
    let named = |name: &str, reason: DriverLibraryReason| dropped(Subject::DriverLibrary, name, "", reason);
    let other = || named("other", DriverLibraryReason::WrongArchitecture(Text::default()));
    let first = || named("first", DriverLibraryReason::NegotiationRefused);
    let second = || named("second", DriverLibraryReason::NoEntryPoint);
    assert_eq!(text_of([other(), first(), second()]), "first: negotiation refused");
    assert_eq!(text_of([second(), first(), other()]), "second: no entry point");
    assert_eq!(text_of([other()]), "other: wrong architecture");
}

#[test]
fn app_89a_other_decisions_explain_nothing() {
    let mut kept = library(DriverLibraryReason::NoEntryPoint);
    kept.verdict = Verdict::Kept;
    let layer = dropped(Subject::Layer, "layer", "", LayerReason::DeviceLayer);
    let twice = dropped(Subject::DriverManifest, "/x.json", "", FileReason::FoundBefore);
    let settings = dropped(
        Subject::SettingsFile,
        "/x.json",
        "",
        FileReason::NotJsonName(FileKind::Driver),
    );
    assert_eq!(text_of([kept, layer, twice, settings]), "");
}

#[test]
fn app_89a_two_causes_are_one() {
    let cause = |decision| {
        let mut cause = Cause::NONE;
        cause.consider(decision);
        cause
    };
    let broken = || cause(library(DriverLibraryReason::NoEntryPoint));
    let foreign = || cause(library(DriverLibraryReason::WrongArchitecture("words".into())));
    let text = |cause: &Cause| cause.text().to_string();
    assert_eq!(text(foreign().or(&broken())), text(&broken()));
    assert_eq!(text(broken().or(&foreign())), text(&broken()));
    assert_eq!(text(broken().or(&Cause::NONE)), text(&broken()));
    assert_eq!(text(Cause::NONE.or(&foreign())), text(&foreign()));
    let mut both = foreign();
    both.add(broken());
    both.add(Cause::NONE);
    assert_eq!(text(&both), text(&broken()));
    assert!(Cause::NONE.is_empty() && !both.is_empty());
}
