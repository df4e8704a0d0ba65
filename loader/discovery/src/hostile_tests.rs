//! Tests in which the same hostile text is the settings file, a layer manifest and a driver manifest (APP-249, BI-1 to BI-7). The loader
//! must find the valid manifests next to these files, no matter what the text contains.

use super::activation::{self, Request};
use super::drivers::DriverScan;
use super::layers::{Extent, LayerScan};
use crate::env::{Environment, Fixed};
use crate::journal::Journal;
use crate::journal::testing::Lines;
use crate::manifest::DriverManifest;
use crate::search::Search;
use crate::settings::load_for;
use crate::text::scratch::Scratch;

const DRIVER: &str = r#"{"file_format_version":"1.0.1","ICD":{"library_path":"./d.so","api_version":"1.3.0"}}"#;
const LAYER: &str = r#"{"file_format_version":"1.2.1","layers":[{"name":"VK_LAYER_good","type":"GLOBAL",
    "api_version":"1.1.0","implementation_version":"1","description":"","library_path":"./l.so",
    "disable_environment":{"OFF":"1"},"enable_environment":{"ON":"1"},"functions":{"vkGetInstanceProcAddr":"x"},
    "instance_extensions":[{"name":"VK_EXT_a","spec_version":"1"}],"device_extensions":[{"name":"VK_EXT_b",
    "entrypoints":["vkB"]}]},{"name":"VK_LAYER_meta","type":"GLOBAL","api_version":"1.1.0",
    "implementation_version":"1","description":"","component_layers":["VK_LAYER_good","VK_LAYER_meta"],
    "disable_environment":{"OFF_META":"1"}}]}"#;
const SETTINGS: &str = r#"{"file_format_version":"1.0.0","settings_array":[{"stderr_log":["all"],"layers":[
    {"name":"VK_LAYER_good","path":"/x.json","control":"on"},{"control":"unordered_layer_location"}],
    "additional_drivers":[{"path":"/d.json"}],"device_configurations":[{"deviceUUID":[1],"driverVersion":1e3}]}]}"#;

struct World {
    scratch: Scratch,
    variables: Fixed,
}

impl World {
    fn create() -> Self {
        let scratch = Scratch::create();
        let place = |name: &str| scratch.folder(name).to_string();
        let variables = Fixed::new(&[
            ("VK_DRIVER_FILES", place("drivers")),
            ("VK_IMPLICIT_LAYER_PATH", place("implicit")),
            ("VK_LAYER_PATH", place("explicit")),
            ("XDG_CONFIG_HOME", place("config")),
            ("XDG_CONFIG_DIRS", place("empty")),
            ("XDG_DATA_DIRS", place("empty")),
        ]);
        scratch.file("drivers/z.json", DRIVER.as_bytes());
        scratch.file("explicit/z.json", LAYER.replace("VK_LAYER_", "VK_LAYER_z").as_bytes());
        Self { scratch, variables }
    }

    /// Writes the text to a driver manifest, two layer manifests and the settings file, and runs the searches that `vkCreateInstance` would
    /// run.
    fn survives(&self, text: &[u8]) {
        let scratch = &self.scratch;
        for place in [
            "drivers/a",
            "implicit/a",
            "explicit/a",
            "config/vulkan/loader_settings.d/vk_loader_settings",
        ] {
            scratch.file(&format!("{place}.json"), text);
        }
        let environment = Environment::new(&self.variables);
        let search = Search::new(&environment);
        let lines = Lines::default();
        let mut journal = Journal::new(&lines);
        let settings = load_for(&search, &None.into(), &mut journal).unwrap();
        let drivers = DriverScan {
            search: &search,
            settings: None,
            with_portability: true,
        };
        let mut good = false;
        let open = |driver: DriverManifest, _: &mut Journal<'_>| {
            good |= driver.path.ends_with(b"z.json");
            Ok(())
        };
        let listing = drivers.list(&mut journal).unwrap();
        drivers.run(&listing, &mut journal, open).unwrap();
        assert!(good);
        for settings in [None, settings.as_ref()] {
            let scan = LayerScan {
                search: &search,
                settings,
                executable: &None.into(),
            };
            let list = scan.run(Extent::All, &mut journal).unwrap();
            assert!(
                settings.is_some() || list.find(b"VK_LAYER_zgood").is_some(),
                "{}",
                text.escape_ascii()
            );
            let request = Request {
                list: &list,
                environment: &environment,
                application: &[b"VK_LAYER_good", b"VK_LAYER_meta"],
            };
            activation::activate(&request, &journal).unwrap();
        }
    }
}

#[test]
fn app_249_hostile_texts_in_all_places() {
    let world = World::create();
    let texts: &[&[u8]] = &[
        b"",
        b"abc",
        b"\0\0\0",
        &b"[".repeat(100_000),
        &[b"[".repeat(100_000), b"]".repeat(100_000)].concat(),
        &b"{\"layers\":[".repeat(100_000),
        b"{\"\0\x01\x80\xFF\":\"\0\x01\x80\xFF\",\"file_format_version\":\"\0\"}",
        b"{\"file_format_version\":\"\\u84\"}",
        b"{\"file_format_version\":\"\\uD800\"}",
        b"{\"file_format_version\":\"",
        b"{\"a\":18446744073709551616e-39065906811251e}",
        b"{\"file_format_version\":2e1701411834604692317}",
    ];
    for text in texts {
        world.survives(text);
    }
    for version in ["-2.1", "1..5", "1.-130057", "D", "5.9223372036854775807.--2"] {
        for sample in [DRIVER, LAYER, SETTINGS] {
            let text = sample.replace("\"1.", &format!("\"{version}"));
            world.survives(text.as_bytes());
        }
    }
}

#[test]
fn app_249_mutated_files() {
    let world = World::create();
    let samples = [DRIVER, LAYER, SETTINGS];
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(bound).unwrap()).unwrap()
    };
    let odd: [&[u8]; 10] = [b"\"", b"{", b"]", b"\\", b"\0", b"null", b"[]", b"1e9", b"\xFF", b","];
    for round in 0..400 {
        let mut text = samples[round % samples.len()].as_bytes().to_vec();
        for _ in 0..=next(4) {
            let at = next(text.len());
            let until = (at + next(12)).min(text.len());
            let replacement = odd[next(odd.len())];
            text.splice(at..until, replacement.iter().copied());
        }
        world.survives(&text);
    }
}
