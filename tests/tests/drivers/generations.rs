//! Tests of queries that exist in several versions, and of the version that the loader calls in the driver (DRV-159 to DRV-167).

use loader_tests::ash::vk;
use loader_tests::{call, case};

const PROPERTIES2: &str = "VK_KHR_get_physical_device_properties2";

/// DRV-159, APP-135: the loader calls the newest function that the driver has.
#[test]
fn drv_159_which_function_is_called() {
    case(|scene| {
        scene.driver("both").extension(PROPERTIES2).device("both");
        scene.driver("khr").api("1.0.0").extension(PROPERTIES2).device("khr");
        let rows: &[(&str, &[&str], &str, &str)] = &[
            (
                "1.1",
                &[],
                "both vkGetPhysicalDeviceFeatures2",
                "khr vkGetPhysicalDeviceFeatures",
            ),
            (
                "1.1",
                &[PROPERTIES2],
                "both vkGetPhysicalDeviceFeatures2",
                "khr vkGetPhysicalDeviceFeatures2KHR",
            ),
            (
                "1.0",
                &[PROPERTIES2],
                "both vkGetPhysicalDeviceFeatures2KHR",
                "khr vkGetPhysicalDeviceFeatures2KHR",
            ),
            // An extension that only the loader enabled, for sorting, is not in the list of enabled extensions.
            (
                "1.0",
                &[],
                "both vkGetPhysicalDeviceFeatures",
                "khr vkGetPhysicalDeviceFeatures",
            ),
        ];
        for (api, extensions, both, khr) in rows {
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with(api, extensions);
                let (first, second) = (instance.named("both"), instance.named("khr"));
                vk.mark("start");
                for device in [first, second] {
                    let mut features = vk::PhysicalDeviceFeatures2::default();
                    call!(instance, PFN_vkGetPhysicalDeviceFeatures2(device, &mut features));
                    assert_eq!(features.features.robust_buffer_access, vk::TRUE);
                }
                vk.mark("stop");
            });
            let lines = outcome.ok().between("start", "stop");
            assert_eq!(
                lines,
                [format!("{both} both"), format!("{khr} khr")],
                "{api} {extensions:?}\n{}",
                outcome.all()
            );
        }
    });
}

/// DRV-159: if a driver lacks the core function, the loader uses the KHR function, provided that the extension of this function is enabled.
#[test]
fn drv_159_a_missing_core_function_falls_back() {
    case(|scene| {
        scene
            .driver("a")
            .extension(PROPERTIES2)
            .device("one")
            .missing("vkGetPhysicalDeviceMemoryProperties2");
        let outcome = scene.run(|vk| {
            for extensions in [&[PROPERTIES2][..], &[]] {
                let instance = vk.instance_with("1.1", extensions);
                let mut memory = vk::PhysicalDeviceMemoryProperties2::default();
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceMemoryProperties2(instance.first(), &mut memory)
                );
                assert_eq!(memory.memory_properties.memory_heaps[0].size, 1 << 30);
            }
        });
        let outcome = outcome.ok();
        assert_eq!(outcome.calls("a", "vkGetPhysicalDeviceMemoryProperties2KHR"), ["one"]);
        assert_eq!(outcome.calls("a", "vkGetPhysicalDeviceMemoryProperties"), ["one"]);
    });
}

/// Query for features in its core version, in the version of the extension, and in version 1.0.
const CORE: &str = "vkGetPhysicalDeviceFeatures2";
const KHR: &str = "vkGetPhysicalDeviceFeatures2KHR";
const OLD: &str = "vkGetPhysicalDeviceFeatures";

/// Functions that the driver lacks, version of the application, `true` if the application enables the extension, and the driver's function
/// that must answer.
const CHOICES: [(&[&str], &str, bool, &str); 16] = [
    (&[], "1.0", false, OLD),
    (&[], "1.0", true, KHR),
    (&[], "1.1", false, CORE),
    (&[], "1.1", true, CORE),
    (&[CORE], "1.0", false, OLD),
    (&[CORE], "1.0", true, KHR),
    (&[CORE], "1.1", false, OLD),
    (&[CORE], "1.1", true, KHR),
    (&[KHR], "1.0", false, OLD),
    (&[KHR], "1.0", true, OLD),
    (&[KHR], "1.1", false, CORE),
    (&[KHR], "1.1", true, CORE),
    (&[CORE, KHR], "1.0", false, OLD),
    (&[CORE, KHR], "1.0", true, OLD),
    (&[CORE, KHR], "1.1", false, OLD),
    (&[CORE, KHR], "1.1", true, OLD),
];

/// DRV-159: for every combination of driver functions, requested version and extension, the loader calls the function that [`CHOICES`]
/// names.
#[test]
fn drv_159_every_combination() {
    case(|scene| {
        scene.limit(60);
        scene.driver("a").extension(PROPERTIES2).device("one");
        let outcome = scene.run(|vk| {
            for (number, (missing, api, extension, _)) in CHOICES.iter().enumerate() {
                for name in *missing {
                    vk.add_lines("a", &format!("missing {name}"));
                }
                let extensions: &[&str] = if *extension { &[PROPERTIES2] } else { &[] };
                let instance = vk.instance_with(api, extensions);
                let physical = instance.first();
                vk.mark(&format!("begin {number}"));
                let mut features = vk::PhysicalDeviceFeatures2::default();
                call!(instance, PFN_vkGetPhysicalDeviceFeatures2(physical, &mut features));
                vk.mark(&format!("end {number}"));
                assert_eq!(features.features.robust_buffer_access, vk::TRUE);
                vk.remove_lines("a", &["missing"]);
            }
        });
        outcome.ok();
        for (number, row) in CHOICES.iter().enumerate() {
            let lines = outcome.between(&format!("begin {number}"), &format!("end {number}"));
            assert_eq!(lines, [format!("a {} one", row.3)], "{row:?}");
        }
        let emulated = CHOICES.iter().filter(|row| row.3 == OLD).count();
        let library = scene.library("a").display().to_string();
        let text = format!("{CORE}: Emulating call in ICD \"{library}\" using {OLD}");
        let told = outcome.log("INFO").into_iter().filter(|line| *line == text).count();
        assert_eq!(told, emulated, "{}", outcome.all());
    });
}
