//! Set-ups that users report: shell syntax in variables, remains of removed programs, sandboxes, and unusual file systems.

use super::{Machine, Row, Step, good, try_all};
use crate::machine::skip;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

const MANIFEST: &str = "data/vulkan/icd.d/good.json";

/// Returns the absolute path of the working driver's manifest.
fn manifest(machine: &Machine) -> String {
    machine.path(MANIFEST).to_str().expect("plain").into()
}

/// Compiles a library in a folder. The library's symbol has the version `version`.
fn versioned(machine: &Machine, folder: &str, version: &str) {
    fs::create_dir_all(machine.path(folder)).expect("a folder");
    let source = machine.file("versioned.c", "int vklt_value(void) { return 1; }\n");
    let script = machine.file("versions", format!("{version} {{ global: vklt_value; }};\n"));
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-Wl,-soname,libvkltversioned.so", "-o"]);
    command
        .arg(machine.path(folder).join("libvkltversioned.so"))
        .arg(source)
        .arg(format!("-Wl,--version-script={}", script.display()));
    assert!(command.status().expect("a compiler").success());
}

/// Installs a driver that needs a newer version of a library than the version in another program's folder.
fn old_library_in_front(machine: &mut Machine) {
    versioned(machine, "system", "VKLT_2");
    versioned(machine, "conda", "VKLT_1");
    user_of(machine, "vkltversioned");
}

/// Installs a driver that needs a function of a library. In another program's folder, the library of the same name lacks the function.
pub(super) fn other_library_in_front(machine: &mut Machine) {
    for (folder, text) in [
        ("system", "int vklt_value(void) { return 1; }\n"),
        ("conda", "int other;\n"),
    ] {
        let source = machine.file(&format!("{folder}.c"), text);
        fs::create_dir_all(machine.path(folder)).expect("a folder");
        let library = machine.path(folder).join("libvkltplain.so");
        let mut command = Command::new("cc");
        command
            .args(["-shared", "-fPIC", "-Wl,-soname,libvkltplain.so", "-o"])
            .args([&library, &source]);
        assert!(command.status().expect("a compiler").success());
    }
    user_of(machine, "vkltplain");
}

/// Installs a driver that calls a function of a library in the folder `system`. `LD_LIBRARY_PATH` names the folder `conda`, which comes
/// first.
fn user_of(machine: &mut Machine, needed: &str) {
    let source = machine.file(
        "user.c",
        "int vklt_value(void);\nint user(void) { return vklt_value(); }\n",
    );
    let library = machine.path("libraries/libvkltuser.so");
    let system = machine.path("system");
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-Wl,--enable-new-dtags,-z,now", "-o"]);
    command
        .args([&library, &source])
        .arg(format!("-L{}", system.display()))
        .arg(format!("-Wl,-rpath,{}", system.display()))
        .arg(format!("-l{needed}"));
    assert!(command.status().expect("a compiler").success());
    machine.manifest("user", &library, "");
    let folder = machine.path("conda");
    machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
}

const OVERRIDE: &str = "data/vulkan/implicit_layer.d/VkLayer_override.json";
const SETTINGS: &str = "data/vulkan/loader_settings.d/vk_loader_settings.json";

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "a path begins with a sign that only shells replace",
        |machine| {
            good(machine);
            machine.variable("VK_ICD_FILENAMES", "~/driver.json");
        },
        "variable.no-match",
    )
    .about("~/driver.json")
    .remedy("Write the path in full", |machine| {
        let path = manifest(machine);
        machine.variable("VK_ICD_FILENAMES", path);
    }),
    Row::new(
        "a path stands between quotes",
        |machine| {
            good(machine);
            let path = manifest(machine);
            machine.variable("VK_DRIVER_FILES", format!("\"{path}\""));
        },
        "variable.no-match",
    )
    .about("good.json")
    .remedy("without quotes", |machine| {
        let path = manifest(machine);
        machine.variable("VK_DRIVER_FILES", path);
    }),
    Row::new(
        "paths are divided by a comma",
        |machine| {
            good(machine);
            let path = manifest(machine);
            machine.variable("VK_DRIVER_FILES", format!("{path},{path}"));
        },
        "variable.no-match",
    )
    .about("good.json,")
    .remedy("Divide paths by a colon", |machine| {
        let path = manifest(machine);
        machine.variable("VK_DRIVER_FILES", format!("{path}:{path}"));
    }),
    Row::new(
        "a variable names the library of the driver",
        |machine| {
            good(machine);
            let library = machine.path("libraries/libmock_good.so");
            machine.variable("VK_DRIVER_FILES", library.to_str().expect("plain"));
        },
        "search.replaced",
    )
    .about("libmock_good.so")
    .remedy("a JSON file, and not its library", |machine| {
        let path = manifest(machine);
        machine.variable("VK_DRIVER_FILES", path);
    }),
    Row::new(
        "names of layers are divided by a comma",
        |machine| {
            good(machine);
            machine.working_layer("explicit", "odd", "", "");
            machine.working_layer("explicit", "even", "", "");
            machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_odd,VK_LAYER_even");
        },
        "variable.no-match",
    )
    .about("there are: ")
    .remedy("Divide the names by a colon", |machine| {
        machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_odd:VK_LAYER_even");
    })
    .gone(),
    Row::new(
        "a folder of layers hides the installed ones",
        |machine| {
            good(machine);
            machine.working_layer("explicit", "odd", "", "");
            let own = machine.path("own");
            fs::create_dir(&own).expect("a folder");
            machine.file("own/other.json", "{}");
            machine.variable("VK_LAYER_PATH", own.to_str().expect("plain"));
            machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_odd");
        },
        "variable.no-match",
    )
    .about("VK_LAYER_PATH is set")
    .remedy("", |machine| machine.unset("VK_LAYER_PATH"))
    .gone(),
    Row::new(
        "a package manager left the manifest under another name",
        |machine| {
            good(machine);
            fs::rename(
                machine.path(MANIFEST),
                machine.path("data/vulkan/icd.d/good.json.dpkg-old"),
            )
            .expect("renamed");
        },
        "driver.none-installed",
    )
    .about("its name does not end in .json")
    .remedy("mv ", |machine| {
        fs::rename(
            machine.path("data/vulkan/icd.d/good.json.dpkg-old"),
            machine.path(MANIFEST),
        )
        .expect("renamed");
    }),
    Row::new(
        "an editor saved the manifest as UTF-16",
        |machine| {
            good(machine);
            let text = fs::read_to_string(machine.path(MANIFEST)).expect("just written");
            let wide = "\u{FEFF}".encode_utf16().chain(text.encode_utf16());
            let bytes: Vec<u8> = wide.flat_map(u16::to_le_bytes).collect();
            machine.file(MANIFEST, bytes);
        },
        "file.invalid-json",
    )
    .about("is a text in UTF-16")
    .remedy("iconv -f UTF-16 -t UTF-8", good),
    Row::new(
        "the manifest is a link to itself",
        |machine| symlink("good.json", machine.path(MANIFEST)).expect("a link"),
        "file.not-opened",
    )
    .about("good.json")
    .remedy("leads to itself", |machine| {
        fs::remove_file(machine.path(MANIFEST)).expect("removed");
        good(machine);
    }),
    Row::new(
        "another program's folder has another library of the same name",
        other_library_in_front,
        "driver.not-opened",
    )
    .about("conda/libvkltplain.so does not have")
    .remedy("conda out of LD_LIBRARY_PATH", |machine| {
        machine.unset("LD_LIBRARY_PATH")
    })
    .gone(),
    Row::new(
        "another program's folder has an old library",
        old_library_in_front,
        "driver.not-opened",
    )
    .about("lacks the version VKLT_2")
    .remedy("conda out of LD_LIBRARY_PATH", |machine| {
        machine.unset("LD_LIBRARY_PATH")
    })
    .gone(),
    Row::new(
        "Vulkan Configurator left its layer behind",
        |machine| {
            good(machine);
            machine.file(
                OVERRIDE,
                r#"{"file_format_version": "1.1.2", "layer": {"name": "VK_LAYER_LUNARG_override", "type": "GLOBAL",
                "api_version": "1.3.0", "implementation_version": "1", "description": "",
                "component_layers": ["VK_LAYER_KHRONOS_gone"], "override_paths": ["/nowhere/explicit_layer.d"],
                "disable_environment": {"DISABLE_VK_LAYER_LUNARG_override": "1"}}}"#,
            );
        },
        "layer.component-missing",
    )
    .about("VkLayer_override.json")
    .remedy("Vulkan Configurator makes this layer", |machine| {
        fs::remove_file(machine.path(OVERRIDE)).expect("removed");
    })
    .gone(),
    Row::new(
        "a settings file names a layer that was removed",
        |machine| {
            good(machine);
            fs::create_dir_all(machine.path("data/vulkan/loader_settings.d")).expect("folders");
            machine.file(
                SETTINGS,
                r#"{"file_format_version": "1.0.0", "settings": {"layers":
                [{"name": "VK_LAYER_gone", "path": "/nowhere/gone.json", "control": "on"}]}}"#,
            );
        },
        "file.not-found",
    )
    .about("/nowhere/gone.json")
    .remedy("Correct the path in the settings file", |machine| {
        fs::remove_file(machine.path(SETTINGS)).expect("removed");
    })
    .gone(),
    Row::new(
        "an overlay was removed and its manifest stayed",
        |machine| {
            good(machine);
            let text = r#"{"file_format_version": "1.0.0", "layer": {"name": "VK_LAYER_overlay", "type": "GLOBAL",
                "library_path": "/nowhere/Steam/overlay.so", "api_version": "1.3.207", "implementation_version": "1",
                "description": "", "enable_environment": {"ENABLE_OVERLAY": "1"},
                "disable_environment": {"DISABLE_OVERLAY": "1"}}}"#;
            machine.file("data/vulkan/implicit_layer.d/overlay.json", text);
            machine.variable("ENABLE_OVERLAY", "1");
        },
        "layer-library.not-opened",
    )
    .about("/nowhere/Steam/overlay.so")
    .remedy("Reinstall the package", |machine| machine.unset("ENABLE_OVERLAY"))
    .gone(),
    Row::new(
        "a snap without the snap of drivers",
        |machine| {
            let text = "name: game\nconfinement: strict\nplugs:\n  gaming-mesa:\n    interface: content\n    default-provider: gaming-graphics\n";
            fs::create_dir_all(machine.path("snap/meta")).expect("folders");
            machine.file("snap/meta/snap.yaml", text);
            machine.variable("SNAP", machine.path("snap").to_str().expect("plain"));
            machine.variable("SNAP_NAME", "game");
        },
        "driver.none-installed",
    )
    .remedy("snap connect game:gaming-mesa gaming-graphics:gaming-mesa", good),
];

#[test]
fn each_cause_that_users_describe_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}

/// Unusual set-ups that work must have no finding.
#[test]
fn machines_that_look_odd_and_work_have_no_finding() {
    let odd: [(&str, Step); 6] = [
        ("a mark of the byte order and line ends of Windows", |machine| {
            let text = fs::read_to_string(machine.path(MANIFEST)).expect("just written");
            machine.file(MANIFEST, format!("\u{FEFF}{}\r\n", text.replace(", ", ",\r\n")));
        }),
        ("an API version of 0", |machine| {
            let text = fs::read_to_string(machine.path(MANIFEST)).expect("just written");
            machine.file(MANIFEST, text.replace("1.3.0", "0"));
        }),
        ("a locale that is not installed, and not UTF-8", |machine| {
            machine.variable("LC_ALL", "de_DE.ISO-8859-1");
        }),
        ("a preloaded library that is gone", |machine| {
            machine.variable("LD_PRELOAD", "/nowhere/libMangoHud.so");
        }),
        ("no folder for temporary files", |machine| {
            machine.variable("TMPDIR", "/nowhere");
        }),
        ("an empty list of preloaded libraries and of folders", |machine| {
            machine.variable("LD_PRELOAD", "");
            machine.variable("LD_LIBRARY_PATH", "");
        }),
    ];
    for (name, change) in odd {
        let mut machine = Machine::new();
        good(&mut machine);
        change(&mut machine);
        let explained = machine.explain();
        let found = (explained.code, explained.devices(), explained.codes());
        assert_eq!(found, (0, vec!["one"], vec![]), "{name}");
    }
}

/// Makes `vkloader` start in a namespace of bubblewrap with the options `words`. Reports the test as skipped and returns `false` if no
/// namespace can be created.
fn in_namespace(machine: &mut Machine, words: &[&str]) -> bool {
    let words: Vec<String> = ["bwrap"].iter().chain(words).map(|word| (*word).into()).collect();
    machine.start_with(words)
}

#[test]
fn a_sandbox_without_proc_or_with_a_root_that_is_read_only_is_explained() {
    for words in [
        &["--bind", "/", "/", "--dev", "/dev", "--tmpfs", "/proc"][..],
        &["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ] {
        let mut machine = Machine::new();
        good(&mut machine);
        // The mock driver writes a journal to this folder.
        let own = machine.path("").to_str().expect("plain").to_owned();
        if !in_namespace(&mut machine, &[words, &["--bind", &own, &own]].concat()) {
            return;
        }
        let explained = machine.explain();
        assert_eq!((explained.code, explained.devices()), (0, vec!["one"]), "{words:?}");
    }
}

#[test]
fn drivers_of_a_usual_folder_that_a_variable_hides_are_named() {
    if !fs::exists("/usr/share/vulkan/icd.d").is_ok_and(|is_there| is_there) {
        return skip("this system has no folder of manifests");
    }
    let mut machine = Machine::new();
    good(&mut machine);
    fs::create_dir_all(machine.path("hidden")).expect("a folder");
    fs::rename(machine.path(MANIFEST), machine.path("hidden/good.json")).expect("moved");
    let hidden = machine.path("hidden").to_str().expect("plain").to_owned();
    let words = [
        "--bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--bind",
        &hidden,
        "/usr/share/vulkan/icd.d",
    ];
    if !in_namespace(&mut machine, &words) {
        return;
    }
    // A terminal of a snap with classic confinement has the variables of a snap, but no sandbox.
    machine.variable("SNAP", "/snap/code/7").variable("SNAP_NAME", "code");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.none-installed"));
    assert!(!explained.report["surroundings"].to_string().contains("snap"));
    let (findings, advice) = (explained.findings(), explained.advice());
    assert!(
        findings.contains("/usr/share/vulkan/icd.d is not searched, but has good.json"),
        "{findings}"
    );
    assert!(advice.starts_with("Add /usr/share to XDG_DATA_DIRS"), "{advice}");
    machine.variable("XDG_DATA_DIRS", "/usr/share");
    assert_eq!(machine.explain().devices(), ["one"]);
}

#[test]
fn a_driver_in_a_file_system_that_forbids_programs_is_named() {
    let mut machine = Machine::new();
    good(&mut machine);
    let folder = machine.path("libraries").to_str().expect("plain").to_owned();
    let script = "mount -t tmpfs -o noexec none /mnt && cp \"$0\"/* /mnt && mount --move /mnt \"$0\" && exec \"$@\"";
    let words = ["unshare", "--mount", "sh", "-c", script, &folder].map(String::from);
    if !machine.start_with(words.into()) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.not-opened"));
    assert!(
        explained.findings().contains("mounted with noexec"),
        "{}",
        explained.findings()
    );
    assert!(
        explained.advice().contains("another file system"),
        "{}",
        explained.advice()
    );
    machine.start_with(Vec::new());
    assert_eq!(machine.explain().devices(), ["one"]);
}

/// In this test, a script imitates the package manager of each system. The real package managers are hidden.
#[test]
fn each_package_manager_tells_the_package_of_a_damaged_library() {
    let tools = [
        (
            "rpm",
            "-qf",
            "mesa-vulkan-drivers-24.1-1.fc40.x86_64",
            "mesa-vulkan-drivers-24.1-1.fc40.x86_64",
        ),
        (
            "pacman",
            "-Qo",
            "$file is owned by vulkan-radeon 1:24.1-1",
            "vulkan-radeon",
        ),
        (
            "apk",
            "info --who-owns",
            "$file is owned by mesa-vulkan-swrast-24.1-r0",
            "mesa-vulkan-swrast-24.1-r0",
        ),
    ];
    for (tool, words, answer, package) in tools {
        let mut machine = Machine::new();
        good(&mut machine);
        let library = machine.file("libraries/libmock_good.so", "no library");
        fs::create_dir(machine.path("tools")).expect("a folder");
        let script = format!(
            "#!/bin/sh\nfor file; do :; done\n[ \"$*\" = \"{words} $file\" ] && [ \"$file\" = \"{}\" ] && echo \"{answer}\"\n",
            library.display()
        );
        steady::write_script(&machine.path(&format!("tools/{tool}")), &script);
        let folder = machine.path("tools");
        machine.variable("PATH", folder.to_str().expect("plain"));
        let explained = machine.explain();
        assert_eq!(explained.first(), "driver.not-opened", "{tool}");
        let wanted = format!("Reinstall package {package}, which brings {};", library.display());
        assert!(
            explained.advice().starts_with(&wanted),
            "{tool}: {}",
            explained.advice()
        );
        // A package manager that knows no package for the file reports this by its exit status.
        steady::write_script(
            &machine.path(&format!("tools/{tool}")),
            "#!/bin/sh\necho error: no package owns it\nexit 1\n",
        );
        let wanted = format!("Reinstall the package that brings {};", library.display());
        assert!(machine.explain().advice().starts_with(&wanted), "{tool}");
    }
}
