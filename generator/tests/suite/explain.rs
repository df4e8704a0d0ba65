//! Tests of `explain`, which prints all facts about a name, and the lines of the registry that define it (GEN-2).

use crate::common::{repository, xml_folder};
use std::fs;
use std::process::Command;

fn explain(name: &str, more: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_vkgen"))
        .args(["explain", name])
        .args(more)
        .current_dir(repository())
        .output()
        .expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().expect("a code"),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn good(name: &str) -> String {
    let (code, text, errors) = explain(name, &["--input", "/nowhere"]);
    assert_eq!(code, 0, "{errors}");
    text
}

/// Asserts that the text has a place `FILE:LINE` in `file`, and that this line contains `content`.
fn assert_place(text: &str, file: &str, content: &str) {
    let line = text.lines().find_map(|line| line.split_once(&format!("{file}:")));
    let (_, rest) = line.unwrap_or_else(|| panic!("no place in {file}:\n{text}"));
    let number: usize = rest
        .chars()
        .take_while(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .expect("a line");
    let found = fs::read_to_string(repository().join(file)).expect(file);
    let found = found.lines().nth(number - 1).expect("the line");
    assert!(found.contains(content), "{file}:{number}: {found}");
}

#[test]
fn a_special_command_says_why_and_where() {
    let text = good("vkCreateSwapchainKHR");
    for fact in [
        "device, dispatched on VkDevice",
        "VK_KHR_swapchain",
        "const VkSwapchainCreateInfoKHR* pCreateInfo,",
        "on every target",
        "the terminator if the device has VK_KHR_swapchain",
        "S4: ",
        "(APP-50); the terminator unwraps a surface",
        "crate::entry::create_swapchain_khr",
        "crate::terminator::create_swapchain_khr",
    ] {
        assert!(text.contains(fact), "no {fact:?} in\n{text}");
    }
    assert_place(&text, "generated/trampoline/device.rs", "fn vkCreateSwapchainKHR(");
    assert_place(&text, "generated/terminator/device.rs", "fn vkCreateSwapchainKHR(");
    assert_place(&text, "generated/dispatch/device.rs", "    vkCreateSwapchainKHR: ");
    assert_place(
        &text,
        "generated/dispatch/device_terminator.rs",
        "    vkCreateSwapchainKHR: ",
    );
    assert_place(&text, "generated/lookup.rs", "vkCreateSwapchainKHR: Device");
    assert_place(&text, "generator/policy.toml", "\"vkCreateSwapchainKHR\"");
    assert_place(&text, "registry/snapshot/commands.txt", "command vkCreateSwapchainKHR");
}

#[test]
fn a_hand_written_body_is_found_in_the_source() {
    for (command, called, name) in [
        (
            "vkCreateInstance",
            "crate::entry::create_instance",
            "fn create_instance",
        ),
        (
            "vkCreateInstance",
            "crate::terminator::create_instance",
            "fn create_instance",
        ),
        // The module of the terminators re-exports the body of the command in the next row, together with all other items of the module
        // that defines the body.
        (
            "vkGetPhysicalDeviceSurfaceCapabilities2KHR",
            "crate::terminator::get_physical_device_surface_capabilities2_khr",
            "fn get_physical_device_surface_capabilities2_khr",
        ),
        // Macros define the bodies of the commands in the next rows. Each row of a macro defines one body.
        (
            "vkCreateXcbSurfaceKHR",
            "crate::terminator::create_xcb_surface_khr",
            "create_xcb_surface_khr: ",
        ),
        (
            "vkSetDebugUtilsObjectNameEXT",
            "crate::terminator::set_debug_utils_object_name_ext",
            "set_debug_utils_object_name_ext, ",
        ),
    ] {
        let text = good(command);
        let mut lines = text.lines().skip_while(|line| !line.ends_with(called));
        let place = lines
            .nth(1)
            .unwrap_or_else(|| panic!("nothing behind {called}:\n{text}"))
            .trim();
        let (file, _) = place.split_once(':').expect("FILE:LINE");
        assert!(file.starts_with("loader/src/"), "{place}");
        assert_place(place, file, name);
    }
}

#[test]
fn a_pass_through_and_a_shared_command_say_so() {
    let text = good("vkCmdDraw");
    assert!(
        text.contains("pass-through") && text.contains("none: the chain ends in the driver"),
        "{text}"
    );
    let text = good("vkGetPhysicalDeviceFeatures2KHR");
    assert!(
        text.contains("alias of        vkGetPhysicalDeviceFeatures2\n"),
        "{text}"
    );
    assert!(text.contains("that of vkGetPhysicalDeviceFeatures2"), "{text}");
    assert_place(
        &text,
        "generated/trampoline/physical_device.rs",
        "fn vkGetPhysicalDeviceFeatures2(",
    );
}

#[test]
fn extensions_handles_and_other_names_are_explained() {
    for (name, facts) in [
        (
            "VK_KHR_surface",
            &[
                "instance extension",
                "vkDestroySurfaceKHR (instance)",
                "number          1\n",
            ][..],
        ),
        (
            "VkSurfaceKHR",
            &["wraps it", "parent          VkInstance", "VK_OBJECT_TYPE_SURFACE_KHR"],
        ),
        ("VkQueue", &["dispatchable handle", "15 are dispatched on it"]),
        ("VkApplicationInfo", &["structure or union, emitted with its members"]),
        (
            "VkPhysicalDeviceFeatures2KHR",
            &["type, alias of VkPhysicalDeviceFeatures2"],
        ),
        ("VK_ANDROID_native_buffer", &["disabled extension"]),
        ("vkGetSwapchainGrallocUsageANDROID", &["reaches no table", "why "]),
    ] {
        let text = good(name);
        for fact in facts {
            assert!(text.contains(fact), "{name}: no {fact:?} in\n{text}");
        }
    }
}

#[test]
fn an_unknown_name_gets_suggestions() {
    let (code, _, errors) = explain("createswapchain", &[]);
    assert_eq!(code, 3);
    assert!(errors.contains("vkCreateSwapchainKHR"), "{errors}");
    let (code, _, errors) = explain("juggle", &[]);
    assert_eq!(code, 3);
    assert!(errors.contains("nothing is known of \"juggle\""), "{errors}");
}

#[test]
fn every_contributing_element_has_its_line() {
    let vk = xml_folder().join("vk.xml");
    if !vk.is_file() {
        return crate::common::skip(format_args!("no {}; make registry fetches it", vk.display()));
    }
    let folder = xml_folder();
    let (_, text, _) = explain("vkGetDeviceQueue2", &["--input", folder.to_str().expect("UTF-8")]);
    let xml = fs::read_to_string(&vk).expect("the XML");
    let lines: Vec<&str> = xml.lines().collect();
    let mut seen = Vec::new();
    for line in text.lines() {
        let Some((_, rest)) = line.split_once("vk.xml:") else {
            continue;
        };
        let (number, path) = rest.split_once(": ").expect("LINE: PATH");
        let number: usize = number.parse().expect("a line");
        // The first line of the definition has only the start tag, and the name is on a later line.
        assert!(
            lines[number - 1..number + 2].concat().contains("vkGetDeviceQueue2"),
            "{line}"
        );
        seen.push(path.to_owned());
    }
    assert!(seen.iter().any(|path| path == "registry/commands/command"), "{seen:?}");
    assert!(
        seen.iter()
            .any(|path| path.starts_with("registry/feature/require/command")),
        "{seen:?}"
    );
}
