//! The form of `vkloader` that consists of one file and runs on systems with different C libraries.
//!
//! The file is a static program that contains a set of files for each C library: `vkloader` and the Vulkan library. The program unpacks the
//! set for this system into a temporary folder, and executes the `vkloader` of that set. When this `vkloader` ends, it removes the folder.

use crate::causes::elf;
use crate::child::naming;
use crate::{commands, itself, scratch, signals};
use std::env;
use std::ffi::{CString, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};

/// Names of the two files in the folder. `vkloader` finds the library because both files are in the same folder.
const NAMES: [&str; 2] = ["vkloader", "libvulkan.so.1"];

/// A program that every system has. If two C libraries are installed, this program's dynamic linker belongs to the system's own C library.
const SHELL: &str = "/bin/sh";

/// The files for one C library.
pub struct Set {
    /// The program `vkloader`.
    pub program: &'static [u8],
    /// The library that the program uses to examine drivers.
    pub library: &'static [u8],
}

/// Executes the program of the set for this system. Returns only if there is no set for this system, or if no folder accepts the files.
#[must_use]
pub fn become_program_of(sets: &[Set]) -> ExitCode {
    let linkers: Vec<_> = sets.iter().map(|set| elf::interpreter_in(set.program)).collect();
    let shell = elf::interpreter(Path::new(SHELL));
    let error = match choose(&linkers, shell.as_deref(), Path::exists) {
        Some(place) => start(&sets[place]),
        None => io::Error::other(format!(
            "this system has none of {}: programs for its C library or processor are not in this file",
            shown(&linkers)
        )),
    };
    anstream::eprintln!("vkloader: {error}");
    ExitCode::from(commands::WRONG_USE)
}

/// Returns the index of the dynamic linker that the system's shell uses. If no linker matches, returns the first one that is installed.
fn choose(linkers: &[Option<PathBuf>], shell: Option<&Path>, is_there: impl Fn(&Path) -> bool) -> Option<usize> {
    let there = |linker: &Option<PathBuf>| linker.as_deref().is_some_and(&is_there);
    let of_shell = linkers
        .iter()
        .position(|linker| there(linker) && linker.as_deref() == shell);
    of_shell.or_else(|| linkers.iter().position(there))
}

fn shown(linkers: &[Option<PathBuf>]) -> String {
    let names: Vec<_> = linkers
        .iter()
        .flatten()
        .map(|linker| linker.display().to_string())
        .collect();
    names.join(", ")
}

/// Executes the program of a set. Tries all folders for temporary files, because some file systems forbid execution. Returns only after a
/// failure, with the error for the first folder.
fn start(set: &Set) -> io::Error {
    // Blocks signals that ask this process to end. The started program unblocks the signals as soon as it can remove the folder.
    signals::hold_requests_to_end();
    let started = scratch::first(|place| {
        let folder = unpack(set, place)?;
        let error = become_program(&folder.join(NAMES[0]), env::args_os());
        remove(&folder);
        Err::<(), _>(error)
    });
    signals::release_requests_to_end();
    started.err().unwrap_or_else(|| io::ErrorKind::Other.into())
}

/// Replaces this process by a program. `words` are the arguments, beginning with the program's name. Unlike with [`std::process::Command`],
/// blocked signals stay blocked. Returns only if the program cannot be executed.
fn become_program(program: &Path, words: impl Iterator<Item = OsString>) -> io::Error {
    let text = |word: OsString| CString::new(word.into_vec());
    let texts: Result<Vec<CString>, _> = words.map(text).collect();
    let (program, texts) = match (text(program.into()), texts) {
        (Ok(program), Ok(texts)) => (program, texts),
        (Err(error), _) | (_, Err(error)) => return error.into(),
    };
    let pointers = texts.iter().map(|text| text.as_ptr());
    let pointers: Vec<_> = pointers.chain([std::ptr::null()]).collect();
    // SAFETY: the path and the words end with null bytes, a null pointer ends the list, and all of these values outlive the call.
    unsafe { libc::execv(program.as_ptr(), pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// Writes the files of a set into a new folder, which only this user may enter.
fn unpack(set: &Set, place: &Path) -> io::Result<PathBuf> {
    let folder = tempfile::Builder::new()
        .prefix(&prefix())
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(place)?
        .keep();
    for (name, bytes) in NAMES.into_iter().zip([set.program, set.library]) {
        let path = folder.join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path);
        let written = file.and_then(|mut file| file.write_all(bytes));
        if let Err(error) = written {
            remove(&folder);
            return Err(naming(&path, error));
        }
    }
    Ok(folder)
}

/// Returns the beginning of the folder's name. The name contains the ID of this process, so that child processes, which have other IDs, do
/// not remove the folder.
fn prefix() -> String {
    format!("vkloader-{}-", process::id())
}

/// Removes the folder and its two files. Never removes other files.
fn remove(folder: &Path) {
    for name in NAMES {
        let _ = fs::remove_file(folder.join(name));
    }
    // Ignores the failure, because a remaining empty folder does no harm.
    let _ = fs::remove_dir(folder);
}

/// The folder that was unpacked for this process. Dropping the value removes the folder.
pub(crate) struct Unpacked(PathBuf);

impl Unpacked {
    /// Returns the folder if this process was started from a single file.
    pub(crate) fn of_this_process() -> Option<Self> {
        let folder = itself::path().ok()?.parent()?.to_path_buf();
        let name = folder.file_name()?.to_str()?.to_owned();
        // Dropping the value removes the folder, so the value must only exist for a folder that this program created.
        let found = name.starts_with(&prefix()).then(|| Self(folder))?;
        // From this point on, a handler records signals that ask this process to end, and the folder is removed when the command ends.
        signals::note_requests_to_end();
        signals::release_requests_to_end();
        Some(found)
    }
}

/// Removes the folder that was unpacked for this process. Called before the process executes another program.
pub(crate) fn remove_own_folder() {
    drop(Unpacked::of_this_process());
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_of_the_shell_is_chosen_and_else_one_that_is_there() {
        let linkers = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"];
        let [gnu, musl] = linkers;
        let known: Vec<_> = linkers.iter().map(|linker| Some(PathBuf::from(linker))).collect();
        for (there, shell, chosen) in [
            (&[gnu][..], Some(gnu), Some(0)),
            (&[musl], Some(musl), Some(1)),
            // Another C library is installed in addition to the system's own.
            (&[gnu, musl], Some(gnu), Some(0)),
            (&[gnu, musl], Some(musl), Some(1)),
            // The shell is static, or no set is for the shell's dynamic linker. The first set whose linker is installed is chosen, if there
            // is one.
            (&[musl], None, Some(1)),
            (&[gnu, musl], Some("/nix/ld.so"), Some(0)),
            (&[], Some(gnu), None),
        ] {
            let is_there = |path: &Path| there.iter().any(|one| Path::new(one) == path);
            assert_eq!(
                choose(&known, shell.map(Path::new), is_there),
                chosen,
                "{there:?} {shell:?}"
            );
        }
    }

    #[test]
    fn the_folder_of_a_program_that_was_not_unpacked_is_left_alone() {
        let own = env::current_exe().expect("a test has a file");
        let named = own.with_file_name(NAMES[1]);
        let was_there = named.exists();
        assert!(Unpacked::of_this_process().is_none());
        assert_eq!((own.exists(), named.exists()), (true, was_there));
    }

    /// The test starts its own program again. In this copy, `start` replaces the test by a script that prints the mask of blocked signals.
    #[test]
    fn requests_to_end_wait_for_the_program_that_removes_the_folder() {
        const COPY: &str = "VKL_TEST_START";
        let script = b"#!/bin/bash\ngrep SigBlk: /proc/self/status\n";
        let set = Set {
            program: script,
            library: b"library",
        };
        if env::var_os(COPY).is_some() {
            panic!("{}", start(&set));
        }
        let place = tempfile::tempdir().expect("a folder");
        let name = "single::tests::requests_to_end_wait_for_the_program_that_removes_the_folder";
        let output = std::process::Command::new(env::current_exe().expect("a test has a file"))
            .args(["--exact", name, "--nocapture"])
            .env(COPY, "1")
            .env("TMPDIR", place.path())
            .output()
            .expect("it can be started");
        let text = String::from_utf8_lossy(&output.stdout);
        let blocked = text.lines().find_map(|line| line.split_once("SigBlk:"));
        let blocked = blocked.and_then(|(_, mask)| u64::from_str_radix(mask.trim(), 16).ok());
        // The mask has the bits of SIGHUP, SIGINT and SIGTERM.
        let expected = 1 | 1 << 1 | 1 << 14;
        assert_eq!(blocked.map(|mask| mask & expected), Some(expected), "{text}");
    }

    #[test]
    fn a_set_is_unpacked_for_this_user_alone_and_removed() {
        let place = tempfile::tempdir().expect("a folder");
        let set = Set {
            program: b"program",
            library: b"library",
        };
        let folder = unpack(&set, place.path()).expect("a place");
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(name.starts_with(&prefix()), "{name}");
        let mode = fs::metadata(&folder).expect("made").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(fs::read(folder.join("libvulkan.so.1")).expect("written"), b"library");
        drop(Unpacked(folder));
        assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 0);
    }
}
