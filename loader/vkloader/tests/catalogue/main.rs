//! `vkloader catalogue`: the content of catalogues, the drivers that an update asks again, and the files that an update leaves unchanged.

mod asked;
mod changes;
mod closure;
mod evil;
mod lazy;
mod linker;
mod loaded;
#[path = "../machine/mod.rs"]
mod machine;
mod own;
mod places;
mod programs;
mod records;
mod unnoticed;

use asked::*;
use catalogue::{Catalogue, Json, MachineState, Outcome, Reader, Usability};
use machine::{Machine, in_environment_of, library, vkloader};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// A JSON value of `serde_json`, for the trait through which `loader/catalogue` reads values.
#[derive(Clone, Copy)]
struct Seen<'a>(&'a Value);

impl<'a> Json<'a> for Seen<'a> {
    fn member(self, name: &str) -> Option<Self> {
        self.0.get(name).map(Seen)
    }

    fn text(self) -> Option<&'a [u8]> {
        self.0.as_str().map(str::as_bytes)
    }

    fn number(self) -> Option<f64> {
        self.0.as_f64()
    }

    fn elements(self) -> Option<(usize, impl Iterator<Item = Self> + Clone)> {
        self.0.as_array().map(|array| (array.len(), array.iter().map(Seen)))
    }
}

#[test]
fn what_drivers_say_is_written_as_the_library_reads_it() {
    let machine = machine();
    machine.driver(
        "a",
        "instance_extension VK_KHR_surface 25\ninstance_extension VK_MOCK_own 7\ndevice one\ndevice.vendor 4098\ndevice two",
    );
    radeon(&machine, "instance_extension VK_KHR_surface 25");
    good(&machine, &["update"]);
    let known = written(&machine);
    let a = driver(&known, "a");
    assert_eq!(a["interface"], 7);
    assert!(a["library"]["build-id"].is_string(), "{a:#}");
    assert_eq!(a["hardware"], "unknown");
    let names: Vec<&str> = (0..2)
        .filter_map(|place| a["devices"][place]["name"].as_str())
        .collect();
    assert_eq!(names, ["one", "two"]);
    let reader = Reader {
        loader: known["loader"].as_str().expect("a version"),
        architecture: catalogue::ARCHITECTURE,
    };
    let read = Catalogue::read(Seen(&known), reader).expect("it counts");
    let entries: Vec<_> = read.entries().collect();
    assert_eq!(entries.len(), 2);
    let of = |part: &str| {
        let has = |path: &[u8]| String::from_utf8_lossy(path).contains(part);
        *entries.iter().find(|entry| has(entry.manifest)).expect("an entry")
    };
    let offered: Vec<_> = of("/a.json")
        .extensions()
        .expect("it said")
        .map(|one| (one.name, one.version))
        .collect();
    // The list contains the driver's own extensions, including those that the loader hides, but not those that the loader adds.
    assert_eq!(offered, [(&b"VK_KHR_surface"[..], 25), (b"VK_MOCK_own", 7)]);
    assert_eq!(of("/a.json").at_creation(|| MachineState::SameBoot), Usability::Open);
    assert_eq!(
        (of("radeon").devices(), of("radeon").outcome),
        (Some(0), Outcome::Answered)
    );
    assert_eq!(of("radeon").at_creation(|| MachineState::SameBoot), Usability::NoDevice);
    assert_eq!(
        fs::metadata(file(&machine)).expect("a file").permissions().mode() & 0o777,
        0o644
    );
}

#[test]
fn one_bad_driver_takes_no_other_down() {
    steady::with_more_time(|factor| {
        let machine = machine();
        machine.driver("good", "device one");
        machine.driver("crashing", "crash vkCreateInstance\ndevice two");
        machine.driver("hanging", "hang vkEnumerateInstanceExtensionProperties");
        machine.driver("refusing", "fail vkCreateInstance -9 1 9");
        machine.manifest("gone", "/nowhere/libgone.so".as_ref(), "");
        let (seconds, limit) = (8 * factor, (8 * factor).to_string());
        let text = good(&machine, &["update", "--timeout", &limit]);
        let known = written(&machine);
        assert_eq!(driver(&known, "good")["outcome"], "answered");
        let crashing = driver(&known, "crashing");
        assert_eq!(
            (&crashing["outcome"], &crashing["signal"]),
            (&"crashed".into(), &6.into())
        );
        assert_eq!(crashing["within"], "vkCreateInstance");
        let hanging = driver(&known, "hanging");
        assert_eq!(
            (&hanging["outcome"], &hanging["seconds"]),
            (&"hung".into(), &seconds.into())
        );
        let refusing = driver(&known, "refusing");
        assert_eq!(
            (&refusing["outcome"], &refusing["code"]),
            (&"failed".into(), &(-9).into())
        );
        assert_eq!(
            known["drivers"].as_array().map(Vec::len),
            Some(4),
            "no file, no entry: {text}"
        );
        assert!(text.contains("CRASHED with signal 6 in vkCreateInstance"), "{text}");
        assert!(text.contains(&format!("HUNG for {seconds} s")), "{text}");
        // Each update asks a crashing driver again, and would ask a hanging one too.
        fs::remove_file(machine.path("data/vulkan/icd.d/hanging.json")).expect("a manifest");
        machine.driver("crashing", "device two");
        good(&machine, &["update", "--timeout", &limit]);
        assert_eq!(driver(&written(&machine), "crashing")["outcome"], "answered");
    });
}

#[test]
fn only_what_changed_is_asked_again() {
    let machine = machine();
    machine.driver("a", "device one");
    let radeon = radeon(&machine, "");
    good(&machine, &["update"]);
    let first = instances(&machine);
    assert!(first > 0);
    let asked = |words: &[&str]| {
        let before = instances(&machine);
        good(&machine, words);
        instances(&machine) > before
    };
    assert!(!asked(&["update", "--changed"]), "nothing has changed");
    assert!(asked(&["update"]));
    assert!(asked(&["update", "--all"]));
    // Replaces the library by a file with the same content.
    let copy = machine.path("libraries/copy");
    fs::copy(&radeon, &copy).expect("a copy");
    fs::rename(&copy, &radeon).expect("a rename");
    assert!(asked(&["update", "--changed"]));
    assert!(!asked(&["update", "--changed"]));
    // Changes the modification time of the library.
    let touched = fs::File::options().write(true).open(&radeon).expect("a file");
    touched
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .expect("the owner may");
    assert!(asked(&["update", "--changed"]));
    // Writes the manifest again, with the same content.
    machine.manifest("radeon", &radeon, "");
    assert!(asked(&["update", "--changed"]));
    // Adds a device node.
    fs::create_dir_all(machine.path("root/dev/dri/renderD128")).expect("a node");
    assert!(asked(&["update", "--changed"]));
    assert!(!asked(&["update", "--changed"]));
}

#[test]
fn show_verify_and_clear() {
    let machine = machine();
    let code = |words: &[&str]| run(&machine, words).status.code();
    assert_eq!(code(&["show"]), Some(1));
    assert_eq!(code(&["verify"]), Some(2));
    machine.driver("a", "device one");
    good(&machine, &["update"]);
    assert!(good(&machine, &["show"]).contains("one"));
    let shown: Value = serde_json::from_str(&good(&machine, &["show", "--json"])).expect("JSON");
    assert_eq!(shown["schema"], catalogue::SCHEMA);
    assert_eq!(code(&["verify"]), Some(0));
    machine.driver("a", "device one\ndevice two");
    machine.driver("b", "");
    assert!(good(&machine, &["show"]).contains("has changed"));
    let output = run(&machine, &["verify"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("a.json: devices") && text.contains("b.json: not in the catalogue"),
        "{text}"
    );
    good(&machine, &["clear"]);
    good(&machine, &["clear"]);
    assert!(!file(&machine).exists());
    let other = catalogue::pack(&serde_json::json!({"schema": 99}));
    for (content, words) in [
        (&b"{"[..], "it is not a catalogue"),
        (&other, "it has the form of another version"),
    ] {
        fs::write(file(&machine), content).expect("a file");
        let output = run(&machine, &["show"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(words), "{words}");
    }
    // An update replaces an invalid catalogue.
    good(&machine, &["update"]);
    assert_eq!(written(&machine)["schema"], catalogue::SCHEMA);
}

/// DRV-269: an older version stores its catalogue as JSON text in a file with another name.
#[test]
fn the_file_of_an_older_version_is_named_and_replaced() {
    let machine = machine();
    machine.driver("a", "device one");
    let older = file(&machine).with_extension("json");
    fs::create_dir_all(older.parent().expect("a folder")).expect("folders");
    fs::write(&older, r#"{"schema": 3}"#).expect("a file");
    let output = run(&machine, &["show"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("is the catalogue of an older version"), "{text}");
    good(&machine, &["update"]);
    assert!(file(&machine).exists() && !older.exists());
    fs::write(&older, "").expect("a file");
    good(&machine, &["clear"]);
    assert!(!older.exists());
}

#[test]
fn variables_of_the_users_own_catalogue_are_noted() {
    let mut machine = machine();
    machine.driver("a", "device one");
    machine
        .variable("RADV_DEBUG", "info")
        .variable("VK_ICD_FILENAMES", "/nowhere");
    machine.variable("VK_LOADER_DRIVERS_DISABLE", "*");
    good(&machine, &["update"]);
    let known = written(&machine);
    let expected = serde_json::json!([{"name": "RADV_DEBUG", "value": "info"}]);
    assert_eq!(known["variables"], expected);
    assert_eq!(driver(&known, "a")["outcome"], "answered");
}

/// Adds a graphics card with its node. `sleeps` is `true` for a suspended card.
fn card(machine: &Machine, driver: &str, sleeps: bool) {
    let device = machine.path("root/sys/bus/pci/devices/0000:01:00.0");
    fs::create_dir_all(device.join("power")).expect("folders");
    let status = if sleeps { "suspended" } else { "active" };
    for (name, text) in [
        ("class", "0x030000"),
        ("vendor", "0x1002"),
        ("device", "0x7480"),
        ("power/runtime_status", status),
    ] {
        fs::write(device.join(name), format!("{text}\n")).expect("files");
    }
    let _ = fs::remove_file(device.join("driver"));
    symlink(format!("../drivers/{driver}"), device.join("driver")).expect("a link");
}

#[test]
fn no_card_is_woken() {
    let machine = machine();
    radeon(&machine, "instance_extension VK_KHR_surface 25\ndevice one");
    card(&machine, "amdgpu", true);
    let text = good(&machine, &["update"]);
    assert!(text.contains("sleeps"), "{text}");
    assert_eq!(instances(&machine), 0, "an instance may wake it");
    let known = written(&machine);
    let entry = driver(&known, "radeon");
    assert_eq!(
        (&entry["hardware"], &entry["devices"]),
        (&"present".into(), &Value::Null)
    );
    assert_eq!(entry["extensions"][0], "VK_KHR_surface 25");
    assert_eq!(known["machine"]["cards"][0]["sleeps"], true);
    assert_eq!(known["machine"]["cards"][0]["vendor"], 0x1002);
    // The update does not ask a driver for devices if no hardware of this machine matches the driver.
    card(&machine, "nouveau", true);
    good(&machine, &["update"]);
    assert_eq!(instances(&machine), 0);
    assert_eq!(driver(&written(&machine), "radeon")["devices"], serde_json::json!([]));
    card(&machine, "amdgpu", true);
    good(&machine, &["update", "--wake"]);
    assert_eq!(driver(&written(&machine), "radeon")["devices"][0]["name"], "one");
    // While the card is suspended, an update keeps the recorded devices.
    good(&machine, &["update"]);
    assert_eq!(driver(&written(&machine), "radeon")["devices"][0]["name"], "one");
    // If the card is active, the update asks the driver for devices even without the option `--wake`.
    good(&machine, &["clear"]);
    card(&machine, "amdgpu", false);
    good(&machine, &["update"]);
    assert_eq!(driver(&written(&machine), "radeon")["devices"][0]["name"], "one");
}

#[test]
fn who_reads_during_an_update_sees_the_old_or_the_new() {
    let machine = machine();
    machine.driver("a", "device one");
    good(&machine, &["update"]);
    let mut updates: Vec<_> = (0..10)
        .map(|_| {
            command(&machine, &["update", "--all"])
                .stdout(std::process::Stdio::null())
                .spawn()
                .expect("it starts")
        })
        .collect();
    let mut reads = 0;
    while !updates.is_empty() {
        updates.retain_mut(|update| match update.try_wait().expect("a child") {
            Some(status) => {
                assert!(status.success());
                false
            }
            None => true,
        });
        assert_eq!(driver(&written(&machine), "a")["devices"][0]["name"], "one");
        reads += 1;
    }
    assert!(reads > 10);
    let rest = || -> Vec<_> {
        let folder = fs::read_dir(file(&machine).parent().expect("a folder"));
        let names = folder
            .expect("a folder")
            .map(|entry| entry.expect("a name").file_name());
        names.map(|name| name.into_string().expect("UTF-8")).collect()
    };
    // On a busy machine, the driver may not answer the last update within the time limit. The catalogue then refers to no record.
    let left = rest();
    let is_known = |name: &String| name.starts_with("catalogue-") || name.starts_with("record-");
    assert!(left.len() <= 2 && left.iter().all(is_known), "{left:?}");
    good(&machine, &["update", "--all"]);
    assert_eq!(rest().len(), 2, "the catalogue and the record of its only driver");
}

/// An update also runs the 32-bit `vkloader`, which asks the 32-bit drivers.
#[test]
fn the_program_of_32_bits_does_the_same() {
    let machine = machine();
    let (program, other) = (
        machine.path("bin/vkloader"),
        machine.path("libexec/vulkan-loader-rs/32/bin/vkloader"),
    );
    for folder in [&program, &other].map(|path| path.parent().expect("a folder")) {
        fs::create_dir_all(folder).expect("folders");
    }
    steady::copy_program(vkloader().as_ref(), &program, 0o755);
    let words = machine.path("words");
    steady::write_script(&other, &format!("#!/bin/sh\necho \"$@\" >>{}\n", words.display()));
    let said = |words_of: &[&str]| {
        let like = command(&machine, words_of);
        let mut command = in_environment_of(&like, &program);
        let output = command.args(like.get_args()).output().expect("it can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read_to_string(&words).unwrap_or_default()
    };
    assert_eq!(said(&["clear"]), "catalogue clear --user\n");
    // The library on the command line is for one word size only, so the update does not run the 32-bit `vkloader`.
    assert_eq!(said(&["update"]), "catalogue clear --user\n");
}

#[test]
fn the_catalogue_of_the_system_knows_no_variables_of_a_shell() {
    let mut machine = machine();
    machine.variable("RADV_DEBUG", "info");
    let mut command = machine.command(&["catalogue", "update", "--library"]);
    let root = machine.path("root");
    let output = command
        .arg(library())
        .arg("--root")
        .arg(&root)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let name = format!("var/cache/vulkan-loader/catalogue-{}.bin", catalogue::ARCHITECTURE);
    let known = unpack(&root.join(name));
    assert_eq!(known["variables"], serde_json::json!([]));
}
