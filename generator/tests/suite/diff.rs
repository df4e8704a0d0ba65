//! Tests of the differences between complete registries (GEN-90 to GEN-92). Tests skip headers that were not fetched,
//! with a message.

use crate::common::{HEADERS, committed_policy, fixture, policy};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use vkgen::diff::{self, Report, Severity, Side, View};
use vkgen::policy::Policy;

/// Returns all fetched headers. Each is read once for all tests.
fn sides() -> &'static BTreeMap<&'static str, Side> {
    static SIDES: OnceLock<BTreeMap<&str, Side>> = OnceLock::new();
    SIDES.get_or_init(|| {
        let read = |header: &'static str| {
            let path = fixture(header)?;
            let operand = path.to_str().expect("a UTF-8 path");
            let side =
                diff::side(operand, &crate::common::xml_folder()).unwrap_or_else(|error| panic!("{header}: {error}"));
            Some((header, side))
        };
        HEADERS.into_iter().filter_map(read).collect()
    })
}

/// Returns the facts of each fetched header under the committed policy.
fn views() -> &'static BTreeMap<&'static str, View<'static>> {
    static POLICY: OnceLock<Policy> = OnceLock::new();
    static VIEWS: OnceLock<BTreeMap<&str, View<'_>>> = OnceLock::new();
    VIEWS.get_or_init(|| {
        let policy = POLICY.get_or_init(|| policy(&committed_policy()));
        let each = sides().iter();
        each.map(|(header, side)| (*header, View::new(side, policy))).collect()
    })
}

/// Returns the report between two headers, if both were fetched. Each report is made once for all tests.
fn report(old: &str, new: &str) -> Option<&'static Report> {
    type Pair = (&'static str, &'static str);
    static REPORTS: OnceLock<BTreeMap<Pair, OnceLock<Report>>> = OnceLock::new();
    let reports = REPORTS.get_or_init(|| {
        let pairs = sides().keys().flat_map(|old| sides().keys().map(|new| (*old, *new)));
        pairs.map(|pair| (pair, OnceLock::new())).collect()
    });
    let (_, report) = reports.iter().find(|(pair, _)| **pair == (old, new))?;
    Some(report.get_or_init(|| diff::between(&views()[old], &views()[new])))
}

fn names<'r>(report: &'r Report, group: &str, name: &str) -> Vec<&'r str> {
    let section = report.section(group, name).expect("every section is present");
    section.entries.iter().map(|entry| entry.name.as_str()).collect()
}

fn count(report: &Report, group: &str, name: &str) -> usize {
    names(report, group, name).len()
}

/// GEN-92, GEN-81: the generator knows every construct in the headers of all tested versions.
#[test]
fn gen_92_every_header_parses_without_unknown_constructs() {
    for (header, side) in sides() {
        assert_eq!(side.registry.header.to_string(), *header);
        assert!(side.unknown.is_empty(), "{header}: {}", side.unknown[0]);
    }
}

#[test]
fn gen_92_359_to_366_changes_no_command() {
    let Some(report) = report("1.4.359", "1.4.366") else {
        return;
    };
    for section in ["added", "removed", "changed"] {
        assert_eq!(names(report, "commands", section), [""; 0], "commands {section}");
    }
    assert_eq!(count(report, "extensions", "added"), 6);
    assert_eq!(count(report, "extensions", "changed"), 5);
    assert_eq!(
        names(report, "promotions", "extensions"),
        ["VK_EXT_pipeline_library_group_handles"]
    );
    assert_eq!(report.exit_code(), 1);
}

#[test]
fn gen_92_346_to_366_adds_commands_and_a_handle() {
    let Some(report) = report("1.4.346", "1.4.366") else {
        return;
    };
    assert_eq!(count(report, "commands", "added"), 27);
    assert_eq!(count(report, "commands", "removed"), 0);
    assert_eq!(count(report, "handles", "added"), 1);
}

#[test]
fn gen_92_335_to_366_loses_three_commands() {
    let Some(report) = report("1.4.335", "1.4.366") else {
        return;
    };
    assert_eq!(count(report, "commands", "removed"), 3);
    assert_eq!(
        count(report, "extensions", "disabled"),
        1,
        "and the extension they came from"
    );
    assert_eq!(report.severity(), Severity::Breaking);
    assert_eq!(report.exit_code(), 4);
    let removed = &report.section("commands", "removed").expect("the section").entries;
    assert!(removed.iter().all(|entry| entry.severity == Severity::Breaking));
}

#[test]
fn gen_92_319_to_366_crosses_the_split_of_the_core_features() {
    let Some(report) = report("1.4.319", "1.4.366") else {
        return;
    };
    assert_eq!(count(report, "commands", "added"), 84);
    assert_eq!(count(report, "platforms", "added"), 1);
    assert_eq!(count(report, "handles", "added"), 2);
    let became_alias = names(report, "promotions", "commands");
    assert_eq!(became_alias, ["vkCmdEndRendering2EXT", "vkReleaseSwapchainImagesEXT"]);
    // The newer header splits the core features. The features that require a command change, but the core version of
    // the command does not change.
    assert_eq!(count(report, "core_versions", "added"), 0);
    assert_eq!(
        count(report, "exports", "added") + count(report, "exports", "removed"),
        0
    );
    let changed = &report.section("commands", "changed").expect("the section").entries;
    assert!(
        changed.iter().all(|entry| entry.severity < Severity::Breaking),
        "no ABI change"
    );
}

#[test]
fn gen_92_a_difference_with_itself_is_empty() {
    for header in sides().keys() {
        let report = report(header, header).expect("it was read");
        assert!(report.is_empty(), "{header}: {}", diff::text(report));
        assert_eq!(report.exit_code(), 0);
    }
}

#[test]
fn gen_92_a_reversed_difference_swaps_added_and_removed() {
    let swapped = [
        (("commands", "added"), ("commands", "removed")),
        (("extensions", "added"), ("extensions", "removed")),
        (("extensions", "enabled"), ("extensions", "disabled")),
        (("extensions", "reserved"), ("extensions", "unreserved")),
        (("handles", "added"), ("handles", "removed")),
        (("platforms", "added"), ("platforms", "removed")),
        (("core_versions", "added"), ("core_versions", "removed")),
        (("aliases", "added"), ("aliases", "removed")),
        (("special", "added"), ("special", "removed")),
        (("exports", "added"), ("exports", "removed")),
    ];
    let kept = [
        ("commands", "changed"),
        ("extensions", "changed"),
        ("handles", "changed"),
    ];
    for old in sides().keys() {
        for new in sides().keys() {
            let (there, back) = (report(old, new).expect("read"), report(new, old).expect("read"));
            let same = |a: (&str, &str), b: (&str, &str)| {
                let (a, b) = (names(there, a.0, a.1), names(back, b.0, b.1));
                assert_eq!(a, b, "{old} -> {new}");
            };
            for (a, b) in swapped {
                same(a, b);
                same(b, a);
            }
            kept.into_iter().for_each(|section| same(section, section));
        }
    }
}

#[test]
fn gen_92_differences_add_up_over_a_header_between() {
    let headers: Vec<&str> = sides().keys().copied().collect();
    for triple in headers.windows(3) {
        let [first, middle, last] = [triple[0], triple[1], triple[2]];
        let total =
            |report: &Report| count(report, "commands", "added") as i64 - count(report, "commands", "removed") as i64;
        let step = |old, new| total(report(old, new).expect("read"));
        assert_eq!(
            step(first, middle) + step(middle, last),
            step(first, last),
            "{first} {middle} {last}"
        );
    }
}
