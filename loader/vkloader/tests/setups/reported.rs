//! Set-ups that users report: values of Mesa's variables that select no card, files that remain after a removal, and variables for the
//! other word size.

use super::{Machine, Row, good, try_all};
use crate::machine::library;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

const MANIFEST: &str = "data/vulkan/icd.d/good.json";

/// Settings of the mock driver for a card with the PCI address 0000:03:00.0.
const CARD: &str =
    "device one\ndevice.vendor 4098\ndevice.id 29631\ndevice.extension VK_EXT_pci_bus_info\ndevice.pci 0 3 0 0";

/// Installs a driver whose card has a PCI address.
fn with_card(machine: &mut Machine) {
    machine.driver("good", CARD);
}

/// Changes the header of a library to that of a library for 32-bit x86 processors.
fn for_32_bits(machine: &Machine, library: &str) {
    let path = machine.path(library);
    let mut bytes = fs::read(&path).expect("just copied");
    bytes[4] = 1;
    bytes[18..20].copy_from_slice(&[3, 0]);
    fs::write(path, bytes).expect("written");
}

/// Installs the driver for both word sizes. Each word size has a separate manifest.
fn both_word_sizes(machine: &mut Machine) {
    good(machine);
    machine.driver("other", "");
    for_32_bits(machine, "libraries/libmock_other.so");
    let folder = machine.path("data/vulkan/icd.d");
    for (from, to) in [
        ("good.json", "card_icd.x86_64.json"),
        ("other.json", "card_icd.i686.json"),
    ] {
        fs::rename(folder.join(from), folder.join(to)).expect("one folder");
    }
}

/// Returns the absolute path of a file on the machine.
fn path(machine: &Machine, file: &str) -> String {
    machine.path(file).to_str().expect("plain").into()
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "a variable of Mesa names a place without a card",
        |machine| {
            with_card(machine);
            machine.variable("DRI_PRIME", "pci-0000_99_00_0");
        },
        "variable.no-match",
    )
    .about("DRI_PRIME=pci-0000_03_00_0 chooses one")
    .remedy("unset DRI_PRIME", |machine| {
        machine.variable("DRI_PRIME", "pci-0000_03_00_0");
    })
    .gone(),
    Row::new(
        "a variable of Mesa has a place in another form",
        |machine| {
            with_card(machine);
            machine.variable("DRI_PRIME", "0000:03:00.0");
        },
        "variable.no-match",
    )
    .about("which has no meaning there")
    .remedy("unset DRI_PRIME", |machine| {
        machine.variable("DRI_PRIME", "1002:73bf!");
    })
    .gone(),
    Row::new(
        "a variable of Mesa asks for a second card",
        |machine| {
            with_card(machine);
            machine.variable("DRI_PRIME", "1");
        },
        "variable.no-match",
    )
    .about("no other card can be used")
    .remedy("unset DRI_PRIME", |machine| machine.unset("DRI_PRIME"))
    .gone(),
    Row::new(
        "a variable is for a layer of Mesa that is not active",
        |machine| {
            with_card(machine);
            machine.variable("MESA_VK_DEVICE_SELECT", "1002:73bf");
        },
        "variable.no-match",
    )
    .about("VK_LAYER_MESA_device_select) is not active")
    .remedy("VK_LOADER_DEVICE_SELECT", |machine| {
        machine.unset("MESA_VK_DEVICE_SELECT");
        machine.variable("VK_LOADER_DEVICE_SELECT", "1002:73bf");
    })
    .gone(),
    Row::new(
        "two drivers list the same card",
        |machine| {
            with_card(machine);
            machine.driver("second", &CARD.replace("one", "the same"));
        },
        "device.listed-twice",
    )
    .about("libmock_second.so lists the same")
    .remedy("VK_LOADER_DRIVERS_DISABLE=good.json", |machine| {
        machine.variable("VK_LOADER_DRIVERS_DISABLE", "good.json");
    })
    .gone(),
    Row::new(
        "a variable names the driver for the other word size only",
        |machine| {
            both_word_sizes(machine);
            let other = path(machine, "data/vulkan/icd.d/card_icd.i686.json");
            machine.variable("VK_ICD_FILENAMES", other);
        },
        "driver.wrong-architecture",
    )
    .about("card_icd.i686.json")
    .remedy("card_icd.x86_64.json, or: unset VK_ICD_FILENAMES", |machine| {
        let right = path(machine, "data/vulkan/icd.d/card_icd.x86_64.json");
        machine.variable("VK_ICD_FILENAMES", right);
    }),
    Row::new(
        "a variable names the driver for both word sizes, and one path has more after its end",
        |machine| {
            both_word_sizes(machine);
            let folder = path(machine, "data/vulkan/icd.d");
            let value = format!("{folder}/card_icd.i686.json:{folder}/card_icd.x86_64.jsonobs");
            machine.variable("VK_DRIVER_FILES", value);
        },
        "variable.no-match",
    )
    .about("card_icd.x86_64.jsonobs in VK_DRIVER_FILES leads to no manifest")
    .remedy("card_icd.x86_64.json, or: unset VK_DRIVER_FILES", |machine| {
        let folder = path(machine, "data/vulkan/icd.d");
        machine.unset("VK_DRIVER_FILES");
        let value = format!("{folder}/card_icd.i686.json:{folder}/card_icd.x86_64.json");
        machine.variable("VK_DRIVER_FILES", value);
    }),
    Row::new(
        "a variable names the driver for both word sizes, and one word size is misspelt",
        |machine| {
            both_word_sizes(machine);
            let folder = path(machine, "data/vulkan/icd.d");
            let value = format!("{folder}/card_icd.x86-64.json:{folder}/card_icd.i686.json");
            machine.variable("VK_ICD_FILENAMES", value);
        },
        "variable.no-match",
    )
    .about("card_icd.x86-64.json in VK_ICD_FILENAMES leads to no manifest")
    .remedy("/card_icd.x86_64.json:", |machine| machine.unset("VK_ICD_FILENAMES")),
    Row::new(
        "paths are divided by a blank",
        |machine| {
            good(machine);
            let manifest = path(machine, MANIFEST);
            machine.variable("VK_DRIVER_FILES", format!("/nowhere/other.json {manifest}"));
        },
        "variable.no-match",
    )
    .about("other.json ")
    .remedy("by a colon, and not by a blank", |machine| {
        let manifest = path(machine, MANIFEST);
        machine.variable("VK_DRIVER_FILES", format!("/nowhere/other.json:{manifest}"));
    }),
    Row::new(
        "a manifest is a link to a file of a removed package",
        |machine| symlink("/nowhere/share/good.json", machine.path(MANIFEST)).expect("a link"),
        "file.not-found",
    )
    .about("is a link to /nowhere/share/good.json, which is not there")
    .remedy(
        "Bring /nowhere/share/good.json back, or let the link lead to a manifest that exists",
        |machine| {
            fs::remove_file(machine.path(MANIFEST)).expect("a link");
            good(machine);
        },
    ),
    Row::new(
        "a package of another system names another folder for libraries",
        |machine| {
            good(machine);
            machine.manifest("good", "/nowhere/lib64/libmock_good.so".as_ref(), "");
            let folder = path(machine, "libraries");
            machine.variable("LD_LIBRARY_PATH", folder);
        },
        "driver.not-opened",
    )
    .about("a library of this name is ")
    .remedy("Correct library_path in ", |machine| {
        let library = machine.path("libraries/libmock_good.so");
        machine.manifest("good", &library, "");
    }),
    Row::new(
        "a manifest leads to a removed copy of a driver that is installed",
        |machine| {
            good(machine);
            machine.manifest("devenv", "/nowhere/build/libmock_good.so".as_ref(), "");
            let folder = path(machine, "libraries");
            machine.variable("LD_LIBRARY_PATH", folder);
        },
        "driver.not-opened",
    )
    .about("/nowhere/build/libmock_good.so")
    .remedy("remove its manifest: rm ", |machine| {
        fs::remove_file(machine.path("data/vulkan/icd.d/devenv.json")).expect("just made");
    })
    .gone(),
    Row::new(
        "a script with line ends of Windows sets a variable",
        |machine| {
            good(machine);
            let manifest = path(machine, MANIFEST);
            machine.variable("VK_ICD_FILENAMES", format!("{manifest}\r"));
        },
        "variable.no-match",
    )
    .about("good.json")
    .remedy("line ends of Windows", |machine| {
        let manifest = path(machine, MANIFEST);
        machine.variable("VK_ICD_FILENAMES", manifest);
    }),
    Row::new(
        "a driver was removed by hand, but its manifest stayed",
        |machine| {
            good(machine);
            machine.manifest("old", "libvklt_removed.so.0".as_ref(), "");
        },
        "driver.not-opened",
    )
    .about("libvklt_removed.so.0")
    .remedy("remove its manifest: rm ", |machine| {
        fs::remove_file(machine.path("data/vulkan/icd.d/old.json")).expect("just made");
    })
    .gone(),
    Row::new(
        "an overlay was removed by hand, but the manifest of its layer stayed",
        |machine| {
            good(machine);
            machine.layer("capture");
        },
        "layer-library.not-opened",
    )
    .about("implicit_layer.d/capture.json")
    .remedy("implicit_layer.d/capture.json", |machine| {
        fs::remove_file(machine.path("data/vulkan/implicit_layer.d/capture.json")).expect("just made");
    })
    .gone(),
    Row::new(
        "a variable has a part of a layer's name",
        |machine| {
            good(machine);
            machine.working_layer("explicit", "HUD_overlay_x86_64", "", "");
            machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_HUD_overlay");
        },
        "variable.no-match",
    )
    .about("VK_LAYER_HUD_overlay")
    .remedy("VK_INSTANCE_LAYERS=VK_LAYER_HUD_overlay_x86_64", |machine| {
        machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_HUD_overlay_x86_64");
    })
    .gone(),
    Row::new(
        "a manifest has a comment",
        |machine| {
            good(machine);
            let text = fs::read_to_string(machine.path(MANIFEST)).expect("just written");
            machine.file(MANIFEST, format!("// my own driver\n{text}"));
        },
        "file.invalid-json",
    )
    .about("good.json")
    .remedy("line 1, column 1: JSON has no comments", good),
];

#[test]
fn each_cause_that_users_report_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}

/// The trace replaces the bytes of a path that is not UTF-8 by other characters. The report does not conclude from this difference that the
/// program set the variable.
#[test]
fn a_path_that_is_not_utf_8_is_no_finding_of_its_own() {
    let mut machine = Machine::new();
    good(&mut machine);
    let folder = machine.path("").join(OsStr::from_bytes(b"M\xFCller"));
    fs::create_dir(&folder).expect("a folder");
    fs::rename(machine.path(MANIFEST), folder.join("good.json")).expect("moved");
    let library = library();
    let words = ["explain", "--json", "--library", library.to_str().expect("plain")];
    let output = machine
        .command(&words)
        .env("VK_DRIVER_FILES", folder.join("good.json"))
        .output()
        .expect("it can be started");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    let dropped = report["dropped"].as_array().expect("a list");
    let codes: Vec<&str> = dropped.iter().filter_map(|one| one["code"].as_str()).collect();
    assert_eq!(
        (codes, &report["verdict"]),
        (vec!["search.replaced"], &"hardware".into())
    );
    assert!(!dropped[0].to_string().contains("set by the program"), "{report:#}");
}

/// A program inherits a variable from the program that started it. The variable names only a software driver, although the system has a
/// card.
#[test]
fn a_variable_that_leaves_only_software_on_a_system_with_a_card_is_the_cause() {
    let mut machine = Machine::new();
    with_card(&mut machine);
    machine.driver("soft", "device soft\ndevice.type 4");
    let soft = path(&machine, "data/vulkan/icd.d/soft.json");
    machine.variable("VK_ICD_FILENAMES", soft.as_str());
    let folder = "system/sys/bus/pci/devices/0000:03:00.0";
    fs::create_dir_all(machine.path(folder)).expect("folders");
    for (name, text) in [("class", "0x030000"), ("vendor", "0x1002"), ("device", "0x73bf")] {
        machine.file(&format!("{folder}/{name}"), text);
    }
    if !machine.in_made_up_system(&["/sys"]) {
        return;
    }
    let explained = machine.explain();
    assert_eq!(
        (explained.verdict(), explained.first()),
        ("software-only", "search.replaced")
    );
    assert!(
        explained.advice().ends_with("unset VK_ICD_FILENAMES"),
        "{}",
        explained.advice()
    );
    // A manifest that `VK_ICD_FILENAMES` names twice is not broken, so the finding about this variable comes first.
    machine.variable("VK_ICD_FILENAMES", format!("{soft}:{soft}"));
    assert_eq!(machine.explain().first(), "search.replaced");
    // The finding about the variable comes before the finding about a missing manifest for another word size.
    let twin = path(&machine, "data/vulkan/icd.d/soft.i686.json");
    machine.variable("VK_ICD_FILENAMES", format!("{twin}:{soft}"));
    assert_eq!(machine.explain().first(), "search.replaced");
    let library = library();
    let text = machine
        .run(&["explain", "--library", library.to_str().expect("plain")])
        .stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(
        text.lines()
            .take(4)
            .any(|line| line.contains("VK_ICD_FILENAMES is set")),
        "{text}"
    );
    machine.unset("VK_ICD_FILENAMES");
    assert_eq!(machine.explain().devices(), ["one", "soft"]);
}
