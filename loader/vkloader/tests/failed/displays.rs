//! Programs that fail because of their display.

use crate::machine::{self, Machine};
use crate::windows::{PROGRAM as SHOWING, X11};
use crate::{change, of_program, with_library};
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[test]
fn a_missing_display_is_said_where_a_program_failed() {
    let _alone = alone();
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libxcb.so.1");
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "display.missing");
    assert!(
        explained.findings().contains("neither DISPLAY"),
        "{}",
        explained.findings()
    );
    machine.variable("DISPLAY", ":4711");
    let explained = of_program(&machine, &program, &[]);
    assert!(
        explained.findings().contains("/tmp/.X11-unix/X4711"),
        "{}",
        explained.findings()
    );
    // The program queried no driver, so a driver that is installed without a manifest is not the cause of the failure.
    std::fs::create_dir_all(machine.path("system/sys/bus/pci/devices/0000:01:00.0/drm/renderD128")).expect("folders");
    for (name, text) in [("class", "0x030000"), ("vendor", "0x1002"), ("device", "0x73bf")] {
        machine.file(&format!("system/sys/bus/pci/devices/0000:01:00.0/{name}"), text);
    }
    if machine.in_made_up_system(&["/sys"]) {
        let codes = of_program(&machine, &program, &[]);
        let codes = codes.codes();
        assert!(!codes.iter().any(|code| code.starts_with("hardware.")), "{codes:?}");
        machine.start_with(Vec::new());
    }
    // A program without windows cannot fail because of a missing display.
    let program = with_library(&machine, "libother.so.1");
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "program.no-instance");
    assert!(!explained.codes().contains(&"display.missing"));
}

#[test]
fn the_display_of_the_session_is_named_if_a_variable_names_another() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libxcb.so.1");
    let folder = machine.path("run");
    std::fs::create_dir(&folder).expect("a folder");
    let _server = UnixListener::bind(folder.join("wayland-0")).expect("a socket");
    machine.variable("XDG_RUNTIME_DIR", folder.to_str().expect("plain"));
    machine.variable("WAYLAND_DISPLAY", "wayland-1");
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "display.missing");
    assert_eq!(
        explained.advice(),
        "Use the display of the session: WAYLAND_DISPLAY=wayland-0 PROGRAM"
    );
    machine.variable("WAYLAND_DISPLAY", "wayland-0");
    assert!(!of_program(&machine, &program, &[]).codes().contains(&"display.missing"));
}

/// The folder of a session belongs to its user, and no other user may look into it.
#[test]
fn a_display_in_a_folder_of_another_user_is_not_called_missing() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libwayland-client.so.0");
    let folder = machine.path("run");
    std::fs::create_dir(&folder).expect("a folder");
    let _server = UnixListener::bind(folder.join("wayland-1")).expect("a socket");
    if !machine.unprivileged() {
        return;
    }
    let closed = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&folder, closed).expect("the owner may");
    machine.variable("XDG_RUNTIME_DIR", folder.to_str().expect("plain"));
    machine.variable("WAYLAND_DISPLAY", "wayland-1");
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "display.missing");
    let wanted = format!("may not look into {}, which belongs to root", folder.display());
    assert!(explained.findings().contains(&wanted), "{}", explained.findings());
    let wanted = format!(
        "sudo -u root env XDG_RUNTIME_DIR={} WAYLAND_DISPLAY=wayland-1 PROGRAM",
        folder.display()
    );
    assert!(explained.advice().contains(&wanted), "{}", explained.advice());
    // The superuser may look into the folder, where a compositor listens.
    machine.privileged();
    assert!(!of_program(&machine, &program, &[]).codes().contains(&"display.missing"));
}

/// A program over ssh has no variables of a session.
#[test]
fn the_variables_of_the_session_are_named_if_none_is_set() {
    let _alone = alone();
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libwayland-client.so.0");
    let folder = machine.path("system/run/user/1001");
    std::fs::create_dir_all(&folder).expect("folders");
    if !machine.in_made_up_system(&["/run"]) {
        return;
    }
    let _server = UnixListener::bind(folder.join("wayland-3")).expect("a socket");
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(
        explained.advice(),
        "Use the display of the session: XDG_RUNTIME_DIR=/run/user/1001 WAYLAND_DISPLAY=wayland-3 PROGRAM"
    );
}

/// Many programs open their window after they create an instance and before they list devices.
#[test]
fn a_missing_display_is_said_before_a_program_lists_devices() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libxcb.so.1");
    change(
        &machine,
        "libxcb.so.1",
        "if (list(made",
        "if (made) return 1; if (list(made",
    );
    let explained = of_program(&machine, &program, &["device"]);
    assert_eq!(explained.first(), "display.missing", "{:#}", explained.report);
}

/// Programs without a display examine the X servers of the machine, so tests with such programs or servers run one after the other.
static DISPLAYS: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    DISPLAYS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates the socket of an X server. Returns the socket, its path, and the number of its display. Reports the test as skipped and returns
/// `None` if the socket cannot be created. Each test uses a different display number.
fn x_server(test: u32) -> Option<(UnixListener, PathBuf, u32)> {
    let number = 40_000 + 10 * std::process::id() + test;
    let folder = Path::new("/tmp/.X11-unix");
    let path = folder.join(format!("X{number}"));
    match std::fs::create_dir_all(folder).and_then(|()| UnixListener::bind(&path)) {
        Ok(server) => Some((server, path, number)),
        Err(error) => {
            machine::skip(&format!("no socket of a display can be made here: {error}"));
            None
        }
    }
}

/// Starts a thread that answers each client of an X server with `answer`, in a thread of its own. Any process of the machine may be a client,
/// because programs without a display examine all X servers.
fn serve(server: UnixListener, answer: impl Fn(UnixStream) -> io::Result<()> + Send + Sync + 'static) {
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for client in server.incoming() {
            let (client, answer) = (client.expect("a client"), Arc::clone(&answer));
            // A client may end the connection at any time.
            std::thread::spawn(move || answer(client));
        }
    });
}

/// Starts an X server that refuses all clients until the returned switch is on.
fn refusing(server: UnixListener) -> Arc<AtomicBool> {
    let accepts = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&accepts);
    serve(server, move |mut client| {
        client.read_exact(&mut [0; 12])?;
        client.write_all(&[accepts.load(Ordering::SeqCst).into()])
    });
    switch
}

/// The socket of an X server exists, but the server rejects a program without authorization.
#[test]
fn a_display_that_refuses_the_program_is_named() {
    let _alone = alone();
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libxcb.so.1");
    let Some((server, path, number)) = x_server(0) else {
        return;
    };
    let accepts = refusing(server);
    machine.variable("DISPLAY", format!(":{number}"));
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "display.missing");
    assert!(
        explained.findings().contains("refuses programs without authorization"),
        "{}",
        explained.findings()
    );
    assert!(explained.advice().contains("XAUTHORITY"), "{}", explained.advice());
    accepts.store(true, Ordering::SeqCst);
    assert!(!of_program(&machine, &program, &[]).codes().contains(&"display.missing"));
    std::fs::remove_file(path).expect("just made");
}

/// Authorization that the X servers of these tests accept.
const COOKIE: &[u8] = b"0123456789abcdef";

/// Gives programs a file with an authorization for a display. `kind` determines whether the entry is for the host in it, or for each host.
fn authorize(machine: &mut Machine, kind: [u8; 2], number: u32) {
    let mut entry = kind.to_vec();
    for part in [
        b"elsewhere",
        number.to_string().as_bytes(),
        b"MIT-MAGIC-COOKIE-1",
        COOKIE,
    ] {
        entry.extend(u16::try_from(part.len()).expect("short").to_be_bytes());
        entry.extend(part);
    }
    let file = machine.file("cookies", entry);
    machine.variable("XAUTHORITY", file.to_str().expect("plain"));
}

/// A container has a host name of its own, so the libraries of X11 do not use the authorization for the host.
#[test]
fn an_authorization_for_another_host_is_named() {
    let _alone = alone();
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libxcb.so.1");
    let Some((server, path, number)) = x_server(6) else {
        return;
    };
    serve(server, |mut client| {
        let mut hello = [0; 12];
        client.read_exact(&mut hello)?;
        // Clients without an authorization send nothing more.
        let mut rest = vec![0; if hello[8] == 0 { 0 } else { 20 + COOKIE.len() }];
        client.read_exact(&mut rest)?;
        client.write_all(&[rest.ends_with(COOKIE).into()])
    });
    machine.variable("DISPLAY", format!(":{number}"));
    authorize(&mut machine, [1, 0], number);
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "display.missing");
    let findings = explained.findings();
    assert!(findings.contains("is for the host elsewhere"), "{findings}");
    assert!(explained.advice().contains("nmerge"), "{}", explained.advice());
    machine.unset("XAUTHORITY");
    authorize(&mut machine, [0xFF, 0xFF], number);
    assert!(!of_program(&machine, &program, &[]).codes().contains(&"display.missing"));
    std::fs::remove_file(path).expect("just made");
}

/// The remedy names another X server of the machine only if that server accepts the program. The machine of this test shows only its own
/// server, because other tests have servers that accept every program.
#[test]
fn a_display_of_another_user_is_not_offered() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libxcb.so.1");
    let folder = machine.path("system/tmp/.X11-unix");
    std::fs::create_dir_all(&folder).expect("folders");
    if !machine.in_made_up_system(&["/tmp/.X11-unix"]) {
        return;
    }
    let accepts = refusing(UnixListener::bind(folder.join("X4710")).expect("a socket"));
    machine.variable("DISPLAY", ":4711");
    for is_offered in [false, true] {
        accepts.store(is_offered, Ordering::SeqCst);
        let explained = of_program(&machine, &program, &[]);
        assert_eq!(explained.first(), "display.missing");
        assert_eq!(
            explained.advice().contains("DISPLAY=:4710 PROGRAM"),
            is_offered,
            "{}",
            explained.advice()
        );
    }
}

/// On a remote desktop without DRI3, Mesa's hardware drivers cannot show images. The X server of this test requires authorization.
#[test]
fn a_remote_desktop_without_dri3_is_named() {
    let _alone = alone();
    let mut machine = Machine::new();
    machine.driver("good", "device one\ndevice.type 2");
    as_driver_of_mesa(&machine, "good");
    let program = with_library(&machine, "libxcb.so.1");
    let Some((server, path, number)) = x_server(1) else {
        return;
    };
    authorize(&mut machine, [0xFF, 0xFF], number);
    machine.variable("DISPLAY", format!(":{number}"));
    // A server that does not answer may or may not have DRI3, so the remedy names DRI3 with a condition only.
    let explained = of_program(&machine, &program, &["device"]);
    let found = explained.found("program.failed")["advice"].to_string();
    assert!(
        found.contains("If the driver reports there that DRI3 is missing"),
        "{found}"
    );
    let with_dri3 = Arc::new(AtomicBool::new(false));
    let has_dri3 = Arc::clone(&with_dri3);
    serve(server, move |mut client| {
        let mut hello = [0; 12 + 20 + 16];
        client.read_exact(&mut hello)?;
        let accepts = hello.ends_with(COOKIE);
        client.write_all(&[accepts.into(), 0, 11, 0, 0, 0, 1, 0, 9, 9, 9, 9])?;
        // The first client only checks that the server is running and accepts the authorization.
        let mut request = [0; 12];
        client.read_exact(&mut request)?;
        let mut reply = [0; 32];
        (reply[0], reply[8]) = (
            1,
            (request.ends_with(b"DRI3") && has_dri3.load(Ordering::SeqCst)).into(),
        );
        client.write_all(&reply)
    });
    // The drivers of this program were not asked about a surface, so its failure has another reason.
    let explained = of_program(&machine, &program, &["device"]);
    assert_ne!(explained.first(), "display.without-dri3");
    machine.driver(
        "good",
        &format!("{X11}flag presents_nothing\ndevice one\ndevice.type 2"),
    );
    as_driver_of_mesa(&machine, "good");
    let program = machine.c_program(SHOWING);
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "display.without-dri3");
    assert!(explained.advice().contains("offers DRI3"), "{}", explained.advice());
    with_dri3.store(true, Ordering::SeqCst);
    let explained = of_program(&machine, &program, &[]);
    assert!(!explained.codes().contains(&"display.without-dri3"));
    std::fs::remove_file(path).expect("just made");
    machine.variable("DISPLAY", "far.example:10.0");
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "display.without-dri3");
    assert!(explained.findings().contains("ssh -X"), "{}", explained.findings());
}

/// Gives the mock driver `name` the name of Mesa's driver for AMD's cards.
fn as_driver_of_mesa(machine: &Machine, name: &str) {
    for ending in ["so", "conf"] {
        let (from, to) = (format!("libmock_{name}.{ending}"), format!("libvulkan_radeon.{ending}"));
        std::fs::rename(machine.path("libraries").join(from), machine.path("libraries").join(to)).expect("one folder");
    }
    machine.manifest(name, &machine.path("libraries/libvulkan_radeon.so"), "");
}

/// A program that creates a device and no surface draws without windows, and one of two displays suffices.
#[test]
fn a_display_that_a_program_does_not_need_is_not_missed() {
    let _alone = alone();
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libxcb.so.1");
    let is_missed = |machine: &Machine, more: &[&str]| {
        let explained = of_program(machine, &program, more);
        explained.codes().contains(&"display.missing")
    };
    assert!(is_missed(&machine, &["device"]), "no display is there");
    change(&machine, "libxcb.so.1", "1, &name};", "0, &name};");
    change(&machine, "libxcb.so.1", "? 2 : 0", "? 2 : 1");
    assert!(!is_missed(&machine, &["device"]), "it has a device");
    let folder = machine.path("run");
    std::fs::create_dir(&folder).expect("a folder");
    let _server = UnixListener::bind(folder.join("wayland-0")).expect("a socket");
    machine.variable("XDG_RUNTIME_DIR", folder.to_str().expect("plain"));
    machine.variable("WAYLAND_DISPLAY", "wayland-0");
    machine.variable("DISPLAY", ":4711");
    assert!(is_missed(&machine, &[]), "the program uses X11 only");
    let program = with_library(&machine, "libSDL2-2.0.so.0");
    let explained = of_program(&machine, &program, &[]);
    assert!(
        !explained.codes().contains(&"display.missing"),
        "{:#}",
        explained.report
    );
    // Without both variables, programs use the socket of the first compositor, except in a session of another kind.
    machine.unset("WAYLAND_DISPLAY");
    machine.unset("DISPLAY");
    assert!(!of_program(&machine, &program, &[]).codes().contains(&"display.missing"));
    machine.variable("XDG_SESSION_TYPE", "tty");
    assert!(of_program(&machine, &program, &[]).codes().contains(&"display.missing"));
}

/// `ssh -X` creates a display at a TCP port of the machine, and the display ends with the connection.
#[test]
fn a_display_at_a_port_where_nothing_listens_is_named() {
    let _alone = alone();
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libxcb.so.1");
    let server = (6010..6400).find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let server = server.expect("a port");
    let port = server.local_addr().expect("an address").port();
    let display = format!("localhost:{}.0", port - 6000);
    machine.variable("DISPLAY", &display);
    // The server accepts a connection and does not answer, so it may be slow.
    assert!(!of_program(&machine, &program, &[]).codes().contains(&"display.missing"));
    drop(server);
    let explained = of_program(&machine, &program, &[]);
    assert_eq!(explained.first(), "display.missing", "{:#}", explained.report);
    let wanted = format!("there is no X server at {display}: nothing listens at port {port} of this machine");
    assert!(explained.findings().contains(&wanted), "{}", explained.findings());
    let advice = explained.advice();
    assert!(advice.to_lowercase().contains("connect with ssh -x again"), "{advice}");
}
