//! Recognises commands that start a program as another user, in a sandbox, in a container, or on another machine.

use super::started;
use crate::causes;
use crate::paths::file_name;
use crate::regular;
use crate::shell::word;
use std::ffi::OsString;
use std::path::Path;

/// Programs that start other programs as another user, each with an example.
const CHANGING_USER: [(&str, &str); 5] = [
    ("sudo", "sudo vkloader explain -- PROGRAM"),
    ("doas", "doas vkloader explain -- PROGRAM"),
    ("pkexec", "pkexec vkloader explain -- PROGRAM"),
    ("su", "su USER -c 'vkloader explain -- PROGRAM'"),
    ("runuser", "runuser -u USER -- vkloader explain -- PROGRAM"),
];

const FLATPAK: &str = "flatpak";
const SNAP: &str = "snap";

/// Programs that start other programs in a sandbox, in a container or on another machine, each with an example.
const ENTERING: [(&str, &str); 8] = [
    (
        FLATPAK,
        "flatpak run --command=sh --filesystem=home APPLICATION, and there vkloader as one file: ./vkloader explain",
    ),
    (
        SNAP,
        "snap run --shell APPLICATION, and there vkloader as one file: ./vkloader explain",
    ),
    (
        "docker",
        "docker exec CONTAINER /vkloader explain, after docker cp vkloader CONTAINER:/ with vkloader as one file",
    ),
    (
        "podman",
        "podman exec CONTAINER /vkloader explain, after podman cp vkloader CONTAINER:/ with vkloader as one file",
    ),
    (
        "distrobox",
        "distrobox enter NAME -- ./vkloader explain, with vkloader as one file",
    ),
    ("toolbox", "toolbox run ./vkloader explain, with vkloader as one file"),
    ("ssh", "ssh MACHINE vkloader explain -- PROGRAM"),
    ("systemd-run", "systemd-run --pipe --wait vkloader explain -- PROGRAM"),
];

/// Programs that start other programs in a sandbox with the files of this system.
const SANDBOXES: [&str; 3] = ["bwrap", "firejail", "unshare"];

/// Returns `true` for the path of one of the programs in [`SANDBOXES`].
pub(super) fn is_sandbox(program: &str) -> bool {
    SANDBOXES.contains(&file_name(program))
}

/// Returns the reason why a program has no trace, if the command starts it in a sandbox of [`SANDBOXES`].
pub(super) fn sandboxed(command: &[OsString]) -> Option<String> {
    let all = started::by(command);
    let one = all.iter().find(|one| SANDBOXES.contains(&one.file.as_str()))?;
    let name = &one.file;
    Some(format!(
        "the program runs in a sandbox of {name}, where it may not write to the file of the trace; if {name} itself printed an error, correct that \
         first; otherwise pass the trace as an open descriptor: vkloader explain --descriptor -- PROGRAM"
    ))
}

/// Returns the reason why a program has no trace, if the command starts the program as another user, or in a sandbox or container. The
/// command may do so through a script, such as those that Flatpak exports.
pub(super) fn find(command: &[OsString]) -> Option<String> {
    let all = started::by(command);
    let of = |table: &[(&str, &'static str)]| {
        all.iter().find_map(|one| {
            let (_, example) = table.iter().find(|(known, _)| *known == one.file)?;
            Some((one, *example))
        })
    };
    if let Some((one, example)) = of(&CHANGING_USER) {
        return Some(format!(
            "{} starts the program as another user and without this user's variables, so it writes no trace; start vkloader as that user: {example}",
            one.file
        ));
    }
    let (one, example) = of(&ENTERING)?;
    let application = match one.file.as_str() {
        FLATPAK => one
            .arguments
            .iter()
            .skip_while(|word| *word != "run")
            .skip(1)
            .find(|word| !word.starts_with('-')),
        SNAP if one.called != SNAP => Some(&one.called),
        SNAP => one
            .arguments
            .iter()
            .skip_while(|word| *word != "run")
            .skip(1)
            .find(|word| !word.starts_with('-')),
        _ => None,
    };
    let example = application.map_or(example.into(), |name| example.replace("APPLICATION", &word(name)));
    let is_flatpak = one.file == FLATPAK;
    let service = causes::for_flatpak(Path::new("/")).filter(|_| is_flatpak);
    let service = service.map_or(String::new(), |service| {
        format!(
            "; {}",
            service.replace("APPLICATION", application.map_or("APPLICATION", |name| name))
        )
    });
    if let Some(words) = without_nvidia(Path::new("/")).filter(|_| is_flatpak) {
        return Some(format!("{words}; to look inside, start vkloader there: {example}"));
    }
    Some(format!(
        "{} starts the program in a place with another loader and other drivers, so it writes no trace; start vkloader there: {example}{service}",
        one.file
    ))
}

/// Beginning of the names of Flatpak's extensions with NVIDIA's libraries.
const OF_NVIDIA: &str = "org.freedesktop.Platform.GL.nvidia-";

/// Returns a sentence if Flatpak lacks NVIDIA's libraries in the version of the kernel module. `root` is the root folder of the system.
fn without_nvidia(root: &Path) -> Option<String> {
    let version = regular::text(root.join("sys/module/nvidia/version")).ok()?;
    let version = version.trim();
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/share/flatpak/runtime"));
    let folders = [Some(root.join("var/lib/flatpak/runtime")), home];
    let entries = folders
        .into_iter()
        .flatten()
        .filter_map(|folder| std::fs::read_dir(folder).ok());
    let names = entries
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let installed: Vec<String> = names.filter(|name| name.starts_with(OF_NVIDIA)).collect();
    let wanted = format!("{OF_NVIDIA}{}", version.replace('.', "-"));
    if installed.contains(&wanted) {
        return None;
    }
    let has = if installed.is_empty() {
        "none".into()
    } else {
        installed.join(", ")
    };
    Some(format!(
        "Flatpak has no NVIDIA libraries of the version of the kernel module, {version}, so its programs get no card of NVIDIA (installed: {has}); \
         install them: flatpak install {wanted}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flatpak_without_the_version_of_nvidias_module_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = |path: &str| std::fs::create_dir_all(root.path().join(path)).expect("folders");
        assert_eq!(without_nvidia(root.path()), None);
        folder("sys/module/nvidia");
        std::fs::write(root.path().join("sys/module/nvidia/version"), "550.1\n").expect("a file");
        folder("var/lib/flatpak/runtime/org.freedesktop.Platform.GL.nvidia-535-2");
        let words = without_nvidia(root.path()).expect("it is missing");
        assert!(
            words.ends_with("flatpak install org.freedesktop.Platform.GL.nvidia-550-1"),
            "{words}"
        );
        folder("var/lib/flatpak/runtime/org.freedesktop.Platform.GL.nvidia-550-1");
        assert_eq!(without_nvidia(root.path()), None);
    }
}
