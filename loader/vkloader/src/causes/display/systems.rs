//! Window systems, and the variables with which programs choose one of them.

use super::{Problem, wayland, x11};
use crate::causes::{chosen, late, surfaces};
use crate::events::{Event, Record};
use crate::report::{Dropped, Report, codes};
use crate::variables::Variables;
use std::path::Path;

/// A window system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::causes) enum System {
    X11,
    Wayland,
}

impl System {
    /// Returns the window system of a command that creates surfaces.
    pub(in crate::causes) fn of_command(name: &str) -> Option<Self> {
        match name {
            "vkCreateXcbSurfaceKHR" | "vkCreateXlibSurfaceKHR" => Some(Self::X11),
            "vkCreateWaylandSurfaceKHR" => Some(Self::Wayland),
            _ => None,
        }
    }

    pub(in crate::causes) fn words(self) -> &'static str {
        match self {
            Self::X11 => "X11",
            Self::Wayland => "Wayland",
        }
    }

    /// Returns the instance extensions of which a driver needs one to show images.
    pub(in crate::causes) fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::X11 => &["VK_KHR_xcb_surface", "VK_KHR_xlib_surface"],
            Self::Wayland => &["VK_KHR_wayland_surface"],
        }
    }

    fn other(self) -> Self {
        match self {
            Self::X11 => Self::Wayland,
            Self::Wayland => Self::X11,
        }
    }

    /// Returns the variable that names the display of this window system.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Self::X11 => "DISPLAY",
            Self::Wayland => "WAYLAND_DISPLAY",
        }
    }

    /// Returns `true` if a variable names a display of this window system.
    fn is_set(self, variables: &Variables) -> bool {
        variables.nonempty(self.variable()).is_some()
    }

    /// Returns the reason why a program cannot reach a server of this window system.
    fn unreachable(self, variables: &Variables) -> Option<Problem> {
        let value = |name| variables.nonempty(name);
        let folder = value("XDG_RUNTIME_DIR");
        match self {
            Self::X11 => match value("DISPLAY") {
                Some(display) => x11(&display, variables),
                None => Some(Problem::without_remedy("DISPLAY is not set".into())),
            },
            Self::Wayland => match (value("WAYLAND_DISPLAY"), &folder) {
                (Some(display), _) => wayland(&display, folder.as_deref()),
                (None, Some(folder)) if Path::new(folder).join(USUAL).exists() => None,
                (None, _) => Some(Problem::without_remedy("WAYLAND_DISPLAY is not set".into())),
            },
        }
    }

    /// Returns a fact if drivers were opened, and none of them has an extension of this window system.
    fn unsupported(self, records: &[&Record]) -> Option<String> {
        let offers = || {
            records.iter().filter_map(|record| match &record.event {
                Event::Offers(offers) => Some(offers),
                _ => None,
            })
        };
        let names = || {
            offers()
                .flat_map(|offers| &offers.extensions)
                .map(|own| own.name.as_str())
        };
        offers().next()?;
        let has_any = names().any(|name| self.extensions().contains(&name));
        (!has_any).then(|| format!("no driver has {}", self.extensions().join(" or ")))
    }
}

/// Socket of a Wayland compositor in `XDG_RUNTIME_DIR` that programs use without `WAYLAND_DISPLAY`.
pub(super) const USUAL: &str = "wayland-0";

/// A variable with which programs choose a window system.
struct Row {
    name: &'static str,
    programs: &'static str,
    /// Text that the programs or their libraries contain.
    sign: &'static str,
    /// Words for X11 and Wayland.
    words: [&'static str; 2],
    /// Words with which the programs show no windows.
    without: &'static [&'static str],
    /// `true` if remedies set the variable, so that any program uses the other window system.
    is_set_by_remedies: bool,
    /// `true` if programs ignore the variable without the variable of the display of its window system.
    is_hint: bool,
}

const ROWS: [Row; 7] = [
    Row {
        name: "SDL_VIDEODRIVER",
        programs: "programs with SDL",
        sign: "SDL_VIDEODRIVER",
        words: ["x11", "wayland"],
        without: &["dummy"],
        is_set_by_remedies: true,
        is_hint: false,
    },
    Row {
        name: "SDL_VIDEO_DRIVER",
        programs: "programs with SDL 3",
        sign: "SDL_VIDEO_DRIVER",
        words: ["x11", "wayland"],
        without: &["dummy"],
        is_set_by_remedies: true,
        is_hint: false,
    },
    Row {
        name: "GDK_BACKEND",
        programs: "programs with GTK",
        sign: "GDK_BACKEND",
        words: ["x11", "wayland"],
        without: &[],
        is_set_by_remedies: true,
        is_hint: false,
    },
    Row {
        name: "QT_QPA_PLATFORM",
        programs: "programs with Qt",
        sign: "QT_QPA_PLATFORM",
        words: ["xcb", "wayland"],
        without: &["offscreen", "minimal", "minimalegl", "linuxfb", "vnc"],
        is_set_by_remedies: true,
        is_hint: false,
    },
    Row {
        name: "WINIT_UNIX_BACKEND",
        programs: "programs with winit",
        sign: "WINIT_UNIX_BACKEND",
        words: ["x11", "wayland"],
        without: &[],
        is_set_by_remedies: false,
        is_hint: false,
    },
    Row {
        name: "ELECTRON_OZONE_PLATFORM_HINT",
        programs: "programs with Electron",
        sign: "ELECTRON_OZONE_PLATFORM_HINT",
        words: ["x11", "wayland"],
        without: &[],
        is_set_by_remedies: false,
        is_hint: false,
    },
    Row {
        name: "XDG_SESSION_TYPE",
        programs: "programs with GLFW",
        sign: "glfwInit",
        words: ["x11", "wayland"],
        without: &[],
        is_set_by_remedies: false,
        is_hint: true,
    },
];

impl Row {
    /// Returns the window systems that a value permits, in its order. An inner `None` is a word with which programs show no windows. Returns
    /// `None` if the value has a word that is not known, such as `auto`.
    fn systems(&self, value: &str) -> Option<Vec<Option<System>>> {
        let words = value.split([',', ';']).map(str::trim).filter(|word| !word.is_empty());
        // Qt permits arguments after a colon, and has variants such as wayland-egl.
        let words = words.map(|word| word.split([':', '-']).next().unwrap_or(word));
        words
            .map(|word| match word {
                _ if word == self.words[0] => Some(Some(System::X11)),
                _ if word == self.words[1] => Some(Some(System::Wayland)),
                _ if self.without.contains(&word) => Some(None),
                _ => None,
            })
            .collect()
    }

    /// Returns the word for a window system.
    fn word(&self, system: System) -> &'static str {
        self.words[usize::from(system == System::Wayland)]
    }
}

/// Adds a finding about a variable that makes a program use a window system that is not available.
pub(in crate::causes) fn find(report: &mut Report, records: &[&Record]) {
    let has = |code: &codes::Row| report.dropped.iter().any(|one| one.code == code.name);
    let asked_nothing = has(codes::PROGRAM_NO_INSTANCE) || has(codes::INSTANCE_EXTENSION_MISSING);
    let has_failed = report.ended.is_some() && (report.is_usable() || super::has_not_listed(records));
    // Programs choose their window system before they list devices.
    let has_chosen = late::has_listed(records) || surfaces::has_window(records);
    if !asked_nothing && !has_failed || has_chosen {
        return;
    }
    let program = report.loader.as_ref().and_then(|loader| loader.executable.clone());
    let program = program.unwrap_or_default();
    for row in &ROWS {
        let Some(value) = report.variables.get(row.name) else {
            continue;
        };
        let Some(found) = row.finding(&value, report, records) else {
            continue;
        };
        if chosen::has_text(Path::new(&program), row.sign) {
            chosen::demote_end(report);
            report.dropped.push(found);
            return;
        }
    }
}

impl Row {
    /// Returns a finding if none of the window systems that a value permits is available.
    fn finding(&self, value: &str, report: &Report, records: &[&Record]) -> Option<Dropped> {
        let systems = self.systems(value).filter(|systems| !systems.is_empty())?;
        let mut all = systems.iter().flatten();
        if self.is_hint && all.any(|system| !system.is_set(&report.variables)) {
            return None;
        }
        let facts = |system: System| {
            let unreachable = system.unreachable(&report.variables).map(|problem| problem.finding);
            let facts: Vec<String> = unreachable.into_iter().chain(system.unsupported(records)).collect();
            facts
        };
        let permitted: Vec<System> = systems.iter().copied().flatten().collect();
        let all: Vec<Vec<String>> = permitted.iter().map(|system| facts(*system)).collect();
        if all.iter().any(Vec::is_empty) {
            return None;
        }
        let mut found = codes::VARIABLE_WINDOW_SYSTEM.about(self.name);
        let (name, programs) = (self.name, self.programs);
        let with = match &permitted[..] {
            [] => "which shows no windows".into(),
            several => {
                let words: Vec<&str> = several.iter().map(|system| system.words()).collect();
                format!("which stands for {}", words.join(" and "))
            }
        };
        let why = all.first().and_then(|facts| facts.first());
        let why = why.map_or(String::new(), |fact| format!(", and {fact}"));
        found.reason = format!("{name} makes {programs} use {value}, {with}{why}.");
        found.findings = all.into_iter().flatten().skip(1).collect();
        let others = [System::X11, System::Wayland];
        let mut others = others.into_iter().filter(|system| !permitted.contains(system));
        found.advice = match others.find(|system| facts(*system).is_empty()) {
            Some(other) => format!(
                "Start the program with {}: {name}={} PROGRAM, or: unset {name}",
                other.words(),
                self.word(other)
            ),
            None => format!(
                "Unset {name}, and start the program in a graphical session: {}",
                codes::DISPLAY_MISSING.remedy
            ),
        };
        Some(found)
    }
}

/// Returns the remedy that starts a program with the other window system, if a server of that system can be reached.
pub(in crate::causes) fn other(system: System, variables: &Variables) -> Option<String> {
    let other = system.other();
    if other.unreachable(variables).is_some() {
        return None;
    }
    let without = if other == System::X11 {
        "env -u WAYLAND_DISPLAY "
    } else {
        ""
    };
    let set = ROWS.iter().filter(|row| row.is_set_by_remedies);
    let set: Vec<String> = set.map(|row| format!("{}={}", row.name, row.word(other))).collect();
    Some(format!(
        "Update the driver, or start the program with {}: {without}{} PROGRAM",
        other.words(),
        set.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_variables_are_known() {
        let of = |name: &str, value: &str| {
            let row = ROWS.iter().find(|row| row.name == name).expect("a row");
            row.systems(value)
        };
        let wayland = Some(System::Wayland);
        assert_eq!(
            of("SDL_VIDEODRIVER", "wayland,x11"),
            Some(vec![wayland, Some(System::X11)])
        );
        assert_eq!(of("SDL_VIDEODRIVER", "dummy"), Some(vec![None]));
        assert_eq!(of("SDL_VIDEODRIVER", "kmsdrm"), None);
        assert_eq!(
            of("QT_QPA_PLATFORM", "wayland-egl;xcb"),
            Some(vec![wayland, Some(System::X11)])
        );
        assert_eq!(of("QT_QPA_PLATFORM", "offscreen:size=1x1"), Some(vec![None]));
        assert_eq!(of("GDK_BACKEND", "*"), None);
        assert_eq!(of("ELECTRON_OZONE_PLATFORM_HINT", "auto"), None);
    }
}
