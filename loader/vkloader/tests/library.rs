//! `vkloader explain --library X -- PROGRAM`: the program uses X, no matter how it opens a Vulkan loader, or the command prints the reason.

mod machine;

use machine::{Machine, library, skip};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use steady::{ending, eventually};

/// Source of a program that opens each name in its arguments, checks that all names refer to the same library, and lists the devices of an
/// instance.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct info { int type; const void *next; unsigned flags; const void *rest[1]; unsigned counts[2]; const void *names[2]; };

int main(int count, char **names) {
    int (*create)(const struct info *, const void *, void **) = 0;
    int (*list)(void *, unsigned *, void **);
    void (*destroy)(void *, const void *);
    unsigned found_devices = 0;
    struct info info = {1};
    void *instance = 0;
    printf("%s\n", getenv("LD_LIBRARY_PATH") ? getenv("LD_LIBRARY_PATH") : "unset");
    fflush(stdout);
    for (int i = 1; i < count; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        void *found = library ? dlsym(library, "vkCreateInstance") : 0;
        if (!found || (create && found != (void *)create)) {
            fprintf(stderr, "%s is another library: %s\n", names[i], dlerror());
            return 3;
        }
        create = found;
        list = dlsym(library, "vkEnumeratePhysicalDevices");
        destroy = dlsym(library, "vkDestroyInstance");
    }
    if (!create || create(&info, 0, &instance) || list(instance, &found_devices, 0)) return 4;
    destroy(instance, 0);
    return 0;
}
"#;

/// Source of another loader: a library that has the name of a Vulkan loader, but no Vulkan.
const OTHER: &str = "int vkCreateInstance(void) { return -1; }\n";

/// A machine with a driver and a program. The machine's folder `others` has a loader of a different kind, under both names of a Vulkan
/// loader.
struct Bench {
    machine: Machine,
    program: PathBuf,
    scratch: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let mut machine = Machine::new();
        machine.driver("good", "device one");
        let scratch = machine.path("scratch");
        fs::create_dir_all(&scratch).expect("a folder");
        fs::create_dir_all(machine.path("others")).expect("a folder");
        machine.variable("TMPDIR", scratch.to_str().expect("plain"));
        let other = machine.file("other.c", OTHER);
        for name in ["libvulkan.so", "libvulkan.so.1"] {
            let library = machine.path("others").join(name);
            compile(&[&other], &library, &["-shared", "-fPIC"]);
        }
        let source = machine.file("program.c", PROGRAM);
        let program = machine.path("program");
        compile(&[&source], &program, &["-ldl"]);
        Self {
            machine,
            program,
            scratch,
        }
    }

    /// Runs `explain` for the program, with `names` as the program's arguments.
    fn explain(&self, library: &str, names: &[&str]) -> Output {
        let program = self.program.to_str().expect("plain");
        let words = [&["explain", "--library", library, "--", program], names].concat();
        let mut command = self.machine.command(&words);
        command
            .current_dir(self.machine.path(""))
            .output()
            .expect("it can be started")
    }

    /// Runs `explain` for the program, checks that the program used `library`, and returns the program's output.
    fn gets(&self, library: &str, names: &[&str]) -> String {
        let output = self.explain(library, names);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
        // The output is wrapped as on a terminal, even within a path, so this code compares it without blanks.
        let words: String = said.split_whitespace().collect();
        let here = fs::canonicalize(self.machine.path("")).expect("a folder");
        let path = std::path::absolute(here.join(library)).expect("a path");
        assert!(words.contains(&format!(",{}(", path.display())), "{said}");
        self.is_clean();
        said
    }

    fn is_clean(&self) {
        let left: Vec<_> = fs::read_dir(&self.scratch).expect("a folder").flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn compile(sources: &[&Path], to: &Path, words: &[&str]) {
    let status = Command::new("cc").arg("-o").arg(to).args(sources).args(words).status();
    assert!(status.expect("a compiler").success());
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the path of the library under test.
fn tested() -> String {
    let library = fs::canonicalize(library()).expect("it was built");
    library.to_str().expect("plain").into()
}

#[test]
fn both_names_lead_to_the_library() {
    let mut bench = Bench::new();
    let others = bench.machine.path("others").display().to_string();
    bench.machine.variable("LD_LIBRARY_PATH", &others);
    let said = bench.gets(&tested(), &["libvulkan.so", "libvulkan.so.1"]);
    let (scratch, rest) = said.split_once(':').expect("two folders");
    assert!(Path::new(scratch).starts_with(&bench.scratch), "{said}");
    assert!(rest.starts_with(&format!("{others}\n")), "{said}");
    bench.gets(&tested(), &["libvulkan.so.1", "libvulkan.so"]);
}

#[test]
fn an_empty_variable_does_not_become_the_current_folder() {
    let mut bench = Bench::new();
    bench.machine.variable("LD_LIBRARY_PATH", "");
    let said = bench.gets(&tested(), &["libvulkan.so"]);
    assert!(!said.lines().next().expect("a line").contains(':'), "{said}");
}

#[test]
fn a_link_and_a_path_from_here_name_the_library() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(tested(), bench.machine.path("mine.so")).expect("a link");
    fs::create_dir_all(bench.machine.path("below")).expect("a folder");
    for library in ["mine.so", "./mine.so", "below/../mine.so"] {
        bench.gets(library, &["libvulkan.so.1"]);
    }
    // If no program is named, the name can also be that of a file in the current folder, which the dynamic linker would not search.
    let mut command = bench.machine.command(&["explain", "--library", "mine.so"]);
    let output = command.current_dir(bench.machine.path("")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_scratch_folder_that_the_dynamic_linker_would_misread() {
    let mut bench = Bench::new();
    let odd = bench.machine.path("a:b");
    fs::create_dir_all(&odd).expect("a folder");
    bench.machine.variable("TMPDIR", odd.to_str().expect("plain"));
    bench.gets(&tested(), &["libvulkan.so"]);
    assert_eq!(fs::read_dir(odd).expect("a folder").count(), 0);
}

#[test]
fn a_library_that_does_not_exist_is_not_replaced_by_another() {
    let bench = Bench::new();
    for (library, words) in [("gone.so", "No such file"), ("others", "not a file")] {
        let output = bench.explain(library, &["libvulkan.so.1"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(library) && said.contains(words), "{said}");
        bench.is_clean();
    }
}

#[test]
fn a_program_with_folders_of_its_own_first() {
    let mut bench = Bench::new();
    let own = bench.machine.path("own");
    fs::create_dir_all(&own).expect("a folder");
    fs::copy(tested(), own.join("libvulkan.so.1")).expect("a copy");
    bench.program = bench.machine.path("with-rpath");
    let words = ["-ldl", "-Wl,--disable-new-dtags,-rpath,$ORIGIN/own"];
    compile(&[&bench.machine.path("program.c")], &bench.program, &words);
    let output = bench.explain(&tested(), &["libvulkan.so.1"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let found = own.join("libvulkan.so.1").display().to_string();
    assert!(
        said.contains(&format!("The program opened {found}")) && said.contains("DT_RPATH"),
        "{said}"
    );
    bench.is_clean();
    // The linker searches the folders of `LD_LIBRARY_PATH`, which `explain` sets, before the folders of `DT_RUNPATH`. Therefore, the linker
    // does not use the library in the folder of `DT_RUNPATH`.
    let words = ["-ldl", "-Wl,--enable-new-dtags,-rpath,$ORIGIN/own"];
    compile(&[&bench.machine.path("program.c")], &bench.program, &words);
    bench.gets(&tested(), &["libvulkan.so.1"]);
}

#[test]
fn a_program_of_another_word_size() {
    let mut bench = Bench::new();
    let source = bench.machine.file(
        "small.c",
        "void _start(void) { __asm__ volatile(\"movl $1, %eax; xorl %ebx, %ebx; int $0x80\"); }\n",
    );
    bench.program = bench.machine.path("small");
    let mut command = Command::new("cc");
    command
        .args(["-m32", "-nostdlib", "-static", "-o"])
        .arg(&bench.program)
        .arg(source);
    let is_made = cfg!(target_arch = "x86_64") && command.status().expect("a compiler").success();
    if !is_made
        || !Command::new(&bench.program)
            .status()
            .is_ok_and(|status| status.success())
    {
        return skip("a program of 32 bits: the compiler or the kernel here knows none");
    }
    let output = bench.explain(&tested(), &[]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("it is for x86, 32 bit, and vkloader for x86-64, 64 bit"),
        "{said}"
    );
    bench.is_clean();
}

#[test]
fn a_program_that_cannot_be_started() {
    let mut bench = Bench::new();
    bench.program = bench.machine.path("nowhere");
    let output = bench.explain(&tested(), &[]);
    assert_eq!(output.status.code(), Some(2));
    bench.is_clean();
}

/// Waits until a file contains a process ID, and returns the ID.
fn number(file: &Path) -> String {
    let read = || fs::read_to_string(file).unwrap_or_default();
    eventually("a program is started", || read().ends_with('\n'));
    read().trim().into()
}

fn is_alive(number: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
    status
        .lines()
        .any(|line| line.starts_with("State:") && !line.contains('Z'))
}

/// Restores the default action of signals. A shell or `nohup` may have started this process with some signals ignored.
fn with_usual_signals(command: &mut Command) {
    let reset = || {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: the default is a valid action for every signal, and a process may call `signal` after a fork.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the function only calls `signal`, which is async-signal-safe, so it may run after a fork.
    unsafe { command.pre_exec(reset) };
}

#[test]
fn a_signal_ends_the_program_and_leaves_nothing() {
    let bench = Bench::new();
    for signal in ["-INT", "-TERM", "-HUP"] {
        let file = bench.machine.path(&format!("number{signal}"));
        let script = format!("echo $$ >{}; exec sleep 300", file.display());
        let library = tested();
        let words = [
            "explain",
            "--timeout",
            "200",
            "--library",
            &library,
            "--",
            "sh",
            "-c",
            &script,
        ];
        let mut command = bench.machine.command(&words);
        with_usual_signals(&mut command);
        let mut child: Child = command.stderr(Stdio::null()).spawn().expect("it runs");
        let program = number(&file);
        assert!(is_alive(&program));
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.expect("kill is there").success());
        assert_eq!(ending(&mut child).code(), Some(2), "{signal}");
        assert!(!is_alive(&program), "{signal}");
        bench.is_clean();
    }
}

/// vulkaninfo opens `libvulkan.so` before `libvulkan.so.1` if `libvulkan.so` is installed.
#[test]
fn vulkaninfo_of_the_system_gets_the_library() {
    let mut bench = Bench::new();
    bench.program = "/usr/bin/vulkaninfo".into();
    if !bench.program.exists() {
        return skip("vulkaninfo is not installed (package vulkan-tools)");
    }
    bench.machine.argument("--summary");
    let library = tested();
    let words = ["explain", "--json", "--library", &library, "--", "/usr/bin/vulkaninfo"];
    let output = bench.machine.run(&words);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["loader"]["path"], library.as_str());
    let dropped = report["dropped"].as_array().expect("a list");
    let crashed = dropped.iter().any(|dropped| dropped["code"] == "program.crashed");
    assert!(!crashed, "{report:#}");
    assert_eq!(report["devices"][0]["name"], "one", "{report:#}");
    bench.is_clean();
}
