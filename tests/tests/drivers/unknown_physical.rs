//! Tests of physical-device functions that the loader does not know (DRV-216 to DRV-221).

use loader_tests::ash::vk;
use loader_tests::vk::Commands;
use loader_tests::{Vk, case};

/// A function with more arguments than the registers can pass.
pub(crate) type Ten = unsafe extern "system" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u64;

/// Calls an unknown function with ten arguments.
pub(crate) fn call_ten(address: usize, handle: u64) -> u64 {
    assert_ne!(address, 0);
    // SAFETY: the address belongs to a stub, which jumps to the mock driver's function of this type.
    let function: Ten = unsafe { std::mem::transmute(address) };
    // SAFETY: the mock driver's function accepts all numbers.
    unsafe { function(handle, 1, 2, 3, 4, 5, 6, 7, u64::MAX, 9) }
}

const ARGUMENTS: &str = "[1, 2, 3, 4, 5, 6, 7, 18446744073709551615, 9]";

fn get(vk: &Vk, instance: vk::Instance, name: &str) -> usize {
    vk.get(instance, name)
}

/// DRV-216, DRV-219, DRV-220, DRV-228, APP-31, APP-32: an unknown function of a driver receives the driver's own handle, and all other
/// arguments unchanged.
#[test]
fn drv_220_arguments_and_result_pass_unchanged() {
    case(|scene| {
        scene.driver("a").unknown_physical("vkOddOne").device("one");
        scene
            .driver("b")
            .unknown_physical("vkOddOne")
            .unknown_physical("vkOddTwo")
            .device("two");
        let outcome = scene.run(|vk| {
            use loader_tests::ash::vk::Handle;
            let instance = vk.instance();
            let (one, two) = (instance.named("one"), instance.named("two"));
            let first = get(vk, instance.raw, "vkOddOne");
            let second = get(vk, instance.raw, "vkOddTwo");
            assert!(first != second && first == get(vk, instance.raw, "vkOddOne"));
            assert_eq!(call_ten(first, one.as_raw()), 1000);
            assert!(call_ten(first, two.as_raw()) >= 1000);
            assert!(call_ten(second, two.as_raw()) >= 1000);
        });
        let outcome = outcome.ok();
        let calls = |driver| outcome.calls(driver, "unknown");
        assert_eq!(calls("a"), [format!("vkOddOne physical_device(one) {ARGUMENTS}")]);
        let expected = ["vkOddOne", "vkOddTwo"].map(|name| format!("{name} physical_device(two) {ARGUMENTS}"));
        assert_eq!(calls("b"), expected);
    });
}

/// DRV-221, APP-33: calling an unknown function on a device whose driver lacks it ends the process.
#[test]
fn drv_221_a_driver_that_lacks_the_function_crashes() {
    case(|scene| {
        scene.driver("a").unknown_physical("vkOddOne").device("one");
        scene.driver("b").device("two");
        let outcome = scene.run(|vk| {
            use loader_tests::ash::vk::Handle;
            let instance = vk.instance();
            call_ten(get(vk, instance.raw, "vkOddOne"), instance.named("two").as_raw());
        });
        outcome
            .crashed()
            .logged("ERROR", "Function vkOddOne not supported for this physical device");
    });
}

/// DRV-216, DRV-218: the loader does not ask drivers with an interface version below 4 for unknown functions.
#[test]
fn drv_216_old_interfaces_are_not_asked() {
    case(|scene| {
        scene
            .driver("a")
            .interface(3)
            .api("1.0.0")
            .line("gpdpa", "vkOddOne")
            .device("one");
        let outcome = scene.run(|vk| assert_eq!(get(vk, vk.instance().raw, "vkOddOne"), 0));
        outcome.ok();
        assert!(
            outcome.calls("a", "vk_icdGetPhysicalDeviceProcAddr").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-217, APP-32: an instance has space for exactly 250 supported names. Names that no driver supports use no slot.
#[test]
fn drv_217_two_hundred_and_fifty_names_fit() {
    case(|scene| {
        let driver = scene.driver("a").device("one");
        for number in 0..260 {
            driver.line("gpdpa", format!("vkOdd{number}"));
        }
        scene.limit(30);
        let outcome = scene.run(|vk| {
            use loader_tests::ash::vk::Handle;
            let instance = vk.instance();
            let device = instance.first().as_raw();
            for number in 0..600 {
                assert_eq!(get(vk, instance.raw, &format!("vkNobody{number}")), 0);
            }
            let found: Vec<usize> = (0..250)
                .map(|number| get(vk, instance.raw, &format!("vkOdd{number}")))
                .collect();
            assert!(found.iter().all(|address| *address != 0));
            for number in 250..260 {
                assert_eq!(get(vk, instance.raw, &format!("vkOdd{number}")), 0);
            }
            for (number, address) in found.iter().enumerate() {
                assert_eq!(get(vk, instance.raw, &format!("vkOdd{number}")), *address);
            }
            for number in [0, 1, 100, 249] {
                call_ten(found[number], device);
            }
        });
        let outcome = outcome.ok();
        outcome.logged(
            "ERROR",
            "loader_dev_ext_gpa: Exhausted the unknown physical device function array!",
        );
        let names: Vec<&str> = outcome
            .calls("a", "unknown")
            .iter()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert_eq!(names, ["vkOdd0", "vkOdd1", "vkOdd100", "vkOdd249"]);
    });
}

/// DRV-217: the log contains the first use of an unknown name.
#[test]
fn drv_217_the_first_use_is_logged() {
    case(|scene| {
        scene.driver("a").unknown_physical("vkOddOne").device("one");
        let outcome = scene.run(|vk| assert_ne!(get(vk, vk.instance().raw, "vkOddOne"), 0));
        outcome.ok().logged_with("DEBUG", "vkOddOne");
    });
}

/// DRV-70: the loader calls the driver's look-up function with the driver's own valid instance. The mock driver ends the process if it
/// receives another instance.
#[test]
fn drv_070_the_driver_is_asked_with_its_own_instance() {
    case(|scene| {
        scene
            .driver("a")
            .unknown_physical("vkOddOne")
            .flag("journal_lookups")
            .device("one");
        scene.driver("b").flag("journal_lookups").device("two");
        let outcome = scene.run(|vk| assert_ne!(get(vk, vk.instance().raw, "vkOddOne"), 0));
        let outcome = outcome.ok();
        for driver in ["a", "b"] {
            let asked = outcome.calls(driver, "vk_icdGetPhysicalDeviceProcAddr");
            assert!(asked.contains(&"instance vkOddOne"), "{}", outcome.all());
        }
    });
}

/// APP-35: for unknown names of any bytes and any length, the look-up returns NULL.
#[test]
fn app_035_odd_names() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            for name in [
                "",
                "v",
                "vk",
                "vkGetInstanceProcAdd",
                "vkGetInstanceProcAddrs",
                "VKCMDDRAW",
                "vkcmdDraw",
                "glDraw",
                " vkCmdDraw",
            ] {
                assert_eq!(get(vk, instance.raw, name), 0, "`{name}`");
            }
            for bytes in [&b"\xff\xfe\0"[..], b"vk\x80\0", b"vkCmdDraw\xc3\0"] {
                let name = std::ffi::CStr::from_bytes_with_nul(bytes).expect("the bytes end with zero");
                assert_eq!(vk.get_c(instance.raw, Some(name)), 0);
            }
            let long = "vk".repeat(5000);
            assert_eq!(get(vk, instance.raw, &long), 0);
            assert_eq!(instance.address("vkNobody"), 0);
        });
        outcome.ok();
    });
}

/// APP-35: looking up a NULL name returns NULL.
#[test]
fn app_035_no_name() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            assert_eq!(vk.get_c(vk.instance().raw, None), 0);
            assert_eq!(vk.get_c(vk::Instance::null(), None), 0);
        });
        outcome.ok();
    });
}
