//! Recognises a snap's sandbox, and names the interfaces that bring drivers into it.
//!
//! Programs that a snap starts inherit its variables, also programs outside of a sandbox: the terminal of a snap with classic confinement runs
//! programs of the system.

use super::unsearched;
use crate::mounts::Mounts;
use crate::regular;
use crate::report::Report;
use std::path::{Path, PathBuf};

/// Beginnings of the values of `confinement` for snaps that run in a sandbox.
const CONFINED: [&str; 2] = ["strict", "devmode"];
/// Words in the names of interfaces and snaps that bring drivers.
const OF_DRIVERS: [&str; 3] = ["mesa", "graphics", "gpu"];
/// Folder of the host's files in the sandbox of a snap.
const HOST: &str = "/var/lib/snapd/hostfs";

/// The snap whose variables a program has.
#[derive(Debug)]
pub(crate) struct Snap {
    /// Name of the snap, or `NAME` if the name is unknown.
    name: String,
    /// Text of the file that describes the snap; empty if the file cannot be read.
    description: String,
    root: PathBuf,
}

impl Snap {
    /// Returns the snap that the variables of a program name. `get` returns the value of a variable that is not empty.
    /// `root` is the root folder of the system.
    pub(super) fn of(root: &Path, get: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let folder = get("SNAP")?;
        let name = get("SNAP_INSTANCE_NAME").or_else(|| get("SNAP_NAME"));
        let path = root.join(folder.trim_start_matches('/')).join("meta/snap.yaml");
        Some(Self {
            name: name.unwrap_or_else(|| "NAME".into()),
            description: regular::text(path).unwrap_or_default(),
            root: root.into(),
        })
    }

    /// Returns `true` if the program runs in the sandbox of the snap. Looks for a snap at the root of the file system, for the folder of the
    /// host's files, and for the security label of a sandbox. Otherwise, the description of the snap decides.
    pub(super) fn is_sandbox(&self) -> bool {
        if let Some(confinement) = self.confinement() {
            return CONFINED.contains(&confinement);
        }
        let text = |path| regular::text(self.root.join(path)).unwrap_or_default();
        let has_host = || Mounts::below(&self.root).at(HOST).is_some();
        let label = || text("proc/self/attr/current");
        let is_enforced = || label().starts_with("snap.") && label().trim_end().ends_with("(enforce)");
        self.root.join("meta/snap.yaml").exists() || has_host() || is_enforced()
    }

    /// Returns `true` if the snap has classic confinement, so that its programs run outside of a sandbox.
    pub(super) fn is_classic(&self) -> bool {
        self.confinement() == Some("classic")
    }

    fn confinement(&self) -> Option<&str> {
        let mut lines = self.description.lines();
        let value = lines.find_map(|line| line.strip_prefix("confinement:"));
        // Snaps without this line are strict.
        let usual = (!self.description.is_empty()).then_some("strict");
        value.map(str::trim).or(usual)
    }

    /// Returns the remedy for a snap without drivers.
    pub(super) fn connect(&self) -> String {
        match self.interface() {
            Some((plug, provider, slot)) => format!(
                "Connect the snap that contains drivers: snap install {provider} && snap connect {}:{plug} {provider}:{slot}",
                self.name
            ),
            None => self.named(unsearched::IN_SNAP),
        }
    }

    /// Returns a remedy with the name of the snap in its commands.
    fn named(&self, advice: &str) -> String {
        let mut advice = advice.to_owned();
        for (command, after) in [("snap connections ", ""), ("snap connect ", ":")] {
            let new = format!("{command}{}{after}", self.name);
            advice = advice.replace(&format!("{command}NAME{after}"), &new);
        }
        advice
    }

    /// Returns the plug of the snap that receives drivers, the snap that provides the drivers, and that snap's slot. Reads the members of
    /// `plugs` with the usual indentation.
    fn interface(&self) -> Option<(&str, &str, &str)> {
        let plugs = self.description.lines().skip_while(|line| line.trim_end() != "plugs:");
        let plugs = plugs
            .skip(1)
            .take_while(|line| line.starts_with(' ') || line.is_empty());
        let (mut plug, mut content) = ("", None);
        for line in plugs {
            let (name, value) = line.trim().split_once(':').unwrap_or_default();
            if line.starts_with("  ") && !line.starts_with("   ") {
                (plug, content) = (name, None);
                continue;
            }
            let value = value.trim().trim_matches(['"', '\'']);
            if name == "content" {
                content = Some(value);
            }
            let is_of_drivers = || {
                OF_DRIVERS
                    .iter()
                    .any(|word| plug.contains(word) || value.contains(word))
            };
            if name == "default-provider" && !value.is_empty() && is_of_drivers() {
                let (provider, slot) = value.split_once(':').unwrap_or((value, content.unwrap_or(plug)));
                return Some((plug, provider, slot));
            }
        }
        None
    }
}

/// Completes the remedies of a report with the name of the snap and of its interface.
pub(super) fn complete(report: &mut Report) {
    let Report { snap, dropped, .. } = report;
    let Some(snap) = snap else { return };
    for one in dropped {
        one.advice = if one.advice == unsearched::IN_SNAP {
            snap.connect()
        } else {
            snap.named(&one.advice)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn snap(description: &str, files: &[(&str, &str)]) -> Snap {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in [("snap/game/7/meta/snap.yaml", description)].iter().chain(files) {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        let get = |name: &str| match name {
            "SNAP" => Some("/snap/game/7".into()),
            "SNAP_NAME" => Some("game".into()),
            _ => None,
        };
        let snap = Snap::of(root.path(), get).expect("the variable is set");
        Snap {
            root: root.keep(),
            ..snap
        }
    }

    #[test]
    fn the_variables_of_a_snap_are_no_sandbox() {
        let mounts =
            "22 1 7:1 / / ro - squashfs /dev/loop1 ro\n30 22 8:1 / /var/lib/snapd/hostfs rw - ext4 /dev/sda1 rw";
        let label = |mode| format!("snap.game.game ({mode})\n");
        for (description, path, text, expected) in [
            ("", "etc/hostname", String::new(), false),
            ("confinement: classic", "meta/snap.yaml", String::new(), false),
            ("confinement: strict", "etc/hostname", String::new(), true),
            ("", "meta/snap.yaml", "name: core22".into(), true),
            ("", "proc/self/mountinfo", mounts.into(), true),
            ("", "proc/self/attr/current", label("enforce"), true),
            ("", "proc/self/attr/current", label("complain"), false),
            ("", "proc/self/attr/current", "unconfined\n".into(), false),
        ] {
            let snap = snap(description, &[(path, &text)]);
            assert_eq!(snap.is_sandbox(), expected, "{description} {path} {text}");
            fs::remove_dir_all(&snap.root).expect("a folder");
        }
    }

    #[test]
    fn the_interface_for_drivers_comes_from_the_description_of_the_snap() {
        let of_steam = "name: steam\nplugs:\n  fonts:\n    interface: content\n    default-provider: gtk-common-themes\n  gaming-mesa:\n    \
            interface: content\n    target: $SNAP/graphics\n    default-provider: gaming-graphics-core22\napps:\n  mesa:\n    default-provider: no\n";
        let of_game =
            "plugs:\n  gpu-2404:\n    interface: content\n    content: gpu\n    default-provider: 'mesa-2404'\n";
        for (description, words) in [
            (
                of_steam,
                "snap connect game:gaming-mesa gaming-graphics-core22:gaming-mesa",
            ),
            (of_game, "snap connect game:gpu-2404 mesa-2404:gpu"),
            ("name: game\n", "snap connections game shows"),
        ] {
            let snap = snap(description, &[]);
            assert!(snap.connect().contains(words), "{}", snap.connect());
            fs::remove_dir_all(&snap.root).expect("a folder");
        }
    }
}
