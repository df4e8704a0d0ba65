//! Tests that memory and time grow linearly with the size of files (LAY-72, BI-36, APP-249).

use std::fs;

use loader_tests::ash::vk;
use loader_tests::{Scene, Vk, call, case, is_peer, processor_time};

use crate::kit::{EXPLICIT, IMPLICIT, Layer, place, put_manifest, scan_once};

/// Maximum number of bytes of memory that the loader uses for each byte of a file.
const TIMES: u64 = 20;

/// Limits the run time of children to this number of seconds. A Khronos loader would need minutes, so its limit is 30 seconds, and the test
/// fails early.
fn limit(scene: &mut Scene, seconds: u64) -> &mut Scene {
    scene.limit(if is_peer() { 30 } else { seconds })
}

/// Returns a number from the status of this process, in KiB.
fn status(key: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").expect("the system tells");
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let number = line.and_then(|rest| rest.trim_start_matches(':').split_whitespace().next());
    number.and_then(|number| number.parse().ok()).expect("a number of KiB")
}

/// Returns the largest amount of memory, in bytes, that `work` adds.
fn peak_of(work: impl FnOnce()) -> u64 {
    // Resets the peak resident set size (`VmHWM`) to the present size.
    fs::write("/proc/self/clear_refs", "5").expect("the mark can be set");
    let before = status("VmRSS");
    work();
    status("VmHWM").saturating_sub(before) * 1024
}

/// Returns the processor time of `work` in seconds: the shortest of three runs.
fn time_of(mut work: impl FnMut()) -> f64 {
    (0..3).map(|_| processor_time(&mut work)).fold(f64::INFINITY, f64::min)
}

/// Puts a file with this text into the scene, and checks the peak memory of a layer query in a child.
#[track_caller]
fn within_bounds(scene: &mut Scene, file: &str, text: &str) {
    limit(scene, 120).unset("VK_LOADER_DEBUG");
    scene.file(file, text);
    let bytes = text.len() as u64;
    let outcome = scene.run(|vk| {
        let peak = peak_of(|| {
            scan_once(vk);
        });
        assert!(
            peak <= bytes * TIMES,
            "{peak} bytes for {bytes}, {} times",
            peak / bytes
        );
    });
    outcome.ok();
}

/// LAY-72, BI-5: each kind of JSON value uses at most twenty times the memory of the file size.
#[test]
fn lay_072_a_file_takes_at_most_twenty_times_its_size() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        for element in ["{\"\":0},", "[0],", "0,", "{},", "\"\\u0041\","] {
            let elements = element.repeat((3 << 20) / element.len());
            let text = format!(r#"{{"file_format_version": "1.2.0", "layers": [{elements}0]}}"#);
            within_bounds(scene, &format!("{EXPLICIT}/m.json"), &text);
        }
    });
}

/// Returns a layer object with few bytes.
fn small(number: usize) -> String {
    format!(
        r#"{{"name":"VK_LAYER_{number}","type":"GLOBAL","library_path":"l.so","api_version":"1.0.0","implementation_version":"1","description":"d","disable_environment":{{"D{number}":"1"}},"enable_environment":{{"VKL_TEST_NEVER_{number}":"1"}}}}"#
    )
}

/// LAY-72: a manifest with many layers uses at most twenty times the memory of its file size.
#[test]
fn lay_072_many_layers_take_at_most_twenty_times_the_size_of_their_file() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        let layers: Vec<String> = (0..20_000).map(small).collect();
        let text = format!(r#"{{"file_format_version":"1.2.0","layers":[{}]}}"#, layers.join(","));
        within_bounds(scene, &format!("{EXPLICIT}/m.json"), &text);
    });
}

/// Checks that one call with eight times `FEW` layers takes at most 24 times as long as with `FEW` layers.
#[track_caller]
fn in_proportion(scene: &mut Scene, put: impl Fn(&Scene, usize), call: impl Fn(&Vk) + Copy) {
    const FEW: usize = 2_000;
    limit(scene, 300).unset("VK_LOADER_DEBUG");
    let mut times = Vec::new();
    for count in [FEW, 8 * FEW] {
        put(scene, count);
        let outcome = scene.run(|vk| vk.say("time", time_of(|| call(vk))));
        times.push(outcome.ok().said("time")[0].parse::<f64>().expect("a time"));
    }
    // Eight times as many layers need about eight times as much time if the work is linear, and about 64 times as much if the work is
    // quadratic.
    assert!(times[1] < times[0] * 24.0, "{times:?}");
}

/// Writes layers into one manifest. With `meta`, also writes a meta-layer that contains all these layers.
fn put(scene: &Scene, folder: &str, count: usize, meta: bool) {
    let mut layers: Vec<String> = (0..count).map(small).collect();
    if meta {
        let components: Vec<String> = (0..count).map(|number| format!("\"VK_LAYER_{number}\"")).collect();
        let layer = Layer::implicit_meta("m", &[]).member("component_layers", format!("[{}]", components.join(",")));
        layers.push(layer.object());
    }
    let layers: Vec<&str> = layers.iter().map(String::as_str).collect();
    put_manifest(scene, &format!("{folder}/many.json"), "1.2.0", &layers);
}

/// LAY-72, BI-36: the time of a query grows linearly with the number of layers.
#[test]
fn lay_072_time_grows_with_the_number_of_layers() {
    case(|scene| {
        place(scene, &[]);
        in_proportion(
            scene,
            |scene, count| put(scene, EXPLICIT, count, false),
            |vk| {
                scan_once(vk);
            },
        );
    });
}

/// LAY-130, APP-216: the time grows linearly with the number of implicit layers, whose variables the loader reads and stores.
#[test]
fn app_216_time_grows_with_the_number_of_variables() {
    case(|scene| {
        place(scene, &[]);
        in_proportion(
            scene,
            |scene, count| put(scene, IMPLICIT, count, false),
            |vk| {
                scan_once(vk);
            },
        );
    });
}

/// BI-36, LAY-160: the time grows linearly with the number of a meta-layer's components.
#[test]
fn bi_36_time_grows_with_the_number_of_components() {
    case(|scene| {
        place(scene, &[]);
        in_proportion(
            scene,
            |scene, count| put(scene, IMPLICIT, count, true),
            |vk| {
                let mut count = 0;
                let result = call!(
                    vk,
                    PFN_vkEnumerateInstanceExtensionProperties(std::ptr::null(), &mut count, std::ptr::null_mut())
                );
                assert_eq!(result, vk::Result::SUCCESS);
            },
        );
    });
}
