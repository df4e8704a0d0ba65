//! Crashes in libraries that belong to no driver, layer or program.

use crate::{Wrong, crash_of, has_compiler};
use std::process::Command;

/// A library with a function that crashes, and a thread that crashes in processes with the variable `GO`.
const LIBRARY: &str = "#include <pthread.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
    void crash(void) { *(volatile int *)8 = 1; }\n\
    static void *run(void *unused) { usleep(50000); crash(); return 0; }\n\
    __attribute__((constructor)) static void begin(void) { pthread_t one; if (getenv(\"GO\")) pthread_create(&one, 0, run, 0); }\n";

#[test]
fn a_library_that_is_added_to_the_program_is_named() {
    if !has_compiler() || cfg!(not(target_os = "linux")) {
        return;
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("none none none", "WAIT=1");
    let library = compile(&machine);
    let folder = library.parent().expect("a folder").display().to_string();
    let program = wrong.program();
    let library = library.display().to_string();
    for word in ["libhud.so", &library] {
        let script = format!("GO=1 LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH LD_PRELOAD={word} exec {program}");
        let explained = Wrong::explain(&machine, &[], &["/bin/sh", "-c", &script]);
        let crash = crash_of(&explained);
        assert_eq!(
            (&crash["culprit"], &crash["name"], &crash["is_certain"]),
            (&"library".into(), &library.as_str().into(), &true.into()),
            "{word}: {crash:#}"
        );
        let reason = explained.found("program.crashed")["reason"].to_string();
        assert!(
            reason.contains("which LD_PRELOAD adds to the program, crashed"),
            "{word}: {reason}"
        );
        assert_eq!(
            explained.advice(),
            format!("Take {library} out of LD_PRELOAD, or update it.")
        );
    }
}

#[test]
fn a_library_that_the_program_called_is_named_beside_the_program() {
    if !has_compiler() || cfg!(not(target_os = "linux")) {
        return;
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("none none none", "");
    let library = compile(&machine);
    let text = format!(
        "#include <dlfcn.h>\nint main(void) {{ void *loader = dlopen(\"libvulkan.so.1\", 2);\n\
         ((void (*)(void))dlsym(dlopen(\"{}\", 2), \"crash\"))(); return !loader; }}",
        library.display()
    );
    let built = machine.c_program(&text);
    std::fs::create_dir(machine.path("game")).expect("a folder");
    let program = machine.path("game/program").display().to_string();
    std::fs::rename(built, &program).expect("a move");
    let explained = Wrong::explain(&machine, &[], &[&program]);
    let crash = crash_of(&explained);
    assert_eq!(
        (&crash["culprit"], &crash["is_certain"]),
        (&"program".into(), &false.into()),
        "{crash:#}"
    );
    let reason = explained.found("program.crashed")["reason"].to_string();
    let words = format!(
        "The program crashed in the library {}, which it called",
        library.display()
    );
    assert!(reason.contains(&words), "{reason}");
    assert!(explained.advice().contains("libhud.so"), "{}", explained.advice());
}

fn compile(machine: &crate::Machine) -> std::path::PathBuf {
    let library = machine.path("hud/libhud.so");
    std::fs::create_dir(machine.path("hud")).expect("a folder");
    let source = machine.file("hud.c", LIBRARY);
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-w", "-fPIC", "-shared", "-o"]).arg(&library);
    assert!(
        compiler
            .arg(source)
            .arg("-lpthread")
            .status()
            .expect("a compiler")
            .success()
    );
    std::fs::canonicalize(library).expect("a path")
}
