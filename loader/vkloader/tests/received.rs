//! `vkloader explain` reports the devices that the program received after all layers and filters, and the cause of each change.

mod machine;

use machine::{Explained, Machine, library, vkloader};

/// Returns a machine with two drivers, one for a graphics card and one for the processor.
fn two_drivers() -> Machine {
    let machine = Machine::new();
    machine.driver("card", "device card\ndevice.vendor 4318\ndevice.id 7\ndevice.uuid 1");
    machine.driver("soft", "device soft\ndevice.vendor 65541\ndevice.type 4\ndevice.uuid 2");
    machine
}

fn drivers(explained: &Explained) -> Vec<&str> {
    let devices = explained.report["devices"].as_array().expect("a list");
    let files = devices.iter().filter_map(|device| device["driver"].as_str());
    files.map(|path| path.rsplit('/').next().unwrap_or(path)).collect()
}

fn said(machine: &Machine, words: &[&str]) -> (Option<i32>, String) {
    let library = library();
    let output = machine.run(&[words, &["--library", library.to_str().expect("plain")]].concat());
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

#[test]
fn what_a_filter_hides_is_no_device_of_the_program() {
    let mut machine = two_drivers();
    machine.variable("VK_LOADER_VENDOR_ID_FILTER", "0x1002");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.devices()), (1, vec![]));
    assert_eq!(
        (explained.verdict(), explained.first()),
        ("nothing", "device.id-filter")
    );
    let hidden = &explained.report["hidden"][0];
    assert_eq!(
        (&hidden["by"], &hidden["by_what"]),
        (&"VK_LOADER_VENDOR_ID_FILTER".into(), &"variable".into())
    );
    assert!(
        explained.advice().contains("unset VK_LOADER_VENDOR_ID_FILTER"),
        "{}",
        explained.advice()
    );
    let (code, said) = said(&machine, &["explain", "--check", "name:soft"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("VK_LOADER_VENDOR_ID_FILTER hid it"), "{said}");
}

#[test]
fn a_filter_that_leaves_one_device() {
    let mut machine = two_drivers();
    machine.variable("VK_LOADER_VENDOR_ID_FILTER", "4318");
    let explained = machine.explain();
    assert_eq!(
        (explained.code, explained.devices(), explained.verdict()),
        (0, vec!["card"], "hardware")
    );
    assert_eq!(explained.report["hidden"][0]["name"], "soft");
}

#[test]
fn a_layer_that_drops_a_device_is_named() {
    let machine = two_drivers();
    machine.working_layer("implicit", "drops", "devices drop-first", "");
    let explained = machine.explain();
    assert_eq!(
        (explained.devices(), drivers(&explained)),
        (vec!["soft"], vec!["libmock_soft.so"])
    );
    assert_eq!((explained.code, explained.verdict()), (0, "software-only"));
    let found = explained.found("device.hidden-by-layer");
    assert_eq!(
        (&found["name"], &explained.report["hidden"][0]["by"]),
        (&"card".into(), &"VK_LAYER_drops".into())
    );
    let advice = found["advice"].as_str().expect("a text");
    assert!(advice.contains("VK_LOADER_LAYERS_DISABLE=VK_LAYER_drops"), "{advice}");
    // Applies the remedy of the report.
    let mut machine = machine;
    machine.variable("VK_LOADER_LAYERS_DISABLE", "VK_LAYER_drops");
    assert_eq!(machine.explain().devices(), ["card", "soft"]);
}

#[test]
fn a_layer_that_reorders_devices_is_named_among_several() {
    let mut machine = two_drivers();
    machine.working_layer("implicit", "calm", "", "");
    machine.working_layer("implicit", "turns", "devices reverse", "");
    machine.variable("VK_LOADER_DEVICE_SELECT", "name:card");
    let explained = machine.explain();
    assert_eq!(explained.devices(), ["soft", "card"]);
    assert_eq!(drivers(&explained), ["libmock_soft.so", "libmock_card.so"]);
    for device in explained.report["devices"].as_array().expect("a list") {
        assert_eq!(device["moved_by"], "VK_LAYER_turns", "{device:#}");
        assert!(
            device["order"]
                .as_str()
                .is_some_and(|words| words.starts_with("VK_LAYER_turns moved it"))
        );
    }
    assert_eq!(explained.found("device.moved-by-layer")["name"], "VK_LAYER_turns");
    let (_, words) = said(&machine, &["devices"]);
    let at = |word: &str| words.find(word).unwrap_or_else(|| panic!("no {word} in {words}"));
    assert!(
        at("soft\n") < at("'driver:mock_soft'") && at("'driver:mock_soft'") < at("card\n"),
        "{words}"
    );
    assert!(at("card\n") < at("'driver:mock_card'"), "{words}");
}

#[test]
fn a_program_whose_layer_drops_a_device() {
    let machine = two_drivers();
    machine.working_layer("implicit", "drops", "devices drop-first", "");
    let report = of_program(&machine);
    let names: Vec<&str> = report["devices"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|device| device["name"].as_str())
        .collect();
    assert_eq!(names, ["soft"]);
    assert_eq!(report["hidden"][0]["by"], "VK_LAYER_drops");
}

/// A layer may arrange the devices otherwise for a program that asks for Vulkan 1.0.
#[test]
fn a_program_of_vulkan_1_0_comes_with_its_own_order_of_devices() {
    let mut machine = Machine::new();
    machine.driver(
        "both",
        "device card\ndevice.uuid 1\ndevice own\ndevice.type 1\ndevice.uuid 2",
    );
    let manifest = machine.working_layer(
        "implicit",
        "turns",
        "devices reverse-old\nname VK_LAYER_MESA_device_select",
        "",
    );
    let text = std::fs::read_to_string(&manifest).expect("just written");
    let text = text.replace("VK_LAYER_turns", "VK_LAYER_MESA_device_select");
    std::fs::write(&manifest, text).expect("written");
    machine.variable("DRI_PRIME", "1");
    let names = |report: &serde_json::Value| -> Vec<String> {
        let devices = report["devices"].as_array().expect("a list");
        let names = devices.iter().filter_map(|device| device["name"].as_str());
        names.map(String::from).collect()
    };
    assert_eq!(names(&of_program(&machine)), ["card", "own"]);
    let old = of_program_with(&machine, &["--old-program"]);
    assert_eq!(names(&old), ["own", "card"]);
    assert_eq!(old["devices"][1]["moved_by"], "VK_LAYER_MESA_device_select");
    assert!(old["devices"][1]["uuid"].is_string(), "{old:#}");
    let found = old["dropped"].to_string();
    assert!(found.contains("in spite of DRI_PRIME=1"), "{found}");
}

/// Runs `vkloader explain` with the probe as the user's program, and returns the report.
fn of_program(machine: &Machine) -> serde_json::Value {
    of_program_with(machine, &[])
}

/// Runs `vkloader explain` with the probe and the options `more` as the user's program, and returns the report.
fn of_program_with(machine: &Machine, more: &[&str]) -> serde_json::Value {
    let (own, file) = (vkloader(), library());
    let program = ["explain", "--json", "--", own, "probe"];
    let program = [&program, more, &[file.to_str().expect("plain")]].concat();
    serde_json::from_slice(&machine.run(&program).stdout).expect("a report")
}

#[test]
fn a_program_whose_layer_fails_a_call() {
    for (line, code, words) in [
        (
            "fail vkEnumeratePhysicalDevices 0",
            "device.hidden-by-layer",
            "without the layer, a program can use one",
        ),
        (
            "fail vkEnumeratePhysicalDevices -4",
            "layer.call-failed",
            "VK_ERROR_DEVICE_LOST",
        ),
        (
            "fail vkCreateInstance -7",
            "layer.call-failed",
            "VK_ERROR_EXTENSION_NOT_PRESENT",
        ),
        (
            "fail vkCreateDevice -3",
            "layer.call-failed",
            "VK_ERROR_INITIALIZATION_FAILED",
        ),
    ] {
        let machine = Machine::new();
        machine.driver("good", "device one");
        machine.working_layer("implicit", "odd", line, "");
        let report = of_program(&machine);
        let first = &report["dropped"][0];
        let advice = first["advice"].as_str().unwrap_or_default();
        assert_eq!(first["code"], code, "{line}: {report:#}");
        assert!(
            advice.contains("VK_LOADER_LAYERS_DISABLE=VK_LAYER_odd"),
            "{line}: {advice}"
        );
        assert!(first["findings"].to_string().contains(words), "{line}: {first:#}");
        assert!(!report.to_string().contains("device.not-created"), "{line}");
    }
}

#[test]
fn a_driver_without_devices_is_named_where_it_is_the_only_one() {
    let machine = Machine::new();
    let manifest = machine.driver("empty", "");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.verdict()), (1, "nothing"));
    let found = explained.found("driver.no-devices");
    assert!(
        found["name"]
            .as_str()
            .is_some_and(|name| name.ends_with("libmock_empty.so")),
        "{found:#}"
    );
    assert_eq!(found["file"].as_str(), manifest.to_str());
}

#[test]
fn software_alone_is_a_verdict_of_its_own() {
    let mut machine = Machine::new();
    machine.driver("soft", "device soft\ndevice.type 4");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.verdict()), (0, "software-only"));
    let (code, words) = said(&machine, &["explain"]);
    assert_eq!(code, Some(0));
    assert!(words.starts_with("! Only software draws here (soft)"), "{words}");
    // The first paragraph of the report contains the cause and the remedy.
    machine.manifest("card", "/nowhere/libcard.so".as_ref(), "");
    let (_, broken) = said(&machine, &["explain"]);
    let head: Vec<&str> = broken.split("\n\n").take(1).collect();
    assert!(
        head[0].contains("could not open the driver's library") && head[0].contains("-> Reinstall the package"),
        "{broken}"
    );
    // Words that choose another device, or a missing layer, do not explain why the card is missing.
    for (variable, value) in [
        ("VK_LOADER_DEVICE_SELECT", "0x10de:0x2684"),
        ("DRI_PRIME", "10de:2684"),
        ("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_gone"),
    ] {
        machine.variable(variable, value);
        let explained = machine.explain();
        assert_eq!(explained.first(), "driver.not-opened", "{variable}");
        assert!(explained.codes().contains(&"variable.no-match"), "{variable}");
        machine.unset(variable);
    }
    for (condition, expected) in [("type:discrete", 1), ("type:hardware", 1), ("type:cpu", 0)] {
        assert_eq!(
            said(&machine, &["explain", "--check", condition]).0,
            Some(expected),
            "{condition}"
        );
    }
}

#[test]
fn a_device_that_cannot_be_created_is_not_usable() {
    let machine = Machine::new();
    machine.driver("bad", "device one\nfail vkCreateDevice -3");
    let explained = machine.explain();
    assert_eq!(
        (explained.code, explained.verdict(), explained.first()),
        (1, "nothing", "device.not-created")
    );
    assert!(
        explained.findings().contains("VK_ERROR_INITIALIZATION_FAILED"),
        "{}",
        explained.findings()
    );
    assert_eq!(explained.report["devices"][0]["is_usable"], false);
    let (code, _) = said(&machine, &["explain", "--check", "name:one"]);
    assert_eq!(code, Some(1));
}

#[test]
fn equal_devices_of_two_manifests_have_a_manifest_each() {
    let machine = Machine::new();
    let first = machine.driver("good", "device one");
    let copy = machine.path("libraries/libmock_good.so");
    let second = machine.manifest("again", &copy, "");
    let explained = machine.explain();
    let devices = explained.report["devices"].as_array().expect("a list");
    let mut manifests: Vec<&str> = devices
        .iter()
        .filter_map(|device| device["manifest"].as_str())
        .collect();
    manifests.sort_unstable();
    let mut expected = [first.to_str().expect("plain"), second.to_str().expect("plain")];
    expected.sort_unstable();
    assert_eq!(manifests, expected);
}

/// Mesa's layer cannot handle an empty list. Therefore, the loader returns the same error to the layer as on a machine without devices.
#[test]
fn mesas_layer_lives_where_every_device_is_hidden() {
    let manifest = "/usr/share/vulkan/implicit_layer.d/VkLayer_MESA_device_select.json";
    if !std::path::Path::new(manifest).exists() {
        return machine::skip("Mesa's layer device-select is not installed");
    }
    let mut machine = two_drivers();
    machine.variable("VK_IMPLICIT_LAYER_PATH", manifest);
    machine.variable("VK_LOADER_VISIBLE_DEVICES", "none");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.devices().len()), (1, 0));
    assert!(
        explained.codes().contains(&"device.not-visible"),
        "{:#}",
        explained.report
    );
    assert!(
        !explained.codes().contains(&"program.crashed"),
        "{:#}",
        explained.report
    );
}

/// The layer of Mesa that is installed undoes the loader's choice. Most machines have this layer.
#[test]
fn mesas_layer_undoes_what_the_loader_chose() {
    let manifest = "/usr/share/vulkan/implicit_layer.d/VkLayer_MESA_device_select.json";
    if !std::path::Path::new(manifest).exists() {
        return machine::skip("Mesa's layer device-select is not installed");
    }
    let mut machine = two_drivers();
    machine.variable("VK_IMPLICIT_LAYER_PATH", manifest);
    machine.variable("MESA_VK_DEVICE_SELECT", "10005:1!");
    machine.variable("MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE", "1");
    machine.variable("VK_LOADER_DEVICE_SELECT", "name:card");
    std::fs::create_dir_all(machine.path("none")).expect("a folder");
    machine.file("none/.profile", "#\nexport MESA_VK_DEVICE_SELECT='10005:1!'\n");
    let explained = machine.explain();
    assert_eq!(
        (explained.devices(), drivers(&explained)),
        (vec!["soft"], vec!["libmock_soft.so"])
    );
    let found = explained.found("device.hidden-by-layer");
    assert_eq!(found["name"], "card");
    assert!(found.to_string().contains("none/.profile, line 2, sets it"), "{found}");
    let advice = found["advice"].as_str().unwrap_or_default();
    let remedy = "To undo this: unset MESA_VK_DEVICE_SELECT MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE, or ";
    assert!(advice.starts_with(remedy), "{advice}");
    // A variable that is not set is not in the remedy, and the layer hides devices even with only one of the variables.
    machine.unset("MESA_VK_DEVICE_SELECT");
    // The program keeps the card, as the variable asks for, so that the finding is a side note.
    let explained = machine.explain();
    assert_eq!(explained.devices(), ["card"]);
    let found = explained.found("device.hidden-by-layer").to_string();
    assert!(
        found.contains("unset MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE, or "),
        "{found}"
    );
    machine.unset("MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE");
    assert_eq!(machine.explain().devices().len(), 2);
    // Mesa's layer prints a list of devices and ends the process. The report must not treat the printed list as the devices that the
    // program received.
    machine.variable("MESA_VK_DEVICE_SELECT", "list");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "program.exited"));
    assert_eq!(explained.report["hidden"], serde_json::json!([]));
    assert!(
        explained.findings().contains("VK_LAYER_MESA_device_select"),
        "{}",
        explained.findings()
    );
    assert!(
        explained.advice().contains("unset MESA_VK_DEVICE_SELECT"),
        "{}",
        explained.advice()
    );
}

#[test]
fn the_author_of_the_order_of_devices_is_named() {
    let mut machine = Machine::new();
    machine.driver("good", "device one\ndevice two");
    machine.variable("VK_LOADER_VISIBLE_DEVICES", "name:two, name:one");
    let order = |machine: &Machine| {
        let explained = machine.explain();
        assert_eq!(explained.devices(), ["two", "one"]);
        assert!(!explained.codes().contains(&"variable.no-match"));
        explained.report["devices"][0]["order"].clone()
    };
    assert_eq!(order(&machine), "VK_LOADER_VISIBLE_DEVICES has this order");
    let folder = machine.path("data/vulkan/loader_settings.d");
    std::fs::create_dir_all(&folder).expect("folders");
    let text = r#"{"file_format_version": "1.0.0", "settings": {"visible_devices": ["name:two", "name:one"]}}"#;
    std::fs::write(folder.join("vk_loader_settings.json"), text).expect("a settings file");
    assert_eq!(order(&machine), "visible_devices of the settings file has this order");
}
