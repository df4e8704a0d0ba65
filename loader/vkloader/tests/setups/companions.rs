//! Set-ups with drivers that open further libraries while they run, such as NVIDIA's driver, and with lines that drivers print about files.

use super::{Machine, Row, try_all};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Version of the imitated driver of NVIDIA.
const VERSION: &str = "580.159.04";
/// Libraries that the imitated driver opens, or that are installed with it.
const COMPANIONS: [&str; 6] = ["gpucomp", "eglcore", "glcore", "glvkspirv", "glsi", "tls"];

/// Source of a driver that opens two of NVIDIA's libraries, and that forwards everything else to the mock driver in the same folder.
const DRIVER: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#define VERSION "580.159.04"
typedef void (*function)(void);
typedef int (*create)(const void *, const void *, void *);
static void *mock(void) { return dlopen("libmock_own.so", RTLD_NOW); }
static function of_mock(void *instance, const char *name) {
    function (*get)(void *, const char *) = (function (*)(void *, const char *))dlsym(mock(), "vk_icdGetInstanceProcAddr");
    return get(instance, name);
}
static int create_instance(const void *info, const void *allocator, void *instance) {
    if (!dlopen("libnvidia-glvkspirv.so." VERSION, RTLD_NOW)) {
        fprintf(stderr, "The driver was unable to open 'libnvidia-glvkspirv.so." VERSION "'.  This library is required at run time.\n");
        return -3;
    }
    return ((create)of_mock(0, "vkCreateInstance"))(info, allocator, instance);
}
int vk_icdNegotiateLoaderICDInterfaceVersion(unsigned *version) {
    return ((int (*)(unsigned *))dlsym(mock(), "vk_icdNegotiateLoaderICDInterfaceVersion"))(version);
}
function vk_icdGetInstanceProcAddr(void *instance, const char *name) {
    if (!dlopen("libnvidia-eglcore.so." VERSION, RTLD_NOW)) return 0;
    return strcmp(name, "vkCreateInstance") ? of_mock(instance, name) : (function)create_instance;
}
"#;

/// Source of a driver that returns no functions.
const WITHOUT_FUNCTIONS: &str = "void *vk_icdGetInstanceProcAddr(void *instance, const char *name) { return 0; }\n";

/// Source of a driver that opens many files at the same time.
const MANY_FILES: &str = r#"
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
typedef void (*function)(void);
function vk_icdGetInstanceProcAddr(void *instance, const char *name) {
    int files[24], count = 0;
    while (count < 24 && (files[count] = open("/dev/null", O_RDONLY)) >= 0) count++;
    for (int file = 0; file < count; file++) close(files[file]);
    void *mock = count == 24 ? dlopen("libmock_own.so", RTLD_NOW) : 0;
    return mock ? ((function (*)(void *, const char *))dlsym(mock, "vk_icdGetInstanceProcAddr"))(instance, name) : 0;
}
"#;

/// Compiles a library from a C source. The library searches its own folder for the libraries that it needs.
pub(super) fn compile(machine: &Machine, library: &str, text: &str, more: &[&str]) {
    let source = machine.file("source.c", text);
    let mut command = Command::new("cc");
    command.args([
        "-shared",
        "-fPIC",
        "-Wl,--no-as-needed,--enable-new-dtags,-rpath,$ORIGIN",
    ]);
    command.arg("-o").arg(machine.path(library)).arg(source).args(more);
    assert!(command.status().expect("a compiler").success(), "{library}");
}

/// Returns the path of a library of the imitated driver, relative to the machine.
fn companion(name: &str) -> String {
    format!("libraries/libnvidia-{name}.so.{VERSION}")
}

/// Compiles a library of the imitated driver.
fn install(machine: &Machine, name: &str) {
    let soname = format!("-Wl,-soname,libnvidia-{name}.so.{VERSION}");
    let needed = machine.path(&companion("gpucomp")).display().to_string();
    let more: &[&str] = if name == "eglcore" {
        &[&soname, &needed]
    } else {
        &[&soname]
    };
    compile(machine, &companion(name), &format!("int {name};\n"), more);
}

/// Installs a driver with the names of NVIDIA's libraries, and a manifest that names the driver by `path`.
fn nvidia_as(machine: &mut Machine, path: &str) {
    fs::remove_file(machine.driver("own", "device one")).expect("just made");
    for name in COMPANIONS {
        install(machine, name);
    }
    let driver = format!("libraries/libGLX_nvidia.so.{VERSION}");
    compile(machine, &driver, DRIVER, &["-ldl"]);
    symlink(
        format!("libGLX_nvidia.so.{VERSION}"),
        machine.path("libraries/libGLX_nvidia.so.0"),
    )
    .expect("a link");
    machine.manifest("nvidia_icd", Path::new(path), "");
}

fn nvidia(machine: &mut Machine) {
    let path = machine.path("libraries/libGLX_nvidia.so.0");
    nvidia_as(machine, path.to_str().expect("plain"));
}

/// Sets `LD_LIBRARY_PATH` to folders of the machine.
fn search(machine: &mut Machine, folders: &[&str]) {
    machine.unset("LD_LIBRARY_PATH");
    let folders: Vec<String> = folders
        .iter()
        .map(|folder| machine.path(folder).display().to_string())
        .collect();
    machine.variable("LD_LIBRARY_PATH", folders.join(":"));
}

/// Installs a library that is not a driver and needs another library.
fn user(machine: &mut Machine) {
    compile(
        machine,
        "libraries/libvkltneeded.so",
        "int needed;\n",
        &["-Wl,-soname,libvkltneeded.so"],
    );
    let needed = machine.path("libraries/libvkltneeded.so").display().to_string();
    compile(machine, "libraries/libvkltuser.so", "int user;\n", &[&needed]);
}

fn shorten(machine: &Machine, library: &str, size: usize) {
    let path = machine.path(library);
    let bytes = fs::read(&path).expect("just made");
    fs::write(path, &bytes[..size]).expect("written");
}

/// Installs a driver that prints a line, and then fails in the way that the lines in `more` configure.
fn printing(machine: &mut Machine, command: &str, line: &str, more: &str) {
    machine.driver("bad", &format!("run {command} echo '{line}' >&2\n{more}"));
}

fn update(machine: &mut Machine) {
    machine.driver("bad", "device one");
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "a driver prints the name of its library that is missing",
        |machine| {
            nvidia(machine);
            fs::remove_file(machine.path(&companion("glvkspirv"))).expect("just made");
        },
        "driver.creation-failed",
    )
    .about("it could not open libnvidia-glvkspirv.so.580.159.04, which is missing")
    .remedy("Reinstall NVIDIA's driver 580.159.04", |machine| install(machine, "glvkspirv")),
    Row::new(
        "a driver prints the name of its library that is cut off",
        |machine| {
            nvidia(machine);
            shorten(machine, &companion("glvkspirv"), 40);
        },
        "driver.creation-failed",
    )
    .about("libnvidia-glvkspirv.so.580.159.04 is cut: it has 40 bytes")
    .remedy("Reinstall the package that brings", |machine| install(machine, "glvkspirv")),
    Row::new(
        "a library that a driver opens while it runs is empty",
        |machine| {
            nvidia(machine);
            machine.file(&companion("eglcore"), "");
            fs::remove_file(machine.path(&companion("glcore"))).expect("just made");
        },
        "driver.no-global-function",
    )
    .about("libnvidia-eglcore.so.580.159.04 is not a library: 0 bytes")
    .remedy("libnvidia-eglcore.so.580.159.04; if this happens again", |machine| {
        install(machine, "eglcore");
    }),
    Row::new(
        "a library that another library of the driver needs is missing",
        |machine| {
            nvidia(machine);
            fs::remove_file(machine.path(&companion("gpucomp"))).expect("just made");
        },
        "driver.no-global-function",
    )
    .about("libnvidia-gpucomp.so.580.159.04 is missing, which libnvidia-eglcore.so.580.159.04 needs")
    .remedy("Reinstall NVIDIA's driver 580.159.04", |machine| install(machine, "gpucomp")),
    Row::new(
        "libraries that the driver opens while it runs need a library of the system that is missing",
        |machine| {
            nvidia(machine);
            compile(machine, "libraries/libvkltshared.so", "int shared;\n", &["-Wl,-soname,libvkltshared.so"]);
            let needed = machine.path("libraries/libvkltshared.so").display().to_string();
            for name in ["eglcore", "glcore"] {
                compile(machine, &companion(name), &format!("int {name};\n"), &[&needed]);
            }
            fs::remove_file(&needed).expect("just made");
        },
        "driver.no-global-function",
    )
    .about("libvkltshared.so is missing, which ")
    .remedy("Install the packages that bring libvkltshared.so", |machine| {
        compile(machine, "libraries/libvkltshared.so", "int shared;\n", &[]);
    }),
    Row::new(
        "several libraries of the driver are empty",
        |machine| {
            nvidia(machine);
            for name in ["eglcore", "glcore", "tls"] {
                machine.file(&companion(name), "");
            }
        },
        "driver.no-global-function",
    )
    .about("libnvidia-tls.so.580.159.04 is not a library: 0 bytes")
    .remedy("Reinstall the package that brings", |machine| {
        for name in ["eglcore", "glcore", "tls"] {
            install(machine, name);
        }
    }),
    Row::new(
        "a variable puts a copy of a driver that is cut off in front of the whole one",
        |machine| {
            nvidia_as(machine, "libGLX_nvidia.so.0");
            fs::create_dir(machine.path("front")).expect("a folder");
            let copy = "front/libGLX_nvidia.so.0";
            fs::copy(machine.path("libraries/libGLX_nvidia.so.0"), machine.path(copy)).expect("copied");
            shorten(machine, copy, 4096);
            search(machine, &["front", "libraries"]);
        },
        "program.crashed",
    )
    .about("front/libGLX_nvidia.so.0 is cut: it has 4096 bytes")
    .remedy("front out of LD_LIBRARY_PATH, because", |machine| {
        search(machine, &["libraries"]);
    }),
    Row::new(
        "a library that the driver needs is cut off",
        |machine| {
            user(machine);
            machine.manifest("user", &machine.path("libraries/libvkltuser.so"), "");
            shorten(machine, "libraries/libvkltneeded.so", 4096);
        },
        "program.crashed",
    )
    .about("libvkltneeded.so is cut: it has 4096 bytes")
    .remedy("Reinstall the package that brings", user)
    .gone(),
    Row::new(
        "the folder with an empty library is the only folder with the driver",
        |machine| {
            user(machine);
            machine.manifest("user", Path::new("libvkltuser.so"), "");
            machine.file("libraries/libvkltneeded.so", "");
            search(machine, &["libraries"]);
        },
        "driver.not-opened",
    )
    .about("libvkltneeded.so is not a library: 0 bytes")
    .remedy("Reinstall the package that brings", user)
    .gone(),
    Row::new(
        "a process may open few files",
        |machine| {
            fs::remove_file(machine.driver("own", "device one")).expect("just made");
            compile(machine, "libraries/libvkltmany.so", MANY_FILES, &["-ldl"]);
            machine.manifest("many", &machine.path("libraries/libvkltmany.so"), "");
            let words = ["sh", "-c", "ulimit -S -n 20 && exec \"$@\"", "sh"];
            assert!(machine.start_with(words.map(String::from).into()), "a shell sets limits");
        },
        "driver.no-global-function",
    )
    .about("the number of open files of a process is limited to 20")
    .remedy("ulimit -Sn ", |machine| {
        machine.start_with(Vec::new());
    }),
    Row::new(
        "a driver without a device prints the library that it lacks",
        |machine| {
            let line =
                "MESA: error: failed to load libvklt_gone.so.1: cannot open shared object file: No such file or directory";
            printing(machine, "vkEnumeratePhysicalDevices", line, "");
        },
        "driver.no-devices",
    )
    .about("it could not open libvklt_gone.so.1, which is missing")
    .remedy("Install the packages that bring libvklt_gone.so.1", update),
    Row::new(
        "a driver prints the path of a module that is not a library",
        |machine| {
            let module = machine.file("vklt_dri.so", "text");
            let line = format!("libGL error: MESA-LOADER: failed to open vklt: {} (search paths /usr/lib/dri)", module.display());
            printing(machine, "vkCreateInstance", &line, "device one\nfail vkCreateInstance -3");
        },
        "driver.creation-failed",
    )
    .about("vklt_dri.so is not a library: 4 bytes")
    .remedy("Reinstall the package that brings", update),
    Row::new(
        "a driver prints the node that is missing",
        |machine| {
            let line = "amdgpu: failed to open device /dev/dri/renderD199: No such file or directory";
            printing(machine, "vkCreateInstance", line, "device one\nfail vkCreateInstance -3");
        },
        "driver.creation-failed",
    )
    .about("it could not open /dev/dri/renderD199, which is not there")
    .remedy("kernel module", update),
];

#[test]
fn each_file_that_a_driver_could_not_open_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}

/// Adds a card of NVIDIA with its kernel driver and its nodes. Returns `false` if the test cannot make up a system.
fn with_card(machine: &mut Machine) -> bool {
    super::posted::card(machine, "0000:01:00.0", "0x10de", Some("nvidia"));
    machine.file("system/dev/nvidiactl", "");
    machine.file("system/dev/nvidia0", "");
    machine.in_made_up_system(&["/sys", "/dev/dri", "/dev/nvidiactl", "/dev/nvidia0"])
}

/// Containers without an X server get a manifest of a library that needs one, beside a library that does not.
#[test]
fn a_driver_that_needs_an_x_server_is_replaced_by_the_one_beside_it() {
    let mut machine = Machine::new();
    nvidia(&mut machine);
    let name = |kind| format!("libraries/lib{kind}_nvidia.so.{VERSION}");
    fs::rename(machine.path(&name("GLX")), machine.path(&name("EGL"))).expect("one folder");
    compile(&machine, &name("GLX"), WITHOUT_FUNCTIONS, &[]);
    let target = format!("libEGL_nvidia.so.{VERSION}");
    symlink(target, machine.path("libraries/libEGL_nvidia.so.0")).expect("a link");
    if !with_card(&mut machine) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.no-global-function"));
    let advice = explained.advice();
    assert!(advice.contains("nvidia_icd.json: libEGL_nvidia.so.0"), "{advice}");
    machine.manifest("nvidia_icd", &machine.path("libraries/libEGL_nvidia.so.0"), "");
    assert_eq!(machine.explain().devices(), ["one"]);
}

/// The card, its kernel driver and its node exist, so the missing library is the only obstacle.
#[test]
fn a_library_that_a_driver_did_not_find_comes_before_its_card() {
    let mut machine = Machine::new();
    nvidia(&mut machine);
    fs::remove_file(machine.path(&companion("glvkspirv"))).expect("just made");
    if !with_card(&mut machine) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.creation-failed"));
    assert!(
        !explained.codes().contains(&"hardware.not-used"),
        "{:?}",
        explained.codes()
    );
    install(&machine, "glvkspirv");
    assert_eq!(machine.explain().devices(), ["one"]);
}
