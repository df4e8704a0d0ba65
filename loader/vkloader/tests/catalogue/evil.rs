//! `vkloader catalogue` with malicious drivers, and with drivers that are being installed. A driver must not affect the entries of other
//! drivers.

use crate::asked::*;
use crate::linker::machine_with_source;
use crate::machine::{Machine, behind, built};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use steady::eventually;

/// Runs an update, and returns its output and error output together.
fn update(machine: &Machine, words: &[&str]) -> String {
    let Output { status, stdout, stderr } = run(machine, &[&["update"], words].concat());
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{text}");
    text
}

/// Returns the entry of a driver, or null if the catalogue does not contain the driver.
fn known(machine: &Machine, name: &str) -> Value {
    driver(&written(machine), name)
}

/// Returns `true` if a process with the ID `number` exists and has not ended.
fn is_alive(number: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{}/stat", number.trim()));
    state.is_ok_and(|state| !state.contains(") Z "))
}

#[test]
fn what_a_driver_prints_is_not_its_answer() {
    let machine = machine();
    machine.driver("loud", "run vkCreateInstance echo '{}'; echo words\ndevice one");
    update(&machine, &[]);
    let loud = known(&machine, "loud");
    assert_eq!(
        (&loud["outcome"], &loud["devices"][0]["name"]),
        (&"answered".into(), &"one".into())
    );
}

#[test]
fn a_driver_that_ends_its_process_counts_as_one_that_crashes() {
    let machine = machine();
    machine.driver("good", "device one");
    for (line, code) in [("exit vkCreateInstance", 0), ("exit vkCreateInstance 3", 3)] {
        machine.driver("quitting", line);
        let text = update(&machine, &[]);
        let words = format!("ENDED its process with code {code} in vkCreateInstance: programs leave it out");
        assert!(text.contains(&words), "{text}");
        let quitting = known(&machine, "quitting");
        assert_eq!(
            (&quitting["outcome"], &quitting["status"]),
            (&"ended".into(), &code.into())
        );
    }
    assert_eq!(known(&machine, "good")["outcome"], "answered");
}

/// An update ignores the user's settings file, which could add layers.
#[test]
fn a_driver_is_asked_without_layers_of_a_settings_file() {
    let machine = machine();
    machine.driver("a", "device one");
    let layer = machine.file(
        "layer.json",
        r#"{"file_format_version": "1.2.0", "layer": {"name": "VK_LAYER_MOCK_on", "type": "GLOBAL", "api_version": "1.3.0",
        "library_path": "/nowhere/liblayer.so", "implementation_version": "1", "description": ""}}"#,
    );
    let layer = layer.display();
    fs::create_dir_all(machine.path("data/vulkan/loader_settings.d")).expect("a folder");
    machine.file(
        "data/vulkan/loader_settings.d/vk_loader_settings.json",
        format!(
            r#"{{"file_format_version": "1.0.0",
            "settings": {{"layers": [{{"name": "VK_LAYER_MOCK_on", "path": "{layer}", "control": "on"}}]}}}}"#
        ),
    );
    let text = update(&machine, &[]);
    assert_eq!(known(&machine, "a")["outcome"], "answered", "{text}");
}

/// A manifest names a driver's library without a path, and opening the library crashes the process. Only the dynamic linker's log then
/// contains the path of the library.
#[test]
fn a_driver_of_a_bare_name_that_crashes_is_known_by_its_file() {
    steady::with_more_time(|factor| {
        let mut machine = machine();
        for (name, lines) in [
            ("early", "crash vk_icdNegotiateLoaderICDInterfaceVersion"),
            ("late", "hang vkCreateInstance"),
        ] {
            machine.driver(name, lines);
            machine.manifest(name, format!("libmock_{name}.so").as_ref(), "");
        }
        let libraries = machine.path("libraries").display().to_string();
        machine.variable("LD_LIBRARY_PATH", libraries);
        let text = update(&machine, &["--timeout", &(8 * factor).to_string()]);
        for (name, outcome) in [("early", "crashed"), ("late", "hung")] {
            let library = machine.path(&format!("libraries/libmock_{name}.so"));
            let known = known(&machine, name);
            assert_eq!(known["outcome"], outcome, "{text}");
            assert_eq!(known["library"]["path"], library.display().to_string());
        }
    });
}

/// The dynamic linker finds the library of a bare name. The update finds the same file before it asks the driver, so it notices without a
/// second query that the file stays the same.
#[test]
fn a_driver_of_a_bare_name_is_asked_once() {
    let mut machine = machine();
    machine.driver("bare", "device one");
    machine.manifest("bare", "libmock_bare.so".as_ref(), "");
    let libraries = machine.path("libraries").display().to_string();
    machine.variable("LD_LIBRARY_PATH", libraries);
    let text = update(&machine, &["--no-records"]);
    assert_eq!(known(&machine, "bare")["outcome"], "answered", "{text}");
    assert_eq!(instances(&machine), 1, "{text}");
}

/// An update kills the processes that a driver started, both inside and outside the driver's process group.
#[test]
fn nothing_that_a_driver_starts_outlives_the_asking() {
    let machine = machine();
    let started = machine.path("started");
    let start = |how: &str| {
        format!(
            "run vkCreateInstance {how} sh -c 'echo $$ >> {}; sleep 600' &",
            started.display()
        )
    };
    machine.driver("staying", &format!("{}\ndevice one", start("")));
    machine.driver("leaving", &format!("{}\ndevice one", start("setsid")));
    // The driver `waiting` answers only after processes that the other drivers start have written their process IDs.
    let wait = format!(
        "run vkEnumeratePhysicalDevices while ! [ -s {} ]; do sleep 0.01; done",
        started.display()
    );
    machine.driver("waiting", &format!("{wait}\ndevice one"));
    update(&machine, &[]);
    let numbers = fs::read_to_string(&started).unwrap_or_default();
    for number in numbers.lines() {
        eventually("it is ended", || !is_alive(number));
    }
    for name in ["staying", "leaving"] {
        assert_eq!(known(&machine, name)["outcome"], "answered");
    }
}

/// Starts an update and waits until its driver hangs. Returns the update, and the ID of the process that asks the driver.
fn hanging(machine: &Machine) -> (Child, String) {
    let number = machine.path("number");
    machine.driver(
        "hanging",
        &format!(
            "run vkCreateInstance echo $PPID > {}\nhang vkCreateInstance",
            number.display()
        ),
    );
    // The shell may have started the tests with SIGINT, SIGTERM or SIGHUP ignored. An update would then also ignore these signals.
    let default = ["env", "--default-signal=INT,TERM,HUP"];
    let child = behind(&default, &command(machine, &["update", "--timeout", "3600"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let written = || fs::read_to_string(&number).unwrap_or_default();
    eventually("it hangs", || written().ends_with('\n'));
    (child, written())
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
}

#[test]
fn an_update_that_is_interrupted_leaves_nothing() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let machine = machine();
        let (mut child, number) = hanging(&machine);
        send(signal, &child);
        // The update must end without waiting for the driver.
        assert_eq!(steady::ending(&mut child).code(), Some(2), "{signal}");
        eventually("the process that asked has ended", || !is_alive(&number));
        let left: Vec<_> = fs::read_dir(machine.path("temporary")).expect("a folder").collect();
        assert!(left.is_empty(), "{signal}: {left:?}");
        assert!(!file(&machine).exists(), "{signal}");
    }
}

#[test]
fn what_asks_ends_with_an_update_that_is_killed() {
    let machine = machine();
    let (mut child, number) = hanging(&machine);
    send("-KILL", &child);
    steady::ending(&mut child);
    eventually("it ends too", || !is_alive(&number));
}

#[test]
fn a_driver_that_says_too_much_costs_its_own_entry() {
    let machine = machine();
    let many: String = (0..1025)
        .map(|number| format!("instance_extension VK_MOCK_{number}\n"))
        .collect();
    machine.driver("many", &many);
    for name in ["long1", "long2", "long3", "long4", "long5"] {
        let long: String = (0..1024)
            .map(|number| format!("instance_extension VK_{name}_{number}_{:x<230}\n", ""))
            .collect();
        machine.driver(name, &long);
    }
    machine.driver("few", "instance_extension VK_KHR_surface\ndevice one");
    let text = update(&machine, &[]);
    assert!(text.contains("its entry exceeds the limits of a catalogue"), "{text}");
    assert!(fs::metadata(file(&machine)).expect("a file").len() <= catalogue::MOST_BYTES);
    assert_eq!(known(&machine, "few")["extensions"][0], "VK_KHR_surface 1");
    assert_eq!(
        known(&machine, "many")["extensions"],
        Value::Null,
        "programs would not believe them"
    );
    let kept = ["long1", "long2", "long3", "long4", "long5"].map(|name| known(&machine, name)["extensions"].is_array());
    assert!(kept.contains(&true) && kept.contains(&false), "{kept:?}");
}

/// The kernel kills the process that asks a driver first when memory is short. Such an end shows nothing about the driver.
#[test]
fn a_driver_whose_process_is_killed_is_asked_again() {
    let machine = machine();
    let killed = machine.path("killed");
    let kill = format!(
        "run vkCreateInstance [ -e {0} ] || {{ touch {0}; kill -KILL $PPID; }}",
        killed.display()
    );
    machine.driver("a", &format!("{kill}\ndevice one"));
    let text = update(&machine, &[]);
    assert_eq!(known(&machine, "a")["outcome"], "answered", "{text}");
    assert!(killed.exists());
    machine.driver("a", "run vkCreateInstance kill -KILL $PPID");
    let text = update(&machine, &[]);
    assert!(text.contains("its process was ended by signal 9"), "{text}");
    assert_eq!(known(&machine, "a"), Value::Null);
}

/// If the process that lists the drivers ends early, its list lacks drivers, so the previous catalogue stays.
#[test]
fn drivers_that_are_not_all_listed_leave_the_catalogue_unchanged() {
    let machine = machine();
    machine.driver("a", "device one");
    update(&machine, &[]);
    let before = fs::read(file(&machine)).expect("a file");
    for number in 0..600 {
        machine.manifest(&format!("{number}-{:x<200}", ""), "/nowhere/library.so".as_ref(), "");
    }
    // The records of so many drivers exceed the limit for the size of a file, so a signal ends the process.
    let mut limited = behind(&["prlimit", "--fsize=300000"], &command(&machine, &["update"]));
    let output = limited.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("the drivers are unknown: signal 25"), "{text}");
    assert_eq!(fs::read(file(&machine)).expect("a file"), before);
}

/// DRV-270: the number of drivers in a catalogue is limited. The update reports the number of drivers that exceed the limit, and programs
/// open those drivers.
#[test]
fn drivers_beyond_the_most_are_said_and_not_asked() {
    let machine = machine();
    machine.driver("a", "device one");
    for number in 0..catalogue::MOST_ENTRIES + 2 {
        let gone: PathBuf = format!("/nowhere/lib{number}.so").into();
        machine.manifest(&format!("b{number}"), &gone, "");
    }
    let text = update(&machine, &[]);
    assert!(
        text.contains("3 drivers are not asked: a catalogue holds 256"),
        "{text}"
    );
    assert_eq!(known(&machine, "a")["outcome"], "answered");
}

#[test]
fn names_do_nothing_to_a_terminal() {
    let machine = machine();
    machine.driver("red", "device \u{1b}[31mred\u{1b}]0;title\u{7}\u{202e}");
    let text = update(&machine, &[]);
    let output = command(&machine, &["show"]).output().expect("it starts");
    for text in [text, String::from_utf8_lossy(&output.stdout).into_owned()] {
        assert!(text.contains(r"\u{1b}[31mred"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }
}

#[test]
fn a_library_that_changes_while_it_is_asked_is_asked_again() {
    let machine = machine();
    let library = machine.path("libraries/libmock_a.so");
    let once = machine.path("once");
    // An installer replaces the library after the driver has listed its extensions.
    let replace = format!(
        "run vkCreateInstance [ -e {1} ] || {{ touch {1}; cp {0} {0}.new; mv {0}.new {0}; }}",
        library.display(),
        once.display()
    );
    machine.driver("a", &format!("{replace}\ndevice one"));
    update(&machine, &["--no-records"]);
    let journal = fs::read_to_string(machine.path("journal")).expect("a journal");
    assert_eq!(journal.matches("vkCreateInstance").count(), 2, "{journal}");
    assert_eq!(known(&machine, "a")["outcome"], "answered");
    // If the files of a driver change during each attempt, the catalogue has no entry for the driver.
    let replace = format!("run vkCreateInstance cp {0} {0}.new; mv {0}.new {0}", library.display());
    machine.driver("a", &format!("{replace}\ndevice one"));
    let text = update(&machine, &[]);
    assert!(text.contains("its files change while it is asked"), "{text}");
    assert_eq!(known(&machine, "a"), Value::Null);
}

/// Adds a driver whose library has the name of a Mesa driver.
fn radeon(machine: &Machine, lines: &str) {
    let library = machine.path("libraries/libvulkan_radeon.so");
    fs::copy(built("libmock_driver.so"), &library).expect("cargo built the mock driver");
    machine.file("libraries/libvulkan_radeon.conf", format!("ordinal 0\n{lines}\n"));
    machine.manifest("radeon", &library, "");
}

/// Adds the node of a graphics card, with the card's kernel driver.
pub(crate) fn node(machine: &Machine) -> PathBuf {
    for folder in ["root/dev/dri", "root/sys/class/drm/renderD128/device"] {
        fs::create_dir_all(machine.path(folder)).expect("folders");
    }
    let link = machine.path("root/sys/class/drm/renderD128/device/driver");
    symlink("../drivers/amdgpu", link).expect("a link");
    machine.file("root/dev/dri/renderD128", "")
}

/// The driver lists no device in a process without permission to use the card. The catalogue must not record that there is no device,
/// because the kernel's lists stay the same when the permission is granted.
#[test]
fn a_card_that_may_not_be_used_is_not_one_that_no_driver_has() {
    let mut machine = machine();
    let node = node(&machine);
    radeon(&machine, "");
    update(&machine, &[]);
    assert_eq!(known(&machine, "radeon")["hardware"], "present");
    if !machine.unprivileged() {
        return;
    }
    for folder in ["cache", "temporary"] {
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(machine.path(folder), open).expect("the owner may");
    }
    fs::remove_dir_all(machine.path("cache/vulkan-loader")).expect("a folder");
    fs::set_permissions(&node, fs::Permissions::from_mode(0o600)).expect("the owner may");
    update(&machine, &[]);
    let radeon = known(&machine, "radeon");
    assert_eq!(
        (&radeon["hardware"], &radeon["devices"]),
        (&"pending".into(), &serde_json::json!([]))
    );
}

#[test]
fn devices_that_change_meanwhile_make_it_one_of_no_machine() {
    let machine = machine();
    let node = node(&machine);
    let asked = |lines: &str| {
        machine.driver("a", &format!("{lines}\ndevice one"));
        let _ = fs::remove_file(machine.path("journal"));
        update(&machine, &["--no-records"]);
        let known = written(&machine);
        let journal = fs::read_to_string(machine.path("journal")).expect("it was asked");
        let is_of_one = known["machine"]["fingerprint"] != "";
        (journal.matches("vkCreateInstance").count(), is_of_one)
    };
    let node = node.display();
    assert_eq!(
        asked(&format!("run vkCreateInstance rm -f {node}")),
        (2, true),
        "asked again"
    );
    let toggle = format!("run vkCreateInstance if [ -e {node} ]; then rm {node}; else touch {node}; fi");
    assert_eq!(asked(&toggle), (4, false), "the devices change during each attempt");
}

#[test]
fn who_may_not_write_is_told_before_any_driver_is_asked() {
    let mut machine = machine();
    machine.driver("a", "device one");
    if !machine.unprivileged() {
        return;
    }
    let output = command(&machine, &["update"]).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text.contains("Permission denied") && text.contains("set XDG_CACHE_HOME"),
        "{text}"
    );
    assert!(!machine.path("journal").exists(), "no driver was opened");
}

#[test]
fn the_umask_does_not_hide_it() {
    let machine = machine();
    machine.driver("a", "device one");
    let plain = command(&machine, &["update"]);
    let mut masked = behind(&["sh", "-c", "umask 077; exec \"$@\"", "sh"], &plain);
    assert!(masked.output().expect("it starts").status.success());
    let mode = |path: PathBuf| fs::metadata(path).expect("it was made").permissions().mode() & 0o777;
    assert_eq!(mode(file(&machine)), 0o644);
    assert_eq!(mode(machine.path("cache/vulkan-loader")), 0o755);
}

#[test]
fn a_pipe_in_its_place_is_not_waited_for() {
    let machine = machine();
    fs::create_dir_all(machine.path("cache/vulkan-loader")).expect("a folder");
    assert!(
        Command::new("mkfifo")
            .arg(file(&machine))
            .status()
            .expect("mkfifo is there")
            .success()
    );
    let output = command(&machine, &["show"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    machine.driver("a", "device one");
    update(&machine, &[]);
    assert_eq!(known(&machine, "a")["outcome"], "answered", "it is replaced");
}

#[test]
fn a_machine_without_drivers_has_a_catalogue_that_says_so() {
    let machine = machine();
    assert!(update(&machine, &[]).contains("No driver is known"));
}

/// DRV-275: an update of the system's catalogue runs without a display, but most programs run in sessions with a display. If a driver only
/// fails without a display, the catalogue does not record the driver as broken.
#[test]
fn a_driver_that_ends_without_a_display_is_not_left_out() {
    let asks = r#"
        struct sockaddr_un place = {.sun_family = AF_UNIX};
        char answer;
        const char *display = getenv("NAME");
        if (!display)
            abort();
        strncpy(place.sun_path, display, sizeof place.sun_path - 1);
        int client = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(client, (struct sockaddr *)&place, sizeof place) || read(client, &answer, 1) != 1)
            abort();"#;
    for (body, outcome) in [
        ("if (!getenv(\"DISPLAY\")) abort();".to_owned(), ""),
        ("if (!getenv(\"XDG_RUNTIME_DIR\")) _exit(3);".to_owned(), ""),
        (asks.replace("NAME", "DISPLAY"), ""),
        (asks.replace("NAME", "WAYLAND_DISPLAY"), ""),
        ("abort();".to_owned(), "crashed"),
        ("if (getenv(\"DISPLAY\")) _exit(3); abort();".to_owned(), "crashed"),
    ] {
        let heads =
            ["stdlib.h", "string.h", "unistd.h", "sys/socket.h", "sys/un.h"].map(|name| format!("#include <{name}>\n"));
        let source = format!(
            "{}__attribute__((constructor)) static void start(void) {{ {body} }}",
            heads.concat()
        );
        let Some(machine) = machine_with_source(&source, "device one") else {
            return;
        };
        let text = update(&machine, &[]);
        let entry = known(&machine, "needed");
        assert_eq!(entry["outcome"].as_str().unwrap_or_default(), outcome, "{body}: {text}");
        assert_eq!(
            text.contains("may answer in a session"),
            outcome.is_empty(),
            "{body}: {text}"
        );
    }
}
