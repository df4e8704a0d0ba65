//! Variables and words that the loader of programs ignores, and a `vkloader` without its library.

use super::{differences, knows, with_peer};
use std::fs;

/// Without the library of this project, `vkloader` still reads the variables and manifests.
#[test]
fn a_missing_manifest_is_named_although_no_library_can_be_asked() {
    let Some((mut machine, _)) = with_peer() else { return };
    fs::remove_file(machine.path("libexec/vulkan-loader-rs/libvulkan.so.1")).expect("it was installed");
    let missing = machine.path("gone.json");
    machine.variable("VK_ICD_FILENAMES", missing.to_str().expect("plain"));
    let output = machine.run(&["explain"]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("VK_ERROR_INCOMPATIBLE_DRIVER"), "{words}");
    let expected = format!("{} in VK_ICD_FILENAMES is not there", missing.display());
    assert!(
        words.contains(&expected) && words.contains("unset VK_ICD_FILENAMES"),
        "{words}"
    );
}

/// The remedy is to choose the devices in words that the other loader knows, and the test does so.
#[test]
fn words_that_another_loader_ignores_are_named_with_a_choice_that_it_knows() {
    let Some((mut machine, peer)) = with_peer() else { return };
    let soft = machine.driver("soft", "device soft\ndevice.vendor 65541\ndevice.type 4\ndevice.uuid 2");
    let mut devices = vec![("VK_LOADER_VISIBLE_DEVICES", "type:cpu")];
    if knows(&peer, "VK_LOADER_DEVICE_SELECT") {
        devices.push(("VK_LOADER_DEVICE_SELECT", "driver:soft"));
    }
    for (name, value) in devices {
        machine.variable(name, value);
        let explained = machine.explain_with(&[]);
        let found = explained.found("variable.no-match");
        assert_eq!(found["name"], name, "{found:#}");
        let reason = found["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("only the loader of this project knows it"), "{reason}");
        assert!(
            differences(&explained, "variable")
                .iter()
                .any(|one| one["name"] == name)
        );
        let advice = found["advice"].as_str().unwrap_or_default().to_owned();
        machine.unset(name);
        if name == "VK_LOADER_VISIBLE_DEVICES" {
            assert_eq!(explained.devices(), ["card", "soft"]);
            assert!(
                advice.contains(&format!("_FILES={} PROGRAM", soft.display())) || advice.contains("VK_ICD_FILENAMES="),
                "{advice}"
            );
            machine.variable("VK_ICD_FILENAMES", soft.to_str().expect("plain"));
            assert_eq!(machine.explain_with(&[]).devices(), ["soft"]);
            machine.unset("VK_ICD_FILENAMES");
        } else {
            assert!(
                advice.contains("VK_LOADER_DEVICE_SELECT=10005:0001 PROGRAM"),
                "{advice}"
            );
            let order = explained.report["devices"][0]["order"].as_str().unwrap_or_default();
            assert!(order.contains("ignores VK_LOADER_DEVICE_SELECT"), "{order}");
            machine.variable(name, "10005:0001");
            let explained = machine.explain_with(&[]);
            assert_eq!(explained.devices()[0], "soft");
            assert!(
                !explained.codes().contains(&"variable.no-match"),
                "{:?}",
                explained.codes()
            );
        }
    }
}
