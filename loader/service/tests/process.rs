//! Tests of the service as a process: the rights that it gives up (LSV-24, LSV-51), the files that it opens, and its socket (LSV-33). Also
//! tests the written state (LSV-43 to LSV-45).

mod machine;

use machine::{Machine, PROGRAM, case, eventually, library, manifest, printed, skip};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use vk_loader_service::config;

/// Bit of the only capability that the service keeps, CAP_SYS_RESOURCE.
const KEPT: u64 = 1 << 24;

/// Returns the inheritable, permitted, effective, bounding and ambient capabilities of a process or thread.
fn capabilities(machine: &Machine, process: u32) -> [u64; 5] {
    let sets = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
    sets.map(|set| u64::from_str_radix(&machine.status(process, set), 16).unwrap())
}

/// LSV-24, LSV-51: all threads of the service run with at most one capability, with a filter of system calls and without core dumps.
#[test]
fn lsv_51_the_process_gives_up_what_it_does_not_need() {
    case(|mut machine| {
        machine.start_with_soft();
        let process = machine.process();
        let kept = capabilities(&machine, std::process::id())[1] & KEPT;
        for thread in fs::read_dir(format!("/proc/{process}/task")).unwrap() {
            let thread = thread.unwrap().file_name().to_str().unwrap().parse().unwrap();
            let row = |row| machine.status(thread, row);
            assert_eq!((row("NoNewPrivs"), row("Seccomp")), ("1".into(), "2".into()));
            assert_eq!(capabilities(&machine, thread), [0, kept, kept, 0, 0]);
        }
        let limits = fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
        let core = limits
            .lines()
            .find(|line| line.starts_with("Max core file size"))
            .unwrap();
        assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"]);
        // The service neither runs a driver nor maps its library.
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
        assert!(!maps.contains("driver.so") && !maps.contains("memfd:"), "{maps}");
    });
}

/// LSV-24: a service that root starts becomes another user when it listens, unless the configuration forbids it.
#[test]
fn lsv_24_the_service_leaves_root() {
    case(|mut machine| {
        machine.package("soft");
        for (config, user) in [
            (r#"{"fallback":"soft"}"#, config::USER),
            (r#"{"fallback":"soft","user":54321}"#, 54321),
            (r#"{"fallback":"soft","user":0}"#, 0),
        ] {
            machine.config(config);
            machine.start();
            machine.expect(&["0-libsoft.so.json"]);
            let process = machine.process();
            let user = format!("{user}\t{user}\t{user}\t{user}");
            assert_eq!(
                (machine.status(process, "Uid"), machine.status(process, "Gid")),
                (user.clone(), user)
            );
            assert_eq!(machine.status(process, "Groups"), "");
            machine.kill();
        }
    });
}

/// LSV-24: a service keeps one capability when it becomes another user. Root of a new user namespace has all capabilities.
#[test]
fn lsv_24_the_service_keeps_a_capability() {
    case(|mut machine| {
        if !Command::new("unshare")
            .args(["--user", "true"])
            .status()
            .is_ok_and(|status| status.success())
        {
            return skip("the system does not allow user namespaces");
        }
        // A process outside of the namespace defines its user IDs. The program `unshare` would define only those of `/etc/subuid`. `sh` has
        // no capability, because it was started without user IDs. `env` has all, so it can start a service in a folder of another user.
        let script = r#"
            for kind in uid gid; do
                until echo 0 0 65535 >/proc/$$/${kind}_map; do [ -e /proc/$$ ] || exit; sleep 0.01; done
            done 2>/dev/null &
            exec unshare --user sh -c 'until grep -q . /proc/self/gid_map; do sleep 0.01; done; exec env "$0" "$@"' "$0" "$@"
        "#;
        machine.wrap = ["sh", "-c", script].map(str::to_owned).to_vec();
        machine.start();
        // The answer shows that the service has given up its privileges.
        assert!(machine.client().is_alive());
        assert_eq!(capabilities(&machine, machine.process()), [0, KEPT, KEPT, 0, 0]);
        assert!(
            machine
                .status(machine.process(), "Uid")
                .starts_with(&format!("{}\t", config::USER))
        );
        assert!(!machine.log().contains("CAP_SYS_RESOURCE"));
    });
}

/// LSV-46: a service of root has a higher priority than programs of users. If the service leads its session, so has the session.
#[test]
fn lsv_46_programs_leave_the_service_its_share_of_the_processor() {
    case(|mut machine| {
        machine.wrap = vec!["setsid".to_owned()];
        machine.start();
        let process = machine.process();
        let read = |name| fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
        // The kernel's file has the name of the program in parentheses, and the priority in the seventeenth column after the name.
        let fields = read("stat");
        let nice = fields
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().nth(16));
        assert_eq!(nice, Some("-10"), "{fields}");
        let group = read("autogroup");
        if group.is_empty() {
            return skip("the system does not divide the processor between sessions");
        }
        assert!(group.trim_end().ends_with(" nice -10"), "{group}");
    });
}

/// LSV-64: the service answers even if the log is never read or cannot be written.
#[test]
fn lsv_64_the_log_holds_up_nobody() {
    case(|mut machine| {
        for (is_open, is_full) in [(true, false), (true, true), (false, false)] {
            let (log, mut end) = std::io::pipe().unwrap();
            let log = is_open.then_some(log);
            if is_full {
                rustix::io::ioctl_fionbio(&end, true).unwrap();
                while end.write_all(&[b'x'; 4096]).is_ok() {}
                rustix::io::ioctl_fionbio(&end, false).unwrap();
            }
            machine.start_with(|command| {
                command.stderr(end);
            });
            for _ in 0..3000 {
                machine.client().send_raw(b"garbage", &[]).unwrap();
            }
            assert!(machine.client().is_alive());
            machine.kill();
            let Some(log) = log else { continue };
            let text = std::io::read_to_string(log).unwrap();
            // The service limits the rate of log messages, so the log has far fewer lines than there were events.
            assert!(text.lines().count() < 500, "{text}");
        }
    });
}

/// LSV-24: an ordinary user can run the service.
#[test]
fn lsv_24_the_service_needs_no_privileges() {
    case(|mut machine| {
        machine.user = Some(54321);
        machine.device("renderD128", "one");
        machine.package("b");
        machine.start();
        machine.expect(&["2-libb.so.json"]);
        assert!(machine.status(machine.process(), "Uid").starts_with("54321\t54321\t"));
        eventually("it says so", || machine.log().contains("CAP_SYS_RESOURCE is missing"));
        let mut client = machine.client();
        assert_eq!(client.get("2-libb.so").attached(), library(64, 100_000));
        machine.package("a");
        machine.expect(&["5-liba.so.json"]);
        eventually("the state is written", || {
            machine.path("run/debug/manifest-fs/5-liba.so.json").exists()
        });
    });
}

/// LSV-24: after its start, the service opens no files outside the folders that it needs.
#[test]
fn lsv_24_the_service_stays_in_its_folders() {
    case(|mut machine| {
        if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
            return skip("there is no strace to see what the service opens");
        }
        let trace = machine.path("trace");
        machine.wrap = ["strace", "-D", "-f", "-q", "-s", "4096", "-o", trace.to_str().unwrap()]
            .map(str::to_owned)
            .to_vec();
        machine
            .wrap
            .push("--trace=open,openat,openat2,execve,socket,connect,mmap,mprotect".to_owned());
        machine.device("renderD128", "one");
        machine.package("b");
        machine.start();
        machine.expect(&["2-libb.so.json"]);
        machine.package("a");
        machine.expect(&["5-liba.so.json"]);
        machine.remove_device("renderD128");
        machine.expect(&[]);
        let mut client = machine.client();
        assert_eq!(client.get("5-liba.so").status(), "ok");
        machine.inspect();
        machine.kill();
        let read = || fs::read_to_string(&trace).unwrap();
        eventually("all is written down", || read().contains("+++ killed by SIGKILL"));
        let text = read();
        let own = machine.path("");
        let (_, after) = text.split_once(".lock\"").expect("it locks its socket");
        let mut opened = 0;
        for line in after.lines().skip(1) {
            let path = line.split('"').nth(1);
            let call = line.split_whitespace().nth(1).unwrap_or_default();
            // The service opens a folder with `O_PATH` to define a rule of Landlock. Such a descriptor does not allow reading.
            if call.starts_with("open") && !line.contains("O_PATH") {
                let path = path.unwrap_or_else(|| panic!("{line}"));
                let is_relative = !path.starts_with('/');
                let is_process =
                    path.starts_with("/proc/self/fd/") || (path.starts_with("/proc/") && path.ends_with("/exe"));
                // A new thread reads these files to find out the number of processors.
                let is_system = path.starts_with("/sys/fs/cgroup") || path == "/proc/self/cgroup";
                assert!(
                    is_relative || is_process || is_system || path.starts_with(own.to_str().unwrap()),
                    "{line}"
                );
                opened += 1;
            }
            assert!(!call.starts_with("execve"), "{line}");
            assert!(!(call.starts_with("mmap") && line.contains("PROT_EXEC")), "{line}");
        }
        assert!(opened > 20, "only {opened} files were opened:\n{after}");
    });
}

/// LSV-57: a second service on the same socket ends with an error.
#[test]
fn lsv_57_a_second_service_ends_with_an_error() {
    case(|mut machine| {
        machine.start();
        let mut command = machine.command();
        let output = command.stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            printed(&output).contains("another service listens there"),
            "{}",
            printed(&output)
        );
        assert!(machine.client().is_alive());
        // A service does not replace another service, even if the lock file of the first service was removed.
        fs::remove_file(machine.path("run/service.sock.lock")).unwrap();
        let output = machine.command().stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
        assert!(machine.client().is_alive());
        // The socket of a killed service remains, and the next service replaces it.
        machine.kill();
        assert!(machine.socket().exists());
        machine.start();
        assert!(machine.client().is_alive());
    });
}

/// LSV-58: if another file is at the path of the socket, the service ends with an error and does not touch the file. It still prints earlier
/// messages.
#[test]
fn lsv_58_a_file_in_the_place_of_the_socket_stays() {
    case(|mut machine| {
        machine.config(r#"{"devices":[{"icds":["../x"]}]}"#);
        machine.write("run/service.sock", "mine");
        let output = machine.command().stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let text = printed(&output);
        assert!(
            text.contains("no socket") && text.contains("invalid name of a package"),
            "{text}"
        );
        assert_eq!(fs::read_to_string(machine.socket()).unwrap(), "mine");
    });
}

/// LSV-33: the service uses a socket that it inherits from its parent.
#[test]
fn lsv_33_the_socket_may_be_inherited() {
    case(|mut machine| {
        let flags = SocketFlags::empty();
        let make = |kind| rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None).unwrap();
        let socket = make(SocketType::SEQPACKET);
        rustix::net::bind(&socket, &SocketAddrUnix::new(machine.socket()).unwrap()).unwrap();
        rustix::net::listen(&socket, 8).unwrap();
        // The shell moves the socket from its standard input to descriptor 3, and sets `LISTEN_PID` to its own process ID.
        let script = r#"exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@""#;
        machine.wrap = ["sh", "-c", script].map(str::to_owned).to_vec();
        let mut child = machine.command().stdin(socket).spawn().unwrap();
        eventually("it serves", || machine.client().is_alive());
        eventually("it says so", || machine.log().contains("inherited"));
        assert!(!machine.path("run/service.sock.lock").exists());
        child.kill().unwrap();
        child.wait().unwrap();
        // The service rejects a socket that is not of the type `SOCK_SEQPACKET`.
        let output = machine
            .command()
            .stdin(make(SocketType::STREAM))
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(printed(&output).contains("LISTEN_FDS"), "{}", printed(&output));
    });
}

/// LSV-43, LSV-44: the service writes its state as files, and removes the files of devices and drivers that disappear.
#[test]
fn lsv_43_the_state_is_written_for_people() {
    case(|mut machine| {
        machine.device("renderD128", "one");
        machine.package("b");
        machine.with_umask(0o077);
        machine.start();
        machine.expect(&["2-libb.so.json"]);
        let read = |path: &str| fs::read_to_string(machine.path("run/debug").join(path)).unwrap_or_default();
        eventually("it is written", || read("inspect.json").contains("\"initialized\""));
        let state = serde_json::from_slice::<Value>(read("inspect.json").as_bytes()).unwrap();
        let state = state.get("core/vulkan_loader").unwrap();
        let at = |path: &[&str]| {
            let found = path.iter().try_fold(state, |state, key| state.get(key));
            found
                .unwrap_or_else(|| panic!("{path:?} is not in {state}"))
                .to_string()
        };
        assert_eq!(at(&["health"]), "\"OK\"");
        assert_eq!(at(&["config", "fallback"]), "\"soft\"");
        assert_eq!(
            at(&["devices", "drm-renderD128"]),
            r#"{"active_icds":["2"],"driver":"one","icds":[{"flags":1,"package":"a"},{"flags":1,"package":"b"},{"flags":1,"package":"a-32"},{"flags":1,"package":"b-32"}]}"#
        );
        assert_eq!(at(&["icds", "0", "status"]), "\"failed\"");
        assert_eq!(at(&["icds", "2", "library_path"]), "\"2-libb.so\"");
        assert_eq!(at(&["icds", "2", "file_path"]), "\"lib/driver.so\"");
        assert_eq!(at(&["icds", "2", "version"]), "1");
        assert_eq!(at(&["icds", "2", "size"]), "100000");
        assert_eq!(at(&["icds", "2", "error"]), "\"\"");
        assert_eq!(at(&["icds", "2", "sha256"]).len(), 66);
        assert!(at(&["icds", "2", "manifest_contents"]).contains("2-libb.so"));
        assert!(at(&["clients"]).parse::<u32>().is_ok());
        assert_eq!(read("manifest-fs/2-libb.so.json"), manifest("2-libb.so"));
        assert_eq!(read("device-fs/class/gpu/renderD128"), "driver=one\nvendor=0x1002\n");
        // Only the service's user can read the state, both in the folder and through a request.
        let state = fs::metadata(machine.path("run/debug")).unwrap();
        assert_eq!(state.permissions().mode() & 0o7777, 0o700);
        assert_eq!(std::os::unix::fs::MetadataExt::uid(&state), config::USER);
        machine.remove_device("renderD128");
        eventually("it is gone", || {
            !machine.path("run/debug/device-fs/class/gpu/renderD128").exists()
        });
        eventually("its manifest too", || {
            !machine.path("run/debug/manifest-fs/2-libb.so.json").exists()
        });
        let left: Vec<_> = fs::read_dir(machine.path("run/debug/manifest-fs")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    });
}

/// LSV-45: root in a container, which can take the user ID of the service, does not get the state with that ID. Here, the service is in a
/// PID namespace of its own, so that the test is elsewhere.
#[test]
fn lsv_45_the_user_of_the_service_is_denied_elsewhere() {
    case(|mut machine| {
        let (end, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        if nix::sys::socket::getsockopt(&end, nix::sys::socket::sockopt::PeerPidfd).is_err() {
            return skip("the system does not show the PID namespaces of clients");
        }
        // The service ends with the shell, which is the first process of the namespace.
        let words = [
            "unshare",
            "--pid",
            "--fork",
            "--mount-proc",
            "--kill-child",
            "sh",
            "-c",
            r#""$0" "$@" & wait"#,
        ];
        machine.wrap = words.map(str::to_owned).to_vec();
        machine.start();
        for (user, expected) in [(config::USER, "denied"), (20_000, "denied"), (0, "ok")] {
            let mut client = machine::connections(&machine.socket(), user, 1).remove(0);
            assert_eq!(
                client.ask(wire::Operation::Inspect, "{}").status(),
                expected,
                "user {user}"
            );
        }
    });
}

/// LSV-43: the service follows no link in the folder of its state, because the folder belonged to the user of an earlier service.
#[test]
fn lsv_43_links_in_the_folder_of_the_state_are_not_followed() {
    case(|mut machine| {
        for link in ["manifest-fs", "device-fs", "device-fs/class"] {
            fs::create_dir_all(machine.path("away")).unwrap();
            fs::create_dir_all(machine.path("run/debug").join(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(machine.path("away"), machine.path("run/debug").join(link)).unwrap();
            machine.start();
            eventually("the log says so", || machine.log().contains("the state is not written"));
            assert_eq!(fs::read_dir(machine.path("away")).unwrap().count(), 0, "{link}");
            assert_eq!(
                std::os::unix::fs::MetadataExt::uid(&fs::metadata(machine.path("away")).unwrap()),
                0
            );
            machine.kill();
            fs::remove_dir_all(machine.path("run/debug")).unwrap();
        }
    });
}

/// LSV-57: the service may be killed and restarted at any time, and clients keep their libraries.
#[test]
fn lsv_57_a_service_that_is_started_anew_serves() {
    case(|mut machine| {
        machine.start_with_soft();
        let mut client = machine.client();
        let mut library = client.get("0-libsoft.so");
        machine.kill();
        assert!(!client.is_alive());
        assert_eq!(library.attached().len(), 100_000);
        machine.start();
        machine.expect(&["0-libsoft.so.json"]);
    });
}

/// Invalid arguments make the program end with an error.
#[test]
fn wrong_words_end_with_an_error() {
    for words in [
        &["--nothing"][..],
        &["package", "a"],
        &["--check"],
        &["--check", "/nowhere/x"],
    ] {
        let output = Command::new(PROGRAM).args(words).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success() && !output.stderr.is_empty(), "{words:?}");
    }
}

/// systemd accepts the installed units, and rates the exposure of the service as low.
#[test]
fn units_are_valid() {
    let analyze = |words: &[&str]| {
        Command::new("systemd-analyze")
            .args(words)
            .stdin(Stdio::null())
            .output()
    };
    if analyze(&["--version"]).is_err() {
        return skip("there is no systemd-analyze to look at the units");
    }
    let place = tempfile::tempdir().unwrap();
    let prefix = place.path().to_str().unwrap();
    fs::create_dir(place.path().join("bin")).unwrap();
    steady::copy_program(PROGRAM.as_ref(), &place.path().join("bin/vk-loader-service"), 0o755);
    let units = ["service", "socket"].map(|kind| {
        let name = format!("vulkan-loader-service.{kind}");
        let template = format!("{}/../../packaging/systemd/{name}.in", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(template).unwrap().replace("@UNIT_PREFIX@", prefix);
        assert!(!text.contains("@UNIT"), "{text}");
        // systemd must not stop the unit after repeated crashes, and must not stop the socket because of many connections.
        let limit = if kind == "service" {
            "StartLimitIntervalSec=0"
        } else {
            "TriggerLimitIntervalSec=0"
        };
        assert!(text.lines().any(|line| line == limit), "{text}");
        let unit = place.path().join(name);
        fs::write(&unit, text).unwrap();
        unit.to_str().unwrap().to_owned()
    });
    let output = analyze(&["verify", &units[0], &units[1]]).unwrap();
    assert!(
        output.status.success() && !printed(&output).contains("loader-service"),
        "{}",
        printed(&output)
    );
    // The threshold is in tenths: systemd rates values below 2 as good.
    let output = analyze(&["security", "--offline=true", "--threshold=20", &units[0]]).unwrap();
    assert!(output.status.success(), "{}", printed(&output));
}
