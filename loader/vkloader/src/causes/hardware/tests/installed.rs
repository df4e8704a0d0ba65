//! Tests of drivers that are installed but not found, and of drivers of other cards.

use super::*;

#[test]
fn an_installed_driver_without_a_manifest_is_named() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"));
    system
        .file("dev/nvidiactl", "")
        .file("dev/nvidia0", "")
        .file("dev/dri/renderD128", "");
    system.file("usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0", "");
    let found = |report: Report| system.found(report).dropped.pop().expect("a finding");
    let one = found(idle(&["libvulkan_lvp.so"]));
    assert_eq!((one.code.as_str(), one.rank), ("hardware.no-manifest", rank::HARDWARE));
    assert!(
        one.advice.contains("\"library_path\": \"libGLX_nvidia.so.0\""),
        "{}",
        one.advice
    );
    assert!(
        one.advice.ends_with(">/etc/vulkan/icd.d/nvidia_icd.json"),
        "{}",
        one.advice
    );
    // If the machine has an ignored manifest, or a manifest in a folder that is not searched, the remedy names that manifest.
    system.file("usr/share/vulkan/icd.d/nvidia_icd.disabled", "libGLX_nvidia.so.0");
    let advice = found(idle(&["libvulkan_lvp.so"])).advice;
    assert!(
        advice.ends_with(
            "mv /usr/share/vulkan/icd.d/nvidia_icd.disabled /usr/share/vulkan/icd.d/nvidia_icd.disabled.json"
        ),
        "{advice}"
    );
    system.file("etc/vulkan/icd.d/nvidia_icd.json", "libGLX_nvidia.so.0");
    let advice = found(idle(&["libvulkan_lvp.so"])).advice;
    assert!(
        advice.starts_with("Name the manifest: VK_ADD_DRIVER_FILES=/etc/vulkan/icd.d/nvidia_icd.json"),
        "{advice}"
    );
    assert_eq!(found(idle(&["libGLX_nvidia.so.0"])).code, "hardware.not-used");
}

/// The driver of another card, and a manifest that a removed driver left, do not explain that the driver of the card is missing.
#[test]
fn a_driver_that_was_left_behind_is_not_the_cause() {
    for (vendor, kernel_driver, broken, words) in [
        ("0x1002", "amdgpu", "libGLX_nvidia.so.0", "libvulkan_radeon (openSUSE)"),
        (
            "0x10de",
            "nouveau",
            "/nowhere/libGLX_nvidia.so.0",
            "vulkan-nouveau (Arch)",
        ),
    ] {
        let system = System::new();
        system.card("0000:01:00.0", "0x030000", vendor, Some(kernel_driver));
        system.file("dev/dri/renderD128", "");
        let mut left = report();
        left.dropped.push(Dropped {
            rank: rank::BROKEN,
            subject: "driver".into(),
            code: "driver.not-opened".into(),
            ..codes::DRIVER_NONE_HAS_DEVICE.about(broken)
        });
        let found = system.found(left).dropped.pop().expect("a finding");
        assert_eq!(
            (found.code.as_str(), found.rank),
            ("hardware.no-driver", rank::HARDWARE)
        );
        assert!(found.advice.contains(words), "{}", found.advice);
    }
}

#[test]
fn a_driver_without_an_instance_is_the_cause_unless_it_lacks_a_library() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"));
    system
        .file("dev/nvidiactl", "")
        .file("dev/nvidia0", "")
        .file("dev/dri/renderD128", "");
    for (names_file, code) in [(false, Some("hardware.not-used")), (true, None)] {
        let mut refused = report();
        refused.dropped.push(Dropped {
            rank: rank::BROKEN,
            subject: "driver".into(),
            code: "driver.creation-failed".into(),
            names_file,
            ..codes::DRIVER_NONE_HAS_DEVICE.about("libGLX_nvidia.so.0")
        });
        let found = system.found(refused).dropped.split_off(1);
        assert_eq!(found.first().map(|one| one.code.as_str()), code);
        assert!(found.iter().all(|one| one.advice.contains("nvidia-smi")));
    }
}

/// A manifest that this user may not read may be the one that names the driver.
#[test]
fn a_closed_manifest_may_name_the_driver() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"));
    system
        .file("dev/dri/renderD128", "")
        .file("usr/lib/x86_64-linux-gnu/libvulkan_radeon.so", "");
    for (code, is_named) in [("file.not-opened", false), ("file.invalid-json", true)] {
        let mut report = report();
        report.dropped.push(Dropped {
            code: code.into(),
            rank: rank::BROKEN,
            ..codes::DRIVER_NONE_HAS_DEVICE.about("/usr/share/vulkan/icd.d/radeon_icd.json")
        });
        let found = system.found(report).dropped;
        let has_it = found.iter().any(|one| one.code == "hardware.no-manifest");
        assert_eq!(has_it, is_named, "{code}");
    }
}
