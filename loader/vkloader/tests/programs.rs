//! `vkloader explain -- PROGRAM` for programs that leave no trace, continue in the background, or run as another user.

mod machine;

use machine::{Explained, Machine, library, skip, vkloader};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the command line that runs the probe as a program, quoted for a shell.
fn probe() -> String {
    format!("{} probe {} >/dev/null", vkloader(), library().display())
}

/// Returns a machine with a working driver.
fn working() -> Machine {
    let machine = Machine::new();
    machine.driver("good", "device one");
    machine
}

/// Runs `vkloader explain` for a shell command, and returns the report.
fn of_shell(machine: &Machine, script: &str) -> Explained {
    let library = library();
    machine.explain_with(&["--library", library.to_str().expect("plain"), "--", "sh", "-c", script])
}

/// Runs `vkloader explain` for a program, and returns the output.
fn said(machine: &Machine, program: &[&str]) -> Output {
    let library = library();
    machine.run(
        &[
            &["explain", "--library", library.to_str().expect("plain"), "--"],
            program,
        ]
        .concat(),
    )
}

/// Returns the standard error and the report of a program with one blank in place of each group of blanks and line ends.
fn in_one_line(output: &Output) -> String {
    let text = [&output.stderr[..], &output.stdout].concat();
    let text = String::from_utf8_lossy(&text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn compile(machine: &Machine, output: &str, text: &str, options: &[&str]) -> Option<PathBuf> {
    let path = machine.path(output);
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    let source = machine.file(&format!("{}.c", output.replace('/', "_")), text);
    let made = Command::new("cc")
        .arg("-o")
        .arg(&path)
        .arg(source)
        .args(options)
        .output();
    made.expect("a compiler").status.success().then_some(path)
}

#[test]
fn a_program_that_goes_on_in_the_background_is_awaited() {
    let machine = working();
    let probe = probe();
    let script = format!("(sleep 0.3; exec {probe}) & exit 0");
    // `explain` waits for two seconds for a process that begins to use Vulkan, and a busy machine can delay the process for longer.
    steady::once_in_some_attempts("the process is awaited", || {
        let explained = of_shell(&machine, &script);
        (explained.code, explained.devices()) == (0, vec!["one"])
    });
    // `explain` also reports the crash of a process that continues in the background.
    let wrong = Machine::new();
    wrong.driver("bad", "device one\ncrash vkCreateInstance");
    steady::once_in_some_attempts("the crash is reported", || {
        of_shell(&wrong, &script).first() == "program.crashed"
    });
    let output = said(
        &machine,
        &["sh", "-c", &format!("({probe}; sleep 1) & {probe}; exit 3")],
    );
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("status 3"), "{report}");
}

#[test]
fn a_program_that_leaves_a_daemon_ends_when_it_ends() {
    let machine = working();
    let file = machine.path("daemon");
    // The background process, which does not use Vulkan, ends when `file` exists, or when the test removes the folder of the machine.
    let script = format!(
        "{}; (while [ -d {} ] && [ ! -e {} ]; do sleep 0.1; done) >/dev/null 2>&1 & exit 0",
        probe(),
        machine.path("").display(),
        file.display()
    );
    let explained = of_shell(&machine, &script);
    assert_eq!((explained.code, explained.devices()), (0, vec!["one"]));
    fs::write(file, "").expect("written");
}

#[test]
fn a_mask_that_takes_all_permissions_away_prevents_nothing() {
    let mut machine = working();
    fs::write(machine.path("journal"), "").expect("written");
    for path in [machine.path("journal"), machine.path("")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("the owner may");
    }
    if !machine.unprivileged() {
        return;
    }
    fs::set_permissions(machine.path(""), fs::Permissions::from_mode(0o777)).expect("the owner may");
    assert!(machine.start_with(["sh", "-c", "umask 777 && exec \"$@\"", "sh"].map(String::from).into()));
    let explained = machine.explain();
    assert_eq!((explained.code, explained.devices()), (0, vec!["one"]));
    let explained = of_shell(&machine, &probe());
    assert_eq!((explained.code, explained.devices()), (0, vec!["one"]));
}

#[test]
fn a_system_that_takes_no_temporary_file_prevents_nothing() {
    let mut machine = Machine::new();
    let text = "int vklt_driver;\n";
    compile(&machine, "libraries/libplain.so", text, &["-shared", "-fPIC"]).expect("a library");
    machine.manifest("plain", &machine.path("libraries/libplain.so"), "");
    fs::create_dir(machine.path("first")).expect("a folder");
    std::os::unix::fs::symlink(library(), machine.path("first/libvulkan.so.1")).expect("a link");
    let first = machine.path("first").display().to_string();
    let words = [
        "bwrap",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--remount-ro",
        "/dev/shm",
        "--remount-ro",
        "/dev",
    ];
    if !machine.start_with(words.map(String::from).into()) {
        return;
    }
    assert_eq!(machine.explain().first(), "driver.no-entry-point");
    // Without a folder for temporary files, `explain` cannot create links to a library. The program then finds the library through
    // `LD_LIBRARY_PATH`.
    machine.variable("LD_LIBRARY_PATH", first);
    let script = probe().replace(">/dev/null", ">&2");
    let words = ["--", "sh", "-c", &script];
    assert_eq!(machine.explain_with(&words).first(), "driver.no-entry-point");
    let output = machine.run(&["explain", "--", "/nowhere/program"]);
    let words = in_one_line(&output);
    assert!(
        output.status.code() == Some(2) && words.contains("No such file"),
        "{words}"
    );
    let output = said(&machine, &["true"]);
    let words = in_one_line(&output);
    assert!(output.status.code() == Some(2) && words.contains("TMPDIR"), "{words}");
}

#[test]
fn programs_without_a_trace_come_with_the_reason() {
    let mut machine = working();
    fs::create_dir(machine.path("tools")).expect("a folder");
    for name in ["sudo", "flatpak", "bwrap"] {
        steady::write_script(&machine.path(&format!("tools/{name}")), "#!/bin/sh\nexit 0\n");
    }
    let folder = machine.path("tools").display().to_string();
    machine.variable("PATH", format!("{folder}:/usr/bin:/bin"));
    let words = |program: &[&str]| {
        let output = said(&machine, program);
        (output.status.code(), in_one_line(&output))
    };
    let (code, told) = words(&["sudo", "-u", "ann", "game"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(
        told.contains("as another user") && told.contains("sudo vkloader explain -- PROGRAM"),
        "{told}"
    );
    let (_, told) = words(&["bwrap", "--ro-bind", "/", "/", "game"]);
    assert!(told.contains("explain --descriptor -- PROGRAM"), "{told}");
    let (_, told) = words(&["flatpak", "run", "org.example.Game"]);
    assert!(told.contains("flatpak run --command=sh"), "{told}");
    let raised = machine.path("raised");
    steady::copy_program(Path::new("/bin/true"), &raised, 0o4755);
    let (_, told) = words(&[raised.to_str().expect("plain")]);
    assert!(
        told.contains("set-user-ID") && told.contains("cp ") && told.contains("vkloader explain -- /tmp/raised"),
        "{told}"
    );
    let Some(program) = compile(&machine, "static", "int main(void) { return 0; }\n", &["-static"]) else {
        return skip("a static program: the compiler here makes none");
    };
    let (_, told) = words(&[program.to_str().expect("plain")]);
    assert!(
        told.contains("is linked statically") && told.contains("uses no Vulkan loader"),
        "{told}"
    );
    let text = "const char *volatile words[] = {\"vk_icdGetInstanceProcAddr\", \"VK_ICD_FILENAMES\"};\nint main(void) { return !words[0]; }\n";
    let program = compile(&machine, "whole", text, &["-static"]).expect("as before");
    let (_, told) = words(&[program.to_str().expect("plain")]);
    assert!(told.contains("contains its own Vulkan loader"), "{told}");
    let text = "#include <dlfcn.h>\nint main(void) { dlopen(\"/nowhere/libvulkan.so.1\", 2); return 0; }\n";
    let program = compile(&machine, "opens", text, &["-static"]).expect("as before");
    let (code, told) = words(&[program.to_str().expect("plain")]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("The program ended normally, and left no trace"), "{told}");
}

/// A library from `LD_PRELOAD` crashes the program before the program opens a loader.
#[test]
fn a_crash_in_a_preloaded_library_is_told_with_the_variable() {
    let machine = working();
    let text = "#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) { if (getenv(\"GO\")) *(volatile int *)8 = 1; }\n";
    let library = compile(&machine, "hook/libhook.so", text, &["-shared", "-fPIC"]).expect("a library");
    let library = library.display();
    let explained = of_shell(&machine, &format!("GO=1 LD_PRELOAD={library} exec {}", probe()));
    assert_eq!((explained.code, explained.first()), (1, "program.crashed"));
    assert_eq!(explained.report["crash"]["culprit"], "library");
    assert_eq!(
        explained.advice(),
        format!("Take {library} out of LD_PRELOAD, or update it.")
    );
}

/// First, a script makes the program open another loader. Then, the program opens no loader, and finally OpenGL's library instead of a
/// loader.
#[test]
fn the_library_that_a_program_opened_instead_is_named() {
    let mut machine = working();
    let soname = ["-shared", "-fPIC", "-Wl,-soname,libvulkan.so.1"];
    let loader = compile(&machine, "game/lib/libvulkan.so.1", LOADER, &soname).expect("a library");
    let told = |machine: &Machine, script: &str| {
        let output = said(machine, &["sh", "-c", script]);
        assert_eq!(output.status.code(), Some(2));
        in_one_line(&output)
    };
    let folder = loader.parent().expect("a folder").display().to_string();
    let words = told(
        &machine,
        &format!(
            "LD_LIBRARY_PATH={folder} {}; exit 0",
            probe().replace(&library().display().to_string(), "libvulkan.so.1")
        ),
    );
    assert!(
        words.contains(&format!("it opened {}", loader.display()))
            && words.contains(&format!("adds {folder} to LD_LIBRARY_PATH")),
        "{words}"
    );
    let words = told(&machine, "true; exit 0");
    assert!(
        words.contains("it opened no Vulkan loader, so it uses no Vulkan.") && words.contains("-> vkloader explain"),
        "{words}"
    );
    compile(
        &machine,
        "gl/libGL.so.1",
        "int gl;\n",
        &["-shared", "-fPIC", "-Wl,-soname,libGL.so.1"],
    )
    .expect("a library");
    machine.variable("LD_PRELOAD", machine.path("gl/libGL.so.1").display().to_string());
    let words = told(&machine, "true; exit 0");
    assert!(
        words.contains("draws with OpenGL (") && words.contains("gl/libGL.so.1)"),
        "{words}"
    );
    // Programs with Chromium bring a software driver beside their libraries of OpenGL.
    machine.file("gl/libvk_swiftshader.so", "");
    let words = told(&machine, "true; exit 0");
    assert!(
        words.contains("PROGRAM --enable-features=Vulkan --use-vulkan=native"),
        "{words}"
    );
}

/// Source of a loader that writes no trace.
const LOADER: &str = "void *vkGetInstanceProcAddr(void *instance, const char *name) { return 0; }\n";

#[test]
fn a_loader_in_a_folder_of_the_program_is_named() {
    let mut machine = working();
    let soname = ["-shared", "-fPIC", "-Wl,-soname,libvulkan.so.1"];
    let loader = compile(&machine, "game/lib/libvulkan.so.1", LOADER, &soname).expect("a library");
    let text = "extern void *vkGetInstanceProcAddr(void *, const char *);\nint main(void) { return vkGetInstanceProcAddr(0, \"vkCreateInstance\") == 0; }\n";
    let options = [
        loader.to_str().expect("plain"),
        "-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib",
    ];
    let program = compile(&machine, "game/game", text, &options).expect("a program");
    let program = program.to_str().expect("plain").to_owned();
    machine.install();
    let explained = machine.explain_with(&["--", &program]);
    let other = &explained.report["other_loader"];
    assert_eq!(other["path"].as_str().map(Path::new), Some(&*loader), "{other:#}");
    assert_eq!(
        explained.report["loader"]["version"]
            .as_str()
            .map(|version| &version[..2]),
        Some("1.")
    );
    // If `vkloader` was installed without a library, it names the program's loader.
    let mut machine = Machine::new();
    machine.install();
    fs::remove_dir_all(machine.path("libexec")).expect("just installed");
    let output = machine.run(&["explain", "--", &program]);
    let told = in_one_line(&output);
    assert!(
        told.contains("brings its own Vulkan loader") && told.contains("game/lib/libvulkan.so.1"),
        "{told}"
    );
}

#[test]
fn a_32_bit_program_comes_with_what_it_lacks() {
    let mut machine = working();
    let small = "void _start(void) { __asm__ volatile(\"movl $1, %eax; xorl %ebx, %ebx; int $0x80\"); }\n";
    let options = ["-m32", "-nostdlib", "-static"];
    let program = compile(&machine, "small", small, &options).filter(|_| cfg!(target_arch = "x86_64"));
    let program = program.filter(|program| Command::new(program).status().is_ok_and(|status| status.success()));
    let Some(program) = program else {
        return skip("a program of 32 bits: the compiler or the kernel here knows none");
    };
    let program = program.to_str().expect("plain").to_owned();
    let own = machine.path("lib32").to_str().expect("plain").to_owned();
    machine.variable("LD_LIBRARY_PATH", own);
    let library = library();
    let words = ["--library", library.to_str().expect("plain"), "--", &program];
    let is_installed = ["/usr/lib/i386-linux-gnu", "/usr/lib32", "/usr/lib"]
        .iter()
        .any(|folder| Path::new(folder).join("libvulkan.so.1").exists());
    if is_installed {
        return skip("this system has a loader for 32-bit programs");
    }
    let explained = machine.explain_with(&words);
    assert_eq!((explained.code, explained.first()), (1, "program.word-size"));
    assert!(explained.advice().contains("libvulkan1:i386"), "{}", explained.advice());
    let shared = ["-m32", "-nostdlib", "-shared", "-fPIC"];
    compile(&machine, "lib32/libvulkan.so.1", "int loader;\n", &shared).expect("a library");
    let explained = machine.explain_with(&words);
    assert_eq!(explained.first(), "program.word-size");
    assert!(
        explained.advice().contains("mesa-vulkan-drivers:i386"),
        "{}",
        explained.advice()
    );
    let needed = compile(&machine, "lib32/libvkltneeded.so", "int needed;\n", &shared).expect("a library");
    let driver = [&shared[..], &["-Wl,--no-as-needed", needed.to_str().expect("plain")]].concat();
    let driver = compile(&machine, "lib32/libdriver.so", "int driver;\n", &driver).expect("a library");
    machine.manifest("small_icd.i686", &driver, "");
    let explained = machine.explain_with(&words);
    assert_eq!((explained.code, explained.first()), (2, "program.no-trace"));
    let findings = explained.findings();
    assert!(findings.contains("its driver: "), "{findings}");
    fs::remove_file(needed).expect("just made");
    let explained = machine.explain_with(&words);
    assert_eq!(explained.first(), "program.word-size");
    assert!(
        explained.findings().contains("libvkltneeded.so"),
        "{}",
        explained.findings()
    );
}

/// The superuser runs `vkloader explain` for a program that drops its privileges.
#[test]
fn a_program_of_another_user_is_explained_to_root() {
    let mut machine = working();
    if !machine.unprivileged() {
        return;
    }
    machine.privileged();
    fs::write(machine.path("journal"), "").expect("written");
    fs::set_permissions(machine.path("journal"), fs::Permissions::from_mode(0o666)).expect("the owner may");
    let change = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    if !Command::new("sh")
        .args(["-c", &format!("{change} true")])
        .status()
        .is_ok_and(|status| status.success())
    {
        return skip("setpriv does not change the user here");
    }
    let explained = of_shell(&machine, &format!("{change} {}", probe()));
    assert_eq!((explained.code, explained.devices()), (0, vec!["one"]));
}

/// The program has an old library in its own folder. The driver then uses the old library, although the system has a newer version of it.
#[test]
fn a_library_that_a_program_brings_and_that_is_too_old_is_named() {
    let mut machine = Machine::new();
    let usual = |folder: &str| machine.path(folder).join("libvkltvalue.so");
    for (folder, text) in [
        ("system", "int vklt_value(void) { return 1; }\n"),
        ("game/lib", "int other;\n"),
    ] {
        let options = ["-shared", "-fPIC", "-Wl,-soname,libvkltvalue.so"];
        compile(&machine, &format!("{folder}/libvkltvalue.so"), text, &options).expect("a library");
    }
    let driver = "int vklt_value(void);\nint user(void) { return vklt_value(); }\n";
    let rpath = format!(
        "-Wl,--enable-new-dtags,-z,now,-rpath,{}",
        machine.path("system").display()
    );
    let system = usual("system").display().to_string();
    let options = ["-shared", "-fPIC", &system, &rpath];
    let driver = compile(&machine, "libraries/libuser.so", driver, &options).expect("a library");
    let text = "#include <dlfcn.h>\ntypedef int (*create_t)(void *, void *, void *);\ntypedef create_t (*get_t)(void *, const char *);\n\
                int main(void) {\n    int info[16] = {1};\n    void *instance, *library = dlopen(\"libvulkan.so.1\", RTLD_NOW);\n    \
                get_t get = (get_t)dlsym(library, \"vkGetInstanceProcAddr\");\n    return get(0, \"vkCreateInstance\")(info, 0, &instance) != 0;\n}\n";
    let own = usual("game/lib").display().to_string();
    let options = [
        "-ldl",
        "-Wl,--no-as-needed",
        &own,
        "-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib",
    ];
    let program = compile(&machine, "game/game", text, &options).expect("a program");
    machine.manifest("user", &driver, "");
    let library = library();
    machine.variable("LD_BIND_NOW", "");
    let words = [
        "--library",
        library.to_str().expect("plain"),
        "--",
        program.to_str().expect("plain"),
    ];
    let explained = machine.explain_with(&words);
    assert_eq!(
        explained.first(),
        "driver.not-opened",
        "{:#}",
        explained.report["dropped"]
    );
    assert!(
        explained.findings().contains("game/lib/libvkltvalue.so does not have"),
        "{}",
        explained.findings()
    );
    assert!(
        explained.advice().contains(&format!("LD_PRELOAD={system} PROGRAM")),
        "{}",
        explained.advice()
    );
    machine.variable("LD_PRELOAD", system);
    assert!(!machine.explain_with(&words).codes().contains(&"driver.not-opened"));
}

#[test]
fn a_program_that_needs_a_function_that_the_loader_lacks_is_said_as_that() {
    let machine = working();
    let folder = machine.path("window");
    let text = "int vkCreateFutureVKLT(void) { return 1; }\n";
    let options = ["-shared", "-fPIC", "-Wl,-soname,libvulkan.so.1"];
    let Some(library) = compile(&machine, "window/libvulkan.so.1", text, &options) else {
        return skip("the compiler makes no library here");
    };
    let text = "int vkCreateFutureVKLT(void); int main(void) { return vkCreateFutureVKLT(); }\n";
    let options = [library.to_str().expect("plain"), "-Wl,-z,now"];
    let program = compile(&machine, "program", text, &options).expect("a program");
    fs::remove_dir_all(folder).expect("just made");
    let output = said(&machine, &[program.to_str().expect("plain")]);
    let words = in_one_line(&output);
    assert!(words.contains("needs the function vkCreateFutureVKLT"), "{words}");
    assert!(words.contains("Update the Vulkan loader"), "{words}");
}

/// Many programs end with SIGABRT after a failure, for example through a C++ exception.
#[test]
fn a_failed_call_comes_before_the_abort_that_follows_from_it() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let first = |calls: &str| {
        let text = format!(
            "#include <dlfcn.h>\n#include <stdlib.h>\n\
             struct info {{ int type; const void *next; unsigned flags; const void *app; unsigned layers; const void *names; unsigned count; const char **list; }};\n\
             int main(int n, char **v) {{ void *l = dlopen(v[1], 2); int (*create)(const struct info *, const void *, void **) = dlsym(l, \"vkCreateInstance\");\n\
             const char *name = \"VK_EXT_nowhere\"; struct info info = {{1, 0, 0, 0, 0, 0, 0, &name}}; void *made; {calls} abort(); }}\n"
        );
        let program = machine.c_program(&text);
        let file = library();
        let output = machine.run(&["explain", "--json", "--", &program, file.to_str().expect("plain")]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
        report["dropped"][0]["code"].as_str().expect("a code").to_owned()
    };
    let fails = "info.count = 1; create(&info, 0, &made);";
    let succeeds = "info.count = 0; create(&info, 0, &made);";
    assert_eq!(first(fails), "instance.extension-missing");
    assert_eq!(first(succeeds), "program.crashed");
    // Many programs try again with fewer extensions, so the first attempt does not explain a later abort.
    assert_eq!(first(&format!("{fails} {succeeds}")), "program.crashed");
}
