//! Programs that get a Vulkan loader of others, beside a `vkloader` without a library of its own.

use super::aside;
use super::machine::{Explained, Machine, library, skip};
use std::fs;
use std::path::Path;
use std::process::Command;

fn machine() -> Machine {
    let machine = Machine::new();
    machine.driver("good", "device one");
    machine
}

/// Installs `vkloader` without its library.
fn without_library(machine: &mut Machine) {
    machine.install();
    fs::remove_dir_all(machine.path("libexec")).expect("just installed");
}

/// The Vulkan loader of the system is another one, and no option names a library.
#[test]
fn a_program_that_gets_the_loader_of_the_system_is_told_which_option_gives_a_trace() {
    let folder = Path::new("/usr/lib/x86_64-linux-gnu");
    let peer = fs::read(folder.join("libvulkan.so.1")).unwrap_or_default();
    let name = b"VK_LOADER_TRACE";
    if peer.is_empty() || peer.windows(name.len()).any(|part| part == name) {
        return skip("there is no loader of others here");
    }
    let mut machine = machine();
    without_library(&mut machine);
    let text = "#include <dlfcn.h>\nint main(void) { return !dlopen(\"libvulkan.so.1\", 2); }\n";
    let program = machine.c_program(text);
    let explained = machine.explain_with(&["--", &program]);
    assert_eq!((explained.code, explained.first()), (2, "program.no-trace"));
    let reason = |explained: &Explained| explained.report["dropped"][0]["reason"].to_string();
    let wanted = "The Vulkan loader of this system, /usr/lib/x86_64-linux-gnu/libvulkan.so.1";
    assert!(reason(&explained).contains(wanted), "{}", reason(&explained));
    let advice = explained.advice();
    assert!(advice.contains("vkloader explain --library "), "{advice}");
    let findings = explained.findings();
    assert!(findings.contains("gets from this loader: one"), "{findings}");
    // A library of this project that is installed too comes with its path.
    let own = machine.path("system/usr/local/lib");
    fs::create_dir_all(&own).expect("folders");
    fs::copy(library(), own.join("libours.so")).expect("a library");
    if machine.in_made_up_system(&["/usr/local/lib"]) {
        let explained = machine.explain_with(&["--", &program]);
        let wanted = "--library /usr/local/lib/libours.so -- PROGRAM";
        assert!(explained.advice().contains(wanted), "{}", explained.advice());
    }
}

/// A folder in `DT_RPATH` comes before those of `LD_LIBRARY_PATH`, so `--library` does not reach such a program.
#[test]
fn a_loader_that_comes_before_the_variable_is_named_at_once() {
    let mut machine = machine();
    let folder = machine.path("game");
    fs::create_dir(&folder).expect("a folder");
    let loader = folder.join("libvulkan.so.1").display().to_string();
    let program = folder.join("game").display().to_string();
    let path = format!("-Wl,--disable-new-dtags,-rpath,{}", folder.display());
    let build = |text: &str, words: &[&str]| {
        let source = machine.file("own.c", text);
        let made = Command::new("cc").arg(source).args(words).status();
        assert!(made.expect("a compiler").success());
    };
    let soname = "-Wl,-soname,libvulkan.so.1";
    build(
        "int own(void) { return 0; }\n",
        &["-shared", "-fPIC", soname, "-o", &loader],
    );
    build(
        "int own(void);\nint main(void) { return own(); }\n",
        &[&loader, &path, "-o", &program],
    );
    without_library(&mut machine);
    let explained = machine.explain_with(&["--", &program]);
    let reason = explained.report["dropped"][0]["reason"].as_str().unwrap_or_default();
    let wanted = format!("(DT_RPATH), and finds {loader}, which writes no trace");
    assert!(reason.contains(&wanted), "{reason}");
    let advice = explained.advice();
    assert!(advice.contains(&format!("mv {loader} {}", aside(&loader))), "{advice}");
    assert!(!advice.contains("--library"), "{advice}");
}
