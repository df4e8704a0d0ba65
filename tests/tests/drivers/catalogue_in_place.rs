//! Tests that a driver catalogue exists when the other tests run with a catalogue (`make test-catalogue`).

use super::catalogue::opened;
use loader_tests::case;
use std::env;

/// The catalogue that `VKL_TEST_CATALOGUE` requests exists. Without it, the other tests would not use a catalogue.
#[test]
fn the_catalogue_that_was_asked_for_is_in_place() {
    case(|scene| {
        scene.driver("one").extension("VK_KHR_surface").device("gpu");
        let outcome = scene.run(|vk| {
            vk.say("first", &vk.extensions().expect("the query succeeds")[0]);
            vk.mark("listed");
            drop(vk.instance());
        });
        let first = outcome.ok().said("first")[0].to_owned();
        let opened_first = outcome.journal().first() == Some(&"one load");
        let mode = env::var("VKL_TEST_CATALOGUE").unwrap_or_default();
        if mode == "lazy" {
            assert!(first == "VK_KHR_surface" && opened(&outcome).is_empty());
            return;
        }
        assert_eq!(opened(&outcome), ["one"], "the instance needs it");
        match mode.as_str() {
            "current" => assert!(first == "VK_KHR_surface" && !opened_first),
            "lying" => assert!(first == "VK_GOOGLE_surfaceless_query" && !opened_first),
            _ => assert!(first == "VK_KHR_surface" && opened_first),
        }
    });
}

/// The catalogue of a later run has the answers of a driver whose configuration was changed in between.
#[test]
fn a_driver_with_another_configuration_is_asked_again() {
    case(|scene| {
        scene.driver("one").device("first");
        scene.driver("two").device("second");
        scene.lazily();
        let first = scene.run(|vk| {
            vk.say("names", vk.instance().device_names().join(" "));
            vk.add_lines("one", "device third\n");
        });
        assert_eq!(first.ok().said("names"), ["second first"]);
        scene.driver("three").device("fourth");
        let later = scene.run(|vk| vk.say("names", vk.instance().device_names().join(" ")));
        assert_eq!(later.ok().said("names"), ["fourth second first third"]);
        assert!(opened(&later).is_empty(), "{}", later.all());
    });
}
