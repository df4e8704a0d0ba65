//! Tests of every variable of the loader's table, in a process with elevated privileges and in a process without them (APP-211, APP-285).

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, Vk, case};
use promises::variable::{Row, TABLE, Trust};

/// An instance extension that only a driver knows.
const ODD: &str = "VK_ODD_extension";
/// Names of the driver's devices, in sorted order.
const SORTED: &str = "fast,slow";

/// Effect that shows that a variable is used.
enum Trace {
    /// The log names the value.
    Value,
    /// The log contains this text.
    Log(&'static str),
    /// The devices are listed in this order.
    Devices(&'static str),
    /// The unknown extension can be enabled.
    Extension,
    /// The test can see no effect. The process finds neither drivers nor layers in its folders, or the variable has no effect on this
    /// system.
    Nothing,
}

use Trace::{Devices, Extension, Log, Nothing, Value};

/// Effect of the variables for the driver service, which the loader uses on Linux only.
const SERVICE: Trace = if cfg!(target_os = "linux") { Value } else { Nothing };

/// All variables, each with a value and its effect. In a value, `@` means the scratch folder.
const VALUES: [(&str, &str, Trace); 35] = [
    ("VK_DRIVER_FILES", "@/marked_d.json", Value),
    ("VK_ICD_FILENAMES", "@/marked_i.json", Value),
    ("VK_ADD_DRIVER_FILES", "@/marked_a.json", Value),
    ("VK_LOADER_SERVICE_SOCKET", "@/marked_socket", SERVICE),
    ("VK_LAYER_PATH", "@/marked_layers", Value),
    ("VK_ADD_LAYER_PATH", "@/marked_more", Value),
    ("VK_IMPLICIT_LAYER_PATH", "@/marked_implicit", Value),
    ("VK_ADD_IMPLICIT_LAYER_PATH", "@/marked_added", Value),
    ("VK_INSTANCE_LAYERS", "VK_LAYER_marked_nobody", Value),
    ("VK_LOADER_LAYERS_ENABLE", "VK_LAYER_marked", Nothing),
    ("VK_LOADER_LAYERS_DISABLE", "VK_LAYER_marked", Nothing),
    ("VK_LOADER_LAYERS_ALLOW", "VK_LAYER_marked", Nothing),
    (
        "VK_LOADER_LAYERS_ORDER",
        "VK_LAYER_marked_nobody",
        Log("it puts nothing above or below: VK_LOADER_LAYERS_ORDER (VK_LAYER_marked_nobody)"),
    ),
    ("VK_LOADER_DRIVERS_SELECT", "marked_select", Nothing),
    ("VK_LOADER_DRIVERS_DISABLE", "marked_disable", Nothing),
    ("VK_LOADER_DEBUG", "all", Log("Vulkan Loader Version")),
    ("VK_LOADER_TRACE", "@/marked_folder/trace", Value),
    ("VK_LOADER_DEVICE_SELECT", "1:2", Devices("slow,fast")),
    ("VK_LOADER_VISIBLE_DEVICES", "name:fast", Devices("fast")),
    ("DRI_PRIME", "1:2", Devices("slow,fast")),
    ("VK_LOADER_DISABLE_SELECT", "1", Devices("slow,fast")),
    (
        "VK_LOADER_CATALOGUE",
        "off",
        Log("The driver catalogue is switched off"),
    ),
    (
        "VK_LOADER_DRIVER_POLICY",
        "keep-open",
        Log("Driver policy keep-open is on"),
    ),
    ("VK_LOADER_DISABLE_INST_EXT_FILTER", "1", Extension),
    (
        "VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING",
        "1",
        Log("library unloading is disabled"),
    ),
    ("VK_LOADER_DEVICE_ID_FILTER", "3", Devices("fast")),
    ("VK_LOADER_VENDOR_ID_FILTER", "77", Devices("")),
    ("VK_LOADER_DRIVER_ID_FILTER", "77", Devices("")),
    ("VK_LOADER_SEARCH_ONLY_IN_BUNDLE", "marked", Nothing),
    ("XDG_CONFIG_HOME", "@/marked_config_home", Value),
    ("XDG_CACHE_HOME", "@/marked_cache_home", Nothing),
    ("XDG_CONFIG_DIRS", "@/marked_config_dirs", Value),
    ("XDG_DATA_HOME", "@/marked_data_home", Value),
    ("XDG_DATA_DIRS", "@/marked_data_dirs", Value),
    ("HOME", "@/marked_home", Value),
];

/// Returns names and trust classes of the loader's own table.
fn table() -> Vec<(&'static str, bool)> {
    let row = |row: &Row| (row.name, row.trust == Trust::Secure);
    TABLE.iter().map(row).collect()
}

/// Calls all queries of an application that passes a direct driver.
fn look(vk: &Vk) {
    let infos = [vk::DirectDriverLoadingInfoLUNARG {
        pfn_get_instance_proc_addr: vk.direct_driver("direct"),
        ..Default::default()
    }];
    let list = |mode| vk::DirectDriverLoadingListLUNARG::default().mode(mode).drivers(&infos);
    let exclusive = list(vk::DirectDriverLoadingModeLUNARG::EXCLUSIVE);
    let extensions = ["VK_LUNARG_direct_driver_loading", ODD];
    let spec = vk.spec().api("1.1").next(&exclusive);
    let instance = spec.extensions(&extensions[..1]).create().expect("vkCreateInstance");
    let (_, devices) = instance.some_devices(4);
    let names: Vec<String> = devices.iter().map(|&device| instance.name_of(device)).collect();
    vk.say("devices", names.join(","));
    let spec = vk.spec().next(&exclusive).extensions(&extensions);
    vk.say("extension", spec.create().is_ok());
    // This query also searches for layers and for other drivers.
    vk.extensions().expect("the query succeeds");
    vk.layers().expect("the query succeeds");
}

fn run(scene: &mut Scene, (name, value, _): &(&str, &str, Trace)) -> Outcome {
    let value = value.replace('@', &scene.text_path(""));
    scene.env("VK_LOADER_DEBUG", "all");
    if *name == "VK_LOADER_DEBUG" {
        scene.unset(name);
    }
    let outcome_of = |scene: &mut Scene| {
        let outcome = scene.run(look);
        outcome.ok();
        outcome
    };
    if *name == "HOME" {
        scene.unset("XDG_CONFIG_HOME").unset("XDG_DATA_HOME");
    }
    scene.env(name, value);
    let outcome = outcome_of(scene);
    scene.unset(name);
    outcome
}

/// Returns `true` if the variable had the expected effect.
fn counts((_, value, trace): &(&str, &str, Trace), outcome: &Outcome) -> bool {
    match trace {
        Value => outcome.stderr.contains(value.trim_start_matches("@/")),
        Log(text) => outcome.stderr.contains(text),
        Devices(names) => outcome.said("devices") == [*names],
        Extension => outcome.said("extension") == ["true"],
        Nothing => false,
    }
}

fn scene_with_driver(scene: &mut Scene) {
    scene
        .driver("direct")
        .unlisted()
        .extension(ODD)
        .device_with("slow", |device| device.kind(4).ids(1, 2))
        .device_with("fast", |device| device.ids(1, 3));
    // Mesa's device-select layer is in a system folder, and would change the order.
    scene.unset("VK_DRIVER_FILES").env("NODEVICE_SELECT", "1").limit(60);
}

/// APP-211: in a process without elevated privileges, every variable has its effect. The next test shows the effect of privileges.
#[test]
fn app_211_every_variable_counts_without_privileges() {
    case(|scene| {
        scene_with_driver(scene);
        for row in &VALUES {
            let outcome = run(scene, row);
            let expected = !matches!(row.2, Nothing);
            assert_eq!(counts(row, &outcome), expected, "{}\n{}", row.0, outcome.all());
        }
    });
}

/// APP-211, APP-285, APP-230: a set-user-ID process ignores the variables whose trust class in the loader's table is `Secure`, and logs
/// none of their values. The other variables have their effects.
#[test]
fn app_211_only_plain_variables_count_in_an_elevated_process() {
    case(|scene| {
        scene_with_driver(scene);
        scene.elevated();
        let table = table();
        let names: Vec<&str> = VALUES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, table.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for (row, (name, secure)) in VALUES.iter().zip(table) {
            let outcome = run(scene, row);
            assert_eq!(counts(row, &outcome), !secure, "{name}\n{}", outcome.all());
            if secure {
                outcome.not_logged("marked");
                assert_eq!(outcome.said("devices"), [SORTED], "{name}");
            }
        }
    });
}
