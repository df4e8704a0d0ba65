//! Set-ups with usable devices: what the user asked for has no effect, or the program lacks nothing although files are for other programs.

use super::{Machine, Row, good, try_all};
use crate::machine::{library, vkloader};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Member of a manifest with the variable that switches a layer on.
const SWITCH: &str = r#", "enable_environment": {"VKLT_ON": "1"}"#;

/// Makes a script start `vkloader`. The script sets a variable that replaces the search for drivers.
fn with_wrapper(machine: &mut Machine) {
    good(machine);
    let script = machine.file(
        "wrapper",
        "#!/bin/sh\nexport VK_DRIVER_FILES=/nowhere/card.json\n\"$@\"\nexit $?\n",
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("the owner may");
    machine.start_with(vec![script.display().to_string()]);
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "a variable should switch a layer on, and has another value",
        |machine| {
            good(machine);
            machine.working_layer("implicit", "asked", "", SWITCH);
            machine.variable("VKLT_ON", "yes");
        },
        "layer.not-switched-on",
    )
    .about("asked.json")
    .remedy("VKLT_ON=1 PROGRAM", |machine| {
        machine.variable("VKLT_ON", "1");
    })
    .gone(),
    Row::new("a script sets a variable", with_wrapper, "variable.no-match")
        .about("wrapper sets it, which process ")
        .remedy("remove VK_DRIVER_FILES from line 2 of ", |machine| {
            machine.start_with(Vec::new());
        }),
];

#[test]
fn what_the_user_asked_for_comes_with_its_reason() {
    try_all(ROWS);
}

/// Returns the report as text, with single blanks between words.
fn said(machine: &Machine, words: &[&str]) -> String {
    let text = machine.run(&[&["explain"], words].concat()).stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_value_that_switches_a_layer_off_is_no_finding() {
    let mut machine = Machine::new();
    good(&mut machine);
    machine.working_layer("implicit", "asked", "", SWITCH);
    machine.variable("VKLT_ON", "0");
    let explained = machine.explain();
    assert!(
        !explained.codes().contains(&"layer.not-switched-on"),
        "{:#}",
        explained.report["dropped"]
    );
}

/// The head of the report names findings about what the user asked for, although devices are usable.
#[test]
fn findings_about_what_was_asked_for_stand_at_the_head() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    machine.manifest("again", &machine.path("libraries/libmock_good.so"), "");
    let library = library();
    let words = ["--library", library.to_str().expect("plain")];
    let text = said(&machine, &words);
    assert!(text.contains("But: Several manifests name this driver"), "{text}");
    let manifest = machine.working_layer("implicit", "old", "", SWITCH);
    let old = fs::read_to_string(&manifest)
        .expect("just written")
        .replace("\"1.4.0\"", "\"1.1.0\"");
    fs::write(&manifest, old).expect("it can be written");
    fs::remove_file(machine.path("data/vulkan/icd.d/again.json")).expect("one of the two");
    let mut machine = machine;
    machine.variable("VKLT_ON", "1");
    let own = vkloader();
    let text = said(&machine, &["--", own, "probe", words[1]]);
    let head = text.find("But: The layer is for an older version");
    assert!(head.is_some() && text.contains("old.json"), "{text}");
}

/// Gives a library the header of a library for 32-bit x86 processors.
fn for_32_bits(machine: &Machine, library: &str) {
    let path = machine.path(library);
    let mut bytes = fs::read(&path).expect("just copied");
    bytes[4] = 1;
    bytes[18..20].copy_from_slice(&[3, 0]);
    fs::write(path, bytes).expect("written");
}

/// Drivers for both word sizes are usual, whatever their files are called.
#[test]
fn a_driver_for_another_word_size_is_no_finding_beside_that_of_the_program() {
    for (own, other) in [
        ("card64", "card32"),
        ("card", "card_icd.i686"),
        ("card_icd64", "card_icd32"),
    ] {
        let machine = Machine::new();
        machine.driver(own, "device one");
        machine.driver(other, "");
        for_32_bits(&machine, &format!("libraries/libmock_{other}.so"));
        let explained = machine.explain();
        assert!(
            explained.codes().is_empty(),
            "{own} {other}: {:#}",
            explained.report["dropped"]
        );
        machine.manifest(
            other,
            &machine.path("libraries/libmock_other.so"),
            r#", "library_arch": "32""#,
        );
        if cfg!(target_pointer_width = "64") {
            let explained = machine.explain();
            assert!(
                explained.codes().is_empty(),
                "{own} {other}: {:#}",
                explained.report["dropped"]
            );
        }
    }
}

/// Without a driver for the program's word size, the driver for the other one is the cause.
#[test]
fn a_driver_for_another_word_size_is_a_finding_without_that_of_the_program() {
    let machine = Machine::new();
    machine.driver("card32", "");
    for_32_bits(&machine, "libraries/libmock_card32.so");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.wrong-architecture"));
}
