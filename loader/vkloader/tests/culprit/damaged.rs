//! Crashes far from their causes: damaged memory, truncated files, and recursions without end.

use crate::{Wrong, crash_of, has_compiler};

#[test]
fn damaged_memory_is_told_without_certainty() {
    if !has_compiler() || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let wrong = Wrong::built();
    for who in ["driver create", "program created"] {
        let machine = wrong.machine(&format!("{who} heap"), "");
        let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
        let crash = crash_of(&explained);
        let reason = explained.report["dropped"][0]["reason"].to_string();
        assert!(reason.contains("was damaged before"), "{who}: {reason} {crash:#}");
        assert_eq!(crash["is_certain"], false, "{who}: {crash:#}");
        assert!(explained.advice().contains("valgrind"), "{who}: {}", explained.advice());
        // A pointer that is freed twice shows its culprit, unless other code damaged the memory.
        let machine = wrong.machine(&format!("{who} free"), "");
        let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
        let crash = crash_of(&explained);
        assert_eq!(crash["is_certain"], false, "{who}: {crash:#}");
        let reason = explained.report["dropped"][0]["reason"].to_string();
        assert!(reason.contains("It crashed in free: "), "{who}: {reason}");
    }
}

#[test]
fn a_truncated_file_is_named_with_the_program_that_mapped_it() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    for (words, name, culprit) in [
        ("program created cut", "shader.spv", "program"),
        ("program info cut", "shader.spv", "program"),
        ("driver create cut", "shader.spv", "program"),
        ("driver create cut", "mesa_shader_cache_db", "driver"),
    ] {
        let mut machine = wrong.machine(words, "");
        let file = machine.path(name).display().to_string();
        machine.variable("CUT", &file);
        let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
        let crash = crash_of(&explained);
        assert_eq!(crash["culprit"], culprit, "{words} {name}: {crash:#}");
        let expected = format!("{file} has 100 bytes");
        assert!(explained.findings().contains(&expected), "{}", explained.findings());
        assert!(explained.advice().contains(&file), "{}", explained.advice());
    }
}

/// The innermost function is of the loader, or of a driver or layer that the loader called.
#[test]
fn a_recursion_of_the_program_is_its_own_fault() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("program recursion none", "");
    let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
    let crash = crash_of(&explained);
    assert_eq!(crash["culprit"], "program", "{crash:#}");
    let reason = explained.report["dropped"][0]["reason"].to_string();
    assert!(reason.contains("called each other without end"), "{reason}");
}
