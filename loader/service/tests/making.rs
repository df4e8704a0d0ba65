//! Tests of the service's commands (LSV-26, LSV-32, LSV-65, LSV-66): checking and making packages, and printing the settings.

mod machine;

use machine::{Machine, case, library, manifest, printed, program, skip, succeeds};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// LSV-32: `--check` prints the libraries and the manifest of a valid package, and ends with an error for an invalid package.
#[test]
fn lsv_32_a_package_can_be_checked() {
    case(|machine| {
        machine.package("soft");
        let words = ["--check".into(), machine.path("icd/soft")];
        let text = succeeds(&words);
        for word in [
            "100000",
            "64 bits",
            "0-libsoft.so",
            "0-libsoft.so.json",
            &manifest("0-libsoft.so"),
        ] {
            assert!(text.contains(word), "{word} is not in\n{text}");
        }
        machine.write("icd/soft/contents/lib/driver.so", "no library at all, but long enough");
        let output = program(&words);
        assert_eq!(output.status.code(), Some(1));
        assert!(printed(&output).contains("lib/driver.so"), "{}", printed(&output));
        assert!(output.stdout.is_empty());
    });
}

/// LSV-26: `--print-config` prints the settings of the file, overridden by the options.
#[test]
fn lsv_26_the_settings_can_be_printed() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("c.json");
    fs::write(&file, r#"{"devices":[{"driver":"x","icds":["y"]}],"dri":"/file"}"#).unwrap();
    let words = ["--config", file.to_str().unwrap(), "--print-config", "--dri", "/line"];
    let config = serde_json::from_str::<Value>(&succeeds(words)).unwrap();
    let text = |key| config.get(key).unwrap().to_string();
    assert_eq!(text("dri"), "\"/line\"");
    assert_eq!(text("devices"), r#"[{"driver":"x","icds":["y"]}]"#);
    assert_eq!(text("socket"), format!("{:?}", wire::SOCKET));
    fs::write(&file, "{").unwrap();
    let output = program(words);
    assert_eq!(output.status.code(), Some(1));
    assert!(printed(&output).contains("c.json"), "{}", printed(&output));
}

/// Returns the words of the command that makes packages of the drivers in `icd.d`.
fn packages(machine: &Machine) -> [PathBuf; 5] {
    let [manifests, out] = ["icd.d", "icd"].map(|path| machine.path(path));
    ["packages".into(), "--manifests".into(), manifests, "--out".into(), out]
}

/// LSV-65: the command `packages` makes a package for each word size, and names each driver that it does not package.
#[test]
fn lsv_65_each_word_size_has_a_package() {
    case(|mut machine| {
        machine.config(r#"{"fallback":"lavapipe"}"#);
        for (bits, name) in [(64, "x86_64"), (32, "i686")] {
            machine.write(&format!("drivers/{bits}/liblvp.so"), library(bits, 5000));
            let text = manifest(&format!("../drivers/{bits}/liblvp.so"));
            machine.write(&format!("icd.d/lvp_icd.{name}.json"), text);
        }
        let mut other = library(64, 100);
        other[18] = 8;
        machine.write("drivers/other.so", other);
        machine.write("icd.d/intel_icd.json", manifest("../drivers/other.so"));
        machine.write("icd.d/radeon_icd.i686.json", manifest("../drivers/32/none.so"));
        machine.write("icd.d/radeon_icd.x86_64.json", manifest("../drivers/64/liblvp.so"));
        let text = succeeds(packages(&machine));
        let lines = ["anv: ", "lavapipe-32: made", "lavapipe: made", "radv: ", "radv: made"];
        assert!(
            text.lines().zip(lines).all(|(line, start)| line.starts_with(start)),
            "{text}"
        );
        assert_eq!(text.lines().count(), lines.len(), "{text}");
        assert!(
            text.contains("other.so is for another processor") && text.contains("none.so"),
            "{text}"
        );
        machine.start();
        machine.expect(&["0-liblvp.so.json", "1-liblvp.so.json"]);
        // A driver whose library is gone is reported, and its packages stay.
        fs::remove_dir_all(machine.path("drivers")).unwrap();
        assert!(!succeeds(packages(&machine)).contains("removed"));
        fs::remove_dir_all(machine.path("icd.d")).unwrap();
        let removed = succeeds(packages(&machine));
        assert!(
            removed.contains("lavapipe: removed") && removed.contains("lavapipe-32: removed"),
            "{removed}"
        );
    });
}

/// LSV-65: the command `package` refuses a library, a manifest and a name that are for different word sizes.
#[test]
fn lsv_65_a_library_and_its_manifest_belong_together() {
    case(|machine| {
        machine.write("drivers/wide.so", library(64, 5000));
        machine.write("drivers/narrow.so", library(32, 5000));
        let refused = |library: &str, out: &str, words: [&str; 2]| {
            let output = program(package(&machine, library, out));
            let text = printed(&output);
            assert!(
                !output.status.success() && words.iter().all(|word| text.contains(word)),
                "{text}"
            );
            assert!(!machine.path(out).exists());
        };
        machine.write("drivers/x.json", manifest("x.so"));
        refused(
            "drivers/narrow.so",
            "icd/a",
            ["narrow.so is for 32-bit", "the package is not"],
        );
        refused(
            "drivers/wide.so",
            "icd/a-32",
            ["wide.so is for 64-bit", "the package is not"],
        );
        succeeds(package(&machine, "drivers/narrow.so", "icd/b-32"));
        for text in [
            manifest(machine.path("drivers/narrow.so").to_str().unwrap()),
            manifest("narrow.so").replace("\"ICD\":{", r#""ICD":{"library_arch":"32","#),
        ] {
            machine.write("drivers/x.json", text);
            refused(
                "drivers/wide.so",
                "icd/a",
                ["x.json: it is for 32-bit", "wide.so is not"],
            );
            succeeds(package(&machine, "drivers/narrow.so", "icd/a-32"));
            fs::remove_dir_all(machine.path("icd/a-32")).unwrap();
        }
    });
}

/// Returns the words of the command that makes the package `out` of a library, with the manifest `drivers/x.json`.
fn package(machine: &Machine, library: &str, out: &str) -> [PathBuf; 4] {
    let [library, manifest, out] = [library, "drivers/x.json", out].map(|path| machine.path(path));
    ["package".into(), library, manifest, out]
}

/// LSV-65: the command `packages` creates, updates and removes packages when drivers are installed, updated and removed.
#[test]
fn lsv_65_packages_follow_installed_drivers() {
    case(|mut machine| {
        machine.config(r#"{"fallback":"lavapipe"}"#);
        let install = |machine: &machine::Machine, size| {
            machine.write("drivers/liblvp.so", library(usize::BITS, size));
            machine.write(
                "icd.d/lvp_icd.json",
                manifest(machine.path("drivers/liblvp.so").to_str().unwrap()),
            );
        };
        machine.write("icd.d/unknown_icd.json", "{");
        machine.write("icd.d/radeon_icd.json", "{");
        machine.package("mine");
        let words = packages(&machine);
        let packages = || {
            let text = succeeds(&words);
            let lines = text.lines().filter(|line| !line.starts_with("radv:"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        install(&machine, 5000);
        let made = format!("lavapipe: made of {}", machine.path("icd.d/lvp_icd.json").display());
        assert_eq!(packages(), [made.as_str()]);
        assert!(packages().is_empty());
        machine.start();
        machine.expect(&["0-liblvp.so.json"]);
        install(&machine, 6000);
        assert_eq!(packages(), [made.as_str()]);
        machine.expect(&["2-liblvp.so.json"]);
        assert_eq!(machine.client().get("2-liblvp.so").attached().len(), 6000);
        fs::remove_file(machine.path("icd.d/lvp_icd.json")).unwrap();
        assert_eq!(packages(), ["lavapipe: removed"]);
        machine.expect(&[]);
        let left: Vec<_> = fs::read_dir(machine.path("icd"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["mine"]);
    });
}

/// LSV-65: a run removes the unfinished package of a process that was killed. The run keeps the unfinished package of a process that is
/// still running.
#[test]
fn lsv_65_what_a_killed_process_left_is_removed() {
    case(|machine| {
        machine.write("drivers/liblvp.so", library(usize::BITS, 5000));
        let library = machine.path("drivers/liblvp.so");
        machine.write("icd.d/lvp_icd.json", manifest(library.to_str().unwrap()));
        // Linux has no process ID above 4194304, so the first folder belongs to no process. The folder `own` belongs to this process, which
        // is running.
        let own = format!("icd/.lavapipe.{}/contents/a", std::process::id());
        machine.write("icd/.lavapipe.4194305/contents/a", "");
        machine.write("icd/.lavapipe.x/contents/a", "");
        machine.write(&own, "");
        succeeds(packages(&machine));
        assert!(!machine.path("icd/.lavapipe.4194305").exists());
        assert!(machine.path("icd/.lavapipe.x").exists() && machine.path(&own).exists());
        assert!(machine.path("icd/lavapipe/metadata/metadata.json").exists());
    });
}

/// The command `package` creates a package of an installed driver, and the service publishes that package.
#[test]
fn a_driver_becomes_a_package() {
    case(|mut machine| {
        machine.write("drivers/libx.so.1.2", library(64, 5000));
        std::os::unix::fs::symlink("libx.so.1.2", machine.path("drivers/libx.so")).unwrap();
        machine.write("drivers/x.json", manifest("/usr/lib/libx.so"));
        let refused = |library: &str, out: &str| printed(&program(package(&machine, library, out)));
        succeeds(package(&machine, "drivers/libx.so", "icd/soft"));
        let contents = fs::read(machine.path("icd/soft/contents/libx.so")).unwrap();
        assert_eq!(contents, library(64, 5000));
        assert!(refused("drivers/libx.so", "icd/soft").contains("exists already"));
        // `--replace` replaces an existing package, but refuses to replace a folder that is not a package.
        let replace = |out: &str| {
            let words = package(&machine, "drivers/libx.so", out);
            program(words.iter().map(PathBuf::as_path).chain([Path::new("--replace")]))
        };
        machine.write("drivers/libx.so.1.2", library(64, 6000));
        assert!(replace("icd/soft").status.success());
        assert_eq!(fs::read(machine.path("icd/soft/contents/libx.so")).unwrap().len(), 6000);
        assert!(printed(&replace("drivers")).contains("not a package"));
        assert!(machine.path("drivers/libx.so").exists());
        // The command creates missing folders above the package.
        succeeds(package(&machine, "drivers/libx.so", "nothing/yet/soft"));
        assert!(refused("drivers/none.so", "icd/b").contains("none.so"));
        assert!(refused("drivers/x.json", "icd/b").contains("ELF"));
        assert_eq!(fs::read_dir(machine.path("icd")).unwrap().count(), 1);
        machine.start();
        machine.expect(&["0-libx.so.json"]);
    });
}

/// Repeats the test `a_driver_becomes_a_package` with the software driver that is installed on this system.
#[test]
fn an_installed_driver_becomes_a_package() {
    case(|mut machine| {
        let folder = "/usr/share/vulkan/icd.d";
        let manifests = fs::read_dir(folder).into_iter().flatten();
        let found = manifests.filter_map(|entry| Some(entry.ok()?.path())).find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("lvp_icd") && !name.contains("i686")
        });
        let Some(found) = found else {
            return skip("there is no lavapipe to make a package of");
        };
        let out = machine.path("icd/soft");
        succeeds(["package".as_ref(), Path::new("libvulkan_lvp.so"), &found, &out]);
        let text = fs::read(out.join("metadata/metadata.json")).unwrap();
        let metadata: Value = serde_json::from_slice(&text).unwrap();
        let needs = metadata["needs"].as_array().unwrap();
        let place = |name: &str| needs.iter().position(|need| need["name"] == name);
        // LSV-66: a library comes after the libraries that it needs, and the package does not contain the C library.
        assert!(place("libgcc_s.so.1").is_some() && place("libgcc_s.so.1") < place("libstdc++.so.6"));
        assert!(place("libc.so.6").is_none() && place("libm.so.6").is_none());
        assert!(metadata["c_library"].as_str().unwrap().starts_with("2."));
        machine.start();
        machine.expect(&["0-libvulkan_lvp.so.json"]);
        let mut client = machine.client();
        for need in needs {
            assert!(need["symbols"].as_u64() > Some(0), "{need}");
            let file = out.join("contents").join(need["file_path"].as_str().unwrap());
            let mut reply = client.get(&format!("0-{}", need["name"].as_str().unwrap()));
            assert_eq!(
                reply.attached().len() as u64,
                fs::metadata(file).unwrap().len(),
                "{need}"
            );
        }
    });
}

/// LSV-66: the command does not copy an installed file that only root can change.
#[test]
fn lsv_66_a_package_needs_no_space() {
    use std::os::unix::fs::MetadataExt;
    case(|machine| {
        let driver = machine.path("drivers/libx.so");
        let inode = |path: &Path| fs::metadata(path).unwrap().ino();
        machine.write("drivers/libx.so", library(64, 5000));
        machine.write("drivers/x.json", manifest("libx.so"));
        for (mode, is_same) in [(0o644, true), (0o664, false), (0o600, false)] {
            machine.set_mode("drivers/libx.so", mode);
            let out = format!("icd/p{mode}");
            succeeds(package(&machine, "drivers/libx.so", &out));
            let packaged = machine.path(&out).join("contents/libx.so");
            assert_eq!(inode(&packaged) == inode(&driver), is_same, "{mode:o}");
            assert_eq!(fs::metadata(&packaged).unwrap().mode() & 0o7777, 0o644);
        }
    });
}
