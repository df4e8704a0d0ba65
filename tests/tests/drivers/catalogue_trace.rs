//! Tests of the records about a driver catalogue in the trace (docs/trace.md).

use super::catalogue::{both, query, scene_of_two};
use super::catalogue_file::{self as file, Entry};
use loader_tests::{Scene, Vk, case};
use serde_json::{Value, json};
use std::fs;

/// Runs `body` with a trace. Returns the records about the catalogue, each with the last part of the library's path. In a child, the list
/// is empty.
fn traced(scene: &mut Scene, name: &str, body: fn(&Vk)) -> Vec<Value> {
    let trace = scene.path(name);
    scene.env("VK_LOADER_TRACE", &trace);
    scene.run(body).ok();
    let mut found = Vec::new();
    scene.on_disk(|| {
        for line in fs::read_to_string(&trace).expect("there is a trace").lines() {
            let mut record: Value = serde_json::from_str(line).expect("a record");
            if record["event"] == "catalogue" {
                let library = record["library"].as_str().and_then(|path| path.rsplit('/').next());
                record["library"] = library.map(String::from).into();
                let all = record.as_object_mut().expect("an object");
                all.retain(|key, _| ["library", "use", "asked", "doubt"].contains(&key.as_str()));
                found.push(record);
            }
        }
    });
    found
}

#[test]
fn trace_tells_what_the_catalogue_answered() {
    case(|scene| {
        scene_of_two(scene);
        file::write(scene, &both());
        let told = traced(scene, "trace", query);
        let answer = |library: &str| json!({"library": library, "use": "extensions", "asked": 1_795_370_700_u64});
        scene.on_disk(|| {
            for library in ["libmock_none.so", "libmock_one.so"] {
                assert!(told.contains(&answer(library)), "{told:#?}");
            }
        });
    });
}

#[test]
fn trace_tells_which_entries_do_not_count() {
    case(|scene| {
        scene_of_two(scene);
        file::write(scene, &[Entry::new("one").offers(&["VK_KHR_display"]).devices(1)]);
        let doubt = |word: &str| json!({"library": "libmock_one.so", "use": "none", "doubt": word});
        let told = traced(scene, "differs", |vk| drop(vk.instance()));
        scene.on_disk(|| assert!(told.contains(&doubt("differs")), "{told:#?}"));
        let library = scene.library("one");
        scene.on_disk(|| fs::write(&library, fs::read(&library).expect("a file")).expect("a file"));
        let told = traced(scene, "library", query);
        scene.on_disk(|| assert!(told.contains(&doubt("library")), "{told:#?}"));
    });
}
