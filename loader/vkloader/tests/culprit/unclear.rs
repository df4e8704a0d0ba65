//! Crashes whose stack does not show whether the program, or a driver or layer that it used, is at fault.

use crate::between::{GOOD, check, explain, is_supported};
use crate::{Wrong, crash_of, has_compiler};

/// An address at which no process has memory, as a statement of a driver or layer that creates a buffer.
const FAR: &str = "*made = 0x7e0000001000; return 0;";
/// A program that uses the answer of `vkCreateBuffer` as an address.
const USES: &str =
    "create_buffer(device, &of_buffer, 0, &buffer); if (buffer > 4096) *(volatile int *)buffer = 1; buffer = 0";

#[test]
fn a_driver_may_be_at_fault_for_a_crash_of_the_program() {
    if !is_supported() {
        return;
    }
    const HANDLE: &str = "create_buffer(device, &of_buffer, 0, &buffer);\n\
        ((void (*)(void *, uint64_t, void *))dlsym(library, \"vkGetBufferMemoryRequirements\"))(device, buffer, &info)";
    const IN_LOADER: &str = "void *none[64] = {(void *)0x5555555555555555};\n\
        ((int (*)(void *))dlsym(library, \"vkDeviceWaitIdle\"))(none)";
    for (driver, call, is_certain, words) in [
        (
            "*made = 0; return 0;",
            HANDLE,
            false,
            "the driver returned no handle for it",
        ),
        (FAR, USES, false, "at an address of unknown origin"),
        (
            FAR,
            "extern void __stack_chk_fail(void); __stack_chk_fail()",
            false,
            "variables on the stack were overwritten",
        ),
        (GOOD, IN_LOADER, false, "The loader crashed in "),
        (FAR, "*(volatile int *)8 = 1", true, "its own code"),
    ] {
        let explained = explain(&[], driver, None, call);
        check(&explained, ("program", is_certain), words);
        let names_retry = explained.advice().contains("vkloader explain --retry -- PROGRAM");
        assert_eq!(names_retry, !is_certain, "{}", explained.advice());
    }
}

#[test]
fn a_driver_without_a_function_that_each_driver_has_is_named() {
    if !is_supported() {
        return;
    }
    const EXPORTED: &str = "((int (*)(void *, void *))dlsym(library, \"vkCreateEvent\"))(device, &info)";
    const LOOKED_UP: &str = "void *(*find)(void *, const char *) = dlsym(library, \"vkGetDeviceProcAddr\");\n\
        int (*volatile event)(void *, void *) = find(device, \"vkCreateEvent\"); event(device, &info)";
    const NEWER: &str = "((int (*)(void *, void *))dlsym(library, \"vkGetBufferDeviceAddress\"))(device, &info)";
    for (call, culprit, words, advice) in [
        (
            EXPORTED,
            ("driver", true),
            "lacks vkCreateEvent, which each driver must have",
            "Update, rebuild or remove",
        ),
        (
            LOOKED_UP,
            ("driver", true),
            "lacks it, although each driver must have it",
            "Update, rebuild or remove",
        ),
        (
            NEWER,
            ("program", false),
            "It belongs to Vulkan 1.2: ",
            "No device has Vulkan 1.2",
        ),
    ] {
        let explained = explain(&[], GOOD, None, call);
        check(&explained, culprit, words);
        assert!(explained.advice().starts_with(advice), "{}", explained.advice());
    }
}

#[test]
fn a_second_run_leaves_out_the_layer_that_may_be_at_fault() {
    if !is_supported() {
        return;
    }
    for (driver, layer, is_cause) in [
        (GOOD, FAR, true),
        (FAR, "return next(device, info, callbacks, made);", false),
    ] {
        let explained = explain(&["--retry"], driver, Some(layer), USES);
        let suggests = "The program lives without the layer VK_LAYER_mid";
        let reason = explained.found("program.crashed")["reason"].to_string();
        assert_eq!(reason.contains(suggests), is_cause, "{reason}");
        let disables = explained
            .advice()
            .contains("VK_LOADER_LAYERS_DISABLE=VK_LAYER_mid PROGRAM");
        assert_eq!(disables, is_cause, "{}", explained.advice());
        assert!(
            explained.findings().contains("without the layer VK_LAYER_mid"),
            "{}",
            explained.findings()
        );
        // The program ends with a failure without its only driver.
        let without_driver = explained.findings().contains("without the driver ");
        assert_eq!(without_driver, !is_cause, "{}", explained.findings());
    }
}

/// A thread of the driver ends the program, as the watchdogs of some drivers do.
#[test]
fn a_signal_of_another_thread_is_not_the_fault_of_the_code_on_the_stack() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    for words in ["driver call signal", "program created signal"] {
        let machine = wrong.machine(words, "");
        let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
        let crash = crash_of(&explained);
        assert_eq!(
            (&crash["culprit"], &crash["is_certain"]),
            (&"unknown".into(), &false.into()),
            "{words}: {crash:#}"
        );
        let reason = explained.found("program.crashed")["reason"].to_string();
        assert!(
            reason.contains("Another thread of the program sent"),
            "{words}: {reason}"
        );
    }
}
