//! Set-ups with layers and settings that prevent the use of a device.

use super::{Machine, Row, good, try_all};
use std::fs;
use std::process::{Command, Output, Stdio};

/// Installs a working driver with two devices, and an implicit layer. `lines` configures the layer's behaviour.
fn with_layer(machine: &mut Machine, lines: &str) {
    machine.driver("good", "device one\ndevice.uuid 1\ndevice two\ndevice.uuid 2");
    machine.working_layer("implicit", "odd", lines, "");
}

/// Follows the remedy that disables the layer `VK_LAYER_odd`.
fn leave_out(machine: &mut Machine) {
    machine.variable("VK_LOADER_LAYERS_DISABLE", "VK_LAYER_odd");
}

const SETTINGS: &str = "data/vulkan/loader_settings.d/vk_loader_settings.json";

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "the library of a layer is gone",
        |machine| {
            good(machine);
            machine.layer("gone");
        },
        "layer-library.not-opened",
    )
    .about("/nowhere/libgone.so is not there")
    .remedy("Reinstall the package", |machine| {
        machine.working_layer("implicit", "gone", "", "");
    })
    .gone(),
    Row::new(
        "a layer refuses the interface of the loader",
        |machine| {
            good(machine);
            let functions = r#", "functions": {"vkGetInstanceProcAddr": "absent"}"#;
            machine.working_layer("implicit", "old", "negotiate-result -3", functions);
        },
        "layer-library.negotiation-refused",
    )
    .about("vkNegotiateLoaderLayerInterfaceVersion returned VK_ERROR_INITIALIZATION_FAILED")
    .remedy("switch it off: OFF_old=1 PROGRAM", |machine| {
        machine.variable("OFF_old", "1");
    })
    .gone(),
    Row::new(
        "the manifest of a layer is cut off",
        |machine| {
            good(machine);
            machine.file("data/vulkan/implicit_layer.d/cut.json", "{\"layer\": ");
        },
        "file.invalid-json",
    )
    .about("cut.json")
    .remedy("Correct the file", |machine| {
        fs::remove_file(machine.path("data/vulkan/implicit_layer.d/cut.json")).expect("removed");
    })
    .gone(),
    Row::new(
        "the manifest of a layer names a wrong word size",
        |machine| {
            good(machine);
            let other = if cfg!(target_pointer_width = "64") { "32" } else { "64" };
            machine.working_layer("implicit", "odd", "", &format!(r#", "library_arch": "{other}""#));
        },
        "layer.architecture",
    )
    .about("VK_LAYER_odd")
    .remedy("Remove the member library_arch from ", |machine| {
        machine.working_layer("implicit", "odd", "", "");
    })
    .gone(),
    Row::new(
        "two manifests describe one layer",
        |machine| {
            good(machine);
            let first = machine.working_layer("implicit", "odd", "", "");
            fs::copy(first, machine.path("data/vulkan/implicit_layer.d/twice.json")).expect("copied");
        },
        "layer.duplicate",
    )
    .about("VK_LAYER_odd")
    .remedy("Remove one", |machine| {
        fs::remove_file(machine.path("data/vulkan/implicit_layer.d/twice.json")).expect("removed");
    })
    .gone(),
    Row::new(
        "one variable switches a layer on, and another one off",
        |machine| {
            good(machine);
            machine.working_layer("implicit", "odd", "", r#", "enable_environment": {"ON_odd": "1"}"#);
            machine.variable("ON_odd", "1").variable("OFF_odd", "0");
        },
        "layer.switched-off",
    )
    .about("ON_odd=1 asks for the layer, but OFF_odd switches it off.")
    .remedy("env -u OFF_odd PROGRAM", |machine| machine.unset("OFF_odd"))
    .gone(),
    Row::new(
        "a variable asks for the layer of a program that is not installed",
        |machine| {
            good(machine);
            machine.variable("ENABLE_PRIMUS_LAYER", "1");
        },
        "variable.no-match",
    )
    .about("VK_LAYER_PRIMUS_PrimusVK, which is not installed")
    .remedy("the package primus-vk; or: unset ENABLE_PRIMUS_LAYER", |machine| {
        machine.unset("ENABLE_PRIMUS_LAYER");
    })
    .gone(),
    Row::new(
        "a pattern switches a layer off that a variable asks for",
        |machine| {
            good(machine);
            machine.working_layer("implicit", "calm", "", "");
            machine.working_layer("implicit", "odd", "", r#", "enable_environment": {"ON_odd": "1"}"#);
            machine.variable("ON_odd", "1");
            machine.variable("VK_LOADER_LAYERS_DISABLE", "~implicit~");
        },
        "layer.disabled",
    )
    .about("ON_odd=1 asks for the layer, but VK_LOADER_LAYERS_DISABLE switches it off.")
    .remedy("VK_LOADER_LAYERS_ALLOW=VK_LAYER_odd PROGRAM", |machine| {
        machine.unset("VK_LOADER_LAYERS_DISABLE");
    })
    .gone(),
    Row::new(
        "a layer hides a device",
        |machine| with_layer(machine, "devices drop-first"),
        "device.hidden-by-layer",
    )
    .about("VK_LAYER_odd")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_odd", leave_out)
    .gone(),
    Row::new(
        "a layer turns the order of devices",
        |machine| with_layer(machine, "devices reverse"),
        "device.moved-by-layer",
    )
    .about("VK_LAYER_odd")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_odd", leave_out)
    .gone(),
    Row::new(
        "a layer puts an integrated card before a discrete one",
        |machine| {
            machine.driver("good", "device one\ndevice two\ndevice.type 1");
            machine.working_layer("implicit", "odd", "devices reverse", "");
        },
        "device.moved-by-layer",
    )
    .about("VK_LAYER_odd puts two before the discrete one.")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_odd", leave_out)
    .gone(),
    Row::new(
        "a layer lists no device",
        |machine| with_layer(machine, "fail vkEnumeratePhysicalDevices 0"),
        "device.hidden-by-layer",
    )
    .about("VK_LAYER_odd hides the device")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_odd", leave_out),
    Row::new(
        "a layer fails the list of devices",
        |machine| with_layer(machine, "fail vkEnumeratePhysicalDevices -4"),
        "layer.call-failed",
    )
    .about("VK_ERROR_DEVICE_LOST")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_odd", leave_out),
    Row::new(
        "a layer fails the creation of instances",
        |machine| with_layer(machine, "fail vkCreateInstance -2"),
        "layer.call-failed",
    )
    .about("VK_ERROR_OUT_OF_DEVICE_MEMORY")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_odd", leave_out),
    Row::new(
        "a layer gives a result that is no success and no error",
        |machine| with_layer(machine, "fail vkCreateInstance 77"),
        "layer.call-failed",
    )
    .about("VkResult 77")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_odd", leave_out),
    Row::new(
        "one of two layers fails the creation of devices",
        |machine| {
            machine.working_layer("implicit", "calm", "", "");
            with_layer(machine, "fail vkCreateDevice -3");
        },
        "layer.call-failed",
    )
    .about("VK_LAYER_odd")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_odd", leave_out),
    Row::new(
        "a pattern switches on a layer that fails the creation of devices",
        |machine| {
            good(machine);
            machine.working_layer("explicit", "calm", "", "");
            machine.working_layer("explicit", "odd", "fail vkCreateDevice -8", "");
            machine.variable("VK_LOADER_LAYERS_ENABLE", "VK_LAYER_*");
        },
        "layer.call-failed",
    )
    .about("vkCreateDevice fails with VK_LAYER_odd, but succeeds without it.")
    .remedy(
        "Start the program without the layer: unset VK_LOADER_LAYERS_ENABLE",
        |machine| machine.unset("VK_LOADER_LAYERS_ENABLE"),
    )
    .gone(),
    Row::new(
        "the layer of AMD's own driver hides the devices of Mesa's",
        |machine| {
            good(machine);
            let path = machine.working_layer(
                "implicit",
                "switchable",
                "fail vkEnumeratePhysicalDevices 0\nname VK_LAYER_AMD_switchable_graphics_64",
                "",
            );
            let text = fs::read_to_string(&path).expect("just written");
            fs::write(
                path,
                text.replace("VK_LAYER_switchable", "VK_LAYER_AMD_switchable_graphics_64"),
            )
            .expect("written");
            machine.variable("AMD_VULKAN_ICD", "AMDVLK");
        },
        "device.hidden-by-layer",
    )
    .about("AMD_VULKAN_ICD is AMDVLK")
    .remedy("AMD_VULKAN_ICD=RADV PROGRAM", |machine| {
        machine.variable("OFF_switchable", "1");
    }),
    Row::new(
        "a file of the user disables all implicit layers",
        |machine| {
            with_layer(machine, "");
            fs::create_dir_all(machine.path("none")).expect("a folder");
            machine.file(
                "none/.zshenv",
                "# a crash\nexport VK_LOADER_LAYERS_DISABLE=~implicit~\n",
            );
            machine.variable("VK_LOADER_LAYERS_DISABLE", "~implicit~");
        },
        "layer.disabled",
    )
    .about("none/.zshenv, line 2, sets it")
    .remedy("Unset VK_LOADER_LAYERS_DISABLE", |machine| {
        machine.unset("VK_LOADER_LAYERS_DISABLE");
    })
    .gone(),
    Row::new(
        "a settings file leaves all drivers out",
        |machine| {
            good(machine);
            fs::create_dir_all(machine.path("data/vulkan/loader_settings.d")).expect("folders");
            machine.file(
                SETTINGS,
                r#"{"file_format_version": "1.0.0", "settings": {"additional_drivers_use_exclusively": true,
                "additional_drivers": [{"path": "/nowhere.json"}]}}"#,
            );
        },
        "settings.active",
    )
    .about("vk_loader_settings.json")
    .remedy("delete the file", |machine| {
        fs::remove_file(machine.path(SETTINGS)).expect("removed")
    }),
];

#[test]
fn each_cause_in_a_layer_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}

/// Adds an implicit layer whose `vkCreateInstance` makes the calls `call`.
pub(super) fn stops(machine: &Machine, call: &str) {
    let library = machine.path("libraries/libstops.so");
    let source = machine.file(
        "stops.c",
        format!(
            "#include <signal.h>\n#include <string.h>\n#include <sys/stat.h>\n#include <unistd.h>\n\
             struct link {{ struct link *next; void *(*get)(void *, const char *); }};\n\
             struct info {{ int type; struct info *next; int function; struct link *link; }};\n\
             static void *(*below)(void *, const char *);\n\
             static int next(struct info *a, void *b, void *c) {{ struct info *i = a->next; while (i->type != 47 || i->function) i = i->next; \
             below = i->link->get; i->link = i->link->next; \
             return ((int (*)(void *, void *, void *))below(0, \"vkCreateInstance\"))(a, b, c); }}\n\
             static int create(void *a, void *b, void *c) {{ {call}; return next(a, b, c); }}\n\
             void *vkGetInstanceProcAddr(void *a, const char *name) {{ \
             return !strcmp(name, \"vkCreateInstance\") ? (void *)create : below ? below(a, name) : 0; }}\n"
        ),
    );
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wl,-z,lazy", "-o"])
        .args([&library, &source])
        .status();
    assert!(made.expect("a compiler").success());
    machine.layer_of("stops", &library);
}

/// A user ends a program that a layer keeps waiting, with the signal of Ctrl-C.
#[test]
fn a_program_that_is_ended_in_a_call_comes_with_the_layer() {
    let mut machine = Machine::new();
    good(&mut machine);
    machine.working_layer("implicit", "calm", "", "");
    stops(&machine, "raise(SIGINT); pause()");
    let program = machine.c_program(CREATING);
    let library = crate::machine::library();
    let words = ["--library", library.to_str().expect("plain"), "--", &program];
    let explained = machine.explain_with(&words);
    assert_eq!(explained.first(), "program.ended", "{:#}", explained.report);
    assert_eq!(explained.report["dropped"][0]["name"], "VK_LAYER_stops");
    let advice = explained.advice();
    assert!(
        advice.contains("VK_LOADER_LAYERS_DISABLE=VK_LAYER_stops PROGRAM"),
        "{advice}"
    );
}

/// Calls `vkCreateInstance` of the loader, and ends with 101 if the call fails.
const CREATING: &str = "#include <dlfcn.h>\nint main(void) { void *library = dlopen(\"libvulkan.so.1\", 2); int (*create)(void *, void *, void **) = \
    (int (*)(void *, void *, void **))dlsym(library, \"vkCreateInstance\"); long info[8] = {1}; void *instance; \
    return create(info, 0, &instance) ? 101 : 0; }\n";

/// A user ends `vkloader` with a signal while a layer keeps the program waiting. `vkloader` passes the signal on, and reports. A program that the
/// user ends with SIGKILL also comes with the layer, unless the layer returns in another process.
#[test]
fn a_program_that_the_user_ends_comes_with_the_layer() {
    let mut machine = Machine::new();
    good(&mut machine);
    machine.working_layer("implicit", "calm", "", "");
    let program = machine.c_program(CREATING);
    let library = crate::machine::library();
    let words = [
        "explain",
        "--json",
        "--library",
        library.to_str().expect("plain"),
        "--",
        &program,
    ];
    let first = |output: &Output| -> (String, String) {
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
        let text = |key: &str| report["dropped"][0][key].as_str().unwrap_or_default().to_owned();
        (text("code"), text("name"))
    };
    let ready = machine.path("ready");
    stops(&machine, &format!("mkdir(\"{}\", 0755); pause()", ready.display()));
    // A test that runs in the background of a shell inherits an ignored SIGINT.
    let mut command = crate::machine::behind(&["env", "--default-signal=INT"], &machine.command(&words));
    command.stdout(Stdio::piped());
    let child = command.spawn().expect("it starts");
    steady::eventually("the layer", || ready.exists());
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(first(&output), ("program.ended".into(), "VK_LAYER_stops".into()));
    stops(&machine, "raise(SIGKILL)");
    assert_eq!(
        first(&machine.run(&words)),
        ("program.killed".into(), "VK_LAYER_stops".into())
    );
    let once = machine.path("once").display().to_string();
    stops(&machine, &format!("if (!mkdir(\"{once}\", 0755)) raise(SIGKILL)"));
    assert_eq!(
        first(&machine.run(&words)),
        ("program.killed".into(), "the program".into())
    );
}

/// The dynamic linker ends a program when a layer calls a function that no library has.
#[test]
fn a_function_that_a_layer_calls_and_no_library_has_is_named() {
    let mut machine = Machine::new();
    good(&mut machine);
    machine.working_layer("implicit", "calm", "", "");
    stops(&machine, "extern void of_no_library(void); of_no_library()");
    let program = machine.c_program(CREATING);
    let library = crate::machine::library();
    let explained = machine.explain_with(&["--library", library.to_str().expect("plain"), "--", &program]);
    assert_eq!(explained.first(), "program.exited", "{:#}", explained.report);
    let found = &explained.report["dropped"][0];
    assert_eq!(found["name"], "VK_LAYER_stops");
    assert!(found["findings"].to_string().contains("of_no_library"), "{found:#}");
    let advice = explained.advice();
    assert!(
        advice.contains("VK_LOADER_LAYERS_DISABLE=VK_LAYER_stops PROGRAM"),
        "{advice}"
    );
}

/// A layer changes the process, so that the driver that it calls never returns.
#[test]
fn a_layer_with_which_a_driver_hangs_is_named() {
    steady::with_more_time(|factor| {
        let mut machine = super::Machine::new();
        machine.driver("good", "device one\nrun vkCreateInstance [ -z \"$ODD\" ] || sleep 60");
        machine.working_layer("implicit", "calm", "", "");
        let call = "extern int setenv(const char *, const char *, int); setenv(\"ODD\", \"1\", 1)";
        stops(&machine, call);
        machine.argument("--timeout").argument((8 * factor).to_string());
        let explained = machine.explain();
        assert_eq!((explained.code, explained.first()), (1, "program.hung"));
        assert_eq!(explained.report["dropped"][0]["name"], "VK_LAYER_stops");
        let advice = explained.advice();
        assert!(
            advice.contains("VK_LOADER_LAYERS_DISABLE=VK_LAYER_stops PROGRAM"),
            "{advice}"
        );
    });
}

/// A function of a layer exits the process or never returns. The process does not crash, so there is no address, but the report must name
/// this layer instead of the layer that works.
#[test]
fn a_layer_that_exits_or_hangs_is_named_among_several() {
    steady::with_more_time(|factor| {
        for (code, call) in [("program.exited", "_exit(3)"), ("program.hung", "pause()")] {
            let mut machine = super::Machine::new();
            good(&mut machine);
            machine.working_layer("implicit", "calm", "", "");
            stops(&machine, call);
            machine.argument("--timeout").argument((8 * factor).to_string());
            let explained = machine.explain();
            assert_eq!((explained.code, explained.first()), (1, code));
            assert_eq!(explained.report["dropped"][0]["name"], "VK_LAYER_stops");
            let advice = explained.advice();
            assert!(
                advice.contains("VK_LOADER_LAYERS_DISABLE=VK_LAYER_stops PROGRAM"),
                "{advice}"
            );
            machine.variable("VK_LOADER_LAYERS_DISABLE", "VK_LAYER_stops");
            assert_eq!(machine.explain().devices(), ["one"]);
        }
    });
}
