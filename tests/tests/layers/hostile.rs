//! Tests of hostile inputs: unusual files, lack of memory, and long names, lists and paths. `manifest_text.rs` contains the tests with
//! malformed text (BI-1 to BI-55).

use std::ffi::c_char;
use std::path::{Path, PathBuf};
use std::{fs, ptr};

use loader_tests::ash::vk;
use loader_tests::vk::Pages;
use loader_tests::{Scene, call, case};

use crate::kit::{EXPLICIT, IMPLICIT, Layer, chain, list, place, put_manifest};

/// Name of the override layer.
const OVERRIDE: &str = "VK_LAYER_LUNARG_override";

/// BI-10: the loader refuses a file that has more bytes than the size that the system reports.
#[test]
fn bi_10_the_size_that_the_system_tells_is_not_believed() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        scene.folder(EXPLICIT);
        let link = scene.path(&format!("{EXPLICIT}/m.json"));
        scene.on_disk(|| loader_tests::symlink("/proc/self/status", link).expect("links can be made"));
        let outcome = scene.run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]));
        let file = scene.text_path(&format!("{EXPLICIT}/m.json"));
        outcome
            .ok()
            .logged_with("ERROR", &format!("loader_get_json: Failed to read JSON file {file}"));
    });
}

/// BI-26, LAY-215: the loader refuses a layer without a look-up function, even if the layer's library is linked with the loader. The
/// loader exports a function with the same name.
#[test]
fn bi_26_a_layer_that_is_linked_with_the_loader_does_not_lend_its_symbols() {
    /// Name of a library that the mock layer needs, and the name of a link to the loader. In the layer's file, the test replaces the first
    /// name by the second, so both names have the same length. This process has already loaded the library with the first name.
    const NEEDED: (&[u8], &[u8]) = (b"\0libgcc_s.so.1\0", b"\0libvklnk.so.1\0");
    case(|scene| {
        let bare = Layer::explicit("a")
            .hide("vkNegotiateLoaderLayerInterfaceVersion")
            .hide("vkGetInstanceProcAddr")
            .hide("vkGetDeviceProcAddr");
        place(scene, &[bare, Layer::explicit("good")]);
        let (library, link) = (
            scene.path("libraries/liblayer_a.so"),
            scene.path("libraries/libvklnk.so.1"),
        );
        scene.on_disk(|| {
            let mut bytes = fs::read(&library).expect("the library is there");
            let place = bytes.windows(NEEDED.0.len()).position(|window| window == NEEDED.0);
            let place = place.expect("the mock is linked with it");
            bytes[place..place + NEEDED.1.len()].copy_from_slice(NEEDED.1);
            fs::write(&library, bytes).expect("scratch files can be written");
            loader_tests::symlink(loader_tests::under_test(), link).expect("links can be made");
        });
        let libraries = scene.path("libraries");
        scene.env("LD_LIBRARY_PATH", libraries);
        let outcome = scene.run(|vk| {
            let refused = vk.spec().layer("VK_LAYER_a").create().err();
            assert_eq!(refused, Some(vk::Result::ERROR_LAYER_NOT_PRESENT));
            drop(vk.spec().layer("VK_LAYER_good").create().expect("vkCreateInstance"));
        });
        let library = scene.text_path("libraries/liblayer_a.so");
        outcome.ok().logged(
            "ERROR | LAYER",
            &format!("loader_create_instance_chain: Failed to find 'vkGetInstanceProcAddr' in layer \"{library}\""),
        );
        assert_eq!(chain(&outcome), ["VK_LAYER_good"]);
    });
}

/// BI-36: a meta-layer works with a thousand different components.
#[test]
fn bi_36_a_thousand_different_components_work() {
    case(|scene| {
        place(scene, &[Layer::explicit("last")]);
        let names: Vec<String> = (0..1000).map(|index| format!("VK_LAYER_n{index}")).collect();
        let missing = |name: &String| {
            let layer = Layer::explicit("n").named(name);
            layer.member("library_path", "\"/no/such/library.so\"").object()
        };
        let objects: Vec<String> = names.iter().map(missing).collect();
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        put_manifest(scene, &format!("{EXPLICIT}/many.json"), "1.2.0", &objects);
        let components: Vec<&str> = names.iter().map(String::as_str).chain(["VK_LAYER_last"]).collect();
        let meta = Layer::meta("m", &[]).member("component_layers", list(&components));
        put_manifest(scene, &format!("{EXPLICIT}/meta.json"), "1.2.0", &[&meta.object()]);
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers").len(), 1002);
            drop(vk.spec().layer("VK_LAYER_m").create().expect("vkCreateInstance"));
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_last"]);
        let told = outcome.log("INFO | LAYER");
        let failed = told.iter().filter(|text| text.ends_with("failed to load."));
        assert_eq!(failed.count(), 1000);
    });
}

/// BI-39: application keys and override paths end at the first element that is not a string.
#[test]
fn bi_39_keys_and_paths_are_read_up_to_the_first_element_that_is_no_string() {
    case(|scene| {
        let (one, two) = (scene.text_path("one"), scene.text_path("two"));
        let own = std::env::current_exe()
            .expect("a process knows its program")
            .display()
            .to_string()
            .replace('\\', r"\\");
        let keyed = |short: &str, keys: String, paths: String| {
            Layer::implicit_meta(short, &[])
                .named(OVERRIDE)
                .member("app_keys", keys)
                .member("override_paths", paths)
        };
        place(
            scene,
            &[
                keyed("late", format!("[\"/x\", null, \"{own}\"]"), list(&[&two])),
                keyed(
                    "early",
                    format!("[\"{own}\", 7]"),
                    format!("[\"{one}\", {{}}, \"{two}\"]"),
                ),
                Layer::explicit("a").folder("one"),
                Layer::explicit("b").folder("two"),
            ],
        );
        let outcome = scene.run(|vk| assert_eq!(vk.layers().expect("layers"), [OVERRIDE, "VK_LAYER_a"]));
        outcome.ok();
    });
}

/// BI-41: a pattern of a megabyte causes no error. A process can set a variable of this length in its own environment, although the
/// system's limit is lower.
#[test]
fn bi_41_a_pattern_of_a_megabyte_is_survived() {
    case(|scene| {
        place(scene, &[Layer::implicit("a"), Layer::explicit("b")]);
        let outcome = scene.run(|vk| {
            let megabyte = "x".repeat(1 << 20);
            vk.set_env(
                "VK_LOADER_LAYERS_DISABLE",
                Some(&format!("{megabyte},*{megabyte}*,VK_LAYER_b")),
            );
            vk.set_env("VK_LOADER_LAYERS_ENABLE", Some(&",".repeat(1 << 20)));
            vk.set_env("VK_LOADER_LAYERS_ALLOW", Some(&"~".repeat(1 << 20)));
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]);
            vk.set_env("VK_INSTANCE_LAYERS", Some(&format!("{megabyte}:VK_LAYER_a")));
            drop(vk.instance());
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// Memory with unreadable memory directly after its last byte.
struct AtTheEdge(Pages);

impl AtTheEdge {
    /// Creates two pages. Only the first page can be read.
    fn new() -> Self {
        let pages = Pages::new();
        pages.close_second();
        Self(pages)
    }

    /// Returns `count` times the letter x, directly before memory that cannot be read.
    fn letters(&self, count: usize) -> *const c_char {
        // SAFETY: `count` is below the size of the first page, which is writable.
        unsafe {
            let begin = self.0.begin().add(self.0.size() - count);
            ptr::write_bytes(begin, b'x', count);
            begin.cast()
        }
    }
}

/// BI-44, LAY-144, LAY-321: the loader reads at most 256 bytes of a layer name without a terminator.
#[test]
fn bi_44_a_layer_name_without_an_end_is_read_no_further_than_256_bytes() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let outcome = scene.run(|vk| {
            let edge = AtTheEdge::new();
            let name = edge.letters(256);
            let mut instance = vk::Instance::null();
            let info = vk::InstanceCreateInfo {
                enabled_layer_count: 1,
                pp_enabled_layer_names: &name,
                ..Default::default()
            };
            let result = call!(vk, PFN_vkCreateInstance(&info, ptr::null(), &mut instance));
            assert_eq!(result, vk::Result::ERROR_LAYER_NOT_PRESENT);
            let info = vk::InstanceCreateInfo {
                enabled_extension_count: 1,
                pp_enabled_extension_names: &name,
                ..Default::default()
            };
            let result = call!(vk, PFN_vkCreateInstance(&info, ptr::null(), &mut instance));
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            // The extension query reads one byte more of a layer's name than instance creation does, so this name is one byte longer.
            let mut count = 0;
            let name = edge.letters(257);
            let result = call!(
                vk,
                PFN_vkEnumerateInstanceExtensionProperties(name, &mut count, ptr::null_mut())
            );
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        });
        outcome.ok();
    });
}

/// BI-53: if a driver reports more device extensions than its array has space for, the merged list does not exceed the application's array.
#[test]
fn bi_53_a_list_that_grows_while_layers_are_merged_stays_in_its_bounds() {
    case(|scene| {
        scene
            .driver("driver")
            .line("grow", "vkEnumerateDeviceExtensionProperties 5")
            .device_with("gpu", |device| {
                device.extension("VK_KHR_swapchain").extension("VK_EXT_two")
            });
        let extensions = r#"[{"name": "VK_EXT_i"}, {"name": "VK_EXT_j"}, {"name": "VK_EXT_two"}]"#;
        Layer::implicit("i")
            .folder(IMPLICIT)
            .member("device_extensions", extensions)
            .put(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.first();
            let untouched = [0x5a as c_char; 256];
            for room in 0..8_u32 {
                let mut list = [vk::ExtensionProperties {
                    extension_name: untouched,
                    spec_version: 0,
                }; 16];
                let mut count = room;
                let result = call!(
                    instance,
                    PFN_vkEnumerateDeviceExtensionProperties(device, ptr::null(), &mut count, list.as_mut_ptr())
                );
                assert!(count <= room, "{count} of {room}");
                // If the driver reports that it filled the array, there is no space for the layer's extension.
                let fits = room >= 4 && result == vk::Result::SUCCESS;
                assert!(fits || result == vk::Result::INCOMPLETE, "{result} for {room}");
                let beyond = &list[room as usize..];
                assert!(
                    beyond.iter().all(|one| one.extension_name == untouched),
                    "written beyond {room}"
                );
            }
            drop(instance.device(device, &["VK_EXT_i", "VK_EXT_two"]));
        });
        outcome.ok();
    });
}

/// Returns a copy of this program whose path is longer than 1023 bytes.
fn far_away(scene: &Scene) -> PathBuf {
    let folder = (0..6).fold(scene.path("far"), |path, _| path.join("x".repeat(200)));
    let program = folder.join("program");
    assert!(program.as_os_str().len() > 1023);
    let own = std::env::current_exe().expect("a process knows its program");
    scene.on_disk(|| {
        fs::create_dir_all(&folder).expect("folders can be made");
        copy(&own, &program);
    });
    program
}

/// Creates a hard link to a file, or a copy if the link would be on another file system.
fn copy(from: &Path, to: &Path) {
    if fs::hard_link(from, to).is_err() {
        loader_tests::copy_program(from, to, 0o755);
    }
}

/// BI-54, LAY-171: application keys do not match a program with a very long path. All override layers remain in the list, so the loader
/// uses the first of them.
#[test]
fn bi_54_no_key_matches_a_program_whose_path_is_too_long() {
    case(|scene| {
        let program = far_away(scene);
        let key = program.display().to_string();
        place(
            scene,
            &[
                Layer::implicit_meta("first", &["VK_LAYER_a"])
                    .named(OVERRIDE)
                    .member("app_keys", "[\"/no/such/program\"]"),
                Layer::implicit_meta("second", &["VK_LAYER_b"])
                    .named(OVERRIDE)
                    .member("app_keys", list(&[&key])),
                Layer::implicit_meta("third", &["VK_LAYER_c"]).named(OVERRIDE),
                Layer::explicit("a"),
                Layer::explicit("b"),
                Layer::explicit("c"),
            ],
        );
        scene.program(program);
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}
