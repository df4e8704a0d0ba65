//! Finds problems with the display that a program uses for its windows.

mod xserver;

use super::elf;
use crate::events::{Event, Record};
use crate::report::{Dropped, Report, codes, rank};
use std::env;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Beginnings of the names of libraries that programs use to open windows.
const LIBRARIES: [&str; 7] = [
    "libX11.so",
    "libX11-xcb.so",
    "libxcb.so",
    "libwayland-client.so",
    "libSDL2",
    "libSDL3",
    "libglfw.so",
];

/// Returns a finding for a program that failed because no display is available. The drivers of this program work, or were not asked.
pub(super) fn missing(report: &Report, records: &[&Record]) -> Option<Dropped> {
    let has = |code: &codes::Row| report.dropped.iter().any(|dropped| dropped.code == code.name);
    let asked_nothing = has(codes::PROGRAM_NO_INSTANCE);
    if !has(codes::PROGRAM_FAILED) || !report.is_usable() && !asked_nothing {
        return None;
    }
    if !wants_window(report, records) {
        return None;
    }
    let value = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let servers = [
        value("DISPLAY").and_then(|display| x11(&display)),
        value("WAYLAND_DISPLAY").and_then(|display| wayland(&display, value("XDG_RUNTIME_DIR").as_deref())),
    ];
    let is_set = value("DISPLAY").is_some() || value("WAYLAND_DISPLAY").is_some();
    let findings: Vec<String> = if is_set {
        servers.into_iter().flatten().collect()
    } else {
        vec!["neither DISPLAY nor WAYLAND_DISPLAY is set".into()]
    };
    let row = codes::DISPLAY_MISSING;
    let is_refused = findings.iter().any(|finding| finding.contains(REFUSES));
    (!findings.is_empty()).then(|| Dropped {
        advice: if is_refused {
            "Set XAUTHORITY to the file of the session, or let the session's user permit others: xhost +si:localuser:USER".into()
        } else {
            row.remedy.into()
        },
        findings,
        rank: if asked_nothing {
            rank::NOTHING - 1
        } else {
            rank::STATUS - 3
        },
        ..row.about("the display")
    })
}

/// Returns a finding for a program that failed because its X server cannot show images of a graphics card. The server has no DRI3, like
/// many remote desktops, or runs on another machine.
pub(super) fn without_dri3(report: &Report, records: &[&Record]) -> Option<Dropped> {
    let failed = |code: &codes::Row| report.dropped.iter().any(|dropped| dropped.code == code.name);
    let is_of_mesa = |driver: &str| {
        driver
            .rsplit('/')
            .next()
            .is_some_and(|file| file.starts_with("libvulkan_"))
    };
    let mut devices = report
        .devices
        .iter()
        .filter(|device| device.is_usable && !device.is_software());
    let has_failed = failed(codes::PROGRAM_FAILED) || failed(codes::PROGRAM_CALL_FAILED);
    if !has_failed || env::var_os("WAYLAND_DISPLAY").is_some() || !devices.any(|device| is_of_mesa(&device.driver)) {
        return None;
    }
    let display = env::var("DISPLAY").ok().filter(|_| wants_window(report, records))?;
    let finding = match display.strip_prefix(':') {
        Some(number) if xserver::has_dri3(number.split('.').next()?)? => return None,
        Some(_) => format!("the X server of DISPLAY={display} does not list the extension DRI3"),
        None => format!("DISPLAY={display} leads over the network, as with ssh -X, which DRI3 does not"),
    };
    Some(Dropped {
        findings: vec![finding],
        rank: rank::STATUS - 3,
        ..codes::DISPLAY_WITHOUT_DRI3.about("the display")
    })
}

/// Returns `true` if a program made calls for a surface, or uses a library that opens windows.
fn wants_window(report: &Report, records: &[&Record]) -> bool {
    let is_of_surface = |record: &&Record| match &record.event {
        Event::Begin(step) => step.name.contains("Surface") || step.name.contains("PresentationSupport"),
        _ => false,
    };
    let executable = || report.loader.as_ref()?.executable.as_deref();
    records.iter().any(is_of_surface)
        || executable()
            .and_then(|program| elf::read(Path::new(program)))
            .is_some_and(|needs| needs.names.iter().any(|name| is_for_windows(name)))
}

fn is_for_windows(library: &str) -> bool {
    LIBRARIES.iter().any(|name| library.starts_with(name))
}

/// Returns the problem with an X display of this machine, if there is one. Does not check displays of other machines.
fn x11(display: &str) -> Option<String> {
    let number = display.strip_prefix(':')?.split('.').next()?;
    let path = format!("/tmp/.X11-unix/X{number}");
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let is_abstract = || sockets.lines().any(|line| line.ends_with(&format!("@{path}")));
    let connected = UnixStream::connect(&path).map(|mut server| xserver::accepts(&mut server, None));
    match connected {
        Ok(Some(false)) if !xserver::has_cookies() => Some(format!(
            "DISPLAY is {display}, and {REFUSES}: neither XAUTHORITY nor ~/.Xauthority leads to a file that this user may read"
        )),
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Some(format!("DISPLAY is {display}, and this user may not open {path}"))
        }
        Err(_) if is_abstract() => None,
        Err(_) => Some(format!("DISPLAY is {display}, and no server listens at {path}")),
    }
}

/// Description of an X server that requires authorization.
const REFUSES: &str = "its server refuses programs without authorization";

fn wayland(display: &str, folder: Option<&str>) -> Option<String> {
    let path = match (display.starts_with('/'), folder) {
        (true, _) => display.to_owned(),
        (false, Some(folder)) => format!("{folder}/{display}"),
        (false, None) => return Some(format!("WAYLAND_DISPLAY is {display}, and XDG_RUNTIME_DIR is not set")),
    };
    (!Path::new(&path).exists()).then(|| format!("WAYLAND_DISPLAY is {display}, and {path} is not there"))
}
