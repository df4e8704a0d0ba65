//! Tests in which devices and packages appear, change and disappear (LSV-6 to LSV-13, LSV-25 to LSV-31, LSV-49, LSV-50, LSV-53 to LSV-56).

mod machine;

use machine::{Machine, case, eventually, library, manifest};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use wire::Operation;

/// LSV-6, LSV-12, LSV-25: the published list follows the devices, sorted by their numbers, without a restart.
#[test]
fn lsv_25_devices_come_and_go() {
    case(|mut machine| {
        machine.config(
            r#"{"devices":[{"driver":"one","icds":["a"]},{"driver":"two","icds":["b"]}],"allow_fallback":false}"#,
        );
        machine.package("a");
        machine.package("b");
        machine.start();
        machine.expect(&[]);
        machine.device("renderD129", "two");
        machine.expect(&["0-libb.so.json"]);
        machine.device("renderD128", "one");
        machine.device("card0", "one");
        machine.expect(&["2-liba.so.json", "0-libb.so.json"]);
        machine.remove_device("renderD129");
        machine.expect(&["2-liba.so.json"]);
        fs::remove_dir_all(machine.path("dri")).unwrap();
        machine.expect(&[]);
        // The service kept the instance of the device, so it publishes the old manifest again when the device reappears.
        machine.device("renderD128", "one");
        machine.expect(&["2-liba.so.json"]);
    });
}

/// LSV-25: the service waits for the settling time before it uses a new node.
#[test]
fn lsv_25_a_new_node_settles() {
    case(|mut machine| {
        machine.start();
        let mut client = machine.client();
        assert_eq!(client.manifests(true).len(), 0);
        let begin = std::time::Instant::now();
        machine.device("renderD128", "none");
        let devices = |client: &mut machine::Connection| {
            let reply = client.ask(Operation::Devices, "{}");
            reply.payload.to_string().contains("renderD128")
        };
        eventually("the device is used", || devices(&mut client));
        // The service computes the age of a node from its file time. The file time may be a few milliseconds earlier than the real time, so
        // the service may use the node slightly before 200 ms are over.
        assert!(begin.elapsed().as_millis() >= 180, "{:?}", begin.elapsed());
    });
}

/// LSV-11, LSV-13, LSV-27: the first usable package serves a device. The software driver is used only if no device has a hardware driver.
#[test]
fn lsv_11_the_first_package_that_can_serves() {
    case(|mut machine| {
        machine.device("renderD128", "one");
        machine.package("soft");
        machine.start();
        machine.expect(&["4-libsoft.so.json"]);
        // Package b appears later and replaces the software driver. Then package a appears and replaces package b.
        machine.package("b");
        machine.expect(&["6-libb.so.json"]);
        machine.package("a");
        machine.expect(&["7-liba.so.json"]);
        machine.remove_package("a");
        machine.expect(&["6-libb.so.json"]);
        machine.remove_package("b");
        eventually("software serves", || {
            machine
                .manifests()
                .iter()
                .any(|name| name.ends_with("-libsoft.so.json"))
        });
    });
}

/// LSV-25, LSV-53: without the folder `/dev/dri`, the service publishes the software driver. The service notices when the folder appears.
#[test]
fn lsv_53_without_a_folder_of_devices() {
    case(|mut machine| {
        fs::remove_dir(machine.path("dri")).unwrap();
        machine.start();
        machine.expect(&[]);
        assert_eq!(
            machine.inspect().get("health").and_then(Value::as_str),
            Some("STARTING_UP")
        );
        machine.package("soft");
        machine.expect(&["2-libsoft.so.json"]);
        assert_eq!(machine.inspect().get("health").and_then(Value::as_str), Some("OK"));
        machine.package("a");
        machine.device("renderD128", "one");
        machine.expect(&["3-liba.so.json"]);
    });
}

/// LSV-31: a package with a changed file becomes a new instance, and clients keep the library that they have opened.
#[test]
fn lsv_31_a_package_that_changes_is_a_new_instance() {
    case(|mut machine| {
        machine.device("renderD128", "two");
        machine.package("b");
        machine.start();
        machine.expect(&["0-libb.so.json"]);
        let mut client = machine.client();
        let mut old = client.get("0-libb.so");
        // The test overwrites the library in place. A client that has opened the old library keeps the old bytes.
        machine.write("icd/b/contents/lib/driver.so", library(64, 50_000));
        machine.expect(&["3-libb.so.json"]);
        assert_eq!(old.attached(), library(64, 100_000));
        assert_eq!(client.get("0-libb.so").status(), "not_found");
        assert_eq!(client.get("3-libb.so").attached(), library(64, 50_000));
        // The test renames another manifest into place, as package managers do.
        machine.write("icd/b/contents/new.json", manifest("other.so"));
        fs::rename(
            machine.path("icd/b/contents/new.json"),
            machine.path("icd/b/contents/m.json"),
        )
        .unwrap();
        machine.expect(&["4-other.so.json"]);
        // A file that the package's description does not name is irrelevant.
        machine.write("icd/b/contents/lib/readme", "x");
        std::thread::sleep(std::time::Duration::from_millis(600));
        machine.expect(&["4-other.so.json"]);
    });
}

/// LSV-54: if a package is deleted while clients use it, the list no longer contains it, and clients keep its library.
#[test]
fn lsv_54_a_package_is_deleted() {
    case(|mut machine| {
        machine.start_with_soft();
        let mut reply = machine.client().get("0-libsoft.so");
        machine.remove_package("soft");
        machine.expect(&[]);
        assert_eq!(reply.attached(), library(64, 100_000));
        assert!(machine.failure("soft").contains("no such package"));
        machine.package("soft");
        machine.expect(&["3-libsoft.so.json"]);
    });
}

/// LSV-28: in the second layout of a package, the description is inside the contents.
#[test]
fn lsv_28_a_package_may_be_its_own_contents() {
    case(|mut machine| {
        machine.write(
            "icd/soft/meta/metadata/metadata.json",
            r#"{"version":1,"file_path":"lib/l.so","manifest_path":"meta/m.json"}"#,
        );
        machine.write("icd/soft/meta/m.json", manifest("l.so"));
        machine.write("icd/soft/lib/l.so", library(64, 1000));
        machine.start();
        machine.expect(&["0-l.so.json"]);
        let state = machine.inspect();
        let icd = state.get("icds").and_then(|icds| icds.get("0")).unwrap();
        assert_eq!(icd.get("file_path").and_then(Value::as_str), Some("lib/l.so"));
    });
}

/// LSV-28: the service searches the folders of packages in their order, and uses the first package of a name.
#[test]
fn lsv_28_the_first_root_that_has_a_package_counts() {
    case(|mut machine| {
        let second = machine.path("later/icd");
        machine.options = vec!["--root".into(), second.to_str().unwrap().into()];
        machine.start();
        machine.expect(&[]);
        // The service notices a folder of packages that appears later.
        machine.package_with("x", &manifest("second.so"), &library(64, 100));
        fs::create_dir_all(&second).unwrap();
        fs::rename(machine.path("icd/x"), second.join("soft")).unwrap();
        machine.expect(&["2-second.so.json"]);
        machine.package_with("soft", &manifest("first.so"), &library(64, 100));
        machine.expect(&["3-first.so.json"]);
    });
}

/// LSV-17, LSV-55: a key contains no folder, and is never longer than the limit, even if `library_path` is longer.
#[test]
fn lsv_55_keys_are_short_names() {
    case(|mut machine| {
        let long = format!("/some/where/{}.so", "x".repeat(100));
        machine.package_with("soft", &manifest(&long), &library(64, 100));
        machine.start();
        let key = format!("0-{}", "x".repeat(62));
        machine.expect(&[&format!("{key}.json")]);
        assert_eq!(machine.client().get(&key).status(), "ok");
    });
}

/// LSV-50: the service does not offer libraries of one class to clients of another class.
#[test]
fn lsv_50_a_client_sees_libraries_of_its_class() {
    case(|mut machine| {
        machine.device("renderD128", "one");
        machine.package_with("a", &manifest("wide.so"), &library(64, 100));
        machine.package_with("a-32", &manifest("narrow.so"), &library(32, 100));
        machine.start();
        machine.expect(&["0-wide.so.json", "1-narrow.so.json"]);
        let devices = machine.client().ask(Operation::Devices, "{}").payload;
        assert_eq!(devices["devices"][0]["active_icds"].to_string(), r#"["0","1"]"#);
        let seen = |request: &str| {
            let mut reply = machine.client().ask(Operation::Manifests, request);
            let text = String::from_utf8(reply.attached()).unwrap();
            (text.contains("0-wide.so\0"), text.contains("1-narrow.so\0"))
        };
        assert_eq!(seen(r#"{"bits":64}"#), (true, false));
        assert_eq!(seen(r#"{"bits":32}"#), (false, true));
        assert_eq!(seen("{}"), (true, true));
        // A program for which the service has no driver learns that others have one.
        machine.remove_package("a-32");
        let answer = |request: &str| machine.client().ask(Operation::Manifests, request).status().to_owned();
        eventually("it is gone", || answer(r#"{"bits":32}"#) == "word_size");
        assert_eq!(answer(r#"{"bits":64}"#), "ok");
        machine.remove_package("a");
        eventually("nothing is left", || answer(r#"{"bits":32}"#) == "ok");
    });
}

/// LSV-56: a device that disappears and soon reappears keeps its instance.
#[test]
fn lsv_56_a_device_that_flaps_keeps_its_instance() {
    case(|mut machine| {
        machine.package("a");
        machine.start();
        machine.expect(&[]);
        for _ in 0..50 {
            machine.device("renderD128", "one");
            machine.remove_device("renderD128");
        }
        machine.device("renderD128", "one");
        eventually("it serves", || machine.manifests().len() == 1);
        let name = machine.manifests();
        for _ in 0..3 {
            machine.remove_device("renderD128");
            machine.expect(&[]);
            machine.device("renderD128", "one");
            machine.expect(&[&name[0]]);
        }
    });
}

/// Returns a new folder that only root can change, and that the service's user may enter.
///
/// The folder of build outputs may be unsuitable, because a restrictive umask or another owner may prevent the service's user from entering
/// it.
fn folder_of_root() -> Option<tempfile::TempDir> {
    let is_safe =
        |folder: &Path| fs::metadata(folder).is_ok_and(|state| state.uid() == 0 && state.mode() & 0o023 == 0o001);
    [env!("CARGO_TARGET_TMPDIR"), "/run", "/var/lib"]
        .into_iter()
        .find(|place| Path::new(place).ancestors().all(is_safe))
        .and_then(|place| tempfile::tempdir_in(place).ok())
}

/// LSV-30: if `libraries` is set to `file`, clients receive the opened file.
#[test]
fn lsv_30_the_file_itself_may_be_handed_out() {
    if !steady::is_superuser() {
        machine::skip("packages must belong to root, and the tests do not run as root");
        return;
    }
    let Some(place) = folder_of_root() else {
        machine::skip("every folder can be changed by others than root, or is closed to the service's user");
        return;
    };
    let mut machine = Machine::new(place);
    machine.config(r#"{"fallback":"soft","libraries":"file"}"#);
    machine.start_with_soft();
    let reply = machine::connections(&machine.socket(), 20_000, 1)[0].get("0-libsoft.so");
    let given = rustix::fs::fstat(&reply.descriptors[0]).unwrap();
    let file = fs::metadata(machine.path("icd/soft/contents/lib/driver.so")).unwrap();
    assert_eq!((given.st_ino, given.st_dev), (file.ino(), file.dev()));
    assert_eq!(
        rustix::io::write(&reply.descriptors[0], b"x"),
        Err(rustix::io::Errno::BADF)
    );
    // Root could reopen the file for writing through its descriptor, so root receives a copy.
    let copy = machine.client().get("0-libsoft.so").descriptors.remove(0);
    assert!(rustix::fs::fcntl_get_seals(&copy).is_ok());
    // If all users may write to a folder above the library, clients receive a copy.
    let mut machine = Machine::new(tempfile::tempdir_in("/tmp").unwrap());
    machine.config(r#"{"fallback":"soft","libraries":"file"}"#);
    machine.start_with_soft();
    let reply = machine.client().get("0-libsoft.so");
    assert!(rustix::fs::fcntl_get_seals(&reply.descriptors[0]).is_ok());
}

/// LSV-30: without executable memory files, the service cannot copy a driver, and its message names `vm.memfd_noexec`.
#[test]
fn lsv_30_without_executable_memory_files() {
    case(|mut machine| {
        let words = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c"];
        let forbid = "echo 2 >/proc/sys/vm/memfd_noexec";
        let tried = std::process::Command::new(words[0])
            .args(&words[1..])
            .arg(forbid)
            .output();
        if !tried.is_ok_and(|output| output.status.success()) {
            return machine::skip("the system does not let a namespace forbid executable memory files");
        }
        machine.wrap = words.map(str::to_owned).to_vec();
        machine.wrap.push(format!(r#"{forbid}; exec "$0" "$@""#));
        // The service must stay root here, because `--kill-child` does not end a process that has left root.
        machine.config(r#"{"fallback":"soft","user":0}"#);
        machine.package("soft");
        // With these permissions, every user may replace folders above the package, so the service must not hand out the original library.
        machine.set_mode("", 0o777);
        machine.start();
        machine.expect(&[]);
        let failure = machine.failure("soft");
        assert!(failure.contains("vm.memfd_noexec"), "{failure}");
    });
}

/// LSV-18: a client that changes the permissions of a received file does not affect other clients, even if the client is root in a
/// container.
#[test]
fn lsv_18_permissions_that_a_client_changes_are_its_own_problem() {
    case(|mut machine| {
        machine.start_with_soft();
        let spoil = |operation, payload: &str| {
            let reply = machine.client().ask(operation, payload);
            for mode in [0o111, 0o000] {
                let _ = rustix::fs::fchmod(&reply.descriptors[0], rustix::fs::Mode::from_raw_mode(mode));
            }
            reply
        };
        let held = [
            spoil(Operation::Get, r#"{"name":"0-libsoft.so"}"#),
            spoil(Operation::Manifests, "{}"),
            spoil(Operation::Inspect, "{}"),
        ];
        for user in [0, 20_000] {
            let mut client = machine::connections(&machine.socket(), user, 1).remove(0);
            assert_eq!(client.manifests(true).len(), 1);
            let library = client.get("0-libsoft.so").descriptors.remove(0);
            let access = rustix::fs::fstat(&library).unwrap();
            assert_eq!(access.st_mode & 0o777, 0o555, "user {user}");
        }
        drop(held);
    });
}

/// LSV-18, LSV-50: a client that keeps many lists, and makes library copies unusable, cannot use up the memory or the drivers of other
/// clients.
#[test]
fn lsv_18_copies_are_shared_and_spoilt_ones_limited() {
    case(|mut machine| {
        machine.start_with_soft();
        let socket = machine.socket();
        let list = |user| {
            let mut client = machine::connections(&socket, user, 1).remove(0);
            client.ask(Operation::Manifests, "{}").descriptors.remove(0)
        };
        let inode = |file: &rustix::fd::OwnedFd| rustix::fs::fstat(file).unwrap().st_ino;
        let [first, second, root] = [20_000, 20_001, 0].map(list);
        assert_eq!(inode(&first), inode(&second));
        assert_ne!(inode(&first), inode(&root));
        let mut hostile = machine.client();
        let (mut held, mut copies) = (Vec::new(), std::collections::BTreeSet::new());
        for _ in 0..100 {
            for (operation, payload) in [
                (Operation::Get, r#"{"name":"0-libsoft.so"}"#),
                (Operation::Manifests, "{}"),
            ] {
                let reply = hostile.ask(operation, payload);
                for copy in &reply.descriptors {
                    copies.insert(inode(copy));
                    rustix::fs::fchown(copy, Some(rustix::fs::Uid::from_raw(1)), None).unwrap();
                    // A seal forbids changes of the executable bits, so the new mode has the same bits.
                    let mode = rustix::fs::fstat(copy).unwrap().st_mode & 0o111;
                    rustix::fs::fchmod(copy, rustix::fs::Mode::from_raw_mode(mode)).unwrap();
                }
                held.push(reply);
            }
        }
        // Each of the hundred lists that the hostile client keeps is a separate copy. The number of library copies is limited.
        assert!(copies.len() < 130, "{}", copies.len());
        for user in [20_000, 0] {
            let mut other = machine::connections(&socket, user, 1).remove(0);
            assert_eq!(other.manifests(true).len(), 1);
            let library = other.get("0-libsoft.so").descriptors.remove(0);
            // The dynamic linker of a client also opens the library through such a path in `/proc`.
            let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&library));
            assert_eq!(fs::read(path).unwrap().len(), 100_000, "user {user}");
        }
    });
}
