//! Tests of the policy `lazy`, which keeps drivers closed. `vkloader catalogue update` records a driver, and a program then uses the
//! record.

use super::asked::*;
use super::machine::{BRIEF, Machine, built, library};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Returns a machine with one driver, and with a catalogue that contains a record of its devices. The driver's library has the name of
/// Mesa's software driver.
fn machine_with(lines: &str) -> Machine {
    let mut machine = machine();
    let library = machine.path("libraries/libvulkan_lvp.so");
    fs::copy(built("libmock_driver.so"), &library).expect("cargo built the mock driver");
    configure(&machine, lines);
    machine.manifest("lvp", &library, "");
    update(&machine);
    machine.variable("VK_LOADER_CATALOGUE", "on");
    machine.variable("VK_LOADER_DEBUG", "info,warn,error");
    machine
}

fn update(machine: &Machine) {
    let library = library();
    let library = library.to_str().expect("plain");
    // A busy machine can exceed the usual time limit, and a driver without an answer has no record.
    let limit = steady::HANG.as_secs().to_string();
    let output = machine.run(&[
        "catalogue",
        "update",
        "--user",
        "--timeout",
        &limit,
        "--library",
        library,
    ]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(driver(&written(machine), "lvp")["record"].is_string(), "{said}");
}

/// Changes the driver's answers without changing its files.
fn configure(machine: &Machine, lines: &str) {
    let journal = machine.path("journal");
    let text = format!("ordinal 0\n{BRIEF}journal {}\n{lines}\n", journal.display());
    machine.file("libraries/libvulkan_lvp.conf", text);
}

/// Result of a program: the devices, the loader's log, and the number of times that the driver was opened.
struct Ran {
    seen: Value,
    log: String,
    opened: usize,
}

impl Ran {
    fn names(&self) -> Vec<&str> {
        let devices = self.seen["devices"].as_array().expect("a list");
        devices.iter().filter_map(|device| device["name"].as_str()).collect()
    }
}

fn loads(machine: &Machine) -> usize {
    let journal = fs::read_to_string(machine.path("journal")).unwrap_or_default();
    journal.lines().filter(|line| line.ends_with(" load")).count()
}

/// Runs a program that lists devices with their properties and extensions. With `creates`, the program also creates a logical device on
/// each of them.
fn program(machine: &Machine, creates: bool) -> Ran {
    let library = library();
    let library = library.to_str().expect("plain");
    let before = loads(machine);
    let words: &[&str] = if creates {
        &["probe", "--", library]
    } else {
        &["probe", "--driver", "--", library]
    };
    let output = machine.run(words);
    let last = output
        .stdout
        .split(|byte| *byte == b'\n')
        .rfind(|line| !line.is_empty());
    let mut seen: Value = serde_json::from_slice(last.expect("a line")).expect("JSON");
    for member in ["before", "objects"] {
        seen[member].take();
    }
    Ran {
        seen,
        log: String::from_utf8_lossy(&output.stderr).into_owned(),
        opened: loads(machine) - before,
    }
}

const TWO: &str = "instance_extension VK_KHR_surface 25\ndevice one\ndevice.vendor 4098\ndevice.extension VK_KHR_swapchain 70\ndevice two";

#[test]
fn drv_282_devices_are_listed_without_the_driver() {
    let mut machine = machine_with(TWO);
    let usual = program(&machine, false);
    assert!(usual.opened > 0 && usual.names() == ["one", "two"], "{}", usual.log);
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    let lazy = program(&machine, false);
    assert_eq!(lazy.seen, usual.seen);
    assert_eq!(lazy.opened, 0, "{}", lazy.log);
    assert!(
        lazy.log.contains("its devices are listed from the record"),
        "{}",
        lazy.log
    );
}

#[test]
fn drv_283_a_device_is_created_by_the_driver() {
    let mut machine = machine_with(TWO);
    let usual = program(&machine, true);
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    let lazy = program(&machine, true);
    assert_eq!(lazy.seen, usual.seen);
    assert_eq!(lazy.seen["devices"][1]["created"], 0);
    assert!(
        lazy.opened > 0 && lazy.log.contains("now, for vkCreateDevice"),
        "{}",
        lazy.log
    );
    assert!(!lazy.log.contains("which is wrong"), "{}", lazy.log);
}

#[test]
fn drv_283_a_late_failure_is_an_error_of_the_device() {
    let mut machine = machine_with(TWO);
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    configure(&machine, &format!("{TWO}\nfail vkCreateInstance -9 1 9"));
    let failed = program(&machine, true);
    assert_eq!(failed.names(), ["one", "two"]);
    for device in 0..2 {
        assert_eq!(failed.seen["devices"][device]["created"], -3);
    }
    let line = "cannot be opened now (VkResult -9)";
    assert_eq!(failed.log.matches(line).count(), 1, "reported once: {}", failed.log);
}

#[test]
fn drv_285_a_wrong_record_is_found_when_the_driver_is_opened() {
    let mut machine = machine_with(TWO);
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    for (lines, words, codes) in [
        (
            TWO.replace("VK_KHR_swapchain 70", "VK_KHR_swapchain 71"),
            "other device extensions",
            [0, 0],
        ),
        (TWO.replace("device one", "device another"), "other devices", [-3, 0]),
        (TWO.replace("\ndevice two", ""), "other devices", [0, -3]),
        (
            format!("{TWO}\ndevice.api_version 1.0"),
            "other device properties",
            [0, 0],
        ),
    ] {
        configure(&machine, &lines);
        let ran = program(&machine, true);
        assert_eq!(ran.names(), ["one", "two"], "the record");
        assert!(ran.log.contains(words), "{words}: {}", ran.log);
        let created = [0, 1].map(|device| ran.seen["devices"][device]["created"].clone());
        assert_eq!(created, codes.map(Value::from), "{words}: {}", ran.log);
    }
}

/// Runs a program that lists devices. Returns the reason in the log why the driver was opened at once; `None` if it stayed closed.
fn opened_for(machine: &Machine) -> Option<String> {
    let ran = program(machine, false);
    assert_eq!(ran.names(), ["one", "two"]);
    let reason = |line: &str| Some(line.split_once(" at once, in spite of the policy: ")?.1.to_owned());
    let found = ran.log.lines().find_map(reason);
    assert_eq!(found.is_some(), ran.opened > 0, "{}", ran.log);
    found
}

/// Runs a program with a variable. Returns the reason in its log why the driver was opened at once; `None` if the driver stayed closed.
fn opened_with(machine: &mut Machine, variable: &str, value: &str) -> Option<String> {
    machine.variable(variable, value);
    let reason = opened_for(machine);
    machine.unset(variable);
    reason
}

#[test]
fn drv_286_everything_else_opens_the_driver_at_once() {
    let mut machine = machine_with(TWO);
    machine.variable("VK_LOADER_DRIVER_POLICY", "keep-open");
    let ran = program(&machine, false);
    assert!(ran.opened > 0 && !ran.log.contains("in spite of"), "{}", ran.log);
    let awake = "not all of its devices are suspended";
    for (policy, reason) in [("lazy", None), ("lazy-asleep", Some(awake))] {
        let found = opened_with(&mut machine, "VK_LOADER_DRIVER_POLICY", policy);
        assert_eq!(found.as_deref(), reason, "{policy}");
    }
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    for (variable, value, reason) in [
        ("MESA_EXAMPLE", "1", Some("this program has no valid driver catalogue")),
        ("LP_DEBUG", "1", Some("a variable of drivers is set: LP_DEBUG")),
        (
            "vk_require_astc",
            "1",
            Some("a variable of drivers is set: vk_require_astc"),
        ),
        ("MESA_SHADER_CACHE_DIR", "/tmp", None),
    ] {
        let found = opened_with(&mut machine, variable, value);
        assert_eq!(found.as_deref(), reason, "{variable}");
    }
    for (mode, reason) in [
        ("verify", "VK_LOADER_CATALOGUE=verify opens every driver"),
        ("off", "this program has no valid driver catalogue"),
    ] {
        machine.variable("VK_LOADER_CATALOGUE", mode);
        assert_eq!(opened_for(&machine).as_deref(), Some(reason));
    }
    machine.variable("VK_LOADER_CATALOGUE", "on");
    assert_eq!(opened_for(&machine), None, "the same again");
}

#[test]
fn drv_286_a_user_with_profiles_or_without_a_folder_opens_the_driver() {
    let mut machine = machine_with(TWO);
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    let home = machine.path("home");
    fs::create_dir(&home).expect("a folder");
    let home = home.display().to_string();
    assert_eq!(opened_with(&mut machine, "HOME", &home), None);
    machine.file("home/.drirc", "");
    let reason = format!("the user has profiles for drivers: {home}/.drirc");
    assert_eq!(opened_with(&mut machine, "HOME", &home), Some(reason));
    let reason = opened_with(&mut machine, "HOME", "");
    assert_eq!(reason.as_deref(), Some("HOME is not set, or the program is elevated"));
}

#[test]
fn drv_286_a_record_that_is_not_the_one_in_its_entry_opens_the_driver() {
    let mut machine = machine_with(TWO);
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    let folder = file(&machine).parent().expect("a folder").to_owned();
    let name = driver(&written(&machine), "lvp")["record"]
        .as_str()
        .expect("a record")
        .to_owned();
    let path = folder.join(format!("record-{}-{name}.bin", catalogue::ARCHITECTURE));
    let named = |words: &str| Some(format!("{words}: {}", path.display()));
    let content = fs::read(&path).expect("a file");
    let mut other = content.clone();
    *other.last_mut().expect("content") ^= 1;
    for wrong in [&other, &content[..content.len() - 1], &[][..]] {
        fs::write(&path, wrong).expect("a file");
        let reason = named("the file of its record is not the one in its entry");
        assert_eq!(opened_for(&machine), reason, "{}", wrong.len());
    }
    fs::write(&path, content).expect("a file");
    assert_eq!(opened_for(&machine), None, "the same again");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("a mode");
    let reason = named("other users may write to the file of its record");
    assert_eq!(opened_for(&machine), reason);
    fs::remove_file(&path).expect("a file");
    assert_eq!(opened_for(&machine), named("the file of its record cannot be read"));
}

#[test]
fn drv_286_a_driver_without_an_entry_that_counts_is_opened() {
    let mut machine = machine_with(TWO);
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    let library = machine.path("libraries/libvulkan_lvp.so");
    let (manifest, moved) = (
        machine.path("data/vulkan/icd.d/lvp.json"),
        machine.path("data/vulkan/icd.d/new.json"),
    );
    fs::rename(&manifest, &moved).expect("a rename");
    let reason = opened_for(&machine);
    assert_eq!(reason.as_deref(), Some("the driver catalogue has no entry for it"));
    fs::rename(&moved, &manifest).expect("a rename");
    let content = fs::read(&library).expect("a file");
    fs::remove_file(&library).expect("a file");
    fs::write(&library, content).expect("a file");
    let reason = opened_for(&machine);
    assert_eq!(
        reason.as_deref(),
        Some("its entry in the driver catalogue does not count")
    );
    good(&machine, &["update", "--no-records"]);
    let reason = opened_for(&machine);
    assert_eq!(
        reason.as_deref(),
        Some("the driver catalogue has no record of its devices")
    );
}

#[test]
fn drv_284_a_program_in_a_profile_of_the_driver_opens_it() {
    let mut machine = machine_with(TWO);
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    let opened = |machine: &Machine| program(machine, false).opened;
    assert_eq!(opened(&machine), 0);
    // A driver that was built for another folder of profiles contains the path of that folder in its file.
    let (library, folder) = (machine.path("libraries/libvulkan_lvp.so"), machine.path("own/drirc.d"));
    fs::create_dir_all(&folder).expect("folders can be made");
    let mut content = fs::read(&library).expect("a file");
    content.extend(format!("\0{}\0", folder.display()).bytes());
    fs::write(&library, content).expect("a file");
    let profile = |name: &str| format!(r#"<application name="A" executable="{name}"><option name="b" value="c"/>"#);
    machine.file("own/drirc.d/10.conf", profile("vkloader"));
    update(&machine);
    let reason = opened_for(&machine);
    assert_eq!(
        reason.as_deref(),
        Some("a profile of the driver may mention the program: vkloader")
    );
    machine.file("own/drirc.d/10.conf", profile("another"));
    // The catalogue's entry also depends on the files with the driver's profiles, so a change of such a file makes the entry invalid.
    let reason = opened_for(&machine);
    assert_eq!(
        reason.as_deref(),
        Some("its entry in the driver catalogue does not count")
    );
    update(&machine);
    assert_eq!(opened(&machine), 0);
    machine.file("own/drirc.d/20.conf", "");
    assert!(opened(&machine) > 0, "a profile was added");
}

#[test]
fn drv_282_explain_says_that_devices_come_from_the_record() {
    let mut machine = machine_with(TWO);
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.devices()), (0, vec!["one", "two"]));
    for device in explained.report["devices"].as_array().expect("a list") {
        let manifest = device["manifest"].as_str().expect("a path");
        assert!(manifest.ends_with("lvp.json"), "{manifest}");
    }
    let all = explained.report["catalogue"].as_array().expect("a list");
    let says = |one: &Value| {
        one["what"]
            .as_str()
            .is_some_and(|what| what.contains("listed from the record"))
    };
    assert!(all.iter().any(says), "{all:#?}");
}

#[test]
fn drv_286_explain_says_why_a_driver_is_opened_at_once() {
    let mut machine = machine_with(TWO);
    machine.variable("VK_LOADER_DRIVER_POLICY", "lazy");
    machine.variable("LP_DEBUG", "1");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.devices()), (0, vec!["one", "two"]));
    let all = explained.report["catalogue"].as_array().expect("a list");
    let says = |one: &Value, words: &str| one["what"].as_str().is_some_and(|what| what.contains(words));
    let reason = "It is opened at once in spite of the policy: a variable of drivers is set (LP_DEBUG).";
    assert!(all.iter().any(|one| says(one, reason)), "{all:#?}");
    assert!(!all.iter().any(|one| says(one, "listed from the record")), "{all:#?}");
}
