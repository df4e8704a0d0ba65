//! Set-ups with drivers that can be opened but fail later.

use super::{Machine, Row, good, try_all};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Installs a driver. `lines` configures the driver's behaviour.
fn bad(machine: &mut Machine, lines: &str) {
    machine.driver("bad", lines);
}

/// Updates the driver to a version that works.
fn update(machine: &mut Machine) {
    machine.driver("bad", "device one");
}

/// Installs a working driver, and a driver that crashes the process.
fn beside_good(machine: &mut Machine, lines: &str) {
    good(machine);
    bad(machine, lines);
}

/// Follows the remedy that disables the driver with the manifest `bad.json`.
fn leave_out(machine: &mut Machine) {
    machine.variable("VK_LOADER_DRIVERS_DISABLE", "bad*");
}

/// If a test of the variable shows that it does not help, the finding about a crashing driver does not recommend the variable.
#[test]
fn a_variable_that_does_not_help_is_not_advised() {
    let mut machine = Machine::new();
    bad(&mut machine, "device two\ncrash vkCreateInstance");
    let explained = machine.explain();
    let advice = explained.advice();
    assert!(
        advice.starts_with("Update, rebuild or remove ") && !advice.contains("VK_LOADER"),
        "{advice}"
    );
}

/// A driver that was built with AddressSanitizer ends each process that opens the driver before the runtime of AddressSanitizer.
#[test]
fn a_driver_with_address_sanitizer_comes_with_its_runtime() {
    let mut machine = Machine::new();
    let text = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void end(void) {\n\
                fputs(\"==1==ASan runtime does not come first in initial library list.\\n\", stderr); _Exit(1); }\n";
    let source = machine.file("asan.c", text);
    let folder = machine.path("libraries");
    let compile = |source: &Path, name: &str, needed: Option<&Path>| {
        let library = folder.join(name);
        let mut command = Command::new("cc");
        command
            .args(["-shared", "-fPIC", "-x", "c"])
            .arg(source)
            .args(["-x", "none", "-Wl,--no-as-needed"]);
        command
            .arg(format!("-Wl,-soname,{name},-rpath,$ORIGIN"))
            .args(needed)
            .arg("-o")
            .arg(&library);
        assert!(command.status().expect("a compiler").success());
        library
    };
    let runtime = compile(Path::new("/dev/null"), "libasan.so.9", None);
    let library = compile(&source, "libown.so", Some(&runtime));
    let manifest = machine.manifest("own", &library, "");
    machine.variable("VK_DRIVER_FILES", manifest.display().to_string());
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "program.exited"));
    let (words, advice) = (format!("LD_PRELOAD={} PROGRAM", runtime.display()), explained.advice());
    assert!(
        advice.contains(&words) && advice.ends_with("unset VK_DRIVER_FILES"),
        "{advice}"
    );
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "a driver reports too little memory when it lists its devices",
        |machine| {
            machine.driver("short", "fail vkEnumeratePhysicalDevices -1 1 1000");
            machine.driver("good", "device one");
        },
        "device.enumeration-failed",
    )
    .about("VK_ERROR_OUT_OF_HOST_MEMORY")
    .remedy("VK_LOADER_DRIVERS_DISABLE=short.json PROGRAM", |machine| {
        machine.variable("VK_LOADER_DRIVERS_DISABLE", "short.json");
    }),
    Row::new(
        "a driver lost its card when it lists its devices",
        |machine| {
            machine.driver("lost", "fail vkEnumeratePhysicalDevices -4 1 1000");
        },
        "device.enumeration-failed",
    )
    .about("VK_ERROR_DEVICE_LOST")
    .remedy("The card no longer responds", |machine| {
        machine.driver("lost", "device one");
    }),
    Row::new(
        "a variable names a driver that crashes, and the search finds another driver",
        |machine| {
            beside_good(machine, "device two\ncrash vkCreateInstance");
            let bad = machine.path("data/vulkan/icd.d/bad.json");
            let moved = machine.path("bad.json");
            fs::rename(bad, &moved).expect("one file system");
            machine.variable("VK_DRIVER_FILES", moved.to_str().expect("plain"));
        },
        "program.crashed",
    )
    .about("this was tried without VK_DRIVER_FILES: 1 device can be used.")
    .remedy("unset VK_DRIVER_FILES", |machine| machine.unset("VK_DRIVER_FILES")),
    Row::new(
        "a variable names a missing manifest and a driver that crashes, which the search finds too",
        |machine| {
            beside_good(machine, "device two\ncrash vkCreateInstance");
            let bad = machine.path("data/vulkan/icd.d/bad.json");
            let both = format!("/nowhere/bad32.json:{}", bad.display());
            machine.variable("VK_DRIVER_FILES", both);
        },
        "program.crashed",
    )
    .about("this was tried without VK_DRIVER_FILES, and with VK_LOADER_DRIVERS_DISABLE=bad.json: 1 device can be used.")
    .remedy(
        "VK_LOADER_DRIVERS_DISABLE=bad.json PROGRAM, and: unset VK_DRIVER_FILES",
        |machine| {
            machine.unset("VK_DRIVER_FILES");
            leave_out(machine);
        },
    ),
    Row::new(
        "a driver without its kernel module makes no instance",
        |machine| bad(machine, "device one\nfail vkCreateInstance -3"),
        "driver.creation-failed",
    )
    .about("VK_ERROR_INITIALIZATION_FAILED")
    .remedy("kernel module", update),
    Row::new(
        "a driver that is incompatible makes no instance",
        |machine| bad(machine, "device one\nfail vkCreateInstance -9"),
        "driver.creation-failed",
    )
    .about("libmock_bad.so")
    .remedy("messages of the driver", update),
    Row::new(
        "a driver gives no instance and says that it does",
        |machine| bad(machine, "device one\nnull_result vkCreateInstance"),
        "driver.null-instance",
    )
    .about("libmock_bad.so")
    .remedy("Update the driver", update),
    Row::new(
        "a driver does not list its extensions",
        |machine| bad(machine, "device one\nfail vkEnumerateInstanceExtensionProperties -3"),
        "driver.extension-query-failed",
    )
    .about("libmock_bad.so")
    .remedy("messages of the driver", update),
    Row::new(
        "a driver refuses the interface",
        |machine| bad(machine, "device one\nnegotiate_result -9"),
        "driver.negotiation-refused",
    )
    .about("libmock_bad.so")
    .remedy("Update the driver", update),
    Row::new(
        "a driver lacks a command that each must have",
        |machine| bad(machine, "device one\nmissing vkGetPhysicalDeviceFeatures"),
        "driver.no-required-command",
    )
    .about("libmock_bad.so")
    .remedy("Update the driver", update),
    Row::new(
        "a driver does not list its devices",
        |machine| bad(machine, "device one\nfail vkEnumeratePhysicalDevices -3"),
        "device.enumeration-failed",
    )
    .about("libmock_bad.so")
    .remedy("kernel module", update),
    Row::new(
        "one driver has no device, and another does not open",
        |machine| {
            machine.driver("empty", "");
            bad(machine, "device one");
            std::fs::remove_file(machine.path("libraries/libmock_bad.so")).expect("just copied");
        },
        "driver.not-opened",
    )
    .about("libmock_bad.so")
    .remedy("Reinstall the package", update),
    Row::new(
        "the only driver has no device",
        |machine| bad(machine, ""),
        "driver.none-has-device",
    )
    .about("libmock_bad.so")
    .remedy("hardware", update),
    Row::new(
        "no driver has a device",
        |machine| {
            bad(machine, "");
            machine.driver("other", "");
        },
        "driver.none-has-device",
    )
    .about("libmock_other.so")
    .remedy("finding about each driver", update),
    Row::new(
        "a device is listed and cannot be created",
        |machine| bad(machine, "device one\nfail vkCreateDevice -3"),
        "device.not-created",
    )
    .about("VK_ERROR_INITIALIZATION_FAILED")
    .remedy("kernel module", update),
    Row::new(
        "a driver returns success without a device",
        |machine| bad(machine, "device one\nfail vkCreateDevice 0"),
        "device.not-created",
    )
    .about("is faulty: its vkCreateDevice returned VK_SUCCESS, but no device.")
    .remedy("Update, rebuild or remove", update),
    Row::new(
        "a driver crashes when it makes an instance",
        |machine| beside_good(machine, "device two\ncrash vkCreateInstance"),
        "program.crashed",
    )
    .about("libmock_bad.so")
    .remedy("VK_LOADER_DRIVERS_DISABLE=", leave_out),
    Row::new(
        "a driver crashes when it lists devices",
        |machine| beside_good(machine, "device two\ncrash vkEnumeratePhysicalDevices"),
        "program.crashed",
    )
    .about("libmock_bad.so")
    .remedy("VK_LOADER_DRIVERS_DISABLE=", leave_out),
    Row::new(
        "two drivers crash, and only without both a device is left",
        |machine| {
            beside_good(machine, "device two\ncrash vkCreateInstance");
            machine.driver("worse", "device three\ncrash vkCreateInstance");
        },
        "program.crashed",
    )
    .about("another driver or layer ends the program")
    .remedy("VK_LOADER_DRIVERS_DISABLE=bad.json,worse.json PROGRAM", |machine| {
        machine.variable("VK_LOADER_DRIVERS_DISABLE", "bad.json,worse.json");
    }),
    Row::new(
        "the only driver crashes, and no variable helps",
        |machine| bad(machine, "device two\ncrash vkCreateInstance"),
        "program.crashed",
    )
    .about("was tried, and no device can be used with it")
    .remedy("libmock_bad.so", update),
    Row::new(
        "a driver ends the process when it makes an instance",
        |machine| beside_good(machine, "device two\nexit vkCreateInstance"),
        "program.exited",
    )
    .about("libmock_bad.so")
    .remedy("VK_LOADER_DRIVERS_DISABLE=", leave_out),
];

#[test]
fn each_cause_in_a_driver_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}
