//! Tests of the output and exit statuses of `vkloader`.

mod machine;

use machine::{Machine, library, vkloader};
use std::process::Command;

#[test]
fn devices_come_with_the_words_that_choose_them() {
    let machine = Machine::new();
    machine.driver("good", "device one\ndevice two\ndevice.vendor 1\ndevice.id 2");
    let library = library();
    let output = machine.run(&["devices", "--library", library.to_str().expect("plain")]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for word in ["'type:discrete'", "'driver:mock_good'", "'name:two'"] {
        assert!(said.lines().any(|line| line.trim().starts_with(word)), "{word}: {said}");
    }
    let (_, second) = said.split_once("  two\n").expect("the second device");
    let words: Vec<&str> = second
        .lines()
        .take_while(|line| line.trim().starts_with('\''))
        .collect();
    let word = |line: &str| {
        line.trim()
            .trim_start_matches('\'')
            .split('\'')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let lengths: Vec<usize> = words.iter().map(|line| word(line).len()).collect();
    assert!(lengths.is_sorted() && words.len() > 2, "the shortest first: {words:?}");
    for line in words {
        let mut machine = Machine::new();
        machine.driver("good", "device one\ndevice two\ndevice.vendor 1\ndevice.id 2");
        machine.variable("VK_LOADER_VISIBLE_DEVICES", word(line));
        let expected = if line.contains("# also chooses ") {
            &["one", "two"][..]
        } else {
            &["two"]
        };
        let explained = machine.explain();
        let mut devices = explained.devices();
        devices.sort_unstable();
        assert_eq!(devices, expected, "{line}");
    }
}

#[test]
fn conditions_decide_how_it_ends() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.argument("--check");
    for (condition, code) in [
        ("name:o*", 0),
        ("name:two", 1),
        ("driver:MOCK_good", 0),
        ("type:cpu", 1),
        ("nonsense", 2),
    ] {
        machine.argument(condition);
        let library = library();
        let output = machine.run(&["explain", "--library", library.to_str().expect("plain")]);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{condition}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        machine.pop();
    }
}

#[test]
fn text_is_no_wider_than_a_terminal_and_has_no_colours_in_a_file() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    machine.manifest("gone", "/nowhere/libgone.so".as_ref(), "");
    let library = library();
    let output = machine.run(&["explain", "--library", library.to_str().expect("plain")]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains('\x1b'));
    let places = [
        "Devices, in the order",
        "Left out, or in the way",
        "    -> Reinstall the package",
    ]
    .map(|words| text.find(words));
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
    let head: Vec<&str> = text.lines().take(4).collect();
    assert!(head[1].starts_with("  But: "), "{text}");
    assert!(head[2..].concat().contains("/nowhere/libgone.so"), "{text}");
    let wide = text
        .lines()
        .filter(|line| line.chars().count() > 80 && line.trim().contains(' '));
    assert_eq!(wide.count(), 0, "{text}");
}

#[test]
fn names_with_commas_and_quotes_are_chosen_by_the_words_told() {
    let lines = "device one\ndevice two, it's (256 bits)\ndevice.type 0";
    let machine = Machine::new();
    machine.driver("good", lines);
    let library = library();
    let output = machine.run(&["devices", "--library", library.to_str().expect("plain")]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains("type:other"), "no word chooses that type: {said}");
    let word = said
        .lines()
        .find(|line| line.contains("name:*"))
        .expect("a word")
        .trim();
    let shell = Command::new("sh")
        .args(["-c", &format!("printf %s {word}")])
        .output()
        .expect("a shell");
    let mut machine = Machine::new();
    machine.driver("good", lines);
    machine.variable("VK_LOADER_DEVICE_SELECT", String::from_utf8_lossy(&shell.stdout));
    assert_eq!(machine.explain().devices(), ["two, it's (256 bits)", "one"]);
}

#[test]
fn a_reader_that_is_gone_is_no_failure() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let library = library();
    for words in [&["explain"][..], &["explain", "--json"], &["devices"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = machine.command(words);
        let output = command
            .arg("--library")
            .arg(&library)
            .stdout(writer)
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*said), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn what_cannot_be_done_is_named() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let library = library();
    let library = library.to_str().expect("plain");
    for words in [
        &["explain", "--library", library, "--", "/nowhere/program"][..],
        &["explain", "--library", library, "--html", "/nowhere/page"],
    ] {
        let output = machine.run(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("/nowhere/p"), "{said}");
    }
}

#[test]
fn names_do_not_forge_lines() {
    let machine = Machine::new();
    machine.manifest("forged", r"/nowhere/x\n    -> Run this.so".as_ref(), "");
    let library = library();
    let output = machine.run(&["explain", "--library", library.to_str().expect("plain")]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(r"/nowhere/x\n"), "{text}");
    assert!(
        !text.lines().any(|line| line.trim_start().starts_with("-> Run")),
        "{text}"
    );
}

#[test]
fn help_and_version_are_no_failures() {
    for word in ["--help", "-h", "--version", "-V", "help"] {
        let output = Command::new(vkloader()).arg(word).output().expect("it runs");
        assert!(output.status.success() && !output.stdout.is_empty(), "{word}");
    }
}

#[test]
fn a_summary_is_short_and_does_not_name_the_user() {
    let mut machine = Machine::new();
    let home = machine.path("home/ann");
    for number in 0..9 {
        machine.driver(&format!("d{number}"), "device one\ndevice two");
        machine.manifest(&format!("gone{number}"), &home.join(format!("gone{number}.so")), "");
    }
    machine.variable("HOME", home.to_str().expect("plain"));
    let library = library();
    let output = machine.run(&["explain", "--summary", "--library", library.to_str().expect("plain")]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.lines().count() <= 15, "{said}");
    assert!(
        said.starts_with("18 devices can be used.\n") && said.contains("and 15 more devices"),
        "{said}"
    );
    assert!(
        said.contains("driver.not-opened: ~/gone") && !said.contains("/ann/"),
        "{said}"
    );
}
