//! Programs that crash because they have no display.

use super::Wrong;
use super::machine::Machine;
use std::process::Command;

/// A program that does not check whether it could open a display crashes in the library of displays.
#[test]
fn a_crash_for_lack_of_a_display_is_told_as_that() {
    let mut machine = Machine::new();
    let source = machine.file(
        "display.c",
        "int XDefaultScreen(int *display) { return display[33]; }\n",
    );
    let library = machine.path("libX11.so.6");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]);
    assert!(compiler.status().expect("a compiler").success());
    let program = machine.c_program(&format!(
        "#include <dlfcn.h>\nint main(void) {{ void *l = dlopen(\"libvulkan.so.1\", 2); unsigned v;\n\
         int (*version)(unsigned *) = dlsym(l, \"vkEnumerateInstanceVersion\"); version(&v);\n\
         int (*screen)(void *) = dlsym(dlopen(\"{}\", 2), \"XDefaultScreen\"); return screen(0); }}\n",
        library.display()
    ));
    let explained = Wrong::explain(&machine, &[], &[&program]);
    assert_eq!((explained.code, explained.first()), (1, "program.crashed"));
    assert!(
        explained
            .findings()
            .contains("neither DISPLAY nor WAYLAND_DISPLAY is set"),
        "{}",
        explained.findings()
    );
    assert!(explained.advice().contains("DISPLAY"), "{}", explained.advice());
    machine.variable("DISPLAY", ":7");
    let explained = Wrong::explain(&machine, &[], &[&program]);
    assert!(
        !explained.findings().contains("neither DISPLAY"),
        "{}",
        explained.findings()
    );
    // Macros of Xlib read the display in the code of the program itself. Nothing listens at the port of this display.
    let program = machine.c_program(
        "#include <dlfcn.h>\nint main(void) { void *l = dlopen(\"libvulkan.so.1\", 2); unsigned v;\n\
         int (*version)(unsigned *) = dlsym(l, \"vkEnumerateInstanceVersion\"); version(&v);\n\
         volatile int *display = dlopen(\"libX11.so.6\", 99) ? (void *)&v : 0; return display[33]; }\n",
    );
    machine.variable("DISPLAY", "localhost:59000");
    let explained = Wrong::explain(&machine, &[], &[&program]);
    let reason = "there is no X server at localhost:59000";
    assert!(explained.findings().contains(reason), "{}", explained.findings());
    machine.variable("DISPLAY", "far.example:0");
    let explained = Wrong::explain(&machine, &[], &[&program]);
    assert!(!explained.findings().contains("X server"), "{}", explained.findings());
}
