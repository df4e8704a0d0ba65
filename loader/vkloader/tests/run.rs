//! Tests of `vkloader run`.

mod machine;

use machine::{Machine, library, vkloader};
use std::fs;
use std::path::Path;
use std::process::Output;

const FILE: &str = "none/vulkan/loader_settings.d/vk_loader_settings.json";

fn two_devices() -> Machine {
    let machine = Machine::new();
    machine.driver("good", "device one\ndevice two\ndevice.type 4");
    machine
}

/// Runs a script in a shell that `vkloader run` starts with the options `words`. Returns the shell's output.
fn shell(machine: &Machine, words: &[&str], script: &str) -> Output {
    let mut all = vec!["run"];
    all.extend(words);
    all.extend(["--", "sh", "-c", script]);
    machine.run(&all)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the names of devices in the output of the probe.
fn names(text: &str) -> Vec<&str> {
    let all = ["one", "two"].into_iter();
    all.filter(|name| text.contains(&format!("\"name\":\"{name}\"")))
        .collect()
}

/// Returns a shell command that lists the devices.
fn probe(before: &str) -> String {
    let vkloader = vkloader();
    format!("{before} '{vkloader}' probe '{}'", library().display())
}

#[test]
fn options_are_variables() {
    let machine = two_devices();
    let words = [
        (
            "--devices",
            "type:cpu,it's",
            "VK_LOADER_VISIBLE_DEVICES='type:cpu,it'\\''s'",
        ),
        ("--drivers", "good*", "VK_LOADER_DRIVERS_SELECT='good*'"),
        ("--layers", "A,B", "VK_INSTANCE_LAYERS='A:B'"),
        (
            "--without-layers",
            "~implicit~",
            "VK_LOADER_LAYERS_DISABLE='~implicit~'",
        ),
        ("--catalogue", "off", "VK_LOADER_CATALOGUE='off'"),
        ("--trace", "/a/trace", "VK_LOADER_TRACE='/a/trace'"),
    ];
    let mut all = vec!["run", "--print"];
    all.extend(words.iter().flat_map(|(option, value, _)| [*option, *value]));
    let output = machine.run(&all);
    let expected: Vec<String> = words.iter().map(|(_, _, line)| format!("export {line}")).collect();
    assert_eq!(said(&output), expected.join("\n") + "\n", "{}", complaint(&output));
    // The shell evaluates the printed variables. A program that the shell starts then inherits the variables.
    let script = format!("{}\nexec printenv VK_LOADER_VISIBLE_DEVICES", said(&output));
    let seen = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .expect("a shell");
    assert_eq!(said(&seen), "type:cpu,it's\n");
    for (option, value, line) in words {
        let (name, _) = line.split_once('=').expect("an assignment");
        let output = shell(&machine, &[option, value], &format!("printf %s \"${name}\""));
        assert_eq!(
            said(&output),
            value.replace(',', if option == "--layers" { ":" } else { "," })
        );
    }
    for empty in ["", ",,", " , "] {
        let output = machine.run(&["run", "--print", "--devices", empty]);
        assert_eq!(output.status.code(), Some(2), "'{empty}' names no device");
    }
}

#[test]
fn a_program_sees_the_devices_and_gives_its_status() {
    let machine = two_devices();
    let library = library();
    let vkloader = vkloader();
    for (word, expected) in [("type:cpu", "two"), ("type:discrete", "one")] {
        let output = machine.run(&[
            "run",
            "--devices",
            word,
            "--",
            vkloader,
            "probe",
            library.to_str().expect("plain"),
        ]);
        assert_eq!(names(&said(&output)), [expected], "{}", complaint(&output));
    }
    let output = machine.run(&["run", "--devices", "type:discrete", "--", "sh", "-c", "exit 7"]);
    assert_eq!(output.status.code(), Some(7));
    let output = machine.run(&["run", "--", "/nowhere/program"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        complaint(&output).contains("/nowhere/program: "),
        "{}",
        complaint(&output)
    );
    assert_eq!(machine.run(&["run"]).status.code(), Some(2), "a program is missing");
}

/// The shell starts the probe with a cleared environment, which only contains the variable for the user's configuration folder.
#[test]
fn an_executable_gets_the_devices_in_an_empty_environment() {
    let machine = two_devices();
    let vkloader = vkloader();
    let script = probe(
        "env -i XDG_CONFIG_HOME=\"$XDG_CONFIG_HOME\" XDG_DATA_DIRS=\"$XDG_DATA_DIRS\" XDG_DATA_HOME=\"$XDG_DATA_HOME\"",
    );
    let output = shell(&machine, &["--devices", "type:cpu"], &script);
    assert_eq!(
        names(&said(&output)),
        ["one", "two"],
        "the variable is lost: {}",
        complaint(&output)
    );
    let words = ["--devices", "type:virtual, type:cpu", "--executable", vkloader];
    let output = shell(&machine, &words, &format!("{script}; exit 5"));
    assert_eq!(names(&said(&output)), ["two"], "{}", complaint(&output));
    assert_eq!(output.status.code(), Some(5));
    let output = shell(&machine, &words, "kill -9 $$");
    assert_eq!(output.status.code(), Some(137));
    assert!(!machine.path(FILE).exists(), "the file is removed");
    let other = ["--devices", "type:cpu", "--executable", "/bin/sh"];
    let output = shell(&machine, &other, &script);
    assert_eq!(
        names(&said(&output)),
        ["one", "two"],
        "the file is for another executable"
    );
}

#[test]
fn a_settings_file_of_the_user_is_left_alone() {
    let machine = two_devices();
    let vkloader = vkloader();
    let words = ["--devices", "type:cpu", "--executable", vkloader];
    let own = r#"{"file_format_version": "1.0.0", "settings": {}}"#;
    let folder = machine.path(FILE).parent().expect("a folder").to_owned();
    fs::create_dir_all(folder).expect("folders");
    let path = machine.file(FILE, own);
    let output = shell(&machine, &words, "true");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        complaint(&output).contains("is a settings file already"),
        "{}",
        complaint(&output)
    );
    assert_eq!(fs::read_to_string(&path).expect("the file"), own);
    // Creates the settings file of a run that was killed. The kernel never assigns the process ID in this file.
    machine.file(FILE, r#"{"vkloader-run": 4294967295}"#);
    let output = shell(&machine, &words, &format!("cat '{}'", path.display()));
    assert!(said(&output).contains("visible_devices"), "{}", complaint(&output));
    assert!(!Path::new(&path).exists());
}

/// The program replaces the settings file, as another run or an editor may do. `run` must not remove the new file.
#[test]
fn a_file_that_replaced_the_own_one_stays() {
    let machine = two_devices();
    let path = machine.path(FILE);
    let words = ["--devices", "type:cpu", "--executable", vkloader()];
    let script = format!("cp '{0}' '{0}.new' && mv '{0}.new' '{0}'", path.display());
    let output = shell(&machine, &words, &script);
    assert!(output.status.success(), "{}", complaint(&output));
    assert!(path.exists(), "it is not the file of this run");
    let nested = format!("'{}' run --devices type:cpu --executable /bin/sh -- true", vkloader());
    let output = shell(
        &machine,
        &words,
        &format!("{nested}; test -e '{}' && exit 9", path.display()),
    );
    assert_eq!(
        output.status.code(),
        Some(9),
        "a run beside another: {}",
        complaint(&output)
    );
    assert!(
        complaint(&output).contains("is a settings file already"),
        "{}",
        complaint(&output)
    );
}
