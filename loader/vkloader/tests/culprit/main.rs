//! `vkloader explain -- PROGRAM` names the driver, layer or program that caused a crash.

#[path = "../machine/mod.rs"]
mod machine;

use machine::{Explained, Machine, library, skip};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

mod argument;
mod between;
mod circumstance;
mod damaged;
mod displays;
mod ended;
mod foreign;
mod null;
mod running;
mod stood;
mod unclear;
mod wrapped;

/// Crashes of drivers and layers. Each row has the part that fails, the location and the kind of failure, and a variable that is set for
/// the program.
const CRASHES: &[(&str, &str)] = &[
    ("driver open write", ""),
    ("driver negotiate trap", ""),
    ("driver extensions write", ""),
    ("driver create write", ""),
    ("driver create null", ""),
    ("driver create garbage", ""),
    ("driver create data", ""),
    ("driver create wild", ""),
    ("driver create trap", ""),
    ("driver create divide", ""),
    ("driver create abort", ""),
    ("driver create throw", ""),
    ("driver create noexcept", ""),
    ("driver create at", ""),
    ("driver create pure", ""),
    ("driver create deep", ""),
    ("driver create short", ""),
    ("driver create free", ""),
    ("driver create copy", ""),
    ("driver create length", ""),
    ("driver create sort", ""),
    ("driver create smash", ""),
    ("driver create raise", ""),
    ("driver create made", ""),
    ("driver create library", ""),
    ("driver create library-abort", ""),
    ("driver create library-thread", ""),
    ("driver thread write", ""),
    ("driver thread abort", ""),
    ("driver thread throw", ""),
    ("driver later write", "WAIT=1"),
    ("driver lingers write", "WAIT=1"),
    ("driver call write", ""),
    ("driver call write", "HANDLER=raise"),
    ("driver call write", "HANDLER=abort"),
    ("driver call write", "HANDLER=unblock"),
    ("driver call write", "HANDLER=return"),
    ("driver call write", "HANDLER=thread"),
    ("driver destroy write", ""),
    ("driver exit write", ""),
    ("driver close abort", ""),
    ("layer open write", ""),
    ("layer negotiate null", ""),
    ("layer create throw", ""),
    ("layer created abort", ""),
    ("layer call deep", ""),
    ("layer call library", ""),
    ("layer call free", ""),
    ("layer thread trap", ""),
    ("layer destroy null", ""),
    ("layer exit write", ""),
];

/// Crashes of programs whose drivers and layers are correct.
const OWN: &[(&str, &str)] = &[
    ("program opened write", ""),
    ("program created write", ""),
    ("program created null", ""),
    ("program created garbage", ""),
    ("program created data", ""),
    ("program created divide", ""),
    ("program created abort", ""),
    ("program created throw", ""),
    ("program created deep", ""),
    ("program created short", ""),
    ("program created free", ""),
    ("program created copy", ""),
    ("program created sort", ""),
    ("program created smash", ""),
    ("program created made", ""),
    ("program created library", ""),
    ("program created library-thread", ""),
    ("program allocate write", "CALLBACKS=1"),
    ("program release abort", "CALLBACKS=1"),
    ("program info none", ""),
    ("program handle none", ""),
    ("program thread write", ""),
    ("program listed write", "HANDLER=abort"),
    ("program listed write", "HANDLER=thread"),
    ("program exit write", ""),
    ("program destructor abort", ""),
];

/// A folder with a driver's library, a layer's library and a program. Each of the three fails at a location that the test selects.
pub(crate) struct Wrong {
    folder: tempfile::TempDir,
}

impl Wrong {
    /// Returns the compiled files. All tests share the files, and the files are removed when the process exits.
    fn built() -> &'static Self {
        static BUILT: OnceLock<Wrong> = OnceLock::new();
        extern "C" fn remove() {
            if let Some(wrong) = BUILT.get() {
                let _ = fs::remove_dir_all(wrong.folder.path());
            }
        }
        BUILT.get_or_init(|| {
            // SAFETY: `atexit` needs a function without arguments that may run at the end of the process. `remove` only reads a static
            // variable and deletes files.
            unsafe { libc::atexit(remove) };
            Self::build()
        })
    }

    fn build() -> Self {
        let wrong = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        for folder in ["data/vulkan/icd.d", "data/vulkan/implicit_layer.d", "libraries", "own"] {
            fs::create_dir_all(wrong.path(folder)).expect("folders");
        }
        for (who, folder) in [("driver", "libraries"), ("layer", "libraries"), ("program", "own")] {
            let brought = format!("{folder}/libbrought_{who}.so");
            wrong.compile("library", who, &brought, &["-shared"]);
            let links = format!("-Wl,-rpath,{}", wrong.path(folder).display());
            let folder = format!("-L{}", wrong.path(folder).display());
            let needs = [&*folder, &format!("-lbrought_{who}"), &links, "-ldl", "-lpthread"];
            match who {
                "program" => wrong.compile(who, who, "program", &needs),
                _ => wrong.compile(
                    who,
                    who,
                    &format!("libraries/lib{who}.so"),
                    &[&needs[..], &["-shared"]].concat(),
                ),
            }
        }
        wrong
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    fn compile(&self, source: &str, owner: &str, to: &str, words: &[&str]) {
        let source = format!("{}/tests/culprit/{source}.cpp", env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new("c++");
        command
            .args(["-O1", "-w", "-fPIC"])
            .arg(format!("-DOWNER={owner}"))
            .arg(source);
        let status = command.arg("-o").arg(self.path(to)).args(words).status();
        assert!(status.expect("a compiler").success());
    }

    /// Returns a machine on which the driver or the layer fails. The machine has no package managers, because package managers take a long
    /// time to answer.
    pub(crate) fn machine(&self, words: &str, variable: &str) -> Machine {
        let mut machine = Machine::new();
        machine.manifest("wrong", &self.path("libraries/libdriver.so"), "");
        machine.layer_of("wrong", &self.path("libraries/liblayer.so"));
        machine.variable("WRONG", words).variable("PATH", "/nowhere");
        if let Some((name, value)) = variable.split_once('=') {
            machine.variable(name, value);
        }
        machine
    }

    pub(crate) fn program(&self) -> String {
        self.path("program").display().to_string()
    }

    /// Returns the report about a program that runs on a machine.
    pub(crate) fn explain(machine: &Machine, options: &[&str], program: &[&str]) -> Explained {
        let output = Self::run(machine, options, program);
        let report = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&output.stderr)));
        Explained {
            report,
            code: output.status.code().expect("it ends by itself"),
        }
    }

    fn run(machine: &Machine, options: &[&str], program: &[&str]) -> Output {
        let library = library();
        let words = ["explain", "--json", "--library", library.to_str().expect("plain")];
        machine.run(&[&words[..], options, &["--"], program].concat())
    }
}

/// Crashes that are caused by C++ exceptions that reach the library. An exception that reaches a debug build of the library ends the
/// process. The functions that threw the exception are then no longer on the stack.
const THROWN: [&str; 3] = ["driver create throw", "driver create at", "layer create throw"];

/// Returns the crashes of drivers and layers that can be located with the library under test.
fn crashes() -> Vec<(&'static str, &'static str)> {
    let is_debug = std::env::var_os("VKL_LIBRARY").is_none() && cfg!(debug_assertions);
    if is_debug {
        skip("exceptions that reach the library: a debug build of it ends the process itself");
    }
    let is_shown = |case: &&(&str, &str)| !is_debug || !THROWN.contains(&case.0);
    CRASHES.iter().filter(is_shown).copied().collect()
}

/// Runs programs that crash. Returns the crashes with a wrong culprit or text.
fn wrongly_named(wrong: &Wrong, cases: &[(&str, &str)]) -> Vec<String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |count| count.get().min(4)) {
            scope.spawn(|| {
                while let Some((words, variable)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let machine = wrong.machine(words, variable);
                    let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
                    let crash = &explained.report["crash"];
                    if crash["culprit"] != *words.split(' ').next().unwrap_or_default() {
                        found
                            .lock()
                            .expect("no thread failed")
                            .push(format!("{words} {variable}: {crash:#}"));
                    }
                }
            });
        }
    });
    found.into_inner().expect("no thread failed")
}

fn has_compiler() -> bool {
    let is_there = Command::new("c++").arg("--version").output().is_ok();
    if !is_there {
        skip("who crashed a program: there is no compiler for C++");
    }
    is_there
}

#[test]
fn those_who_crash_programs_are_named() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    assert!(CRASHES.len() >= 40 && OWN.len() >= 20);
    let crashes = crashes();
    let missed = wrongly_named(wrong, &crashes);
    assert!(
        missed.is_empty(),
        "{} of {}: {}",
        missed.len(),
        crashes.len(),
        missed.join("\n")
    );
    let blamed = wrongly_named(wrong, OWN);
    assert!(
        blamed.is_empty(),
        "{} of {}: {}",
        blamed.len(),
        OWN.len(),
        blamed.join("\n")
    );
}

#[test]
fn the_switch_that_takes_the_culprit_out_is_told_and_tried() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    for (words, name, value, own, retried) in [
        (
            "driver call write",
            "VK_LOADER_DRIVERS_DISABLE",
            "wrong.json",
            None,
            "lives",
        ),
        (
            "driver open write",
            "VK_LOADER_DRIVERS_DISABLE",
            "wrong.json",
            None,
            "lives",
        ),
        (
            "layer call write",
            "VK_LOADER_LAYERS_DISABLE",
            "VK_LAYER_wrong",
            Some("OFF_wrong"),
            "lives",
        ),
        ("program end write", "", "", None, "no-switch"),
    ] {
        let machine = wrong.machine(words, "");
        let explained = Wrong::explain(&machine, &["--retry"], &[&wrong.program()]);
        let crash = &explained.report["crash"];
        let switch = |name: &str| (crash[name]["variable"].as_str(), crash[name]["value"].as_str());
        let expected = (!name.is_empty()).then_some((name, value));
        assert_eq!(
            switch("switch"),
            (expected.map(|it| it.0), expected.map(|it| it.1)),
            "{crash:#}"
        );
        assert_eq!(switch("own_switch").0, own, "{crash:#}");
        assert_eq!(
            (&crash["retried"], explained.first()),
            (&retried.into(), "program.crashed")
        );
        if !name.is_empty() {
            let copied = format!("{name}={value} PROGRAM");
            assert!(explained.advice().contains(&copied), "{}", explained.advice());
            assert!(explained.findings().contains("it lives"), "{}", explained.findings());
        }
    }
    // Installs a second driver that fails in the same way. If one of the two drivers is disabled, the other still crashes the program.
    let machine = wrong.machine("driver call write", "");
    machine.manifest("also", &machine.path("libraries/libalso.so"), "");
    fs::copy(
        wrong.path("libraries/libdriver.so"),
        machine.path("libraries/libalso.so"),
    )
    .expect("a copy");
    let explained = Wrong::explain(&machine, &["--retry"], &[&wrong.program()]);
    assert_eq!(
        explained.report["crash"]["retried"], "crashes",
        "{:#}",
        explained.report["crash"]
    );
}

/// A program that ends itself with a trap needs no other processor.
#[test]
fn a_trap_of_the_program_is_told_as_its_own_check() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("program created trap", "");
    let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
    assert_eq!(explained.report["crash"]["culprit"], "program");
    assert!(explained.findings().contains("is a trap"), "{}", explained.findings());
    assert!(
        explained.advice().contains("one of its checks failed"),
        "{}",
        explained.advice()
    );
}

#[test]
fn a_crash_is_told_in_text_in_a_page_and_in_short() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("layer call write", "");
    let (library, page) = (library(), machine.path("page.html"));
    let library = library.to_str().expect("plain");
    let program = wrong.program();
    let words = ["--library", library, "--", &program];
    let said = |words: &[&str]| String::from_utf8_lossy(&machine.run(words).stdout).into_owned();
    let text = said(&[&["explain", "--html", page.to_str().expect("plain")], &words[..]].concat());
    let page = fs::read_to_string(page).expect("a page");
    let short = said(&[&["explain", "--summary"], &words[..]].concat());
    for (where_, said) in [("text", &text), ("page", &page), ("short", &short)] {
        let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains(
                "The layer VK_LAYER_wrong crashed the program in vkEnumeratePhysicalDevices: signal 11 (SIGSEGV)"
            ),
            "{where_}: {said}"
        );
        assert!(said.contains("liblayer.so+0x"), "{where_}: {said}");
    }
    assert!(short.lines().count() <= 15, "{short}");
}

/// Returns the crash in a JSON report.
fn crash_of(explained: &Explained) -> &Value {
    let crash = &explained.report["crash"];
    assert!(crash.is_object(), "{:#}", explained.report);
    crash
}

#[test]
fn a_crash_of_a_process_that_a_script_starts() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("driver create write", "");
    let program = wrong.program();
    for script in [
        format!("{program}; exit $?"),
        format!("({program}; true)"),
        format!("{program} & wait; true"),
    ] {
        let explained = Wrong::explain(&machine, &[], &["/bin/sh", "-c", &script]);
        let crash = crash_of(&explained);
        assert_eq!(
            (&crash["culprit"], &crash["is_first"]),
            (&"driver".into(), &false.into()),
            "{script}: {crash:#}"
        );
        assert_eq!(explained.first(), "program.crashed");
    }
    let machine = wrong.machine("program created write", "");
    let script = format!("{program}; true");
    let explained = Wrong::explain(&machine, &[], &["/bin/sh", "-c", &script]);
    let reason = explained.found("program.crashed")["reason"].to_string();
    assert!(
        reason.contains(", which the program started, but its own code: "),
        "{reason}"
    );
}

#[test]
fn a_signal_of_another_process_is_nobodys_fault() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let mut machine = wrong.machine("none none none", "");
    let ready = machine.path("ready").display().to_string();
    machine.variable("READY", &ready);
    let program = wrong.program();
    let script = format!("{program} & until [ -e {ready} ]; do :; done; kill -SEGV $!; wait");
    let explained = Wrong::explain(&machine, &[], &["/bin/sh", "-c", &script]);
    let crash = crash_of(&explained);
    assert_eq!(crash["culprit"], "outside", "{crash:#}");
}

#[test]
fn a_program_that_crashes_before_it_opens_a_loader() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("program begin write", "");
    let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
    assert_eq!((explained.code, explained.first()), (1, "program.crashed"));
    assert_eq!(crash_of(&explained)["culprit"], "program");
    assert_eq!(explained.report["loader"], Value::Null);
}
