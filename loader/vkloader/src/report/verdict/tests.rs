//! Tests of the first sentence and of the first cause of a report.

use super::*;

#[test]
fn the_head_has_the_file_a_fact_and_the_origin_of_a_variable() {
    let mut found = codes::DEVICE_NOT_CREATED.about("card");
    found.file = Some("/lib/a.so".into());
    let origin = |is_file, text: &str| {
        let variable = "VK_X".into();
        Fact::new(Kind::Origin { variable, is_file }, text)
    };
    found.findings = vec![
        Fact::of_log("long"),
        "libx.so is missing".into(),
        "another fact".into(),
        origin(false, "VK_X: set by process 1 (sh), or in a command that it ran"),
        origin(true, "VK_X: /etc/environment, line 2, sets it"),
    ]
    .into();
    assert_eq!(
        found.head_facts(),
        [
            "device: card (/lib/a.so)",
            "libx.so is missing",
            "VK_X: /etc/environment, line 2, sets it"
        ]
    );
    found.advice = "Update card in /lib/a.so, because libx.so is missing".into();
    found.findings.truncate(2);
    assert!(found.head_facts().is_empty(), "the remedy has all of them");
    let mut found = codes::PROGRAM_FAILED.about_any("the program");
    found.findings = [Fact::of_system("no")].into();
    assert_eq!(found.head_facts(), ["the system says: no"]);
}

#[test]
fn a_machine_without_a_card_comes_after_a_word_without_effect() {
    let word = Dropped {
        rank: rank::CONSEQUENCE,
        ..codes::VARIABLE_NO_MATCH.about("VK_INSTANCE_LAYERS")
    };
    let mut report = Report {
        verdict: Verdict::SoftwareOnly,
        dropped: vec![word, codes::HARDWARE_NONE.about("this machine")],
        ..Report::default()
    };
    let first = |report: &Report| report.first_cause().map(|one| one.code.clone());
    assert_eq!(first(&report).as_deref(), Some(codes::VARIABLE_NO_MATCH.name));
    report.dropped.push(codes::HARDWARE_NO_NODE.about("card"));
    report.dropped.remove(1);
    assert_eq!(first(&report).as_deref(), Some(codes::HARDWARE_NO_NODE.name));
    report.dropped = vec![codes::HARDWARE_NONE.about("this machine")];
    assert_eq!(first(&report).as_deref(), Some(codes::HARDWARE_NONE.name));
}

#[test]
fn a_layer_does_not_explain_that_only_software_is_usable() {
    let report = |verdict| Report {
        verdict,
        ..Report::default()
    };
    let layer = codes::LAYER_CALL_FAILED.about("VK_LAYER_odd");
    let card = codes::HARDWARE_NO_NODE.about("card");
    for (verdict, of_layer, of_card) in [
        (Verdict::Hardware, Some("But: "), Some("But: ")),
        (Verdict::SoftwareOnly, Some("Also: "), None),
        (Verdict::Nothing, None, None),
    ] {
        assert_eq!(report(verdict).aside(&layer), of_layer);
        assert_eq!(report(verdict).aside(&card), of_card);
    }
}

#[test]
fn a_card_that_is_not_usable_explains_a_program_that_chose_no_device() {
    let guests = Dropped {
        rank: rank::CONSEQUENCE,
        ..codes::HARDWARE_FOR_GUESTS.about("0000:01:00.0")
    };
    let mut report = Report {
        verdict: Verdict::Hardware,
        dropped: vec![codes::PROGRAM_CHOSE_NONE.about("the program"), guests],
        ..Report::default()
    };
    let first = |report: &Report| report.first_cause().map(|one| one.code.clone());
    assert_eq!(first(&report).as_deref(), Some(codes::HARDWARE_FOR_GUESTS.name));
    report.dropped[1] = codes::HARDWARE_NONE.about("this machine");
    assert_eq!(first(&report).as_deref(), Some(codes::PROGRAM_CHOSE_NONE.name));
}

#[test]
fn a_broken_driver_explains_a_choice_of_none_only_if_a_card_is_missed() {
    let card = |place: &str| Card {
        place: place.into(),
        ..Card::of_amd()
    };
    let usable = crate::report::Device {
        pci: Some("0000:03:00.0".into()),
        kind: "discrete".into(),
        is_usable: true,
        ..crate::report::of_other(&crate::probe::Device::default(), "")
    };
    let mut broken = codes::DRIVER_NAMED_TWICE.about("/opt/libown.so");
    (broken.code, broken.rank) = ("driver.not-opened".into(), rank::BROKEN);
    let mut report = Report {
        verdict: Verdict::Hardware,
        dropped: vec![broken, codes::PROGRAM_CHOSE_NONE.about_any("the program")],
        devices: vec![usable],
        hardware: vec![card("0000:03:00.0")],
        ..Report::default()
    };
    let first = |report: &Report| report.first_cause().map(|one| one.code.clone());
    assert_eq!(first(&report).as_deref(), Some(codes::PROGRAM_CHOSE_NONE.name));
    report.dropped[0].findings.push(Fact::new(Kind::WithoutCard, "no card"));
    assert_eq!(first(&report).as_deref(), Some("driver.not-opened"));
    report.dropped[0].findings = crate::report::Facts::new();
    report.hardware.push(card("0000:04:00.0"));
    assert_eq!(first(&report).as_deref(), Some("driver.not-opened"));
}

#[test]
fn a_broken_layer_explains_no_failure_after_a_device_was_created() {
    let first = |had_device, code: &codes::Row| {
        let mut failed = codes::PROGRAM_FAILED.about_any("the program");
        if had_device {
            failed.findings = [Fact::new(Kind::HadDevice, "it had a device")].into();
        }
        let report = Report {
            verdict: Verdict::Hardware,
            dropped: vec![code.about("other"), failed],
            ..Report::default()
        };
        report.first_cause().map(|one| one.code.clone())
    };
    let broken = codes::DEVICE_NOT_CREATED;
    assert_eq!(first(true, broken).as_deref(), Some(codes::PROGRAM_FAILED.name));
    assert_eq!(first(false, broken).as_deref(), Some(broken.name));
    let hides = codes::LAYER_HIDES_FEATURES;
    assert_eq!(first(true, hides).as_deref(), Some(hides.name));
}

#[test]
fn a_failed_call_explains_a_failure_on_a_machine_without_a_card() {
    let mut report = Report {
        verdict: Verdict::SoftwareOnly,
        dropped: vec![
            codes::HARDWARE_NONE.about("this machine"),
            codes::PROGRAM_CALL_FAILED.about("vkCreateDevice"),
        ],
        ..Report::default()
    };
    let first = |report: &Report| report.first_cause().map(|one| one.code.clone());
    assert_eq!(first(&report).as_deref(), Some("program.call-failed"));
    // A layer that makes the call fail explains more than the call.
    report.dropped.insert(0, codes::LAYER_CALL_FAILED.about("VK_LAYER_odd"));
    assert_eq!(first(&report).as_deref(), Some("layer.call-failed"));
}

#[test]
fn the_end_of_a_program_comes_before_a_card_without_a_driver() {
    let card = || Card {
        place: "0000:00:01.0".into(),
        vendor: 0x1234,
        device: 0x1111,
        kernel_driver: Some("bochs-drm".into()),
        node: None,
    };
    for end in [
        codes::PROGRAM_FAILED,
        codes::PROGRAM_CHOSE_NONE,
        codes::PROGRAM_CALL_FAILED,
    ] {
        let without = codes::HARDWARE_WITHOUT_VULKAN;
        for (hardware, rank, is_end) in [
            (codes::HARDWARE_DISPLAY_ONLY, rank::ASIDE - 6, true),
            (without, rank::ASIDE - 6, true),
            (without, rank::HARDWARE, false),
            (codes::HARDWARE_NO_NODE, rank::HARDWARE, false),
        ] {
            let is_end = is_end && end.name != codes::PROGRAM_CHOSE_NONE.name;
            let expected = if is_end { end.name } else { hardware.name };
            let hardware = Dropped {
                rank,
                ..hardware.about(card().to_string())
            };
            let report = Report {
                verdict: Verdict::SoftwareOnly,
                dropped: vec![hardware, end.about_any("the program")],
                hardware: vec![card()],
                ..Report::default()
            };
            assert_eq!(report.first_cause().map(|one| one.code.as_str()), Some(expected));
        }
    }
}
