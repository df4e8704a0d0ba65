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

/// A thread has 32 KiB for its stack, and the driver needs more. The second driver hides the origin of an address that the program passed.
#[test]
fn a_small_stack_and_an_invalid_output_of_the_program_are_told() {
    if !is_supported() {
        return;
    }
    const LARGE: &str = "volatile char large[80000]; for (int at = 79999; at >= 0; at -= 400) large[at] = 1; return 0;";
    const IN_THREAD: &str = "long settings[16], thread;\n\
        ((int (*)(void *))dlsym(0, \"pthread_attr_init\"))(settings);\n\
        ((int (*)(void *, unsigned long))dlsym(0, \"pthread_attr_setstacksize\"))(settings, 32768);\n\
        ((int (*)(void *, void *, void *, void *))dlsym(0, \"pthread_create\"))(&thread, settings, create_buffer, device);\n\
        ((int (*)(long, void *))dlsym(0, \"pthread_join\"))(thread, 0)";
    const HIDDEN: &str =
        "static volatile uintptr_t key = 77; made = (void *)(((uintptr_t)made ^ key) ^ key); *made = 1; return 0;";
    const OUTPUT: &str = "create_buffer(device, &of_buffer, 0, (void *)0x70000000)";
    for (driver, call, culprit, words) in [
        (
            LARGE,
            IN_THREAD,
            ("driver", false),
            "A thread used up its stack in the driver ",
        ),
        (
            HIDDEN,
            OUTPUT,
            ("program", true),
            "passed the invalid address 0x70000000 to vkCreateBuffer as argument 4",
        ),
    ] {
        check(&explain(&[], driver, None, call), culprit, words);
    }
}

/// A layer calls the loader with an invalid handle, or with one whose memory was damaged.
#[test]
fn a_crash_of_the_loader_is_not_certain_to_be_the_fault_of_its_caller() {
    if !is_supported() {
        return;
    }
    const CALLS: &str = "extern void *dlsym(void *, const char *), *dlopen(const char *, int);\n\
        void *none[64] = {(void *)0x5555555555555555};\n\
        return 1 + ((int (*)(void *))dlsym(dlopen(\"libvulkan.so.1\", 2), \"vkDeviceWaitIdle\"))(none);";
    let explained = explain(&[], GOOD, Some(CALLS), "create_buffer(device, &of_buffer, 0, &buffer)");
    check(&explained, ("unknown", false), "The loader crashed in ");
}

/// The loader closes a driver when the program destroys its instance.
#[test]
fn a_call_of_a_closed_driver_is_the_fault_of_the_program() {
    if !is_supported() {
        return;
    }
    const LATE: &str = "void *(*find)(void *, const char *) = dlsym(library, \"vkGetDeviceProcAddr\");\n\
        int (*volatile late)(void *, void *, void *, uint64_t *) = find(device, \"vkCreateBuffer\");\n\
        ((void (*)(void *, void *))dlsym(library, \"vkDestroyDevice\"))(device, 0);\n\
        ((void (*)(void *, void *))dlsym(library, \"vkDestroyInstance\"))(instance, 0);\n\
        late(device, &of_buffer, 0, &buffer)";
    let explained = explain(&[], GOOD, None, LATE);
    check(&explained, ("program", true), "after it had destroyed its instance");
    assert!(!explained.advice().contains("_DISABLE="), "{}", explained.advice());
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

/// A thread of the driver ends the program, as the watchdogs of some drivers do. The signal may reach the program when it unblocks signals.
#[test]
fn a_signal_of_another_thread_is_not_the_fault_of_the_code_on_the_stack() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    for words in [
        "driver call signal",
        "program created signal",
        "program created unblock",
    ] {
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
