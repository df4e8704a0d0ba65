//! Programs whose file raises privileges. The dynamic linker and the loader ignore the variables that could make such a program open a file.

mod home;

use crate::regular;
use crate::shell::word;
use crate::variables::Variables;
use home::Lost;
use promises::variable::{Row, Separator, TABLE, Trust};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bits of a file's mode that raise privileges.
const SET_USER: u32 = 0o4000;
const SET_GROUP: u32 = 0o2000;

/// Beginning of the names of variables that are about Vulkan only.
const OF_VULKAN: &str = "VK_";
/// Variable that `vkloader` itself sets.
const OWN: &str = "VK_LOADER_TRACE";
/// Variables of the dynamic linker that count in programs with usual privileges only.
const OF_LINKER: [&str; 2] = ["LD_LIBRARY_PATH", "LD_PRELOAD"];

/// Extension of the files of manifests.
const MANIFEST: &str = "json";

/// Reason why a file's program has raised privileges.
enum Raised {
    ByMode,
    ByCapabilities,
}

/// Returns the reason why a program has no trace, if the program's file runs with raised privileges. With raised privileges, the dynamic
/// linker ignores the variable that selects the library.
pub(super) fn find(program: &Path) -> Option<String> {
    let raised = raised(program)?;
    let name = program.display();
    let own = word(&name.to_string());
    let file = word(&program.file_name().unwrap_or_default().display().to_string());
    let copy = format!("cp {own} /tmp/{file} && vkloader explain -- /tmp/{file}");
    let has = match raised {
        Raised::ByMode => "a set-user-ID or set-group-ID bit",
        Raised::ByCapabilities => "capabilities (getcap)",
    };
    let variables = Variables::default();
    let get = |name: &str| variables.nonempty(name);
    let ignored = ignored(get);
    let lost = home::lost(program, &get);
    let lacks = match &lost[..] {
        [] => String::new(),
        lost => {
            let words: Vec<String> = lost.iter().map(Lost::words).collect();
            format!(
                ". It does not search the folders of the user, so it lacks what only these have: {}",
                words.join(", ")
            )
        }
    };
    let mut words = format!("{name} has {has}, so it runs with raised privileges and writes no trace{lacks}");
    if !ignored.is_empty() {
        words.push_str(&also_ignores(&ignored));
    }
    for one in &lost {
        words.push_str(&format!("; {}", one.to_install()));
    }
    let read = match (ignored.is_empty(), lost.is_empty()) {
        (true, true) => "a copy has none",
        (true, false) => "a copy of the program has no such privileges",
        (false, _) => "a copy has no such privileges, so it reads the variables",
    };
    words.push_str(&format!("; {read}: {copy}"));
    let named: Vec<&Ignored> = ignored.iter().filter(|one| one.kind.is_some()).collect();
    for kind in KINDS.iter().filter(|kind| is_named(kind, &named)) {
        words.push_str(&format!("; {}", kind.to_install(&named)));
    }
    let lacks_any = !ignored.is_empty() || !lost.is_empty();
    if matches!(raised, Raised::ByCapabilities) && lacks_any {
        words.push_str(&format!("; to do without the capabilities: setcap -r {own}"));
    }
    Some(words)
}

/// Returns a sentence about the variables that a program ignores, without the full stop.
fn also_ignores(ignored: &[Ignored]) -> String {
    let named: Vec<&Ignored> = ignored.iter().filter(|one| one.kind.is_some()).collect();
    let kinds = KINDS.iter().filter(|kind| is_named(kind, &named));
    let kinds: Vec<&str> = kinds.map(|kind| kind.what).collect();
    let without = match kinds.as_slice() {
        [] => String::new(),
        _ => format!(", so it lacks the {} named there", kinds.join(" and ")),
    };
    let names: Vec<&str> = ignored.iter().map(|one| one.name).collect();
    format!(". It also ignores {}{without}", names.join(", "))
}

/// Returns `true` if a variable in `named` names manifests of a kind.
fn is_named(kind: &Kind, named: &[&Ignored]) -> bool {
    named.iter().any(|one| one.kind == Some(kind))
}

/// Returns what raises the privileges of a program's process. Returns `None` if nothing does, or if this process may not gain privileges.
fn raised(program: &Path) -> Option<Raised> {
    let status = regular::text("/proc/self/status").unwrap_or_default();
    if status
        .lines()
        .any(|line| line.split_whitespace().eq(["NoNewPrivs:", "1"]))
    {
        return None;
    }
    let mode = std::fs::metadata(program).map_or(0, |status| status.mode());
    match mode & (SET_USER | SET_GROUP) {
        0 => has_capabilities(program).then_some(Raised::ByCapabilities),
        _ => Some(Raised::ByMode),
    }
}

/// Returns `true` if a process gains capabilities by executing the file.
fn has_capabilities(program: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::getxattr(program, "security.capability", &mut [0_u8; 64]).is_ok();
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// A kind of manifests, and the folder of the system in which all loaders search for them.
#[derive(PartialEq, Eq)]
struct Kind {
    /// Part of the names of the variables that name such manifests.
    word: &'static str,
    what: &'static str,
    folder: &'static str,
}

/// Kinds of manifests that variables name. The word of the first two is in the names of the variables of the second one too.
const KINDS: [Kind; 3] = [
    Kind {
        word: "_IMPLICIT_LAYER_",
        what: "implicit layers",
        folder: "/etc/vulkan/implicit_layer.d",
    },
    Kind {
        word: "_LAYER_",
        what: "layers",
        folder: "/etc/vulkan/explicit_layer.d",
    },
    Kind {
        word: "_",
        what: "drivers",
        folder: "/etc/vulkan/icd.d",
    },
];

impl Kind {
    /// Returns `true` for the kind of the manifests of drivers.
    fn is_of_drivers(&self) -> bool {
        self.what == "drivers"
    }

    /// Returns the kind of the manifests that a variable names; `None` for a variable that names none.
    fn of(row: &Row) -> Option<&'static Self> {
        (row.separator == Separator::Path).then(|| KINDS.iter().find(|kind| row.name.contains(kind.word)))?
    }

    /// Returns the remedy that puts manifests of this kind into a folder of the system.
    fn to_install(&self, ignored: &[&Ignored]) -> String {
        let own: Vec<&&Ignored> = ignored.iter().filter(|one| one.kind == Some(self)).collect();
        let manifests: Vec<String> = own.iter().flat_map(|one| manifests(&one.value)).collect();
        let names: Vec<&str> = own.iter().map(|one| one.name).collect();
        let Self { what, folder, .. } = self;
        let begin = format!("or copy the manifests that {} names to {folder}", names.join(" or "));
        if manifests.is_empty() {
            return format!("{begin}, where also such programs find {what}");
        }
        format!("{begin}: mkdir -p {folder} && cp {} {folder}/", manifests.join(" "))
    }
}

/// A variable that is set, and that programs with raised privileges ignore.
struct Ignored {
    name: &'static str,
    value: String,
    kind: Option<&'static Kind>,
}

/// Returns the variables that programs with raised privileges ignore, and that are set. `get` returns the value of a variable that is not empty.
fn ignored(get: impl Fn(&str) -> Option<String>) -> Vec<Ignored> {
    let is_ours = |row: &&Row| row.trust == Trust::Secure && row.name.starts_with(OF_VULKAN) && row.name != OWN;
    let of_loader = TABLE.iter().filter(is_ours).map(|row| (row.name, Kind::of(row)));
    let all = of_loader.chain(OF_LINKER.into_iter().map(|name| (name, None)));
    all.filter_map(|(name, kind)| {
        let value = get(name)?;
        Some(Ignored { name, value, kind })
    })
    .collect()
}

/// Returns the manifests that the value of a variable names, as words of a shell.
fn manifests(value: &str) -> Vec<String> {
    let words = value.split(':').filter(|word| !word.is_empty());
    words.flat_map(|path| of_path(Path::new(path))).collect()
}

/// Returns the manifest at a path, or the manifests in a folder.
fn of_path(path: &Path) -> Vec<String> {
    let is_manifest = |path: &PathBuf| path.extension().is_some_and(|extension| extension == MANIFEST);
    if !path.is_dir() {
        let exists = path.exists().then(|| word(&path.display().to_string()));
        return exists.into_iter().collect();
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let has_manifest = entries.map(|entry| entry.path()).any(|path| is_manifest(&path));
    let all = || {
        format!(
            "{}/*.{MANIFEST}",
            word(path.display().to_string().trim_end_matches('/'))
        )
    };
    has_manifest.then(all).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ignored variables of a process with the variables `set`.
    fn of(set: &[(&str, &str)]) -> Vec<Ignored> {
        ignored(|name| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn only_variables_that_can_name_files_are_ignored() {
        let set = [
            ("VK_INSTANCE_LAYERS", "a"),
            ("VK_LOADER_DEBUG", "all"),
            ("VK_LOADER_TRACE", "/tmp/trace"),
            ("HOME", "/home/a"),
            ("VK_ADD_IMPLICIT_LAYER_PATH", "/nowhere"),
            ("VK_ADD_LAYER_PATH", "/nowhere"),
            ("VK_LOADER_LAYERS_DISABLE", "x"),
            ("VK_DRIVER_FILES", "/nowhere/a.json"),
            ("LD_PRELOAD", "/nowhere/lib.so"),
        ];
        let found: Vec<_> = of(&set)
            .into_iter()
            .map(|one| (one.name, one.kind.map(|kind| kind.what)))
            .collect();
        let expected = [
            ("VK_DRIVER_FILES", Some("drivers")),
            ("VK_ADD_LAYER_PATH", Some("layers")),
            ("VK_ADD_IMPLICIT_LAYER_PATH", Some("implicit layers")),
            ("VK_LOADER_LAYERS_DISABLE", None),
            ("LD_PRELOAD", None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn manifests_of_a_variable_come_with_the_command_that_installs_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().display();
        std::fs::write(folder.path().join("a.json"), "{}").expect("a file");
        let value = format!("/nowhere:{path}/:{path}/a.json");
        let found = of(&[("VK_LAYER_PATH", &value)]);
        let words = KINDS[1].to_install(&found.iter().collect::<Vec<_>>());
        let expected = format!("cp {path}/*.json {path}/a.json /etc/vulkan/explicit_layer.d/");
        assert!(words.ends_with(&expected), "{words}");
        let found = of(&[("VK_LAYER_PATH", "/nowhere")]);
        let words = KINDS[1].to_install(&found.iter().collect::<Vec<_>>());
        assert!(words.ends_with("where also such programs find layers"), "{words}");
    }
}
