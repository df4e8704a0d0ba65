//! Finds programs for another C library than that of the system. They cannot open the loader and the drivers of the system.

use crate::causes::elf::interpreter;
use std::path::Path;

/// Returns the reason why a program for another C library than that of the system writes no trace.
pub(crate) fn of_other(program: &Path) -> Option<String> {
    let is_musl = |path: &Path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("ld-musl"))
    };
    let of_system = interpreter(&std::fs::canonicalize("/bin/sh").ok()?)?;
    let own = interpreter(program)?;
    let names = |musl| if musl { "musl" } else { "glibc" };
    let (its, ours) = (is_musl(&own), is_musl(&of_system));
    (its != ours).then(|| {
        format!(
            "{} is for the C library {} ({}), and the Vulkan loader and the drivers of this system are for {}, so it cannot open them; use a build of the \
             program for {3}",
            program.display(),
            names(its),
            own.display(),
            names(ours)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_for_another_c_library_is_named() {
        let shell = Path::new("/bin/sh");
        assert_eq!(of_other(shell), None);
        let own = interpreter(shell).expect("a dynamic linker").display().to_string();
        let name = if own.contains("musl") { "ld-linux" } else { "ld-musl-x" };
        // The other name is as long as that of this system.
        let other = format!("{}{name}", "/".repeat(own.len() - name.len()));
        let mut bytes = std::fs::read(shell).expect("a program");
        let at = bytes.windows(own.len()).position(|part| part == own.as_bytes());
        bytes[at.expect("the name")..][..own.len()].copy_from_slice(other.as_bytes());
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        std::fs::write(&program, bytes).expect("a file");
        let words = of_other(&program).expect("words");
        let wanted = if name == "ld-linux" { "for musl" } else { "for glibc" };
        assert!(words.ends_with(wanted), "{words}");
    }
}
