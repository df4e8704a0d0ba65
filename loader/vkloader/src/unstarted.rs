//! Programs that the kernel does not start, because their dynamic linker or interpreter is missing, or because they are for another processor.

use crate::c_library;
use crate::causes::elf::{self, Identity};
use crate::causes::{Part, install_for};
use crate::regular;
use crate::shell::word;
use crate::superuser;
use std::io;
use std::path::{Path, PathBuf};

/// File that NixOS has.
const NIXOS: &str = "/etc/NIXOS";
/// Folders in which Nix and Guix install dynamic linkers.
const STORES: [&str; 2] = ["/nix/store", "/gnu/store"];

/// Dynamic linker in the usual place, for programs that Nix or Guix built.
const USUAL: &str = "$(patchelf --print-interpreter /bin/sh)";

/// Returns the interpreter of a program or script.
pub(crate) fn interpreter(program: &Path) -> Option<PathBuf> {
    match first_line(program) {
        Some(line) => Some(line.split_whitespace().next()?.into()),
        None => elf::interpreter(program),
    }
}

/// Returns the words after `#!` in the first line of a script.
fn first_line(program: &Path) -> Option<String> {
    let text = regular::read(program).ok()?;
    let line = text.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

/// Returns the reason for the error that the kernel returned instead of starting a program, with the remedy. Returns `None` if the error
/// has another reason.
pub(crate) fn why(program: &Path, error: &io::Error) -> Option<String> {
    let words = match error.raw_os_error()? {
        libc::ENOENT if program.is_file() => without_interpreter(program)?,
        libc::ENOEXEC => of_other_format(program)?,
        _ => return None,
    };
    Some(superuser::complete_text(&words))
}

/// Returns the reason for a missing interpreter.
fn without_interpreter(program: &Path) -> Option<String> {
    if let Some(line) = first_line(program) {
        let script = word(&program.display().to_string());
        if line.ends_with('\r') {
            return Some(format!(
                "its first line ends with a carriage return, as lines of Windows do, so its interpreter is not found: sed -i 's/\\r$//' {script}"
            ));
        }
        let missing = line.split_whitespace().next()?.to_owned();
        return Some(format!(
            "its interpreter {missing} is not there; install the package that brings it, or correct the first line of {script}"
        ));
    }
    let missing = elf::interpreter(program)?;
    if missing.exists() {
        return None;
    }
    let its = Identity::of(program)?;
    let own = Identity::of_this_process();
    let begin = format!(
        "it is a program for {its}, and its dynamic linker {} is not there",
        missing.display()
    );
    if Path::new(NIXOS).exists() {
        return Some(format!(
            "{begin}, as NixOS has none in this place; in the configuration of the system: programs.nix-ld.enable = true; or start it with \
             steam-run"
        ));
    }
    if STORES.iter().any(|store| missing.starts_with(store)) {
        return Some(format!(
            "{begin}: it was built by Nix or Guix and belongs into an environment of that; to let it use the dynamic linker of this system: patchelf \
             --set-interpreter {USUAL} {}",
            word(&program.display().to_string())
        ));
    }
    if !its.is_of_family(own) {
        return Some(format!("{begin}; use a build of the program for {own}"));
    }
    if let Some(words) = c_library::of_other(program) {
        return Some(words);
    }
    let parts = [Part::CLibrary, Part::Loader, Part::Drivers];
    Some(match install_for(&parts, its, Path::new("/")) {
        Some(command) => {
            format!("{begin}; to install it, with the Vulkan loader and drivers for such programs: {command}")
        }
        None => format!("{begin}; install the C library, the Vulkan loader and the drivers for such programs"),
    })
}

/// Returns the reason why the kernel does not know the format of a program.
fn of_other_format(program: &Path) -> Option<String> {
    let Some(its) = Identity::of(program) else {
        let is_empty = std::fs::metadata(program).is_ok_and(|status| status.len() == 0);
        let script = word(&program.display().to_string());
        return Some(if is_empty {
            "the file is empty; download or install it again".into()
        } else {
            format!(
                "it is neither a program nor a script with #! in its first line; if it is a script: vkloader explain -- sh {script}"
            )
        });
    };
    let own = Identity::of_this_process();
    if !its.is_of_family(own) {
        return Some(format!(
            "it is a program for {its}, and this system runs programs for {own}; use a build of the program for {own}"
        ));
    }
    if its == own {
        return Some("the file is damaged; install it again".into());
    }
    Some(format!(
        "it is a program for {its}, and the kernel does not run such programs (ia32_emulation=0 in its command line, or a kernel built without \
         CONFIG_IA32_EMULATION or CONFIG_COMPAT); use a build of the program for {own}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns a copy of the shell with another dynamic linker, whose path may not be longer, and another processor.
    fn copy(folder: &Path, linker: Option<&str>, machine: Option<u8>) -> PathBuf {
        let shell = Path::new("/bin/sh");
        let mut bytes = fs::read(shell).expect("a program");
        if let Some(linker) = linker {
            let own = elf::interpreter(shell).expect("a dynamic linker").display().to_string();
            let name = format!("{linker}{}", "x".repeat(own.len() - linker.len()));
            let at = bytes.windows(own.len()).position(|part| part == own.as_bytes());
            bytes[at.expect("the name")..][..own.len()].copy_from_slice(name.as_bytes());
        }
        if let Some(machine) = machine {
            bytes[18] = machine;
        }
        let program = folder.join("program");
        fs::write(&program, bytes).expect("a file");
        program
    }

    #[test]
    fn a_missing_interpreter_comes_with_its_remedy() {
        let folder = tempfile::tempdir().expect("a folder");
        let absent = io::Error::from_raw_os_error(libc::ENOENT);
        let words = |program: &Path| why(program, &absent).expect("words");
        let script = folder.path().join("script");
        fs::write(&script, "#!/bin/sh\r\ntrue\r\n").expect("a file");
        assert!(words(&script).contains("sed -i"), "{}", words(&script));
        fs::write(&script, "#!/opt/none/python3 -u\ntrue\n").expect("a file");
        assert!(words(&script).contains("its interpreter /opt/none/python3 is not there"));
        if Path::new(NIXOS).exists() || c_library::of_other(Path::new("/bin/sh")).is_some() {
            return;
        }
        let program = copy(folder.path(), Some("/nix/store/"), None);
        assert!(words(&program).contains("patchelf"), "{}", words(&program));
        let program = copy(folder.path(), Some("/lib/none/"), None);
        assert!(words(&program).contains("/lib/none/"), "{}", words(&program));
        let program = copy(folder.path(), Some("/lib/none/"), Some(0xF3));
        assert!(
            words(&program).contains("it is a program for RISC-V"),
            "{}",
            words(&program)
        );
    }

    #[test]
    fn a_program_for_another_processor_is_said_as_that() {
        let folder = tempfile::tempdir().expect("a folder");
        let unknown = io::Error::from_raw_os_error(libc::ENOEXEC);
        let words = |program: &Path| why(program, &unknown).expect("words");
        let program = copy(folder.path(), None, Some(0xF3));
        let expected = format!("use a build of the program for {}", Identity::of_this_process());
        assert!(words(&program).ends_with(&expected), "{}", words(&program));
        fs::write(&program, "").expect("a file");
        assert!(words(&program).contains("empty"));
        fs::write(&program, "echo\n").expect("a file");
        assert!(
            words(&program).contains("vkloader explain -- sh "),
            "{}",
            words(&program)
        );
    }
}
