//! Problems with the display on which a program opens its windows.

use crate::report::{Dropped, Report, codes};
use std::env;
use std::path::Path;

/// Returns a finding for a program that failed without a display, although drivers work.
pub(super) fn missing(report: &Report) -> Option<Dropped> {
    let has_failed = report
        .dropped
        .iter()
        .any(|dropped| dropped.code == codes::PROGRAM_FAILED.name);
    if !has_failed || !report.is_usable() {
        return None;
    }
    let value = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let servers = [
        value("DISPLAY").and_then(|display| x11(&display)),
        value("WAYLAND_DISPLAY").and_then(|display| wayland(&display, value("XDG_RUNTIME_DIR").as_deref())),
    ];
    let is_set = value("DISPLAY").is_some() || value("WAYLAND_DISPLAY").is_some();
    let findings: Vec<String> = match is_set {
        false => vec!["neither DISPLAY nor WAYLAND_DISPLAY is set".into()],
        true => servers.into_iter().flatten().collect(),
    };
    (!findings.is_empty()).then(|| Dropped {
        findings,
        ..codes::DISPLAY_MISSING.about("the display")
    })
}

/// Returns the problem with an X display of this machine, if any. Displays of other machines are not examined.
fn x11(display: &str) -> Option<String> {
    let number = display.strip_prefix(':')?.split('.').next()?;
    let path = format!("/tmp/.X11-unix/X{number}");
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let is_there = Path::new(&path).exists() || sockets.lines().any(|line| line.ends_with(&format!("@{path}")));
    (!is_there).then(|| format!("DISPLAY is {display}, and no server listens at {path}"))
}

fn wayland(display: &str, folder: Option<&str>) -> Option<String> {
    let path = match (display.starts_with('/'), folder) {
        (true, _) => display.to_owned(),
        (false, Some(folder)) => format!("{folder}/{display}"),
        (false, None) => return Some(format!("WAYLAND_DISPLAY is {display}, and XDG_RUNTIME_DIR is not set")),
    };
    (!Path::new(&path).exists()).then(|| format!("WAYLAND_DISPLAY is {display}, and {path} is not there"))
}
