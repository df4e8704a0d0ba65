//! Sandboxes that keep files from a program which the program needs, and the options that hand the files over.

use super::elf::{self, Closure, Identity, locate};
use crate::inside::{Inside, State};
use crate::manifests;
use crate::mounts::{Mount, Mounts};
use crate::paths::file_name;
use crate::report::{Dropped, Kind, Report, rank};
use crate::shell::word;
use std::path::{Path, PathBuf};

/// A program that makes sandboxes or containers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sandbox {
    /// Names of the program's files.
    programs: &'static [&'static str],
    /// Value of `Report::surroundings` for this kind of sandbox; empty if there is none.
    word: &'static str,
    /// Beginning and end of a command that hands files over, and the option for one file, in which `PATH` stands for the file.
    files: (&'static str, &'static str, &'static str),
    /// Remedies for missing device nodes of graphics cards: the nodes of the kernel's usual drivers, and those of NVIDIA's driver.
    nodes: (&'static str, &'static str),
}

/// Sandboxes with files of the system around them.
const KNOWN: [Sandbox; 6] = [
    Sandbox {
        programs: &["bwrap"],
        word: "",
        files: ("bwrap", "", " --ro-bind PATH PATH"),
        nodes: (
            "Give the device nodes to the sandbox, after the option --dev /dev: bwrap --dev-bind /dev/dri /dev/dri",
            "Give the device nodes to the sandbox, after the option --dev /dev: bwrap --dev-bind /dev/nvidiactl /dev/nvidiactl --dev-bind /dev/nvidia0 \
             /dev/nvidia0 --dev-bind-try /dev/nvidia-modeset /dev/nvidia-modeset --dev-bind-try /dev/dri /dev/dri",
        ),
    },
    Sandbox {
        programs: &[FIREJAIL],
        word: "",
        files: ("firejail", " PROGRAM", " --noblacklist=PATH --whitelist=PATH"),
        nodes: (
            "Let the sandbox have the device nodes: firejail --ignore=no3d --ignore=private-dev PROGRAM",
            "Let the sandbox have the device nodes: firejail --ignore=no3d --ignore=private-dev PROGRAM",
        ),
    },
    Sandbox {
        programs: &["podman", "crun", "runc", "conmon"],
        word: "podman",
        files: ("podman run", " IMAGE", " -v PATH:PATH:ro"),
        nodes: (
            "Hand the card to the container: podman run --device /dev/dri IMAGE",
            "Hand the card to the container: podman run --device nvidia.com/gpu=all IMAGE",
        ),
    },
    Sandbox {
        programs: &["docker"],
        word: "docker",
        files: ("docker run", " IMAGE", " -v PATH:PATH:ro"),
        nodes: (
            "Hand the card to the container: docker run --device /dev/dri IMAGE",
            "Hand the card to the container: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all IMAGE",
        ),
    },
    Sandbox {
        programs: &["pv-bwrap", "pressure-vessel-wrap", "pv-adverb"],
        word: "steam",
        files: ("PRESSURE_VESSEL_FILESYSTEMS_RO=", " %command%", "PATH"),
        nodes: (
            "Check whether the host has the nodes (ls -l /dev/dri), because Steam hands all of them over.",
            "Check whether the host has the nodes (ls -l /dev/nvidia*), because Steam hands all of them over.",
        ),
    },
    Sandbox {
        programs: &[SYSTEMD],
        word: "",
        files: (
            "systemctl edit NAME, with the lines [Service] and BindReadOnlyPaths=",
            "",
            "PATH",
        ),
        nodes: (
            "Change the service: systemctl edit NAME, with the lines [Service] and PrivateDevices=no",
            "Change the service: systemctl edit NAME, with the lines [Service] and PrivateDevices=no",
        ),
    },
];
/// Name of the row for services of systemd, which no program of this name starts.
const SYSTEMD: &str = "(systemd)";

/// Program that sets the variable `container` to its own name.
const FIREJAIL: &str = "firejail";
/// Root folder of a sandbox of bubblewrap, in a file system of its own.
const OF_BUBBLEWRAP: &str = "/newroot";
/// Part of the mounted files and folders with which systemd covers what a service may not see.
const OF_SYSTEMD: &str = "systemd/";

/// A sandbox of a program that is not known here.
const OTHER: Sandbox = Sandbox {
    programs: &[],
    word: "",
    files: ("", "; in a container, as a volume", "bwrap --ro-bind PATH PATH"),
    nodes: (
        "Give the device nodes to the sandbox: bwrap --dev-bind /dev/dri /dev/dri; in a container, --device /dev/dri; in a service of systemd, \
         PrivateDevices=no",
        "Give the device nodes to the sandbox: bwrap --dev-bind /dev/nvidiactl /dev/nvidiactl --dev-bind /dev/nvidia0 /dev/nvidia0; in a container, \
         --device nvidia.com/gpu=all",
    ),
};

/// Upper bound on the number of missing files in a finding.
const MOST: usize = 3;
/// Last part of the path of the folder with driver manifests.
const MANIFESTS: &str = "/icd.d";

impl Sandbox {
    /// Returns the sandbox of a program that sees other files than this process.
    pub(super) fn of(report: &Report) -> &'static Self {
        let mounts = report.inside.as_ref().map(|inside| inside.mounts().clone());
        Self::known(report, &mounts.unwrap_or_default()).unwrap_or(&OTHER)
    }

    /// Returns the sandbox around this process; `None` if none is recognised. `root` is the root folder of the system.
    pub(super) fn around(report: &Report, root: &Path) -> Option<&'static Self> {
        Self::known(report, &Mounts::below(root))
    }

    /// Returns the sandbox of a program with the mounts `mounts`; `None` if none is recognised.
    fn known(report: &Report, mounts: &Mounts) -> Option<&'static Self> {
        let is_around = |one: &&'static Self| report.runs_in(&[one.word]);
        let by = |program: &str| KNOWN.iter().find(|one| one.programs.contains(&program));
        let has_root = |root: &Mount| root.root == Path::new(OF_BUBBLEWRAP) && root.is_empty_at_first();
        // Flatpak and Steam make their sandboxes with bubblewrap.
        let is_of_others = || report.runs_in(&["flatpak", "steam"]);
        let of_root = || {
            mounts
                .at("/")
                .filter(|root| has_root(root) && !is_of_others())
                .and_then(|_| by("bwrap"))
        };
        let of_variable = || by(&report.variables.get("container")?).filter(|one| one.programs == [FIREJAIL]);
        let file = |path: &String| file_name(path).to_owned();
        let of_programs = || report.executed.iter().find_map(|path| by(&file(path)));
        let is_of_service = |mount: &Mount| mount.root.to_string_lossy().contains(OF_SYSTEMD);
        let of_service = || {
            mounts
                .iter()
                .find(|mount| is_of_service(mount))
                .and_then(|_| by(SYSTEMD))
        };
        if report.inside.is_some() {
            // The surroundings may be those of this process, outside of the sandbox.
            return of_programs().or_else(of_root).or_else(|| KNOWN.iter().find(is_around));
        }
        let known = of_variable().or_else(of_root).or_else(|| KNOWN.iter().find(is_around));
        known.or_else(of_service).or_else(of_programs)
    }

    /// Adds to the finding about a driver the libraries that it searched for and that only the sandbox lacks. Returns `false` if there are none.
    pub(super) fn lacks(&self, dropped: &mut Dropped, names: &[&str], (inside, own): (&Inside, Identity)) -> bool {
        let paths = names.iter().filter_map(|name| locate(name, own));
        let missing: Vec<PathBuf> = paths.filter_map(|path| lacking(&path, inside)).collect();
        !missing.is_empty() && {
            self.complete(dropped, &missing, inside);
            true
        }
    }

    /// Adds to a finding the files that only the sandbox lacks.
    fn complete(&self, dropped: &mut Dropped, missing: &[PathBuf], inside: &Inside) {
        let facts: Vec<String> = missing.iter().take(MOST).map(|path| fact(path, inside)).collect();
        for fact in facts.into_iter().rev() {
            dropped.findings.insert(0, fact);
        }
        dropped.advice = remedy(missing, inside, self);
        dropped.names_file = true;
    }

    /// Returns `true` if a program that was executed made this sandbox.
    fn has_started(&self, report: &Report) -> bool {
        let mut files = report.executed.iter().map(|path| file_name(path));
        files.any(|file| self.programs.contains(&file))
    }

    /// Returns the command that hands files over.
    pub(super) fn hand_over<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> String {
        let (start, end, option) = self.files;
        let options = paths
            .into_iter()
            .map(|path| option.replace("PATH", &word(&path.display().to_string())));
        format!(
            "{start}{}{end}",
            options
                .collect::<Vec<_>>()
                .join(if option == "PATH" { ":" } else { "" })
        )
    }

    /// Returns `true` for a sandbox of a program that users start, such as bubblewrap or Firejail.
    pub(super) fn is_made_by_users(&self) -> bool {
        self.word.is_empty() && self.programs != [SYSTEMD]
    }

    /// Returns the remedy for device nodes that the sandbox lacks.
    pub(super) fn nodes(&self, is_nvidias: bool) -> &'static str {
        if is_nvidias { self.nodes.1 } else { self.nodes.0 }
    }
}

/// Adds to the finding about a library that could not be opened the files that only the sandbox of the program lacks. Returns `false` if it
/// lacks none.
pub(super) fn explain(dropped: &mut Dropped, inside: &Inside, sandbox: &Sandbox, own: Identity) -> bool {
    let library = match dropped.code.as_str() {
        "driver.not-opened" => Some(dropped.name.clone()),
        "layer-library.not-opened" => dropped.file.clone(),
        "file.not-found" => return file(dropped, inside, sandbox),
        _ => return false,
    };
    let Some(path) = library.and_then(|library| locate(&library, own)) else {
        return false;
    };
    let missing = missing(&path, inside, own);
    if missing.is_empty() {
        return false;
    }
    sandbox.complete(dropped, &missing, inside);
    true
}

/// Adds to the finding about a missing manifest that only the sandbox of the program lacks the file. The variable that names the manifest is right,
/// so the finding comes before the one about the variable.
fn file(dropped: &mut Dropped, inside: &Inside, sandbox: &Sandbox) -> bool {
    let Some(path) = lacking(Path::new(&dropped.name), inside) else {
        return false;
    };
    sandbox.complete(dropped, &[path], inside);
    dropped.rank = rank::SILENT - 1;
    true
}

/// Returns the files among a library and all that it needs that only the sandbox lacks.
fn missing(library: &Path, inside: &Inside, own: Identity) -> Vec<PathBuf> {
    let needed = Closure::of(library, own).found;
    // Another system has its own libraries in other places.
    let is_other_system = |path: &PathBuf| elf::is_of_c_library(path) && inside.state(path) == Some(State::Other);
    if needed.iter().any(is_other_system) {
        return Vec::new();
    }
    let all = [library.to_path_buf()].into_iter().chain(needed);
    let mut missing: Vec<PathBuf> = all.filter_map(|path| lacking(&path, inside)).collect();
    missing.sort();
    missing.dedup();
    missing
}

/// Returns the file that the sandbox lacks: the file at `path`, or the target of a link there.
fn lacking(path: &Path, inside: &Inside) -> Option<PathBuf> {
    if !inside.lacks(path) {
        return None;
    }
    // The list of mounts has folders without links.
    let folder = std::fs::canonicalize(path.parent()?).ok()?;
    let path = &folder.join(path.file_name()?);
    let real = std::fs::canonicalize(path).ok().filter(|real| inside.lacks(real));
    // The link of a library is in the folder of its target, which is then handed over with it.
    Some(
        real.filter(|real| real.parent() != path.parent())
            .unwrap_or_else(|| path.into()),
    )
}

/// Returns a sentence about a file that only the sandbox lacks.
fn fact(path: &Path, inside: &Inside) -> String {
    let shown = path.display();
    let mount = inside.mount_over(path);
    match (inside.state(path), mount) {
        (Some(State::Covered), Some(mount)) if mount.point == path => {
            format!(
                "{shown} is covered in the sandbox of the program: {} is mounted there",
                source(&mount.root)
            )
        }
        (_, Some(mount)) if mount.is_empty_at_first() => format!(
            "{shown} exists outside of the sandbox of the program, and not in it: a file system without files ({}) hides {}",
            mount.kind,
            mount.point.display()
        ),
        _ => format!("{shown} exists outside of the sandbox of the program, and not in it"),
    }
}

/// Returns the name of a mounted file, which the list of mounts has relative to its file system.
fn source(root: &Path) -> String {
    match root.to_str() {
        Some("/null") => "/dev/null".into(),
        _ => root.display().to_string(),
    }
}

/// Returns the remedy for files that only the sandbox lacks.
fn remedy(missing: &[PathBuf], inside: &Inside, sandbox: &Sandbox) -> String {
    let mut places: Vec<&Path> = missing.iter().map(|path| place(path, inside)).collect();
    places.sort();
    places.dedup();
    let over = missing
        .iter()
        .find_map(|path| inside.mount_over(path).filter(|mount| path.starts_with(&mount.point)));
    let after = over.map_or(String::new(), |mount| {
        format!(", after the option that hides {}", mount.point.display())
    });
    let what = if places.iter().any(|place| missing.iter().any(|path| path == place)) {
        "file"
    } else {
        "folder"
    };
    let ending = if places.len() > 1 { "s" } else { "" };
    format!(
        "Give the sandbox of the program the {what}{ending}{after}: {}",
        sandbox.hand_over(places)
    )
}

/// Returns the path that hands over a missing file: its folder if the sandbox lacks all of it, otherwise the file alone.
fn place<'a>(path: &'a Path, inside: &Inside) -> &'a Path {
    let folder = path
        .parent()
        .filter(|folder| inside.lacks(folder) && *folder != Path::new("/"));
    folder.unwrap_or(path)
}

/// Returns the finding and the remedy for a folder of manifests that the program did not find, although it exists here with the manifests
/// `names`.
pub(super) fn without_folder(folder: &str, names: &[String], sandbox: &Sandbox) -> (String, String) {
    let whole = Path::new(folder.strip_suffix(MANIFESTS).unwrap_or(folder));
    (
        format!(
            "{folder} exists outside of the sandbox of the program with {}, and not in it",
            names.join(", ")
        ),
        format!(
            "Give the sandbox of the program this folder: {}",
            sandbox.hand_over([whole])
        ),
    )
}

/// Endings of the codes of findings about libraries that could not be opened.
const NOT_OPENED: &str = ".not-opened";
/// Text after the name of a file in the message of the dynamic linker about a missing file.
const NO_FILE: &str = ": cannot open shared object file: No such file";

/// Adds to findings about missing libraries the reason that the sandbox of this process hides them, if its mounts show that.
pub(super) fn complete(report: &mut Report) {
    let mounts = Mounts::of_this_process();
    if report.inside.is_some() {
        return;
    }
    let sandbox = Sandbox::known(report, &mounts);
    let is_in_sandbox = sandbox.is_some_and(|sandbox| sandbox.has_started(report));
    let opened = report.dropped.iter_mut().filter(|one| one.code.ends_with(NOT_OPENED));
    for dropped in opened {
        let paths = absent_in(dropped);
        let by_mounts = |path: &PathBuf| Hidden::find(path.clone(), &mounts, (sandbox, is_in_sandbox));
        let by_manifest = || Hidden::without_library(dropped, paths.first()?, &mounts, sandbox?);
        let Some(path) = paths.iter().find_map(by_mounts).or_else(by_manifest) else {
            continue;
        };
        dropped.findings.insert(0, path.finding);
        dropped.advice = path.advice;
        dropped.absent = None;
    }
}

/// Returns the paths at which the missing library of a finding may have been.
fn absent_in(dropped: &Dropped) -> Vec<PathBuf> {
    let words = dropped.findings.iter().find_map(|fact| fact.words(&Kind::System));
    let Some((names, _)) = words.and_then(|words| words.split_once(NO_FILE)) else {
        return Vec::new();
    };
    let name = names.rsplit(": ").next().unwrap_or_default();
    if name.contains('/') {
        return vec![name.into()];
    }
    elf::usual_folders()
        .map(|folder| Path::new(folder).join(name))
        .collect()
}

/// The finding and the remedy for a file that the mounts of this process hide.
struct Hidden {
    finding: String,
    advice: String,
}

impl Hidden {
    /// Returns the reason why `path` is hidden; `None` if nothing shows that a sandbox hides it. `sandbox` is the sandbox of this process if it is known.
    /// If `is_in_sandbox` is `true`, it is that of the program.
    fn find(
        path: PathBuf,
        mounts: &Mounts,
        (sandbox, is_in_sandbox): (Option<&'static Sandbox>, bool),
    ) -> Option<Self> {
        let shown = path.display();
        let by = sandbox.unwrap_or(&OTHER);
        if let Some(mount) = mounts.at(&path) {
            return Some(Self {
                finding: format!(
                    "{shown} is covered in this sandbox: {} is mounted there",
                    source(&mount.root)
                ),
                advice: format!("Let the sandbox have the file: {}", by.hand_over([path.as_path()])),
            });
        }
        if path.is_file() {
            // The program did not find a file that this process finds, and was started by a program that makes sandboxes.
            return sandbox.filter(|_| is_in_sandbox).map(|sandbox| Self {
                finding: format!(
                    "{shown} exists, and the program did not find it, so the sandbox of the program lacks it"
                ),
                advice: format!(
                    "Give the sandbox of the program the file: {}",
                    sandbox.hand_over([path.as_path()])
                ),
            });
        }
        let mount = mounts.holding(&path).filter(|_| !path.exists())?;
        let point = mount.point.display();
        let is_root = mount.point == Path::new("/");
        let folder = path.parent().filter(|folder| !folder.exists()).unwrap_or(&path);
        // Systems have file systems of this type for temporary files, and some for all files.
        if !mount.is_empty_at_first()
            || (is_root || TEMPORARY.iter().any(|own| path.starts_with(own))) && sandbox.is_none()
        {
            return None;
        }
        let finding = if is_root {
            let top = path
                .ancestors()
                .take_while(|above| !above.exists())
                .last()
                .unwrap_or(&path);
            format!("this sandbox has no {}, in which {shown} would be", top.display())
        } else {
            format!(
                "a file system without files ({}) is mounted on {point}, where {shown} would be",
                mount.kind
            )
        };
        Some(Self {
            finding,
            advice: format!(
                "If the file exists outside of this sandbox, hand it over: {}",
                by.hand_over([folder])
            ),
        })
    }

    /// Returns the finding and the remedy for a container that gets a manifest from its host, but not the library at `path`.
    fn without_library(dropped: &Dropped, path: &Path, mounts: &Mounts, sandbox: &'static Sandbox) -> Option<Self> {
        let manifest = dropped.file.as_deref().filter(|file| file.ends_with(".json"))?;
        let mount = mounts.holding(&std::fs::canonicalize(manifest).ok()?)?;
        let is_own = mount.point == Path::new("/") || mount.is_of_container();
        // A library that the driver needs belongs to the image.
        let is_driver = || manifests::named(manifest.as_ref()).is_some_and(|name| Path::new(&name) == path);
        if is_own || sandbox.word.is_empty() || path.exists() || !path.is_absolute() || !is_driver() {
            return None;
        }
        let (shown, point) = (path.display(), mount.point.display());
        Some(Self {
            finding: format!(
                "{manifest} comes from outside of the container (mounted at {point}), and {shown} does not"
            ),
            advice: format!(
                "Hand over the driver too: {}; or use the drivers of the image, without the volume {point}",
                sandbox.hand_over([path.parent()?])
            ),
        })
    }
}

/// Folders in which systems mount empty file systems.
const TEMPORARY: [&str; 5] = ["/tmp", "/run", "/dev", "/var", "/home"];

/// Returns the fact and the remedy for the socket of a display server that only the sandbox of the program lacks.
pub(super) fn without_socket(path: &Path, report: &Report) -> Option<(String, String)> {
    let inside = report.inside.as_deref().filter(|inside| inside.lacks(path))?;
    let advice = format!(
        "Give the sandbox of the program the socket of the display: {}",
        Sandbox::of(report).hand_over([path])
    );
    Some((fact(path, inside), advice))
}
