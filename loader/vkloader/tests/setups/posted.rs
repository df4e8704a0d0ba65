//! Set-ups that users describe in forums: hidden manifests, containers, second cards, and limits of the system.

use super::users::other_library_in_front;
use super::{Machine, Row, good, try_all};
use crate::machine::{built, skip, vkloader};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

const MANIFEST: &str = "data/vulkan/icd.d/good.json";

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "letters follow the name of a manifest in a variable",
        |machine| {
            good(machine);
            let path = format!("{}obs", machine.path("data/vulkan/icd.d/good.json").display());
            machine.variable("VK_DRIVER_FILES", path);
        },
        "variable.no-match",
    )
    .about("good.jsonobs")
    .remedy("Remove what follows .json", |machine| {
        let path = machine.path("data/vulkan/icd.d/good.json").display().to_string();
        machine.variable("VK_DRIVER_FILES", path);
    }),
    Row::new(
        "the disk was full when the manifest was written",
        |machine| {
            good(machine);
            machine.file("data/vulkan/icd.d/good.json", "");
        },
        "file.invalid-json",
    )
    .about("good.json is empty")
    .remedy("Reinstall", good),
    Row::new(
        "the library is a link to a version that was removed",
        |machine| {
            good(machine);
            let library = machine.path("libraries/libmock_good.so");
            fs::remove_file(&library).expect("just copied");
            symlink("libmock_good.so.1.2", library).expect("a link");
        },
        "driver.not-opened",
    )
    .about("is a link to libmock_good.so.1.2, which is not there")
    .remedy("Reinstall", |machine| {
        fs::remove_file(machine.path("libraries/libmock_good.so")).expect("a link");
        good(machine);
    }),
    Row::new(
        "the folder of manifests is a link to a disk that is not mounted",
        |machine| {
            good(machine);
            fs::rename(machine.path("data/vulkan/icd.d"), machine.path("data/vulkan/old")).expect("renamed");
            symlink("/nowhere/icd.d", machine.path("data/vulkan/icd.d")).expect("a link");
        },
        "driver.none-installed",
    )
    .about("is a link to /nowhere/icd.d")
    .remedy("correct the link", |machine| {
        fs::remove_file(machine.path("data/vulkan/icd.d")).expect("a link");
        fs::rename(machine.path("data/vulkan/old"), machine.path("data/vulkan/icd.d")).expect("renamed");
    }),
    Row::new(
        "a program that wraps drivers gave the manifest another name",
        |machine| {
            good(machine);
            fs::rename(
                machine.path(MANIFEST),
                machine.path("data/vulkan/icd.d/good_icd.disabled"),
            )
            .expect("renamed");
        },
        "driver.none-installed",
    )
    .about("good_icd.disabled is ignored")
    .remedy("good_icd.disabled.json", |machine| {
        fs::rename(
            machine.path("data/vulkan/icd.d/good_icd.disabled"),
            machine.path("data/vulkan/icd.d/good_icd.disabled.json"),
        )
        .expect("renamed");
    }),
    Row::new(
        "a preloaded library lacks a function that the driver needs",
        |machine| {
            other_library_in_front(machine);
            machine.unset("LD_LIBRARY_PATH");
            let library = machine.path("conda/libvkltplain.so");
            machine.variable("LD_PRELOAD", library.to_str().expect("plain"));
        },
        "driver.not-opened",
    )
    .about("conda/libvkltplain.so does not have")
    .remedy("conda/libvkltplain.so out of LD_PRELOAD", |machine| {
        machine.unset("LD_PRELOAD")
    })
    .gone(),
];

#[test]
fn each_cause_that_users_post_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}

/// Adds a PCI card with a render node to the imitated system.
pub(super) fn card(machine: &Machine, place: &str, vendor: &str, driver: Option<&str>) {
    let folder = format!("system/sys/bus/pci/devices/{place}");
    fs::create_dir_all(machine.path(&folder)).expect("folders");
    for (name, text) in [("class", "0x030000"), ("vendor", vendor), ("device", "0x2684")] {
        machine.file(&format!("{folder}/{name}"), text);
    }
    fs::create_dir_all(machine.path("system/dev/dri")).expect("folders");
    if let Some(driver) = driver {
        symlink(
            format!("/sys/bus/pci/drivers/{driver}"),
            machine.path(&format!("{folder}/driver")),
        )
        .expect("a link");
        fs::create_dir_all(machine.path(&format!("{folder}/drm/renderD128"))).expect("folders");
        machine.file("system/dev/dri/renderD128", "");
    }
}

/// Installs a driver whose library has the name of another driver's library. Returns the path of the library.
pub(super) fn driver_as(machine: &Machine, library: &str, lines: &str) -> String {
    machine.driver("own", lines);
    for ending in ["so", "conf"] {
        let to = match ending {
            "so" => library.to_owned(),
            _ => format!("{}.conf", library.trim_end_matches(".0").trim_end_matches(".so")),
        };
        let from = machine.path(&format!("libraries/libmock_own.{ending}"));
        fs::rename(from, machine.path(&format!("libraries/{to}"))).expect("one folder");
    }
    let path = machine.path(&format!("libraries/{library}"));
    machine.manifest("own", &path, "");
    path.to_str().expect("plain").into()
}

/// A container has NVIDIA's card, its nodes and its library, but no manifest, so only software drivers work.
#[test]
fn an_installed_driver_that_no_manifest_names_is_named_with_the_manifest() {
    let mut machine = Machine::new();
    machine.driver("soft", "device soft\ndevice.type 4");
    card(&machine, "0000:01:00.0", "0x10de", Some("nvidia"));
    machine.file("system/dev/nvidiactl", "");
    machine.file("system/dev/nvidia0", "");
    fs::create_dir_all(machine.path("nvidia")).expect("a folder");
    fs::copy(built("libmock_driver.so"), machine.path("nvidia/libGLX_nvidia.so.0")).expect("copied");
    let folder = machine.path("nvidia");
    machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
    if !machine.in_made_up_system(&["/sys", "/dev/dri", "/dev/nvidiactl", "/dev/nvidia0"]) {
        return;
    }
    let explained = machine.explain();
    assert_eq!(
        (explained.code, explained.verdict(), explained.first()),
        (0, "software-only", "hardware.no-manifest")
    );
    assert!(
        explained.report["dropped"][0]["file"]
            .as_str()
            .is_some_and(|file| file.ends_with("libGLX_nvidia.so.0"))
    );
    let advice = explained.advice();
    let (_, rest) = advice.split_once("echo '").expect("a command");
    let (text, _) = rest.split_once('\'').expect("a manifest");
    machine.file("data/vulkan/icd.d/nvidia_icd.json", text);
    let codes = machine.explain();
    assert!(!codes.codes().contains(&"hardware.no-manifest"), "{:?}", codes.codes());
}

#[test]
fn a_sandbox_without_the_kernels_list_of_devices_is_named() {
    let mut machine = Machine::new();
    machine.driver("empty", "");
    for folder in ["system/dev/dri", "system/sys"] {
        fs::create_dir_all(machine.path(folder)).expect("folders");
    }
    machine.file("system/dev/dri/renderD128", "");
    if !machine.in_made_up_system(&["/sys", "/dev/dri"]) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "hardware.no-sys"));
    assert!(
        explained.advice().contains("--ro-bind /sys /sys"),
        "{}",
        explained.advice()
    );
    card(&machine, "0000:01:00.0", "0x1002", Some("amdgpu"));
    assert!(!machine.explain().codes().contains(&"hardware.no-sys"));
}

/// The graphics card in the laptop's processor works, but the second card has no kernel driver.
#[test]
fn a_second_card_that_is_not_used_is_named_after_all_else() {
    let mut machine = Machine::new();
    driver_as(
        &machine,
        "libvulkan_radeon.so",
        "device first\ndevice.vendor 4098\ndevice.id 9860\ndevice.type 1",
    );
    card(&machine, "0000:05:00.0", "0x1002", Some("amdgpu"));
    card(&machine, "0000:01:00.0", "0x10de", None);
    if !machine.in_made_up_system(&["/sys", "/dev/dri"]) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.verdict()), (0, "hardware"));
    let found = explained.found("hardware.no-kernel-driver");
    assert!(
        found["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("0000:01:00.0"))
    );
    assert!(
        found["advice"]
            .as_str()
            .is_some_and(|advice| advice.contains("modprobe"))
    );
    assert_eq!(explained.codes().len(), 1, "{:?}", explained.codes());
    let text = String::from_utf8_lossy(
        &machine
            .run(&[
                "explain",
                "--library",
                crate::machine::library().to_str().expect("plain"),
            ])
            .stdout,
    )
    .into_owned();
    assert!(text.starts_with("+ 1 device can be used."), "{text}");
}

/// NVIDIA's driver returns no functions if the user may not open its nodes, so the nodes are the first cause.
#[test]
fn closed_nodes_come_before_the_driver_that_gives_no_functions() {
    let mut machine = Machine::new();
    let source = machine.file(
        "none.c",
        "void *vk_icdGetInstanceProcAddr(void *instance, const char *name) { return 0; }\n",
    );
    let library = machine.path("libraries/libGLX_nvidia.so.0");
    let made = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    assert!(made.expect("a compiler").success());
    machine.manifest("nvidia_icd", &library, "");
    card(&machine, "0000:01:00.0", "0x10de", Some("nvidia"));
    let node = machine.file("system/dev/nvidiactl", "");
    let of_card = machine.file("system/dev/nvidia0", "");
    fs::set_permissions(&of_card, fs::Permissions::from_mode(0o666)).expect("the owner may");
    fs::set_permissions(&node, fs::Permissions::from_mode(0o600)).expect("the owner may");
    if !machine.unprivileged() {
        return;
    }
    // `bwrap` must start as root to create this sandbox. `setpriv` then drops the privileges.
    machine.privileged();
    let own = |path: &str| machine.path(&format!("system{path}")).display().to_string();
    let mut words: Vec<String> = ["bwrap", "--bind", "/", "/", "--dev", "/dev"].map(String::from).into();
    for path in ["/sys", "/dev/dri", "/dev/nvidiactl", "/dev/nvidia0"] {
        words.extend(["--bind".into(), own(path), path.into()]);
    }
    words.extend(
        [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--inh-caps=-all",
        ]
        .map(String::from),
    );
    if !machine.start_with(words) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "hardware.no-permission"));
    assert!(
        explained.findings().contains("/dev/nvidiactl"),
        "{}",
        explained.findings()
    );
    assert!(
        explained.codes().contains(&"driver.no-global-function"),
        "{:?}",
        explained.codes()
    );
    fs::set_permissions(&node, fs::Permissions::from_mode(0o666)).expect("the owner may");
    assert_eq!(machine.explain().first(), "driver.no-global-function");
}

/// The kernel refuses to map a library, as it would because of a policy of SELinux. To cause the refusal, the library requests more memory
/// than a process can have.
#[test]
fn a_library_that_a_policy_forbids_comes_with_the_policy() {
    let mut machine = Machine::new();
    good(&mut machine);
    let path = machine.path("libraries/libmock_good.so");
    let mut bytes = fs::read(&path).expect("just copied");
    if bytes[4] != 2 {
        return skip("the test changes a library of 64 bits");
    }
    let number = |bytes: &[u8], at: usize, size: usize| {
        bytes[at..at + size]
            .iter()
            .rev()
            .fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let (table, size, count) = (number(&bytes, 32, 8), number(&bytes, 54, 2), number(&bytes, 56, 2));
    let last = (0..count)
        .map(|index| table + index * size)
        .filter(|&at| number(&bytes, at, 4) == 1)
        .max()
        .expect("a segment");
    bytes[last + 40..last + 48].copy_from_slice(&(1_u64 << 50).to_le_bytes());
    fs::write(&path, bytes).expect("written");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.not-opened"));
    assert!(explained.advice().contains("dmesg"), "{}", explained.advice());
    fs::create_dir_all(machine.path("system/sys/fs/selinux")).expect("folders");
    if !machine.in_made_up_system(&["/sys"]) {
        return;
    }
    let explained = machine.explain();
    let wanted = format!("restorecon -v {}", path.display());
    assert!(explained.advice().ends_with(&wanted), "{}", explained.advice());
    assert!(explained.findings().contains("SELinux"), "{}", explained.findings());
}

/// `HOME` is the folder of another user, as after `sudo -E` or `su`.
#[test]
fn the_users_own_manifests_are_named_if_home_is_that_of_another() {
    let mut machine = Machine::new();
    good(&mut machine);
    let home = machine.path("ann").to_str().expect("plain").to_owned();
    let folder = machine.path("ann/.local/share/vulkan/icd.d");
    fs::create_dir_all(&folder).expect("folders");
    fs::rename(machine.path(MANIFEST), folder.join("good.json")).expect("moved");
    let user = rustix_uid();
    fs::create_dir_all(machine.path("system/etc")).expect("folders");
    machine.file("system/etc/passwd", format!("ann:x:{user}:{user}::{home}:/bin/sh\n"));
    if !machine.in_made_up_system(&["/etc/passwd"]) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.none-installed"));
    assert!(
        explained.findings().contains("is not searched, but has good.json"),
        "{}",
        explained.findings()
    );
    let wanted = format!("HOME={home} PROGRAM");
    assert!(explained.advice().ends_with(&wanted), "{}", explained.advice());
    machine.variable("HOME", home);
    machine.variable("XDG_DATA_HOME", "");
    assert_eq!(machine.explain().devices(), ["one"]);
}

/// Returns the user ID of this process.
fn rustix_uid() -> u32 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").map_or(0, |state| state.uid())
}

#[test]
fn a_layer_that_a_program_asks_for_is_named_with_what_leaves_it_out() {
    let mut machine = Machine::new();
    good(&mut machine);
    machine.working_layer("explicit", "odd", "", "");
    let library = crate::machine::library();
    let library = library.to_str().expect("plain");
    let asked = |machine: &Machine, layer: &str| {
        let layer = format!("--layer={layer}");
        let words = [vkloader(), "probe", &layer, library];
        machine.explain_with(&[&["--library", library, "--"], &words[..]].concat())
    };
    let explained = asked(&machine, "VK_LAYER_VKBASALT_post_processing");
    let found = explained.found("instance.layer-missing");
    assert_eq!(found["name"], "VK_LAYER_VKBASALT_post_processing");
    assert!(
        explained.advice().contains("vkbasalt (Debian, Ubuntu)"),
        "{}",
        explained.advice()
    );
    let hides = r#"{"file_format_version": "1.1.2", "layer": {"name": "VK_LAYER_LUNARG_override", "type": "GLOBAL", "api_version": "1.3.0",
        "implementation_version": "1", "description": "", "component_layers": [], "override_paths": ["/nowhere"],
        "disable_environment": {"OFF": "1"}}}"#;
    let overriding = machine.file("data/vulkan/implicit_layer.d/VkLayer_override.json", hides);
    let explained = asked(&machine, "VK_LAYER_odd");
    assert_eq!(explained.first(), "instance.layer-left-out");
    let remedy = format!("rm {}", overriding.display());
    assert!(explained.advice().contains(&remedy), "{}", explained.advice());
    fs::remove_file(overriding).expect("just made");
    machine.variable("VK_LOADER_LAYERS_DISABLE", "~all~");
    let explained = asked(&machine, "VK_LAYER_odd");
    assert_eq!(
        (explained.first(), &explained.report["dropped"][0]["name"]),
        ("instance.layer-left-out", &"VK_LAYER_odd".into())
    );
    assert!(
        explained.findings().contains("[layer.disabled]"),
        "{}",
        explained.findings()
    );
    machine.unset("VK_LOADER_LAYERS_DISABLE");
    assert_eq!(asked(&machine, "VK_LAYER_odd").devices(), ["one"]);
}
