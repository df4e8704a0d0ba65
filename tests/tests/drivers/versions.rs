//! Tests of API versions between application, loader and drivers (DRV-88 to DRV-95).

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, Vk, call, case};

/// Returns the application info that the driver received: the text from `app=` to the flags.
#[track_caller]
fn seen(outcome: &Outcome, driver: &str) -> String {
    let calls = outcome.calls(driver, "vkCreateInstance");
    assert_eq!(calls.len(), 1, "{}", outcome.all());
    calls[0].split(" flags=").next().unwrap_or_default().into()
}

fn run(scene: &mut Scene, body: impl FnOnce(&Vk)) -> Outcome {
    let outcome = scene.run(body);
    outcome.ok();
    outcome
}

/// DRV-88, DRV-89: if the manifest of a driver contains version 1.0, the loader treats the driver as a driver of 1.0.
#[test]
fn drv_089_an_old_manifest_makes_an_old_driver() {
    case(|scene| {
        scene.driver("a").device("one").manifest_api("1.0.200");
        let outcome = run(scene, |vk| drop(vk.instance_with("1.3", &[])));
        assert!(
            outcome.calls("a", "vkEnumerateInstanceVersion").is_empty(),
            "{}",
            outcome.all()
        );
        assert_eq!(seen(&outcome, "a"), "app=case stype=0 api=1.0.0");
    });
}

/// DRV-88, DRV-91: a driver of 1.1 or newer receives the application info unchanged.
#[test]
fn drv_091_a_newer_driver_gets_the_application_info_unchanged() {
    case(|scene| {
        scene.driver("a").device("one").api("1.1.0");
        let outcome = run(scene, |vk| drop(vk.instance_with("1.3.7", &[])));
        assert_eq!(seen(&outcome, "a"), "app=case stype=0 api=1.3.7");
        let outcome = run(scene, |vk| drop(vk.spec().api_raw(0).create()));
        assert_eq!(seen(&outcome, "a"), "app=case stype=0 api=0.0.0");
        let outcome = run(scene, |vk| drop(vk.spec().no_application().create()));
        assert_eq!(seen(&outcome, "a"), "app=null");
    });
}

/// DRV-90: a driver of 1.0 receives a copy of the application info. The copy contains the driver's version.
#[test]
fn drv_090_an_old_driver_gets_a_copy_with_its_own_version() {
    case(|scene| {
        scene.driver("a").device("one").api("1.0.0");
        let outcome = run(scene, |vk| drop(vk.instance_with("1.2", &[])));
        assert_eq!(seen(&outcome, "a"), "app=case stype=0 api=1.0.0");
        // Without application info, the copy has only the version.
        let outcome = run(scene, |vk| drop(vk.spec().no_application().create()));
        assert_eq!(seen(&outcome, "a"), "app=- stype=0 api=1.0.0");
        let outcome = run(scene, |vk| drop(vk.spec().api_raw(0).create()));
        assert_eq!(seen(&outcome, "a"), "app=case stype=0 api=0.0.0");
    });
}

/// DRV-90: the copy of the application info that a driver of 1.0 receives contains the application's other members.
#[test]
fn drv_090_the_copy_keeps_the_other_members() {
    case(|scene| {
        scene.driver("a").device("one").api("1.0.0");
        let outcome = run(scene, |vk| {
            let application = vk::ApplicationInfo::default()
                .application_name(c"case")
                .application_version(7)
                .engine_name(c"engine")
                .engine_version(8)
                .api_version(vk::API_VERSION_1_2);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let mut raw = vk::Instance::null();
            let null = std::ptr::null();
            let result = call!(vk, PFN_vkCreateInstance(&info, null, &mut raw));
            assert_eq!(result, vk::Result::SUCCESS);
            call!(vk, PFN_vkDestroyInstance(raw, null));
        });
        assert_eq!(
            seen(&outcome, "a"),
            "app=case stype=0 api=1.0.0 own=7 engine=8 engine-name=true"
        );
    });
}

/// DRV-88: the loader treats a driver without the version query as a driver of 1.0.
#[test]
fn drv_088_a_missing_version_function_makes_a_driver_1_0() {
    case(|scene| {
        scene.driver("a").device("one").missing("vkEnumerateInstanceVersion");
        let outcome = run(scene, |vk| drop(vk.instance_with("1.3", &[])));
        assert_eq!(seen(&outcome, "a"), "app=case stype=0 api=1.0.0");
        let library = scene.library("a").display().to_string();
        outcome.logged(
            "WARNING | DRIVER",
            &format!("terminator_CreateInstance: Manifest ICD for \"{library}\" contained a 1.1 or greater API version, but does not support vkEnumerateInstanceVersion, treating as a 1.0 ICD"),
        );
    });
}

/// DRV-88: the loader treats a driver whose version query fails as a driver of 1.0.
#[test]
fn drv_088_a_failing_version_query_makes_a_driver_1_0() {
    case(|scene| {
        scene.driver("a").device("one").fail("vkEnumerateInstanceVersion", -3);
        let outcome = run(scene, |vk| drop(vk.instance_with("1.3", &[])));
        assert_eq!(seen(&outcome, "a"), "app=case stype=0 api=1.0.0");
        outcome.logged_with("DEBUG | DRIVER", "libmock_a.so");
    });
}

/// DRV-88: a driver whose version query returns 1.0 causes a warning.
#[test]
fn drv_088_an_answer_of_1_0_is_warned_about() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .line("api_version", "1.0.0")
            .manifest_api("1.3.0");
        let outcome = run(scene, |vk| drop(vk.instance_with("1.3", &[])));
        assert_eq!(seen(&outcome, "a"), "app=case stype=0 api=1.0.0");
        let library = scene.library("a").display().to_string();
        outcome.logged(
            "WARNING | DRIVER",
            &format!("terminator_CreateInstance: Manifest ICD for \"{library}\" contained a 1.1 or greater API version, but vkEnumerateInstanceVersion returned 1.0, treating as a 1.0 ICD"),
        );
    });
}

/// DRV-90: if a driver reports a version 1.0 with a patch number, the driver receives this version as the application's version.
#[test]
fn drv_090_the_patch_of_an_answer_of_1_0_is_passed_on() {
    case(|scene| {
        let driver = scene.driver("a").device("one");
        driver.line("api_version", "1.0.68").manifest_api("1.3.0");
        let outcome = run(scene, |vk| drop(vk.instance_with("1.3", &[])));
        assert_eq!(seen(&outcome, "a"), "app=case stype=0 api=1.0.68");
    });
}

/// DRV-88: a driver that reports version 2.0 is not treated as a driver of 1.0.
#[test]
fn drv_088_an_answer_of_2_0_is_no_old_driver() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .line("api_version", "2.0.0")
            .manifest_api("1.3.0");
        let outcome = run(scene, |vk| drop(vk.instance_with("1.3.7", &[])));
        assert_eq!(seen(&outcome, "a"), "app=case stype=0 api=1.3.7");
    });
}

/// DRV-92, DRV-95: the application can request every version from 1.0.
#[test]
fn drv_092_every_later_version_is_accepted() {
    case(|scene| {
        scene.driver("old").device("old").api("1.0.0");
        scene.driver("new").device("new");
        let outcome = run(scene, |vk| {
            let own = vk.version();
            for version in ["1.0", "1.1", "1.4", "1.99.5", "3.7.2"] {
                assert_eq!(vk.instance_with(version, &[]).device_names().len(), 2, "{version}");
                assert_eq!(vk.version(), own);
            }
        });
        outcome.not_logged("VUID");
    });
}

/// DRV-95, APP-63: the loader reports its own version, which does not depend on the versions of the drivers.
#[test]
fn drv_095_the_version_is_the_loaders() {
    case(|scene| {
        scene.driver("old").device("old").api("1.0.0");
        run(scene, |vk| {
            let (major, minor, patch) = vk.version();
            assert!((major, minor) >= (1, 3) && patch > 0, "{major}.{minor}.{patch}");
        })
        .logged_with("INFO", "Vulkan Loader Version 1.");
    });
}

/// DRV-93, APP-85: a version below 1.0 causes an error line.
#[test]
fn drv_093_a_version_below_1_0_is_an_error_line() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = run(scene, |vk| {
            let instance = vk.spec().api_raw(1).create().expect("creation goes on");
            assert_eq!(instance.device_names(), ["one"]);
        });
        outcome.logged_with("ERROR", "VkInstanceCreateInfo::pApplicationInfo::apiVersion has value of 1 which is not permitted. If apiVersion is not 0, then it must be greater than or equal to the value of VK_API_VERSION_1_0 [VUID-VkApplicationInfo-apiVersion]");
    });
}

/// DRV-93, APP-85: an application version with a variant causes a warning.
#[test]
fn drv_093_a_variant_is_a_warning() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = run(scene, |vk| {
            drop(
                vk.spec()
                    .api_raw(vk::make_api_version(3, 1, 1, 0))
                    .create()
                    .expect("creation goes on"),
            )
        });
        outcome.logged("WARNING", "vkCreateInstance: The API Variant specified in pCreateInfo->pApplicationInfo.apiVersion is 3 instead of the expected value of 0.");
    });
}

/// DRV-92, DRV-111: a driver that rejects the application's API version is skipped.
#[test]
fn drv_111_a_driver_that_rejects_the_version_is_skipped() {
    case(|scene| {
        scene.driver("a").device("one").fail("vkCreateInstance", -9);
        scene.driver("b").device("two");
        run(scene, |vk| {
            assert_eq!(vk.instance_with("1.3", &[]).device_names(), ["two"])
        });
    });
}
