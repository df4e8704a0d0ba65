//! Tests with a heap of the C library that refuses one request, or one request and all later requests (APP-174, APP-179a, LAY-75).
//!
//! Each request number is tried in a copy of the process. Every run tries the first numbers of each scene and a sample of the other
//! numbers, which is different for each scene. `LAYER_REFUSALS=all` tries all numbers.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};

use loader_tests::ash::vk;
use loader_tests::vk::{Heap, Refusal, isolated};
use loader_tests::{Scene, Vk, case};

use crate::kit::{EXPLICIT, IMPLICIT, Layer, put_text};
use crate::settings::{MARKER, entry, settings};
use loader_tests::settle;

const OOM: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;

/// First request number after the numbers that every run refuses one by one.
const FIRST: usize = 16;
/// Approximate number of later requests that every run refuses, at equal distances.
const SAMPLE: usize = 24;

/// Maximum number of files and folders that a call opens before it checks again for a lack of memory. A search for manifests can open this
/// many folders.
const FEW: usize = 8;

/// Result of a step of the program, with its output as text.
type Answer = Result<String, vk::Result>;

/// Global queries of a typical program.
const QUERIES: [fn(&Vk) -> Answer; 3] = [
    |vk| vk.extensions().map(|list| list.join(" ")),
    |vk| vk.layers().map(|list| list.join(" ")),
    |vk| {
        let versions = vk.extension_versions(Some(c"VK_LAYER_wanted"));
        versions.map(|list| format!("{list:?}"))
    },
];

/// Uses the loader like a typical program. Each call is independent of the other calls, so a failure does not end the program.
fn program(vk: &Vk) -> Vec<Answer> {
    let mut answers = Vec::new();
    each_answer(vk, &mut |answer| answers.push(answer));
    answers
}

/// Runs the calls of [`program`], and passes each answer to `take` directly after its call.
fn each_answer(vk: &Vk, take: &mut dyn FnMut(Answer)) {
    QUERIES.iter().for_each(|query| take(query(vk)));
    take(QUERIES[0](vk));
    let spec = vk.spec().api("1.3").layer("VK_LAYER_wanted");
    let instance = match spec.extensions(&["VK_KHR_surface", "VK_EXT_debug_utils"]).create() {
        Ok(instance) => instance,
        Err(error) => return take(Err(error)),
    };
    take(Ok("instance".into()));
    let devices = instance.devices();
    take(devices.clone().map(|list| list.len().to_string()));
    take(instance.groups().map(|list| list.len().to_string()));
    if let Ok(devices) = devices {
        take(instance.device_extensions(devices[0]).map(|list| list.join(" ")));
        let device = instance.device_spec(devices[0]).extensions(&["VK_KHR_swapchain"]);
        take(device.create().map(|_| "device".into()));
    }
}

/// Runs the calls of [`program`]. Also returns the number of files and folders that its first failed call opened after the refusal.
fn program_and_openings(vk: &Vk, heap: &Heap) -> (Vec<Answer>, usize) {
    let (mut answers, mut opened) = (Vec::new(), None);
    each_answer(vk, &mut |answer| {
        if answer.is_err() {
            opened = opened.or(Some(heap.openings_after_refusal()));
        }
        answers.push(answer);
    });
    (answers, opened.unwrap_or_default())
}

/// Checks that each answer is the usual answer, or reports out of memory. Returns the number of failures.
fn compare(answers: &[Answer], usual: &[Answer]) -> usize {
    let differs = answers
        .iter()
        .zip(usual)
        .find(|(answer, usual)| **answer != Err(OOM) && answer != usual);
    assert_eq!(differs, None, "neither out of memory nor what it should be");
    answers.iter().filter(|answer| answer.is_err()).count()
}

/// Runs the program in a forked copy of the process, first with a refusal, and then without one.
fn refused(vk: &mut Vk, heap: &Heap, refusal: Refusal, usual: &[Answer]) {
    heap.refuse(refusal);
    let (answers, opened) = program_and_openings(vk, heap);
    let failed = compare(&answers, usual);
    if let Refusal::Only(_) = refusal {
        assert!(
            opened <= FEW,
            "a call opens {opened} files and folders after it ran out of memory"
        );
    }
    heap.refuse_none();
    if refusal == Refusal::From(1) {
        assert_eq!(failed, 5, "without any memory nothing works");
    }
    assert_eq!(program(vk), usual, "the same calls succeed when there is memory");
    vk.unload();
    assert_eq!(heap.live(), 0, "blocks are left behind");
}

/// Returns the request numbers from 1 to `count` that this run tries.
fn numbers(count: usize) -> Vec<usize> {
    let step = if env::var("LAYER_REFUSALS").is_ok_and(|wanted| wanted == "all") {
        1
    } else {
        (count / SAMPLE).max(1)
    };
    let sample = (FIRST + count % step..=count).step_by(step);
    (1..FIRST.min(count + 1)).chain(sample).collect()
}

/// Refuses request 1, 2, 3, ... of the program, first without and then with all later requests.
fn sweep(scene: &mut Scene) {
    let outcome = scene.run_unloaded(|scratch| {
        // After this wait, the files are old enough for the scan cache.
        settle();
        let mut vk = scratch.load();
        let heap = Heap::of(&vk);
        let usual = program(&vk);
        assert!(usual.iter().all(Result::is_ok), "{usual:?}");
        let count = heap.count();
        // Each forked copy begins with an empty scan cache.
        vk.reload(|| ());
        let heap = Heap::of(&vk);
        let mut failures = Vec::new();
        for number in numbers(count) {
            for refusal in [Refusal::Only(number), Refusal::From(number)] {
                let ending = isolated(|| {
                    let tried = AssertUnwindSafe(|| refused(&mut vk, &heap, refusal, &usual));
                    // A forked copy must not continue with the work of the original.
                    if catch_unwind(tried).is_err() {
                        std::process::abort();
                    }
                });
                if ending.signal != 0 {
                    let words = ending.stderr.lines().rev().take(6).collect::<Vec<_>>();
                    failures.push(format!("{refusal:?} of {count}: signal {}, {words:?}", ending.signal));
                }
            }
        }
        let shown = failures.iter().take(5).collect::<Vec<_>>();
        assert!(
            failures.is_empty(),
            "{} failures, the first: {shown:#?}",
            failures.len()
        );
    });
    outcome.ok();
}

/// Returns the manifest members `instance_extensions` and `device_extensions` of a layer, each with `count` extensions.
fn extensions(number: usize, count: usize) -> [(&'static str, String); 2] {
    let one = |kind: &str, place: usize| {
        format!(r#"{{"name": "VK_EXT_{kind}_{number}_{place}", "spec_version": "3", "entrypoints": ["vkOdd{place}"]}}"#)
    };
    ["instance", "device"].map(|kind| {
        let all: Vec<String> = (0..count).map(|place| one(kind, place)).collect();
        (
            ["instance_extensions", "device_extensions"][usize::from(kind == "device")],
            format!("[{}]", all.join(", ")),
        )
    })
}

/// Returns the layer with `count` instance extensions and `count` device extensions.
fn extended(layer: Layer, number: usize, count: usize) -> Layer {
    extensions(number, count)
        .into_iter()
        .fold(layer, |layer, (key, json)| layer.member(key, json))
}

/// Writes manifests of many kinds: explicit and implicit layers, with and without escapes, meta-layers, and files that are not JSON.
fn manifest(scene: &Scene, number: usize) {
    let short = format!("n{number:02}");
    let file = |folder: &str| format!("{folder}/{short}.json");
    match number % 5 {
        0 => put_text(
            scene,
            &file(EXPLICIT),
            &extended(Layer::explicit(&short), number, 20).text(),
        ),
        1 => {
            let layer = Layer::implicit(&short).enabled_by(&format!("VKL_TEST_NEVER_{number}"), "1");
            put_text(scene, &file(IMPLICIT), &extended(layer, number, 1).text());
        }
        2 => {
            let layer = Layer::explicit(&short).member("description", r#""an \u00e9scaped\ttext""#);
            put_text(scene, &file(EXPLICIT), &layer.text());
        }
        3 => {
            let layer = Layer::meta(&short, &["VK_LAYER_wanted", "VK_LAYER_n00"]);
            put_text(scene, &file(EXPLICIT), &layer.text());
        }
        _ => put_text(
            scene,
            &file(EXPLICIT),
            "{\"file_format_version\": \"1.2.0\", \"layer\": {,}}",
        ),
    }
}

/// Builds a scene with `drivers` drivers, two layers that are used, and `manifests` additional layer manifests.
fn build(scene: &mut Scene, manifests: usize, drivers: usize) {
    scene.unset("VK_LOADER_DEBUG").limit(1800);
    // A child has only the variables of its scene.
    if let Ok(wanted) = env::var("LAYER_REFUSALS") {
        scene.env("LAYER_REFUSALS", wanted);
    }
    for driver in ["a", "b", "c", "d"].iter().take(drivers) {
        scene.usual_driver(driver);
    }
    for layer in [
        Layer::explicit("wanted").folder(EXPLICIT),
        Layer::implicit("active").folder(IMPLICIT),
    ] {
        extended(layer.without_journal(), 100, 2).put(scene);
    }
    (0..manifests).for_each(|number| manifest(scene, number));
    scene.env("VK_LOADER_LAYERS_DISABLE", "*_n05*,~none~");
    scene.env("VK_LOADER_DEVICE_ID_FILTER", "0:0xffffffff");
    scene.env("VK_LOADER_DEVICE_SELECT", "1:2");
}

/// LAY-75, DRV-4, APP-179a: if the system has no memory to open a file or folder, the query or creation fails, and does not skip that file
/// or folder.
#[test]
fn lay_75_each_opening_refused_for_lack_of_memory() {
    case(|scene| {
        build(scene, 2, 1);
        with_settings(scene);
        // With a log, each call opens all files again.
        scene.env("VK_LOADER_DEBUG", "error");
        let outcome = scene.run(|vk| {
            let heap = Heap::of(vk);
            let usual = program(vk);
            // Counts the openings of a second run, because a process searches for the driver catalogue only in its first run.
            heap.refuse_none();
            assert_eq!(program(vk), usual);
            let count = heap.openings();
            assert!(count > 0, "the library opens files");
            for number in 1..=count {
                heap.refuse(Refusal::Opening(number));
                let (answers, opened) = program_and_openings(vk, &heap);
                assert_eq!(compare(&answers, &usual), 1, "opening {number} of {count}");
                assert_eq!(opened, 0, "the call opens nothing more");
            }
        });
        outcome.ok();
    });
}

/// APP-174: the loader reports a lack of memory if the heap refuses large requests, which the library's emergency pool cannot serve.
#[test]
fn app_174_large_requests_refused() {
    case(|scene| {
        build(scene, 2, 1);
        with_settings(scene);
        // Each variable has 100,000 bytes, like `VK_ADD_LAYER_PATH`. The lists of folders join several of them, so a list exceeds each of
        // the limits below.
        for name in ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS"] {
            scene.env(name, format!("/{}", "x".repeat(100_000)));
        }
        let outcome = scene.run(|vk| {
            let heap = Heap::of(vk);
            let usual = program(vk);
            for bytes in [1 << 16, 1 << 17, 1 << 18] {
                heap.refuse(Refusal::Above(bytes));
                assert_ne!(compare(&program(vk), &usual), 0, "requests of more than {bytes} bytes");
            }
        });
        outcome.ok();
    });
}

/// Writes files whose lists need more memory than the library's emergency pool has.
fn large_files(scene: &Scene) {
    let texts = |count: usize, text: &str| format!("[{}]", vec![format!("\"{text}\""); count].join(", "));
    extended(Layer::explicit("wanted").folder(EXPLICIT).without_journal(), 100, 1500).put(scene);
    let meta = Layer::meta("large", &["VK_LAYER_wanted"]).member("component_layers", texts(20_000, "VK_LAYER_wanted"));
    put_text(scene, &format!("{EXPLICIT}/large.json"), &meta.text());
    let other = Layer::meta("other", &["VK_LAYER_wanted"]).member("app_keys", texts(20_000, "/somewhere/else"));
    put_text(scene, &format!("{EXPLICIT}/other.json"), &other.text());
    let off = (0..4000).map(|number| entry(&format!("off_{number}"), "off"));
    settings(scene, &[MARKER.into()].into_iter().chain(off).collect::<Vec<String>>());
}

/// APP-174: if the heap refuses a request that is too large for the library's emergency pool, the query or instance creation reports a lack
/// of memory.
#[test]
fn app_174_each_large_request_refused_once() {
    case(|scene| {
        build(scene, 2, 1);
        large_files(scene);
        for name in ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS"] {
            scene.env(name, format!("/{}", "x".repeat(100_000)));
        }
        // With a log, each call reads all files again.
        scene.env("VK_LOADER_DEBUG", "error");
        let outcome = scene.run(|vk| {
            let heap = Heap::of(vk);
            let create: fn(&Vk) -> Answer = |vk| {
                let spec = vk.spec().api("1.3").layer("VK_LAYER_large");
                spec.create().map(|_| "instance".into())
            };
            for call in [QUERIES[0], QUERIES[1], create] {
                heap.refuse_none();
                assert!(call(vk).is_ok());
                let count = heap.large();
                assert!(count > 0, "the scene has large lists");
                for number in 1..=count {
                    heap.refuse(Refusal::Large(number));
                    assert_eq!(call(vk), Err(OOM), "large request {number} of {count}");
                }
            }
        });
        outcome.ok();
    });
}

/// LAY-24, APP-216: a later call sees changed variables even if the first call had no memory to store them.
#[test]
fn app_216_variables_that_there_was_no_memory_to_note() {
    case(|scene| {
        scene.unset("VK_LOADER_DEBUG").limit(60);
        for name in ["a", "b"] {
            Layer::explicit(name).folder(name).put(scene);
        }
        let outcome = scene.run_unloaded(|scratch| {
            settle();
            let mut vk = scratch.load();
            for number in 1.. {
                // When the library is unloaded, it frees its stored data.
                vk.reload(|| ());
                let heap = Heap::of(&vk);
                let folder = |name: &str| vk.set_env("VK_LAYER_PATH", vk.path(name).to_str());
                folder("a");
                heap.refuse(Refusal::Only(number));
                let refused = vk.layers();
                let is_last = heap.count() < number;
                heap.refuse_none();
                assert!(
                    refused == Err(OOM) || refused == Ok(vec!["VK_LAYER_a".into()]),
                    "{refused:?}"
                );
                folder("b");
                assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b"], "request {number}");
                if is_last {
                    break;
                }
            }
        });
        outcome.ok();
    });
}

/// Writes a settings file that lists some of the layers, and sets variables with long values.
fn with_settings(scene: &mut Scene) {
    let long = "x".repeat(100_000);
    scene.env("VK_LOADER_LAYERS_DISABLE", format!("*_n05*,~none~,{long}"));
    scene.env("VK_LOADER_LAYERS_ALLOW", &long);
    scene.env("VK_ADD_LAYER_PATH", format!("/{long}"));

    let layer = Layer::explicit("listed").folder("listed").without_journal();
    layer.put(scene);
    settings(scene, &[entry("listed", "on"), MARKER.into(), entry("n01", "off")]);
}

macro_rules! sweeps {
    ($($(#[$doc:meta])* $name:ident: $manifests:literal, $drivers:literal $(, $more:expr)?;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            case(|scene| {
                build(scene, $manifests, $drivers);
                $(let more: fn(&mut Scene) = $more; more(scene);)?
                sweep(scene);
            });
        }
    )*};
}

sweeps! {
    /// APP-174, APP-179a, LAY-75: whichever single allocation fails, each call returns its usual answer or out of memory, with one driver.
    app_174_heap_without_further_manifests: 0, 1;
    /// APP-174, APP-179a, LAY-75: whichever single allocation fails, each call returns its usual answer or out of memory, with four
    /// drivers.
    app_174_heap_with_four_drivers: 0, 4;
    /// APP-174, APP-179a, LAY-75: whichever single allocation fails, each call returns its usual answer or out of memory, with two
    /// additional layer manifests.
    app_174_heap_with_two_manifests: 2, 1;
    /// APP-174, APP-179a, LAY-75: whichever single allocation fails, each call returns its usual answer or out of memory, with two
    /// additional layer manifests and four drivers.
    app_174_heap_with_two_manifests_and_four_drivers: 2, 4;
    /// APP-174, APP-179a, LAY-75: whichever single allocation fails, each call returns its usual answer or out of memory, with twenty
    /// additional layer manifests.
    app_174_heap_with_twenty_manifests: 20, 1;
    /// APP-174, APP-179a, LAY-75: whichever single allocation fails, each call returns its usual answer or out of memory, with twenty
    /// additional layer manifests and four drivers.
    app_174_heap_with_twenty_manifests_and_four_drivers: 20, 4;
    /// APP-174, APP-179a, LAY-75: whichever single allocation fails, each call returns its usual answer or out of memory, with eighty
    /// additional layer manifests.
    app_174_heap_with_eighty_manifests: 80, 1;
    /// APP-174, APP-179a, LAY-75: whichever single allocation fails, each call returns its usual answer or out of memory, with eighty
    /// additional layer manifests and four drivers.
    app_174_heap_with_eighty_manifests_and_four_drivers: 80, 4;
    /// APP-174, APP-179a, APP-248: whichever single allocation fails, each call returns its usual answer or out of memory, with a settings
    /// file.
    app_174_heap_with_a_settings_file: 20, 4, |scene| with_settings(scene);
    /// APP-174, APP-179a, LAY-330: whichever single allocation fails, each call returns its usual answer or out of memory, with a declared
    /// order of layers.
    app_174_heap_with_an_order_of_layers: 20, 1, |scene| {
        scene.env("VK_LOADER_LAYERS_ORDER", "explicit>VK_LAYER_n*>implicit,*>VK_LAYER_wanted");
    };
    /// APP-174, APP-179a: whichever single allocation fails, each call returns its usual answer or out of memory, with a settings file and
    /// all levels of the log.
    app_174_heap_with_a_log: 20, 4, |scene| {
        with_settings(scene);
        scene.env("VK_LOADER_DEBUG", "all");
    };
}
