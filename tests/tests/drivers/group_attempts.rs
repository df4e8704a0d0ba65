//! Tests of the number of attempts to query the drivers' groups.

use loader_tests::case;

/// DRV-134: with filters, the loader queries the number of groups, and then the whole list of groups. One query for the list
/// is enough if the list does not grow.
#[test]
fn drv_134_filtered_groups_are_not_fetched_again_and_again() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("d10", |device| device.ids(1, 10))
            .line("group", "d10");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            vk.mark("plain");
            assert_eq!(instance.groups().expect("groups").len(), 1);
            vk.mark("filtered");
            vk.set_env("VK_LOADER_DEVICE_ID_FILTER", Some("10"));
            assert_eq!(instance.groups().expect("groups").len(), 1);
            vk.mark("done");
        });
        let outcome = outcome.ok();
        let asked = |from, to| {
            let lines = outcome.between(from, to);
            lines
                .iter()
                .filter(|line| line.contains("vkEnumeratePhysicalDeviceGroups"))
                .count()
        };
        let (plain, filtered) = (asked("plain", "filtered"), asked("filtered", "done"));
        assert!(
            plain > 0 && filtered <= 2 * plain,
            "{plain}, {filtered}\n{}",
            outcome.all()
        );
    });
}
