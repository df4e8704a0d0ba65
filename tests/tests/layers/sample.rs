//! Tests of the sample layer, explicit and implicit, on the mock driver and in vkcube on lavapipe.

use loader_tests::symlink;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use loader_tests::ash::vk;
use loader_tests::vk::{text, two_call};
use loader_tests::{Scene, Vk, built, call, case, is_peer, retried, under_test};

/// Name of the sample layer.
const NAME: &str = "VK_LAYER_SAMPLE_SampleLayer";
/// Number of frames that vkcube draws. More frames would not add command buffers, because vkcube records one for each image of its
/// swapchain, and some more before the first frame.
const FRAMES: &str = "20";
/// Time limit for vkcube and for the display server.
const LIMIT: Duration = Duration::from_secs(300);

/// Copies the library of the sample layer and the manifest text into a folder of the scene, as a user installs a layer.
fn install(scene: &Scene, folder: &str, manifest: &str) -> PathBuf {
    scene.file(
        &format!("{folder}/libsample_layer.so"),
        fs::read(built("sample_layer")).expect("cargo built it"),
    );
    scene.file(&format!("{folder}/sample_layer.json"), manifest);
    scene.path(folder)
}

/// Installs the layer with its explicit manifest, and returns the folder.
fn explicit(scene: &Scene) -> PathBuf {
    install(
        scene,
        "sample",
        include_str!("../../sample_layer/explicit/sample_layer.json"),
    )
}

/// Installs the layer with its implicit manifest in a folder that the normal search visits.
fn implicit(scene: &Scene) {
    install(
        scene,
        crate::kit::IMPLICIT,
        include_str!("../../sample_layer/implicit/sample_layer.json"),
    );
}

/// Returns the output of the layer, without the addresses.
fn printed(output: &str) -> Vec<String> {
    let lines = output.lines().filter_map(|line| line.split_once("Command buffer 0x"));
    lines
        .filter_map(|(_, rest)| rest.split_once(" ended with "))
        .map(|(_, counts)| counts.into())
        .collect()
}

/// Records two command buffers, and records the first command buffer twice.
fn record(vk: &Vk, layer: Option<&str>) {
    let spec = layer.iter().fold(vk.spec(), |spec, name| spec.layer(name));
    let instance = spec.create().expect("vkCreateInstance");
    let device = instance.device(instance.first(), &[]);
    let pool = device.pool();
    let buffers = device.command_buffers(pool, 2).expect("vkAllocateCommandBuffers");
    let info = vk::CommandBufferBeginInfo::default();
    for draws in [&[(36, 1)][..], &[(3, 2), (4, 10)]] {
        call!(device, PFN_vkBeginCommandBuffer(buffers[0], &info))
            .result()
            .expect("vkBeginCommandBuffer");
        for (vertices, instances) in draws {
            call!(device, PFN_vkCmdDraw(buffers[0], *vertices, *instances, 0, 0));
        }
        call!(device, PFN_vkCmdDrawIndexed(buffers[0], 6, 1, 0, 0, 0));
        call!(device, PFN_vkEndCommandBuffer(buffers[0]))
            .result()
            .expect("vkEndCommandBuffer");
    }
    call!(device, PFN_vkBeginCommandBuffer(buffers[1], &info))
        .result()
        .expect("vkBeginCommandBuffer");
    call!(device, PFN_vkEndCommandBuffer(buffers[1]))
        .result()
        .expect("vkEndCommandBuffer");
    device.free_command_buffers(pool, &buffers);
    device.destroy_pool(pool);
}

/// Output of the layer for [`record`].
const RECORDED: [&str; 3] = [
    "2 draws, 2 instances and 42 vertices",
    "3 draws, 13 instances and 52 vertices",
    "0 draws, 0 instances and 0 vertices",
];

#[test]
fn sample_layer_counts_when_the_application_asks_for_it() {
    case(|scene| {
        scene.usual_driver("driver");
        let folder = explicit(scene);
        scene.env("VK_LAYER_PATH", folder);
        let outcome = scene.run(|vk| record(vk, Some(NAME)));
        assert_eq!(printed(&outcome.ok().all()), RECORDED);
    });
}

#[test]
fn sample_layer_counts_as_an_implicit_layer_when_its_variable_says_so() {
    case(|scene| {
        scene.usual_driver("driver");
        implicit(scene);
        let silent = scene.run(|vk| record(vk, None));
        assert!(printed(&silent.ok().all()).is_empty());
        scene.env("ENABLE_SAMPLE_LAYER", "1");
        let outcome = scene.run(|vk| record(vk, None));
        assert_eq!(printed(&outcome.ok().all()), RECORDED);
        scene.env("DISABLE_SAMPLE_LAYER", "1");
        let disabled = scene.run(|vk| record(vk, None));
        assert!(printed(&disabled.ok().all()).is_empty());
    });
}

/// LAY-324: the layer describes itself, through its exported functions and through the chain.
#[test]
fn sample_layer_enumerates_itself() {
    case(|scene| {
        scene.usual_driver("driver");
        let folder = explicit(scene);
        let library = folder.join("libsample_layer.so").display().to_string();
        scene.env("VK_LAYER_PATH", folder);
        let outcome = scene.run(|vk| {
            let list: vk::PFN_vkEnumerateInstanceLayerProperties =
                vk.exported(&library, c"SampleLayer_EnumerateInstanceLayerProperties");
            // SAFETY: `count` is valid, and `out` is null or has space for `count` elements.
            let own: Vec<vk::LayerProperties> = two_call(|count, out| unsafe { list(count, out) }).expect("layers");
            assert_eq!(own.iter().map(|own| text(&own.layer_name)).collect::<Vec<_>>(), [NAME]);
            let name = std::ffi::CString::new(NAME).expect("a name without zeros");
            let extensions: vk::PFN_vkEnumerateInstanceExtensionProperties =
                vk.exported(&library, c"SampleLayer_EnumerateInstanceExtensionProperties");
            for (layer, expected) in [
                (Some(&name), vk::Result::SUCCESS),
                (None, vk::Result::ERROR_LAYER_NOT_PRESENT),
            ] {
                let mut count = 7;
                let layer = layer.map_or(std::ptr::null(), |layer| layer.as_ptr());
                // SAFETY: `layer` is null or a C string, and `count` is valid for writes.
                assert_eq!(unsafe { extensions(layer, &mut count, std::ptr::null_mut()) }, expected);
                assert_eq!(count, if layer.is_null() { 7 } else { 0 });
            }
            let instance = vk.spec().layer(NAME).create().expect("vkCreateInstance");
            let device = instance.first();
            let of_driver = instance.device_extensions(device).expect("extensions");
            assert!(of_driver.iter().any(|name| name == "VK_KHR_swapchain"), "{of_driver:?}");
            let mut count = 7;
            let query = call!(
                instance,
                PFN_vkEnumerateDeviceExtensionProperties(device, name.as_ptr(), &mut count, std::ptr::null_mut())
            );
            assert_eq!((query, count), (vk::Result::SUCCESS, 0));
        });
        outcome.ok();
    });
}

/// Display server without a screen. Dropping this value ends the server.
struct Display {
    process: Child,
    name: String,
}

impl Display {
    fn open() -> Self {
        let process = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "640x640x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb can be started");
        // From now on, dropping this value ends Xvfb, also after a later failure.
        let mut display = Self {
            process,
            name: String::new(),
        };
        let stdout = display.process.stdout.take().expect("a pipe was asked for");
        let mut told = libc::pollfd {
            fd: stdout.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let limit = i32::try_from(LIMIT.as_millis()).expect("some minutes");
        // SAFETY: the array has one structure, and its descriptor is open.
        let ready = retried(|| unsafe { libc::poll(&mut told, 1, limit) });
        assert_eq!(
            ready.expect("a descriptor can be waited for"),
            1,
            "Xvfb told no display within {limit} ms"
        );
        let mut number = String::new();
        let read = BufReader::new(stdout).read_line(&mut number);
        assert!(matches!(read, Ok(2..)), "Xvfb told no display");
        display.name = format!(":{}", number.trim());
        display
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // The process can have ended already, so the test ignores an error.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs vkcube on the library under test with lavapipe, and returns its output.
fn vkcube(scene: &Scene, variables: &[(&str, &Path)]) -> String {
    let display = Display::open();
    let library = scene.folder("library");
    let link = library.join("libvulkan.so.1");
    if !is_peer() && !link.exists() {
        symlink(under_test(), link).expect("links can be made");
    }
    let output = scene.path("vkcube.txt");
    let file = fs::File::create(&output).expect("scratch files can be written");
    let mut child = Command::new("vkcube")
        .args(["--c", FRAMES])
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| name == "PATH"))
        .env("HOME", scene.path("home"))
        .env("XDG_RUNTIME_DIR", scene.path("."))
        .env("LD_LIBRARY_PATH", library)
        .env("VK_DRIVER_FILES", lavapipe())
        .env("DISPLAY", &display.name)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stderr(file.try_clone().expect("a file can be shared"))
        .stdout(file)
        .spawn()
        .expect("vkcube can be started");
    let end = Instant::now() + LIMIT;
    let status = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break status,
            None if Instant::now() > end => {
                child.kill().expect("a running child can be ended");
                break child.wait().expect("a child can be waited for");
            }
            None => sleep(Duration::from_millis(10)),
        }
    };
    let text = fs::read_to_string(output).expect("vkcube's output can be read");
    assert!(status.success(), "vkcube ended with {status}\n{text}");
    text
}

/// Returns the path of lavapipe's manifest.
fn lavapipe() -> PathBuf {
    let folder = fs::read_dir("/usr/share/vulkan/icd.d").expect("a driver is installed");
    let mut found = folder.flatten().map(|entry| entry.path());
    let lavapipe = found.find(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("lvp_icd"))
    });
    lavapipe.expect("lavapipe is installed")
}

/// Checks the layer's output for vkcube: each frame has one draw of twelve triangles, which form a cube.
fn check_cubes(text: &str) {
    let lines = printed(text);
    let cubes = lines
        .iter()
        .filter(|line| *line == "1 draws, 1 instances and 36 vertices")
        .count();
    // The other command buffers prepare textures and draw nothing.
    let empty = lines
        .iter()
        .filter(|line| *line == "0 draws, 0 instances and 0 vertices")
        .count();
    assert!(cubes >= 2, "{lines:?}\n{text}");
    assert_eq!(cubes + empty, lines.len(), "{lines:?}");
}

#[test]
fn sample_layer_counts_vkcube_as_an_explicit_layer() {
    case(|scene| {
        let folder = explicit(scene);
        check_cubes(&vkcube(
            scene,
            &[("VK_LAYER_PATH", &folder), ("VK_INSTANCE_LAYERS", Path::new(NAME))],
        ));
    });
}

#[test]
fn sample_layer_counts_vkcube_as_an_implicit_layer() {
    case(|scene| {
        implicit(scene);
        let data = scene.path("xdg/data-home");
        let on = Path::new("1");
        check_cubes(&vkcube(scene, &[("XDG_DATA_HOME", &data), ("ENABLE_SAMPLE_LAYER", on)]));
        let text = vkcube(scene, &[("XDG_DATA_HOME", &data)]);
        assert!(printed(&text).is_empty(), "{text}");
    });
}
