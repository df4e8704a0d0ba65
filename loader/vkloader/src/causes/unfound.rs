//! Finds the reason why the loader did not find a layer whose manifest is installed. For example, a variable or an override layer replaces
//! the usual folders, or a path in a variable is wrong.

use super::{spelling, unsearched, variables, words};
use crate::events::{Event, Record};
use crate::manifests;
use crate::regular;
use crate::report::{Dropped, Report, codes};
use crate::shell::word;
use std::fs;
use std::path::{Path, PathBuf};

/// Variables that replace a folder below the home folder, each with that folder.
const AT_HOME: [(&str, &str); 2] = [("XDG_DATA_HOME", ".local/share"), ("XDG_CONFIG_HOME", ".config")];
/// Folder with the manifests of explicit layers, below each data folder.
const BELOW: &str = "vulkan/explicit_layer.d";
/// Folders that the loader searches for explicit layers if no variable replaces them.
const USUAL: [&str; 6] = [
    "/etc/xdg/vulkan/explicit_layer.d",
    "/etc/vulkan/explicit_layer.d",
    "/usr/local/etc/vulkan/explicit_layer.d",
    "/usr/local/share/vulkan/explicit_layer.d",
    "/usr/share/vulkan/explicit_layer.d",
    "/run/opengl-driver/share/vulkan/explicit_layer.d",
];
/// Folders with explicit layers in an installation of the Vulkan SDK, relative to the folder that `VULKAN_SDK` names, or to the folder above.
const IN_SDK: [&str; 5] = [
    "share/vulkan/explicit_layer.d",
    "etc/vulkan/explicit_layer.d",
    "x86_64/share/vulkan/explicit_layer.d",
    "x86_64/etc/vulkan/explicit_layer.d",
    "explicit_layer.d",
];
/// Variable that replaces the search for explicit layers.
const REPLACING: &str = "VK_LAYER_PATH";
/// Variable that adds folders to the search for explicit layers.
const ADDING: &str = "VK_ADD_LAYER_PATH";
/// Variables that name folders with implicit layers.
const OF_IMPLICIT: [&str; 2] = ["VK_ADD_IMPLICIT_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH"];
/// The layer that Vulkan Configurator installs.
const OVERRIDE: &str = "VK_LAYER_LUNARG_override";
/// Upper bound on the number of files or folders that are examined in one folder.
const MOST: usize = 256;
/// Number of folders above a missing folder that are examined.
const ABOVE: usize = 4;

/// The reason why an installed layer was not found.
pub(super) struct Unfound {
    /// The reason, as a sentence without the full stop.
    pub(super) why: String,
    pub(super) finding: String,
    pub(super) advice: String,
    /// Variable that causes the finding.
    pub(super) variable: Option<&'static str>,
    /// File that causes the finding.
    pub(super) file: Option<String>,
}

/// Returns the reason why the loader did not find `layer`; `None` if no known folder has its manifest.
pub(super) fn find(layer: &str, report: &Report, records: &[&Record]) -> Option<Unfound> {
    let search = Search::of(layer, report, records);
    let reasons = [
        Search::broken,
        Search::misspelt,
        Search::overridden,
        Search::unlisted,
        Search::replaced,
        Search::misplaced,
        Search::excluded,
        Search::moved_home,
        Search::other_home,
        Search::elsewhere,
    ];
    reasons.iter().find_map(|reason| reason(&search))
}

/// A search for the manifest of a layer.
struct Search<'a> {
    layer: &'a str,
    report: &'a Report,
    /// The folders that the loader searched for explicit layers.
    searched: Vec<&'a str>,
    /// The value of each variable that names folders with layers.
    named: Vec<(&'static str, &'a str)>,
}

impl<'a> Search<'a> {
    fn of(layer: &'a str, report: &'a Report, records: &'a [&Record]) -> Self {
        let folders = records.iter().filter_map(|record| match &record.event {
            Event::Searched(searched) if searched.wanted == "explicit layer" => Some(searched.folder.as_str()),
            _ => None,
        });
        let value = |name| Some((name, variables(records).find(|(known, _)| *known == name)?.1));
        Self {
            layer,
            report,
            searched: folders.collect(),
            named: naming().filter_map(value).collect(),
        }
    }

    /// Returns the manifest of the layer in a folder, or the path itself if it is the manifest.
    fn manifest_in(&self, folder: &Path) -> Option<PathBuf> {
        let describes = |path: &PathBuf| {
            let content = manifests::read(path);
            content.is_some_and(|content| manifests::layers(&content).any(|one| one["name"] == self.layer))
        };
        if folder.is_file() {
            return Some(folder.to_path_buf()).filter(describes);
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
        let files = entries.map(|entry| entry.path());
        let mut manifests = files.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        manifests.find(describes)
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.manifest_in(folder).is_some()
    }

    /// Returns the usual folder with the manifest of the layer. The usual folders of other users are not among them.
    fn usual(&self) -> Option<PathBuf> {
        self.usual_folders().into_iter().find(|folder| self.is_in(folder))
    }

    fn usual_folders(&self) -> Vec<PathBuf> {
        let variable = |name| self.report.variables.nonempty(name);
        let at_home = variable("HOME").map(|home| format!("{home}/.local/share"));
        let lists = ["XDG_CONFIG_DIRS", "XDG_DATA_DIRS"].map(variable);
        let lists = lists.into_iter().flatten();
        let of_lists = lists.flat_map(|list| list.split(':').map(String::from).collect::<Vec<_>>());
        let data = variable("XDG_DATA_HOME").or(at_home).into_iter().chain(of_lists);
        let own = data.map(|folder| Path::new(&folder).join(BELOW));
        own.chain(USUAL.iter().map(PathBuf::from)).collect()
    }

    /// Returns the reason if a searched folder has a file that is probably the broken manifest of the layer.
    fn broken(&self) -> Option<Unfound> {
        let lower = self.layer.to_lowercase();
        let short = lower.trim_start_matches("vk_layer_");
        let is_it = |one: &&Dropped| {
            let path = Path::new(&one.name);
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            let has_name = || regular::text(path).is_ok_and(|text| text.contains(&format!("\"{}\"", self.layer)));
            one.subject == "layer manifest" && (name.contains(short) || has_name())
        };
        let broken = self.report.dropped.iter().find(is_it)?;
        Some(Unfound {
            why: format!("its manifest {} is not usable", broken.name),
            finding: broken.in_short(),
            advice: broken.advice.clone(),
            variable: None,
            file: Some(broken.name.clone()),
        })
    }

    /// Returns the reason if a variable names the folder of the layer with a common mistake.
    fn misspelt(&self) -> Option<Unfound> {
        self.named.iter().find_map(|(name, value)| {
            let variable = |name: &str| self.report.variables.get(name);
            let corrected = spelling::corrected(value, variable)?;
            let folder = corrected.split(':').find(|folder| self.is_in(Path::new(folder)))?;
            let mistake = spelling::advice(value).unwrap_or("Correct the path");
            Some(Unfound {
                why: format!("{name}={value} leads to no manifest"),
                finding: format!("the layer is in {folder}"),
                advice: format!("{mistake}: {name}={} PROGRAM", word(&corrected)),
                variable: Some(name),
                file: None,
            })
        })
    }

    /// Returns the reason if an override layer of Vulkan Configurator replaces the usual folders.
    fn overridden(&self) -> Option<Unfound> {
        let usual = self.usual()?;
        let file = |one: &Dropped| one.file.clone().filter(|_| one.name == OVERRIDE);
        self.report.dropped.iter().filter_map(file).find_map(|file| {
            let content = manifests::read(Path::new(&file))?;
            let mut lists = manifests::layers(&content).filter_map(|layer| layer.get("override_paths")?.as_array());
            let folders: Vec<String> = lists
                .next()?
                .iter()
                .filter_map(|path| Some(path.as_str()?.into()))
                .collect();
            let missing = folders.iter().find(|folder| !Path::new(folder).exists());
            Some(Unfound {
                why: match missing {
                    Some(folder) => format!(
                        "{file}, which Vulkan Configurator made, sends the search to {folder}, which does not exist"
                    ),
                    None => format!("{file}, which Vulkan Configurator made, sends the search to other folders"),
                },
                finding: format!(
                    "the layer is in {}; searched in its place: {}",
                    usual.display(),
                    folders.join(", ")
                ),
                advice: format!(
                    "Remove the override, which Vulkan Configurator writes again when it runs: rm {}",
                    word(&file)
                ),
                variable: None,
                file: Some(file),
            })
        })
    }

    /// Returns the reason if a settings file lists the layers that programs get, without this one and without a place for other layers.
    fn unlisted(&self) -> Option<Unfound> {
        const FOR_OTHERS: &str = "unordered_layer_location";
        let usual = self.usual()?;
        let mut used = self
            .report
            .dropped
            .iter()
            .filter(|one| one.code == codes::SETTINGS_ACTIVE.name);
        let file = &used.next()?.name;
        let is_for_it = |text: &String| text.contains(FOR_OTHERS) || text.contains(&format!("\"{}\"", self.layer));
        let text = regular::text(file).ok().filter(|text| !is_for_it(text))?;
        text.contains("\"layers\"").then(|| Unfound {
            why: format!("the settings file {file} lists the layers that programs get, and this one is not among them"),
            finding: format!("the layer is in {}", usual.display()),
            advice: format!(
                "Switch the layer on in the program that wrote the settings file, such as Vulkan Configurator, or delete the file: rm {}",
                word(file)
            ),
            variable: None,
            file: Some(file.clone()),
        })
    }

    /// Returns the reason if [`REPLACING`] replaces the folder of the layer by others.
    fn replaced(&self) -> Option<Unfound> {
        let (name, value) = self.named.iter().find(|(name, _)| *name == REPLACING)?;
        let near = value.split(':').find_map(|folder| self.near(Path::new(folder)));
        let usual = self.usual();
        let shown = |folder: &PathBuf| folder.display().to_string();
        let (usual, near) = (usual.as_ref().map(shown), near.as_ref().map(shown));
        let unset = usual
            .as_ref()
            .map(|folder| format!("unset {name}, so that {folder} is searched again"));
        let set = near.as_ref().map(|folder| format!("{name}={} PROGRAM", word(folder)));
        let folders: Vec<String> = usual.into_iter().chain(near).collect();
        let advices: Vec<String> = unset.into_iter().chain(set).collect();
        (!folders.is_empty()).then(|| Unfound {
            why: leads_away(name, value),
            finding: format!("the layer is in {}", folders.join(" and ")),
            advice: format!("Search the folder of the layer: {}", advices.join(", or: ")),
            variable: Some(name),
            file: None,
        })
    }

    /// Returns the reason if a folder near one that another variable than [`REPLACING`] names has the layer.
    fn misplaced(&self) -> Option<Unfound> {
        let others = self.named.iter().filter(|(name, _)| *name != REPLACING);
        let near = |value: &str| value.split(':').find_map(|folder| self.near(Path::new(folder)));
        let (name, value, near) = others
            .filter_map(|(name, value)| Some((name, value, near(value)?)))
            .next()?;
        let near = near.display().to_string();
        Some(Unfound {
            why: leads_away(name, value),
            finding: format!("the layer is in {near}"),
            advice: format!("Name the folder of the layer: {name}={} PROGRAM", word(&near)),
            variable: Some(name),
            file: None,
        })
    }

    /// Returns a folder with the layer near `folder`: below it, beside it, in the same installation of the SDK, or in another version of the SDK.
    fn near(&self, folder: &Path) -> Option<PathBuf> {
        let above = || {
            folder
                .ancestors()
                .take(ABOVE)
                .filter(|above| above.components().count() > 1 && above.is_dir())
        };
        let in_sdk = |above: &Path| IN_SDK.iter().map(|below| above.join(below)).collect::<Vec<_>>();
        let same = above().flat_map(in_sdk).find(|place| self.is_in(place));
        let below = |above: &Path| {
            let entries = fs::read_dir(above).into_iter().flatten().flatten().take(MOST);
            entries.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let other = || {
            let first = folder.ancestors().find(|above| above.is_dir())?;
            let mut all = below(first).into_iter().flat_map(|version| in_sdk(&version));
            all.find(|place| self.is_in(place))
        };
        same.or_else(other)
            .or_else(|| around(folder).into_iter().find(|place| self.is_in(place)))
    }

    /// Returns the reason if a usual folder with the layer is not searched, because variables replace the list of data folders.
    fn excluded(&self) -> Option<Unfound> {
        let is_searched = |place: &PathBuf| self.searched.iter().any(|folder| Path::new(folder) == place);
        let folder = self.usual().filter(|place| !is_searched(place))?;
        let folder = folder.display().to_string();
        let set = |name: &&str| self.report.variables.nonempty(name).is_some();
        let names = if folder.contains("/etc/") {
            "XDG_CONFIG_DIRS"
        } else {
            "XDG_DATA_DIRS"
        };
        let variable = Some(names).filter(set)?;
        let parent = folder.strip_suffix(&format!("/{BELOW}"))?;
        Some(Unfound {
            why: format!("{variable} replaces the usual folders, and does not list {parent}"),
            finding: format!("the layer is in {folder}, which is not searched"),
            advice: format!("Add the folder: {variable}=${variable}:{parent} PROGRAM, or: unset {variable}"),
            variable: Some(variable),
            file: None,
        })
    }

    /// Returns `true` for a folder that has the layer and that the loader did not search.
    fn is_missed(&self, folder: &Path) -> bool {
        let is_searched = self.searched.iter().any(|searched| Path::new(searched) == folder);
        !is_searched && self.is_in(folder)
    }

    /// Returns the reason if a variable moves the search from the folder of the layer below `HOME` to another folder.
    fn moved_home(&self) -> Option<Unfound> {
        let variable = |name: &str| self.report.variables.get(name).filter(|value| !value.is_empty());
        let home = variable("HOME")?;
        AT_HOME.into_iter().find_map(|(name, below)| {
            let set = variable(name)?;
            let folder = Path::new(&home).join(below).join(BELOW);
            let shown = folder.display();
            self.is_missed(&folder).then(|| Unfound {
                why: format!("{name} is {set}, which replaces {home}/{below}"),
                finding: format!("the layer is in {shown}, which is not searched"),
                advice: format!("Unset {name}, or: {ADDING}={} PROGRAM", word(&shown.to_string())),
                variable: Some(name),
                file: None,
            })
        })
    }

    /// Returns the reason if the layer is in the home folder of this user, and `HOME` is unset or names another folder.
    fn other_home(&self) -> Option<Unfound> {
        let home = unsearched::own_home(Path::new("/"), &self.report.variables)?;
        let variables = &self.report.variables;
        let usual = AT_HOME
            .into_iter()
            .filter(|(name, _)| variables.get(name).is_none_or(|set| set.is_empty()));
        let mut folders = usual.map(|(_, below)| Path::new(&home.folder).join(below).join(BELOW));
        let folder = folders.find(|folder| self.is_missed(folder))?;
        let why = match variables.get("HOME").filter(|set| !set.is_empty()) {
            Some(set) => format!("HOME is {set}, and not the home folder of this user"),
            None => "HOME is not set, so the home folder of this user is not searched".into(),
        };
        Some(Unfound {
            why,
            finding: format!("the layer is in {}, which is not searched", folder.display()),
            advice: home.advice,
            variable: None,
            file: None,
        })
    }

    /// Returns the reason if the layer is in an installation of the SDK, or in the home folder of another user. The loader searches such
    /// folders only if a variable names them.
    fn elsewhere(&self) -> Option<Unfound> {
        let variable = |name| self.report.variables.nonempty(name);
        let sdk = variable("VULKAN_SDK").map(PathBuf::from);
        let of_sdk = sdk.into_iter().flat_map(|sdk| IN_SDK.map(|below| sdk.join(below)));
        let caller = variable("SUDO_USER").map(|user| Path::new("/home").join(user).join(".local/share").join(BELOW));
        let folder = of_sdk.chain(caller).find(|folder| self.is_in(folder))?;
        let folder = folder.display().to_string();
        Some(Unfound {
            why: format!("the loader does not search {folder}"),
            finding: format!("the layer is in {folder}"),
            advice: format!(
                "Add the folder of the layer to the search: {ADDING}={} PROGRAM",
                word(&folder)
            ),
            variable: None,
            file: None,
        })
    }
}

/// Returns the variables that name folders with layers.
fn naming() -> impl Iterator<Item = &'static str> {
    [REPLACING, ADDING].into_iter().chain(OF_IMPLICIT)
}

/// Returns a sentence about a variable that names folders without the layer.
fn leads_away(name: &str, value: &str) -> String {
    match value
        .split(':')
        .find(|folder| !folder.is_empty() && !Path::new(folder).exists())
    {
        Some(missing) => format!("{name} names {missing}, which does not exist"),
        None => format!("{name} names {value}, where the layer is not"),
    }
}

/// A variable that adds a folder without layers to the search.
pub(super) struct Nowhere {
    pub(super) variable: &'static str,
    /// A clause about the variable.
    pub(super) why: String,
    /// The corrected variable, if an existing folder with manifests has almost the same name as the folder that the variable names.
    pub(super) corrected: Option<String>,
}

/// Returns the variable that adds a folder without manifests to the search for layers.
pub(super) fn leading_nowhere(records: &[&Record]) -> Option<Nowhere> {
    let set: Vec<(&str, &str)> = variables(records).collect();
    naming().filter(|name| *name != REPLACING).find_map(|variable| {
        let (_, value) = set.iter().find(|(known, _)| *known == variable)?;
        let mut folders = value.split(':').filter(|folder| !folder.is_empty());
        let folder = folders.find(|folder| !words::has_manifest(Path::new(folder)))?;
        let corrected = nearest(Path::new(folder)).map(|near| {
            let near = near.display().to_string();
            let all = value.split(':').map(|one| if one == folder { &near } else { one });
            format!("{variable}={}", word(&all.collect::<Vec<_>>().join(":")))
        });
        let why = if Path::new(folder).exists() {
            format!("{variable} names {folder}, where no manifest is")
        } else {
            leads_away(variable, value)
        };
        Some(Nowhere {
            variable,
            why,
            corrected,
        })
    })
}

/// Returns the existing folder with manifests whose name differs least from that of `missing`, and by a few letters only.
pub(super) fn nearest(missing: &Path) -> Option<PathBuf> {
    const MOST_LETTERS: usize = 3;
    let shown = missing.to_str()?.trim_end_matches('/');
    let distance = |place: &PathBuf| words::differing(place.to_str().unwrap_or_default(), shown);
    let folders = around(missing).into_iter();
    let near = folders.filter(|place| distance(place) <= MOST_LETTERS && words::has_manifest(place));
    near.min_by_key(distance)
}

/// Returns the folders below and beside `folder`, or those beside the first folder on its path that does not exist. The rest of the path stays the
/// same.
fn around(folder: &Path) -> Vec<PathBuf> {
    let Some(first) = folder.ancestors().find(|above| above.is_dir()) else {
        return Vec::new();
    };
    let rest = folder.strip_prefix(first).unwrap_or(folder).components().skip(1);
    let rest: Vec<_> = rest.collect();
    let beside = first.parent().filter(|_| first == folder);
    let entries = [Some(first), beside].into_iter().flatten();
    let entries = entries.flat_map(|above| fs::read_dir(above).into_iter().flatten().flatten().take(MOST));
    let places = entries.map(|entry| rest.iter().fold(entry.path(), |place, part| place.join(part)));
    let mut places: Vec<PathBuf> = places.filter(|place| place.is_dir()).collect();
    places.sort();
    places
}

/// Returns the name of a known layer that differs from `layer` by a few letters, or only by upper and lower case.
pub(super) fn similar(layer: &str, records: &[&Record]) -> Option<String> {
    const MOST_LETTERS: usize = 3;
    let same_case = |known: &String| known.eq_ignore_ascii_case(layer);
    let known = words::layers(records);
    let near = |known: &&String| words::differing(known, layer) <= MOST_LETTERS;
    let found = known
        .iter()
        .find(|known| same_case(known))
        .or_else(|| known.iter().find(near));
    found.cloned()
}
