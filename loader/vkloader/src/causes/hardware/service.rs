//! Finds the service of systemd that runs the program, and the settings by which the service gets no device nodes.

use super::machine::Machine;
use crate::report::{Card, Dropped, codes};

/// Folders with the files of services, in the order in which systemd reads them.
const FOLDERS: [&str; 5] = [
    "etc/systemd/system",
    "run/systemd/system",
    "usr/local/lib/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
];
/// Values that switch a setting on.
const ON: [&str; 4] = ["yes", "true", "1", "on"];

/// The service of systemd in which a program runs.
pub(super) struct Service {
    name: String,
    /// The setting that hides device nodes, with its value.
    setting: (String, String),
    /// The file with the setting.
    file: String,
}

impl Service {
    /// Returns the service of this process, if its settings hide or refuse device nodes.
    pub(super) fn without_devices(machine: &Machine) -> Option<Self> {
        let name = name(&machine.text("proc/self/cgroup"))?;
        let files = files(machine, &name);
        let mut settings = files.iter().flat_map(|file| {
            let text = machine.text(file);
            let hiding: Vec<(String, String)> = text.lines().filter_map(hiding).collect();
            hiding.into_iter().map(move |setting| (setting, format!("/{file}")))
        });
        let (setting, file) = settings.next()?;
        drop(settings);
        Some(Self { name, setting, file })
    }

    /// Returns the finding about a card whose device node the service hides or refuses. `fact` is the state of the node.
    pub(super) fn finding(&self, row: &codes::Row, name: impl Into<String>, fact: String) -> Dropped {
        let Self {
            name: service,
            setting,
            file,
        } = self;
        let (key, value) = setting;
        let line = if key == "PrivateDevices" {
            "PrivateDevices=no"
        } else {
            "DeviceAllow=char-drm rw"
        };
        Dropped {
            reason: format!(
                "The service {service} runs without the device nodes of the graphics card: {key}={value} in {file}."
            ),
            file: Some(file.clone()),
            findings: [fact].into(),
            advice: format!(
                "Change the service: systemctl edit {service}, with the lines [Service] and {line}; then: systemctl restart {service}"
            ),
            ..row.about(name)
        }
    }

    /// Returns the finding about a card whose node is missing.
    pub(super) fn hides(&self, card: &Card, node: &str) -> Dropped {
        self.finding(
            codes::HARDWARE_NO_NODE,
            card.to_string(),
            format!("{node} is not there"),
        )
    }
}

/// Returns the name of the service in the list of a process's control groups. A service of the system manager is named at the end of a path.
pub(super) fn name(groups: &str) -> Option<String> {
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let of_system = |path: &&str| path.starts_with("/system.slice/");
    let mut names = paths
        .filter(of_system)
        .filter_map(|path| path.split('/').find(|part| part.ends_with(".service")));
    names.next().map(String::from)
}

/// Returns the files with the settings of a service. Later files change the settings of earlier ones, so that they come first here.
fn files(machine: &Machine, name: &str) -> Vec<String> {
    // The name of an instance has a text after `@`, which the name of its file lacks.
    let template = name.split_once('@').map(|(start, _)| format!("{start}@.service"));
    let names: Vec<&str> = [Some(name), template.as_deref()].into_iter().flatten().collect();
    let mut additions = Vec::new();
    let mut units = Vec::new();
    for folder in FOLDERS {
        for name in &names {
            let own = format!("{folder}/{name}");
            let more = machine.names(&format!("{own}.d"));
            let more = more.iter().rev().filter(|file| file.ends_with(".conf"));
            additions.extend(more.map(|file| format!("{own}.d/{file}")));
            units.extend(Some(own.clone()).filter(|own| machine.has(own)));
        }
    }
    additions.extend(units.into_iter().next());
    additions
}

/// Returns the setting in a line if it hides or refuses device nodes.
fn hiding(line: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let hides = match key {
        "PrivateDevices" => ON.contains(&value.to_lowercase().as_str()),
        "DevicePolicy" => ["closed", "strict"].contains(&value),
        "DeviceAllow" => !value.is_empty() && !value.contains("char-drm") && !value.contains("/dev/dri"),
        _ => false,
    };
    hides.then(|| (key.into(), value.into()))
}
