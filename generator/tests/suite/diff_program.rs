//! Tests of the output, the errors and the exit codes of `vkgen diff` (GEN-3, GEN-80, GEN-90, GEN-91).

use crate::common::{committed_policy, committed_registry, policy, skip};
use std::process::{Command, Output};
use vkgen::diff::{self, Report, Side};

/// Returns the report between the committed registry and itself.
fn unchanged() -> Report {
    let side = || Side {
        registry: committed_registry(),
        unknown: Vec::new(),
    };
    diff::compare(&side(), &side(), &policy(&committed_policy()))
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vkgen"));
    command.args(arguments).current_dir(crate::common::repository());
    command.output().expect("the program runs")
}

fn output(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    (
        output.status.code().expect("an exit code"),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

#[test]
fn gen_91_the_exit_code_tells_only_when_asked() {
    let snapshot = "registry/snapshot";
    assert_eq!(output(&["diff", snapshot, snapshot, "--exit-code"]).0, 0);
    let Some(old) = crate::common::fixture("1.4.335") else {
        return;
    };
    let old = old.to_str().expect("UTF-8");
    assert_eq!(output(&["diff", old, snapshot]).0, 0);
    assert_eq!(output(&["diff", old, snapshot, "--exit-code"]).0, 4);
    let Some(near) = crate::common::fixture("1.4.359") else {
        return;
    };
    let near = near.to_str().expect("UTF-8");
    assert_eq!(output(&["diff", near, snapshot, "--exit-code", "--json"]).0, 1);
}

#[test]
fn gen_90_programs_get_every_section_and_people_those_with_entries() {
    let snapshot = "registry/snapshot";
    let (_, text) = output(&["diff", snapshot, snapshot]);
    let (_, json) = output(&["diff", snapshot, snapshot, "--json"]);
    let (_, markdown) = output(&["diff", snapshot, snapshot, "--markdown"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let report = unchanged();
    assert!(report.is_empty() && report.sections.len() > 20);
    for section in &report.sections {
        assert!(!text.contains(section.title), "{}", section.title);
        assert!(!markdown.contains(section.title), "{}", section.title);
        assert_eq!(json["sections"][section.group][section.name], serde_json::json!([]));
    }
    assert_eq!(
        (&json["severity"], &json["exit_code"]),
        (&"informational".into(), &0.into())
    );
    assert_eq!(json["counts"][0]["old"], crate::common::pinned("commands"));
}

#[test]
fn gen_80_unknown_constructs_are_a_line_of_the_report() {
    let Some(path) = crate::common::fixture("1.4.366") else {
        return;
    };
    let scratch = crate::common::Scratch::new();
    let text = std::fs::read_to_string(&path).expect("the XML");
    let text = text.replace("</registry>", "<jugglers ball=\"1\"/></registry>");
    let text = text.replace("<require>", "<require shade=\"1\">");
    let new = scratch.path().join("new.xml");
    std::fs::write(&new, text).expect("the new XML");
    let (code, json) = output(&[
        "diff",
        path.to_str().expect("UTF-8"),
        new.to_str().expect("UTF-8"),
        "--json",
        "--exit-code",
    ]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let found = json["sections"]["unknown"]["added"].as_array().expect("a list");
    let names: Vec<&str> = found
        .iter()
        .map(|entry| entry["name"].as_str().expect("a name"))
        .collect();
    assert!(
        names.contains(&"registry/jugglers: unknown element `jugglers`"),
        "{names:?}"
    );
    assert!(
        names.iter().any(|name| name.contains("unknown attribute `shade`")),
        "{names:?}"
    );
    assert!(names.len() < 10, "each kind once: {names:?}");
    assert_eq!(code, 4, "`import` refuses what `diff` reports");
    let verdict = json["verdict"].as_str().expect("words");
    assert!(verdict.contains("need a decision; `import` refuses "), "{verdict}");
    assert!(!verdict.contains("nothing breaks"), "{verdict}");
}

#[test]
fn gen_3_what_cannot_be_compared_is_refused() {
    let errors = |arguments: &[&str], code: i32, text: &str| {
        let output = run(arguments);
        let found = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {found}");
        assert!(found.contains(text), "{arguments:?}: {found}");
    };
    errors(&["diff", "registry/snapshot"], 3, "Usage: vkgen diff");
    errors(&["diff", "nowhere.xml", "registry/snapshot"], 3, "nowhere.xml");
    errors(
        &["diff", "registry/snapshot", "registry/snapshot", "--loud"],
        3,
        "unexpected argument '--loud'",
    );
    errors(&["emit", "--json"], 3, "unexpected argument '--json'");
    errors(&["diff", "a", "b", "--json", "--html"], 3, "cannot be used with");
    errors(
        &["diff", "registry/pin.toml", "registry/snapshot"],
        2,
        "error[not-well-formed]",
    );
    // The script beside the XML would fetch the missing header, but this folder has no script.
    let scratch = crate::common::Scratch::new();
    let input = scratch.path().join("input");
    let input = input.to_str().expect("UTF-8");
    errors(
        &["diff", "1.4.1", "registry/snapshot", "--input", input],
        3,
        "cannot fetch header 1.4.1",
    );
}

#[test]
fn a_header_version_is_fetched_by_the_script() {
    if cfg!(windows) {
        return skip("the script needs a shell");
    }
    let Some(path) = crate::common::fixture("1.4.366") else {
        return;
    };
    let scratch = crate::common::Scratch::new();
    let script = scratch.path().join("fetch.sh");
    let text = format!(
        "#!/bin/sh\nmkdir -p \"${{0%/*}}/input/$1\" && cp \"{}\" \"${{0%/*}}/input/$1/\"\n",
        path.display()
    );
    steady::write_script(&script, &text);
    let input = scratch.path().join("input");
    let (code, text) = output(&[
        "diff",
        "9.9.9",
        "registry/snapshot",
        "--exit-code",
        "--input",
        input.to_str().expect("UTF-8"),
    ]);
    assert_eq!(code, 0, "{text}");
    assert!(input.join("9.9.9/vk.xml").is_file());
}
