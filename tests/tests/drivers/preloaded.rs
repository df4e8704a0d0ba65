//! Tests of libraries that remain open after the extension query (DRV-233), and of drivers that are released before the
//! instance is destroyed.

use loader_tests::case;

/// DRV-131, DRV-233: releasing a driver without devices also closes its library, at every position in the list of open libraries. The other
/// libraries remain open.
#[test]
fn drv_131_a_released_driver_is_closed_wherever_it_stands_in_the_list() {
    case(|scene| {
        scene.driver("first").device("one");
        scene.driver("empty");
        scene.driver("last").device("two");
        let outcome = scene.run(|vk| {
            vk.extensions().expect("the query succeeds");
            let instance = vk.instance();
            vk.mark("created");
            assert_eq!(instance.device_names().len(), 2);
            vk.mark("listed");
        });
        let outcome = outcome.ok();
        let lines = outcome.between("created", "listed");
        let closed: Vec<&str> = lines.into_iter().filter(|line| line.contains(" unload")).collect();
        assert_eq!(closed, ["empty unload live=[]"], "{}", outcome.all());
    });
}
