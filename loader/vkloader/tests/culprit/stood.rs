//! Programs that hang in a driver until somebody ends them.

use crate::has_compiler;
use crate::machine::{Machine, behind, library};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Waits for a device whose driver never answers.
const PROGRAM: &str = "#include <stddef.h>\n\
    struct instance { int type; const void *next; unsigned flags; const void *rest[6]; };\n\
    struct queue { int type; const void *next; unsigned flags, family, count; const float *priorities; };\n\
    struct device { int type; const void *next; unsigned flags, queues; const void *queue; const void *rest[6]; };\n\
    int vkCreateInstance(const void *, const void *, void **);\n\
    int vkEnumeratePhysicalDevices(void *, unsigned *, void **);\n\
    int vkCreateDevice(void *, const void *, const void *, void **);\n\
    int vkDeviceWaitIdle(void *);\n\
    int main(void) { struct instance i = {1}; float p = 1; struct queue q = {2, NULL, 0, 0, 1, &p}; struct device d = {3, NULL, 0, 1, &q};\n\
    void *instance, *card, *device; unsigned one = 1;\n\
    if (vkCreateInstance(&i, NULL, &instance)) return 8; if (vkEnumeratePhysicalDevices(instance, &one, &card) < 0) return 7;\n\
    if (vkCreateDevice(card, &d, NULL, &device)) return 6; return vkDeviceWaitIdle(device); }\n";

#[test]
fn the_call_in_which_a_program_hung_is_named() {
    if !has_compiler() || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let machine = Machine::new();
    let source = machine.file("hangs.c", PROGRAM);
    let file = library();
    std::os::unix::fs::symlink(&file, machine.path("libvulkan.so.1")).expect("a link");
    let program = machine.path("hangs");
    let status = Command::new("cc")
        .arg("-o")
        .args([&program, &source])
        .arg(machine.path("libvulkan.so.1"))
        .status();
    assert!(status.expect("a compiler").success());
    let program = program.to_str().expect("plain");
    let file = file.to_str().expect("plain");
    let words = ["explain", "--json", "--library", file, "--", program];
    let ready = machine.path("ready");
    steady::with_more_time(|factor| {
        for seconds in [0, 7] {
            machine.driver(
                "hangs",
                &format!(
                    "device one\nhang vkDeviceWaitIdle\nrun vkDeviceWaitIdle touch {}",
                    ready.display()
                ),
            );
            // A test that runs in the background of a shell inherits an ignored SIGINT.
            let mut command = behind(&["env", "--default-signal=INT"], &machine.command(&words));
            let child = command.stdout(Stdio::piped()).spawn().expect("it starts");
            steady::eventually("the call", || ready.exists());
            std::thread::sleep(Duration::from_secs((seconds * factor).into()));
            let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            let output = child.wait_with_output().expect("it ends");
            std::fs::remove_file(&ready).expect("just made");
            assert!(sent.expect("kill is there").success());
            let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
            let dropped = report["dropped"].as_array().expect("a list");
            let found = dropped.iter().find(|one| one["code"] == "program.ended");
            let reason = found.map_or("", |one| one["reason"].as_str().unwrap_or_default());
            assert!(reason.contains("in vkDeviceWaitIdle of "), "{report:#}");
            assert_eq!(reason.contains("had not returned"), seconds > 0, "{report:#}");
        }
    });
    machine.driver("hangs", "device one\nhang vkDeviceWaitIdle");
    steady::with_more_time(|factor| {
        let seconds = (7 * factor).to_string();
        let limited = [&["explain", "--timeout", &seconds], &words[1..]].concat();
        let report: Value = serde_json::from_slice(&machine.run(&limited).stdout).expect("a report");
        let reason = report["dropped"][0]["reason"].to_string();
        let expected = format!("did not end within {seconds} s in vkDeviceWaitIdle of ");
        assert!(reason.contains(&expected), "{report:#}");
        let timeout = [&words[..words.len() - 1], &["timeout", &seconds, program]].concat();
        let report: Value = serde_json::from_slice(&machine.run(&timeout).stdout).expect("a report");
        let first = &report["dropped"][0];
        let reason = first["reason"].to_string();
        assert_eq!(first["code"], "program.hung", "{report:#}");
        assert!(
            reason.contains("signal 15 (SIGTERM) ended it in vkDeviceWaitIdle of ")
                && reason.contains("had not returned"),
            "{report:#}"
        );
    });
}
