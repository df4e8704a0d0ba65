//! Programs that fail before they get a Vulkan loader that writes a trace.

use super::aside;
use super::machine::{Explained, Machine, library, skip};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Includes of the programs below.
const BEGIN: &str = "#include <dlfcn.h>\n#include <stdio.h>\n";

fn machine() -> Machine {
    let machine = Machine::new();
    machine.driver("good", "device one");
    machine
}

/// Runs `vkloader explain` for a program with the main function `text`.
fn explain(machine: &Machine, text: &str) -> Explained {
    let program = machine.c_program(&format!("{BEGIN}int main(void) {{ {text} }}\n"));
    let library = library();
    machine.explain_with(&["--library", library.to_str().expect("plain"), "--", &program])
}

/// Asserts that the program left no trace, and that the reason and the remedy contain these words.
fn assert_told(explained: &Explained, reason: &str, remedy: &str) {
    assert_eq!(explained.first(), "program.no-trace", "{:#}", explained.report);
    let told = explained.report["dropped"][0]["reason"].as_str().unwrap_or_default();
    assert!(told.contains(reason), "{told}");
    assert!(explained.advice().contains(remedy), "{}", explained.advice());
}

#[test]
fn a_loader_that_the_dynamic_linker_does_not_find_is_named() {
    let machine = machine();
    let open = |name: &str| format!("return dlopen(\"{name}\", 2) ? 0 : 3;");
    assert_told(
        &explain(&machine, &open("libvulkan.so.77")),
        "The program opens libvulkan.so.77, ",
        "",
    );
    assert_told(
        &explain(&machine, &open("/nowhere/libvulkan.so.1")),
        "by the path /nowhere/libvulkan.so.1, which is not there",
        "Let it open libvulkan.so.1 without a folder",
    );
}

/// The name of the loader of macOS, which no system with Linux has.
#[test]
fn a_wrong_name_of_the_loader_comes_with_the_right_one() {
    assert_told(
        &explain(&machine(), "return dlopen(\"libvulkan.1.so\", 2) ? 0 : 3;"),
        "libvulkan.1.so, which is not the name of the Vulkan loader on Linux: that is libvulkan.so.1",
        "~/.local/lib/libvulkan.1.so && LD_LIBRARY_PATH=~/.local/lib PROGRAM",
    );
}

/// A script leads the program to a truncated loader in a folder of its own.
#[test]
fn a_damaged_loader_that_a_script_leads_to_is_named_with_the_line() {
    let machine = machine();
    let folder = machine.path("game");
    fs::create_dir(&folder).expect("a folder");
    let file = folder.join("libvulkan.so.1");
    let program = machine.c_program(&format!(
        "{BEGIN}int main(void) {{ void *l = dlopen(\"libvulkan.so.1\", 2); if (!l) puts(dlerror()); return l ? 0 : 3; }}\n"
    ));
    let script = machine.path("start");
    let folder = folder.display();
    let text = format!("#!/bin/sh\nexport LD_LIBRARY_PATH={folder}\nexec {program}\n");
    steady::write_script(&script, &text);
    let library = library();
    let words = [
        "--library",
        library.to_str().expect("plain"),
        "--",
        script.to_str().expect("plain"),
    ];
    let whole = fs::read(&library).expect("the library");
    let named = file.display();
    for (bytes, finding) in [
        (&whole[..40], format!("{named} is cut: it has 40 bytes")),
        (&whole[..100], format!("{named} is cut: it has 100 bytes")),
        (b"no library", format!("{named} is not a library")),
    ] {
        fs::write(&file, bytes).expect("written");
        let explained = machine.explain_with(&words);
        assert_told(&explained, &finding, &named.to_string());
        let reason = explained.report["dropped"][0]["reason"].as_str().unwrap_or_default();
        let origin = format!("LD_LIBRARY_PATH leads there: line 2 of {} sets it", script.display());
        assert!(reason.contains(&origin), "{reason}");
    }
}

/// A library that lacks its last pages crashes the dynamic linker, in which no driver runs.
#[test]
fn a_truncated_loader_that_crashes_the_dynamic_linker_is_named() {
    let mut machine = machine();
    machine.install();
    fs::remove_dir_all(machine.path("libexec")).expect("just installed");
    let folder = machine.path("game");
    fs::create_dir(&folder).expect("a folder");
    let whole = fs::read(library()).expect("the library");
    fs::write(folder.join("libvulkan.so.1"), &whole[..whole.len() / 2]).expect("written");
    let program = machine.c_program(&format!(
        "{BEGIN}int main(void) {{ return dlopen(\"libvulkan.so.1\", 2) ? 0 : 3; }}\n"
    ));
    let wanted = format!("{} is cut", folder.join("libvulkan.so.1").display());
    // A script may set the variable that leads to the loader.
    for last in ["exec ", ""] {
        let set = format!("LD_LIBRARY_PATH={} {last}{program}; exit $?", folder.display());
        let explained = machine.explain_with(&["--", "/bin/sh", "-c", &set]);
        assert!(
            explained.findings().contains(&wanted),
            "{:#}",
            explained.report["dropped"]
        );
    }
    machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
    let explained = machine.explain_with(&["--", &program]);
    assert_eq!(explained.first(), "program.crashed", "{:#}", explained.report);
    assert!(explained.findings().contains(&wanted), "{}", explained.findings());
}

/// A launcher fails before it starts the program, so its own message is the reason.
#[test]
fn a_program_that_fails_before_it_opens_a_loader_comes_with_its_last_lines() {
    let machine = machine();
    let explained = explain(&machine, "fprintf(stderr, \"no such game\\n\"); return 3;");
    let first = &explained.report["dropped"][0];
    assert_eq!((explained.code, explained.first()), (2, "program.failed-early"));
    let reason = "The program ended with status 3, before it opened a Vulkan loader.";
    assert_eq!(first["reason"], reason);
    assert!(
        explained.findings().contains("no such game"),
        "{}",
        explained.findings()
    );
    assert!(
        explained.advice().contains("the lines that it printed"),
        "{}",
        explained.advice()
    );
    assert!(
        !explained.codes().contains(&"program.no-trace"),
        "{:#}",
        explained.report
    );
    let explained = self::explain(&machine, "return 3;");
    assert_eq!(explained.first(), "program.failed-early");
    assert!(
        explained
            .advice()
            .starts_with("It printed nothing, so look for an option"),
        "{}",
        explained.advice()
    );
}

/// A signal that asks a program to end says nothing about drivers and devices.
#[test]
fn a_program_that_a_signal_ended_before_it_listed_devices_is_said_as_that() {
    let machine = machine();
    let begin = "#include <signal.h>\n#include <unistd.h>\n";
    let explain = |text: &str| {
        let program = machine.c_program(&format!("{begin}{BEGIN}int main(void) {{ {text} }}\n"));
        let library = library();
        machine.explain_with(&["--library", library.to_str().expect("plain"), "--", &program])
    };
    let explained = explain("dlopen(\"libvulkan.so.1\", 2); kill(getpid(), SIGTERM); pause();");
    assert_eq!(explained.first(), "program.ended", "{:#}", explained.report);
    let findings = explained.findings();
    assert!(findings.contains("it had not listed the devices"), "{findings}");
    let explained = explain("kill(getpid(), SIGTERM); pause();");
    assert_told(
        &explained,
        "it opened no Vulkan loader before it was ended by signal 15 (SIGTERM)",
        "Find out what sent the signal",
    );
    let explained = explain("return 137;");
    assert_told(
        &explained,
        "it opened no Vulkan loader before it ended with status 137",
        "dmesg",
    );
    let explained = explain("dlopen(\"libvulkan.so.1\", 2); kill(getpid(), SIGXCPU); pause();");
    assert_eq!(explained.first(), "program.ended", "{:#}", explained.report);
    assert!(explained.advice().contains("ulimit -t"), "{}", explained.advice());
}

#[test]
fn a_program_that_has_no_descriptor_left_for_its_loader_is_said_as_that() {
    let text = "while (fopen(\"/dev/null\", \"r\")) ; return dlopen(\"libvulkan.so.1\", 2) ? 0 : 3;";
    let mut machine = machine();
    let prlimit = ["prlimit", "--nofile=128:128"].map(String::from);
    if !machine.start_with(prlimit.into()) {
        return;
    }
    assert_told(&explain(&machine, text), "at most 128 (RLIMIT_NOFILE)", "LimitNOFILE=");
    // One descriptor is enough for the library, but not for the trace.
    let text = "FILE *file, *last = 0; while ((file = fopen(\"/dev/null\", \"r\"))) last = file; fclose(last); \
                int is_open = dlopen(\"libvulkan.so.1\", 2) != 0; while (fopen(\"/dev/null\", \"r\")) ; return is_open ? 2 : 3;";
    assert_told(&explain(&machine, text), "could not write the trace", "LimitNOFILE=");
}

/// A program opens its own loader. `vkloader` reports why no loader finds a driver with the variables of the program.
#[test]
fn the_variables_of_a_program_with_a_loader_of_its_own_are_examined() {
    let mut machine = machine();
    let folder = machine.path("own");
    fs::create_dir_all(&folder).expect("a folder");
    let own = folder.join("libvulkan.so.1");
    let source = machine.file("own.c", "int own;\n");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&own, &source])
        .status();
    assert!(made.expect("a compiler").success());
    let own = own.display().to_string();
    let text = format!("return dlopen(\"{own}\", 2) ? 2 : 3;");
    let reason = format!("it opened {own}, which writes no trace");
    assert_told(
        &explain(&machine, &text),
        &reason,
        &format!("mv {own} {} && ln -s ", aside(&own)),
    );
    machine.variable("VK_DRIVER_FILES", "/nowhere/icd.json");
    let explained = explain(&machine, &text);
    let first = &explained.report["dropped"][0];
    assert_eq!(first["name"], "VK_DRIVER_FILES", "{:#}", explained.report);
    assert!(
        explained.findings().contains("this was tried"),
        "{}",
        explained.findings()
    );
    assert!(explained.codes().contains(&"program.no-trace"));
    // A program that ends normally may have found its devices.
    let explained = explain(&machine, &text.replace("? 2", "? 0"));
    assert_eq!(explained.first(), "program.no-trace", "{:#}", explained.report);
}

/// The filter of a sandbox ends the program, which is not the fault of the program or of a driver.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn the_system_call_that_a_filter_refused_is_named() {
    let text = "struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),\n\
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};\n\
        struct sock_fprog p = {4, f}; prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)) return 0;\n\
        return getpriority(0, 0);";
    let machine = machine();
    let include = "#include <linux/filter.h>\n#include <linux/seccomp.h>\n#include <sys/prctl.h>\n#include <sys/resource.h>\n#include <sys/syscall.h>\n";
    let program = machine.c_program(&format!("{include}int main(void) {{ {text} }}\n"));
    let library = library();
    let explained = machine.explain_with(&["--library", library.to_str().expect("plain"), "--", &program]);
    if explained.report["ending"]["number"] == 0 {
        return super::machine::skip("the system permits no filters for system calls");
    }
    assert_eq!(explained.first(), "program.crashed", "{:#}", explained.report);
    let reason = explained.report["dropped"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("ended the program at the call getpriority"), "{reason}");
    assert!(
        explained.advice().contains("SystemCallFilter=getpriority"),
        "{}",
        explained.advice()
    );
}

/// The kernel reports a missing dynamic linker as a missing program.
#[test]
fn a_program_without_its_dynamic_linker_comes_with_the_packages() {
    let machine = machine();
    let program = machine.path("old");
    let source = machine.file("old.c", "void _start(void) { for (;;); }\n");
    let mut compiler = Command::new("cc");
    compiler.args([
        "-m32",
        "-nostdlib",
        "-pie",
        "-fPIE",
        "-Wl,-dynamic-linker,/lib/vklt-linux.so.2",
        "-o",
    ]);
    let made = compiler.arg(&program).arg(source).output().expect("a compiler");
    if !made.status.success() || cfg!(not(target_arch = "x86_64")) {
        return skip("a program of 32 bits: the compiler here knows none");
    }
    let library = library();
    let library = library.to_str().expect("plain");
    let output = machine.run(&["explain", "--library", library, "--", program.to_str().expect("plain")]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words}");
    let expected = "it is a program for x86, 32 bit, and its dynamic linker /lib/vklt-linux.so.2 is not there";
    assert!(words.contains(expected), "{words}");
    if Path::new("/usr/bin/apt-get").exists() {
        assert!(
            words.contains("libc6:i386 libvulkan1:i386 mesa-vulkan-drivers:i386"),
            "{words}"
        );
    }
}
