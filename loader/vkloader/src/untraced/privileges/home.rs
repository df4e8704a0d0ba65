//! Manifests that lie only in folders of the user. Programs with raised privileges do not search these folders.

use super::{KINDS, Kind, MANIFEST};
use crate::causes;
use crate::manifests;
use crate::paths::file_name;
use crate::shell::word;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the system below which all programs search for manifests.
const OF_SYSTEM: [&str; 6] = [
    "/etc/xdg",
    "/etc",
    "/usr/local/etc",
    "/usr/local/share",
    "/usr/share",
    "/run/opengl-driver/share",
];
/// Variables with folders of the user, each with the folder below the home folder that counts without the variable.
const OF_USER: [(&str, &str); 2] = [("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share")];
/// Variables that switch layers on, which programs with raised privileges read too.
const ENABLING: [&str; 2] = ["VK_INSTANCE_LAYERS", "VK_LOADER_LAYERS_ENABLE"];

/// A driver or layer whose manifest lies only in a folder of the user.
pub(super) struct Lost {
    kind: &'static Kind,
    /// Name of the layer, or file name of the driver's library.
    name: String,
    manifest: PathBuf,
    /// `true` if the manifest names its library by a path that starts at the folder of the manifest.
    is_relative: bool,
}

impl Lost {
    /// Returns the driver or layer in words.
    pub(super) fn words(&self) -> String {
        let what = if self.kind.is_of_drivers() { "driver" } else { "layer" };
        format!("{what} {} ({})", self.name, self.manifest.display())
    }

    /// Returns the remedy that puts the manifest into a folder of the system.
    pub(super) fn to_install(&self) -> String {
        let folder = self.kind.folder;
        let manifest = word(&self.manifest.display().to_string());
        let relative = if self.is_relative {
            ", and write its library_path in full"
        } else {
            ""
        };
        format!(
            "if only the superuser can change the library, copy the manifest to a folder that also such programs search{relative}: mkdir -p {folder} && \
             cp -n {manifest} {folder}/"
        )
    }
}

/// Returns the drivers, and the layers that the program asks for, whose manifests lie only in folders of the user. `get` returns the value of a
/// variable.
pub(super) fn lost(program: &Path, get: &impl Fn(&str) -> Option<String>) -> Vec<Lost> {
    let system = OF_SYSTEM.map(PathBuf::from);
    let mut lost: Vec<Lost> = KINDS.iter().flat_map(|kind| of_kind(kind, &system, get)).collect();
    let names: Vec<&str> = lost.iter().map(|one| one.name.as_str()).collect();
    let asked: Vec<String> = causes::texts_of(program, &names)
        .into_iter()
        .map(String::from)
        .collect();
    lost.retain(|one| one.kind.is_of_drivers() || asked.contains(&one.name) || is_switched_on(one, get));
    lost
}

/// Returns `true` for a layer that a variable switches on.
fn is_switched_on(layer: &Lost, get: &impl Fn(&str) -> Option<String>) -> bool {
    let names_it = |value: String| value.split([':', ',']).any(|word| word == layer.name);
    let by_name = ENABLING.iter().filter_map(|name| get(name)).any(names_it);
    let own = manifests::enabling_switch(&layer.manifest, &layer.name);
    by_name || own.is_some_and(|(name, value)| get(&name).is_some_and(|set| set == value))
}

/// Returns the manifests of one kind that lie in folders of the user, and not in a folder below those in `system`.
fn of_kind(kind: &'static Kind, system: &[PathBuf], get: &impl Fn(&str) -> Option<String>) -> Vec<Lost> {
    let home = get("HOME");
    let of_user = OF_USER.iter().filter_map(|(variable, below)| {
        let usual = || Some(Path::new(home.as_deref()?).join(below));
        get(variable).map(PathBuf::from).or_else(usual)
    });
    let of_user = of_user.filter(|folder| !system.contains(folder));
    let known: Vec<Lost> = system.iter().flat_map(|folder| in_folder(kind, folder)).collect();
    let found = of_user.flat_map(|folder| in_folder(kind, &folder));
    found
        .filter(|one| known.iter().all(|other| other.name != one.name))
        .collect()
}

/// Returns the drivers or layers of one kind whose manifests lie below a folder.
fn in_folder(kind: &'static Kind, folder: &Path) -> Vec<Lost> {
    let place = Path::new(kind.folder).file_name().unwrap_or_default();
    let entries = fs::read_dir(folder.join("vulkan").join(place))
        .into_iter()
        .flatten()
        .flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == MANIFEST));
    paths.sort();
    paths.iter().flat_map(|path| of_manifest(kind, path)).collect()
}

/// Returns the driver or the layers of a manifest.
fn of_manifest(kind: &'static Kind, manifest: &Path) -> Vec<Lost> {
    let one = |name: String, library: &str| Lost {
        kind,
        name,
        manifest: manifest.into(),
        is_relative: library.contains('/') && !library.starts_with('/'),
    };
    if kind.is_of_drivers() {
        let library = manifests::named(manifest);
        let file = |library: &str| file_name(library).to_owned();
        return library.iter().map(|library| one(file(library), library)).collect();
    }
    let content = manifests::read(manifest).unwrap_or_default();
    let layers = manifests::layers(&content).filter_map(|layer| {
        let library = layer["library_path"].as_str().unwrap_or_default();
        Some(one(layer["name"].as_str()?.into(), library))
    });
    layers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    #[test]
    fn a_layer_that_only_the_user_has_and_the_program_asks_for_is_lost() {
        let root = tempfile::tempdir().expect("a folder");
        let home = root.path().display().to_string();
        let layer = |name: &str| format!(r#"{{"layer": {{"name": "{name}", "library_path": "./liba.so"}}}}"#);
        let below = ".local/share/vulkan/explicit_layer.d";
        write(root.path(), &format!("{below}/a.json"), &layer("VK_LAYER_a"));
        write(root.path(), &format!("{below}/b.json"), &layer("VK_LAYER_b"));
        write(
            root.path(),
            ".config/vulkan/icd.d/c.json",
            r#"{"ICD": {"library_path": "/opt/libc.so"}}"#,
        );
        write(root.path(), "program", "it asks for VK_LAYER_a\0");
        let get = |name: &str| (name == "HOME").then(|| home.clone());
        let found = lost(&root.path().join("program"), &get);
        let words: Vec<String> = found.iter().map(Lost::words).collect();
        let [layer, driver] = &words[..] else {
            panic!("{words:?}")
        };
        assert_eq!(*layer, format!("layer VK_LAYER_a ({home}/{below}/a.json)"));
        assert!(driver.starts_with("driver libc.so ("), "{driver}");
        let advice = found[0].to_install();
        assert!(
            advice.ends_with(&format!("cp -n {home}/{below}/a.json /etc/vulkan/explicit_layer.d/"))
                && advice.contains("library_path in full"),
            "{advice}"
        );
        // A variable may ask for the other layer.
        let with = |name: &str| match name {
            "VK_INSTANCE_LAYERS" => Some("VK_LAYER_x:VK_LAYER_b".to_owned()),
            _ => get(name),
        };
        assert_eq!(lost(&root.path().join("program"), &with).len(), 3);
        // The same layer in a folder of the system is enough.
        let system = [root.path().join("etc")];
        write(
            root.path(),
            "etc/vulkan/explicit_layer.d/a.json",
            r#"{"layer": {"name": "VK_LAYER_a"}}"#,
        );
        let found = of_kind(&KINDS[1], &system, &get);
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["VK_LAYER_b"]);
    }
}
