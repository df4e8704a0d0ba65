//! Tests of the records of devices in the folder of the catalogue.

use super::asked::*;
use super::machine::{Machine, library};
use record::{DRIVER, Extensions, Key, Query, Record};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the paths of the records.
fn records(machine: &Machine) -> Vec<PathBuf> {
    let folder = file(machine);
    let folder = folder.parent().expect("a folder");
    let all = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let is_record = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"record-"))
    };
    all.filter(is_record).collect()
}

#[test]
fn drv_281_the_answers_of_devices_are_recorded() {
    let machine = machine();
    machine.driver(
        "a",
        "device one\ndevice.vendor 4098\ndevice.extension VK_KHR_swapchain 70\ndevice two",
    );
    machine.driver("without", "instance_extension VK_KHR_surface 25");
    good(&machine, &["update"]);
    let known = written(&machine);
    assert!(driver(&known, "without")["record"].is_null());
    let sum = driver(&known, "a")["record"].as_str().expect("a record").to_owned();
    let [path] = &records(&machine)[..] else {
        panic!("one record")
    };
    assert!(path.to_string_lossy().contains(&sum), "{path:?}");
    let content = fs::read(path).expect("a file");
    let sum = u64::from_str_radix(&sum, 16).expect("a number");
    let record = Record::read(&content, sum).expect("a record");
    assert_eq!(record.devices(), 2);
    let (_, answer) = record.answer(Key::of(0, Query::Properties)).expect("properties");
    let mut bytes = [0; 824];
    answer.write(&mut bytes).expect("room");
    assert_eq!(record::number(&bytes, 8), Some(4098));
    assert!(bytes[20..].starts_with(b"one\0"));
    let (_, list) = record.find(Key::of(0, Query::Extensions)).expect("a list");
    assert_eq!(Extensions(list).next(), Some((&b"VK_KHR_swapchain"[..], 70)));
    let row = record::COMMANDS
        .iter()
        .position(|name| *name == "vkGetPhysicalDeviceProperties");
    let row = row.and_then(|row| u16::try_from(row).ok()).expect("a row");
    assert_eq!(record.has_command(0, row, || Some(false)), Some(true));
    assert!(record.find(Key::of(DRIVER, Query::Versions)).is_some());
}

#[test]
fn drv_281_a_device_that_is_listed_twice_is_recorded_once() {
    let machine = machine();
    machine.driver("a", "device one\ndevice one\ndevice two");
    good(&machine, &["update"]);
    let [path] = &records(&machine)[..] else {
        panic!("one record")
    };
    let content = fs::read(path).expect("a file");
    let record = Record::again(&content).expect("a record");
    assert_eq!(record.devices(), 2);
}

#[test]
fn drv_281_a_driver_that_is_named_without_a_folder_is_recorded() {
    let mut machine = machine();
    machine.driver("a", "device one");
    let library = machine.path("libraries/libmock_a.so");
    fs::remove_file(machine.path("data/vulkan/icd.d/a.json")).expect("a file");
    let folder = library.parent().expect("a folder").to_owned();
    // The name in the manifest refers to a link, as in the manifest of NVIDIA's driver.
    std::os::unix::fs::symlink(&library, folder.join("libbare.so.0")).expect("a link");
    fs::copy(library.with_extension("conf"), folder.join("libbare.so.conf")).expect("a copy");
    machine.manifest("bare", Path::new("libbare.so.0"), "");
    machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
    let said = good(&machine, &["update"]);
    assert!(driver(&written(&machine), "bare")["record"].is_string(), "{said}");
}

#[test]
fn drv_281_the_reason_why_devices_are_not_recorded_is_printed() {
    let machine = machine();
    machine.driver("a", "many_devices 17");
    let library = library();
    let library = library.to_str().expect("plain");
    let output = machine.run(&["catalogue", "update", "--user", "--library", library]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("its devices are not recorded: there are too many devices"),
        "{said}"
    );
    assert!(driver(&written(&machine), "a")["record"].is_null());
}

#[test]
fn drv_281_records_that_are_not_used_are_removed() {
    let machine = machine();
    machine.driver("a", "device one");
    good(&machine, &["update"]);
    let first = records(&machine);
    // `--changed` keeps valid records, and replaces a deleted record.
    good(&machine, &["update", "--changed"]);
    assert_eq!(records(&machine), first);
    fs::remove_file(&first[0]).expect("a file");
    good(&machine, &["update", "--changed"]);
    assert_eq!(records(&machine), first);
    machine.driver("a", "device another");
    good(&machine, &["update"]);
    let second = records(&machine);
    assert!(second.len() == 1 && second != first, "{second:?}");
    good(&machine, &["clear"]);
    assert!(records(&machine).is_empty());
}
