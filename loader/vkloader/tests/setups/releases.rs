//! Set-ups that mix files of different releases: missing symbols, and other versions of a library. Also has set-ups with files in the
//! wrong place, limits, and results of drivers.

use super::{Machine, Row, good, try_all};
use crate::machine::library;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) const BAD: &str = "libraries/libvkltbad.so";

/// Beginning of the source of a driver that has `vkCreateInstance`. The rest of the source is the body of that function.
pub(super) const DRIVER: &str = "#include <string.h>\n#include <stdlib.h>\n#include <stdio.h>\n\
    int vklt_new(void); static int none(const char *l, unsigned *n, void *p) { *n = 0; return 0; }\n\
    static int create(const void *i, const void *a, void **o);\n\
    void *vk_icdGetInstanceProcAddr(void *i, const char *n) { if (!strcmp(n, \"vkCreateInstance\")) return create;\n\
    return strcmp(n, \"vkEnumerateInstanceExtensionProperties\") ? NULL : none; }\n\
    int vk_icdNegotiateLoaderICDInterfaceVersion(unsigned *v) { if (*v > 5) *v = 5; return 0; }\n\
    static int create(const void *i, const void *a, void **o) ";

/// Compiles a library.
pub(super) fn compile(machine: &Machine, library: &str, text: &str, words: &[&str]) {
    let source = machine.file("source.c", text);
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-fPIC", "-o"])
        .arg(machine.path(library))
        .arg(source);
    let status = command.args(words).status();
    assert!(status.expect("a compiler").success(), "{library}");
}

/// Installs a driver whose `vkCreateInstance` has the body `text`.
fn driver(machine: &mut Machine, text: &str, words: &[&str]) {
    compile(machine, BAD, &format!("{DRIVER}{text}\n"), words);
    machine.manifest("bad", &machine.path(BAD), "");
}

/// Installs a working driver in the place of the one that is made by [`driver`].
fn reinstall(machine: &mut Machine) {
    machine.driver("vkltbad", "device one");
    fs::remove_file(machine.path("data/vulkan/icd.d/vkltbad.json")).expect("just made");
    for ending in ["so", "conf"] {
        let from = machine.path(&format!("libraries/libmock_vkltbad.{ending}"));
        fs::rename(from, machine.path(&format!("libraries/libvkltbad.{ending}"))).expect("one folder");
    }
}

/// Installs an implicit layer that is made from the C source `text`.
fn layer(machine: &mut Machine, text: &str) {
    good(machine);
    compile(machine, "libraries/libVkLayer_bad.so", text, &[]);
    machine.layer_of("bad", &machine.path("libraries/libVkLayer_bad.so"));
}

fn without_layer(machine: &mut Machine) {
    machine.variable("VK_LOADER_LAYERS_DISABLE", "VK_LAYER_bad");
}

/// Adds a driver for each of two data folders. Both manifests have the same file name, and the driver in the first folder crashes.
fn twins(machine: &mut Machine) {
    good(machine);
    let folder = machine.path("system/vulkan/icd.d");
    fs::create_dir_all(&folder).expect("folders");
    fs::rename(machine.path("data/vulkan/icd.d/good.json"), folder.join("card.json")).expect("moved");
    machine.driver("card", "device two\ncrash vkEnumeratePhysicalDevices");
    let system = machine.path("system");
    machine.variable("XDG_DATA_DIRS", system.to_str().expect("plain"));
}

/// Installs a driver that needs a function of a newer `libvkltown.so`. The function's name begins like the names of the older functions.
fn older_library(machine: &mut Machine) {
    let name = machine.path("libraries/libvkltown.so").display().to_string();
    let old = "int vkltown_one(void) { return 1; } int vkltown_two(void) { return 2; } int vkltown_three(void) { return 3; }\n";
    compile(machine, "libraries/libvkltown.so", old, &["-Wl,-soname,libvkltown.so"]);
    let text = "int vkltown_new(void); int (*used)(void) = vkltown_new;\n";
    let rpath = format!("-Wl,-rpath,{}", machine.path("libraries").display());
    compile(machine, BAD, text, &["-Wl,--no-as-needed", &name, &rpath]);
    machine.manifest("bad", &machine.path(BAD), "");
}

/// Installs a driver that needs a library in its own folder, which the dynamic linker does not search.
fn library_beside(machine: &mut Machine) {
    let name = machine.path("libraries/libvkltbeside.so").display().to_string();
    compile(
        machine,
        "libraries/libvkltbeside.so",
        "int beside;\n",
        &["-Wl,-soname,libvkltbeside.so"],
    );
    compile(machine, BAD, "int user;\n", &["-Wl,--no-as-needed", &name]);
    machine.manifest("bad", &machine.path(BAD), "");
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "a driver calls a function that no library has",
        |machine| driver(machine, "{ return vklt_new(); }", &["-Wl,-z,lazy"]),
        "program.exited",
    )
    .about("libvkltbad.so needs the symbol vklt_new")
    .remedy("and the libraries that it needs together", reinstall),
    Row::new(
        "a layer calls a function that no library has",
        |machine| {
            let text = "int vklt_new(void); int vkNegotiateLoaderLayerInterfaceVersion(void *v) { return vklt_new(); }\n";
            layer(machine, text);
        },
        "program.exited",
    )
    .about("libVkLayer_bad.so needs the symbol vklt_new")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_bad PROGRAM", without_layer),
    Row::new(
        "a layer crashes while its library is opened",
        |machine| {
            let text = "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }\n";
            layer(machine, text);
        },
        "program.crashed",
    )
    .about("it is the library of the layer VK_LAYER_bad")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_bad PROGRAM", without_layer),
    Row::new(
        "two drivers have manifests of the same name, and one crashes",
        twins,
        "program.crashed",
    )
    .about("libmock_card.so")
    .remedy("VK_ICD_FILENAMES=", |machine| {
        let path = machine.path("system/vulkan/icd.d/card.json");
        machine.variable("VK_ICD_FILENAMES", path.to_str().expect("plain"));
    }),
    Row::new(
        "two drivers have manifests of one name, one crashes, and a variable lists both",
        |machine| {
            twins(machine);
            let [first, second] = ["data", "system"].map(|folder| machine.path(&format!("{folder}/vulkan/icd.d/card.json")));
            machine.variable("VK_DRIVER_FILES", format!("{}:{}", first.display(), second.display()));
        },
        "program.crashed",
    )
    .about("libmock_card.so")
    .remedy("VK_DRIVER_FILES=", |machine| {
        let path = machine.path("system/vulkan/icd.d/card.json");
        machine.variable("VK_DRIVER_FILES", path.to_str().expect("plain"));
    }),
    Row::new(
        "a library with two layers crashes while it is opened",
        |machine| {
            let text = "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }\n";
            layer(machine, text);
            machine.layer_of("second", &machine.path("libraries/libVkLayer_bad.so"));
        },
        "program.crashed",
    )
    .about("libVkLayer_bad.so")
    .remedy("VK_LOADER_LAYERS_DISABLE=VK_LAYER_bad,VK_LAYER_second PROGRAM", |machine| {
        machine.variable("VK_LOADER_LAYERS_DISABLE", "VK_LAYER_bad,VK_LAYER_second");
    }),
    Row::new(
        "a driver needs more thread-local memory than the program has left",
        |machine| {
            let text = "static __thread char big[9000] __attribute__((tls_model(\"initial-exec\"))); char *use(void) { return big; }\n";
            compile(machine, BAD, &format!("{text}{DRIVER}{{ return -3; }}\n int vklt_new(void) {{ return 0; }}\n"), &[]);
            machine.manifest("bad", &machine.path(BAD), "");
        },
        "driver.not-opened",
    )
    .about("too little memory left for the thread-local variables")
    .remedy("GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384 PROGRAM", |machine| {
        machine.variable("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=16384");
    })
    .gone(),
    Row::new(
        "a variable changes how a driver works, and the driver crashes",
        |machine| {
            machine.driver("radeon", "device one\ncrash vkEnumeratePhysicalDevices");
            for ending in ["so", "conf"] {
                let from = machine.path(&format!("libraries/libmock_radeon.{ending}"));
                fs::rename(from, machine.path(&format!("libraries/libvulkan_radeon.{ending}"))).expect("one folder");
            }
            machine.manifest("radeon", &machine.path("libraries/libvulkan_radeon.so"), "");
            machine.variable("RADV_DEBUG", "llvm");
        },
        "program.crashed",
    )
    .about("RADV_DEBUG is llvm")
    .remedy("Try without RADV_DEBUG first: unset RADV_DEBUG", |machine| {
        machine.unset("RADV_DEBUG");
        machine.driver("radeon", "device one");
    }),
    Row::new(
        "a manifest is a list",
        |machine| {
            good(machine);
            machine.file("data/vulkan/icd.d/good.json", "[]");
        },
        "file.invalid-json",
    )
    .about("in place of an object")
    .remedy("reinstall", good),
    Row::new(
        "two drivers list the same card, and their manifests have one name",
        |machine| {
            twins(machine);
            let card = "device one\ndevice.extension VK_EXT_pci_bus_info\ndevice.pci 0 3 0 0";
            for name in ["good", "card"] {
                machine.file(&format!("libraries/libmock_{name}.conf"), format!("ordinal 0\n{card}\n"));
            }
        },
        "device.listed-twice",
    )
    .remedy("or one of the manifests /", |machine| {
        fs::remove_file(machine.path("system/vulkan/icd.d/card.json")).expect("a file");
    })
    .gone(),
    Row::new(
        "a manifest names a program in place of a library",
        |machine| {
            let program = machine.c_program("int main(void) { return 0; }\n");
            machine.manifest("bad", Path::new(&program), "");
        },
        "driver.not-opened",
    )
    .about("it is a program and not a library")
    .remedy("Name the library in library_path", |machine| {
        fs::remove_file(machine.path("data/vulkan/icd.d/bad.json")).expect("a file");
        good(machine);
    }),
    Row::new("a library that the driver needs is too old", older_library, "driver.not-opened")
        .about("libvkltown.so of this version probably lacks")
        .remedy("names of its functions begin with vkltown_ too", reinstall),
    Row::new(
        "a library that the driver needs is only in the driver's folder",
        library_beside,
        "driver.not-opened",
    )
    .about("libvkltbeside.so exists, but the dynamic linker does not search")
    .remedy("LD_LIBRARY_PATH=", |machine| {
        let folder = machine.path("libraries");
        machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
    })
    .gone(),
    Row::new(
        "the ending of a manifest's name has capital letters",
        |machine| rename(machine, "good.JSON"),
        "driver.none-installed",
    )
    .about("good.JSON is ignored")
    .remedy("icd.d/good.json", |machine| {
        fs::rename(folder(machine).join("good.JSON"), folder(machine).join("good.json")).expect("renamed");
    }),
    Row::new(
        "a manifest is in a subfolder",
        |machine| {
            fs::create_dir(machine.path("data/vulkan/icd.d/own")).expect("a folder");
            rename(machine, "own/good.json");
        },
        "driver.none-installed",
    )
    .about("own/good.json is ignored, because subfolders are not searched")
    .remedy("mv ", |machine| {
        fs::rename(folder(machine).join("own/good.json"), folder(machine).join("good.json")).expect("renamed");
    }),
    Row::new(
        "the memory of the card is full",
        |machine| drop(machine.driver("full", "device one\nfail vkCreateDevice -2")),
        "device.not-created",
    )
    .about("VK_ERROR_OUT_OF_DEVICE_MEMORY")
    .remedy("Close programs that use the memory of the card", |machine| {
        machine.driver("full", "device one");
    }),
    Row::new(
        "a variable asks for a known layer that is not installed",
        |machine| {
            good(machine);
            machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_VKBASALT_post_processing");
        },
        "variable.no-match",
    )
    .about("VK_LAYER_VKBASALT_post_processing")
    .remedy("Install the layer: vkbasalt", |machine| {
        machine.unset("VK_INSTANCE_LAYERS");
    })
    .gone(),
    Row::new(
        "a driver is not complete for the card, and names the variable that permits it",
        |machine| {
            let words = "echo WARNING: pass PAN_I_WANT_A_BROKEN_VULKAN_DRIVER=1 if you know what you do >&2";
            machine.driver(
                "early",
                &format!("run vkEnumeratePhysicalDevices {words}\nfail vkEnumeratePhysicalDevices -9"),
            );
        },
        "device.enumeration-failed",
    )
    .about("not complete for this card")
    .remedy("PAN_I_WANT_A_BROKEN_VULKAN_DRIVER=1 PROGRAM", |machine| {
        machine.driver("early", "device one");
    }),
    Row::new(
        "a driver that lists no device names the variable that permits the card",
        |machine| {
            let words = "echo WARNING: NVK is not complete, pass NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1 >&2";
            machine.driver("early", &format!("run vkEnumeratePhysicalDevices {words}"));
        },
        "driver.no-devices",
    )
    .about("not complete for this card")
    .remedy("NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1 PROGRAM", |machine| {
        machine.driver("early", "device one");
    }),
    Row::new(
        "a power failure left a manifest of zero bytes",
        |machine| {
            good(machine);
            machine.file("data/vulkan/icd.d/good.json", [0_u8; 214]);
        },
        "file.invalid-json",
    )
    .about("holds only zero bytes")
    .remedy("Reinstall", good),
    Row::new(
        "a settings file was cut off",
        |machine| {
            good(machine);
            fs::create_dir_all(machine.path("data/vulkan/loader_settings.d")).expect("folders");
            machine.file("data/vulkan/loader_settings.d/vk_loader_settings.json", "{\"settings\": {");
        },
        "file.invalid-json",
    )
    .about("vk_loader_settings.json")
    .remedy("or delete it: rm ", |machine| {
        fs::remove_file(machine.path("data/vulkan/loader_settings.d/vk_loader_settings.json")).expect("a file");
    })
    .gone(),
    Row::new(
        "a variable has a pattern in place of paths",
        |machine| {
            good(machine);
            machine.variable("VK_ICD_FILENAMES", "/usr/share/vulkan/icd.d/*.json");
        },
        "variable.no-match",
    )
    .about("VK_ICD_FILENAMES")
    .remedy("nothing replaces *", |machine| machine.unset("VK_ICD_FILENAMES")),
    Row::new(
        "a path in a manifest ends with a blank",
        |machine| {
            good(machine);
            let library = machine.path("libraries/libmock_good.so ");
            machine.manifest("good", &library, "");
        },
        "driver.not-opened",
    )
    .about("begins or ends with a blank")
    .remedy("Remove the blank in library_path of", good),
    Row::new(
        "a limit on the stack is too low for the driver",
        |machine| {
            driver(machine, "{ volatile char b[900000]; for (int k = 0; k < 900000; k += 512) b[k] = 1; return vklt_new(); }\nint vklt_new(void) { return -3; }", &["-O0"]);
            // The driver needs 900,000 bytes. A debug build of vkloader needs less than 400 KiB.
            let words = ["sh", "-c", "ulimit -s 512 && exec \"$@\"", "sh"];
            assert!(machine.start_with(words.map(String::from).into()), "a shell sets limits");
        },
        "program.crashed",
    )
    .about("RLIMIT_STACK")
    .remedy("ulimit -s 8192", |machine| {
        machine.start_with(Vec::new());
    })
    .gone(),
];

fn folder(machine: &Machine) -> PathBuf {
    machine.path("data/vulkan/icd.d")
}

/// Installs a working driver, and moves its manifest to the path `to` below the folder of manifests.
fn rename(machine: &mut Machine, to: &str) {
    good(machine);
    fs::rename(folder(machine).join("good.json"), folder(machine).join(to)).expect("renamed");
}

/// The output of a program is not recorded, so the missing symbol comes from the symbols of the driver.
#[test]
fn a_symbol_that_ends_a_program_is_named_without_its_output() {
    let mut machine = Machine::new();
    driver(&mut machine, "{ return vklt_new(); }", &["-Wl,-z,lazy"]);
    let program = machine.c_program(
        "#include <dlfcn.h>\nint main(int n, char **v) { void *l = dlopen(v[1], 2); int info[16] = {1}; void *made;\n\
         int (*create)(void *, void *, void **) = dlsym(l, \"vkCreateInstance\"); return create(info, 0, &made); }\n",
    );
    let file = library();
    let explained = machine.explain_with(&["--", &program, file.to_str().expect("plain")]);
    assert_eq!(explained.first(), "program.exited");
    let findings = explained.findings();
    assert!(
        findings.contains("libvkltbad.so needs the symbol vklt_new"),
        "{findings}"
    );
    assert!(explained.advice().contains("needs together"), "{}", explained.advice());
}

#[test]
fn each_cause_in_a_release_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}

/// Compiles a library that needs a newer C library than any system has.
pub(super) fn for_newer_system(machine: &Machine, library: &str) {
    let versions = machine.file("versions", "GLIBC_2.999 { global: vklt_new; };\n");
    let stub = "int vklt_new(void) { return 0; }\n";
    let words = [
        "-nostdlib".into(),
        "-Wl,-soname,libc.so.6".into(),
        format!("-Wl,--version-script={}", versions.display()),
    ];
    fs::create_dir(machine.path("stub")).expect("a folder");
    compile(machine, "stub/libvkltc.so", stub, &words.each_ref().map(String::as_str));
    let stub = machine.path("stub/libvkltc.so").display().to_string();
    let text = "int vklt_new(void); int use(void) { return vklt_new(); }\n";
    compile(machine, library, text, &["-nostdlib", &stub]);
}

/// A package of the system brings a driver that is built for a newer C library.
#[test]
fn a_driver_of_a_package_that_is_too_new_comes_with_the_package() {
    let mut machine = Machine::new();
    for_newer_system(&machine, BAD);
    let manifest = machine.manifest("bad", &machine.path(BAD), "");
    let explained = machine.explain();
    if !explained.findings().contains("lacks the version GLIBC_2.999") {
        return crate::machine::skip("the C library here has no versions of its symbols");
    }
    assert_eq!(explained.first(), "driver.not-opened");
    let advice = explained.advice();
    assert!(
        advice.starts_with("Install a driver that is built for this system"),
        "{advice}"
    );
    let folder = "system/var/lib/dpkg/info";
    fs::create_dir_all(machine.path(folder)).expect("folders");
    machine.file(&format!("{folder}/format"), "1\n");
    let list = format!("/.\n{}\n{}\n", machine.path(BAD).display(), manifest.display());
    machine.file(&format!("{folder}/vklt-driver.list"), list);
    if !Path::new("/var/lib/dpkg/info").exists() || !machine.in_made_up_system(&["/var/lib/dpkg/info"]) {
        return crate::machine::skip("a package of dpkg cannot be made up here");
    }
    let advice = machine.explain().advice().to_owned();
    assert!(advice.starts_with("Reinstall package vklt-driver"), "{advice}");
    let is_apt = Path::new("/usr/bin/apt-get").exists();
    assert_eq!(
        advice.contains("apt-get install --reinstall vklt-driver"),
        is_apt,
        "{advice}"
    );
    fs::remove_file(machine.path(BAD)).expect("just made");
    reinstall(&mut machine);
    assert_eq!(machine.explain().devices(), ["one"]);
}

/// A variable leads to the libraries of a newer system, such as those of another package manager. The driver is built for this system.
#[test]
fn a_library_of_a_newer_system_in_a_variable_is_taken_out() {
    let mut machine = Machine::new();
    for folder in ["newer", "usual"] {
        fs::create_dir(machine.path(folder)).expect("a folder");
    }
    compile(
        &machine,
        "usual/libvkltused.so",
        "int used;\n",
        &["-Wl,-soname,libvkltused.so"],
    );
    let used = machine.path("usual/libvkltused.so").display().to_string();
    driver(&mut machine, "{ return -3; }", &["-Wl,--no-as-needed", &used]);
    for_newer_system(&machine, "newer/libvkltused.so");
    let folders = ["newer", "usual"].map(|folder| machine.path(folder).display().to_string());
    machine.variable("LD_LIBRARY_PATH", folders.join(":"));
    let explained = machine.explain();
    if !explained.findings().contains("lacks the version GLIBC_2.999") {
        return crate::machine::skip("the C library here has no versions of its symbols");
    }
    assert_eq!(explained.first(), "driver.not-opened");
    let wanted = format!(
        "Take {} out of LD_LIBRARY_PATH: its libvkltused.so is for a newer system.",
        folders[0]
    );
    assert!(explained.advice().starts_with(&wanted), "{}", explained.advice());
    machine.variable("LD_LIBRARY_PATH", &folders[1]);
    assert!(!machine.explain().codes().contains(&"driver.not-opened"));
}
