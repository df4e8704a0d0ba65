//! Programs that pass invalid arguments to Vulkan, on which drivers then crash.

use crate::machine::{Machine, skip};
use crate::{Wrong, has_compiler};
use std::process::Command;

/// A driver with one device. `WRITE` writes to the properties, and `BODY` creates buffers.
pub(crate) const DRIVER: &str = r#"
#include <stdint.h>
#include <string.h>
typedef void (*Function)(void);
static struct { uintptr_t magic; } instance = {0x01CDC0DE}, physical = {0x01CDC0DE}, device = {0x01CDC0DE};
static int (*volatile hook)(const void *);
static int (*volatile fill)(void *, int, size_t) = (void *)memset;
static int create(void *info, void *callbacks, void **made) { *made = &instance; return 0; }
static int create_device(void *one, void *info, void *callbacks, void **made) { *made = &device; return 0; }
static int create_buffer(void *own, const uint32_t *info, void *callbacks, uint64_t *made) { BODY }
static int extensions(const char *layer, uint32_t *count, void *all) { *count = 0; return 0; }
static int of_device(void *one, const char *layer, uint32_t *count, void *all) { *count = 0; return 0; }
static int list(void *own, uint32_t *count, void **all) { if (all) all[0] = &physical; *count = 1; return 0; }
static void properties(void *one, uint32_t *words) { WRITE }
static void families(void *one, uint32_t *count, void *all) { *count = 0; }
static void requirements(void *own, uint64_t buffer, uint32_t *all) { all[0] = *(uint32_t *)(uintptr_t)buffer; }
static int nothing(void) { return 0; }
static Function of(void *own, const char *name) {
    if (!strcmp(name, "vkCreateEvent") || !strcmp(name, "vkGetBufferDeviceAddress")) return 0;
    if (!strcmp(name, "vkGetBufferMemoryRequirements")) return (Function)requirements;
    return !strcmp(name, "vkCreateBuffer") ? (Function)create_buffer : (Function)nothing;
}
Function vk_icdGetInstanceProcAddr(void *own, const char *name) {
    if (!strcmp(name, "vkCreateInstance")) return (Function)create;
    if (!strcmp(name, "vkCreateDevice")) return (Function)create_device;
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (Function)of;
    if (!strcmp(name, "vkEnumerateInstanceExtensionProperties")) return (Function)extensions;
    if (!strcmp(name, "vkEnumerateDeviceExtensionProperties")) return (Function)of_device;
    if (!strcmp(name, "vkEnumeratePhysicalDevices")) return (Function)list;
    if (!strcmp(name, "vkGetPhysicalDeviceProperties")) return (Function)properties;
    if (!strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties")) return (Function)families;
    if (!strcmp(name, "vkEnumerateInstanceVersion")) return 0;
    return (Function)nothing;
}
int vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) { if (*version > 5) *version = 5; return 0; }
"#;

/// A program that asks for the properties of the first device by `CALL`.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdint.h>
struct Info { int type; void *more[8]; };
typedef void Properties(void *, void *);
struct Table { void *unused; Properties *properties; } *volatile table;
Properties *variable;
__attribute__((noinline)) static void last(int unused, void *device, void *all) { table->properties(device, all); }
__attribute__((noinline)) static int wrapped(struct Table *known, void *device, void *all) {
    known->properties(device, all);
    return 1;
}
__attribute__((noinline)) static int twice(struct Table *known, void *device) { return 1 + wrapped(known, device, 0); }
int main(void) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW), *instance = 0, *device = 0;
    int (*create)(struct Info *, void *, void **) = dlsym(library, "vkCreateInstance");
    int (*list)(void *, uint32_t *, void **) = dlsym(library, "vkEnumeratePhysicalDevices");
    Properties *properties = dlsym(library, "vkGetPhysicalDeviceProperties");
    struct Table known = {0, properties};
    table = &known;
    variable = properties;
    struct Info info = {1};
    uint32_t count = 1;
    if (create(&info, 0, &instance) || list(instance, &count, &device) < 0) return 1;
    CALL;
    return 0;
}
"#;

/// Statements with which the two drivers write the properties.
const FIRST: &str = "memset(words, 0, 276); words[0] = 1 << 22;";
pub(crate) const SECOND: &str = "words[0] = 1 << 22; words[4] = 2; words[5] = 'x'; words[205] = 1;";

/// Adds a driver.
fn add(machine: &Machine, name: &str, write: &str) {
    let source = machine.file(
        &format!("{name}.c"),
        DRIVER.replace("WRITE", write).replace("BODY", "return 0;"),
    );
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
    with_call(&format!("properties(device, (void *){pointer})"), first)
}

/// Returns a machine with two drivers, and a program that makes the call `call`.
fn with_call(call: &str, first: &str) -> (Machine, String) {
    with_drivers(call, first, SECOND)
}

/// Returns a machine whose drivers write the properties by `first` and `second`, and a program that makes the call `call`.
fn with_drivers(call: &str, first: &str, second: &str) -> (Machine, String) {
    let mut machine = Machine::new();
    machine.variable("PATH", "/usr/bin:/bin");
    add(&machine, "first", first);
    add(&machine, "second", second);
    let program = machine.c_program(&PROGRAM.replace("CALL", call));
    (machine, program)
}

/// The second run shows that another driver crashes in the same call, or a function of the C library that this driver calls.
#[test]
fn a_call_that_crashes_in_two_drivers_is_the_fault_of_the_program() {
    if !has_compiler() || cfg!(not(target_os = "linux")) {
        return skip("no compiler");
    }
    // The drivers compute the address in a way that hides its origin.
    let hidden = |write| {
        format!("static volatile uintptr_t key = 77; words = (void *)(((uintptr_t)words ^ key) ^ key); {write}")
    };
    for (first, second) in [
        (FIRST, SECOND),
        (
            "memset(words, 0, 276); words[0] = 1 << 22;",
            "words = words + key - 77; memset(words, 0, 276); words[0] = 1 << 22;",
        ),
    ] {
        let (machine, program) = with_drivers(
            "properties(device, (void *)1152921504606846992)",
            &hidden(first),
            &hidden(second),
        );
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

/// The way in which a program calls a function makes no difference.
#[test]
fn a_null_that_a_program_passed_is_named_however_it_calls() {
    if !has_compiler() || cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
        return skip("the code of other processors is not decoded");
    }
    for optimised in ["-O0", "-O2"] {
        for call in [
            "properties(device, 0)",
            "variable(device, 0)",
            "table->properties(device, 0)",
            "last(1, device, 0)",
            "wrapped(table, device, 0)",
            "twice(&known, device)",
        ] {
            for write in [FIRST, SECOND] {
                let (machine, _) = with_call(call, write);
                std::fs::remove_file(machine.path("data/vulkan/icd.d/second.json")).expect("a manifest");
                let program = machine.path("optimised").display().to_string();
                let mut compiler = Command::new("cc");
                compiler
                    .args([optimised, "-s", "-o", &program])
                    .arg(machine.path("program.c"));
                assert!(compiler.arg("-ldl").status().expect("a compiler").success());
                let explained = Wrong::explain(&machine, &[], &[&program]);
                let reason = explained.found("program.crashed")["reason"].to_string();
                let expected = "passed NULL to vkGetPhysicalDeviceProperties as argument 2";
                assert!(reason.contains(expected), "{optimised} {call}: {reason}");
                assert_eq!(explained.report["crash"]["culprit"], "program");
                assert!(!explained.advice().contains("_DISABLE="), "{}", explained.advice());
            }
        }
    }
}

/// If the origin of an invalid address is not known, the driver may have got it from the program.
#[test]
fn a_driver_is_named_with_doubt_unless_the_address_is_its_own() {
    if !has_compiler() || cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
        return skip("the code of other processors is not decoded");
    }
    const DOUBT: &str = "Either the driver is faulty, or the program passed an invalid handle or pointer.";
    for (write, is_certain) in [
        ("static uint32_t *volatile none; none[4] = 1;", true),
        ("static void *volatile none; memset(none, 0, 4096);", true),
        (
            "static volatile uintptr_t key = 77; *(uint32_t *)(key ^ 77) = 1;",
            false,
        ),
    ] {
        // The loader asks for the properties too.
        let write = format!("if (words[0] != 77) {{ {SECOND} }} else {{ {write} }}");
        let (machine, program) = with_call("static int all[1024] = {77}; properties(device, all)", &write);
        std::fs::remove_file(machine.path("data/vulkan/icd.d/second.json")).expect("a manifest");
        let explained = Wrong::explain(&machine, &[], &[&program]);
        let crash = &explained.report["crash"];
        let reason = explained.found("program.crashed")["reason"].to_string();
        assert_eq!(
            (&crash["culprit"], &crash["is_certain"]),
            (&"driver".into(), &is_certain.into()),
            "{write}"
        );
        assert_eq!(reason.contains(DOUBT), !is_certain, "{reason}");
        assert_eq!(reason.contains("The driver "), is_certain, "{reason}");
        let tells = explained.advice().contains("VK_LAYER_KHRONOS_validation");
        assert_eq!(tells, !is_certain, "{}", explained.advice());
        assert!(explained.advice().contains("libfirst.so"), "{}", explained.advice());
    }
}

#[test]
fn a_handle_that_the_loader_rejects_is_the_fault_of_the_program() {
    if !has_compiler() || cfg!(not(target_os = "linux")) {
        return skip("no compiler");
    }
    let (machine, program) = with_call("static void *none[8]; list(none, &count, 0)", FIRST);
    let explained = Wrong::explain(&machine, &["--retry"], &[&program]);
    let found = explained.found("program.crashed");
    let reason = found["reason"].as_str().unwrap_or_default();
    let expected = "The program passed an invalid instance to vkEnumeratePhysicalDevices, and the loader ended";
    assert!(reason.starts_with(expected), "{reason}");
    assert!(
        explained.findings().contains("[VUID-vkEnumeratePhysicalDevices"),
        "{}",
        explained.findings()
    );
    assert!(
        explained.findings().contains("not run again"),
        "{}",
        explained.findings()
    );
}

/// The trace names no driver if the program opened another loader, or none.
#[test]
fn a_driver_that_is_not_in_the_trace_is_named() {
    if !has_compiler() || cfg!(not(target_os = "linux")) {
        return skip("no compiler");
    }
    let mut machine = Machine::new();
    machine.variable("PATH", "/usr/bin:/bin");
    add(&machine, "first", "static uint32_t *volatile none; none[4] = 1;");
    let library = machine.path("libraries/libfirst.so");
    let program = format!(
        "#include <dlfcn.h>\nint main(void) {{ void *library = dlopen(\"{}\", RTLD_NOW);\n\
         void *(*get)(void *, const char *) = dlsym(library, \"vk_icdGetInstanceProcAddr\");\n\
         ((void (*)(void *, void *))get(0, \"vkGetPhysicalDeviceProperties\"))(library, library); return 0; }}",
        library.display()
    );
    let program = machine.c_program(&program);
    let explained = Wrong::explain(&machine, &[], &[&program]);
    let reason = explained.found("program.crashed")["reason"].to_string();
    assert_eq!(explained.report["crash"]["culprit"], "driver", "{reason}");
    assert!(explained.advice().contains("libfirst.so"), "{}", explained.advice());
}
