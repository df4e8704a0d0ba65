//! Tests of groups of physical devices (DRV-149 to DRV-158).

use loader_tests::ash::vk;
use loader_tests::vk::{Instance, members};
use loader_tests::{Scene, Vk, call, case};

const FAILED: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;
const CREATION: &str = "VK_KHR_device_group_creation";

type Group = vk::PhysicalDeviceGroupProperties<'static>;

/// Queries the number of groups.
fn count(instance: &Instance<'_>) -> (vk::Result, u32) {
    let mut count = 3;
    let null = std::ptr::null_mut();
    let result = call!(
        instance,
        PFN_vkEnumeratePhysicalDeviceGroups(instance.raw, &mut count, null)
    );
    (result, count)
}

/// Fills the whole array with groups.
fn fill(instance: &Instance<'_>, groups: &mut [Group]) -> (vk::Result, u32) {
    let mut count = groups.len() as u32;
    let out = groups.as_mut_ptr();
    let result = call!(
        instance,
        PFN_vkEnumeratePhysicalDeviceGroups(instance.raw, &mut count, out)
    );
    (result, count)
}

fn group_names(vk: &Vk) -> Vec<Vec<String>> {
    vk.instance_with("1.1", &[]).group_names()
}

/// DRV-149, DRV-153: the loader lists the groups of each driver that supports groups.
#[test]
fn drv_149_groups_of_drivers_that_have_them() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .device("two")
            .device("three")
            .line("group", "one two")
            .line("group", "three");
        scene
            .driver("b")
            .device("four")
            .device("five")
            .line("group", "four five");
        scene.env("VK_LOADER_DISABLE_SELECT", "1");
        let outcome = scene.run(|vk| {
            let expected: [&[&str]; 3] = [&["four", "five"], &["one", "two"], &["three"]];
            assert_eq!(group_names(vk), expected);
        });
        outcome.ok();
    });
}

/// DRV-149: the loader calls the KHR function if its extension is enabled, and the core function otherwise.
#[test]
fn drv_149_which_function_is_asked() {
    case(|scene| {
        scene.driver("a").device("one").extension(CREATION);
        let outcome = scene.run(|vk| {
            drop(vk.instance_with("1.1", &[]).group_names());
            vk.mark("with");
            let instance = vk.instance_with("1.1", &[CREATION]);
            assert_eq!(count(&instance), (vk::Result::SUCCESS, 1));
        });
        let outcome = outcome.ok();
        let lines = outcome.between("with", "end");
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with("a vkEnumeratePhysicalDeviceGroupsKHR")),
            "{}",
            outcome.all()
        );
        assert!(
            !outcome.calls("a", "vkEnumeratePhysicalDeviceGroups").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-149, APP-126: each device of a driver without groups forms a group with only this device.
#[test]
fn drv_149_groups_of_one_are_made_up() {
    case(|scene| {
        scene.driver("old").api("1.0.0").device("one").device("two");
        scene
            .driver("new")
            .device("three")
            .device("four")
            .line("group", "three four");
        scene.env("VK_LOADER_DISABLE_SELECT", "1");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let expected: [&[&str]; 3] = [&["three", "four"], &["one"], &["two"]];
            assert_eq!(instance.group_names(), expected);
            let mut groups = [Group::default(); 3];
            assert_eq!(fill(&instance, &mut groups).0, vk::Result::SUCCESS);
            assert_eq!(
                groups.map(|group| group.subset_allocation),
                [vk::TRUE, vk::FALSE, vk::FALSE]
            );
        });
        outcome.ok();
    });
}

/// DRV-150: the query for groups needs no earlier enumeration of devices, and updates the device list.
#[test]
fn drv_150_groups_need_no_earlier_enumeration() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            assert_eq!(instance.group_names(), [["one"]]);
            vk.add_lines("a", "device two");
            assert_eq!(instance.group_names(), [["one"], ["two"]]);
        });
        outcome.ok();
    });
}

/// DRV-150, APP-127: the loader skips a driver whose query for the number of groups fails, and vkEnumeratePhysicalDeviceGroups does not
/// hang.
#[test]
fn drv_150_a_driver_that_fails_the_count_is_skipped() {
    case(|scene| {
        scene
            .driver("bad")
            .device("bad")
            .fail("vkEnumeratePhysicalDeviceGroups", -3);
        scene.driver("good").device("good");
        let outcome = scene.run(|vk| assert_eq!(group_names(vk), [["good"]]));
        outcome.ok().logged_with("ERROR", "libmock_bad.so");
    });
}

/// DRV-150, APP-127: an empty list of groups for existing devices is an error, because each device is in a group.
#[test]
fn drv_150_no_group_at_all_is_an_error() {
    case(|scene| {
        let bad = scene.driver("bad").device("bad");
        bad.fail("vkEnumeratePhysicalDeviceGroups", -3);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            assert_eq!(instance.device_names(), ["bad"]);
            assert_eq!(count(&instance).0, FAILED);
        });
        outcome.ok().logged_with("ERROR", "no driver reports any device group");
    });
}

/// DRV-150, APP-125: group enumeration returns an error if there is no device.
#[test]
fn drv_150_no_devices_at_all_is_an_error() {
    case(|scene| {
        scene.driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            assert_eq!(count(&instance).0, FAILED);
            let mut groups = [Group::default(); 3];
            assert_eq!(fill(&instance, &mut groups).0, FAILED);
        });
        outcome.ok();
    });
}

/// APP-125: group enumeration with a NULL count returns an error.
#[test]
fn app_125_a_null_count_is_an_error() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let (count, out) = (std::ptr::null_mut(), std::ptr::null_mut());
            assert_eq!(
                call!(instance, PFN_vkEnumeratePhysicalDeviceGroups(instance.raw, count, out)),
                FAILED
            );
        });
        outcome.ok().logged_with("ERROR", "vkEnumeratePhysicalDeviceGroups");
    });
}

/// Makes the driver return `code` from the call that fills the array of groups. The application must receive `expected`.
fn failing_fill_call(scene: &mut Scene, code: i32, expected: vk::Result) {
    scene.driver("a").device("one");
    let outcome = scene.run(|vk| {
        let instance = vk.instance_with("1.1", &[]);
        // Call 1 answers the application's query for the count. In the next query, the loader queries the count again with call 2, and
        // fills the array with call 3.
        assert_eq!(count(&instance).0, vk::Result::SUCCESS);
        let seen = vk
            .journal()
            .iter()
            .filter(|line| line.starts_with("a vkEnumeratePhysicalDeviceGroups "))
            .count();
        vk.add_lines(
            "a",
            &format!("fail vkEnumeratePhysicalDeviceGroups {code} {} 99", seen + 2),
        );
        let mut groups = [Group::default()];
        let result = fill(&instance, &mut groups).0;
        assert_eq!(result, expected);
    });
    outcome.ok().logged_with("ERROR", "libmock_a.so");
}

/// DRV-151: if the driver's call that fills the array of groups fails, the loader returns the error.
#[test]
fn drv_151_a_failing_fill_call_is_returned() {
    case(|scene| failing_fill_call(scene, -4, vk::Result::ERROR_DEVICE_LOST));
}

/// DRV-151: if the driver's call that fills the array of groups returns a positive code, the loader returns an error. The application
/// therefore does not read unwritten groups.
#[test]
fn drv_151_a_fill_call_that_is_not_done_is_a_failure() {
    case(|scene| failing_fill_call(scene, 1, vk::Result::ERROR_UNKNOWN));
}

/// DRV-151, APP-126: the loader reduces the device count of a group to `VK_MAX_DEVICE_GROUP_SIZE`.
#[test]
fn drv_151_huge_counts_are_cut() {
    case(|scene| {
        let names: Vec<String> = (0..32).map(|number| format!("d{number}")).collect();
        let driver = scene
            .driver("a")
            .flag("huge_groups")
            .line("grow", "vkEnumeratePhysicalDeviceGroups 50");
        for name in &names {
            driver.device(name);
        }
        driver.line("group", names.join(" "));
        scene.env("VK_LOADER_DISABLE_SELECT", "1");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let mut groups = [Group::default(); 2];
            assert_eq!(fill(&instance, &mut groups), (vk::Result::SUCCESS, 1));
            assert_eq!(groups[0].physical_device_count, 32);
            let members: Vec<String> = members(&groups[0])
                .iter()
                .map(|device| instance.name_of(*device))
                .collect();
            assert_eq!(members, names);
        });
        outcome.ok();
    });
}

/// DRV-152: the application's chain in an element of the array reaches the driver that fills this element.
#[test]
fn drv_152_chains_reach_the_drivers() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("b").device("two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let mut extra = [vk::BaseOutStructure::default(); 2];
            let mut groups = [Group::default(); 2];
            for (group, extra) in groups.iter_mut().zip(&mut extra) {
                extra.s_type = vk::StructureType::from_raw(777_000);
                group.p_next = std::ptr::from_mut(extra).cast();
            }
            let before: Vec<usize> = groups.iter().map(|group| group.p_next as usize).collect();
            assert_eq!(fill(&instance, &mut groups).0, vk::Result::SUCCESS);
            let mut after: Vec<usize> = groups.iter().map(|group| group.p_next as usize).collect();
            after.sort_unstable();
            let mut sorted = before;
            sorted.sort_unstable();
            assert_eq!(after, sorted, "every chain is still there");
        });
        let outcome = outcome.ok();
        for driver in ["a", "b"] {
            let elements = outcome.calls(driver, "vkEnumeratePhysicalDeviceGroups");
            let group = vk::StructureType::PHYSICAL_DEVICE_GROUP_PROPERTIES.as_raw();
            let line = format!("element 0 stype={group} next=true");
            assert!(elements.contains(&line.as_str()), "{}", outcome.all());
        }
    });
}

/// DRV-154, APP-127: a group with a device that the driver did not enumerate is an error.
#[test]
fn drv_154_a_group_with_an_unknown_device_is_an_error() {
    case(|scene| {
        scene.driver("a").device("one").line("group", "one ghost");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let mut groups = [Group::default(); 2];
            assert_eq!(fill(&instance, &mut groups).0, FAILED);
            assert_eq!(instance.device_names(), ["one"]);
        });
        outcome.ok();
        assert!(!outcome.log("ERROR").is_empty(), "{}", outcome.all());
    });
}

/// DRV-154, APP-129: groups contain the same handles as the device enumeration.
#[test]
fn drv_154_handles_are_those_of_the_enumeration() {
    case(|scene| {
        scene.driver("a").device("one").device("two").line("group", "two one");
        scene.driver("b").device("three");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let mut grouped: Vec<_> = instance.groups().expect("groups").concat();
            let mut listed = instance.devices().expect("devices");
            grouped.sort_unstable();
            listed.sort_unstable();
            assert_eq!(grouped, listed);
        });
        outcome.ok();
    });
}

/// DRV-155, APP-128: sorting applies to the devices of each group. Groups are sorted by their first device.
#[test]
fn drv_155_groups_are_sorted() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("cpu", |device| device.kind(4))
            .device_with("integrated", |device| device.kind(1))
            .device_with("virtual", |device| device.kind(3))
            .device_with("discrete", |device| device.kind(2))
            .line("group", "virtual integrated")
            .line("group", "cpu discrete");
        let outcome = scene.run(|vk| {
            assert_eq!(group_names(vk), [["discrete", "cpu"], ["integrated", "virtual"]]);
        });
        let outcome = outcome.ok();
        outcome.logged_with("INFO | DRIVER", "linux_sort_physical_device_groups:  Original order:");
        outcome.logged_with("INFO | DRIVER", "linux_sort_physical_device_groups:  Sorted order:");
        outcome.logged_with("INFO | DRIVER", "           Group 0");
    });
}

/// DRV-142, DRV-155: the chosen device is the first device of its group, and this group is the first group.
#[test]
fn drv_155_the_chosen_device_in_groups() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("cpu", |device| device.kind(4).ids(1, 2))
            .device("discrete")
            .device("other")
            .line("group", "discrete cpu")
            .line("group", "other");
        scene.env("VK_LOADER_DEVICE_SELECT", "1:2");
        let outcome = scene.run(|vk| {
            let expected: [&[&str]; 2] = [&["cpu", "discrete"], &["other"]];
            assert_eq!(group_names(vk), expected);
        });
        outcome.ok();
    });
}

/// DRV-157: vkEnumeratePhysicalDeviceGroups fills a short array, and returns VK_INCOMPLETE.
#[test]
fn drv_157_a_short_array() {
    case(|scene| {
        scene.driver("a").device("one").device("two").device("three");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let all = instance.groups().expect("groups");
            let mut groups = [Group::default(); 2];
            let (result, count) = fill(&instance, &mut groups);
            assert_eq!((result, count), (vk::Result::INCOMPLETE, 2));
            assert_eq!(groups.each_ref().map(members), all[..2]);
        });
        outcome.ok();
    });
}
