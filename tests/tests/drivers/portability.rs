//! Tests of portability drivers (DRV-96 to DRV-101).

use loader_tests::ash::vk;
use loader_tests::{Scene, case};

const EXTENSION: &str = "VK_KHR_portability_enumeration";
const FLAG: u32 = 1;
const FOUND: &str = "vkCreateInstance: Found drivers that contain devices which support the portability subset, but ";

fn portable(scene: &mut Scene, name: &str) {
    scene
        .driver(name)
        .device(name)
        .extension("VK_KHR_surface")
        .manifest_members("\"is_portability_driver\": true");
}

/// DRV-96: the loader always lists the extension for portability enumeration.
#[test]
fn drv_096_the_extension_is_always_there() {
    case(|scene| {
        scene
            .run(|vk| assert!(vk.extensions().expect("the query succeeds").contains(&EXTENSION.into())))
            .ok();
    });
}

/// DRV-97, APP-86: portability drivers are used only with both the create flag and the extension for portability enumeration.
#[test]
fn drv_097_flag_and_extension_together_enable_it() {
    case(|scene| {
        portable(scene, "p");
        scene.driver("a").device("a");
        let outcome = scene.run(|vk| {
            let instance = vk
                .spec()
                .flags(FLAG)
                .extensions(&[EXTENSION])
                .create()
                .expect("vkCreateInstance");
            assert_eq!(instance.device_names(), ["a", "p"]);
        });
        outcome.ok().logged(
            "INFO",
            "Portability enumeration bit was set, enumerating portability drivers.",
        );
    });
}

/// DRV-97, DRV-98: if the application does not request portability drivers, the library of a portability driver is not opened. If another
/// driver is usable, no message mentions the portability driver.
#[test]
fn drv_098_portability_drivers_are_otherwise_skipped_unopened() {
    case(|scene| {
        portable(scene, "p");
        scene.driver("a").device("a");
        for (flags, extensions) in [(0, &[][..]), (FLAG, &[]), (0, &[EXTENSION])] {
            let outcome = scene.run(|vk| {
                let instance = vk
                    .spec()
                    .flags(flags)
                    .extensions(extensions)
                    .create()
                    .expect("vkCreateInstance");
                assert_eq!(instance.device_names(), ["a"]);
            });
            outcome
                .ok()
                .not_logged("portability subset")
                .not_logged("enumerating portability drivers");
            assert!(outcome.calls("p", "load").is_empty(), "{}", outcome.all());
        }
    });
}

/// DRV-98, APP-65: the extension query lists the extensions of portability drivers too.
#[test]
fn drv_098_their_extensions_are_listed() {
    case(|scene| {
        portable(scene, "p");
        scene
            .run(|vk| {
                assert!(
                    vk.extensions()
                        .expect("the query succeeds")
                        .contains(&"VK_KHR_surface".into())
                )
            })
            .ok();
    });
}

/// DRV-99: if the only driver is a portability driver, a message reports that the flag or the extension for portability enumeration is
/// missing.
#[test]
fn drv_099_skipping_the_only_driver_is_explained() {
    case(|scene| {
        portable(scene, "p");
        let flag = format!(
            "{FOUND}the instance does not enumerate portability drivers! Applications that wish to enumerate portability drivers must set the VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR bit in the VkInstanceCreateInfo flags."
        );
        let both = format!(
            "{} and enable the VK_KHR_portability_enumeration instance extension.",
            flag.trim_end_matches('.')
        );
        let extension = "VkInstanceCreateInfo: If flags has the VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR bit set, the list of enabled extensions in ppEnabledExtensionNames must contain VK_KHR_portability_enumeration [VUID-VkInstanceCreateInfo-flags-06559 ]Applications that wish to enumerate portability drivers must enable the VK_KHR_portability_enumeration instance extension.";
        for (flags, extensions, text) in [
            (0, &[][..], both.as_str()),
            (0, &[EXTENSION], flag.as_str()),
            (FLAG, &[], extension),
        ] {
            let outcome = scene.run(|vk| {
                let result = vk.spec().flags(flags).extensions(extensions).create().err();
                assert_eq!(result, Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
            });
            let found_none = "vkCreateInstance: Found no drivers!";
            outcome
                .ok()
                .logged("ERROR | DRIVER", text)
                .logged_with("ERROR | DRIVER", found_none);
            assert!(
                outcome.stderr.find(text) < outcome.stderr.find(found_none),
                "{}",
                outcome.all()
            );
        }
    });
}

/// DRV-100: only drivers that have the extension for portability enumeration receive the create flag of this extension.
#[test]
fn drv_100_the_flag_is_cleared_for_drivers_without_the_extension() {
    case(|scene| {
        scene.driver("without").device("without");
        scene.driver("with").device("with").extension(EXTENSION);
        let outcome = scene.run(|vk| drop(vk.spec().flags(FLAG | 0x40).extensions(&[EXTENSION]).create()));
        let outcome = outcome.ok();
        assert!(
            outcome.calls("without", "vkCreateInstance")[0].contains(" flags=64 "),
            "{}",
            outcome.all()
        );
        assert!(
            outcome.calls("with", "vkCreateInstance")[0].contains(" flags=65 "),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-46: a manifest marks a portability driver only with the literal `true`.
#[test]
fn drv_046_only_true_makes_a_portability_driver() {
    case(|scene| {
        for (number, value) in ["false", "\"true\"", "1", "null"].iter().enumerate() {
            let name = format!("d{number}");
            scene
                .driver(&name)
                .device(&name)
                .manifest_members(&format!("\"is_portability_driver\": {value}"));
        }
        scene
            .run(|vk| assert_eq!(vk.instance().device_names(), ["d3", "d2", "d1", "d0"]))
            .ok();
    });
}
