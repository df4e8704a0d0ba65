//! Programs that fail because of a surface, or because of a variable that chooses the window system.

use crate::machine::{Explained, Machine};
use crate::of_program;

/// Lines of a driver with surfaces for X11.
pub(crate) const X11: &str = "instance_extension VK_KHR_surface 25\ninstance_extension VK_KHR_xcb_surface 6\n";

/// Source of a program that shows images on a surface for X11. With a second argument, the program uses the first device only.
pub(crate) const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
struct instance { int type; const void *next; unsigned flags; const void *app; unsigned layers; const void *names; unsigned count; const char **list; };
struct surface { int type; const void *next; unsigned flags; void *connection; unsigned window; };
typedef void *(*find_t)(void *, const char *);
int main(int n, char **v) {
    const char *names[] = {"VK_KHR_surface", "VK_KHR_xcb_surface"};
    struct { int type; const void *next, *name; unsigned version; const void *engine; unsigned other, api; } app = {0, NULL, NULL, 0, NULL, 0, 4206592};
    struct instance info = {1, NULL, 0, &app, 0, NULL, 2, names};
    struct surface window = {1000005000, NULL, 0, v, 7};
    unsigned long long surface = 0, capabilities[8];
    void *made, *cards[8], *library = dlopen(v[1], 2);
    unsigned count = 8, any = 0;
    find_t find = library ? (find_t)dlsym(library, "vkGetInstanceProcAddr") : NULL;
    if (!find || !getenv("SDL_VIDEODRIVER" + (n > 8))) n++;
    if (((int (*)(void *, void *, void **))find(NULL, "vkCreateInstance"))(&info, NULL, &made)) return 8;
    if (((int (*)(void *, void *, void *, void *))find(made, "vkCreateXcbSurfaceKHR"))(made, &window, NULL, &surface)) return 7;
    if (((int (*)(void *, unsigned *, void **))find(made, "vkEnumeratePhysicalDevices"))(made, &count, cards)) return 6;
    if (v[2]) count = 1;
    for (unsigned card = 0; card < count; card++)
        for (unsigned family = 0; family < 2; family++) {
            unsigned yes = 0;
            void *ask = find(made, "vkGetPhysicalDeviceSurfaceSupportKHR");
            if (((int (*)(void *, unsigned, unsigned long long, unsigned *))ask)(cards[card], family, surface, &yes)) return 5;
            any |= yes;
        }
    if (!any) return 3;
    void *ask = find(made, "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
    return ((int (*)(void *, unsigned long long, void *))ask)(cards[0], surface, capabilities) ? 4 : 0;
}
"#;

fn reason(explained: &Explained) -> &str {
    explained.report["dropped"][0]["reason"].as_str().unwrap_or_default()
}

#[test]
fn a_device_that_cannot_present_is_named() {
    let mut machine = Machine::new();
    machine.driver("blind", &format!("{X11}flag presents_nothing\ndevice one"));
    let program = machine.c_program(PROGRAM);
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "device.cannot-present", "{:#}", explained.report);
    let words = "one cannot present to the surface of the program (X11): vkGetPhysicalDeviceSurfaceSupportKHR said no";
    assert!(reason(&explained).starts_with(words), "{}", reason(&explained));
    assert!(
        explained.advice().starts_with("Start the program on"),
        "{}",
        explained.advice()
    );
    // The driver cannot create its own surface.
    let lines = format!("{X11}device one\nfail vkCreateXcbSurfaceKHR -13");
    machine.driver("blind", &lines);
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "device.cannot-present", "{:#}", explained.report);
    let fact = "vkCreateXcbSurfaceKHR of the driver returned VK_ERROR_UNKNOWN";
    assert!(explained.findings().contains(fact), "{}", explained.findings());
    // The driver does not support the window system.
    let wayland = X11.replace("xcb", "wayland");
    machine.driver("blind", &format!("{wayland}device one\ndevice.type 2"));
    machine.driver("second", &format!("{X11}device two\ndevice.type 1"));
    machine.variable("VK_LOADER_DEVICE_SELECT", "driver:mock_blind");
    let explained = of_program(&machine, &program, &["first"]);
    assert_eq!(explained.first(), "device.cannot-present", "{:#}", explained.report);
    let fact = "the driver does not have VK_KHR_xcb_surface or";
    assert!(explained.findings().contains(fact), "{}", explained.findings());
    let remedy = "or choose another device (vkloader devices prints the words for VK_LOADER_DEVICE_SELECT)";
    assert!(explained.advice().contains(remedy), "{}", explained.advice());
    machine.variable("VK_LOADER_DEVICE_SELECT", "driver:mock_second");
    let explained = of_program(&machine, &program, &["first"]);
    assert_eq!(explained.report["ending"]["number"], 0, "{:#}", explained.report);
    assert!(!explained.codes().contains(&"device.cannot-present"));
}

#[test]
fn a_failed_call_about_a_surface_comes_with_the_driver() {
    let machine = Machine::new();
    let lines = format!("{X11}device one\nfail vkGetPhysicalDeviceSurfaceCapabilitiesKHR -1000000000");
    machine.driver("lost", &lines);
    let program = machine.c_program(PROGRAM);
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "program.call-failed", "{:#}", explained.report);
    let words = reason(&explained);
    assert!(
        words.contains("libmock_lost.so failed with VK_ERROR_SURFACE_LOST_KHR"),
        "{words}"
    );
    assert!(
        explained.advice().contains("connection to its display is gone"),
        "{}",
        explained.advice()
    );
}

#[test]
fn a_layer_that_makes_a_surface_fail_is_named() {
    let mut machine = Machine::new();
    machine.driver("good", &format!("{X11}device one"));
    machine.working_layer("implicit", "odd", "fail vkCreateXcbSurfaceKHR -3", "");
    let program = machine.c_program(PROGRAM);
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "layer.call-failed", "{:#}", explained.report);
    let words = "VK_LAYER_odd made vkCreateXcbSurfaceKHR fail with VK_ERROR_INITIALIZATION_FAILED";
    assert!(reason(&explained).starts_with(words), "{}", reason(&explained));
    assert_eq!(
        explained.advice(),
        "Start the program without the layer: OFF_odd=1 PROGRAM"
    );
    machine.variable("OFF_odd", "1");
    assert_eq!(of_program(&machine, &program, &[]).report["ending"]["number"], 0);
    // The layer can also change the answer of the driver.
    machine.unset("OFF_odd");
    machine.working_layer(
        "implicit",
        "odd",
        "fail vkGetPhysicalDeviceSurfaceCapabilitiesKHR -2",
        "",
    );
    machine.working_layer("implicit", "calm", "", "");
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "program.call-failed", "{:#}", explained.report);
    assert!(
        explained.findings().contains("VK_LAYER_calm"),
        "{}",
        explained.findings()
    );
    assert!(
        explained.advice().contains("OFF_odd=1 PROGRAM"),
        "{}",
        explained.advice()
    );
}

#[test]
fn a_variable_that_chooses_a_missing_window_system_is_named() {
    let mut machine = Machine::new();
    machine.driver("good", &format!("{X11}device one"));
    // The program cannot open a window without a display.
    let fails = PROGRAM.replace("return 8;", "return 8; return 9;");
    let program = machine.c_program(&fails);
    machine.variable("SDL_VIDEODRIVER", "wayland");
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "variable.window-system", "{:#}", explained.report);
    assert!(
        reason(&explained).contains("WAYLAND_DISPLAY is not set"),
        "{}",
        reason(&explained)
    );
    assert!(
        explained.advice().starts_with("Unset SDL_VIDEODRIVER"),
        "{}",
        explained.advice()
    );
    machine.variable("DISPLAY", "far.example:10.0");
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "variable.window-system", "{:#}", explained.report);
    assert_eq!(
        explained.advice(),
        "Start the program with X11: SDL_VIDEODRIVER=x11 PROGRAM, or: unset SDL_VIDEODRIVER"
    );
    for value in ["x11", "wayland,x11", "kmsdrm"] {
        machine.variable("SDL_VIDEODRIVER", value);
        let explained = of_program(&machine, &program, &[]);
        assert!(
            !explained.codes().contains(&"variable.window-system"),
            "{value}: {:#}",
            explained.report
        );
    }
    // The server of Wayland is there, and no driver has the extension.
    let folder = machine.path("run");
    std::fs::create_dir(&folder).expect("a folder");
    let _server = std::os::unix::net::UnixListener::bind(folder.join("wayland-0")).expect("a socket");
    machine.variable("XDG_RUNTIME_DIR", folder.to_str().expect("plain"));
    machine.variable("WAYLAND_DISPLAY", "wayland-0");
    machine.variable("SDL_VIDEODRIVER", "wayland");
    let program = machine.c_program(&PROGRAM.replace("VK_KHR_xcb_surface", "VK_KHR_wayland_surface"));
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "variable.window-system", "{:#}", explained.report);
    assert!(
        reason(&explained).contains("no driver has VK_KHR_wayland_surface"),
        "{}",
        reason(&explained)
    );
    assert!(
        explained.advice().contains("SDL_VIDEODRIVER=x11 PROGRAM"),
        "{}",
        explained.advice()
    );
    assert!(explained.codes().contains(&"instance.extension-missing"));
    // A program that does not contain the name of the variable does not read it.
    let program = machine.c_program(
        &PROGRAM
            .replace("VK_KHR_xcb_surface", "VK_KHR_wayland_surface")
            .replace("SDL_", "SDX_"),
    );
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(
        explained.first(),
        "instance.extension-missing",
        "{:#}",
        explained.report
    );
}

/// GLFW follows XDG_SESSION_TYPE only with the variable of the display, and a program that lists devices has chosen its window system before.
#[test]
fn a_variable_that_a_program_does_not_follow_is_not_the_cause() {
    let mut machine = Machine::new();
    machine.driver("good", &format!("{X11}device one"));
    let fails = PROGRAM.replace("return 8;", "return 8; return 9;");
    let of_glfw = machine.c_program(&fails.replace("SDL_VIDEODRIVER", "glfwInit"));
    let is_named = |machine: &Machine, program: &str| {
        let explained = of_program(machine, program, &[]);
        explained.codes().contains(&"variable.window-system")
    };
    machine.variable("XDG_SESSION_TYPE", "wayland");
    assert!(!is_named(&machine, &of_glfw), "no display of Wayland is named");
    machine.variable("WAYLAND_DISPLAY", "/nowhere/wayland-0");
    assert!(is_named(&machine, &of_glfw), "GLFW follows both variables");
    machine.variable("SDL_VIDEODRIVER", "dummy");
    assert!(is_named(&machine, &machine.c_program(&fails)), "SDL shows no windows");
    let surface = "if (((int (*)(void *, void *, void *, void *))find(made, \"vkCreateXcbSurfaceKHR\"))(made, &window, NULL, &surface)) return 7;";
    let lists = PROGRAM.replace(surface, "").replace("return 6;", "return 6; return 9;");
    assert!(
        !is_named(&machine, &machine.c_program(&lists)),
        "the program listed devices"
    );
}
