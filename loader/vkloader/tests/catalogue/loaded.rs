//! Tests of libraries that were replaced or unloaded after a program loaded them, and of libraries that the system does not let a program
//! load.

use crate::asked::*;
use crate::changes::machine_of_two;
use crate::closure::{compile, compile_user, driver_with_folders, update, used, used_behind};
use crate::machine::{Machine, in_environment_of, library, skip};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Source of a program that opens libraries, waits for a line of input, and then asks the loader for extensions.
const WAITING: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
    for (int place = 2; place < count; place++)
        if (!dlopen(words[place], RTLD_NOW))
            return 1;
    puts("ready");
    fflush(stdout);
    getchar();
    void *loader = dlopen(words[1], RTLD_NOW);
    int (*query)(const char *, unsigned *, void *);
    unsigned extensions = 0;
    if (!loader || !(*(void **)&query = dlsym(loader, "vkEnumerateInstanceExtensionProperties")))
        return 2;
    query(0, &extensions, 0);
    return 0;
}
"#;

/// Builds a program from a C source.
fn built(machine: &Machine, source: &str) -> PathBuf {
    let (source, program) = (machine.file("program.c", source), machine.path("program"));
    let mut compiler = Command::new("cc");
    let made = compiler.arg("-o").arg(&program).arg(source).arg("-ldl").output();
    assert!(made.is_ok_and(|made| made.status.success()));
    program
}

/// Returns the reasons for which a program did not use the driver's entry, one for each query; empty if the query used the entry.
fn doubts(trace: &Path) -> Vec<String> {
    let text = fs::read_to_string(trace).expect("a trace");
    let records = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a record"));
    let about = records.filter(|record| record["event"] == "catalogue");
    about
        .map(|record| record["doubt"].as_str().unwrap_or_default().into())
        .collect()
}

/// Runs `change` while the program has a library open. Returns the reason why the program then does not use the driver's entry; empty if
/// the program uses the entry.
fn used_after(machine: &Machine, opened: &Path, change: impl FnOnce()) -> String {
    let (program, trace) = (built(machine, WAITING), machine.path("trace"));
    let _ = fs::remove_file(&trace);
    let mut command = in_environment_of(&machine.command(&[]), &program);
    command.arg(library()).arg(opened).env("VK_LOADER_TRACE", &trace);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    change();
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"\n").expect("it waits");
    assert!(child.wait().expect("a child").success());
    doubts(&trace).swap_remove(0)
}

/// Source of a program that asks the loader for extensions, first with an open library, and again after it has closed the library.
const CLOSING: &str = r#"
#include <dlfcn.h>
int main(int count, char **words) {
    void *opened = dlopen(words[2], RTLD_NOW), *loader = dlopen(words[1], RTLD_NOW);
    int (*query)(const char *, unsigned *, void *);
    unsigned extensions = 0;
    if (count != 3 || !opened || !loader || !(*(void **)&query = dlsym(loader, "vkEnumerateInstanceExtensionProperties")))
        return 1;
    query(0, &extensions, 0);
    if (dlclose(opened) || dlopen(words[2], RTLD_NOW | RTLD_NOLOAD))
        return 2;
    query(0, &extensions, 0);
    return 0;
}
"#;

/// DRV-271: the linker uses a loaded library for each driver that needs its `DT_SONAME`. After the library is unloaded, the linker searches for
/// the name.
#[test]
fn an_entry_counts_no_longer_after_a_program_unloads_the_library_that_a_driver_needs() {
    let Some((machine, [_, needed])) = machine_of_two(&["-Wl,-soname,libneeded.so"]) else {
        return;
    };
    let other = machine.path("other");
    fs::create_dir(&other).expect("a folder");
    assert!(compile(
        &other.join("libneeded.so"),
        "int needed = 2;",
        &["-Wl,-soname,libneeded.so"]
    ));
    let (program, trace) = (built(&machine, CLOSING), machine.path("trace"));
    for (search, expected) in [(&other, ["", "shadowed"]), (&machine.path("libraries"), ["", ""])] {
        let _ = fs::remove_file(&trace);
        let mut command = in_environment_of(&machine.command(&[]), &program);
        command.arg(library()).arg(&needed).env("VK_LOADER_TRACE", &trace);
        let output = command.env("LD_LIBRARY_PATH", search).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(doubts(&trace), expected, "{}", search.display());
    }
}

/// Replaces a file in the same way as package managers: writes a new file, and renames it to the path of the old one.
fn replace(path: &Path, by: &Path) {
    let copy = path.with_extension("new");
    fs::copy(by, &copy).expect("a copy");
    fs::rename(&copy, path).expect("a rename");
}

/// DRV-271: a package replaced a library that the program had loaded, and an update recorded the new file. The linker uses the old file.
#[test]
fn a_library_that_was_replaced_after_a_program_loaded_it_does_not_count() {
    for words in ["-Wl,--build-id", "-Wl,--build-id=none"] {
        let Some((machine, [driver, needed])) = machine_of_two(&[words]) else {
            return;
        };
        let (other, own) = (machine.path("other.so"), machine.path("own.so"));
        assert!(compile(&other, "int needed = 2, more[5000] = {1};", &[words]));
        fs::copy(&needed, &own).expect("a copy");
        let with = |by: &Path| {
            used_after(&machine, &needed, || {
                replace(&needed, by);
                update(&machine);
            })
        };
        assert_eq!(with(&other), "shadowed", "{words}");
        assert_eq!(used(&machine, &[]), "", "{words}: a program that starts now");
        assert_eq!(with(&own), "shadowed", "{words}");
        assert_eq!(with(&own), "", "{words}: the same content");
        assert_eq!(used_after(&machine, &needed, || ()), "", "{words}: no change");
        // The entry is also not used after a package replaced the driver's own library.
        let newer = machine.path("newer.so");
        let linked = ["-lmock_a", "-lneeded", words];
        assert!(compile_user(&machine, &newer, "int newer[5000] = {1};", &linked));
        let replaced = used_after(&machine, &driver, || {
            replace(&driver, &newer);
            update(&machine);
        });
        assert_eq!(replaced, "shadowed", "{words}");
        assert_eq!(used_after(&machine, &driver, || ()), "", "{words}: no change");
    }
}

/// DRV-271: a link to a library leads to the same file, but `$ORIGIN` in the search path of the library then means the folder of the link.
#[test]
fn a_link_to_a_library_that_searches_its_own_folder_does_not_count() {
    let Some((machine, [_, needed])) = machine_of_two(&["-Wl,-rpath,$ORIGIN/own"]) else {
        return;
    };
    for place in ["links", "libraries/own", "links/own"] {
        fs::create_dir_all(machine.path(place)).expect("a folder");
    }
    let (links, own) = (machine.path("links"), machine.path("libraries/own/libown.so"));
    assert!(compile(&own, "int own = 1;", &[]));
    assert!(compile(&links.join("own/libown.so"), "int own = 2;", &[]));
    let folder = format!("-L{}", machine.path("libraries/own").display());
    let linked = |path: &str| ["-Wl,--no-as-needed", &folder, "-lown", path].map(String::from);
    for (path, expected) in [
        ("-Wl,-rpath,$ORIGIN/own", "shadowed"),
        (&format!("-Wl,-rpath,{}", own.parent().expect("a folder").display()), ""),
    ] {
        let words = linked(path);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(compile(&needed, "int needed = 1;", &words), "{path}");
        update(&machine);
        let link = links.join("libneeded.so");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(&needed, &link).expect("a link");
        assert_eq!(used(&machine, &[]), "", "{path}");
        assert_eq!(used(&machine, &[("LD_LIBRARY_PATH", &links)]), expected, "{path}");
    }
}

/// DRV-271: the linker loads no library from a mount with the option `noexec`. The kernel decides by the mount of the file, not by the mount
/// of the path's folder.
#[test]
fn a_library_in_a_mount_without_execution_does_not_count() {
    let mut machines = [machine(), machine(), machine()];
    let [alone, plain, linked] = &mut machines;
    alone.variable("VK_LOADER_CATALOGUE", "on");
    alone.driver("a", "device one");
    let needed = [plain, &mut *linked].map(|machine| driver_with_folders(machine, "$ORIGIN/two"));
    let [Some(_), Some(link)] = needed else { return };
    let elsewhere = linked.path("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let target = elsewhere.join("libtarget.so");
    fs::rename(&link, &target).expect("a file");
    std::os::unix::fs::symlink(&target, &link).expect("a link");
    machines.iter().for_each(update);
    for (machine, place, expected) in [
        (0, "libraries", "unreadable"),
        (0, "libraries/libmock_a.so", "unreadable"),
        // This folder contains only a library that the driver needs.
        (1, "libraries/two", "unreadable"),
        (1, "libraries/two/libmock_needed.so", "unreadable"),
        (2, "elsewhere", "unreadable"),
        // This folder contains only a link to the library.
        (2, "libraries/two", ""),
    ] {
        let machine = &machines[machine];
        let place = machine.path(place).display().to_string();
        let behind = |options: &str| {
            let script = format!(r#"mount --bind "$0" "$0" && mount -o remount,bind,{options} "$0" && exec "$@""#);
            let words = ["unshare", "--mount", "sh", "-c", &script, &place];
            let mut tried = Command::new(words[0]);
            let is_possible = tried.args(&words[1..]).arg("true").output();
            let is_possible = is_possible.is_ok_and(|done| done.status.success());
            is_possible.then(|| used_behind(machine, &words, &[]))
        };
        let (Some(plain), Some(refused)) = (behind("exec"), behind("noexec")) else {
            return skip("nothing can be mounted");
        };
        assert_eq!((plain.as_str(), refused.as_str()), ("", expected), "{place}");
    }
}

/// Source of a program that runs a command for which a system call fails: refuse CALL ERROR COMMAND...
const REFUSE: &str = r#"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, atoi(words[1]), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | atoi(words[2])),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 99;
    execvp(words[3], words + 3);
    return 98;
}
"#;

/// DRV-271: old kernels lack `statx`, and sandboxes may refuse it; the identity of a file is then known from another call. Without the options
/// of a mount, the driver is opened.
#[test]
fn an_entry_counts_if_the_system_refuses_statx_but_not_without_the_options_of_a_mount() {
    let Some((machine, _)) = machine_of_two(&[]) else {
        return;
    };
    let (source, program) = (machine.file("refuse.c", REFUSE), machine.path("refuse"));
    let made = Command::new("cc").arg("-o").arg(&program).arg(source).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return skip("no program can be compiled that filters system calls");
    }
    let program = program.display().to_string();
    #[cfg(target_pointer_width = "64")]
    let options = libc::SYS_statfs;
    #[cfg(not(target_pointer_width = "64"))]
    let options = libc::SYS_statfs64;
    for (call, error, expected) in [
        (libc::SYS_statx, libc::EPERM, ""),
        (libc::SYS_statx, libc::ENOSYS, ""),
        (options, libc::EPERM, "unreadable"),
    ] {
        let (call, error) = (call.to_string(), error.to_string());
        let words = [program.as_str(), &call, &error];
        let status = Command::new(&program).args(&words[1..]).arg("true").status();
        if status.expect("it starts").code() == Some(99) {
            return skip("this kernel filters no system calls");
        }
        assert_eq!(used_behind(&machine, &words, &[]), expected, "{call} {error}");
    }
}

/// DRV-269: a catalogue of an older build of the same version lacks files that an update records now. Programs ignore the catalogue, and an
/// update for changes asks every driver.
#[test]
fn a_catalogue_of_an_older_build_is_made_anew() {
    let mut machine = machine();
    machine.variable("VK_LOADER_CATALOGUE", "on");
    machine.driver("a", "instance_extension VK_KHR_surface 25\ndevice one");
    good(&machine, &["update"]);
    assert_eq!(used(&machine, &[]), "");
    let asked = instances(&machine);
    good(&machine, &["update", "--changed"]);
    assert_eq!(instances(&machine), asked, "nothing has changed");
    let mut known = written(&machine);
    known["schema"] = (catalogue::SCHEMA - 1).into();
    write(&machine, &known);
    let log = machine
        .command(&["probe", library().to_str().expect("plain")])
        .env("VK_LOADER_DEBUG", "all")
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&log.stderr);
    assert!(text.contains("it has the form of another version"), "{text}");
    good(&machine, &["update", "--changed"]);
    assert!(instances(&machine) > asked);
    assert_eq!(used(&machine, &[]), "");
}
