//! Crashes in correct drivers, which a circumstance explains: a setting of the program, a full disk, a fork, the end of the program, or a filter.

use crate::between::{GOOD, check, explain, is_supported, prepare};
use crate::machine::Machine;
use crate::{Wrong, crash_of, has_compiler};

/// A call without an error.
const CALL: &str = "create_buffer(device, &of_buffer, 0, &buffer)";

#[test]
fn a_program_that_switched_exceptions_of_numbers_on_is_at_fault() {
    if !is_supported() {
        return;
    }
    // 4 is FE_DIVBYZERO.
    let on = "((int (*)(int))dlsym(dlopen(\"libm.so.6\", 2), \"feenableexcept\"))(4)";
    let divides = "volatile double none = 0, result = 1 / none; *made = result > 0; return 0;";
    let explained = explain(&[], divides, None, &format!("{on}; {CALL}"));
    check(
        &explained,
        ("program", false),
        "Floating-point exceptions are switched on",
    );
    assert!(
        explained.advice().contains("SetExceptionMask"),
        "{}",
        explained.advice()
    );
    let integers = "volatile int none = 0; *made = 100 / none; return 0;";
    let explained = explain(&[], integers, None, CALL);
    check(&explained, ("driver", false), "Either the driver is faulty");
}

/// A program with a handler for the signal of the filter, as browsers have it.
#[test]
fn a_filter_is_named_although_a_handler_ended_the_program_in_another_way() {
    if !is_supported() {
        return;
    }
    // A filter for getpriority (140) that traps, and SIGSYS (31).
    const FILTER: &str = "struct { unsigned short code; unsigned char yes, no; unsigned value; } filter[] = {{0x20}, {0x15, 0, 1, 140}, {6, 0, 0, 0x30000}, \
        {6, 0, 0, 0x7fff0000}};\n\
        struct { unsigned short length; void *filter; } all = {4, filter};\n\
        extern int prctl(int, long, void *, long, long), getpriority(int, unsigned);\n\
        extern void *signal(int, void *);\n\
        prctl(38, 1, 0, 0, 0); prctl(22, 2, &all, 0, 0)";
    for ending in ["signal(31, dlsym(0, \"abort\"))", "signal(31, dlsym(0, \"_exit\"))"] {
        let driver = "extern int getpriority(int, unsigned); getpriority(0, 0); *made = 1; return 0;";
        let explained = explain(&[], driver, None, &format!("{FILTER}; {ending}; {CALL}"));
        let reason = explained.found("program.crashed")["reason"].to_string();
        assert!(
            reason.contains("ended the program at the call getpriority"),
            "{ending}: {reason}"
        );
        assert!(
            explained.advice().contains("SystemCallFilter=getpriority"),
            "{}",
            explained.advice()
        );
    }
}

#[test]
fn a_full_file_system_is_named_for_memory_that_it_lacks() {
    if !is_supported() {
        return;
    }
    let mut machine = Machine::new();
    let folder = machine.path("full");
    std::fs::create_dir(&folder).expect("a folder");
    let folder = folder.display().to_string();
    let driver = format!(
        "extern void *mmap(void *, unsigned long, int, int, int, long); extern int open(const char *, int, int), ftruncate(int, long);\n\
         int file = open(\"{folder}/cache\", 66, 384); ftruncate(file, 1 << 20);\n\
         volatile char *bytes = mmap(0, 1 << 20, 3, 1, file, 0); for (int at = 0; at < 1 << 20; at += 4096) bytes[at] = 1;\n\
         *made = 1; return 0;"
    );
    let program = prepare(&mut machine, &driver, CALL);
    let script = "mount -t tmpfs -o size=64k none \"$0\" && exec \"$@\"";
    let words = ["unshare", "--mount", "sh", "-c", script, &folder].map(String::from);
    if !machine.start_with(words.into()) {
        return;
    }
    let explained = Wrong::explain(&machine, &[], &[&program]);
    check(
        &explained,
        ("unknown", false),
        &format!("The file system of {folder}/cache is full"),
    );
    assert!(
        explained.advice().contains(&format!("df -h {folder}")),
        "{}",
        explained.advice()
    );
}

#[test]
fn a_driver_that_is_used_after_a_fork_is_not_at_fault() {
    if !is_supported() {
        return;
    }
    let driver = "extern int getpid(void); static int maker; if (!maker) maker = getpid();\n\
        if (maker != getpid()) *(volatile int *)8 = 1; *made = 1; return 0;";
    let call = format!(
        "extern int fork(void), waitpid(int, int *, int); extern void _exit(int); {CALL}; int child = fork(), status = 0;\n\
         if (!child) {{ list(instance, &count, &physical); {CALL}; _exit(0); }} waitpid(child, &status, 0); return status ? 139 : 0"
    );
    let explained = explain(&[], driver, None, &call);
    check(
        &explained,
        ("program", false),
        "as a copy (fork) of a process that had started Vulkan",
    );
    assert!(explained.advice().contains("after the fork"), "{}", explained.advice());
}

#[test]
fn the_end_of_a_program_is_told_if_a_driver_crashes_then() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    for (words, variable, expected) in [
        (
            "driver works none",
            "",
            "in a thread of its own while the program was ending",
        ),
        (
            "driver destroy write",
            "AT_EXIT=1",
            "A function that the program runs at its end",
        ),
        ("driver key none", "THREAD=1", "was closed before"),
    ] {
        let machine = wrong.machine(words, variable);
        let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
        let reason = explained.found("program.crashed")["reason"].to_string();
        assert!(reason.contains(expected), "{words}: {reason}");
        // If the file of a closed library is known, its driver is named.
        let is_known = crash_of(&explained)["culprit"] == "driver" && variable == "THREAD=1";
        assert!(
            is_known || crash_of(&explained)["is_certain"] == false,
            "{words}: {reason}"
        );
    }
}

#[test]
fn a_function_that_returns_to_an_invalid_address_lost_its_stack() {
    if !is_supported() {
        return;
    }
    let driver = "for (int at = 0; at < 64; at++) made[at] = 0x6162636465666768; return 0;";
    let explained = explain(&[], driver, None, CALL);
    check(
        &explained,
        ("program", false),
        "variables on the stack were overwritten",
    );
}

#[test]
fn a_library_that_a_driver_opened_is_not_the_programs() {
    if !is_supported() {
        return;
    }
    let other = Machine::new();
    let source = other.file("helper.c", "void crash(void) { *(volatile int *)24 = 1; }\n");
    let library = other.path("libhelper.so");
    let mut compiler = std::process::Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(source);
    assert!(compiler.status().expect("a compiler").success());
    let driver = format!(
        "extern void *dlopen(const char *, int), *dlsym(void *, const char *);\n\
         ((void (*)(void))dlsym(dlopen(\"{}\", 2), \"crash\"))(); *made = 1; return 0;",
        library.display()
    );
    let explained = explain(&[], &driver, None, CALL);
    assert_eq!(
        crash_of(&explained)["culprit"],
        "driver",
        "{:#}",
        explained.report["crash"]
    );
}

#[test]
fn a_program_that_uses_an_instance_it_did_not_get_lacks_the_instance_first() {
    if !has_compiler() {
        return;
    }
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.variable("PATH", "/usr/bin:/bin");
    let text = "#include <dlfcn.h>\nint main(void) { void *library = dlopen(\"libvulkan.so.1\", 2), *instance = 0;\n\
        const char *names[] = {\"VK_KHR_missing\"};\n\
        struct { int type; void *next; int flags; void *application; int layers; void *layer; int count; const char **names; } info = {1, 0, 0, 0, 0, 0, 1, names};\n\
        ((int (*)(void *, void *, void **))dlsym(library, \"vkCreateInstance\"))(&info, 0, &instance);\n\
        int count = 0; return ((int (*)(void *, int *, void *))dlsym(library, \"vkEnumeratePhysicalDevices\"))(instance, &count, 0); }\n";
    let program = machine.c_program(text);
    let explained = Wrong::explain(&machine, &[], &[&program]);
    assert_eq!(
        explained.first(),
        "instance.extension-missing",
        "{:#}",
        explained.report["dropped"]
    );
}

/// The program checks that its first thread goes on.
#[test]
fn a_check_of_the_program_is_told_if_its_first_thread_waits_for_a_driver() {
    if !is_supported() {
        return;
    }
    let driver = "extern int sleep(unsigned); sleep(60); *made = 1; return 0;";
    const CHECK: &str = "long thread; ((int (*)(void *, void *, void *, void *))dlsym(0, \"pthread_create\"))(&thread, 0, check_late, 0)";
    let call = format!("{CHECK}; {CALL}");
    let explained = explain(&[], driver, None, &call);
    check(&explained, ("program", false), "Its first thread had waited for ");
    let explained = explain(&[], GOOD, None, "abort()");
    check(&explained, ("program", true), "its own code");
}
