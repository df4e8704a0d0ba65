//! Tests of the whole program: subcommands, exit codes and output.

use crate::common::{Scratch, reduced};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a subcommand on a copy of the reduced registry below `folder`.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vkgen"))
        .args(arguments)
        .args(["--snapshot", "snapshot", "--policy", "policy.toml"])
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

pub(crate) fn emit(folder: &Path) -> Output {
    run(folder, &["emit", "--generated", "generated"])
}

pub(crate) fn check(folder: &Path) -> Output {
    run(folder, &["check", "--generated", "generated"])
}

/// Returns a folder with the reduced snapshot and its policy.
pub(crate) fn prepared() -> Scratch {
    let scratch = Scratch::new();
    let snapshot = scratch.path().join("snapshot");
    fs::create_dir(&snapshot).expect("a folder");
    for entry in fs::read_dir(reduced().join("snapshot")).expect("the reduced snapshot") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, snapshot.join(path.file_name().expect("a name"))).expect("a copy");
    }
    fs::copy(reduced().join("policy.toml"), scratch.path().join("policy.toml")).expect("a copy");
    scratch
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn gen_2_check_agrees_with_emit() {
    let scratch = prepared();
    assert_eq!(code(&check(scratch.path())), 1, "nothing is there yet");
    assert_eq!(code(&emit(scratch.path())), 0);
    let output = check(scratch.path());
    assert_eq!(code(&output), 0, "{}", errors(&output));
}

#[test]
fn gen_93_a_comment_of_the_policy_changes_no_output_and_a_row_does() {
    let scratch = prepared();
    assert_eq!(code(&emit(scratch.path())), 0);
    let policy = scratch.path().join("policy.toml");
    let text = fs::read_to_string(&policy).expect("the policy");
    fs::write(&policy, format!("# A new comment.\n\n{text}")).expect("a change");
    assert_eq!(code(&check(scratch.path())), 0);
    let changed = text.replacen("reason = \"", "reason = \"Another one: ", 1);
    fs::write(&policy, changed).expect("a change");
    let output = check(scratch.path());
    assert_eq!(code(&output), 1);
    assert!(errors(&output).contains("manifest.txt"), "{}", errors(&output));
}

#[test]
fn gen_93_check_lists_changed_absent_and_surplus_files() {
    let scratch = prepared();
    emit(scratch.path());
    let generated = scratch.path().join("generated");
    fs::write(generated.join("pfn.rs"), "changed").expect("a change");
    fs::remove_file(generated.join("lookup.rs")).expect("a removal");
    fs::write(generated.join("left_over.rs"), "").expect("an addition");
    let output = check(scratch.path());
    let text = errors(&output);
    assert_eq!(code(&output), 1);
    assert!(text.contains("pfn.rs: differs"), "{text}");
    assert!(text.contains("lookup.rs: is absent"), "{text}");
    assert!(text.contains("left_over.rs: does not belong here"), "{text}");
    assert_eq!(
        fs::read_to_string(generated.join("pfn.rs")).expect("the file"),
        "changed",
        "check writes nothing"
    );
    fs::remove_file(generated.join("left_over.rs")).expect("a removal");
    emit(scratch.path());
    assert_eq!(code(&check(scratch.path())), 0);
}

#[test]
fn gen_84_unchanged_files_keep_their_time() {
    let scratch = prepared();
    emit(scratch.path());
    let path = scratch.path().join("generated/pfn.rs");
    let time = || fs::metadata(&path).and_then(|data| data.modified()).expect("a time");
    let before = time();
    std::thread::sleep(std::time::Duration::from_millis(20));
    let output = emit(scratch.path());
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("0 of "));
    assert_eq!(time(), before);
}

#[test]
fn gen_84_a_failed_run_leaves_everything_as_it_was() {
    let scratch = prepared();
    emit(scratch.path());
    let policy = scratch.path().join("policy.toml");
    let text = fs::read_to_string(&policy).expect("the policy");
    fs::write(&policy, text.replace("\"vkGetDeviceQueue\"", "\"vkJuggle\"")).expect("a bad policy");
    let output = emit(scratch.path());
    assert_eq!(code(&output), 2);
    assert!(
        errors(&output).contains("error[stale-policy]: vkJuggle"),
        "{}",
        errors(&output)
    );
    assert!(
        errors(&output).contains("error[unclassified-command]: vkGetDeviceQueue"),
        "{}",
        errors(&output)
    );
    fs::write(&policy, text).expect("the good policy");
    assert_eq!(code(&check(scratch.path())), 0);
}

pub(crate) fn walk(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path.display().to_string()]
            }
        })
        .collect()
}

/// Returns all files below a folder, with their content.
pub(crate) fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let relative = |path: &str| path.replace(&folder.display().to_string(), "");
    let read = |path: String| (relative(&path), fs::read(&path).expect("a file"));
    let mut files: Vec<_> = walk(folder).into_iter().map(read).collect();
    files.sort();
    files
}

#[test]
fn gen_3_exit_codes_for_usage_and_files() {
    let scratch = prepared();
    for arguments in [
        &["juggle"][..],
        &["emit", "--loudly"],
        &["import"],
        &["check", "--vk-xml", "vk.xml"],
    ] {
        let output = run(scratch.path(), arguments);
        assert_eq!(code(&output), 3, "{arguments:?}");
        assert!(
            errors(&output).contains("Usage: vkgen"),
            "{arguments:?}: {}",
            errors(&output)
        );
    }
    fs::remove_file(scratch.path().join("snapshot/handles.txt")).expect("a removal");
    assert_eq!(code(&emit(scratch.path())), 3);
}

#[test]
fn gen_3_a_damaged_snapshot_is_refused_with_its_place() {
    let scratch = prepared();
    let path = scratch.path().join("snapshot/commands.txt");
    let text = fs::read_to_string(&path).expect("the commands");
    fs::write(&path, text.replacen("level device", "level cellar", 1)).expect("a damaged file");
    let output = emit(scratch.path());
    assert_eq!(code(&output), 2);
    assert!(errors(&output).contains("commands.txt:"), "{}", errors(&output));
}

#[test]
fn gen_65_a_first_parameter_of_an_unlisted_kind_is_refused_with_its_place() {
    let scratch = prepared();
    let path = scratch.path().join("snapshot/commands.txt");
    let text = fs::read_to_string(&path).expect("the commands");
    let text = text.replacen("  param VkDevice device\n", "  param VkDevice sword\n", 1);
    fs::write(&path, &text).expect("another parameter");
    let before = text.split("VkDevice sword").next().expect("its command");
    let line = before
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("command "));
    let (index, record) = line.last().expect("its command");
    let expected = format!(
        "snapshot/commands.txt:{}:1: error[unknown-parameter]: {}: ",
        index + 1,
        record.trim_start_matches("command ")
    );
    let output = emit(scratch.path());
    assert_eq!(code(&output), 2);
    assert!(
        errors(&output).contains(&expected),
        "{}, not {expected}",
        errors(&output)
    );
    assert!(!scratch.path().join("generated").exists(), "nothing is written");
}

#[test]
fn gen_85_a_file_without_end_is_not_read_to_its_end() {
    let scratch = prepared();
    fs::write(scratch.path().join("video.xml"), "<registry/>").expect("a file");
    let output = run(scratch.path(), &["emit", "--vk-xml=/dev/zero", "--video-xml=video.xml"]);
    assert_eq!(code(&output), 2);
    let expected = "/dev/zero:1:1: error[input-limit]: the file has more than 64 MiB";
    assert_eq!(errors(&output).trim(), expected);
}

#[test]
fn gen_60_dump_holds_what_tests_and_diffs_need() {
    let scratch = prepared();
    let output = run(scratch.path(), &["dump"]);
    let dump: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(dump["header_version"], "1.4.366");
    let commands = dump["commands"].as_array().expect("commands");
    let command = |name: &str| {
        commands
            .iter()
            .find(|command| command["name"] == name)
            .expect("a command")
    };
    let groups = command("vkEnumeratePhysicalDeviceGroupsKHR");
    assert_eq!(groups["level"], "instance");
    assert_eq!(groups["alias"], "vkEnumeratePhysicalDeviceGroups");
    assert_eq!(groups["lookup"]["any"][0], "VK_KHR_device_group_creation");
    let constants = command("vkCmdSetBlendConstants");
    assert_eq!(constants["params"][1], "const float[4]");
    assert_eq!(constants["param_names"][1], "blendConstants");
    assert_eq!(constants["core"], "1.0");
    for key in [
        "extensions",
        "handles",
        "platforms",
        "core_versions",
        "reserved_extensions",
    ] {
        assert!(dump[key].is_array(), "{key}");
    }
    let queue = &dump["handles"]
        .as_array()
        .expect("handles")
        .iter()
        .find(|handle| handle["name"] == "VkQueue");
    assert_eq!(queue.expect("a queue")["dispatchable"], true);
}

/// GEN-93, GEN-1: folder, time zone and language do not change the output.
#[test]
fn gen_93_place_time_and_language_leave_no_trace() {
    let folders: Vec<Scratch> = (0..4).map(|_| prepared()).collect();
    let languages = [
        ("C", "UTC"),
        ("tr_TR.UTF-8", "Asia/Tokyo"),
        ("de_DE.UTF-8", "America/Lima"),
        ("", ""),
    ];
    // All runs start at the same time, each with a separate folder and environment.
    let runs: Vec<_> = folders
        .iter()
        .zip(languages)
        .map(|(folder, (language, zone))| {
            Command::new(env!("CARGO_BIN_EXE_vkgen"))
                .args([
                    "emit",
                    "--generated",
                    "generated",
                    "--snapshot",
                    "snapshot",
                    "--policy",
                    "policy.toml",
                ])
                .current_dir(folder.path())
                .env_clear()
                .envs([("LC_ALL", language), ("LANG", language), ("TZ", zone)])
                .stdout(std::process::Stdio::null())
                .spawn()
                .expect("the program runs")
        })
        .collect();
    for mut run in runs {
        assert!(run.wait().expect("it ends").success());
    }
    let output = |folder: &Scratch| content(&folder.path().join("generated"));
    let first = output(&folders[0]);
    assert!(first.len() > 30);
    for folder in &folders[1..] {
        assert!(output(folder) == first);
    }
}

#[test]
fn gen_85_the_program_survives_damaged_xml() {
    let scratch = Scratch::new();
    let write = |name: &str, bytes: &[u8]| fs::write(scratch.path().join(name), bytes).expect("a file");
    write(
        "video.xml",
        b"<registry><types><type name=\"stdint\" category=\"include\"/></types></registry>",
    );
    let deep = "<a>".repeat(100_000);
    let bomb = "<!DOCTYPE r [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]><registry>&b;</registry>";
    let utf16: Vec<u8> = "<registry/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let nul = b"<registry><comment>\0</comment></registry>".to_vec();
    let huge = format!("<registry novelty=\"{}\"/>", "x".repeat(5_000_000));
    let cases: [&[u8]; 8] = [
        b"",
        b"<registry",
        deep.as_bytes(),
        bomb.as_bytes(),
        &utf16,
        &nul,
        huge.as_bytes(),
        b"\xff\xfe\x00",
    ];
    for bytes in cases {
        write("vk.xml", bytes);
        let xml = ["--vk-xml", "vk.xml", "--video-xml", "video.xml"];
        for verb in [
            &["import", "--snapshot", "snapshot"][..],
            &["dump"],
            &["diff", "vk.xml", "vk.xml"],
        ] {
            let more: &[&str] = if verb[0] == "diff" { &[] } else { &xml };
            let policy = format!("--policy={}", reduced().join("policy.toml").display());
            let output = Command::new(env!("CARGO_BIN_EXE_vkgen"))
                .args(verb)
                .args(more)
                .args((verb[0] != "import").then_some(policy))
                .current_dir(scratch.path())
                .output()
                .expect("the program runs");
            let text = errors(&output);
            assert_eq!(
                code(&output),
                2,
                "{verb:?} of {:?}: {text}",
                &bytes[..bytes.len().min(20)]
            );
            assert!(text.starts_with("vk.xml:1:"), "{text}");
            assert!(text.len() < 20_000, "a message of {} bytes", text.len());
            assert!(!scratch.path().join("snapshot").exists(), "nothing is written");
        }
    }
}
