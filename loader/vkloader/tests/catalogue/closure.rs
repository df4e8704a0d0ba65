//! Tests that an entry is valid only for the files that the real dynamic linker would load in a program.

use crate::asked::*;
use crate::machine::{Machine, behind, library, skip};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles a C source to a library. Returns `true` on success.
pub(crate) fn compile(output: &Path, source: &str, words: &[&str]) -> bool {
    let file = output.with_extension("c");
    fs::write(&file, source).expect("a file");
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-fPIC", "-o"])
        .arg(output)
        .arg(&file)
        .args(words);
    command.output().is_ok_and(|done| done.status.success())
}

/// Compiles a C source to a library that needs libraries of the machine's folder `libraries`, and finds them in its own folder. The options
/// `needs` name these libraries. Returns `true` on success.
pub(crate) fn compile_user(machine: &Machine, output: &Path, source: &str, needs: &[&str]) -> bool {
    let folder = format!("-L{}", machine.path("libraries").display());
    let words = ["-Wl,--no-as-needed", &folder, "-Wl,-rpath,$ORIGIN"];
    compile(output, source, &[&words[..], needs].concat())
}

/// Returns a machine with a catalogue and with a driver whose library contains nothing, but needs another library. Also returns the path of
/// that library.
fn machine_of_two() -> Option<(Machine, PathBuf)> {
    let mut machine = machine();
    machine.variable("VK_LOADER_CATALOGUE", "on");
    machine.driver("needed", "instance_extension VK_KHR_surface 25\ndevice one");
    let (needed, driver) = (
        machine.path("libraries/libmock_needed.so"),
        machine.path("libraries/libdriver.so"),
    );
    if !compile_user(&machine, &driver, "", &["-lmock_needed"]) {
        skip("there is no C compiler");
        return None;
    }
    machine.manifest("needed", &driver, "");
    update(&machine);
    assert_eq!(used(&machine, &[]), "", "nothing has changed, so the entry is valid");
    Some((machine, needed))
}

fn words<'a>(library: &'a Path, words: &[&'a str]) -> Vec<&'a str> {
    [words, &["--user", "--library", library.to_str().expect("plain")]].concat()
}

pub(crate) fn update(machine: &Machine) {
    let library = library();
    // A busy machine can exceed the usual time limit, and a driver without an answer has no entry that counts.
    let limit = steady::HANG.as_secs().to_string();
    let output = machine.run(&words(&library, &["catalogue", "update", "--timeout", &limit]));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the reason why a program with the variables `variables` does not use the driver's entry; empty if the program uses the entry.
pub(crate) fn used(machine: &Machine, variables: &[(&str, &Path)]) -> String {
    used_behind(machine, &[], variables)
}

/// Returns the result of [`used`] for a program that the command `words` starts.
pub(crate) fn used_behind(machine: &Machine, words: &[&str], variables: &[(&str, &Path)]) -> String {
    let trace = machine.path("trace");
    let _ = fs::remove_file(&trace);
    let library = library();
    let mut command = machine.command(&["probe", library.to_str().expect("plain")]);
    if !words.is_empty() {
        command = behind(words, &command);
    }
    command.envs(variables.iter().copied()).env("VK_LOADER_TRACE", &trace);
    assert!(command.output().expect("it starts").status.success());
    let text = fs::read_to_string(&trace).expect("a trace");
    let records = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a record"));
    let mut about = records.filter(|record| record["event"] == "catalogue");
    // Reads the first record. When the loader opens the driver later, the mock finds its settings by the path that was used to open it.
    let first = about.next().unwrap_or_else(|| panic!("{text}"));
    first["doubt"].as_str().unwrap_or_default().into()
}

#[test]
fn the_files_of_a_driver_are_written() {
    let Some((machine, needed)) = machine_of_two() else {
        return;
    };
    let known = written(&machine);
    let files = known["files"].as_array().expect("a list");
    let paths: Vec<&str> = files.iter().filter_map(|file| file[0].as_str()).collect();
    assert!(paths.contains(&needed.to_str().expect("plain")), "{paths:?}");
    let names = |part: &str| {
        files
            .iter()
            .any(|file| file[2].as_str().is_some_and(|names| names.contains(part)))
    };
    assert!(
        names("libmock_needed.so") && names("libc.so") && !names("libdriver.so") && !names("libvulkan.so"),
        "{files:#?}"
    );
    assert_eq!(
        driver(&known, "needed")["files"].as_array().map(Vec::len),
        Some(files.len())
    );
}

/// An update corrects the entry of a driver that now needs another file.
#[test]
fn a_dependency_that_was_replaced_makes_the_entry_wrong_until_an_update() {
    let Some((machine, needed)) = machine_of_two() else {
        return;
    };
    let copy = machine.path("libraries/copy");
    fs::copy(&needed, &copy).expect("a copy");
    fs::rename(&copy, &needed).expect("a rename");
    assert_eq!(used(&machine, &[]), "library");
    let output = machine.run(&["catalogue", "show", "--user"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("does not count: ") && text.contains("libmock_needed.so has changed"),
        "{text}"
    );
    update(&machine);
    assert_eq!(used(&machine, &[]), "");
    let output = machine.run(&["catalogue", "show", "--user"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("does not count"));
}

/// An entry depends on the folders that the linker searches for the driver, because the linker would find a new file there first.
#[test]
fn a_folder_of_the_drivers_own_is_one_of_its_files() {
    let Some((machine, _)) = machine_of_two() else { return };
    for name in [
        "libnew.so",
        "glibc-hwcaps/x86-64-v2/libnew.so",
        "glibc-hwcaps/x86-64-v2/libnewer.so",
    ] {
        let path = machine.path("libraries").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, "").expect("a file");
        assert_eq!(used(&machine, &[]), "library", "{name}");
        update(&machine);
        assert_eq!(used(&machine, &[]), "", "{name}");
    }
}

/// If the linker has no cache, it searches its default folders each time, so an entry depends on these folders.
#[test]
fn usual_folders_are_files_of_the_driver_if_the_linker_has_no_cache() {
    let Some((mut machine, _)) = machine_of_two() else {
        return;
    };
    let folders = |machine: &Machine| {
        let known = written(machine);
        let files = known["files"].as_array().expect("a list").clone();
        let paths = files.into_iter().filter(|file| file[2] == "");
        paths
            .filter(|file| file[0] != machine.path("libraries").to_str().expect("plain"))
            .count()
    };
    if !Path::new("/etc/ld.so.cache").exists() {
        return skip("this system has no cache of the linker");
    }
    assert_eq!(folders(&machine), 0);
    fs::create_dir_all(machine.path("system/etc")).expect("folders");
    if machine.in_made_up_system(&["/etc"]) {
        update(&machine);
        assert!(folders(&machine) > 0);
    }
}

#[test]
fn folders_of_a_variable_matter_where_they_have_another_file_of_a_name() {
    let Some((mut machine, needed)) = machine_of_two() else {
        return;
    };
    let folder = machine.path("other");
    for place in ["other/glibc-hwcaps/x86-64-v2", "empty"] {
        fs::create_dir_all(machine.path(place)).expect("folders");
    }
    let searched = |machine: &Machine| used(machine, &[("LD_LIBRARY_PATH", &folder)]);
    machine.file("other/libunrelated.so", "");
    assert_eq!(searched(&machine), "");
    fs::copy(&needed, folder.join("libmock_needed.so")).expect("a copy");
    assert_eq!(searched(&machine), "shadowed");
    machine.variable("LD_LIBRARY_PATH", folder.display().to_string());
    let output = machine.run(&["catalogue", "show", "--user"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("libmock_needed.so is not what the dynamic linker would take"),
        "{text}"
    );
    machine.variable("LD_LIBRARY_PATH", "");
    let subfolder = folder.join("glibc-hwcaps/x86-64-v2/libmock_needed.so");
    fs::rename(folder.join("libmock_needed.so"), &subfolder).expect("a rename");
    assert_eq!(searched(&machine), "shadowed");
    fs::remove_file(&subfolder).expect("a file");
    std::os::unix::fs::symlink(&needed, folder.join("libmock_needed.so")).expect("a link");
    assert_eq!(searched(&machine), "", "the link leads to the same file");
}

#[test]
fn preloaded_libraries_matter_where_they_have_a_name_or_the_functions_of_a_driver() {
    let Some((machine, _)) = machine_of_two() else { return };
    fs::create_dir_all(machine.path("other")).expect("a folder");
    let preloaded = |name: &str, source: &str, words: &[&str]| {
        let path = machine.path("other").join(name);
        assert!(compile(&path, source, words), "{name}");
        used(&machine, &[("LD_PRELOAD", &path)])
    };
    assert_eq!(preloaded("liboverlay.so", "int overlay;", &[]), "");
    assert_eq!(preloaded("libmock_needed.so", "int overlay;", &[]), "shadowed");
    assert_eq!(
        preloaded("libnamed.so", "int overlay;", &["-Wl,-soname,libmock_needed.so"]),
        "shadowed"
    );
    let function = "void *vk_icdGetInstanceProcAddr(void *instance, const char *name) { return 0; }";
    assert_eq!(preloaded("libfunctions.so", function, &[]), "shadowed");
}

/// If a user may not read one of the driver's files, the loader opens the driver, which then reports the error.
#[test]
fn a_file_that_the_user_may_not_read_makes_the_entry_not_count() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let Some((mut machine, needed)) = machine_of_two() else {
        return;
    };
    if !machine.unprivileged() {
        return;
    }
    for place in ["temporary", "cache", "cache/vulkan-loader", ""] {
        chown(machine.path(place), Some(65534), Some(65534)).expect("the superuser may");
    }
    chown(file(&machine), Some(65534), Some(65534)).expect("the superuser may");
    fs::set_permissions(&needed, fs::Permissions::from_mode(0o640)).expect("the superuser may");
    update_as_root_sees(&machine, &needed);
    assert_eq!(used(&machine, &[]), "unreadable");
}

/// DRV-271: an access control list may deny a file to one user, and the bits of the file's mode do not show this.
#[test]
fn a_file_that_a_list_denies_to_the_user_makes_the_entry_not_count() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let Some((mut machine, needed)) = machine_of_two() else {
        return;
    };
    let mut doubt_with_list_for = |user| {
        let owned_by = |machine: &Machine, owner| {
            for place in ["temporary", "cache", "cache/vulkan-loader", "journal", ""] {
                chown(machine.path(place), Some(owner), Some(owner)).expect("the superuser may");
            }
            chown(file(machine), Some(owner), Some(owner)).expect("the superuser may");
        };
        if !machine.unprivileged() || !deny(&needed, user) {
            skip("the file system has no access control lists");
            return None;
        }
        machine.privileged();
        owned_by(&machine, 0);
        update(&machine);
        assert_eq!(used(&machine, &[]), "", "the superuser may read the file");
        owned_by(&machine, 65534);
        machine.unprivileged();
        Some(used(&machine, &[]))
    };
    if let Some(doubt) = doubt_with_list_for(1234) {
        assert_eq!(doubt, "");
        assert_eq!(doubt_with_list_for(65534).as_deref(), Some("unreadable"));
        let mode = fs::metadata(&needed).expect("a file").permissions().mode();
        assert_eq!(mode & 0o444, 0o444);
    }
}

/// Denies a file to one user with an access control list that allows it to all other users. Returns `true` on success.
fn deny(path: &Path, user: u32) -> bool {
    const NOBODY: u32 = u32::MAX;
    // Each entry has a kind, rights and a user. The kinds are the owner, a user, the group, the mask and all others.
    let entries = [
        (1, 6, NOBODY),
        (2, 0, user),
        (4, 4, NOBODY),
        (16, 4, NOBODY),
        (32, 4, NOBODY),
    ];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (kind, rights, user) in entries {
        list.extend(u16::to_le_bytes(kind));
        list.extend(u16::to_le_bytes(rights));
        list.extend(user.to_le_bytes());
    }
    let path = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).expect("a path has no null byte");
    let name = c"system.posix_acl_access".as_ptr();
    // SAFETY: both texts are terminated, and `list` has `list.len()` bytes.
    unsafe { libc::setxattr(path.as_ptr(), name, list.as_ptr().cast(), list.len(), 0) == 0 }
}

/// Records the current state of a file in the catalogue, as an update by root would.
fn update_as_root_sees(machine: &Machine, path: &Path) {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path).expect("a file");
    let identity = catalogue::Identity {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    };
    let mut known = written(machine);
    for file in known["files"].as_array_mut().expect("a list") {
        if file[0] == path.to_str().expect("plain") {
            file[1] = identity.to_string().into();
        }
    }
    write(machine, &known);
}

/// Creates a driver whose search path is `folders` and that needs a library in the folder `two`, next to the driver's library. Also creates
/// a catalogue.
pub(crate) fn driver_with_folders(machine: &mut Machine, folders: &str) -> Option<PathBuf> {
    machine.variable("VK_LOADER_CATALOGUE", "on");
    machine.driver("needed", "instance_extension VK_KHR_surface 25\ndevice one");
    let (two, driver) = (machine.path("libraries/two"), machine.path("libraries/libdriver.so"));
    fs::create_dir_all(&two).expect("folders");
    let needed = two.join("libmock_needed.so");
    fs::rename(machine.path("libraries/libmock_needed.so"), &needed).expect("a file");
    let (folder, search) = (format!("-L{}", two.display()), format!("-Wl,-rpath,{folders}"));
    if !compile(&driver, "", &["-Wl,--no-as-needed", &folder, "-lmock_needed", &search]) {
        skip("there is no C compiler");
        return None;
    }
    machine.manifest("needed", &driver, "");
    Some(needed)
}

/// DRV-271: an entry is not used if a folder depends on the process or on variables that the linker replaces. The catalogue cannot predict
/// the file that the linker would load.
#[test]
fn a_search_path_that_depends_on_the_process_makes_no_entry_count() {
    for folders in [
        "$ORIGIN/$LIB:$ORIGIN/two",
        "$ORIGIN/$PLATFORM:$ORIGIN/two",
        ":$ORIGIN/two",
        "$ORIGINAL:$ORIGIN/two",
    ] {
        let mut machine = machine();
        if driver_with_folders(&mut machine, folders).is_none() {
            return;
        }
        update(&machine);
        assert_ne!(used(&machine, &[]), "", "{folders}");
    }
}

/// DRV-271: an entry also depends on a path in an earlier folder that the linker skipped, because a library may later appear at this path.
#[test]
fn a_name_that_was_skipped_in_an_earlier_folder_is_one_of_the_files() {
    for is_link in [true, false] {
        let mut machine = machine();
        let Some(needed) = driver_with_folders(&mut machine, "$ORIGIN/one:$ORIGIN/two") else {
            return;
        };
        let (early, target) = (
            machine.path("libraries/one/libmock_needed.so"),
            machine.path("later.so"),
        );
        fs::create_dir_all(early.parent().expect("a folder")).expect("folders");
        if is_link {
            std::os::unix::fs::symlink(&target, &early).expect("a link");
        } else {
            // Writes a copy of the library into the folder that the linker searches earlier. The header of the copy has the other word
            // size: byte 4 is 1 or 2.
            let mut data = fs::read(&needed).expect("a library");
            data[4] = 3 - data[4];
            fs::write(&early, data).expect("a file");
        }
        update(&machine);
        assert_eq!(used(&machine, &[]), "", "link: {is_link}");
        fs::copy(&needed, if is_link { &target } else { &early }).expect("a file");
        assert_eq!(used(&machine, &[]), "library", "link: {is_link}");
    }
}

/// DRV-271: an entry also depends on subfolders for kinds of processors, which older versions of the GNU C library search.
#[test]
fn old_subfolders_of_a_driver_s_folder_are_among_its_files() {
    let Some((machine, needed)) = machine_of_two() else {
        return;
    };
    let below = machine.path("libraries").join("tls");
    fs::create_dir_all(&below).expect("folders");
    update(&machine);
    assert_eq!(used(&machine, &[]), "");
    fs::copy(needed, below.join("libmock_needed.so")).expect("a file");
    assert_eq!(used(&machine, &[]), "library");
}
