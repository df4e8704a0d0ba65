//! Tests of output for other programs: unusual file names, and specifications for containers.

use crate::asked::files;
use crate::machine::{Machine, built, skip};
use crate::validated::Schema;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a machine with a driver in a folder with an unusual name. Also returns that folder.
fn strange() -> (Machine, PathBuf) {
    let mut machine = Machine::new();
    let folder = machine
        .path("libraries")
        .join(OsStr::from_bytes(b"a'b \"c\"\n$d\\e\t\x1b[31m"));
    fs::create_dir(&folder).expect("a folder");
    fs::copy(built("libmock_driver.so"), folder.join("libmock_odd.so")).expect("cargo built it");
    fs::write(folder.join("libmock_odd.conf"), "device one\n").expect("a file");
    let manifest =
        r#"{"file_format_version": "1.0.1", "ICD": {"library_path": "./libmock_odd.so", "api_version": "1.3.0"}}"#;
    fs::write(folder.join("odd.json"), manifest).expect("a file");
    machine.variable("VK_DRIVER_FILES", folder.join("odd.json").to_str().expect("UTF-8"));
    (machine, folder)
}

#[test]
fn strange_names_stay_what_they_are() {
    let (machine, folder) = strange();
    let list = files(&machine, &[]);
    assert_eq!(list.code(), 0, "{}", list.said());
    assert!(
        list.text().lines().all(|line| line.starts_with('/')) && !list.text().contains('\x1b'),
        "{}",
        list.text()
    );
    let report = files(&machine, &["--format", "json"]);
    for name in ["odd.json", "libmock_odd.so", "libmock_odd.conf"] {
        assert!(report.known(&folder.join(name)).is_some(), "{name}: {}", report.text());
    }
    // Lets a shell split the arguments.
    let arguments = files(&machine, &["--format", "bwrap"]).text();
    assert!(!arguments.contains('\x1b'));
    let script = format!("printf '%s\\0' {}", arguments.trim_end());
    let output = Command::new("bash").arg("-c").arg(script).output().expect("a shell");
    let words: Vec<&[u8]> = output.stdout.split(|&byte| byte == 0).collect();
    let manifest = folder.join("odd.json");
    let manifest = manifest.as_os_str().as_bytes();
    let bound = [&b"--ro-bind"[..], manifest, manifest];
    assert!(words.windows(3).any(|three| three == bound), "{arguments}");
    let told = [&b"--setenv"[..], b"VK_DRIVER_FILES", manifest];
    assert!(words.windows(3).any(|three| three == told), "{arguments}");
}

/// Checks that a specification has the form that CDI requires.
fn is_cdi(specification: &Value) -> Result<(), String> {
    Schema::read("loader/vkloader/tests/cdi.schema.json").validate(specification)
}

/// Returns `true` if a specification mounts the host's file `host` at the path `container` in the container.
fn mounts(specification: &Value, host: &Path, container: &str) -> bool {
    let mounts = specification["containerEdits"]["mounts"].as_array();
    mounts
        .into_iter()
        .flatten()
        .any(|mount| mount["hostPath"].as_str().map(Path::new) == Some(host) && mount["containerPath"] == container)
}

#[test]
fn specifications_for_containers_are_as_the_format_says() {
    let (strange, folder) = strange();
    let mut machine = Machine::new();
    let manifest = machine.driver("good", "device one");
    machine.driver("second", "device two");
    for machine in [&strange, &machine] {
        let found = files(machine, &["--format", "cdi"]);
        assert_eq!(found.code(), 0, "{}", found.said());
        is_cdi(&found.json()).unwrap_or_else(|error| panic!("{error}\n{}", found.text()));
    }
    // The container gets a manifest with a relative library path at the manifest's original path, and a variable that names this path.
    let relative = files(&strange, &["--format", "cdi"]).json();
    let told = format!("VK_ADD_DRIVER_FILES={}", folder.join("odd.json").display());
    assert_eq!(
        relative["devices"][0]["containerEdits"]["env"],
        serde_json::json!([told])
    );
    let specification = files(&machine, &["--format", "cdi", "--driver", "good"]).json();
    assert_eq!(specification["devices"][0]["name"], "all");
    // The manifest is mounted in a searched folder, because the image of the container may already set
    // `VK_ADD_DRIVER_FILES`.
    let edits = &specification["devices"][0]["containerEdits"];
    assert_eq!(edits["env"], Value::Null);
    let manifest = fs::canonicalize(manifest).expect("it is there");
    assert!(
        mounts(&specification, &manifest, "/etc/vulkan/icd.d/good.json"),
        "{specification}"
    );
    // The specification mounts no driver library. A hook mounts the libraries when the container starts.
    let hook = &edits["hooks"][0];
    assert_eq!(hook["hookName"], "createContainer");
    assert!(
        hook["path"].as_str().is_some_and(|path| path.ends_with("/vkloader")),
        "{hook}"
    );
    let brings = |end: &str| {
        let words = hook["args"].as_array().into_iter().flatten();
        words
            .filter_map(serde_json::Value::as_str)
            .any(|word| word.ends_with(end))
    };
    assert!(brings("/libmock_good.so") && !brings("/libc.so.6"), "{hook}");
    let all = specification["containerEdits"]["mounts"].as_array().expect("a list");
    let has = |end: &str| {
        all.iter()
            .any(|mount| mount["containerPath"].as_str().is_some_and(|path| path.ends_with(end)))
    };
    assert!(
        has("/good.json") && !has("/libmock_good.so") && !has("second.json"),
        "{all:?}"
    );
    // The container has a C library, so the specification contains none.
    assert!(
        !has("/libc.so.6") && !all.iter().any(|mount| mount.to_string().contains("ld-linux")),
        "{all:?}"
    );
    if !Path::new("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json").exists() {
        return skip("Mesa's drivers are not installed here");
    }
    machine.variable("XDG_DATA_DIRS", "/usr/share");
    let found = files(&machine, &["--format", "cdi", "--driver", "lvp"]);
    is_cdi(&found.json()).unwrap_or_else(|error| panic!("{error}\n{}", found.text()));
}

#[test]
fn the_schema_for_containers_refuses_what_is_wrong() {
    let good = serde_json::json!({"cdiVersion": "0.3.0", "kind": "vendor.example/class", "devices": [{"name": "all", "containerEdits": {"env": ["A=b"]}}]});
    assert_eq!(is_cdi(&good), Ok(()));
    for (pointer, wrong) in [
        ("/cdiVersion", "2.0".into()),
        ("/kind", "vendor".into()),
        ("/kind", "9vendor/class".into()),
        ("/devices", serde_json::json!([])),
        ("/devices/0/name", "a b".into()),
        ("/devices/0/containerEdits", serde_json::json!({})),
        ("/devices/0/containerEdits", serde_json::json!([])),
        ("/devices/0/containerEdits/env", serde_json::json!(["A"])),
        (
            "/devices/0/containerEdits",
            serde_json::json!({"mounts": [{"hostPath": "/a"}]}),
        ),
        (
            "/devices/0/containerEdits",
            serde_json::json!({"deviceNodes": [{"path": "/dev/a", "permissions": "x"}]}),
        ),
        ("/devices/0/containerEdits", serde_json::json!({"additionalGIDs": [1]})),
    ] {
        let mut changed = good.clone();
        *changed.pointer_mut(pointer).expect("it is there") = wrong;
        assert!(is_cdi(&changed).is_err(), "{changed}");
    }
}
