//! Set-ups of launchers and containers: variables that only the program has, paths from before an update, and remedies with unusual paths.

use super::{Machine, Row, good, try_all};
use crate::machine::{Explained, library, vkloader};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Settings of the mock driver for a card with the PCI address 0000:03:00.0.
const CARD: &str =
    "device one\ndevice.vendor 4098\ndevice.id 29631\ndevice.extension VK_EXT_pci_bus_info\ndevice.pci 0 3 0 0";

/// Returns the absolute path of a file on the machine.
fn path(machine: &Machine, file: &str) -> String {
    machine.path(file).to_str().expect("plain").into()
}

/// Moves the folder of manifests to a data folder whose name needs quotes in a shell.
fn in_folder_with_quotes(machine: &mut Machine) -> String {
    let folder = path(machine, "My Games/it's");
    fs::create_dir_all(&folder).expect("a folder");
    fs::rename(machine.path("data/vulkan"), format!("{folder}/vulkan")).expect("moved");
    machine.variable("XDG_DATA_HOME", folder.clone());
    folder
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "an update gave the manifest that a variable names another name",
        |machine| {
            good(machine);
            let folder = machine.path("data/vulkan/icd.d");
            fs::rename(folder.join("good.json"), folder.join("card_icd.json")).expect("renamed");
            let old = path(machine, "data/vulkan/icd.d/card_icd.x86_64.json");
            machine.variable("VK_ICD_FILENAMES", old);
        },
        "variable.no-match",
    )
    .about("card_icd.x86_64.json in VK_ICD_FILENAMES leads to no manifest")
    .remedy("Name the file that exists: VK_ICD_FILENAMES=", |machine| {
        let new = path(machine, "data/vulkan/icd.d/card_icd.json");
        machine.variable("VK_ICD_FILENAMES", new);
    }),
    Row::new(
        "a variable names a manifest for each word size, and one driver is broken",
        |machine| {
            machine.manifest("card_icd.x86_64", "/nowhere/libcard.so".as_ref(), "");
            let start = path(machine, "data/vulkan/icd.d/card_icd");
            machine.variable("VK_ICD_FILENAMES", format!("{start}.i686.json:{start}.x86_64.json"));
        },
        "driver.not-opened",
    )
    .about("/nowhere/libcard.so")
    .remedy("Reinstall the package", |machine| {
        machine.driver("card_icd.x86_64", "device one");
    }),
    Row::new(
        "a manifest names its library in the way of Windows",
        |machine| {
            good(machine);
            machine.manifest("good", r"..\\..\\..\\libraries\\libmock_good.so".as_ref(), "");
        },
        "driver.not-opened",
    )
    .about("only / separates folders here")
    .remedy("Write / in place of", |machine| {
        machine.manifest("good", "../../../libraries/libmock_good.so".as_ref(), "");
    }),
    Row::new(
        "a manifest names its library with the sign for a home folder",
        |machine| {
            good(machine);
            machine.manifest("good", "~/lib/libmock_good.so".as_ref(), "");
        },
        "driver.not-opened",
    )
    .about("nothing replaces ~ by a home folder")
    .remedy("Write the whole path in library_path of", |machine| {
        let library = machine.path("libraries/libmock_good.so");
        machine.manifest("good", &library, "");
    }),
];

#[test]
fn each_cause_in_a_launcher_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}

/// Runs `vkloader explain` for the probe, which a shell starts with the variables in `variables`.
fn of_script(machine: &Machine, variables: &str) -> Explained {
    let (own, library) = (vkloader(), library());
    let library = library.to_str().expect("plain");
    let line = format!("{variables} exec \"$0\" probe \"$1\"");
    of_program(machine, &["sh", "-c", &line, own, library])
}

/// Runs `vkloader explain` for a program with its arguments.
fn of_program(machine: &Machine, program: &[&str]) -> Explained {
    let output = machine.run(&[&["explain", "--json", "--"], program].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let report = text.find("{\n").map(|at| &text[at..]).unwrap_or_default();
    let report = serde_json::from_str(report)
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&output.stderr)));
    Explained {
        report,
        code: output.status.code().expect("it ends by itself"),
    }
}

#[test]
fn variables_count_as_the_program_has_them_and_not_as_vkloader_has_them() {
    let mut machine = Machine::new();
    machine.driver("good", CARD);
    for (variable, value) in [
        ("DRI_PRIME", "pci-0000_99_00_0"),
        ("MESA_VK_DEVICE_SELECT", "10de:1234"),
    ] {
        let explained = of_script(&machine, &format!("{variable}={value}"));
        let found = explained.found("variable.no-match");
        assert_eq!(found["name"], variable);
        machine.variable(variable, value);
        let explained = of_script(&machine, &format!("unset {variable};"));
        assert_eq!((explained.code, explained.codes()), (0, vec![]), "{variable}");
        machine.unset(variable);
    }
    let explained = of_script(&machine, "VK_LOADER_DEVICE_SELECT=type:virtual");
    let found = explained.found("variable.no-match");
    let facts = found["findings"].to_string();
    assert!(
        facts.contains("set by the program or a script that starts it"),
        "{facts}"
    );
    assert!(
        found["advice"].as_str().is_some_and(|advice| advice
            .ends_with("remove VK_LOADER_DEVICE_SELECT from the script or command that starts the program")),
        "{found:#}"
    );
}

#[test]
fn folders_of_libraries_count_as_the_program_has_them() {
    let mut machine = Machine::new();
    super::users::other_library_in_front(&mut machine);
    let folder = path(&machine, "conda");
    machine.unset("LD_LIBRARY_PATH");
    let explained = of_script(&machine, &format!("LD_LIBRARY_PATH={folder}"));
    assert_eq!(explained.first(), "driver.not-opened");
    let wanted = format!("Take {folder} out of LD_LIBRARY_PATH");
    assert!(explained.advice().starts_with(&wanted), "{}", explained.advice());
    // The shell of vkloader sets the variable, and vkloader adds its own folder for the program.
    machine.variable("LD_LIBRARY_PATH", folder);
    let facts = of_script(&machine, "").found("driver.not-opened")["findings"].to_string();
    assert!(facts.contains("LD_LIBRARY_PATH: set by process"), "{facts}");
}

#[test]
fn the_lines_of_scripts_that_set_two_variables_are_named() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    machine.driver("idle", "");
    let idle = path(&machine, "data/vulkan/icd.d/idle.json");
    machine.file(
        "settings",
        format!("export VK_DRIVER_FILES={idle}\nexport VK_ICD_FILENAMES={idle}\n"),
    );
    machine.file("run", ". \"$(dirname \"$0\")/settings\"\nexec \"$1\" probe \"$2\"\n");
    let (own, library) = (vkloader(), library());
    let script = path(&machine, "run");
    let explained = of_program(&machine, &["sh", &script, own, library.to_str().expect("plain")]);
    let advice = explained.found("search.replaced")["advice"].to_string();
    let settings = path(&machine, "settings");
    for (line, name) in [(1, "VK_DRIVER_FILES"), (2, "VK_ICD_FILENAMES")] {
        let wanted = format!("remove {name} from line {line} of {settings}");
        assert!(advice.contains(&wanted), "{advice}");
    }
}

#[test]
fn the_value_that_switches_a_layer_on_is_told_if_the_variable_has_another() {
    let mut machine = Machine::new();
    good(&mut machine);
    machine.working_layer(
        "implicit",
        "post",
        "",
        r#", "enable_environment": {"ENABLE_POST": "1"}"#,
    );
    let inactive = |machine: &Machine| machine.explain().report["inactive"].to_string();
    assert!(
        inactive(&machine).contains("is unset or has another value"),
        "{}",
        inactive(&machine)
    );
    machine.variable("ENABLE_POST", "true");
    let wanted = "because ENABLE_POST is true, but must be 1.";
    assert!(inactive(&machine).contains(wanted), "{}", inactive(&machine));
    machine.variable("ENABLE_POST", "1");
    assert_eq!(inactive(&machine), "[]");
}

/// Compiles a library from a C source.
fn compile(machine: &Machine, library: &Path, text: &str, words: &[&str]) {
    let source = machine.file("library.c", text);
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-fPIC", "-Wl,-z,now", "-o"])
        .arg(library)
        .arg(source)
        .args(words);
    assert!(command.status().expect("a compiler").success());
}

#[test]
fn the_limit_of_the_program_is_told_and_not_that_of_vkloader() {
    let machine = Machine::new();
    let library = machine.path("libraries/liblarge.so");
    compile(&machine, &library, "char large[1 << 30];\n", &[]);
    machine.manifest("large", &library, "");
    let explained = of_script(&machine, "ulimit -v 1000000;");
    assert_eq!(explained.first(), "driver.not-opened");
    let findings = explained.findings();
    assert!(findings.contains("limited to 1000000 KiB (RLIMIT_AS)"), "{findings}");
    assert!(
        explained.advice().contains("ulimit -v unlimited"),
        "{}",
        explained.advice()
    );
}

#[test]
fn a_library_of_another_system_in_a_folder_of_a_variable_is_named() {
    let mut machine = Machine::new();
    let folder = path(&machine, "other system");
    fs::create_dir(&folder).expect("a folder");
    let needed = Path::new(&folder).join("libvkltneeded.so");
    let user = machine.path("libraries/libvkltuser.so");
    compile(&machine, &needed, "int needed;\n", &["-Wl,-soname,libvkltneeded.so"]);
    compile(
        &machine,
        &user,
        "int user;\n",
        &["-Wl,--no-as-needed", needed.to_str().expect("plain")],
    );
    let text = "extern int vklt_of_other_system;\nint *use = &vklt_of_other_system;\n";
    compile(&machine, &needed, text, &["-Wl,-soname,libvkltneeded.so"]);
    machine.manifest("user", &user, "");
    machine.variable("LD_LIBRARY_PATH", folder.clone());
    let explained = machine.explain();
    assert_eq!(explained.first(), "driver.not-opened");
    let wanted = format!(
        "Take {folder} out of LD_LIBRARY_PATH: its libvkltneeded.so is for another system. For one program: env -u LD_LIBRARY_PATH PROGRAM"
    );
    assert!(explained.advises(&wanted), "{}", explained.advice());
}

/// Sets the permissions of a file or folder.
fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the owner may");
}

#[test]
fn a_closed_folder_comes_before_the_variable_that_names_a_file_in_it() {
    let mut machine = Machine::new();
    good(&mut machine);
    let folder = machine.path("own");
    fs::create_dir(&folder).expect("a folder");
    fs::rename(machine.path("data/vulkan/icd.d/good.json"), folder.join("good.json")).expect("moved");
    machine.variable("VK_DRIVER_FILES", folder.join("good.json").to_str().expect("plain"));
    allow(&folder, 0o700);
    if !machine.unprivileged() {
        return;
    }
    let explained = machine.explain();
    assert_eq!(explained.first(), "file.not-opened");
    let wanted = format!("Let this user search the folder: # chmod o+x {}", folder.display());
    assert!(explained.advises(&wanted), "{}", explained.advice());
    allow(&folder, 0o755);
    assert!(!machine.explain().codes().contains(&"file.not-opened"));
}

#[test]
fn a_needed_library_that_this_user_may_not_read_is_named() {
    let mut machine = Machine::new();
    super::users::other_library_in_front(&mut machine);
    machine.unset("LD_LIBRARY_PATH");
    let needed = machine.path("system/libvkltplain.so");
    allow(&needed, 0o600);
    if !machine.unprivileged() {
        return;
    }
    let explained = machine.explain();
    assert_eq!(explained.first(), "driver.not-opened");
    let wanted = format!("Let this user read the file: # chmod o+r {}", needed.display());
    assert!(explained.advises(&wanted), "{}", explained.advice());
    allow(&needed, 0o644);
    assert!(!machine.explain().codes().contains(&"driver.not-opened"));
}

#[test]
fn a_program_without_the_variable_of_the_trace_comes_with_the_reason() {
    let mut machine = Machine::new();
    good(&mut machine);
    let (own, library) = (vkloader(), library());
    let library = library.to_str().expect("plain");
    let output = machine.run(&["explain", "--", "env", "-i", own, "probe", library]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("Something that starts the program removes variables"),
        "{text}"
    );
    let launcher = machine.path("launch");
    machine.file("launch", format!("#!/bin/sh\nexec env -i {own} probe {library}\n"));
    allow(&launcher, 0o755);
    let output = machine.run(&["explain", "--", launcher.to_str().expect("plain")]);
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = format!("Line 2 of {} removes the variables", launcher.display());
    assert!(text.contains(&wanted), "{text}");
}

/// Returns the part of a remedy that begins with the command `name`.
fn command(explained: &Explained, name: &str) -> String {
    let advice = explained.advice();
    let at = advice.find(name).unwrap_or_else(|| panic!("no {name} in {advice}"));
    advice[at..].into()
}

/// Runs a command in a shell.
fn run(command: &str) {
    let status = Command::new("sh").args(["-c", command]).status().expect("a shell");
    assert!(status.success(), "{command}");
}

#[test]
fn commands_with_unusual_paths_can_be_copied_into_a_shell() {
    let mut machine = Machine::new();
    machine.manifest("old", "/nowhere/libold.so".as_ref(), "");
    let folder = in_folder_with_quotes(&mut machine);
    let explained = machine.explain();
    assert_eq!(explained.first(), "driver.not-opened");
    run(&command(&explained, "rm "));
    assert!(!fs::exists(format!("{folder}/vulkan/icd.d/old.json")).expect("it can be examined"));

    let mut machine = Machine::new();
    good(&mut machine);
    let manifest = machine.path("data/vulkan/icd.d/good.json");
    fs::rename(&manifest, manifest.with_file_name("good.json.dpkg-old")).expect("renamed");
    in_folder_with_quotes(&mut machine);
    let explained = machine.explain();
    assert_eq!(explained.first(), "driver.none-installed");
    run(&command(&explained, "mv "));
    assert_eq!(machine.explain().devices(), ["one"]);

    // The name of the manifest in the remedy contains a blank. `vkloader` tests the variable before it prints the remedy.
    let mut machine = Machine::new();
    good(&mut machine);
    machine.driver("a bad", "crash vkCreateInstance");
    let explained = machine.explain();
    let advice = explained.advice();
    assert!(
        advice.contains("VK_LOADER_DRIVERS_DISABLE='a bad.json' PROGRAM"),
        "{advice}"
    );
    assert!(
        explained.findings().contains("this was tried"),
        "{}",
        explained.findings()
    );
}

/// Compiles a program that creates an instance with an extension. The program's arguments are the library and the extension.
pub(super) fn with_extension(machine: &Machine) -> String {
    let text = "#include <dlfcn.h>\n#include <stddef.h>\n\
        struct instance { int type; const void *next; unsigned flags; const void *app; unsigned layers; const void *names; unsigned count;\n\
        const char **list; };\n\
        int main(int n, char **v) { void *l = dlopen(v[1], 2); if (!l || n < 3) return 9;\n\
        int (*create)(const void *, const void *, void **) = dlsym(l, \"vkCreateInstance\");\n\
        const char *name = v[2]; struct instance i = {1, NULL, 0, NULL, 0, NULL, 1, &name}; void *made;\n\
        return create(&i, NULL, &made) ? 2 : 0; }\n";
    machine.c_program(text)
}

#[test]
fn an_extension_of_a_driver_or_layer_that_is_left_out_is_told_with_the_reason() {
    /// An extension that the loader knows.
    const KNOWN: &str = "VK_EXT_swapchain_colorspace";
    /// An extension that the loader does not know.
    const UNKNOWN: &str = "VK_EXT_vklt_rich";
    let mut machine = Machine::new();
    good(&mut machine);
    let program = with_extension(&machine);
    let library = library();
    let asked = |machine: &Machine, extension: &str| {
        let words = ["--", &program, library.to_str().expect("plain"), extension];
        machine.explain_with(&words)
    };
    let reason = |explained: &Explained| explained.report["dropped"][0]["reason"].to_string();
    for (name, advice) in [(KNOWN, "Update the driver"), (UNKNOWN, "belong to vkCreateDevice")] {
        let explained = asked(&machine, name);
        assert_eq!(explained.first(), "instance.extension-missing");
        let words = format!("asked for {name}, which no driver or layer has,");
        assert!(reason(&explained).contains(&words), "{}", reason(&explained));
        assert!(explained.advice().contains(advice), "{}", explained.advice());
    }

    machine.driver("rich", &format!("device two\ninstance_extension {KNOWN} 1"));
    machine.variable("VK_LOADER_DRIVERS_DISABLE", "rich*");
    let explained = asked(&machine, KNOWN);
    let words = "no driver or layer in use has,";
    assert!(reason(&explained).contains(words), "{}", reason(&explained));
    let words = "left out, and may have the extension: ";
    assert!(explained.findings().contains(words), "{}", explained.findings());
    let words = "unset VK_LOADER_DRIVERS_DISABLE";
    assert!(explained.advice().contains(words), "{}", explained.advice());
    machine.unset("VK_LOADER_DRIVERS_DISABLE");
    assert!(!asked(&machine, KNOWN).codes().contains(&"instance.extension-missing"));

    let listed = format!(r#", "instance_extensions": [{{"name": "{UNKNOWN}", "spec_version": "1"}}]"#);
    machine.working_layer("implicit", "rich", "", &listed);
    machine.variable("VK_LOADER_LAYERS_DISABLE", "*rich*");
    let explained = asked(&machine, UNKNOWN);
    let words = "left out, and has the extension: VK_LAYER_rich";
    assert!(explained.findings().contains(words), "{}", explained.findings());
    let words = "Unset VK_LOADER_LAYERS_DISABLE";
    assert!(explained.advice().contains(words), "{}", explained.advice());
}

/// Flatpak exports a script for each application.
#[test]
fn a_script_that_starts_an_application_of_flatpak_comes_with_the_command() {
    let mut machine = Machine::new();
    good(&mut machine);
    fs::create_dir(machine.path("tools")).expect("a folder");
    steady::write_script(&machine.path("tools/flatpak"), "#!/bin/sh\nexit 0\n");
    let folder = machine.path("tools").display().to_string();
    machine.variable("PATH", format!("{folder}:/usr/bin:/bin"));
    let script = machine.path("tools/org.example.Game");
    let text = "#!/bin/sh\n\nexec flatpak run --branch=stable org.example.Game \"$@\"\n";
    steady::write_script(&script, text);
    let (script, library) = (script.display().to_string(), library());
    let library = library.to_str().expect("plain");
    let explained = machine.explain_with(&["--library", library, "--", &script]);
    assert_eq!((explained.code, explained.first()), (2, "program.no-trace"));
    let wanted = "flatpak run --command=sh --filesystem=home org.example.Game, and there";
    assert!(explained.advice().contains(wanted), "{}", explained.advice());
}
