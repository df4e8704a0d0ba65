//! Tests of the scan cache with folders on different file systems (LAY-24).

use std::fs;
use std::os::unix::fs::MetadataExt;

use loader_tests::case;

use crate::kit::{EXPLICIT, Layer, place};
use crate::scan_cache::reads_of;
use loader_tests::settle;

/// Folder of the kernel's own file system, which exists on every Linux system. The modification times on it do not show changes.
const ELSEWHERE: &str = "/sys/kernel";

/// LAY-24: if the modification times on a folder's file system do not show changes, the loader stores no search results. An earlier folder
/// in the list, on a local file system, makes no difference.
#[test]
fn lay_24_a_folder_of_another_file_system_is_read_each_time() {
    case(|scene| {
        scene.unset("VK_LOADER_DEBUG");
        place(scene, &[Layer::explicit("a").folder(EXPLICIT)]);
        scene.folder("empty");
        let outcome = scene.run(|vk| {
            let here = vk.path(EXPLICIT);
            let device = |path: &std::path::Path| fs::metadata(path).expect("the folder is there").dev();
            assert_ne!(
                device(&here),
                device(ELSEWHERE.as_ref()),
                "{ELSEWHERE} is on the same file system"
            );
            settle();
            for (behind, remembered) in [(vk.path("empty"), true), (ELSEWHERE.into(), false)] {
                let path = format!("{}:{}", here.display(), behind.display());
                vk.set_env("VK_LAYER_PATH", Some(&path));
                let query = || assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]);
                query();
                assert_eq!(reads_of(query) == 0, remembered, "{path}");
            }
        });
        outcome.ok();
    });
}
