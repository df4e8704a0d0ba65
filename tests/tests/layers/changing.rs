//! Tests of files that change while the loader reads them (BI-10).

use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

use loader_tests::ash::vk;
use loader_tests::vk::{fill_some, text};
use loader_tests::{call, case};

use crate::kit::{EXPLICIT, Layer, place};

/// Sets the flag when this value is dropped. The thread that reads the flag then ends.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// BI-10: the loader accepts a manifest whose size changes during the read only as a whole.
#[test]
fn bi_10_a_manifest_that_changes_its_size_while_it_is_read_is_whole_or_refused() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("m").folder(EXPLICIT)]);
        scene.env("VK_LOADER_DEBUG", "none").limit(60);
        let outcome = scene.run(|vk| {
            let file = vk.path(EXPLICIT).join("m.json");
            let short = fs::read(&file).expect("the manifest is there");
            let mut long = short.clone();
            long.resize(1 << 20, b' ');
            let done = AtomicBool::new(false);
            thread::scope(|scope| {
                let _stop = Stop(&done);
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        for content in [&long, &short] {
                            fs::write(&file, content).expect("scratch files can be written");
                        }
                    }
                });
                for _ in 0..400 {
                    // The count and the list come from the same call, because the file can change between two calls.
                    let query = |count: &mut u32, out| call!(vk, PFN_vkEnumerateInstanceLayerProperties(count, out));
                    let (result, layers): (_, Vec<vk::LayerProperties>) = fill_some(4, query);
                    assert_eq!(result, vk::Result::SUCCESS);
                    let mut names: Vec<_> = layers.iter().map(|layer| text(&layer.layer_name)).collect();
                    names.retain(|name| name != "VK_LAYER_m");
                    assert_eq!(names, ["VK_LAYER_a"]);
                }
            });
        });
        outcome.ok();
    });
}
