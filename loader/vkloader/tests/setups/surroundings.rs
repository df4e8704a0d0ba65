//! Set-ups outside the program: mounts, permissions and disk space. Each set-up needs a namespace, and is skipped if none can be created.

use super::releases::{BAD, DRIVER, compile};
use super::{Machine, good};
use crate::machine::{library, vkloader};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Makes `vkloader` start in a mount namespace, after a shell script. In the script, `$0` is `folder`. Reports the test as skipped and
/// returns `false` if no namespace can be created.
fn after_script(machine: &mut Machine, script: &str, folder: &str) -> bool {
    let script = format!("{script} && exec \"$@\"");
    machine.start_with(
        ["unshare", "--mount", "sh", "-c", &script, folder]
            .map(String::from)
            .into(),
    )
}

/// Adds a driver that needs a library in another folder. `LD_LIBRARY_PATH` names that folder. Returns the folder.
fn driver_with_library_in_variable(machine: &mut Machine) -> String {
    let folder = machine.path("own").to_str().expect("plain").to_owned();
    fs::create_dir(&folder).expect("a folder");
    let needed = format!("{folder}/libvkltneeded.so");
    let user = machine
        .path("libraries/libvkltuser.so")
        .to_str()
        .expect("plain")
        .to_owned();
    let source = machine
        .file("nothing.c", "int nothing;\n")
        .to_str()
        .expect("plain")
        .to_owned();
    for words in [
        &["-Wl,-soname,libvkltneeded.so", "-o", &needed, &source][..],
        &["-Wl,--no-as-needed", "-o", &user, &source, &needed],
    ] {
        let made = Command::new("cc").args(["-shared", "-fPIC"]).args(words).status();
        assert!(made.expect("a compiler").success());
    }
    machine.manifest("user", user.as_ref(), "");
    machine.variable("LD_LIBRARY_PATH", folder.clone());
    folder
}

/// In toolbox and distrobox, the files of the host are below `/run/host`. The host may be another system than the container.
#[test]
fn a_driver_of_the_host_of_a_container_is_not_repaired_but_replaced() {
    let mut machine = Machine::new();
    let folder = "/run/host/usr/share/vulkan/icd.d";
    fs::create_dir_all(machine.path(&format!("system{folder}"))).expect("folders");
    let text =
        r#"{"file_format_version": "1.0.1", "ICD": {"library_path": "libvulkan_ofhost.so", "api_version": "1.3.0"}}"#;
    machine.file(&format!("system{folder}/ofhost_icd.json"), text);
    machine.variable("VK_DRIVER_FILES", format!("{folder}/ofhost_icd.json"));
    if !machine.in_made_up_system(&["/run"]) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.not-opened"));
    let findings = explained.findings();
    assert!(findings.contains("of the host, which is another system"), "{findings}");
    let advice = explained.advice();
    assert!(
        advice.contains("unset VK_DRIVER_FILES") && !advice.contains("einstall"),
        "{advice}"
    );
}

#[test]
fn a_needed_library_in_a_file_system_that_forbids_programs_is_named() {
    let mut machine = Machine::new();
    let folder = driver_with_library_in_variable(&mut machine);
    let script = "mount -t tmpfs -o noexec none /mnt && cp \"$0\"/* /mnt && mount --move /mnt \"$0\"";
    if !after_script(&mut machine, script, &folder) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.not-opened"));
    let findings = explained.findings();
    let wanted = format!(
        "{folder}/libvkltneeded.so, which libvkltuser.so needs: it is in a file system that is mounted with noexec"
    );
    assert!(findings.contains(&wanted), "{findings}");
    let wanted = format!(
        "Install the driver and its libraries in another file system, or mount this one without noexec: mount -o remount,exec {folder}"
    );
    assert!(explained.advises(&wanted), "{}", explained.advice());
    // Another folder of the variable has the library too, so the driver works without the first folder.
    let other = machine.path("other").to_str().expect("plain").to_owned();
    fs::create_dir(&other).expect("a folder");
    fs::copy(
        format!("{folder}/libvkltneeded.so"),
        format!("{other}/libvkltneeded.so"),
    )
    .expect("copied");
    machine.variable("LD_LIBRARY_PATH", format!("{folder}:{other}"));
    let wanted = format!(
        "Take {folder} out of LD_LIBRARY_PATH, or mount this one without noexec: mount -o remount,exec {folder}. For one program: \
         LD_LIBRARY_PATH={other} PROGRAM"
    );
    assert_eq!(machine.explain().advice(), wanted);
    machine.start_with(Vec::new());
    assert!(!machine.explain().codes().contains(&"driver.not-opened"));
}

#[test]
fn a_folder_for_temporary_files_that_is_full_prevents_nothing() {
    let mut machine = Machine::new();
    good(&mut machine);
    let folder = machine.path("full").to_str().expect("plain").to_owned();
    fs::create_dir(&folder).expect("a folder");
    let script =
        "mount -t tmpfs -o size=8k none \"$0\" && { head -c 9000 /dev/zero >\"$0/file\" 2>/dev/null || true; }";
    if !after_script(&mut machine, script, &folder) {
        return;
    }
    machine.variable("TMPDIR", folder);
    let library = library();
    let library = library.to_str().expect("plain");
    let program = vkloader();
    for words in [&[][..], &["--", program, "probe", "libvulkan.so.1"]] {
        let explained = machine.explain_with(&[&["--library", library], words].concat());
        assert_eq!((explained.code, explained.devices()), (0, vec!["one"]), "{words:?}");
    }
}

#[test]
fn a_folder_of_manifests_that_this_user_may_not_read_is_named() {
    let mut machine = Machine::new();
    good(&mut machine);
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the owner may");
    let folder = machine.path("data/vulkan/icd.d");
    allow(&folder, 0o700);
    if !machine.unprivileged() {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "search.folder-closed"));
    let wanted = format!("Let this user read the folder: # chmod o+rx {}", folder.display());
    assert!(explained.advises(&wanted), "{}", explained.advice());
    allow(&folder, 0o755);
    // The mock driver may not write its journal as this user, so the driver has no device. The loader still finds the driver.
    let codes = machine.explain().report["dropped"].to_string();
    assert!(
        !codes.contains("search.folder-closed") && !codes.contains("driver.none-installed"),
        "{codes}"
    );
    // A parent of the manifest folder is closed, so the content of the manifest folder is unknown.
    allow(&machine.path("data"), 0o700);
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "search.folder-closed"));
    let wanted = format!(
        "Let this user search the folder: # chmod o+x {}",
        machine.path("data").display()
    );
    assert!(explained.advises(&wanted), "{}", explained.advice());
    assert_eq!(
        explained
            .codes()
            .iter()
            .filter(|code| **code == "search.folder-closed")
            .count(),
        1
    );
    allow(&machine.path("data"), 0o755);
}

/// An unprivileged user has the variable `HOME` of another user, whose home folder is closed. The loader cannot read the driver's manifest.
#[test]
fn a_closed_manifest_comes_before_files_in_the_closed_home_of_another_user() {
    let mut machine = Machine::new();
    let manifest = machine.driver("good", "device one");
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the owner may");
    let home = machine.path("home");
    fs::create_dir(&home).expect("a folder");
    allow(&home, 0o700);
    allow(&manifest, 0o600);
    machine.variable("HOME", home.to_str().expect("plain"));
    for name in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
        machine.variable(name, "");
    }
    if !machine.unprivileged() {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "file.not-opened"));
    let wanted = format!("Give the user read permission: # chmod o+r {}", manifest.display());
    assert!(explained.advises(&wanted), "{}", explained.advice());
    let dropped = explained.report["dropped"].as_array().expect("a list");
    let settings = dropped.iter().find(|one| one["subject"] == "settings file");
    let settings = settings.expect("the loader looks for settings in the home folder");
    let text = |key: &str| settings[key].as_str().unwrap_or_default();
    assert!(
        text("reason").ends_with("it is unknown whether the file exists."),
        "{settings:#}"
    );
    assert!(
        text("advice").starts_with("Set HOME to the home folder"),
        "{settings:#}"
    );
    allow(&manifest, 0o644);
    assert!(!machine.explain().codes().contains(&"driver.none-installed"));
}

/// A driver compiles code, and the system forbids executable memory, as for services with `MemoryDenyWriteExecute=`.
#[test]
fn a_driver_that_may_not_execute_its_code_is_not_blamed() {
    let mut machine = Machine::new();
    let start = "#include <stdlib.h>\n#include <sys/prctl.h>\n#include <unistd.h>\n\
        int main(int n, char **v) { if (prctl(65, 1, 0, 0, 0)) return 9; execvp(v[1], v + 1); return 8; }\n";
    let start = machine.c_program(start);
    let header = "#include <sys/mman.h>\n";
    let text = "{ unsigned char *m = mmap(0, 4096, 3, 0x22, -1, 0); *m = 0xC3; mprotect(m, 4096, 5); ((void (*)(void))m)(); return -3; }\n";
    compile(
        &machine,
        BAD,
        &format!("{header}{DRIVER}{text}int vklt_new(void) {{ return 0; }}\n"),
        &[],
    );
    machine.manifest("bad", &machine.path(BAD), "");
    if !cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
        return crate::machine::skip("the code of the driver is for x86");
    }
    assert_ne!(machine.explain().first(), "program.crashed");
    if !machine.start_with(vec![start]) {
        return;
    }
    let explained = machine.explain();
    assert_eq!(
        explained.first(),
        "program.crashed",
        "{:#}",
        explained.report["dropped"]
    );
    let reason = explained.report["dropped"][0]["reason"].to_string();
    assert!(reason.contains("may not make memory executable"), "{reason}");
    assert!(explained.findings().contains("PR_SET_MDWE"), "{}", explained.findings());
    let advice = explained.advice();
    assert!(advice.contains("MemoryDenyWriteExecute=no"), "{advice}");
    assert!(!advice.contains("VK_LOADER_DRIVERS_DISABLE"), "{advice}");
}
