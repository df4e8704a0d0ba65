//! Calls of a program that layers pass on to a driver, and calls that leave no function of a driver or layer on the stack.

use crate::argument::{DRIVER, SECOND};
use crate::machine::{Explained, Machine, skip};
use crate::{Wrong, has_compiler};
use std::process::Command;

/// A layer that passes the creation of buffers on by `BODY`.
const LAYER: &str = r#"
#include <stdint.h>
#include <string.h>
typedef void (*Function)(void);
typedef Function (*Get)(void *, const char *);
struct Link { struct Link *next; Get instance; Get device; };
struct Info { int type; struct Info *next; int function; struct Link *link; };
struct Interface { int type; void *next; uint32_t version; Get instance, device, physical; };
static Get below, below_device;
static void *made_instance;
static int (*volatile hook)(const void *);
static int (*next)(void *, const uint32_t *, void *, uint64_t *);
static Function of_instance(void *, const char *);
static Function of_device(void *, const char *);
static struct Link *advanced(struct Info *info, int type) {
    while (info && !(info->type == type && info->function == 0)) info = info->next;
    struct Link *link = info->link;
    info->link = link->next;
    return link;
}
static int create(struct Info *info, void *callbacks, void **made) {
    struct Link *link = advanced(info->next, 47);
    below = link->instance;
    int result = ((int (*)(void *, void *, void **))below(0, "vkCreateInstance"))(info, callbacks, made);
    made_instance = *made;
    return result;
}
static int create_device(void *one, struct Info *info, void *callbacks, void **made) {
    struct Link *link = advanced(info->next, 48);
    below_device = link->device;
    int result = ((int (*)(void *, void *, void *, void **))link->instance(made_instance, "vkCreateDevice"))(one, info, callbacks, made);
    next = (void *)below_device(*made, "vkCreateBuffer");
    return result;
}
static int create_buffer(void *device, const uint32_t *info, void *callbacks, uint64_t *made) { BODY }
static Function of_device(void *device, const char *name) {
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (Function)of_device;
    if (!strcmp(name, "vkCreateBuffer")) return (Function)create_buffer;
    return below_device ? below_device(device, name) : 0;
}
static Function of_instance(void *instance, const char *name) {
    if (!strcmp(name, "vkCreateInstance")) return (Function)create;
    if (!strcmp(name, "vkCreateDevice")) return (Function)create_device;
    if (!strcmp(name, "vkGetInstanceProcAddr")) return (Function)of_instance;
    if (!strcmp(name, "vkGetDeviceProcAddr") || !strcmp(name, "vkCreateBuffer")) return of_device(0, name);
    return below ? below(instance, name) : 0;
}
int vkNegotiateLoaderLayerInterfaceVersion(struct Interface *wanted) {
    wanted->version = 2;
    wanted->instance = of_instance;
    wanted->device = of_device;
    wanted->physical = 0;
    return 0;
}
"#;

/// A program that creates a buffer by `CALL`.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdint.h>
struct Info { int type; void *more[12]; };
extern int sleep(unsigned);
extern void abort(void);
void *check_late(void *none) {
    sleep(8);
    abort();
}
int main(void) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW), *instance = 0, *physical = 0, *device = 0;
    int (*create)(void *, void *, void **) = dlsym(library, "vkCreateInstance");
    int (*list)(void *, uint32_t *, void **) = dlsym(library, "vkEnumeratePhysicalDevices");
    int (*create_device)(void *, void *, void *, void **) = dlsym(library, "vkCreateDevice");
    int (*create_buffer)(void *, void *, void *, uint64_t *) = dlsym(library, "vkCreateBuffer");
    struct Info info = {1}, of_device = {3}, of_buffer = {12};
    uint32_t count = 1;
    uint64_t buffer = 0;
    if (create(&info, 0, &instance) || list(instance, &count, &physical) < 0) return 1;
    if (create_device(physical, &of_device, 0, &device)) return 1;
    CALL;
    return (int)buffer;
}
"#;

/// Statements of drivers and layers that do nothing wrong.
pub(crate) const GOOD: &str = "*made = info[0]; return 0;";
const ON: &str = "return next(device, info, callbacks, made);";
/// A call without an error.
const CALL: &str = "create_buffer(device, &of_buffer, 0, &buffer)";

fn compile(machine: &Machine, name: &str, source: &str, body: &str) -> std::path::PathBuf {
    let source = machine.file(&format!("{name}.c"), source.replace("BODY", body));
    let library = machine.path(&format!("libraries/lib{name}.so"));
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O2", "-w", "-fPIC", "-shared", "-o"])
        .arg(&library)
        .arg(source);
    assert!(compiler.status().expect("a compiler").success());
    library
}

/// Runs a program that makes the call `call`. The driver and the layer create buffers by `driver` and `layer`; without `layer`, there is no layer.
pub(crate) fn explain(options: &[&str], driver: &str, layer: Option<&str>, call: &str) -> Explained {
    let mut machine = Machine::new();
    let program = prepare(&mut machine, driver, call);
    if let Some(layer) = layer {
        machine.layer_of("mid", &compile(&machine, "mid", LAYER, layer));
    }
    Wrong::explain(&machine, options, &[&program])
}

/// Adds a driver to a machine that creates buffers by `driver`. Returns the path of a program that makes the call `call`.
pub(crate) fn prepare(machine: &mut Machine, driver: &str, call: &str) -> String {
    machine.variable("PATH", "/usr/bin:/bin");
    let library = compile(machine, "first", &DRIVER.replace("WRITE", SECOND), driver);
    machine.manifest("first", &library, "");
    machine.c_program(&PROGRAM.replace("CALL", call))
}

pub(crate) fn is_supported() -> bool {
    let is_known = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    if !is_known {
        skip("the code of other processors is not decoded");
    }
    is_known && has_compiler()
}

/// Fails unless the culprit, the certainty and the beginning of the reason are those expected.
pub(crate) fn check(explained: &Explained, (culprit, is_certain): (&str, bool), words: &str) {
    let crash = &explained.report["crash"];
    let reason = explained.found("program.crashed")["reason"].to_string();
    assert_eq!(
        (&crash["culprit"], &crash["is_certain"]),
        (&culprit.into(), &is_certain.into()),
        "{reason}"
    );
    assert!(reason.contains(words), "{words}: {reason}");
}

/// The last step of a function of a driver or layer may be a jump, so that the function is not on the stack.
#[test]
fn a_call_is_followed_to_a_driver_or_layer_that_left_the_stack() {
    if !is_supported() {
        return;
    }
    const NULL: &str = "return hook(info);";
    const COPY: &str = "return fill((void *)0x123456000, 0, 70000);";
    const OWN: &str = "return fill((void *)info, 0, 7000);";
    for (driver, layer, call, culprit, words) in [
        (NULL, None, CALL, ("driver", false), "in vkCreateBuffer"),
        (
            COPY,
            None,
            CALL,
            ("driver", false),
            "No function of the driver is on the stack",
        ),
        (
            GOOD,
            Some(NULL),
            CALL,
            ("layer", false),
            "crashed in the layer VK_LAYER_mid, in vkCreateBuffer",
        ),
        (
            OWN,
            None,
            "create_buffer(device, (void *)0x70000, 0, &buffer)",
            ("program", true),
            "passed the invalid address 0x70000 to vkCreateBuffer as argument 2",
        ),
        (GOOD, None, "((void (*)(void))0)()", ("program", true), "its own code"),
    ] {
        check(&explain(&[], driver, layer, call), culprit, words);
    }
    let explained = explain(&["--retry"], GOOD, Some(NULL), CALL);
    check(&explained, ("layer", true), "The layer VK_LAYER_mid crashed");
    // The layer passes the call on, and the driver leaves the stack.
    let explained = explain(&["--retry"], NULL, Some(ON), CALL);
    check(&explained, ("driver", false), "crashed in the driver ");
    assert!(explained.findings().contains("without the layer VK_LAYER_mid too"));
}

#[test]
fn an_argument_that_a_layer_changed_is_not_the_programs() {
    if !is_supported() {
        return;
    }
    const JUMP: &str = "return next(device, 0, callbacks, made);";
    const CALLS: &str =
        "int result = next(device, (void *)0x4242424242, callbacks, made); return result + (hook ? 1 : 0);";
    const STRUCTURE: &str = "void *volatile bad[13] = {0}; ((uint32_t *)bad)[0] = 12; bad[1] = (void *)0x5151515151;\n\
        int result = next(device, (void *)bad, callbacks, made); return result + (bad[2] ? 1 : 0);";
    const BEHIND: &str = "uint32_t *more = *(uint32_t **)(info + 2); *made = more ? *more : 0; return 0;";
    const EITHER: &str = "in a call of the layer VK_LAYER_mid in vkCreateBuffer, and one of both is at fault";
    for (driver, layer, call, culprit, words) in [
        (GOOD, JUMP, CALL, ("driver", false), EITHER),
        (BEHIND, STRUCTURE, CALL, ("driver", false), EITHER),
        (
            GOOD,
            CALLS,
            CALL,
            ("layer", true),
            "The layer VK_LAYER_mid passed the invalid address 0x4242424242 to",
        ),
        (
            GOOD,
            ON,
            "create_buffer(device, (void *)16, 0, &buffer)",
            ("program", true),
            "The program passed the invalid address 0x10",
        ),
        (
            "static uint32_t *volatile none; return none[4];",
            ON,
            CALL,
            ("driver", true),
            "The driver ",
        ),
    ] {
        let explained = explain(&[], driver, Some(layer), call);
        check(&explained, culprit, words);
        let first = explained
            .advice()
            .starts_with("Start the program without the layer: VK_LOADER_LAYERS_DISABLE=VK_LAYER_mid");
        assert_eq!(first, culprit == ("driver", false), "{}", explained.advice());
    }
    let explained = explain(&["--retry"], BEHIND, Some(STRUCTURE), CALL);
    check(
        &explained,
        ("layer", true),
        "The layer VK_LAYER_mid most likely passed something invalid",
    );
    assert!(explained.advice().contains("libmid.so"), "{}", explained.advice());
}
