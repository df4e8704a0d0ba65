//! Tests of changes that the files of a driver alone do not show, neither to an update nor to a program.

use crate::asked::*;
use crate::changes::machine_of_two;
use crate::closure::{compile, update, used};
use crate::evil::node;
use crate::linker::machine_with_source;
use crate::machine::{Machine, in_environment_of, library, skip};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

/// DRV-271: a driver may try to open a library that an update did not find. An entry is not used if the search path of a program leads to a
/// library of this name.
#[test]
fn a_library_that_an_update_did_not_find_counts_by_its_name() {
    let source = r#"
        #include <dlfcn.h>
        __attribute__((constructor)) static void look(void) { dlopen("libabsent.so.5", RTLD_NOW); }"#;
    let Some(machine) = machine_with_source(source, "device one") else {
        return;
    };
    let folder = machine.path("other");
    fs::create_dir_all(&folder).expect("a folder");
    update(&machine);
    assert_eq!(used(&machine, &[("LD_LIBRARY_PATH", &folder)]), "");
    let library = folder.join("libabsent.so.5");
    assert!(compile(&library, "int absent;", &["-Wl,-soname,libabsent.so.5"]));
    assert_eq!(used(&machine, &[]), "");
    assert_eq!(used(&machine, &[("LD_LIBRARY_PATH", &folder)]), "shadowed");
    assert_eq!(used(&machine, &[("LD_PRELOAD", &library)]), "shadowed");
    let text = told_of(&machine, &folder);
    assert!(
        text.contains("libabsent.so.5 is not what the dynamic linker would take"),
        "{text}"
    );
}

/// Returns the output of `show` in an environment with the search path `search`.
fn told_of(machine: &Machine, search: &Path) -> String {
    let mut command = machine.command(&["catalogue", "show", "--user"]);
    let output = command.env("LD_LIBRARY_PATH", search).output().expect("it starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A driver may get a device although the kernel's lists stay the same, for example after the firmware of its card was installed. An update for
/// changes therefore asks a driver without a device again if its hardware is present. While a card sleeps, the driver keeps its entry, because
/// programs would otherwise open the driver, which may wake the card.
#[test]
fn a_driver_without_a_device_whose_hardware_is_present_is_asked_again() {
    let machine = machine();
    let (boot, card) = ("root/proc/sys/kernel/random", "root/sys/bus/pci/devices/0000:01:00.0");
    for folder in [boot, &format!("{card}/power")] {
        fs::create_dir_all(machine.path(folder)).expect("folders");
    }
    let write = |path: &str, text: &str| {
        machine.file(path, format!("{text}\n"));
    };
    let (boots, card_is) = (
        |text| write(&format!("{boot}/boot_id"), text),
        |text| write(&format!("{card}/power/runtime_status"), text),
    );
    node(&machine);
    write(&format!("{card}/class"), "0x030000");
    let library = radeon(&machine, "");
    let devices = || driver(&written(&machine), "radeon")["devices"].clone();
    let changed = || good(&machine, &["update", "--changed"]);
    boots("one");
    card_is("active");
    good(&machine, &["update"]);
    card_is("suspended");
    changed();
    assert_eq!(devices(), json!([]));
    let text = good(&machine, &["show"]);
    assert!(!text.contains("has booted"), "{text}");
    boots("two");
    let text = good(&machine, &["show"]);
    assert!(text.contains("has booted"), "{text}");
    // Adds a device to the driver's settings. No file of the driver changes.
    machine.file("libraries/libvulkan_radeon.conf", settings_with_a_device(&library));
    changed();
    assert_eq!(devices(), json!([]), "the card sleeps");
    card_is("active");
    changed();
    assert_eq!(devices()[0]["name"], "one");
    let asked = instances(&machine);
    changed();
    assert_eq!(instances(&machine), asked, "a driver with a device is not asked again");
}

fn settings_with_a_device(library: &Path) -> String {
    fs::read_to_string(library.with_extension("conf")).expect("settings") + "device one\n"
}

/// Source of a program that asks the loader for extensions before and after it goes to another folder.
const WALKER: &str = r#"
#include <dlfcn.h>
#include <unistd.h>
int main(int count, char **words) {
    void *loader = dlopen(words[1], RTLD_NOW);
    int (*query)(const char *, unsigned *, void *);
    unsigned extensions = 0;
    if (count != 3 || !loader || !(*(void **)&query = dlsym(loader, "vkEnumerateInstanceExtensionProperties")))
        return 1;
    query(0, &extensions, 0);
    if (chdir(words[2]))
        return 2;
    query(0, &extensions, 0);
    return 0;
}
"#;

/// DRV-271: an empty element of the search path means the current folder, which a program may change.
#[test]
fn a_search_path_leads_elsewhere_from_another_folder() {
    let Some(machine) = machine_with_source("", "device one") else {
        return;
    };
    update(&machine);
    let (source, program) = (machine.file("walker.c", WALKER), machine.path("walker"));
    let mut compiler = Command::new("cc");
    let made = compiler.arg("-o").arg(&program).arg(source).arg("-ldl").output();
    assert!(made.is_ok_and(|made| made.status.success()));
    let (here, folder, trace) = (machine.path("here"), machine.path("other"), machine.path("trace"));
    for place in [&here, &folder] {
        fs::create_dir_all(place).expect("a folder");
    }
    assert!(compile(
        &folder.join("libmock_needed.so"),
        "int other;",
        &["-Wl,-soname,libmock_needed.so"]
    ));
    for (search, expected) in [(":", ["", "shadowed"]), ("/nowhere", ["", ""])] {
        let _ = fs::remove_file(&trace);
        let mut command = in_environment_of(&machine.command(&[]), &program);
        command.arg(library()).arg(&folder).current_dir(&here);
        command.env("LD_LIBRARY_PATH", search).env("VK_LOADER_TRACE", &trace);
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        let text = fs::read_to_string(&trace).expect("a trace");
        let records = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("a record"));
        let about = records.filter(|record| record["event"] == "catalogue");
        let doubts: Vec<String> = about
            .map(|record| record["doubt"].as_str().unwrap_or_default().into())
            .collect();
        assert_eq!(doubts, expected, "{search}");
    }
}

/// DRV-271: a file system that stores whole seconds gives two versions of a file the same time. The update waits until this is impossible.
#[test]
fn a_second_write_in_the_same_second_is_a_change() {
    let Some((machine, [_, needed])) = machine_of_two(&["-Wl,--build-id"]) else {
        return;
    };
    let other = machine.path("libothers.so");
    assert!(compile(&other, "int needed = 2;", &["-Wl,--build-id"]));
    let (other, own) = (fs::read(other).expect("a file"), fs::read(&needed).expect("a file"));
    assert_eq!(other.len(), own.len());
    let (inside, place, image) = (
        machine.path("inside"),
        machine.path("libraries"),
        machine.path("coarse.ext4"),
    );
    fs::rename(&place, &inside).expect("a folder");
    fs::create_dir_all(&place).expect("a folder");
    let run = |command: &mut Command| command.output().is_ok_and(|done| done.status.success());
    // An inode of 128 bytes has no space for fractions of a second in its times.
    let mut make = Command::new("mkfs.ext4");
    make.args(["-q", "-I", "128", "-d"]).arg(&inside).arg(&image).arg("64M");
    if !run(&mut make) {
        return skip("there is no mkfs.ext4");
    }
    if !run(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&place)) {
        return skip("no image can be mounted");
    }
    let since = UNIX_EPOCH.elapsed().expect("a time after 1970").subsec_nanos();
    std::thread::sleep(Duration::from_nanos(1_000_000_000 - u64::from(since)));
    fs::write(&needed, &own).expect("a file");
    let state = || {
        let found = fs::metadata(&needed).expect("a file");
        (found.ino(), found.size(), found.ctime(), found.ctime_nsec())
    };
    let before = state();
    update(&machine);
    let counted = used(&machine, &[]);
    fs::write(&needed, &other).expect("a file");
    let (after, counts) = (state(), used(&machine, &[]));
    assert!(
        run(Command::new("umount").arg(&place)),
        "{} is still mounted",
        place.display()
    );
    assert_eq!(before.3, 0, "the file system has whole seconds");
    assert_ne!(before, after, "the update ends in a later second");
    assert_eq!((counted.as_str(), counts.as_str()), ("", "library"));
}

/// After a clock was set back, files have times in the future. A time in the future does not mean that a file has changed.
#[test]
fn a_driver_whose_files_are_of_the_future_has_an_entry() {
    let mut machine = machine();
    machine.variable("VK_LOADER_CATALOGUE", "on");
    machine.driver("needed", "device one");
    let source = r#"
        #define _GNU_SOURCE
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t clock, struct timespec *time) {
            int result = syscall(SYS_clock_gettime, clock, time);
            if (clock == CLOCK_REALTIME)
                time->tv_sec -= 1000000;
            return result;
        }"#;
    let clock = machine.path("libraries/libclock.so");
    if !compile(&clock, source, &[]) {
        return skip("there is no C compiler");
    }
    machine.variable("LD_PRELOAD", clock.display().to_string());
    update(&machine);
    let entry = driver(&written(&machine), "needed");
    assert_eq!(entry["outcome"], "answered", "{entry:#}");
}

/// If a needed library is replaced while the driver answers, either version may have answered, so the driver is asked again.
#[test]
fn a_driver_is_asked_again_if_a_dependency_changes_meanwhile() {
    let source = r#"
        #include <dlfcn.h>
        __attribute__((constructor)) static void look(void) { dlopen("LIBRARIES/libextra.so", RTLD_NOW); }"#;
    for (is_once, expected) in [(true, "answered"), (false, "")] {
        let Some(machine) = machine_with_source(source, "") else {
            return;
        };
        let (extra, done) = (machine.path("libraries/libextra.so"), machine.path("done"));
        let condition = if is_once {
            done.display().to_string()
        } else {
            "/nowhere".into()
        };
        let command = format!("[ -e {condition} ] || touch {} {}", extra.display(), done.display());
        machine.driver("needed", &format!("run vkCreateInstance {command}\ndevice one"));
        machine.manifest("needed", &machine.path("libraries/libdriver.so"), "");
        update(&machine);
        let entry = driver(&written(&machine), "needed");
        assert_eq!(entry["outcome"].as_str().unwrap_or_default(), expected, "{entry:#}");
    }
}
