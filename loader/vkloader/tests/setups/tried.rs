//! Set-ups with variables that may or may not be the reason for a missing device. `vkloader` runs the probe without them.

use super::posted::{card, driver_as};
use super::{Machine, Row, good, try_all};
use std::fs;

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "a checkout left a pointer of Git LFS in place of the library",
        |machine| {
            good(machine);
            let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345678\n";
            machine.file("libraries/libmock_good.so", pointer);
            fs::create_dir(machine.path("libraries/.git")).expect("a folder");
        },
        "driver.not-opened",
    )
    .about("libmock_good.so is a pointer of Git LFS")
    .remedy("git lfs install && git lfs pull", good),
    Row::new(
        "the manifest is the template of an installer",
        |machine| {
            good(machine);
            machine.manifest("good", "__NV_VK_ICD_NOWHERE__".as_ref(), "");
        },
        "driver.not-opened",
    )
    .about("good.json is a template")
    .remedy("write the path of its library in place of __NV_VK_ICD_NOWHERE__", good),
    Row::new(
        "a variable names a driver without a device",
        |machine| {
            good(machine);
            machine.driver("empty", "");
            let path = machine.path("data/vulkan/icd.d/empty.json");
            machine.variable("VK_DRIVER_FILES", path.to_str().expect("plain"));
        },
        "search.replaced",
    )
    .about("this was tried without VK_DRIVER_FILES: 1 device can be used.")
    .remedy("unset VK_DRIVER_FILES", |machine| machine.unset("VK_DRIVER_FILES")),
    Row::new(
        "a variable names a library that is no driver, and software works without it",
        |machine| {
            machine.driver("good", "device one\ndevice.type 4");
            super::libraries::compile(machine, "plain", "int plain;\n", &[]);
            fs::create_dir(machine.path("own")).expect("a folder");
            let manifest = machine.manifest("plain", &machine.path("libraries/libplain.so"), "");
            let own = machine.path("own/plain.json");
            fs::rename(manifest, &own).expect("moved");
            machine.variable("VK_DRIVER_FILES", own.to_str().expect("plain"));
        },
        "driver.no-entry-point",
    )
    .about("libplain.so")
    .remedy("unset VK_DRIVER_FILES", |machine| machine.unset("VK_DRIVER_FILES")),
    Row::new(
        "two variables hide the driver, each of them alone too",
        |machine| {
            good(machine);
            machine.variable("VK_DRIVER_FILES", "/nowhere/good.json");
            machine.variable("VK_LOADER_DRIVERS_DISABLE", "good*");
        },
        "variable.no-match",
    )
    .about("this was tried without VK_DRIVER_FILES and VK_LOADER_DRIVERS_DISABLE: 1 device can be used.")
    .remedy("unset VK_DRIVER_FILES", |machine| {
        machine.unset("VK_DRIVER_FILES");
        machine.unset("VK_LOADER_DRIVERS_DISABLE");
    }),
    Row::new(
        "a filter leaves out each driver that another variable names",
        |machine| contradicting(machine, ""),
        "driver-manifest.not-selected",
    )
    .about("VK_LOADER_DRIVERS_SELECT leaves out each driver that VK_ICD_FILENAMES names")
    .remedy("contradict each other: unset VK_LOADER_DRIVERS_SELECT", |machine| {
        machine.unset("VK_LOADER_DRIVERS_SELECT");
    }),
    Row::new(
        "a filter leaves out each driver that a file of the session names",
        |machine| contradicting(machine, "export VK_ICD_FILENAMES=good.json\n"),
        "search.replaced",
    )
    .about("VK_LOADER_DRIVERS_SELECT leaves out each driver that VK_ICD_FILENAMES names")
    .remedy("contradict each other: unset VK_ICD_FILENAMES", |machine| {
        machine.unset("VK_ICD_FILENAMES");
    }),
    Row::new(
        "a variable names a missing manifest, and the driver lacks its library",
        |machine| {
            machine.manifest("good", &machine.path("libraries/libmock_good.so"), "");
            machine.variable("VK_DRIVER_FILES", "/nowhere/good.json");
        },
        "variable.no-match",
    )
    .remedy("unset VK_DRIVER_FILES", |machine| {
        machine.unset("VK_DRIVER_FILES");
        good(machine);
    }),
    Row::new(
        "a variable replaces the data folder of the user",
        |machine| {
            good(machine);
            fs::create_dir_all(machine.path("none/.local/share/vulkan")).expect("folders");
            move_manifests(machine, "data", "none/.local/share");
        },
        "driver.none-installed",
    )
    .about("is not searched, but has good.json")
    .remedy("unset XDG_DATA_HOME", |machine| {
        move_manifests(machine, "none/.local/share", "data");
    }),
];

/// Installs two drivers, and sets two variables that contradict each other. `profile` is the content of a file that sets variables of the
/// session.
fn contradicting(machine: &mut Machine, profile: &str) {
    good(machine);
    machine.driver("other", "device two");
    fs::create_dir_all(machine.path("none")).expect("a folder");
    let path = machine.path("data/vulkan/icd.d/good.json");
    let path = path.to_str().expect("plain");
    machine.file("none/.profile", profile.replace("good.json", path));
    machine.variable("VK_ICD_FILENAMES", path);
    machine.variable("VK_LOADER_DRIVERS_SELECT", "*other*");
}

/// Moves the folder of manifests from one data folder to another.
fn move_manifests(machine: &Machine, from: &str, to: &str) {
    let folder = |data: &str| machine.path(&format!("{data}/vulkan/icd.d"));
    fs::rename(folder(from), folder(to)).expect("one file system");
}

/// A program without a driver often ends with a status that means failure, which explains nothing.
#[test]
fn a_program_that_fails_without_a_driver_comes_with_the_driver() {
    let machine = Machine::new();
    let library = crate::machine::library();
    let program = machine.c_program(
        "#include <dlfcn.h>\nint main(void) { void *library = dlopen(\"libvulkan.so.1\", 2); int (*create)(void *, void *, void **) = \
         (int (*)(void *, void *, void **))dlsym(library, \"vkCreateInstance\"); long info[8] = {1}; void *instance; \
         return create(info, 0, &instance) ? 101 : 0; }\n",
    );
    let words = ["--library", library.to_str().expect("plain"), "--", &program];
    assert_eq!(machine.explain_with(&words).first(), "driver.none-installed");
    machine.driver("empty", "fail vkCreateInstance -9");
    assert_eq!(machine.explain_with(&words).first(), "driver.creation-failed");
    machine.manifest(
        "empty",
        &machine.path("libraries/libmock_empty.so"),
        ", \"is_portability_driver\": true",
    );
    assert_eq!(machine.explain_with(&words).first(), "driver-manifest.portability");
}

#[test]
fn each_variable_is_left_out_to_learn_what_it_does() {
    try_all(ROWS);
}

/// Creates a machine with a card of AMD whose node is missing, its driver, and a driver for another card.
fn without_node() -> Machine {
    let machine = Machine::new();
    driver_as(&machine, "libvulkan_radeon.so", "");
    let idle = machine.path("libraries/libvulkan_nouveau.so");
    fs::copy(machine.path("libraries/libvulkan_radeon.so"), &idle).expect("one folder");
    machine.file("libraries/libvulkan_nouveau.conf", "ordinal 0\n");
    machine.manifest("nouveau_icd", &idle, "");
    card(&machine, "0000:03:00.0", "0x1002", Some("amdgpu"));
    fs::remove_file(machine.path("system/dev/dri/renderD128")).expect("just made");
    machine
}

/// A variable that hides nothing of use does not come before the missing node.
#[test]
fn a_variable_without_an_effect_comes_after_the_card() {
    let mut machine = without_node();
    if !machine.in_made_up_system(&["/sys", "/dev/dri"]) {
        return;
    }
    machine.variable("VK_LOADER_DRIVERS_DISABLE", "nouveau*");
    let explained = machine.explain();
    assert_eq!(explained.first(), "hardware.no-node", "{:?}", explained.codes());
    let found = explained.found("driver-manifest.disabled").to_string();
    assert!(
        found.contains("this was tried without VK_LOADER_DRIVERS_DISABLE"),
        "{found}"
    );
    machine.unset("VK_LOADER_DRIVERS_DISABLE");
    // Each other remedy helps only after a variable that replaces the search is unset.
    machine.variable("VK_DRIVER_FILES", "/nowhere/own.json");
    let explained = machine.explain();
    assert_eq!(explained.first(), "variable.no-match", "{:?}", explained.codes());
    machine.unset("VK_DRIVER_FILES");
    // This variable hides the driver of the card, so it stays the first cause.
    machine.variable("VK_LOADER_DRIVERS_DISABLE", "own*");
    let explained = machine.explain();
    assert_eq!(explained.first(), "driver-manifest.disabled", "{:?}", explained.codes());
    assert!(
        explained.codes().contains(&"hardware.no-node"),
        "{:?}",
        explained.codes()
    );
}
