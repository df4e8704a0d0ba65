//! `vkloader explain` on machines with exactly one problem each. The first remedy must solve the problem.

mod machine;

use machine::{Machine, built, library, skip, vkloader};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn devices_come_with_driver_manifest_and_order() {
    let machine = Machine::new();
    let manifest = machine.driver("good", "device one\ndevice two");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.devices()), (0, vec!["one", "two"]));
    let first = &explained.report["devices"][0];
    assert_eq!(first["manifest"].as_str(), manifest.to_str());
    assert_eq!(first["order"], "the order in which drivers report them");
    assert!(
        explained.report["loader"]["path"]
            .as_str()
            .is_some_and(|path| path.contains("libvulkan"))
    );
}

#[test]
fn no_driver_is_installed() {
    let explained = Machine::new().explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.none-installed"));
    // The remedy mentions the drivers of this machine, if there are any, because the test hides them from the search.
    let has_any = std::fs::read_dir("/usr/share/vulkan/icd.d").is_ok_and(|mut files| files.next().is_some());
    let advised = if has_any {
        "unset XDG_DATA_DIRS"
    } else {
        "mesa-vulkan-drivers"
    };
    assert!(explained.advice().contains(advised), "{}", explained.advice());
    assert!(explained.findings().contains("vulkan/icd.d"));
}

#[test]
fn a_manifest_for_the_other_word_size() {
    let machine = Machine::new();
    let other = if cfg!(target_pointer_width = "64") { "32" } else { "64" };
    let member = format!(r#", "library_arch": "{other}""#);
    // If the library is for the program, only the member is wrong.
    let whole = built("libmock_driver.so");
    for (library, advice) in [
        (Path::new("/nowhere/libother.so"), "word size"),
        (&whole, "Remove the member library_arch from"),
    ] {
        machine.manifest("other", library, &member);
        let explained = machine.explain();
        assert_eq!((explained.code, explained.first()), (1, "driver-manifest.architecture"));
        assert!(explained.advice().contains(advice), "{}", explained.advice());
    }
}

#[test]
fn the_library_is_missing() {
    let machine = Machine::new();
    machine.manifest("gone", "/nowhere/libgone.so".as_ref(), "");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.not-opened"));
    assert!(
        explained.findings().contains("/nowhere/libgone.so is not there"),
        "{}",
        explained.findings()
    );
    assert!(explained.advice().contains("Reinstall the package"));
}

#[test]
fn a_dependency_of_a_dependency_is_missing() {
    let machine = Machine::new();
    let folder = machine.path("libraries");
    let compile = |name: &str, needs: &[&str]| {
        let mut command = Command::new("cc");
        command
            .args([
                "-shared",
                "-x",
                "c",
                "/dev/null",
                "-Wl,--no-as-needed",
                "-Wl,-rpath,$ORIGIN",
                "-L",
            ])
            .arg(&folder);
        command.arg("-o").arg(folder.join(format!("lib{name}.so")));
        command.args(needs.iter().map(|name| format!("-l{name}")));
        assert!(command.status().expect("a compiler").success());
    };
    compile("vkltdeepest", &[]);
    compile("vkltmiddle", &["vkltdeepest"]);
    compile("vkltdriver", &["vkltmiddle", "vkltdeepest"]);
    fs::remove_file(folder.join("libvkltdeepest.so")).expect("it was just made");
    machine.manifest("broken", &folder.join("libvkltdriver.so"), "");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.not-opened"));
    assert_eq!(explained.advice(), "Install the packages that bring libvkltdeepest.so.");
    assert!(
        explained.findings().contains("libvkltmiddle.so needs"),
        "{}",
        explained.findings()
    );
}

#[test]
fn a_file_that_this_user_may_not_read() {
    let mut machine = Machine::new();
    let manifest = machine.driver("closed", "device one");
    fs::set_permissions(&manifest, fs::Permissions::from_mode(0o600)).expect("the owner may");
    if !machine.unprivileged() {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "file.not-opened"));
    assert!(explained.advice().contains("read permission"));
}

#[test]
fn broken_json() {
    let machine = Machine::new();
    machine.file("data/vulkan/icd.d/broken.json", "{\"ICD\": ");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "file.invalid-json"));
    assert!(explained.advice().contains("Correct the file"));
}

#[test]
fn a_forgotten_variable_wins() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.variable("VK_ICD_FILENAMES", "/nowhere/old.json");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "variable.no-match"));
    assert!(explained.advice().contains("unset VK_ICD_FILENAMES"));
}

#[test]
fn a_filter_that_matches_nothing() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.variable("VK_LOADER_DRIVERS_SELECT", "nvidia*");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "variable.no-match"));
    assert!(explained.advice().contains("unset VK_LOADER_DRIVERS_SELECT"));
    explained.found("driver-manifest.not-selected");
}

#[test]
fn a_filter_that_takes_the_driver_away() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.variable("VK_LOADER_DRIVERS_DISABLE", "other,*GOOD*");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver-manifest.disabled"));
    let findings = explained.findings();
    assert!(
        findings.contains("*GOOD* in VK_LOADER_DRIVERS_DISABLE matches it"),
        "{findings}"
    );
}

#[test]
fn a_portability_driver() {
    let machine = Machine::new();
    machine.driver("odd", "device one");
    machine.manifest(
        "odd",
        &machine.path("libraries/libmock_odd.so"),
        r#", "is_portability_driver": true"#,
    );
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver-manifest.portability"));
    assert!(explained.advice().contains("VK_KHR_portability_enumeration"));
}

#[test]
fn a_driver_that_crashes() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    machine.driver("bad", "crash vkCreateInstance");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "program.crashed"));
    let reason = explained.report["dropped"][0]["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("signal 6") && reason.contains("libmock_bad.so"),
        "{reason}"
    );
    let findings = explained.findings();
    assert!(findings.contains("vkCreateInstance of "), "{findings}");
    assert!(explained.advice().contains("libmock_bad.so"));
}

#[test]
fn a_driver_that_hangs() {
    steady::with_more_time(|factor| {
        let mut machine = Machine::new();
        machine.driver("slow", "hang vkCreateInstance");
        let seconds = 8 * factor;
        machine.argument("--timeout").argument(seconds.to_string());
        let explained = machine.explain();
        assert_eq!((explained.code, explained.first()), (1, "program.hung"));
        let reason = explained.report["dropped"][0]["reason"].as_str().expect("a reason");
        assert!(
            reason.contains(&format!("within {seconds} s in vkCreateInstance of "))
                && reason.contains("libmock_slow.so"),
            "{reason}"
        );
    });
}

#[test]
fn a_driver_that_refuses_and_what_it_looked_for() {
    let machine = Machine::new();
    let folder = machine.path("libraries");
    let source = machine.file(
        "driver.c",
        "#include <dlfcn.h>\n#include <string.h>\n\
         void *vk_icdGetInstanceProcAddr(void *instance, const char *name) { dlopen(\"libvklt-companion.so.1\", 1); return 0; }\n",
    );
    let library = folder.join("libvkltrefuses.so");
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(source)
        .status();
    assert!(status.expect("a compiler").success());
    machine.manifest("refuses", &library, "");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.no-global-function"));
    let advice = explained.advice();
    assert!(
        advice.starts_with("Install the packages that bring libvklt-companion.so.1"),
        "{advice}"
    );
}

#[test]
fn a_layer_that_is_switched_off_and_one_whose_library_is_absent() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.layer("off");
    machine.layer("gone");
    machine.variable("OFF_off", "1");
    let explained = machine.explain();
    assert_eq!(explained.code, 0);
    let inactive = explained.report["inactive"].as_array().expect("a list");
    let off = inactive
        .iter()
        .find(|layer| layer["name"] == "VK_LAYER_off")
        .expect("it is there");
    assert_eq!(off["code"], "layer.switched-off");
    assert_eq!(off["advice"], "Unset the variable (OFF_off).");
    assert_eq!(explained.first(), "layer-library.not-opened");
    assert!(
        explained.findings().contains("/nowhere/libgone.so is not there"),
        "{}",
        explained.findings()
    );
}

#[test]
fn an_elevated_program_leaves_no_trace() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let copy = machine.path("elevated");
    steady::copy_program(vkloader().as_ref(), &copy, 0o4755);
    let mut machine = machine;
    if !machine.unprivileged() {
        return;
    }
    let library = library();
    let output = machine.run(&[
        "explain",
        "--",
        copy.to_str().expect("plain"),
        "probe",
        library.to_str().expect("plain"),
    ]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stdout);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("raised privileges") && !said.contains("ignores"),
        "{said}"
    );
    assert!(
        said.contains("it lacks what only these have: driver libmock_good.so (")
            && said.contains("-> If only the superuser can change the library, copy the manifest to"),
        "{said}"
    );
    machine.variable("VK_DRIVER_FILES", "/nowhere/own.json");
    let output = machine.run(&["explain", "--", copy.to_str().expect("plain"), "probe"]);
    let said = String::from_utf8_lossy(&output.stdout);
    let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("It also ignores VK_DRIVER_FILES"), "{said}");
    assert!(said.contains("so it lacks the drivers named there"), "{said}");
    assert!(
        said.contains("copy the manifests that VK_DRIVER_FILES names to /etc/vulkan/icd.d"),
        "{said}"
    );
    let layers = machine.path("layers");
    fs::create_dir(&layers).expect("a folder");
    fs::write(layers.join("odd.json"), "{}").expect("a file");
    machine.unset("VK_DRIVER_FILES");
    machine.variable("VK_ADD_LAYER_PATH", layers.to_str().expect("plain"));
    let output = machine.run(&["explain", "--", copy.to_str().expect("plain"), "probe"]);
    let said = String::from_utf8_lossy(&output.stdout);
    let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("It also ignores VK_ADD_LAYER_PATH, so it lacks the layers named there"),
        "{said}"
    );
    let command = format!("cp {}/*.json /etc/vulkan/explicit_layer.d/", layers.display());
    assert!(said.contains(&command), "{said}");
}

#[test]
fn a_program_is_run_with_its_arguments() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let library = library();
    let own = vkloader();
    let output = machine.run(&["explain", "--", own, "probe", library.to_str().expect("plain")]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    // The command prints the explanation after the program's output.
    assert!(
        said.contains("\"not_opened\":null") && said.contains("in which a program gets them"),
        "{said}"
    );
}

#[test]
fn two_manifests_for_one_library() {
    let machine = Machine::new();
    let first = machine.driver("good", "device one");
    let second = machine.manifest("again", &machine.path("libraries/libmock_good.so"), "");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (0, "driver.named-twice"));
    assert!(
        explained.advice().contains(first.to_str().expect("plain"))
            && explained.advice().contains(second.to_str().expect("plain"))
    );
}

#[test]
fn a_settings_file_that_wins() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.variable("XDG_DATA_HOME", machine.path("data").display().to_string());
    fs::create_dir_all(machine.path("data/vulkan/loader_settings.d")).expect("a folder");
    let settings = machine.file(
        "data/vulkan/loader_settings.d/vk_loader_settings.json",
        r#"{"file_format_version": "1.0.0", "settings": {"additional_drivers_use_exclusively": true, "additional_drivers": [{"path": "/nowhere.json"}]}}"#,
    );
    let explained = machine.explain();
    assert!(!explained.report["dropped"].to_string().contains("//loader_settings.d"));
    assert_eq!((explained.code, explained.first()), (1, "settings.active"));
    let reason = explained.report["dropped"][0]["reason"].to_string();
    assert!(reason.contains("/nowhere.json does not exist"), "{reason}");
    let name = explained.report["dropped"][0]["name"].as_str().expect("a name");
    assert_eq!(fs::canonicalize(name).ok(), fs::canonicalize(settings).ok());
}

#[test]
fn real_drivers_of_a_machine_without_a_graphics_card() {
    let mut machine = Machine::new();
    if !std::path::Path::new("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json").exists()
        || std::path::Path::new("/dev/dri").exists()
    {
        return skip("Mesa's drivers are not installed here, or there is a graphics card");
    }
    machine.variable("XDG_DATA_DIRS", "/usr/share");
    let explained = machine.explain();
    assert_eq!(explained.code, 0);
    assert!(explained.devices()[0].starts_with("llvmpipe"));
    let dropped = explained.report["dropped"].as_array().expect("a list");
    assert!(
        dropped.len() >= 3
            && dropped
                .iter()
                .all(|dropped| dropped["code"] == "driver.no-devices" || dropped["subject"] == "hardware"),
        "{dropped:?}"
    );
}

#[test]
fn a_program_that_leaves_its_group_is_ended_too() {
    let machine = Machine::new();
    let source = machine.file(
        "leaves.c",
        "#include <unistd.h>\nint main(void) { setpgid(0, getpgid(getppid())); sleep(3600); return 0; }\n",
    );
    let program = machine.path("leaves");
    let status = Command::new("cc").arg("-o").arg(&program).arg(source).status();
    assert!(status.expect("a compiler").success());
    let mut command = machine.command(&["explain", "--timeout", "1", "--", program.to_str().expect("plain")]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    steady::ending(&mut command.spawn().expect("it starts"));
}

/// A program runs in a sandbox in which only folders for temporary files are writable.
#[test]
fn a_program_in_a_sandbox() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let possible = Command::new("bwrap").args(["--ro-bind", "/", "/", "true"]).status();
    if !possible.is_ok_and(|status| status.success()) {
        return machine::skip("a program in a sandbox: bubblewrap makes none here");
    }
    // The mock driver writes a journal to this folder.
    let root = machine.path("");
    let root = root.to_str().expect("plain");
    let sandbox: Vec<&str> = "bwrap --ro-bind / / --dev /dev --proc /proc --bind"
        .split(' ')
        .collect();
    let probe = [root, root, "--", vkloader(), "probe"];
    let library = machine::library();
    let program = [&sandbox[..], &probe, &[library.to_str().expect("plain")]].concat();
    let library = library.to_str().expect("plain");
    let output = machine.run(&[&["explain", "--json", "--library", library, "--"], &program[..]].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.code() == Some(2) && said.contains("--descriptor"),
        "{said}"
    );
    let output = machine.run(&[&["explain", "--json", "--descriptor", "--"], &program[..]].concat());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["devices"][0]["name"], "one", "{report:#}");
    // A program that fails there is run again with the descriptor.
    let failing = [root, root, "--", "sh", "-c", "\"$0\" probe \"$1\"; exit 3"];
    let failing = [&sandbox[..], &failing, &[vkloader(), library]].concat();
    let output = machine.run(&[&["explain", "--json", "--"], &failing[..]].concat());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["devices"][0]["name"], "one", "{report:#}");
}

#[test]
fn a_library_that_is_no_file() {
    let machine = Machine::new();
    machine.manifest("device", "/dev/null".as_ref(), "");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.not-opened"));
    assert!(
        explained.findings().contains("/dev/null is not a file"),
        "{}",
        explained.findings()
    );
}

#[test]
fn a_library_that_is_no_loader_is_told_with_its_file() {
    let machine = Machine::new();
    let text = machine.file("libvulkan.so.1", "no library");
    let output = machine.run(&["explain", "--library", text.to_str().expect("plain")]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("libvulkan.so.1 is not a library"), "{said}");
    let output = machine.run(&["explain", "--library", "/nowhere/libvulkan.so.1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("/nowhere/libvulkan.so.1 is not there") && !said.contains("install the package"),
        "{said}"
    );
}
