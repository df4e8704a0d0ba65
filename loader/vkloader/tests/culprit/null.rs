//! Programs that call a NULL pointer in place of a function of Vulkan.

use crate::machine::{Explained, Machine};
use crate::{Wrong, has_compiler};

/// Beginning of a program that creates an instance. `LOOK_UP` declares a look-up of the instance.
const BEGINNING: &str = "#include <dlfcn.h>\n#include <stddef.h>\n\
    typedef void (*Function)(void *, int);\n\
    typedef Function (*LookUp)(void *, const char *);\n\
    Function vkCreateDebugUtilsMessengerEXT, vkSubmitDebugUtilsMessageEXT, vkCmdBeginRendering, hook;\n\
    struct { int type; const void *next; int flags; const void *rest[5]; } info = {1};\n\
    int main(void) {\n\
    void *library = dlopen(\"libvulkan.so.1\", RTLD_NOW), *instance;\n\
    int (*create)(void *, void *, void **) = dlsym(library, \"vkCreateInstance\");\n\
    LookUp find = (LookUp)dlsym(library, \"vkGetInstanceProcAddr\");\n\
    if (create(&info, NULL, &instance)) return 9;\n";

fn explain(lines: &str) -> Explained {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.variable("PATH", "/usr/bin:/bin");
    let program = machine.c_program(&format!("{BEGINNING}{lines}return 0; }}\n"));
    Wrong::explain(&machine, &[], &[&program])
}

#[test]
fn the_function_that_a_look_up_did_not_find_is_named() {
    if !has_compiler() || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    for (lines, expected) in [
        // The variable has the name of the function.
        (
            "vkCreateDebugUtilsMessengerEXT = find(instance, \"vkCreateDebugUtilsMessengerEXT\");\n\
             vkSubmitDebugUtilsMessageEXT = find(instance, \"vkSubmitDebugUtilsMessageEXT\");\n\
             vkCreateDebugUtilsMessengerEXT(instance, 1);\n",
            "The program called vkCreateDebugUtilsMessengerEXT, although vkGetInstanceProcAddr had returned NULL for it: its extension \
             VK_EXT_debug_utils is not enabled",
        ),
        // The variable has no name in the file, and only one look-up failed.
        (
            "Function volatile local = find(instance, \"vkCreateDebugUtilsMessengerEXT\"); local(instance, 1);\n",
            "The program called vkCreateDebugUtilsMessengerEXT, although",
        ),
        (
            "Function volatile one = find(instance, \"vkCreateDebugUtilsMessengerEXT\"), two = find(instance, \"vkSubmitDebugUtilsMessageEXT\");\n\
             one(instance, 1);\n",
            "most likely in place of a function of Vulkan",
        ),
        (
            "vkCmdBeginRendering(instance, 1);\n",
            "The program called vkCmdBeginRendering through a NULL pointer: it had not looked the function up.",
        ),
        // A pointer of the program itself.
        (
            "find(instance, \"vkCreateDebugUtilsMessengerEXT\"); hook(instance, 1);\n",
            "No driver or layer crashed the program",
        ),
    ] {
        let explained = explain(lines);
        let reason = explained.report["dropped"][0]["reason"].as_str().unwrap_or_default();
        assert_eq!(explained.first(), "program.crashed", "{lines}");
        assert!(reason.contains(expected), "{lines}: {reason}\n{}", explained.findings());
    }
    let advice = explain("vkCmdBeginRendering(instance, 1);\n");
    assert!(advice.advice().contains("Vulkan 1.3"), "{}", advice.advice());
}
