//! `vkloader explain` on machines where programs use another loader than the examined library. This loader fails because of a manifest, or
//! fails in the same way as the examined library.

mod machine;

use machine::{Machine, vkloader};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Source of a loader that reads one manifest and creates no instance. The loader crashes on a list, and rejects a byte order mark or a
/// comment.
const LOADER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int none(void *name, unsigned *count, void *all) { *count = 0; return 0; }
static int layers(unsigned *count, void *all) { *count = 0; return 0; }
static int create(void *info, void *allocator, void *instance) {
    const char *path = getenv("VK_DRIVER_FILES") ? getenv("VK_DRIVER_FILES") : getenv("MANIFEST");
    FILE *file = path ? fopen(path, "r") : 0;
    int first = file ? getc(file) : 0;
    if (first == '[') abort();
    return first == 0xEF || first == '/' ? -1 : -9;
}
void *vkGetInstanceProcAddr(void *instance, const char *name) {
    if (!strcmp(name, "vkCreateInstance")) return create;
    if (!strcmp(name, "vkEnumerateInstanceExtensionProperties")) return none;
    if (!strcmp(name, "vkEnumerateInstanceLayerProperties")) return layers;
    return 0;
}
"#;

/// Returns a machine with a working driver, on which `vkloader` is installed and programs use a loader with the C source `loader`.
fn machine(loader: &str) -> Machine {
    let mut machine = Machine::new();
    machine.install();
    machine.driver("card", "device card");
    fs::create_dir(machine.path("first")).expect("a folder");
    compile(&machine, "first/libvulkan.so.1", loader, &["-shared", "-fPIC"]);
    let folder = machine.path("first");
    machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
    machine
}

/// Compiles a C source to the file `to` of a machine.
fn compile(machine: &Machine, to: &str, text: &str, options: &[&str]) {
    let source = machine.file("source.c", text);
    let mut command = Command::new("cc");
    command.arg("-o").arg(machine.path(to)).arg(source).args(options);
    assert!(command.status().expect("a compiler").success());
}

/// Changes the text of the driver's manifest with a function. Returns the path of the manifest.
fn change(machine: &mut Machine, change: impl Fn(&str) -> String) -> String {
    let path = machine.path("data/vulkan/icd.d/card.json");
    let text = fs::read_to_string(&path).expect("just written");
    fs::write(&path, change(&text)).expect("written");
    let path = path.to_str().expect("plain").to_owned();
    machine.variable("MANIFEST", path.clone());
    path
}

#[test]
fn a_manifest_that_crashes_the_loader_of_programs_is_named() {
    let mut machine = machine(LOADER);
    let manifest = change(&mut machine, |text| format!("[{text}]"));
    let explained = machine.explain_with(&[]);
    assert_eq!((explained.code, explained.first()), (1, "loader.refuses-manifest"));
    let found = &explained.report["dropped"][0];
    assert_eq!(found["name"], manifest.as_str());
    assert!(
        explained.findings().contains("signal 6 (SIGABRT)") && explained.findings().contains("first/libvulkan.so.1"),
        "{}",
        explained.findings()
    );
    assert_eq!(
        explained.advice(),
        "Correct the file: a manifest is one object in braces"
    );
    assert!(!explained.codes().contains(&"loader.failed"));
    // `explain` names the loader that programs use, although that loader crashed.
    let text = String::from_utf8_lossy(&machine.run(&["explain"]).stdout).into_owned();
    assert!(text.contains("Programs on this machine get another loader"), "{text}");
    // With the variable `VK_DRIVER_FILES`, programs use only the named manifest, so the remedy ends with a command that unsets this
    // variable.
    machine.variable("VK_DRIVER_FILES", manifest);
    let explained = machine.explain_with(&[]);
    assert!(
        explained.advice().ends_with(", or: unset VK_DRIVER_FILES"),
        "{}",
        explained.advice()
    );
}

#[test]
fn a_manifest_that_only_the_loader_of_programs_refuses_is_named() {
    let mut machine = machine(LOADER);
    let manifest = change(&mut machine, |text| format!("\u{FEFF}{text}"));
    let explained = machine.explain_with(&[]);
    assert_eq!((explained.code, explained.first()), (1, "loader.refuses-manifest"));
    assert_eq!(explained.report["dropped"][0]["name"], manifest.as_str());
    assert!(
        explained.findings().contains("VK_ERROR_OUT_OF_HOST_MEMORY"),
        "{}",
        explained.findings()
    );
    let advice = explained.advice();
    assert!(advice.contains("sed -i '1s/^\\xEF\\xBB\\xBF//'"), "{advice}");
    let remedy = advice.split_once(": ").expect("a command").1;
    assert!(
        Command::new("sh")
            .args(["-c", remedy])
            .status()
            .expect("a shell")
            .success()
    );
    assert!(!fs::read(&manifest).expect("there").starts_with(b"\xEF"));
}

/// The examined loader skips a manifest with a comment, but the loader that programs use fails.
#[test]
fn a_comment_that_makes_the_loader_of_programs_fail_is_named() {
    let mut machine = machine(LOADER);
    machine.driver("other", "device other");
    let manifest = change(&mut machine, |text| format!("// mine\n{text}"));
    let explained = machine.explain_with(&[]);
    assert_eq!((explained.code, explained.first()), (1, "loader.refuses-manifest"));
    assert_eq!(explained.report["dropped"][0]["name"], manifest.as_str());
    assert!(
        explained.advice().ends_with("JSON has no comments"),
        "{}",
        explained.advice()
    );
}

/// Older loaders give up on the manifest of a layer that is not valid JSON.
#[test]
fn a_layers_file_on_which_the_loader_of_programs_gives_up_is_named() {
    let machine = machine(&LOADER.replace("first == '/' ? -1", "1 ? -1"));
    let file = machine.file("data/vulkan/implicit_layer.d/effects.json", "{\"layer\": {},}");
    let explained = machine.explain_with(&[]);
    assert_eq!(
        (explained.code, explained.first()),
        (1, "file.invalid-json"),
        "{:#}",
        explained.report["dropped"]
    );
    assert_eq!(explained.report["dropped"][0]["name"], file.to_str().expect("plain"));
    assert!(
        explained.findings().contains("gives up on such a file"),
        "{}",
        explained.findings()
    );
    assert!(explained.codes().contains(&"loader.failed"));
}

/// The examined library works with the layer. With the loader that programs use, each manifest crashes the process, but the layer is the reason.
#[test]
fn a_layer_that_crashes_only_the_loader_of_programs_is_named_and_no_manifest() {
    let crash = "if (path && !strstr(path, \"/nowhere/\") && !getenv(\"OFF_calm\")) abort();";
    let loader = LOADER.replace("if (first == '[') abort();", crash);
    assert_ne!(loader, LOADER);
    let mut machine = machine(&loader);
    change(&mut machine, str::to_owned);
    machine.working_layer("implicit", "calm", "", "");
    machine.working_layer("implicit", "other", "", "");
    let explained = machine.explain_with(&[]);
    assert_eq!(
        (explained.code, explained.first()),
        (1, "layer.call-failed"),
        "{:#}",
        explained.report["dropped"]
    );
    assert_eq!(explained.report["dropped"][0]["name"], "VK_LAYER_calm");
    assert!(
        explained.findings().contains("signal 6 (SIGABRT)"),
        "{}",
        explained.findings()
    );
    assert!(
        explained.advice().contains("OFF_calm=1 PROGRAM"),
        "{}",
        explained.advice()
    );
    assert!(!explained.codes().contains(&"loader.refuses-manifest"));
}

/// A layer ends the process with every loader, so the loaders are not at fault.
#[test]
fn a_layer_that_crashes_under_both_loaders_is_named_and_no_loader() {
    let mut machine =
        machine("#include <stdlib.h>\nvoid *vkGetInstanceProcAddr(void *instance, const char *name) { abort(); }\n");
    let library = machine.path("libraries/libcrash.so");
    let source = machine.file(
        "crash.c",
        "#include <stdlib.h>\nint vkNegotiateLoaderLayerInterfaceVersion(void *version) { abort(); }\n",
    );
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source);
    assert!(command.status().expect("a compiler").success());
    machine.layer_of("crash", &library);
    machine.working_layer("implicit", "calm", "", "");
    let explained = machine.explain_with(&[]);
    assert_eq!((explained.code, explained.first()), (1, "program.crashed"));
    assert_eq!(explained.report["dropped"][0]["name"], "VK_LAYER_crash");
    assert!(
        explained.advice().contains("OFF_crash=1 PROGRAM"),
        "{}",
        explained.advice()
    );
    assert!(!explained.codes().contains(&"loader.failed"), "{:?}", explained.codes());
    machine.variable("VK_LOADER_LAYERS_DISABLE", "VK_LAYER_crash");
    let explained = machine.explain_with(&[]);
    assert_eq!(explained.first(), "loader.failed");
}

#[test]
fn the_loader_of_programs_is_known_without_proc() {
    let mut machine = machine(LOADER);
    let script = "mount -t tmpfs none /proc && exec \"$@\"";
    let words = ["unshare", "--mount", "sh", "-c", script, "sh"].map(String::from);
    if !machine.start_with(words.into()) {
        return;
    }
    let explained = machine.explain_with(&[]);
    let loader = machine.path("first/libvulkan.so.1");
    assert_eq!(
        explained.report["other_loader"]["path"],
        loader.to_str().expect("plain")
    );
    assert_eq!(
        explained.found("loader.failed")["name"],
        loader.to_str().expect("plain")
    );
}

/// The program works under `vkloader`, which gives it a library. Without `vkloader`, the program has no loader.
#[test]
fn a_program_that_finds_no_loader_is_told_although_it_works_here() {
    let machine = machine(LOADER);
    fs::write(machine.path("first/libvulkan.so.1"), "no library").expect("written");
    let program = [vkloader(), "probe", "libvulkan.so.1"];
    let words = [&["explain", "--"], &program[..]].concat();
    let explained = machine.explain_with(&words[1..]);
    assert_eq!(
        (explained.code, explained.first()),
        (1, "loader.not-opened"),
        "{:#}",
        explained.report["dropped"]
    );
    assert_eq!(explained.devices(), ["card"]);
    assert!(
        explained.advice().contains("out of LD_LIBRARY_PATH"),
        "{}",
        explained.advice()
    );
    let output = machine.run(&words);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("Without vkloader, the program finds no Vulkan loader"),
        "{text}"
    );
}

/// A program with a loader of its own that finds no driver works under `vkloader`, which gives it another loader.
#[test]
fn a_loader_of_the_program_that_fails_is_named_although_the_program_works_here() {
    const PROGRAM: &str = "#include <dlfcn.h>\n\
        struct info { int type; const void *next; unsigned flags; const void *app; unsigned layers; const void *names; unsigned count; const void *list; };\n\
        int main(void) { void *l = dlopen(\"libvulkan.so.1\", 2), *made, *all[8]; unsigned count = 8; struct info info = {1};\n\
        int (*create)(const struct info *, const void *, void **) = dlsym(l, \"vkCreateInstance\");\n\
        int (*list)(void *, unsigned *, void **) = dlsym(l, \"vkEnumeratePhysicalDevices\");\n\
        return create && !create(&info, 0, &made) && !list(made, &count, all) ? 0 : 1; }\n";
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    ];
    if !folders
        .iter()
        .any(|folder| Path::new(folder).join("libvulkan.so.1").exists())
    {
        return machine::skip("this system has no Vulkan loader");
    }
    let mut machine = machine(LOADER);
    machine.unset("LD_LIBRARY_PATH");
    let (source, program) = (machine.file("program.c", PROGRAM), machine.path("program"));
    let mut command = Command::new("cc");
    command
        .arg("-o")
        .arg(&program)
        .arg(source)
        .args(["-ldl", "-Wl,-rpath,$ORIGIN/first"]);
    assert!(command.status().expect("a compiler").success());
    let explained = machine.explain_with(&["--", program.to_str().expect("plain")]);
    let found = explained.found("loader.failed");
    let file = machine.path("first/libvulkan.so.1").display().to_string();
    assert_eq!(
        found["advice"],
        format!(
            "Let the program use the loader of the system: mv {file} {}",
            file.replace("/libvulkan", "/off.libvulkan")
        )
    );
    assert_eq!(explained.devices(), ["card"]);
}

/// A launcher replaces the variable by which `vkloader` leads the program to its library. The folder in the new value has an old library, with which
/// the driver does not open.
#[test]
fn a_folder_that_only_a_launcher_names_is_the_cause_for_its_program() {
    let mut machine = machine(LOADER);
    machine.unset("LD_LIBRARY_PATH");
    let build = |out: &str, text: &str, more: &[String]| {
        let (source, out) = (machine.file(&format!("{out}.c"), text), machine.path(out));
        let mut command = Command::new("cc");
        command
            .args(["-shared", "-fPIC", "-o"])
            .arg(&out)
            .arg(source)
            .args(more);
        assert!(command.status().expect("a compiler").success());
        out
    };
    let named = ["-Wl,-soname,libhelp.so".to_owned()];
    let new = build("libraries/libhelp.so", "int help(void) { return 1; }\n", &named);
    build("first/libhelp.so", "int old(void) { return 1; }\n", &named);
    let path = format!("-Wl,--enable-new-dtags,-rpath,{}", machine.path("libraries").display());
    let text = "int help(void);\nvoid *vk_icdGetInstanceProcAddr(void *i, const char *n) { return help() ? 0 : i; }\n";
    let driver = build(
        "libraries/libneedy.so",
        text,
        &[new.display().to_string(), path, "-Wl,-z,now".into()],
    );
    fs::remove_file(machine.path("data/vulkan/icd.d/card.json")).expect("just written");
    machine.manifest("needy", &driver, "");
    let program = machine.c_program(
        "#include <dlfcn.h>\nint main(void) { void *l = dlopen(\"libvulkan.so.1\", 2);\n\
         void *(*get)(void *, const char *) = l ? dlsym(l, \"vkGetInstanceProcAddr\") : 0; void *made; int info[16] = {1};\n\
         int (*create)(void *, void *, void **) = get ? get(0, \"vkCreateInstance\") : 0;\n\
         return create && !create(info, 0, &made) ? 0 : 1; }\n",
    );
    let script = machine.path("start");
    let folder = machine.path("first");
    let text = format!(
        "#!/bin/sh\nexport LD_LIBRARY_PATH={}\nexec {program}\n",
        folder.display()
    );
    steady::write_script(&script, &text);
    let explained = machine.explain_with(&["--", script.to_str().expect("plain")]);
    assert_eq!(
        explained.first(),
        "driver.not-opened",
        "{:#}",
        explained.report["dropped"]
    );
    let wanted = format!("Take {} out of LD_LIBRARY_PATH", folder.display());
    assert!(explained.advice().contains(&wanted), "{}", explained.advice());
    assert!(explained.findings().contains("line 2 of"), "{}", explained.findings());
}

/// The program was linked with a newer loader than it gets. It runs only because `vkloader` gives it another library.
#[test]
fn a_function_that_the_loader_of_programs_lacks_is_named() {
    let machine = machine(&format!("{LOADER}void vkCmdPushConstants2(void) {{}}\n"));
    let folder = format!("-L{}", machine.path("first").display());
    let text = "extern void *vkGetInstanceProcAddr(void *, const char *);\nextern void vkCmdPushConstants2(void);\n\
                int main(int count, char **words) {\n    if (count > 7) vkCmdPushConstants2();\n    \
                return vkGetInstanceProcAddr(0, \"vkCreateInstance\") == 0;\n}\n";
    compile(&machine, "game", text, &[&folder, "-l:libvulkan.so.1", "-Wl,-z,now"]);
    let program = machine.path("game").display().to_string();
    let explained = || machine.explain_with(&["--", &program]);
    let whole = explained().report["dropped"].to_string();
    assert!(!whole.contains("vkCmdPushConstants2"), "{whole}");
    compile(&machine, "first/libvulkan.so.1", LOADER, &["-shared", "-fPIC"]);
    let explained = explained();
    assert_eq!(explained.first(), "loader.failed", "{:#}", explained.report["dropped"]);
    let first = explained.report["dropped"][0].to_string();
    assert!(first.contains("lacks vkCmdPushConstants2, which "), "{first}");
}

/// The file of the loader of programs is cut, or the loader ends each process that opens it. Programs then crash before they make a call.
#[test]
fn a_loader_that_ends_each_process_is_named_with_its_file() {
    let machine = machine(LOADER);
    let loader = machine.path("first/libvulkan.so.1");
    let program = [vkloader(), "probe", "libvulkan.so.1"];
    let words = [&["--"], &program[..]].concat();
    let crash = "__attribute__((constructor)) static void start(void) { abort(); }\n";
    compile(
        &machine,
        "first/libvulkan.so.1",
        &format!("{LOADER}{crash}"),
        &["-shared", "-fPIC"],
    );
    for (words, devices) in [(&[][..], 0), (&words[..], 1)] {
        let explained = machine.explain_with(words);
        assert_eq!((explained.code, explained.first()), (1, "loader.failed"), "{words:?}");
        assert_eq!(explained.devices().len(), devices);
        let found = &explained.report["dropped"][0];
        assert_eq!(found["name"], loader.to_str().expect("plain"));
        assert!(explained.findings().contains("signal 6 (SIGABRT)"), "{found:#}");
        assert!(!explained.codes().contains(&"device.hidden-by-loader"));
    }
    let text = String::from_utf8_lossy(&machine.run(&[&["explain"], &words[..]].concat()).stdout).into_owned();
    assert!(text.contains("Without vkloader, the program fails"), "{text}");
    let bytes = fs::read(&loader).expect("just compiled");
    fs::write(&loader, &bytes[..bytes.len() / 2]).expect("written");
    let explained = machine.explain_with(&words);
    assert!(
        explained.findings().contains("is cut: it has"),
        "{:#}",
        explained.report["dropped"]
    );
}

/// The program asks for an extension that only the library of `vkloader` has.
#[test]
fn an_extension_that_the_loader_of_programs_lacks_is_named() {
    let machine = machine(LOADER);
    let program = machine.c_program(
        "#include <dlfcn.h>\n\
         struct info { int type; const void *next; unsigned flags; const void *app; unsigned layers; const void *names; unsigned count; const void *list; };\n\
         int main(void) { void *l = dlopen(\"libvulkan.so.1\", 2), *made; const char *name = \"VK_EXT_debug_utils\";\n\
         struct info info = {1, 0, 0, 0, 0, 0, 1, &name};\n\
         int (*create)(const struct info *, const void *, void **) = dlsym(l, \"vkCreateInstance\");\n\
         return create && !create(&info, 0, &made) ? 0 : 1; }\n",
    );
    let explained = machine.explain_with(&["--", &program]);
    assert_eq!(
        (explained.code, explained.first()),
        (1, "loader.failed"),
        "{:#}",
        explained.report["dropped"]
    );
    let reason = explained.report["dropped"][0]["reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("lacks the extension VK_EXT_debug_utils, which the program asks for"),
        "{reason}"
    );
}

#[test]
fn a_loader_that_the_user_may_not_read_is_named() {
    let mut machine = machine(LOADER);
    if !machine.unprivileged() {
        return;
    }
    let file = machine.path("first/libvulkan.so.1");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("the owner may");
    let words = ["--", vkloader(), "probe", "libvulkan.so.1"];
    let explained = machine.explain_with(&words);
    // If this system has another loader, programs get that one.
    if explained.codes().contains(&"loader.not-opened") {
        assert_eq!(explained.first(), "loader.not-opened");
        assert!(
            explained.advice().contains(&format!("chmod o+r {}", file.display())),
            "{}",
            explained.advice()
        );
    }
}

/// A library opens the loader for the program. The dynamic linker does not search the folders of the program's `DT_RUNPATH` for that library.
#[test]
fn a_loader_that_only_the_programs_own_search_finds_is_not_blamed() {
    let mut machine = machine(LOADER);
    machine.unset("LD_LIBRARY_PATH");
    let text = "#include <dlfcn.h>\nint help(void) { return dlopen(\"libvulkan.so.1\", 2) == 0; }\n";
    compile(&machine, "libraries/libhelp.so", text, &["-shared", "-fPIC"]);
    let library = machine.path("libraries/libhelp.so").display().to_string();
    let folders = format!(
        "-Wl,--enable-new-dtags,-rpath,$ORIGIN/first:{}",
        machine.path("libraries").display()
    );
    compile(
        &machine,
        "game",
        "int help(void);\nint main(void) { return help(); }\n",
        &[&library, &folders],
    );
    let program = machine.path("game").display().to_string();
    let explained = machine.explain_with(&["--", &program]);
    let all = explained.report["dropped"].to_string();
    assert!(!all.contains("first/libvulkan.so.1"), "{all}");
}
