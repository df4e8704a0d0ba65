//! Tests that `vkloader explain` reports the correct reason: for failed calls, ended programs, lines that drivers print, and words in
//! variables that match no driver, layer or device.

mod machine;

use machine::{Explained, Machine, in_environment_of, library, vkloader};
use std::process::Command;

/// Runs `vkloader explain` for a program that a shell starts. In the text `line`, `$P` is replaced by a command that runs `vkloader probe`
/// with the tested library.
fn of_shell(machine: &Machine, line: &str) -> Explained {
    let (own, file) = (vkloader(), library());
    let file = file.to_str().expect("plain");
    let line = line.replace("$P", "\"$0\" probe \"$1\" >/dev/null");
    let output = machine.run(&["explain", "--json", "--", "sh", "-c", &line, own, file]);
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&output.stderr)));
    Explained {
        report,
        code: output.status.code().expect("it ends by itself"),
    }
}

fn reason<'a>(explained: &'a Explained, code: &str) -> &'a str {
    explained.found(code)["reason"].as_str().expect("a text")
}

#[test]
fn how_a_program_ended_is_said_by_status_and_name() {
    let machine = Machine::new();
    machine.driver("good", "device one\ndevice.api_version 1.4.999");
    let explained = of_shell(&machine, "$P; exit 3");
    assert!(reason(&explained, "program.failed").contains("status 3"));
    // The loader sees no call after the creation of a device.
    let found = explained.found("program.failed").to_string();
    assert!(
        found.contains("vkQueueSubmit") && found.contains("VK_ERROR_DEVICE_LOST"),
        "{found}"
    );
    let explained = of_shell(&machine, "$P; exit 139");
    assert!(reason(&explained, "program.failed").contains("signal 11 (SIGSEGV)"));
    assert!(!explained.report["dropped"].to_string().contains("VK_ERROR_DEVICE_LOST"));
    let explained = of_shell(&machine, "$P; kill -SEGV $$");
    assert!(reason(&explained, "program.crashed").contains("signal 11 (SIGSEGV)"));
    let explained = of_shell(&machine, "$P; kill -TERM $$");
    assert!(reason(&explained, "program.ended").contains("signal 15 (SIGTERM)"));
    assert!(!explained.codes().contains(&"program.crashed"));
}

#[test]
fn a_driver_that_ends_the_process_is_named_with_what_switches_it_off() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.driver("bad", "exit vkCreateInstance");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "program.exited"));
    assert!(reason(&explained, "program.exited").contains("libmock_bad.so"));
    let findings = explained.findings();
    assert!(findings.contains("this was tried: 1 device can be used."), "{findings}");
    let advice = explained.advice().to_owned();
    let (_, command) = advice.split_once("VK_LOADER_DRIVERS_DISABLE=").expect("a command");
    let pattern = command.split(' ').next().expect("a word");
    machine.variable("VK_LOADER_DRIVERS_DISABLE", pattern);
    let explained = machine.explain();
    assert_eq!((explained.code, explained.devices()), (0, vec!["one"]), "{advice}");
}

#[test]
fn failed_calls_and_what_the_driver_printed_are_told() {
    let machine = Machine::new();
    machine.driver(
        "bad",
        "run vkCreateInstance echo the module is too old >&2\nfail vkCreateInstance -3",
    );
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.creation-failed"));
    let findings = explained.findings();
    assert!(findings.contains("it printed: the module is too old"), "{findings}");
    assert!(findings.contains("VK_ERROR_INITIALIZATION_FAILED"), "{findings}");
    let failed = explained.report["failed"].as_array().expect("a list");
    let of_driver = failed
        .iter()
        .find(|call| call["library"].is_string())
        .expect("the driver's call");
    assert_eq!(
        (&of_driver["name"], &of_driver["code"]),
        (&"vkCreateInstance".into(), &(-3).into())
    );
    let of_program = failed
        .iter()
        .find(|call| call["library"].is_null())
        .expect("the program's call");
    assert_eq!(of_program["result"], "VK_ERROR_INCOMPATIBLE_DRIVER");
}

#[test]
fn drivers_without_any_device_are_named_each() {
    let machine = Machine::new();
    machine.driver("first", "");
    machine.driver("second", "");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.none-has-device"));
    let findings = explained.findings();
    assert!(
        findings.contains("libmock_first.so") && findings.contains("libmock_second.so"),
        "{findings}"
    );
}

#[test]
fn a_program_without_an_instance_is_said_as_that() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let program =
        machine.c_program("#include <dlfcn.h>\nint main(int n, char **v) { return dlopen(v[1], 2) ? 0 : 1; }\n");
    let file = library();
    let output = machine.run(&["explain", "--json", "--", &program, file.to_str().expect("plain")]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["dropped"][0]["code"], "program.no-instance", "{report:#}");
    assert!(!report.to_string().contains("driver.none-installed"));
}

#[test]
fn a_layer_or_extension_that_is_missing_is_said_as_that() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let explained = of_shell(&machine, "\"$0\" probe --layer=VK_LAYER_nowhere \"$1\" >/dev/null");
    assert_eq!(explained.first(), "instance.layer-missing");
    let text = "#include <dlfcn.h>\n#include <stddef.h>\n\
        struct info { int type; const void *next; unsigned flags; const void *app; unsigned layers; const void *names; unsigned count; const char **list; };\n\
        int main(int n, char **v) { void *l = dlopen(v[1], 2); int (*create)(const struct info *, const void *, void **) = dlsym(l, \"vkCreateInstance\");\n\
        const char *name = \"VK_EXT_nowhere\"; struct info info = {1, NULL, 0, NULL, 0, NULL, 1, &name}; void *made; return create(&info, NULL, &made) ? 0 : 1; }\n";
    let program = machine.c_program(text);
    let file = library();
    let output = machine.run(&["explain", "--json", "--", &program, file.to_str().expect("plain")]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["dropped"][0]["code"], "instance.extension-missing", "{report:#}");
    assert_eq!(report["dropped"][0]["name"], "VK_EXT_nowhere", "{report:#}");
    assert!(
        report["dropped"][0]["findings"].to_string().contains("VK_EXT_nowhere"),
        "{report:#}"
    );
}

#[test]
fn words_that_match_nothing_are_findings() {
    for (name, value, word) in [
        ("VK_INSTANCE_LAYERS", "VK_LAYER_real:VK_LAYER_unreal", "VK_LAYER_unreal"),
        ("VK_LOADER_LAYERS_ENABLE", "*validaton*", "*validaton*"),
        ("VK_LOADER_DEVICE_SELECT", "type:discret", "type:discret"),
        ("VK_LOADER_DEVICE_SELECT", "dead:beef", "dead:beef"),
        ("VK_LOADER_VISIBLE_DEVICES", "name:o*,0", "0"),
        ("VK_LOADER_VISIBLE_DEVICES", "GPU-0000001,name:one", "GPU-0000001"),
        ("VK_ADD_DRIVER_FILES", "/nowhere/driver.json", "/nowhere/driver.json"),
        ("VK_LOADER_DRIVERS_DISABLE", "radeon*", "radeon*"),
        (
            "VK_LOADER_LAYERS_ORDER",
            "implicit>VK_LAYER_reel > *",
            "VK_LAYER_reel in",
        ),
    ] {
        let mut machine = Machine::new();
        machine.driver("good", "device one");
        machine.working_layer("explicit", "real", "", "");
        machine.variable(name, value);
        let explained = machine.explain();
        assert_eq!((explained.code, explained.devices()), (0, vec!["one"]), "{name}");
        let found = explained.found("variable.no-match");
        assert_eq!(found["name"], name);
        assert!(
            found["reason"].as_str().is_some_and(|reason| reason.contains(word)),
            "{found:#}"
        );
        assert!(!found["reason"].to_string().contains("VK_LAYER_real "), "{found:#}");
    }
    // The report has no finding about words that match a layer or a device.
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.working_layer("explicit", "real", "", "");
    machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_real");
    machine.variable("VK_LOADER_DEVICE_SELECT", "pci:1,name:o*");
    machine.variable("VK_LOADER_VISIBLE_DEVICES", "none,name:o*");
    machine.variable("VK_LOADER_LAYERS_ORDER", "VK_LAYER_real>implicit,~explicit~>*");
    assert!(!machine.explain().codes().contains(&"variable.no-match"));
}

#[test]
fn words_of_the_settings_file_that_match_nothing() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.working_layer("explicit", "real", "", "");
    machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_real");
    let folder = machine.path("data/vulkan/loader_settings.d");
    std::fs::create_dir_all(&folder).expect("folders");
    let settings = |words: &str, order: &str| {
        let text = format!(
            r#"{{"file_format_version": "1.0.0", "settings": {{"visible_devices": ["{words}", "name:one"],
            "layer_order": ["{order}>*"]}}}}"#
        );
        std::fs::write(folder.join("vk_loader_settings.json"), text).expect("a settings file");
    };
    settings("name:two", "VK_LAYER_reel");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.devices()), (0, vec!["one"]));
    let found = explained.report["dropped"].to_string();
    for part in [
        "visible_devices of the settings file: 'name:two' matches no device.",
        "no layer with a library has this name: layer_order in ",
    ] {
        assert_eq!(found.matches(part).count(), 1, "{part} {found}");
    }
    assert!(found.contains(r#""name":"visible_devices""#), "{found}");
    settings("type:discrete", "VK_LAYER_real");
    let codes = machine.explain();
    assert!(
        !codes.codes().contains(&"settings.no-match"),
        "{:#}",
        codes.report["dropped"]
    );
}

#[test]
fn a_layer_is_not_said_to_be_off_where_no_instance_was_made() {
    let machine = Machine::new();
    machine.working_layer("implicit", "ready", "", "");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.none-installed"));
    let layers = explained.report["inactive"].as_array().expect("a list");
    let ready = layers.iter().find(|layer| layer["name"] == "VK_LAYER_ready");
    if let Some(ready) = ready {
        assert_eq!(ready["code"], "layer.no-instance", "{ready:#}");
    } else {
        assert_eq!(explained.report["layers"][0]["name"], "VK_LAYER_ready");
    }
}

#[test]
fn a_layer_that_is_older_than_the_program_is_named() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let manifest = machine.working_layer("implicit", "old", "", "");
    let text = std::fs::read_to_string(&manifest).expect("just written");
    std::fs::write(&manifest, text.replace("\"1.4.0\"", "\"1.1.0\"")).expect("it can be written");
    let explained = of_shell(&machine, "$P");
    let found = explained.found("layer.older");
    assert_eq!(found["name"], "VK_LAYER_old");
    assert!(found["findings"].to_string().contains("Vulkan 1.1"), "{found:#}");
    assert_eq!(found["advice"], "", "the program works with the layer");
    let explained = of_shell(&machine, "$P; exit 3");
    let found = explained.found("layer.older");
    assert!(found["advice"].to_string().contains("PROGRAM"), "{found:#}");
}

#[test]
fn a_variable_comes_with_the_process_that_set_it() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let (own, file) = (vkloader(), library());
    let mut command = in_environment_of(&machine.command(&[]), "sh");
    command
        .args([
            "-c",
            "VK_LOADER_DRIVERS_SELECT=nothing* \"$0\" explain --json --library \"$1\"; exit 0",
            own,
        ])
        .arg(file);
    let output = command.output().expect("a shell");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    let findings = report["dropped"][0]["findings"].to_string();
    assert!(
        findings.contains("VK_LOADER_DRIVERS_SELECT: set by process") && findings.contains("(sh)"),
        "{findings}"
    );
}

/// Compiles a C source to a library.
fn compile(machine: &Machine, name: &str, text: &str, words: &[&str]) -> std::path::PathBuf {
    let source = machine.file(&format!("{name}.c"), text);
    let library = machine.path(&format!("libraries/lib{name}.so"));
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-fPIC", "-Wl,-rpath,$ORIGIN", "-o"])
        .arg(&library)
        .arg(source);
    command.arg("-L").arg(machine.path("libraries")).args(words);
    assert!(command.status().expect("a compiler").success());
    library
}

#[test]
fn a_library_that_lacks_a_version_of_a_symbol_is_named() {
    let machine = Machine::new();
    let versions = |text: &str| format!("-Wl,--version-script={}", machine.file("versions", text).display());
    let newer = versions("DEP_1 { };\nDEP_2 { global: dep; };\n");
    let text = "int dep(void) { return 0; }\n";
    let dependency = compile(&machine, "vkltdep", text, &[&newer]);
    let driver = compile(
        &machine,
        "vkltuser",
        "int dep(void);\nint use(void) { return dep(); }\n",
        &["-lvkltdep"],
    );
    let older = versions("DEP_1 { global: dep; };\n");
    compile(&machine, "vkltdep", text, &[&older]);
    machine.manifest("user", &driver, "");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.not-opened"));
    let findings = explained.findings();
    assert!(
        findings.contains("lacks the version DEP_2") && findings.contains("libvkltuser.so needs"),
        "{findings}"
    );
    let advice = explained.advice();
    assert!(
        advice.starts_with(dependency.to_str().expect("plain")) && advice.contains("is too old"),
        "{advice}"
    );
}

#[test]
fn a_symbol_that_no_library_has_is_named() {
    let machine = Machine::new();
    let driver = compile(
        &machine,
        "vkltsymbol",
        "extern int nowhere_to_be_found;\nint *use = &nowhere_to_be_found;\n",
        &[],
    );
    machine.manifest("symbol", &driver, "");
    let explained = machine.explain();
    assert_eq!(explained.first(), "driver.not-opened");
    assert!(
        explained.findings().contains("needs the symbol nowhere_to_be_found"),
        "{}",
        explained.findings()
    );
}

#[test]
fn a_library_that_is_cut_and_one_for_another_processor() {
    let machine = Machine::new();
    let manifest = machine.driver("cut", "device one");
    let library = machine.path("libraries/libmock_cut.so");
    let bytes = std::fs::read(&library).expect("just copied");
    std::fs::write(&library, &bytes[..bytes.len() / 8]).expect("it can be written");
    let explained = machine.explain();
    assert!(
        explained.findings().contains("libmock_cut.so is cut: it has"),
        "{:#}",
        explained.report["dropped"]
    );
    assert!(explained.advice().starts_with("Reinstall"), "{}", explained.advice());
    std::fs::write(&library, "").expect("it can be written");
    assert!(machine.explain().findings().contains("is not a library: 0 bytes"));
    let mut other = bytes.clone();
    // Changes the processor in the ELF header to one on which no test runs.
    other[18] = 0xF7;
    std::fs::write(&library, other).expect("it can be written");
    let explained = machine.explain();
    assert!(
        explained.findings().contains("libmock_cut.so is for machine"),
        "{:#}",
        explained.report["dropped"]
    );
    assert!(explained.advice().contains("libmock_cut.so"), "{}", explained.advice());
    // Adds the same driver for this processor. The report then omits the driver for the other processor.
    let folder = machine.path("libraries/own");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("libmock_cut.so"), &bytes).expect("it can be written");
    std::fs::copy(
        machine.path("libraries/libmock_cut.conf"),
        folder.join("libmock_cut.conf"),
    )
    .expect("just written");
    machine.manifest("cut.own", &folder.join("libmock_cut.so"), "");
    let explained = machine.explain();
    assert_eq!(
        (explained.code, explained.codes()),
        (0, vec![]),
        "{:#} {manifest:?}",
        explained.report["dropped"]
    );
}

#[test]
fn a_folder_that_may_not_be_searched_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let mut machine = Machine::new();
    let folder = machine.path("libraries/closed");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::copy(machine::built("libmock_driver.so"), folder.join("libclosed.so")).expect("cargo built it");
    machine.manifest("closed", &folder.join("libclosed.so"), "");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).expect("the owner may");
    if !machine.unprivileged() {
        return;
    }
    let explained = machine.explain();
    assert_eq!(explained.first(), "driver.not-opened");
    let expected = format!("this user may not search the folder {}", folder.display());
    assert!(explained.findings().contains(&expected), "{}", explained.findings());
    assert!(
        explained.advice().ends_with(&format!("chmod o+x {}", folder.display())),
        "{}",
        explained.advice()
    );
}

/// After a key such as Ctrl-C, a terminal sends a signal to all its processes. The program handles the signal, and `vkloader` still prints
/// the report.
#[test]
fn signals_of_the_terminal_are_for_the_program() {
    use std::io::Write;
    use std::process::Stdio;
    if Command::new("script").arg("--version").output().is_err() {
        return machine::skip("no program script, which makes a terminal");
    }
    let machine = Machine::new();
    machine.driver("good", "device one");
    let (own, file, ready, report) = (vkloader(), library(), machine.path("ready"), machine.path("report"));
    let inner = machine.file(
        "inner.sh",
        format!(
            "'{own}' probe '{}' >/dev/null\ntrap 'exit 7' INT\n: >'{}'\nwhile :; do sleep 0.05; done\n",
            file.display(),
            ready.display()
        ),
    );
    let line = format!(
        "'{own}' explain --json -- sh '{}' >'{}'",
        inner.display(),
        report.display()
    );
    // A test that runs in the background of a shell inherits an ignored SIGINT, which the programs of this test could not catch.
    let mut command = in_environment_of(&machine.command(&[]), "env");
    command.args(["--default-signal=INT", "script", "-qec", &line, "/dev/null"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    steady::eventually("the program", || ready.exists());
    let mut keys = child.stdin.take().expect("a pipe");
    keys.write_all(b"\x03").expect("a key");
    steady::ending(&mut child);
    let text = std::fs::read(report).expect("a report after the program");
    let report: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(
        (&report["ending"]["by"], &report["ending"]["number"]),
        (&"status".into(), &7.into()),
        "{report:#}"
    );
    assert_eq!(report["devices"][0]["name"], "one");
}

#[test]
fn what_a_program_leaves_in_another_session_ends_with_it() {
    let machine = Machine::new();
    let note = machine.path("number");
    let line = format!(
        "setsid sh -c 'echo $$ >{0}.new; mv {0}.new {0}; exec sleep 3600' & sleep 3600",
        note.display()
    );
    let mut child = machine
        .command(&["explain", "--", "sh", "-c", &line])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    steady::eventually("the other session", || note.exists());
    let number = std::fs::read_to_string(&note).expect("a number");
    assert!(
        Command::new("kill")
            .arg(child.id().to_string())
            .status()
            .is_ok_and(|status| status.success())
    );
    steady::ending(&mut child);
    let status = format!("/proc/{}/status", number.trim());
    steady::eventually("its end", || {
        std::fs::read_to_string(&status).map_or(true, |status| status.contains("State:\tZ"))
    });
}
