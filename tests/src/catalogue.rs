//! Runs of every test with a driver catalogue, as `VKL_TEST_CATALOGUE` requests. With `current`, the catalogue contains the answers of the
//! scene's drivers to `vkloader`. With `lying`, every entry is wrong. With `lazy`, the drivers have records and remain closed, unless the
//! test sets the policy itself.
//!
//! `catalogue.txt` lists the tests whose result is different with a catalogue, each with the reason. The listed tests must fail.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::known::{Expected, List};
use crate::{library, process, skipped};

/// Kind of catalogue in a run of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    Current,
    Lying,
    Lazy,
    /// Heading for tests whose children never use the catalogue of a run.
    Aside,
}

impl Mode {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "current" => Some(Self::Current),
            "lying" => Some(Self::Lying),
            "lazy" => Some(Self::Lazy),
            "aside" => Some(Self::Aside),
            _ => None,
        }
    }
}

/// Returns the kind of catalogue that `VKL_TEST_CATALOGUE` names.
fn mode() -> Option<Mode> {
    static MODE: OnceLock<Option<Mode>> = OnceLock::new();
    *MODE.get_or_init(|| {
        let word = env::var("VKL_TEST_CATALOGUE").ok().filter(|word| !word.is_empty())?;
        Some(
            Mode::parse(&word)
                .filter(|mode| *mode != Mode::Aside)
                .unwrap_or_else(|| panic!("VKL_TEST_CATALOGUE: `{word}` is neither current, lying nor lazy")),
        )
    })
}

/// Returns the expected result of the test with this path.
pub(crate) fn expected(path: &str) -> Expected {
    mode().map_or(Expected::Pass, |mode| list().expected(&mode, path))
}

fn list() -> List<'static, Mode> {
    List::parse("catalogue.txt", include_str!("../catalogue.txt"), Mode::parse)
}

/// Adds a line with a test and its state to the file in `VKL_TEST_RAN`, with which `tests/ran.py` checks that no test was left out.
pub(crate) fn note(path: &str, state: &str) {
    let Some(file) = env::var_os("VKL_TEST_RAN") else {
        return;
    };
    let line = format!("{path}\t{state}\n");
    let file = fs::OpenOptions::new().append(true).open(file);
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .expect("the list of tests that ran can be written");
}

/// Variables of a scene by name. `None` removes a variable.
type Variables = BTreeMap<OsString, Option<OsString>>;

/// Use of a catalogue by the children of a scene.
#[derive(Default)]
pub(crate) struct Usage {
    /// Number of the scene's drivers when the catalogue was written.
    drivers: Option<usize>,
    /// `true` for a test about drivers that remain closed.
    is_lazy: bool,
    /// `true` if a child used the catalogue.
    is_used: Cell<bool>,
    /// The last update of the catalogue.
    last: Option<Made>,
}

/// A catalogue that `vkloader` wrote, with everything on which its answers depend. While these are the same, the next update of the scene
/// asks only drivers that were added since.
struct Made {
    /// Content of the file, without the changes of [`Mode`].
    content: Vec<u8>,
    /// Content of the configuration of each mock driver.
    configurations: BTreeMap<PathBuf, Vec<u8>>,
    /// Variables of the scene, without those that name manifests.
    variables: Variables,
}

impl Made {
    /// Returns `true` if the answers in this catalogue are those that the drivers would give now.
    fn is_current(&self, configurations: &BTreeMap<PathBuf, Vec<u8>>, variables: &Variables) -> bool {
        let is_same = |(path, content): (&PathBuf, &Vec<u8>)| configurations.get(path) == Some(content);
        self.configurations.iter().all(is_same) && self.variables == *variables
    }
}

/// Returns the content of the configuration of each mock driver in a scene.
fn configurations(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let Ok(entries) = fs::read_dir(root.join("libraries")) else {
        return BTreeMap::new();
    };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let paths = paths.filter(|path| path.extension() == Some(OsStr::new("conf")));
    paths
        .filter_map(|path| fs::read(&path).ok().map(|content| (path, content)))
        .collect()
}

impl Usage {
    /// Makes the catalogue contain records, so that the drivers can remain closed in the children. Skips the rest of the test if no program
    /// can record drivers, except in a child.
    pub(crate) fn keep_drivers_closed(&mut self, is_child: bool) {
        if !is_child && maker().is_none() {
            skipped::leave("vkloader, which records drivers, is not built");
        }
        self.is_lazy = true;
    }

    /// Writes the catalogue for the next children, unless the scene's drivers are already in it. `folders` contains the folder of the
    /// manifest of each driver.
    pub(crate) fn make(&mut self, root: &Path, variables: &Variables, mut folders: Vec<PathBuf>) {
        if self.drivers.replace(folders.len()) == Some(folders.len()) {
            return;
        }
        folders.extend(named_folders(variables));
        folders.sort();
        folders.dedup();
        let configurations = configurations(root);
        let mut others = variables.clone();
        others.retain(|name, _| !NAMING.iter().any(|one| name == one));
        let last = self
            .last
            .take()
            .filter(|last| last.is_current(&configurations, &others));
        let world = World {
            root,
            variables,
            folders,
            is_lazy: self.is_lazy,
        };
        self.last = make(&world, last.as_ref()).map(|content| Made {
            content,
            configurations,
            variables: others,
        });
    }

    /// Returns the variables with which a child uses the catalogue. The list is empty in a run without a catalogue, and for a test about
    /// catalogues themselves.
    pub(crate) fn variables(
        &self,
        root: &Path,
        variables: &Variables,
        is_elevated: bool,
    ) -> Vec<(&'static str, OsString)> {
        let own = ["VK_LOADER_CATALOGUE", "XDG_CACHE_HOME"];
        let Some(mode) =
            wanted(self.is_lazy).filter(|_| !own.iter().any(|name| variables.contains_key(OsStr::new(name))))
        else {
            return Vec::new();
        };
        // Elevated processes do not read the user's own catalogue.
        self.is_used.set(self.is_used.get() || !is_elevated);
        let mut all = vec![(own[0], "on".into()), (own[1], caches(root).into())];
        if mode == Mode::Lazy {
            all.push(("VK_LOADER_DRIVER_POLICY", "lazy".into()));
        }
        all
    }

    /// Returns `used` if a child used the catalogue, `aside` if children ran without it, and `skipped` if no child ran.
    pub(crate) fn state(&self, has_run: bool) -> &'static str {
        match (self.is_used.get(), has_run) {
            (true, _) => "used",
            (false, false) => "skipped",
            (false, true) => "aside",
        }
    }
}

/// Names of variables that name manifests of drivers.
const NAMING: [&str; 3] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"];

/// Returns the folders of the manifests that the variables of a scene name.
fn named_folders(variables: &Variables) -> impl Iterator<Item = PathBuf> {
    let values = NAMING
        .into_iter()
        .filter_map(|name| variables.get(OsStr::new(name))?.as_ref());
    let folder = |path: PathBuf| {
        if path.is_dir() {
            Some(path)
        } else {
            path.parent().map(Path::to_owned)
        }
    };
    values
        .flat_map(|value| env::split_paths(value))
        .filter_map(folder)
        .filter(|folder| folder.is_absolute())
}

/// Parts of a test's scene that `vkloader` examines.
struct World<'s> {
    root: &'s Path,
    variables: &'s Variables,
    /// Folders with manifests.
    folders: Vec<PathBuf>,
    is_lazy: bool,
}

fn wanted(is_lazy: bool) -> Option<Mode> {
    if is_lazy { Some(Mode::Lazy) } else { mode() }
}

/// Returns the program that makes catalogues, if it exists: the program in `VKL_VKLOADER`, or the program that was built beside the test
/// program.
fn maker() -> Option<PathBuf> {
    let built = || library::built_here().parent().map(|folder| folder.join("vkloader"));
    let program = env::var_os("VKL_VKLOADER").map(PathBuf::from).or_else(built)?;
    program.exists().then_some(program)
}

fn caches(root: &Path) -> PathBuf {
    root.join("catalogue/cache")
}

/// Makes `vkloader` ask the drivers of a scene and write a catalogue, if the run has catalogues. Drivers that answered in the update `last`
/// are not asked again. Returns the content that `vkloader` wrote.
fn make(world: &World<'_>, last: Option<&Made>) -> Option<Vec<u8>> {
    let mode = wanted(world.is_lazy)?;
    let views = views(world);
    let path = caches(world.root).join(format!("vulkan-loader/catalogue-{}.bin", catalogue::ARCHITECTURE));
    let mut update = update(world, &views, mode);
    if let Some(last) = last {
        fs::write(&path, &last.content).expect("it can be written");
        update.arg("--changed");
    }
    let ended = process::run(&mut update, Duration::from_secs(600));
    assert!(
        ended.status.is_some_and(|status| status.success()),
        "vkloader catalogue update: {}{}",
        ended.stdout,
        ended.stderr
    );
    // The test harness shows these messages only if the test fails. They contain the reason why a driver has no entry.
    eprint!("{}", ended.stderr);
    let content = fs::read(&path).expect("it was written");
    let known = catalogue::unpack(&content).expect("a catalogue");
    let mut text = known.to_string();
    for (view, folder) in &views {
        text = text.replace(&format!("{}/", view.display()), &format!("{}/", folder.display()));
    }
    let change = match mode {
        Mode::Current | Mode::Aside => None,
        Mode::Lying => Some(lie as fn(&mut Value)),
        Mode::Lazy => Some(know as fn(&mut Value)),
    };
    let mut known: Value = serde_json::from_str(&text).expect("it is JSON");
    if let Some(change) = change {
        let drivers = known["drivers"].as_array_mut().expect("a list of drivers");
        drivers.iter_mut().for_each(change);
    }
    // Overwriting the file keeps its permissions: only its owner can write it, as the loader requires.
    fs::write(&path, catalogue::pack(&known)).expect("it can be written");
    Some(content)
}

/// Makes a link to each folder of the scene in a data folder, because `vkloader` finds drivers only in data folders. The catalogue then
/// contains the paths of the links, and the harness corrects these paths afterwards.
fn views(world: &World<'_>) -> Vec<(PathBuf, PathBuf)> {
    let each = |(number, folder): (usize, &PathBuf)| {
        let view = world.root.join(format!("catalogue/view-{number}/vulkan/icd.d"));
        fs::create_dir_all(view.parent().expect("a folder")).expect("folders can be made");
        // Removes the link of the previous update.
        let _ = fs::remove_file(&view);
        symlink(folder, &view).expect("links can be made");
        (view, folder.clone())
    };
    world.folders.iter().enumerate().map(each).collect()
}

fn update(world: &World<'_>, views: &[(PathBuf, PathBuf)], mode: Mode) -> Command {
    let program = maker().expect("VKL_VKLOADER names the program that makes catalogues");
    let mut command = Command::new(program);
    command.args(["catalogue", "update", "--user"]);
    if mode != Mode::Lazy {
        command.arg("--no-records");
    }
    command
        .args(["--timeout", &steady::HANG.as_secs().to_string(), "--library"])
        .arg(library::under_test())
        .env_clear();
    let set = world
        .variables
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)));
    command.envs(set);
    let view_data = views
        .iter()
        .filter_map(|(view, _)| view.ancestors().nth(2).map(Path::to_owned));
    let own = world.variables.get(OsStr::new("XDG_DATA_DIRS")).cloned().flatten();
    let own = own.unwrap_or_default();
    let data = env::join_paths(view_data.chain(env::split_paths(&own))).expect("scratch paths hold no colon");
    // Settings files are for the programs of the test, so `vkloader` must not read them.
    let nowhere = world.root.join("catalogue/nowhere");
    command
        .env("XDG_DATA_DIRS", data)
        .env("XDG_CONFIG_HOME", &nowhere)
        .env("XDG_CONFIG_DIRS", &nowhere)
        .env("XDG_CACHE_HOME", caches(world.root))
        .current_dir(world.root);
    command
}

/// Sets the hardware of an entry to `software`, because the loader always opens drivers of unknown hardware.
fn know(entry: &mut Value) {
    if entry["outcome"] == "answered" {
        entry["hardware"] = json!("software");
    }
}

/// Makes an entry wrong. The new entry contains two other extensions, and programs see the first of them. The new entry has no device, as
/// if the kernel reported no hardware.
fn lie(entry: &mut Value) {
    for (name, value) in [
        ("outcome", json!("answered")),
        ("hardware", json!("absent")),
        ("devices", json!([])),
        (
            "extensions",
            json!(["VK_GOOGLE_surfaceless_query 1", "VK_LIE_of_the_catalogue 1"]),
        ),
    ] {
        entry[name] = value;
    }
}

#[cfg(test)]
mod tests {
    use crate::known::tests::{defines, sources};

    #[test]
    fn rows_have_names_and_reasons_and_no_case_is_listed_twice_for_a_mode() {
        crate::known::tests::is_sound(&super::list());
    }

    /// Tests that each row names a test or a module, because the row of a renamed test would have no effect.
    #[test]
    fn every_row_names_a_case() {
        let files = sources();
        for row in super::list().rows {
            let name = row.name.trim_end_matches('?');
            let module = name
                .strip_suffix("::*")
                .map(|module| format!("{}.rs", module.replace("::", "/")));
            let is_there = |(path, text): &(String, String)| match &module {
                Some(module) => path == module,
                None => defines(text, name),
            };
            let is_there = files.iter().any(is_there);
            assert!(is_there, "catalogue.txt: there is no case {name}");
        }
    }
}
