//! Set-ups with variables that remove drivers, devices or layers, and with words that match none of them.

use super::{Machine, Row, good, try_all};
use std::fs;

/// Installs a working driver, and sets a variable that disables it.
fn with(machine: &mut Machine, name: &str, value: &str) {
    good(machine);
    machine.variable(name, value);
}

/// Creates a row for a variable that replaces the search for drivers.
macro_rules! replaced {
    ($title:literal, $name:literal, $value:expr) => {
        Row::new($title, |machine| with(machine, $name, $value), "variable.no-match")
            .about($name)
            .remedy(concat!("unset ", $name), |machine| machine.unset($name))
    };
}

/// Creates a row for an unmatched word that hides no device.
macro_rules! unmatched {
    ($title:literal, $name:literal, $value:literal) => {
        Row::new($title, |machine| with(machine, $name, $value), "variable.no-match")
            .about($value)
            .remedy("", |machine| machine.unset($name))
            .gone()
    };
}

/// Creates a row for a filter that hides the device.
macro_rules! hidden {
    ($title:literal, $name:literal) => {
        Row::new($title, |machine| with(machine, $name, "4660"), "device.id-filter")
            .about("one")
            .remedy(concat!("unset ", $name), |machine| machine.unset($name))
    };
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "a folder in a variable has a colon in its name",
        |machine| {
            let manifest = machine.driver("good", "device one");
            fs::create_dir(machine.path("my:drivers")).expect("a folder");
            let moved = machine.path("my:drivers/good.json");
            fs::rename(manifest, &moved).expect("moved");
            machine.variable("VK_DRIVER_FILES", moved.to_str().expect("plain"));
        },
        "variable.no-match",
    )
    .remedy("A colon divides the value, so it cannot name ", |machine| {
        let moved = machine.path("good.json");
        fs::rename(machine.path("my:drivers/good.json"), &moved).expect("moved");
        machine.unset("VK_DRIVER_FILES");
        machine.variable("VK_DRIVER_FILES", moved.to_str().expect("plain"));
    }),
    Row::new(
        "a variable names a layer that is missing, and so is the driver",
        |machine| {
            machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
            machine.variable("VK_LAYER_PATH", "/nowhere");
        },
        "driver.none-installed",
    )
    .remedy("", good),
    Row::new(
        "a settings file that only selects layers, and no driver",
        |machine| {
            fs::create_dir_all(machine.path("data/vulkan/loader_settings.d")).expect("folders");
            machine.file(
                "data/vulkan/loader_settings.d/vk_loader_settings.json",
                r#"{"file_format_version": "1.0.0", "settings": {"layers": [{"name": "VK_LAYER_x", "control": "off"}]}}"#,
            );
        },
        "driver.none-installed",
    )
    .remedy("", good),
    Row::new(
        "a variable selects drivers by a part of a name",
        |machine| with(machine, "VK_LOADER_DRIVERS_SELECT", "GOOD"),
        "variable.no-match",
    )
    .about("there are: good.json")
    .remedy("VK_LOADER_DRIVERS_SELECT='*GOOD*'", |machine| {
        machine.variable("VK_LOADER_DRIVERS_SELECT", "*GOOD*");
    }),
    Row::new(
        "a variable names a layer of old versions",
        |machine| {
            with(machine, "VK_INSTANCE_LAYERS", "VK_LAYER_LUNARG_standard_validation");
            machine.working_layer("explicit", "KHRONOS_validation", "", "");
        },
        "variable.no-match",
    )
    .about("VK_INSTANCE_LAYERS")
    .remedy("VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation", |machine| {
        machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
    })
    .gone(),
    replaced!(
        "an old variable names a file that is gone",
        "VK_ICD_FILENAMES",
        "/nowhere/old.json"
    ),
    replaced!(
        "a variable names a file that is gone",
        "VK_DRIVER_FILES",
        "/nowhere/new.json"
    ),
    Row::new(
        "a variable names a folder without manifests",
        |machine| {
            let folder = machine.path("empty");
            fs::create_dir(&folder).expect("a folder");
            with(machine, "VK_DRIVER_FILES", folder.to_str().expect("plain"));
        },
        "variable.no-match",
    )
    .about("VK_DRIVER_FILES")
    .remedy("unset VK_DRIVER_FILES", |machine| machine.unset("VK_DRIVER_FILES")),
    Row::new(
        "a variable that replaces the search is empty",
        |machine| with(machine, "VK_DRIVER_FILES", ""),
        "search.replaced",
    )
    .about("VK_DRIVER_FILES is set, but names no manifest")
    .remedy("unset VK_DRIVER_FILES", |machine| machine.unset("VK_DRIVER_FILES")),
    Row::new(
        "a variable selects drivers that are not installed",
        |machine| with(machine, "VK_LOADER_DRIVERS_SELECT", "nvidia*"),
        "variable.no-match",
    )
    .about("nvidia*")
    .remedy("unset VK_LOADER_DRIVERS_SELECT", |machine| {
        machine.unset("VK_LOADER_DRIVERS_SELECT")
    }),
    Row::new(
        "a variable disables the driver",
        |machine| with(machine, "VK_LOADER_DRIVERS_DISABLE", "*GOOD*"),
        "driver-manifest.disabled",
    )
    .about("*GOOD* in VK_LOADER_DRIVERS_DISABLE")
    .remedy("unset VK_LOADER_DRIVERS_DISABLE", |machine| {
        machine.unset("VK_LOADER_DRIVERS_DISABLE")
    }),
    Row::new(
        "a variable disables all drivers",
        |machine| with(machine, "VK_LOADER_DRIVERS_DISABLE", "*"),
        "driver-manifest.disabled",
    )
    .about("good.json")
    .remedy("unset VK_LOADER_DRIVERS_DISABLE", |machine| {
        machine.unset("VK_LOADER_DRIVERS_DISABLE")
    }),
    hidden!("a variable hides the vendor", "VK_LOADER_VENDOR_ID_FILTER"),
    hidden!("a variable hides the device", "VK_LOADER_DEVICE_ID_FILTER"),
    // A second variable names the driver whose device the first variable hides.
    Row::new(
        "a variable hides the device of the driver that another one names",
        |machine| {
            with(machine, "VK_LOADER_VENDOR_ID_FILTER", "4660");
            let manifest = machine.driver("good", "device one");
            machine.variable("VK_DRIVER_FILES", manifest.to_str().expect("plain"));
        },
        "device.id-filter",
    )
    .about("one")
    .remedy("unset VK_LOADER_VENDOR_ID_FILTER", |machine| {
        machine.unset("VK_LOADER_VENDOR_ID_FILTER")
    }),
    Row::new(
        "a variable shows no device",
        |machine| with(machine, "VK_LOADER_VISIBLE_DEVICES", "none"),
        "device.not-visible",
    )
    .about("one")
    .remedy("unset VK_LOADER_VISIBLE_DEVICES", |machine| {
        machine.unset("VK_LOADER_VISIBLE_DEVICES")
    }),
    hidden!("a variable hides the driver's devices", "VK_LOADER_DRIVER_ID_FILTER"),
    unmatched!(
        "a layer's name is misspelt",
        "VK_INSTANCE_LAYERS",
        "VK_LAYER_KHRONOS_validaton"
    ),
    unmatched!(
        "a pattern of layers is misspelt",
        "VK_LOADER_LAYERS_ENABLE",
        "*validaton*"
    ),
    unmatched!(
        "a type of devices is misspelt",
        "VK_LOADER_DEVICE_SELECT",
        "type:discret"
    ),
    unmatched!("numbers of a device are wrong", "VK_LOADER_DEVICE_SELECT", "dead:beef"),
    unmatched!(
        "a further driver is not there",
        "VK_ADD_DRIVER_FILES",
        "/nowhere/driver.json"
    ),
    unmatched!("a disabled driver is not there", "VK_LOADER_DRIVERS_DISABLE", "radeon*"),
    unmatched!("a folder of layers is not there", "VK_LAYER_PATH", "/nowhere/layers"),
    unmatched!(
        "a further folder of layers is not there",
        "VK_ADD_LAYER_PATH",
        "/nowhere/layers"
    ),
    unmatched!(
        "a folder of implicit layers is not there",
        "VK_IMPLICIT_LAYER_PATH",
        "/nowhere/implicit"
    ),
    unmatched!(
        "a further folder of implicit layers is not there",
        "VK_ADD_IMPLICIT_LAYER_PATH",
        "/nowhere/implicit"
    ),
    Row::new(
        "a variable names a manifest whose library is gone",
        |machine| {
            let library = machine.path("build/libvulkan_own.so");
            let manifest = machine.manifest("own", &library, "");
            fs::create_dir(machine.path("build")).expect("a folder");
            let moved = machine.path("build/own.json");
            fs::rename(manifest, &moved).expect("moved");
            with(machine, "VK_ICD_FILENAMES", moved.to_str().expect("plain"));
        },
        "driver.not-opened",
    )
    .about("build/libvulkan_own.so is not there")
    .remedy("unset VK_ICD_FILENAMES", |machine| machine.unset("VK_ICD_FILENAMES")),
    Row::new(
        "a variable names another folder for data",
        |machine| with(machine, "XDG_DATA_HOME", "/nowhere/data"),
        "driver.none-installed",
    )
    .about("/nowhere/data/vulkan/icd.d")
    .remedy("", |machine| machine.unset("XDG_DATA_HOME")),
];

/// A variable asks for a layer, and the variable with the folder of layers leads nowhere. The folder comes first.
#[test]
fn the_folder_of_layers_comes_before_the_layer_that_a_variable_asks_for() {
    let mut machine = Machine::new();
    good(&mut machine);
    fs::create_dir(machine.path("mylayer")).expect("a folder");
    machine.file("mylayer/other.json", "{}");
    let folder = machine.path("mylayers").display().to_string();
    machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_acme");
    for name in ["VK_ADD_LAYER_PATH", "VK_ADD_IMPLICIT_LAYER_PATH"] {
        machine.variable(name, &folder);
        let explained = machine.explain();
        let first = &explained.report["dropped"][0];
        assert_eq!(first["name"], name, "{:#}", explained.report["dropped"]);
        let expected = format!("Name the folder that exists: {name}={}", folder.trim_end_matches('s'));
        assert!(explained.advice().starts_with(&expected), "{first:#}");
        machine.unset(name);
    }
}

#[test]
fn each_cause_in_a_variable_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}
