//! `vkloader explain` for programs that fail: without a display, and after a failed call.

#[path = "../machine/mod.rs"]
mod machine;

mod displays;
mod others;
mod unasked;
mod untraced;
mod windows;

use machine::{Explained, Machine, library, vkloader};
use std::process::Command;

/// Compiles a program that is linked against a library called `soname`. The program's first argument names a library to open. With a second
/// argument, the program also creates an instance and requests a device with an unknown extension. With a third argument, the program kills
/// itself with SIGKILL before it requests the device.
fn with_library(machine: &Machine, soname: &str) -> String {
    let folder = machine.path("window");
    std::fs::create_dir_all(&folder).expect("a folder");
    let source = machine.file("empty.c", "int empty(void) { return 0; }\n");
    let build = |words: &[&str], out: &str, source: &std::path::Path| {
        let status = Command::new("cc").args(["-o", out]).arg(source).args(words).status();
        assert!(status.expect("a compiler").success());
    };
    let library = folder.join(soname);
    let named = format!("-Wl,-soname,{soname}");
    build(&["-shared", "-fPIC", &named], library.to_str().expect("plain"), &source);
    let text = "#include <dlfcn.h>\n#include <signal.h>\n#include <stddef.h>\n\
        struct instance { int type; const void *next; unsigned flags; const void *app; unsigned layers; const void *names; unsigned count; const void *list; };\n\
        struct queue { int type; const void *next; unsigned flags, family, count; const float *priorities; };\n\
        struct device { int type; const void *next; unsigned flags, queues; const void *queue; unsigned layers; const void *names; unsigned count; const char **list; const void *features; };\n\
        int empty(void);\n\
        int main(int n, char **v) { void *l = dlopen(v[1], 2); if (!l) return 9; if (n < 3) return 1 + empty();\n\
        int (*create)(const void *, const void *, void **) = dlsym(l, \"vkCreateInstance\");\n\
        int (*list)(void *, unsigned *, void **) = dlsym(l, \"vkEnumeratePhysicalDevices\");\n\
        int (*make)(void *, const void *, const void *, void **) = dlsym(l, \"vkCreateDevice\");\n\
        struct { int type; const void *next, *name; unsigned version; const void *engine; unsigned other, api; } app = {0, NULL, NULL, 0, NULL, 0, 4206592};\n\
        struct instance i = {1, NULL, 0, &app}; void *made, *card, *device; unsigned one = 1; float p = 1;\n\
        if (create(&i, NULL, &made)) return 8; if (list(made, &one, &card) < 0) return 7;\n\
        if (n > 3) raise(9); const char *name = \"VK_KHR_nowhere\"; struct queue q = {2, NULL, 0, 0, 1, &p};\n\
        struct device d = {3, NULL, 0, 1, &q, 0, NULL, 1, &name}; return make(card, &d, NULL, &device) ? 2 : 0; }\n";
    let source = machine.file("program.c", text);
    let program = machine.path("program");
    let path = format!("-Wl,-rpath,{}", folder.display());
    let library = library.to_str().expect("plain");
    build(&[library, &path, "-ldl"], program.to_str().expect("plain"), &source);
    program.to_str().expect("plain").into()
}

/// Returns the path that a remedy gives to a loader which it moves aside.
fn aside(loader: &str) -> String {
    loader.replace("/libvulkan.so.1", "/off.libvulkan.so.1")
}

/// Replaces a part of the source of a program that [`with_library`] compiled, and compiles the program again.
fn change(machine: &Machine, soname: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(machine.path("program.c")).expect("just written");
    assert!(text.contains(from), "{text}");
    let source = machine.file("program.c", format!("#include <stdlib.h>\n{}", text.replace(from, to)));
    let folder = machine.path("window");
    let mut compiler = Command::new("cc");
    compiler
        .arg("-o")
        .arg(machine.path("program"))
        .args([source, folder.join(soname)]);
    let path = format!("-Wl,-rpath,{}", folder.display());
    assert!(compiler.args([&path, "-ldl"]).status().expect("a compiler").success());
}

/// Runs `vkloader explain` for a program that [`with_library`] compiled, and returns the report.
fn of_program(machine: &Machine, program: &str, more: &[&str]) -> Explained {
    let file = library();
    let words = [
        &["explain", "--json", "--", program, file.to_str().expect("plain")],
        more,
    ]
    .concat();
    let output = machine.run(&words);
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&output.stderr)));
    Explained {
        report,
        code: output.status.code().expect("it ends by itself"),
    }
}

#[test]
fn the_failed_call_of_a_program_without_windows_is_the_first_cause() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libother.so.1");
    let explained = of_program(&machine, &program, &["device"]);
    assert_eq!(explained.first(), "program.call-failed", "{:#}", explained.report);
    assert!(
        explained
            .findings()
            .contains("vkCreateDevice returned VK_ERROR_EXTENSION_NOT_PRESENT"),
        "{}",
        explained.findings()
    );
    let reason = explained.report["dropped"][0]["reason"].to_string();
    assert!(reason.contains("asked for VK_KHR_nowhere, which neither"), "{reason}");
    let advice = explained.advice();
    assert!(advice.starts_with("Update the driver of the device"), "{advice}");
    assert!(!explained.codes().contains(&"display.missing"));
    assert!(
        !explained.report["dropped"].to_string().contains("asks for Vulkan"),
        "{:#}",
        explained.report
    );
    machine.driver("good", "api_version 1.1.0\ndevice one\ndevice.api_version 1.1.0");
    let newer = machine.driver("newer", "device two");
    let explained = of_program(&machine, &program, &["device"]);
    let found = explained.found("program.failed").to_string();
    assert!(!found.contains("asks for Vulkan"), "{found}");
    std::fs::remove_file(newer).expect("a manifest");
    let explained = of_program(&machine, &program, &["device"]);
    let found = explained.found("program.failed").to_string();
    assert!(
        found.contains("ended with status 2. It asks for Vulkan 1.3.0, which no device has."),
        "{found}"
    );
    assert!(found.contains("one has Vulkan 1.1.0: "), "{found}");
    assert!(found.contains("needs an older version of the program"), "{found}");
}

/// Many programs request the newest version that the loader has, and use less of it.
#[test]
fn a_version_that_the_program_does_not_need_is_not_the_cause() {
    let machine = Machine::new();
    machine.driver("good", "api_version 1.1.0\ndevice one\ndevice.api_version 1.1.0");
    let program = with_library(&machine, "libother.so.1");
    let of_version = |arguments: &[&str]| {
        let explained = of_program(&machine, &program, arguments);
        explained
            .found("program.failed")
            .to_string()
            .contains("asks for Vulkan")
    };
    assert!(of_version(&["device"]), "it created no device");
    let explained = of_program(&machine, &program, &["device"]);
    let version = explained.report["loader"]["version"].as_str().unwrap_or_default();
    let numbers: Vec<u32> = version.split('.').filter_map(|number| number.parse().ok()).collect();
    let version = (numbers[0] << 22) | (numbers[1] << 12) | numbers[2];
    change(&machine, "libother.so.1", "4206592", &version.to_string());
    assert!(!of_version(&["device"]), "the version is that of the loader");
    change(&machine, "libother.so.1", &version.to_string(), "4206592");
    change(
        &machine,
        "libother.so.1",
        "1, &name}; return make(card, &d, NULL, &device) ? 2 : 0",
        "0, &name}; return make(card, &d, NULL, &device) ? 2 : 1",
    );
    let explained = of_program(&machine, &program, &["device"]);
    assert!(
        !explained.report["dropped"].to_string().contains("asks for Vulkan"),
        "it created a device"
    );
}

/// Checks that the failure of a program with the changes `changes` in its text is the first finding.
fn fails_by_itself(machine: &Machine, changes: &[(&str, &str)]) {
    let program = with_library(machine, "libother.so.1");
    for (from, to) in changes {
        change(machine, "libother.so.1", from, to);
    }
    let explained = of_program(machine, &program, &["device"]);
    assert_eq!(explained.first(), "program.failed", "{:#}", explained.report);
}

/// Programs ask for the extensions of layers that they do not need.
#[test]
fn a_failed_call_that_the_program_survives_is_not_the_cause() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let asks = "unsigned found = 0; ((int (*)(const char *, unsigned *, void *))dlsym(l, \"vkEnumerateInstanceExtensionProperties\"))(\"VK_LAYER_nowhere\", &found, NULL); if (create(&i";
    let ends = (
        "1, &name}; return make(card, &d, NULL, &device) ? 2 : 0",
        "0, &name}; return make(card, &d, NULL, &device) ? 2 : 1",
    );
    fails_by_itself(&machine, &[("if (create(&i", asks), ends]);
}

/// A program that got an instance and failed before it listed devices did not miss a driver or layer.
#[test]
fn broken_files_explain_no_failure_before_the_program_lists_devices() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    machine.manifest("gone", std::path::Path::new("/nowhere/libgone.so"), "");
    fails_by_itself(&machine, &[("if (list(made", "if (made) return 3; if (list(made")]);
}

/// A program that ignores the failure of a call often uses the missing device, so that the crash follows from the failure.
#[test]
fn a_crash_of_a_program_without_a_device_comes_after_the_reason() {
    let machine = Machine::new();
    machine.manifest("gone", std::path::Path::new("/nowhere/libgone.so"), "");
    let program = with_library(&machine, "libother.so.1");
    change(
        &machine,
        "libother.so.1",
        "if (create(&i, NULL, &made)) return 8;",
        "if (create(&i, NULL, &made)) *(volatile int *)0 = 1;",
    );
    let explained = of_program(&machine, &program, &["device"]);
    let codes = explained.codes();
    assert!(codes.contains(&"program.crashed"), "{codes:?}");
    assert_eq!(explained.first(), "driver.not-opened", "{codes:?}");
}

/// A software device of the version that the program asks for does not help a program that wants a card.
#[test]
fn a_card_that_is_older_than_the_program_asks_for_is_named_beside_software() {
    let machine = Machine::new();
    machine.driver("card", "api_version 1.1.0\ndevice card\ndevice.api_version 1.1.0");
    machine.driver("soft", "device soft\ndevice.type 4");
    let program = with_library(&machine, "libother.so.1");
    change(
        &machine,
        "libother.so.1",
        "if (n > 3) raise(9);",
        "if (n > 3) return 4;",
    );
    let explained = of_program(&machine, &program, &["device", "chooses none"]);
    let found = explained.found("program.failed").to_string();
    assert!(
        found.contains("ended with status 4. It asks for Vulkan 1.3.0, which no graphics card has."),
        "{found}"
    );
    assert!(
        found.contains("card has Vulkan 1.1.0: ") && !found.contains("soft has"),
        "{found}"
    );
}

#[test]
fn a_name_that_no_device_has_explains_a_program_that_finds_none() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libother.so.1");
    let wine = machine.path("wine64");
    steady::copy_program(program.as_ref(), &wine, 0o755);
    let wine = wine.to_str().expect("plain");
    for (program, value, is_named) in [(wine, "RTX", true), (&program, "RTX", true), (wine, "on", false)] {
        machine.variable("DXVK_FILTER_DEVICE_NAME", value);
        let explained = of_program(&machine, program, &["device"]);
        let shown = format!("{:#}", explained.report["dropped"]);
        assert_eq!(shown.contains("DXVK_FILTER_DEVICE_NAME is RTX"), is_named, "{shown}");
        // Only programs for Windows read the variable.
        let is_first = explained.first() == "variable.of-program";
        assert_eq!(is_first, is_named && program == wine, "{shown}");
        assert_eq!(
            is_first,
            explained
                .advice()
                .contains("DXVK_FILTER_DEVICE_NAME=one PROGRAM, or: unset"),
            "{shown}"
        );
        machine.unset("DXVK_FILTER_DEVICE_NAME");
    }
}

/// A program reads a variable with which it chooses its device by number.
#[test]
fn a_variable_that_the_program_itself_reads_is_named() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libother.so.1");
    change(
        &machine,
        "libother.so.1",
        "if (n > 3)",
        "if (getenv(\"GGML_VK_VISIBLE_DEVICES\")) abort(); if (n > 3)",
    );
    machine.variable("GGML_VK_VISIBLE_DEVICES", "3");
    let explained = of_program(&machine, &program, &["device"]);
    assert_eq!(
        explained.first(),
        "variable.of-program",
        "{:#}",
        explained.report["dropped"]
    );
    assert!(
        explained.advice().contains("GGML_VK_VISIBLE_DEVICES=0 PROGRAM"),
        "{}",
        explained.advice()
    );
    machine.unset("GGML_VK_VISIBLE_DEVICES");
    let explained = of_program(&machine, &program, &["device"]);
    assert!(
        !explained.codes().contains(&"variable.of-program"),
        "{:?}",
        explained.codes()
    );
}

#[test]
fn a_program_that_sigkill_ended_was_ended_from_outside() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libother.so.1");
    let explained = of_program(&machine, &program, &["device", "killed"]);
    assert_eq!(explained.first(), "program.killed", "{:#}", explained.report);
    assert!(explained.advice().contains("dmesg"), "{}", explained.advice());
}

#[test]
fn a_variable_of_a_script_counts_for_the_list_of_devices() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    machine.working_layer("implicit", "calm", "", "");
    let line = "export VK_LOADER_VENDOR_ID_FILTER=0xdead; exec \"$0\" probe \"$1\" >/dev/null";
    let (own, file) = (vkloader(), library());
    let file = file.to_str().expect("plain");
    let output = machine.run(&["explain", "--json", "--", "sh", "-c", line, own, file]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(output.status.code(), Some(1), "{report:#}");
    assert_eq!(report["devices"], serde_json::json!([]));
    let first = &report["dropped"][0];
    assert!(
        first["findings"].to_string().contains("set by the program"),
        "{first:#}"
    );
    let advice = first["advice"].as_str().unwrap_or_default();
    assert!(
        advice.ends_with("remove VK_LOADER_VENDOR_ID_FILTER from the script or command that starts the program"),
        "{advice}"
    );
}

/// Explains a program that holds the text `name`, and opens the library with the name that consists of `name` and `rest`.
fn opening(machine: &Machine, name: &str, rest: &str) -> Explained {
    let text = format!(
        "#include <dlfcn.h>\n#include <string.h>\nstatic const char *volatile held = \"{name}\";\n\
         int main(void) {{ char name[32]; strcpy(name, held); void *l = dlopen(strcat(name, \"{rest}\"), 2); void *f = l ? dlsym(l, \"vkCreateInstance\") : 0;\n\
         int info[16] = {{1}}; void *made; return f ? ((int (*)(void *, void *, void **))f)(info, 0, &made) : 1; }}\n"
    );
    let program = machine.c_program(&text);
    let file = library();
    machine.explain_with(&["--library", file.to_str().expect("plain"), "--", &program])
}

/// A program opens the loader by the name `libvulkan.so`. Only packages for developers contain a file of this name.
#[test]
fn a_program_that_opens_the_missing_link_to_the_loader_is_said_as_that() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let found = Command::new("cc")
        .arg("-print-file-name=libvulkan.so")
        .output()
        .expect("a compiler");
    let link = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    if link.starts_with('/') {
        // The sandbox replaces the link by a file that is not a library.
        let words = [
            "bwrap",
            "--bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--ro-bind",
            "/dev/null",
            &link,
        ];
        if !machine.start_with(words.map(String::from).into()) {
            return;
        }
    }
    let found = opening(&machine, "libvulkan.so", "");
    assert_eq!(found.first(), "loader.not-opened", "{:#}", found.report);
    assert!(
        found.advice().contains("libvulkan-dev (Debian, Ubuntu)"),
        "{}",
        found.advice()
    );
    assert!(
        !opening(&machine, "libvulkan.so.1", "")
            .codes()
            .contains(&"loader.not-opened")
    );
    // A script, or a library of the program, may hold the name in its place.
    let held = opening(&machine, "libvulkan", ".so");
    let reason = held.found("loader.not-opened")["reason"].to_string();
    assert!(reason.contains("unless it then opens the other name"), "{reason}");
    // A program that holds the name of the link may still open the library by its own name.
    let other = opening(&machine, "libvulkan.so", ".1");
    assert!(!other.codes().contains(&"loader.not-opened"), "{:#}", other.report);
    // The Vulkan SDK has the link in a folder of its own.
    let folder = machine.path("sdk");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::copy(library(), folder.join("libvulkan.so")).expect("a file");
    machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
    let codes = opening(&machine, "libvulkan.so", "");
    assert!(!codes.codes().contains(&"loader.not-opened"), "{:#}", codes.report);
}

#[test]
fn the_verdict_is_the_failed_call_and_not_the_abort_after_it() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libother.so.1");
    let ending = "return make(card, &d, NULL, &device) ? 2 : 0;";
    change(
        &machine,
        "libother.so.1",
        ending,
        "make(card, &d, NULL, &device); abort();",
    );
    let library = library();
    let output = machine.run(&["explain", "--", &program, library.to_str().expect("plain"), "2"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let verdict: Vec<&str> = text.lines().take(4).collect();
    let verdict = verdict.join(" ");
    assert!(verdict.contains("The program failed"), "{text}");
    assert!(verdict.contains("VK_KHR_nowhere"), "{text}");
    assert!(!verdict.contains("crashed"), "{text}");
    // The failed call also comes first if only software can be used.
    machine.driver("good", "device one\ndevice.type 4");
    let output = machine.run(&["explain", "--", &program, library.to_str().expect("plain"), "2"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("x The program failed; only software"), "{text}");
}

/// The program asks for a feature of an old and of a newer structure, and the driver has neither.
#[test]
fn the_features_that_a_device_lacks_are_named() {
    let machine = Machine::new();
    machine.driver("good", "device one\nfail vkCreateDevice -8\ninterface 5");
    let program = with_library(&machine, "libother.so.1");
    change(
        &machine,
        "libother.so.1",
        "struct device d = {3, NULL, 0, 1, &q, 0, NULL, 1, &name};",
        "struct { int type; const void *next; unsigned words[12]; } newer = {49, NULL, {0, 0, 1}}; unsigned old[55] = {0};\n\
         old[44] = 1; struct device d = {3, &newer, 0, 1, &q, 0, NULL, 0, NULL, old}; (void)name;",
    );
    let explained = of_program(&machine, &program, &["device"]);
    assert_eq!(explained.first(), "program.call-failed", "{:#}", explained.report);
    let reason = explained.report["dropped"][0]["reason"].as_str().unwrap_or_default();
    assert_eq!(
        reason,
        "The program asked for the features sparseBinding, storagePushConstant16, which one lacks, so it got no device."
    );
    assert!(
        explained.advice().contains("without these features"),
        "{}",
        explained.advice()
    );
}

/// The program examines the features of the device itself, so no call fails.
#[test]
fn a_layer_that_hides_features_is_named() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.working_layer("implicit", "odd", "fail vkGetPhysicalDeviceFeatures2 0", "");
    machine.working_layer("implicit", "calm", "", "");
    let program = with_library(&machine, "libother.so.1");
    let ending = "return make(card, &d, NULL, &device) ? 2 : 0;";
    change(&machine, "libother.so.1", ending, "return make && device ? 2 : 3;");
    let explained = of_program(&machine, &program, &["device"]);
    assert_eq!(explained.first(), "layer.hides-features", "{:#}", explained.report);
    let found = explained.found("layer.hides-features");
    let reason = found["reason"].as_str().unwrap_or_default();
    assert!(
        reason.starts_with("VK_LAYER_odd hides features of the device"),
        "{reason}"
    );
    assert_eq!(
        explained.advice(),
        "Start the program without the layer: OFF_odd=1 PROGRAM"
    );
    machine.variable("OFF_odd", "1");
    let explained = of_program(&machine, &program, &["device"]);
    assert!(
        !explained.codes().contains(&"layer.hides-features"),
        "{:#}",
        explained.report
    );
}
