//! Finds the displays of running sessions, for programs that run apart from them, for example over ssh, sudo or su.

use super::systems::{System, USUAL};
use super::{Problem, X_SOCKETS, kept_out, other_socket, x_socket, xserver};
use crate::regular;
use crate::report::Report;
use crate::shell::word;
use crate::variables::Variables;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Folder with a subfolder for each user who has a session.
const SESSIONS: &str = "/run/user";
/// Beginnings of the names of files with X authorizations in the folder of a session: of GDM, of GNOME's Xwayland, and of KDE.
const COOKIES: [&str; 3] = ["gdm/Xauthority", ".mutter-Xwaylandauth.", "xauth_"];

/// Returns the variables that lead to a Wayland compositor that accepts the programs of this user. The compositors of this user come first.
pub(super) fn wayland() -> Option<String> {
    let own = PathBuf::from(format!("{SESSIONS}/{}", rustix::process::geteuid().as_raw()));
    let mut folders = folders(Path::new(SESSIONS));
    folders.sort_by_key(|folder| *folder != own);
    folders.into_iter().find_map(|folder| {
        let folder = folder.to_str()?;
        let socket = other_socket(folder, "wayland-", |_, _| true)?;
        Some(format!("XDG_RUNTIME_DIR={} WAYLAND_DISPLAY={socket}", word(folder)))
    })
}

/// Returns `true` if a compositor listens at the socket that programs use without `WAYLAND_DISPLAY`. Programs for several window systems use this socket
/// only in a session of Wayland.
pub(super) fn has_usual_compositor(report: &Report, only: Option<System>) -> bool {
    let value = |name| report.variables.get(name).filter(|value: &String| !value.is_empty());
    let is_for_wayland = match only {
        Some(system) => system == System::Wayland,
        None => value("XDG_SESSION_TYPE").is_none_or(|kind| kind == "wayland"),
    };
    let listens = |folder: String| {
        kept_out("WAYLAND_DISPLAY", USUAL, report).is_none() && super::wayland(USUAL, Some(&folder)).is_none()
    };
    is_for_wayland && value("XDG_RUNTIME_DIR").is_some_and(listens)
}

/// Returns the variables that lead to an X server that accepts the programs of this user, with the authorization of its session if the server
/// asks for one.
pub(super) fn x11(variables: &Variables) -> Option<String> {
    let mut usable = None;
    let accepts = |mut server: UnixStream, number: &str| {
        let cookie = xserver::cookie(number, variables);
        if xserver::accepts(&mut server, cookie.as_deref()) == Some(true) {
            usable = Some(format!("DISPLAY=:{number}"));
        } else if let Some(file) = authority(number) {
            usable = Some(format!("DISPLAY=:{number} {}", in_variable(&file)));
        }
        usable.is_some()
    };
    other_socket(X_SOCKETS, "X", accepts)?;
    usable
}

/// Returns the variable that names a file of authorizations.
pub(super) fn in_variable(file: &Path) -> String {
    format!("XAUTHORITY={}", word(&file.display().to_string()))
}

/// Returns a file with an authorization that the X server `number` accepts: the file of the server, of a session, or of the user who called
/// sudo.
pub(super) fn authority(number: &str) -> Option<PathBuf> {
    let mut files: Vec<PathBuf> = file_of_server(number).into_iter().collect();
    for folder in folders(Path::new(SESSIONS)) {
        let names = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = names
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        files.push(folder.join(COOKIES[0]));
        let is_it = |name: &&String| COOKIES.iter().any(|start| name.starts_with(start));
        files.extend(names.iter().filter(is_it).map(|name| folder.join(name)));
    }
    let caller = std::env::var("SUDO_USER").ok().and_then(|user| home(&user));
    files.extend(caller.map(|home| home.join(".Xauthority")));
    let opens = |file: &PathBuf| {
        let cookie = xserver::cookie_in(&regular::read(file).unwrap_or_default(), number);
        let server =
            cookie.and_then(|cookie| Some((UnixStream::connect(format!("{X_SOCKETS}/X{number}")).ok()?, cookie)));
        server.is_some_and(|(mut server, cookie)| xserver::accepts(&mut server, Some(&cookie)) == Some(true))
    };
    // Users know the file of their home folder; a server may delete its own file with the session.
    files.sort_by_key(|file| !file.ends_with(".Xauthority"));
    files.into_iter().find(opens)
}

/// Returns the problem with an X server at a socket that refuses a program, because the entry in the file of authorizations is for another host. A container
/// has a host name of its own.
pub(super) fn of_other_host(display: &str, number: &str, variables: &Variables) -> Option<Problem> {
    let mut server = UnixStream::connect(x_socket(number)).ok()?;
    let (other, own) = xserver::of_other_host(&mut server, number, variables)?;
    let path = xserver::file(variables);
    let file = word(&path.display().to_string());
    Some(Problem {
        finding: format!(
            "DISPLAY is {display}, and its server refuses the program: the authorization in {} is for the host {other}, and the name of this system is {own}",
            path.display()
        ),
        advice: Some(format!(
            "Give the container the name of the host: docker run --hostname {}; or let the authorizations in the file count for each host: xauth -f \
             {file} nlist | sed 's/^..../ffff/' | xauth -f {file} nmerge -",
            word(&other)
        )),
    })
}

/// Returns the file of authorizations in the arguments of the X server `number`: `Xorg :0 -auth FILE`.
fn file_of_server(number: &str) -> Option<PathBuf> {
    let display = format!(":{number}");
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.into_iter().find_map(|process| {
        let bytes = regular::read(process.path().join("cmdline")).ok()?;
        let words: Vec<&[u8]> = bytes.split(|&byte| byte == 0).collect();
        let is_server = words
            .first()?
            .split(|&byte| byte == b'/')
            .next_back()?
            .starts_with(b"X");
        let at = words.iter().position(|word| *word == b"-auth")?;
        let is_it = is_server && words.contains(&display.as_bytes());
        let file = words.get(at + 1).filter(|_| is_it)?;
        Some(std::ffi::OsStr::from_bytes(file).into())
    })
}

fn folders(place: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(place)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// Returns the fields of a user in the list of users. `is_it` receives the name and the ID.
fn user(is_it: impl Fn(&str, &str) -> bool) -> Option<(String, PathBuf)> {
    let text = regular::text("/etc/passwd").ok()?;
    text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.len() > 5 && is_it(fields[0], fields[2])).then(|| (fields[0].into(), fields[5].into()))
    })
}

fn home(name: &str) -> Option<PathBuf> {
    Some(user(|own, _| own == name)?.1)
}

/// Returns the name of the user with an ID, or the ID if the user has no name.
fn name_of(id: u32) -> String {
    let id = id.to_string();
    user(|_, own| own == id).map_or(id.clone(), |(name, _)| name)
}

/// Returns the name of this user.
pub(super) fn own_name() -> String {
    name_of(rustix::process::geteuid().as_raw())
}

/// Returns the finding and the remedy for a socket in a folder that this user may not search, because the folder belongs to the session of another
/// user.
pub(super) fn of_other_user(path: &Path, closed: &Path) -> (String, String) {
    let own = own_name();
    let owner = fs::metadata(closed).map_or_else(|_| "another user".into(), |status| name_of(status.uid()));
    let folder = word(&closed.display().to_string());
    let socket = word(&path.display().to_string());
    let variables = match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => format!(
            "XDG_RUNTIME_DIR={} WAYLAND_DISPLAY={}",
            word(&folder.display().to_string()),
            word(&name.to_string_lossy())
        ),
        _ => String::new(),
    };
    (
        format!("{own} may not look into {}, which belongs to {owner}", closed.display()),
        format!(
            "Start the program as {owner}, whose session it is: sudo -u {owner} env {variables} PROGRAM; or let {owner} give access: setfacl -m \
             u:{own}:x {folder} && setfacl -m u:{own}:rw {socket}"
        ),
    )
}
