//! Finds problems with the display that a program uses for its windows.

mod address;
mod early;
mod session;
mod systems;
mod xserver;

pub(crate) use early::before_loader;
pub(super) use systems::{System, find as find_variable, other as other_system};

use super::{elf, late, origin, sandbox, surfaces};
use crate::events::{Event, Record};
use crate::paths::file_name;
use crate::regular;
use crate::report::{Crashed, Dropped, Report, codes, rank};
use crate::variables::Variables;
use address::Server;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

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

/// Commands that make the display of a session available to programs that run apart from it. Each row has a value of
/// `Report::surroundings`, and the command.
const APART: [(&str, &str); 4] = [
    ("docker", "docker run -e DISPLAY -v /tmp/.X11-unix:/tmp/.X11-unix IMAGE"),
    ("podman", "podman run -e DISPLAY -v /tmp/.X11-unix:/tmp/.X11-unix IMAGE"),
    (
        "flatpak",
        "flatpak override --user --socket=x11 --socket=wayland APPLICATION",
    ),
    ("snap", "snap connect NAME:x11"),
];

/// Returns a finding for a program that failed because no display is available. Returns `None` if the program queried drivers but has no
/// usable device, because the drivers then explain the failure.
pub(super) fn missing(report: &Report, records: &[&Record]) -> Option<Dropped> {
    let has = |code: &codes::Row| report.dropped.iter().any(|dropped| dropped.code == code.name);
    let is_of_wine = is_of_wine(report);
    let asked_nothing = has(codes::PROGRAM_NO_INSTANCE) || has_not_listed(records) || is_of_wine;
    let has_failed = has(codes::PROGRAM_FAILED) && (report.is_usable() || asked_nothing);
    let wants_window = || wants_window(report, records) && !surfaces::has_window(records);
    if !(is_of_wine || has_failed && wants_window()) {
        return None;
    }
    let problems = problems(report);
    let row = codes::DISPLAY_MISSING;
    let advice = problems
        .iter()
        .find_map(|problem| problem.advice.clone())
        .or_else(|| apart(report));
    let of_wine = is_of_wine.then(|| format!("Wine asks for {WITHOUT_DISPLAY} if it has no display"));
    (!problems.is_empty()).then(|| Dropped {
        advice: advice.unwrap_or_else(|| row.remedy.into()),
        findings: problems
            .into_iter()
            .map(|problem| problem.finding)
            .chain(of_wine)
            .collect(),
        rank: match (is_of_wine, asked_nothing) {
            (true, _) => rank::REFUSED - 1,
            (_, true) => rank::NOTHING - 1,
            _ => rank::STATUS - 3,
        },
        ..row.about_any("the display")
    })
}

/// Returns the problems with the displays that the program may use; empty if it can use one of them.
fn problems(report: &Report) -> Vec<Problem> {
    let value = |name| report.variables.nonempty(name);
    let of_x11 = |display: String| {
        let problem = kept_out("DISPLAY", &display, report);
        problem.or_else(|| x11(&display, &report.variables))
    };
    let of_wayland = |display: String| {
        let problem = kept_out("WAYLAND_DISPLAY", &display, report);
        problem.or_else(|| wayland(&display, value("XDG_RUNTIME_DIR").as_deref()))
    };
    let only = only_system(report);
    // A program that uses one window system may still open the library of another.
    let wanted = only.filter(|only| value(only.variable()).is_some());
    let of = |system: System, problem: &dyn Fn(String) -> Option<Problem>| {
        let display = value(system.variable()).filter(|_| wanted.is_none_or(|wanted| wanted == system));
        display.map(problem)
    };
    let servers = [of(System::X11, &of_x11), of(System::Wayland, &of_wayland)];
    let is_set = servers.iter().any(Option::is_some);
    if is_set {
        let problems: Option<Vec<Problem>> = servers.into_iter().flatten().collect();
        return problems.unwrap_or_default();
    }
    if session::has_usual_compositor(report, only) {
        return Vec::new();
    }
    let variables = if only == Some(System::X11) {
        session::x11(&report.variables).or_else(session::wayland)
    } else {
        session::wayland().or_else(|| session::x11(&report.variables))
    };
    vec![Problem {
        finding: "neither DISPLAY nor WAYLAND_DISPLAY is set".into(),
        advice: variables.map(|variables| to_use(&variables)),
    }]
}

/// Extension that Wine asks for in place of one for X11 or Wayland if it cannot open a display. No driver has the extension.
const WITHOUT_DISPLAY: &str = "VK_WINE_nulldrv_surface";

/// Returns `true` if Wine got no instance because it has no display.
fn is_of_wine(report: &Report) -> bool {
    let is_it = |one: &Dropped| {
        (one.code.as_str(), one.name.as_str()) == (codes::INSTANCE_EXTENSION_MISSING.name, WITHOUT_DISPLAY)
    };
    report.dropped.iter().any(is_it)
}

/// Returns the window system of a program that uses a library for X11 and none for Wayland, or the reverse. Returns `None` for other programs.
fn only_system(report: &Report) -> Option<System> {
    let executable = report.loader.as_ref().and_then(|loader| loader.executable.as_deref());
    let needs = executable.and_then(|program| elf::read(Path::new(program)));
    let has = |start: &str| {
        let mut names = needs.iter().flat_map(|needs| &needs.names);
        names.any(|name| name.starts_with(start))
    };
    match (has("libX11") || has("libxcb"), has("libwayland-client")) {
        (true, false) => Some(System::X11),
        (false, true) => Some(System::Wayland),
        _ => None,
    }
}

/// Beginning of the name of Xlib.
const XLIB: &str = "libX11.so";
/// Libraries of displays whose functions crash if a program passes a null pointer in place of a display.
const OF_DISPLAYS: [&str; 4] = ["libX11.so", "libX11-xcb.so", "libxcb.so", "libwayland-client.so"];
/// Upper bound on the address of a fault that a null pointer causes.
const NEAR_NULL: u64 = 4096;

/// Completes the finding about a crash of a program that has no display and does not check this.
pub(super) fn of_crash(dropped: &mut Dropped, crash: Option<&Crashed>, variables: &Variables) {
    if !crash.is_some_and(is_null_display) {
        return;
    }
    let value = |name| variables.nonempty(name);
    let problem = match (value("DISPLAY"), value("WAYLAND_DISPLAY")) {
        (None, None) => Some(Problem {
            finding: "neither DISPLAY nor WAYLAND_DISPLAY is set".into(),
            advice: session::x11(variables).map(|variables| to_use(&variables)),
        }),
        (Some(display), _) => x11(&display, variables),
        (None, Some(_)) => None,
    };
    if let Some(problem) = problem {
        problem.blame(dropped);
    }
}

/// Completes the finding about a crash of a program that uses a null pointer, and whose sandbox lacks the socket of its display.
pub(super) fn of_crash_in_sandbox(report: &mut Report) {
    let value = |name| report.variables.nonempty(name);
    let mut names = ["DISPLAY", "WAYLAND_DISPLAY"].into_iter();
    let mut problem = || names.find_map(|name| kept_out(name, &value(name)?, report));
    let is_it = |crash: &Crashed| crash.is_of_program() && is_near_null(crash);
    let Some(problem) = report
        .crash
        .as_ref()
        .filter(|crash| is_it(crash))
        .and_then(|_| problem())
    else {
        return;
    };
    let mut crashed = report.dropped.iter_mut();
    if let Some(crashed) = crashed.find(|one| one.code == codes::PROGRAM_CRASHED.name) {
        problem.blame(crashed);
    }
}

/// Returns `true` for an access near address 0, through a null pointer.
fn is_near_null(crash: &Crashed) -> bool {
    let address = crash.address.as_deref().and_then(|address| address.strip_prefix("0x"));
    let address = address.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    address.is_some_and(|address| address < NEAR_NULL)
}

/// Returns `true` if the program passed a null pointer to a library of displays. Macros of Xlib read the structure of a display, so a fault in
/// the code of a program for X11 counts too.
fn is_null_display(crash: &Crashed) -> bool {
    let first = crash.frames.first().and_then(|frame| frame.file.as_deref());
    let name = first.map(file_name).unwrap_or_default();
    let is_in_macro = || first == crash.executable.as_deref() && first.is_some_and(|file| opens_xlib(Path::new(file)));
    crash.is_of_program()
        && is_near_null(crash)
        && (OF_DISPLAYS.iter().any(|library| name.starts_with(library)) || is_in_macro())
}

/// Returns `true` if a program needs or opens Xlib.
fn opens_xlib(program: &Path) -> bool {
    let needs = elf::read(program).is_some_and(|needs| needs.names.iter().any(|name| name.starts_with(XLIB)));
    needs || !elf::contained(program, &[XLIB]).is_empty()
}

/// Returns `true` if a program created an instance and did not list devices. Many programs open their window before they list devices.
pub(crate) fn has_not_listed(records: &[&Record]) -> bool {
    let mut created = records.iter().rev().filter_map(|record| match &record.event {
        Event::End(step) if step.step == "call" && step.name == "vkCreateInstance" => Some(step),
        _ => None,
    });
    created.next().is_some_and(|step| step.failure().is_none()) && !late::has_listed(records)
}

/// Returns `true` if a program called a command for surfaces, or asked whether a device can present.
fn has_asked_for_surface(records: &[&Record]) -> bool {
    records.iter().any(|record| match &record.event {
        Event::Begin(step) => step.name.contains("Surface") || step.name.contains("PresentationSupport"),
        _ => false,
    })
}

/// Returns the remedy for a program in a container or sandbox, which gets the display of the host only if the user hands it over.
fn apart(report: &Report) -> Option<String> {
    let (place, command) = APART.iter().find(|(place, _)| report.runs_in(&[place]))?;
    let command = command.replace("APPLICATION", &origin::flatpak_application());
    Some(format!(
        "The program runs in {place}, so the host must hand over its display: {command}. On a host without a display: xvfb-run PROGRAM"
    ))
}

/// A problem with a display.
struct Problem {
    finding: String,
    /// Remedy for this problem, if the general remedy for a missing display does not suffice.
    advice: Option<String>,
}

impl Problem {
    fn without_remedy(finding: String) -> Self {
        Self { finding, advice: None }
    }

    /// Adds the problem to the finding about a crash of a program that uses a null pointer.
    fn blame(self, crashed: &mut Dropped) {
        let words = format!(
            "{}, so the program probably uses a display that it could not open",
            self.finding
        );
        crashed.findings.insert(0, words);
        crashed.advice = self.advice.unwrap_or_else(|| codes::DISPLAY_MISSING.remedy.into());
    }
}

/// Returns a finding for a program that failed because its X server cannot show images of a graphics card. The server has no DRI3, like
/// many remote desktops, or runs on another machine.
pub(super) fn without_dri3(report: &mut Report, records: &[&Record]) -> Option<Dropped> {
    let display = needs_dri3(report, records)?;
    let is_missing = report.dropped.iter().any(|one| one.code == codes::DISPLAY_MISSING.name);
    let mut found = codes::DISPLAY_WITHOUT_DRI3.about_any("the display");
    found.rank = rank::STATUS - 3;
    let finding = match address::server(&display) {
        Server::Socket(number) => match xserver::has_dri3(number, &report.variables) {
            Some(true) => return None,
            Some(false) => {
                if let Some(place) = xserver::option_dri(Path::new("/")) {
                    found.advice = format!("Remove Option \"DRI\" ({place}), and start the X server again.");
                }
                format!("the X server of DISPLAY={display} does not list the extension DRI3")
            }
            None => String::new(),
        },
        Server::Port(_) if is_missing => return None,
        Server::Port(_) | Server::Elsewhere => {
            format!("DISPLAY={display} leads over the network, as with ssh -X, which DRI3 does not")
        }
    };
    if finding.is_empty() || !surfaces::is_refused(records) {
        if !is_missing {
            late::before_device(report, records);
        }
        return None;
    }
    found.findings = [finding].into();
    Some(found)
}

/// Returns the X display of a program that failed and needs DRI3 to show images of a graphics card.
fn needs_dri3(report: &Report, records: &[&Record]) -> Option<String> {
    let failed = |code: &codes::Row| report.dropped.iter().any(|dropped| dropped.code == code.name);
    let is_of_mesa =
        |driver: &str| super::hardware::known(driver).is_some_and(|library| library.starts_with("libvulkan_"));
    let mut devices = report
        .devices
        .iter()
        .filter(|device| device.is_usable && !device.is_software());
    let has_failed = failed(codes::PROGRAM_FAILED) || failed(codes::PROGRAM_CALL_FAILED);
    if !has_failed
        || report.dropped.iter().any(Dropped::is_without_swapchain)
        || report.variables.get("WAYLAND_DISPLAY").is_some()
        || !devices.any(|device| is_of_mesa(&device.driver))
    {
        return None;
    }
    let display = report.variables.get("DISPLAY");
    display.filter(|_| wants_window(report, records))
}

/// Returns `true` if a program made calls for a surface, or uses a library that opens windows. A program that creates a device before it asks for a
/// surface draws without windows.
fn wants_window(report: &Report, records: &[&Record]) -> bool {
    let executable = || report.loader.as_ref()?.executable.as_deref();
    let needs_library = |program: &str| {
        let needs = elf::read(Path::new(program));
        needs.is_some_and(|needs| needs.names.iter().any(|name| is_for_windows(name)))
            // Some programs open the library themselves, so that they start without it.
            || !elf::contained(Path::new(program), &LIBRARIES).is_empty()
    };
    has_asked_for_surface(records) || !late::has_device(records) && executable().is_some_and(needs_library)
}

fn is_for_windows(library: &str) -> bool {
    LIBRARIES.iter().any(|name| library.starts_with(name))
}

/// Returns the problem with a display whose socket only the sandbox of the program lacks. `name` is the variable that names the display.
fn kept_out(name: &str, display: &str, report: &Report) -> Option<Problem> {
    let path = match display.strip_prefix(':') {
        Some(number) => x_socket(number.split('.').next()?),
        None => Path::new(&report.variables.get("XDG_RUNTIME_DIR")?).join(display),
    };
    if is_abstract(&path) {
        return None;
    }
    let (finding, advice) = sandbox::without_socket(&path, report)?;
    Some(Problem {
        finding: format!("{name} is {display}, and {finding}"),
        advice: Some(advice),
    })
}

/// Returns the path of the socket of an X server.
fn x_socket(number: &str) -> PathBuf {
    format!("{X_SOCKETS}/X{number}").into()
}

/// Returns `true` if a server listens at an abstract socket with this name, which needs no file.
fn is_abstract(path: &Path) -> bool {
    let sockets = regular::text("/proc/net/unix").unwrap_or_default();
    let ending = format!("@{}", path.display());
    sockets.lines().any(|line| line.ends_with(&ending))
}

/// Folder with the sockets of the X servers of this machine.
const X_SOCKETS: &str = "/tmp/.X11-unix";

/// Returns the problem with an X display of this machine, if there is one. Does not examine displays of other machines.
fn x11(display: &str, variables: &Variables) -> Option<Problem> {
    let number = match address::server(display) {
        Server::Socket(number) => number,
        Server::Port(number) => return address::problem(display, number, variables),
        Server::Elsewhere => return None,
    };
    let socket = x_socket(number);
    let path = socket.display();
    let cookie = xserver::cookie(number, variables);
    let connected = UnixStream::connect(&socket).map(|mut server| xserver::accepts(&mut server, cookie.as_deref()));
    match connected {
        Ok(Some(false)) => session::of_other_host(display, number, variables).or_else(|| Some(Problem {
            finding: format!(
                "DISPLAY is {display}, and its server refuses programs without authorization: neither XAUTHORITY nor ~/.Xauthority leads to a file with an authorization \
                 for it that this user may read"
            ),
            advice: Some(match session::authority(number) {
                Some(file) => to_use(&session::in_variable(&file)),
                None => format!(
                    "Set XAUTHORITY to the file of the session, or let the session's user permit this one: xhost +si:localuser:{}",
                    session::own_name()
                ),
            }),
        })),
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Some(Problem::without_remedy(format!(
            "DISPLAY is {display}, and this user may not open {path}"
        ))),
        Err(_) if is_abstract(&socket) => None,
        Err(_) => Some(Problem {
            finding: format!("DISPLAY is {display}, and no server listens at {path}"),
            advice: session::x11(variables).map(|variables| to_use(&variables)),
        }),
    }
}

fn wayland(display: &str, folder: Option<&str>) -> Option<Problem> {
    let path = match (display.starts_with('/'), folder) {
        (true, _) => display.to_owned(),
        (false, Some(folder)) => format!("{folder}/{display}"),
        (false, None) => {
            let folder = format!("/run/user/{}", rustix::process::geteuid().as_raw());
            let path = format!("{folder}/{display}");
            return Some(Problem {
                finding: format!("WAYLAND_DISPLAY is {display}, and XDG_RUNTIME_DIR is not set"),
                advice: Some(if Path::new(&path).exists() {
                    to_use(&format!("XDG_RUNTIME_DIR={folder}"))
                } else if rustix::process::geteuid().is_root() {
                    "Start the program as the user of the session, without sudo or su; or set XDG_RUNTIME_DIR to the folder of that user, usually \
                     /run/user/ and the number of the user."
                        .into()
                } else {
                    format!(
                        "Set XDG_RUNTIME_DIR to the folder of the session's user, usually {folder}, or start the program in the session."
                    )
                }),
            });
        }
    };
    let place = Path::new(&path);
    let error = UnixStream::connect(place).err()?.kind();
    let closed = elf::closed_folder(place).filter(|_| error == ErrorKind::PermissionDenied);
    if let Some(closed) = closed {
        let (finding, advice) = session::of_other_user(place, closed);
        return Some(Problem {
            finding: format!("WAYLAND_DISPLAY is {display}, and {finding}"),
            advice: Some(advice),
        });
    }
    let why = match error {
        ErrorKind::PermissionDenied => format!("this user may not open {path}"),
        ErrorKind::ConnectionRefused => format!("no compositor listens at {path}"),
        _ => format!("{path} is not there"),
    };
    Some(Problem {
        finding: format!("WAYLAND_DISPLAY is {display}, and {why}"),
        advice: folder
            .and_then(|folder| other_socket(folder, "wayland-", |_, _| true))
            .map(|socket| to_use(&format!("WAYLAND_DISPLAY={socket}")))
            .or_else(|| session::wayland().map(|variables| to_use(&variables))),
    })
}

/// Returns the name of a socket in `folder` at which a server listens. The name consists of `start` and a number. `is_usable` receives a
/// connection to the server and the number.
fn other_socket(folder: &str, start: &str, mut is_usable: impl FnMut(UnixStream, &str) -> bool) -> Option<String> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    let mut is_socket = |name: &String| {
        let number = name.strip_prefix(start).unwrap_or_default();
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let connect = || UnixStream::connect(Path::new(folder).join(name));
        is_number && connect().is_ok_and(|server| is_usable(server, number))
    };
    names.into_iter().find(|name| is_socket(name))
}

/// Returns the remedy that sets a variable to the display of the session.
fn to_use(variable: &str) -> String {
    format!("Use the display of the session: {variable} PROGRAM")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_gets_the_display_from_its_host() {
        let remedy = |words: &[&str]| {
            apart(&Report {
                surroundings: words.iter().map(|&word| word.to_owned()).collect(),
                ..Report::default()
            })
        };
        let of_docker = remedy(&["docker", "virtual-machine"]).expect("a remedy");
        assert!(
            of_docker.contains("docker run -e DISPLAY -v /tmp/.X11-unix:/tmp/.X11-unix"),
            "{of_docker}"
        );
        assert!(remedy(&["flatpak"]).is_some_and(|words| words.contains("--socket=x11")));
        assert_eq!(remedy(&["virtual-machine"]), None);
    }
}
