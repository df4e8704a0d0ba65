//! Tests of the order of sources, on a simulated system.

use super::super::values::{REG_MULTI_SZ, REG_SZ};
use super::*;

/// A simulated system; its members are the answers to queries.
#[derive(Default)]
struct Fake {
    elevated: bool,
    wow64: bool,
    package: Option<&'static str>,
    adapters: Vec<(&'static str, Option<(u32, &'static str)>)>,
    devices: Vec<(&'static str, Option<(u32, &'static str)>)>,
    restarting: Vec<&'static str>,
    unknown: Vec<&'static str>,
    keys: Vec<(Hive, &'static str, &'static str)>,
    vendors: Option<Vec<u32>>,
    /// Names of the values that were queried.
    asked: core::cell::RefCell<Vec<String>>,
}

impl Fake {
    fn answer(&self, value: &str, from: &[(&'static str, Option<(u32, &'static str)>)], take: &mut TakeAnswer<'_>) {
        self.asked.borrow_mut().push(value.to_owned());
        for (device, held) in from {
            match held {
                Some((kind, text)) => {
                    let data: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                    take(device.as_bytes(), Answer::Value(*kind, &data));
                }
                None => take(device.as_bytes(), Answer::Missing),
            }
        }
    }
}

impl System for Fake {
    fn is_elevated(&self) -> bool {
        self.elevated
    }

    fn is_wow64(&self) -> bool {
        self.wow64
    }

    fn package(&self, family: &str, take: &mut dyn FnMut(&[u8])) {
        assert_eq!(family, "Microsoft.D3DMappingLayers_8wekyb3d8bbwe");
        if let Some(folder) = self.package {
            take(folder.as_bytes());
        }
    }

    fn each_adapter(&self, value: &str, take: &mut TakeAnswer<'_>) {
        self.answer(value, &self.adapters, take);
    }

    fn each_device(&self, value: &str, take: &mut TakeAnswer<'_>) {
        for device in &self.restarting {
            take(device.as_bytes(), Answer::NeedsRestart);
        }
        for device in &self.unknown {
            take(device.as_bytes(), Answer::NoStatus);
        }
        self.answer(value, &self.devices, take);
    }

    fn each_zero(&self, hive: Hive, key: &str, take: &mut dyn FnMut(&[u8])) {
        self.each_name(hive, key, take);
    }

    fn each_name(&self, hive: Hive, key: &str, take: &mut dyn FnMut(&[u8])) {
        for (held, name, value) in &self.keys {
            if *held == hive && *name == key {
                take(value.as_bytes());
            }
        }
    }

    fn vendors(&self) -> Option<Vec<u32>> {
        self.vendors.clone()
    }
}

/// Returns the events of a list as short texts.
fn told(list: List, system: &Fake) -> Vec<String> {
    let mut told = Vec::new();
    each(list, system, &mut |event| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        told.push(match event {
            Event::Package(folder) => format!("package {}", text(folder)),
            Event::Listed(path, key) => format!("{} of {key}", text(path)),
            Event::Unserved(path, _) => format!("unserved {}", text(path)),
            Event::NoAdapters(_) => "no adapters".to_owned(),
            Event::Empty(key) => format!("empty {key}"),
            Event::NoValue(key) => format!("no {key}"),
            Event::WrongType(key, kind) => format!("type {kind} {key}"),
            Event::NeedsRestart(device) => format!("restart {}", text(device)),
            Event::NoStatus(device) => format!("no status {}", text(device)),
            Event::Nothing => "nothing".to_owned(),
        });
    });
    told
}

const DRIVERS: &str = r"SOFTWARE\Khronos\Vulkan\Drivers";
const IMPLICIT: &str = r"SOFTWARE\Khronos\Vulkan\ImplicitLayers";
const EXPLICIT: &str = r"SOFTWARE\Khronos\Vulkan\ExplicitLayers";

fn all(key: &'static str) -> Fake {
    Fake {
        package: Some("P:"),
        adapters: vec![("adapter", Some((REG_MULTI_SZ, "a.json\0b.json\0\0")))],
        devices: vec![("device", Some((REG_SZ, "d.json\0")))],
        keys: vec![(Hive::User, key, "user.json"), (Hive::Machine, key, "machine.json")],
        vendors: Some(vec![]),
        ..Fake::default()
    }
}

#[test]
fn drv_35_drv_39_drivers_come_from_packages_adapters_and_the_machine() {
    let expected = [
        "package P:",
        r"a.json of adapter\VulkanDriverName",
        r"b.json of adapter\VulkanDriverName",
        r"machine.json of HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\Drivers",
    ];
    assert_eq!(told(List::Drivers, &all(DRIVERS)), expected);
}

#[test]
fn lay_45_lay_46_layers_come_from_the_user_too_and_only_implicit_ones_from_packages() {
    let implicit = [
        "package P:",
        r"a.json of adapter\VulkanImplicitLayers",
        r"b.json of adapter\VulkanImplicitLayers",
        r"machine.json of HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\ImplicitLayers",
        r"user.json of HKEY_CURRENT_USER\SOFTWARE\Khronos\Vulkan\ImplicitLayers",
    ];
    assert_eq!(told(List::ImplicitLayers, &all(IMPLICIT)), implicit);
    let explicit = [
        r"a.json of adapter\VulkanExplicitLayers",
        r"b.json of adapter\VulkanExplicitLayers",
        r"machine.json of HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\ExplicitLayers",
        r"user.json of HKEY_CURRENT_USER\SOFTWARE\Khronos\Vulkan\ExplicitLayers",
    ];
    assert_eq!(told(List::ExplicitLayers, &all(EXPLICIT)), explicit);
}

#[test]
fn lay_47_nothing_of_the_user_counts_when_elevated() {
    let system = Fake {
        elevated: true,
        ..all(IMPLICIT)
    };
    assert!(
        !told(List::ImplicitLayers, &system)
            .concat()
            .contains("HKEY_CURRENT_USER")
    );
}

#[test]
fn drv_37_lay_49_devices_are_asked_when_adapters_list_nothing() {
    for adapters in [
        vec![],
        vec![("adapter", None)],
        vec![("adapter", Some((REG_SZ, "")))],
        vec![("adapter", Some((4, "x.json\0")))],
    ] {
        let system = Fake {
            adapters,
            restarting: vec!["other"],
            unknown: vec!["third"],
            ..all(IMPLICIT)
        };
        let told = told(List::ImplicitLayers, &system);
        let at = |wanted: &str| told.iter().position(|line| line == wanted);
        assert!(
            at("restart other") < at(r"d.json of device\VulkanImplicitLayers"),
            "{told:?}"
        );
        assert!(at("no status third").is_some(), "{told:?}");
        assert!(at(r"d.json of device\VulkanImplicitLayers").is_some(), "{told:?}");
    }
    assert_eq!(
        told(List::Drivers, &all(DRIVERS))
            .iter()
            .filter(|line| line.contains("device"))
            .count(),
        0
    );
}

#[test]
fn drv_37_lay_49_processes_of_the_other_width_have_values_of_their_own() {
    for (list, plain) in [
        (List::Drivers, "VulkanDriverName"),
        (List::ImplicitLayers, "VulkanImplicitLayers"),
        (List::ExplicitLayers, "VulkanExplicitLayers"),
    ] {
        for wow64 in [false, true] {
            let system = Fake {
                wow64,
                ..Fake::default()
            };
            told(list, &system);
            let wanted = if wow64 { format!("{plain}Wow") } else { plain.to_owned() };
            assert_eq!(*system.asked.borrow(), [wanted.clone(), wanted]);
        }
    }
}

#[test]
fn drv_38_lay_50_wrong_types_and_missing_values_are_told() {
    let system = Fake {
        adapters: vec![
            ("one", None),
            ("two", Some((3, "x\0"))),
            ("three", Some((REG_SZ, "c.json"))),
        ],
        vendors: Some(vec![]),
        ..Fake::default()
    };
    let expected = [
        r"no one\VulkanDriverName",
        r"type 3 two\VulkanDriverName",
        r"c.json of three\VulkanDriverName",
        r"empty HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\Drivers",
    ];
    assert_eq!(told(List::Drivers, &system), expected);
}

#[test]
fn drv_40_known_vendors_need_an_adapter() {
    let ending = VENDOR_ENDING;
    let keys = ["igvk", "NV-VK", "amd-vulkan", "amdvlk", "other", "my-igvk"]
        .map(|name| (Hive::Machine, DRIVERS, &*format!(r"C:\x\{name}{ending}").leak()));
    let system = |vendors| Fake {
        keys: keys.to_vec(),
        vendors,
        ..Fake::default()
    };
    let kept = |vendors| {
        let mut kept = Vec::new();
        each(List::Drivers, &system(vendors), &mut |event| {
            if let Event::Listed(path, _) = event {
                kept.push(String::from_utf8(file_name(path).to_vec()).unwrap().replace(ending, ""));
            }
        });
        kept
    };
    assert_eq!(kept(Some(vec![0x8086])), ["igvk", "other", "my-igvk"]);
    assert_eq!(
        kept(Some(vec![0x10DE, 0x1002])),
        ["NV-VK", "amd-vulkan", "amdvlk", "other", "my-igvk"]
    );
    assert_eq!(kept(Some(vec![])), ["other", "my-igvk"]);
    assert_eq!(kept(None), [""; 0]);
    let lines = told(List::Drivers, &system(None));
    assert_eq!(lines.iter().filter(|line| *line == "no adapters").count(), 1);
}

#[test]
fn drv_40_only_the_software_key_of_drivers_is_filtered() {
    let name: &'static str = format!("igvk{VENDOR_ENDING}").leak();
    let system = Fake {
        adapters: vec![("adapter", Some((REG_SZ, name)))],
        ..Fake::default()
    };
    assert!(told(List::Drivers, &system)[0].starts_with("igvk"));
    let system = Fake {
        keys: vec![(Hive::Machine, IMPLICIT, name)],
        ..Fake::default()
    };
    assert!(told(List::ImplicitLayers, &system)[0].starts_with("igvk"));
}

#[test]
fn drv_40_the_other_width_is_unknown() {
    assert_eq!(vendor_of(br"C:\igvk64.json", "64.json"), Some(0x8086));
    assert_eq!(vendor_of(br"C:\igvk64.json", "32.json"), None);
    assert_eq!(vendor_of(br"C:/x\y/AMDVLK32.JSON", "32.json"), Some(0x1002));
    assert_eq!(vendor_of(b"n", "64.json"), None);
}

#[test]
fn drv_41_lay_52_that_nothing_is_listed_is_told() {
    let expected = [r"empty HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\Drivers", "nothing"];
    assert_eq!(told(List::Drivers, &Fake::default()), expected);
    let told = told(List::ExplicitLayers, &Fake::default());
    let expected = [
        r"empty HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\ExplicitLayers",
        r"empty HKEY_CURRENT_USER\SOFTWARE\Khronos\Vulkan\ExplicitLayers",
        "nothing",
    ];
    assert_eq!(told, expected);
}

#[test]
fn app_242_the_first_settings_file_of_each_key_counts() {
    const KEY: &str = r"SOFTWARE\Khronos\Vulkan\LoaderSettings";
    let keys = vec![
        (Hive::Machine, KEY, r"C:\m\vk_loader_settings.json"),
        (Hive::User, KEY, r"C:\u\other.json"),
        (Hive::User, KEY, r"C:\u\my_vk_loader_settings.json"),
        (Hive::User, KEY, r"C:\u\vk_loader_settings.json"),
        (Hive::User, KEY, r"C:\v\vk_loader_settings.json"),
    ];
    for elevated in [false, true] {
        let system = Fake {
            keys: keys.clone(),
            elevated,
            ..Fake::default()
        };
        let mut found = Vec::new();
        each_settings_file(&system, &mut |path| {
            found.push(String::from_utf8(path.to_vec()).unwrap())
        });
        let expected = [r"C:\u\vk_loader_settings.json", r"C:\m\vk_loader_settings.json"];
        assert_eq!(found, expected[usize::from(elevated)..]);
    }
}
