//! Programs that pass invalid arguments to Vulkan, on which drivers then crash.

use crate::machine::{Machine, skip};
use crate::{Wrong, has_compiler};
use std::process::Command;

/// A driver with one device. `WRITE` writes to the properties.
const DRIVER: &str = r#"
#include <stdint.h>
#include <string.h>
typedef void (*Function)(void);
static struct { uintptr_t magic; } instance = {0x01CDC0DE}, device = {0x01CDC0DE};
static int create(void *info, void *callbacks, void **made) { *made = &instance; return 0; }
static void destroy(void *what, void *callbacks) {}
static int extensions(const char *layer, uint32_t *count, void *all) { *count = 0; return 0; }
static int of_device(void *one, const char *layer, uint32_t *count, void *all) { *count = 0; return 0; }
static int list(void *own, uint32_t *count, void **all) { if (all) all[0] = &device; *count = 1; return 0; }
static void properties(void *one, uint32_t *words) { WRITE }
static void families(void *one, uint32_t *count, void *all) { *count = 0; }
static void nothing(void) {}
Function vk_icdGetInstanceProcAddr(void *own, const char *name) {
    if (!strcmp(name, "vkCreateInstance")) return (Function)create;
    if (!strcmp(name, "vkDestroyInstance")) return (Function)destroy;
    if (!strcmp(name, "vkEnumerateInstanceExtensionProperties")) return (Function)extensions;
    if (!strcmp(name, "vkEnumerateDeviceExtensionProperties")) return (Function)of_device;
    if (!strcmp(name, "vkEnumeratePhysicalDevices")) return (Function)list;
    if (!strcmp(name, "vkGetPhysicalDeviceProperties")) return (Function)properties;
    if (!strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties")) return (Function)families;
    if (!strcmp(name, "vkEnumerateInstanceVersion")) return 0;
    return nothing;
}
int vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) { if (*version > 5) *version = 5; return 0; }
"#;

/// A program that asks for the properties of the first device, and passes `POINTER` as their address.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdint.h>
struct Info { int type; void *more[8]; };
int main(void) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW), *instance = 0, *device = 0;
    int (*create)(struct Info *, void *, void **) = dlsym(library, "vkCreateInstance");
    int (*list)(void *, uint32_t *, void **) = dlsym(library, "vkEnumeratePhysicalDevices");
    void (*properties)(void *, void *) = dlsym(library, "vkGetPhysicalDeviceProperties");
    struct Info info = {1};
    uint32_t count = 1;
    if (create(&info, 0, &instance) || list(instance, &count, &device) < 0) return 1;
    properties(device, (void *)POINTER);
    return 0;
}
"#;

/// Statements with which the two drivers write the properties.
const FIRST: &str = "memset(words, 0, 276); words[0] = 1 << 22;";
const SECOND: &str = "words[0] = 1 << 22; words[4] = 2; words[5] = 'x'; words[205] = 1;";

/// Adds a driver.
fn add(machine: &Machine, name: &str, write: &str) {
    let source = machine.file(&format!("{name}.c"), DRIVER.replace("WRITE", write));
    let library = machine.path(&format!("libraries/lib{name}.so"));
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O1", "-w", "-fPIC", "-shared", "-o"])
        .arg(&library)
        .arg(source);
    assert!(compiler.status().expect("a compiler").success());
    machine.manifest(name, &library, "");
}

/// Returns a machine with two drivers, and a program that passes `pointer`.
fn with_program(pointer: &str, first: &str) -> (Machine, String) {
    let mut machine = Machine::new();
    machine.variable("PATH", "/usr/bin:/bin");
    add(&machine, "first", first);
    add(&machine, "second", SECOND);
    let program = machine.c_program(&PROGRAM.replace("POINTER", pointer));
    (machine, program)
}

/// The second run shows that another driver crashes in the same call.
#[test]
fn a_call_that_crashes_in_two_drivers_is_the_fault_of_the_program() {
    if !has_compiler() || cfg!(not(target_os = "linux")) {
        return skip("no compiler");
    }
    let (machine, program) = with_program("1152921504606846992", FIRST);
    let explained = Wrong::explain(&machine, &["--retry"], &[&program]);
    let crash = &explained.report["crash"];
    assert_eq!(
        (&crash["culprit"], &crash["retried"]),
        (&"program".into(), &"crashes".into()),
        "{crash:#}"
    );
    let found = explained.found("program.crashed");
    let reason = found["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("passed an invalid argument to "), "{reason}");
    assert!(
        reason.contains("libfirst.so") && reason.contains("libsecond.so"),
        "{reason}"
    );
    assert!(!explained.advice().contains("_DISABLE="), "{}", explained.advice());
}

/// The second run crashes elsewhere, so that leaving the driver out does not help.
#[test]
fn a_remedy_that_the_second_run_refutes_is_not_printed() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("driver call write", "");
    machine.manifest("also", &machine.path("libraries/libalso.so"), "");
    let copied = std::fs::copy(
        wrong.path("libraries/libdriver.so"),
        machine.path("libraries/libalso.so"),
    );
    copied.expect("a copy");
    let explained = Wrong::explain(&machine, &["--retry"], &[&wrong.program()]);
    let crash = &explained.report["crash"];
    assert_eq!(crash["culprit"], "driver", "both drivers have the same code: {crash:#}");
    assert!(!explained.advice().contains("_DISABLE="), "{}", explained.advice());
}

/// The small address that the program passed shows whose fault the crash is, without a second run.
#[test]
fn a_small_address_that_a_program_passed_is_named() {
    if !has_compiler() || cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
        return skip("the code of other processors is not decoded");
    }
    for (first, is_passed) in [
        (SECOND, true),
        (FIRST, true),
        ("uint32_t *volatile none = (uint32_t *)16; none[4] = 1;", false),
    ] {
        let (machine, program) = with_program("16", first);
        std::fs::remove_file(machine.path("data/vulkan/icd.d/second.json")).expect("a manifest");
        let explained = Wrong::explain(&machine, &[], &[&program]);
        let crash = &explained.report["crash"];
        let reason = explained.found("program.crashed")["reason"].to_string();
        let expected = if is_passed { "program" } else { "driver" };
        assert_eq!(crash["culprit"], expected, "{first}: {crash:#}");
        let words = "passed the invalid address 0x10 to ";
        assert_eq!(reason.contains(words), is_passed, "{first}: {reason}");
        if is_passed {
            assert!(reason.contains("as argument 2"), "{reason}");
            assert!(!explained.advice().contains("_DISABLE="), "{}", explained.advice());
        }
    }
}
