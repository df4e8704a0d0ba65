//! A scratch folder with drivers, files and variables, in which child processes run.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[cfg(target_os = "linux")]
use crate::catalogue::Usage;
use crate::driver::Driver;
use crate::outcome::Outcome;
use crate::vk::WINDOW_SURFACES;
use crate::{Vk, exports, library, process, skipped, system};

/// Factor for the time limits of children. The limits are for an idle machine, and the machine may be busy.
const BUSY: u32 = 6;

const ROOT: &str = "LOADER_TESTS_ROOT";
const RUN: &str = "LOADER_TESTS_RUN";

/// Scratch folder of a test, with all files that a child finds.
///
/// In a child, the same methods only return paths, because the files already exist.
pub struct Scene {
    path: String,
    root: PathBuf,
    drivers: Vec<Driver>,
    variables: BTreeMap<OsString, Option<OsString>>,
    limit: Duration,
    elevated: bool,
    copies_library: bool,
    copy: Option<PathBuf>,
    runs: usize,
    child_run: Option<usize>,
    built: usize,
    #[cfg(target_os = "linux")]
    catalogue: Usage,
}

/// Waits until the files of a scene are old enough for the scan cache.
///
/// The scan cache stores a file only if the file changed at least two seconds before it was read. The change time must be old enough too,
/// and no call can set the change time, so the test must wait.
pub fn settle() {
    std::thread::sleep(Duration::from_millis(2100));
}

/// Argument of the closure of [`Scene::run_unloaded`].
pub struct Scratch {
    root: PathBuf,
}

impl Scratch {
    /// Loads the library under test.
    pub fn load(&self) -> Vk {
        Vk::load(&self.root)
    }
}

impl Scene {
    /// Returns the scene of the test with this path. In a child, returns the scene for which the process was started.
    pub fn open(path: &str) -> Self {
        steady::usual_umask();
        let child_run = env::var(RUN)
            .ok()
            .map(|run| run.parse().expect("the parent gives a number"));
        let root = match env::var_os(ROOT) {
            Some(root) => root.into(),
            None => {
                let root = steady::new_folder("vkl");
                // Messages contain the real paths of files, so the scene uses its real path.
                system::own_path(root.canonicalize().expect("a made folder has a real path"))
            }
        };
        let mut scene = Scene {
            path: path.into(),
            root,
            drivers: Vec::new(),
            variables: BTreeMap::new(),
            limit: Duration::from_secs(10),
            elevated: false,
            copies_library: false,
            copy: None,
            runs: 0,
            child_run,
            built: 0,
            #[cfg(target_os = "linux")]
            catalogue: Usage::default(),
        };
        scene.scrub();
        scene
    }

    /// Sets the variables of every child, so that the loader finds no files of this machine and logs all messages.
    fn scrub(&mut self) {
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "xdg/config-home"),
            ("XDG_CONFIG_DIRS", "xdg/config-dirs"),
            ("XDG_DATA_HOME", "xdg/data-home"),
            ("XDG_DATA_DIRS", "xdg/data-dirs"),
        ] {
            let folder = self.path(folder);
            self.env(name, folder);
        }
        self.env("VK_LOADER_DEBUG", "all");
    }

    /// Returns `true` in a child process.
    pub fn is_child(&self) -> bool {
        self.child_run.is_some()
    }

    /// Returns the scratch folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Removes the scratch folder.
    pub fn remove(&self) {
        // A remaining folder does not affect the result of the test.
        let _ = fs::remove_dir_all(&self.root);
        system::unregister(&self.root);
    }

    /// Returns the absolute path of a file or folder of the scene.
    pub fn path(&self, relative: &str) -> PathBuf {
        system::own_path(self.root.join(relative))
    }

    /// Returns the absolute path of a file or folder of the scene as text.
    pub fn text_path(&self, relative: &str) -> String {
        self.path(relative).display().to_string()
    }

    /// Writes a file and returns its path.
    pub fn file(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        if !self.is_child() {
            fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders can be made");
            fs::write(&path, content).expect("scratch files can be written");
        }
        path
    }

    /// Creates an empty folder and returns its path.
    pub fn folder(&self, relative: &str) -> PathBuf {
        let path = self.path(relative);
        if !self.is_child() {
            fs::create_dir_all(&path).expect("folders can be made");
        }
        path
    }

    /// Sets a value in the scene's part of the registry. The value `name` is in the key of the list `list`, for example `Drivers`. `part`
    /// is `machine` for all users, or `user` for this user. `data` is the content of a `REG_DWORD`; a valid value has four bytes.
    #[cfg(windows)]
    pub fn registry(&self, part: &str, list: &str, name: &str, data: &[u8]) {
        if !self.is_child() {
            system::write_key(&self.root, part, list, name, data);
        }
    }

    /// Runs `step`, which changes the disk, in the test process and not in children.
    pub fn on_disk(&self, step: impl FnOnce()) {
        if !self.is_child() {
            step();
        }
    }

    /// Sets a variable for the children.
    pub fn env(&mut self, name: &str, value: impl AsRef<OsStr>) -> &mut Self {
        self.variables
            .insert(name.into(), Some(system::list(name, value.as_ref())));
        self
    }

    /// Removes a variable from the children's environment, also a variable that every scene sets.
    pub fn unset(&mut self, name: &str) -> &mut Self {
        self.variables.insert(name.into(), None);
        self
    }

    /// Sets the time limit of the children on an idle machine, instead of ten seconds. The limit only detects hangs, and is extended for
    /// busy machines.
    pub fn limit(&mut self, seconds: u64) -> &mut Self {
        self.limit = Duration::from_secs(seconds);
        self
    }

    /// Runs the children with elevated privileges: an unprivileged user starts a program of the superuser with the set-user-ID bit. Only
    /// the superuser can prepare such a program, so the test is skipped for other users.
    pub fn elevated(&mut self) -> &mut Self {
        self.needs_superuser("only the superuser can make a program with elevated privileges");
        self.elevated = true;
        self.copies_library()
    }

    /// Makes the children use a copy of the library in the scratch folder, because other users may be unable to read the build folder.
    pub fn copies_library(&mut self) -> &mut Self {
        self.copies_library = true;
        self
    }

    /// Makes records of the scene's drivers before the first run, so that the drivers can remain closed in the children. Skips the rest of
    /// the test if no program can record drivers.
    #[cfg(target_os = "linux")]
    pub fn lazily(&mut self) -> &mut Self {
        self.catalogue.keep_drivers_closed(self.is_child());
        self
    }

    /// Skips the rest of the test with this reason, unless the superuser runs it.
    pub fn needs_superuser(&self, reason: &'static str) {
        if !self.is_child() && !steady::is_superuser() {
            skipped::leave(reason);
        }
    }

    /// Makes the children run this copy of the test program.
    pub fn program(&mut self, copy: PathBuf) -> &mut Self {
        self.copy = Some(copy);
        self
    }

    /// Adds a mock driver. `VK_DRIVER_FILES` names the listed drivers, in the order of the calls of this function.
    pub fn driver(&mut self, name: &str) -> &mut Driver {
        self.drivers.push(Driver::new(name, self.drivers.len()));
        self.drivers.last_mut().expect("one was just added")
    }

    /// Adds a driver that is suitable for most tests. The driver has surfaces, debug extensions, and the device `gpu` with a swapchain.
    pub fn usual_driver(&mut self, name: &str) -> &mut Driver {
        let device = format!("gpu-{name}");
        self.driver(name)
            .extension("VK_KHR_surface")
            .extensions(WINDOW_SURFACES)
            .extensions(&[
                "VK_EXT_headless_surface",
                "VK_KHR_display",
                "VK_KHR_get_physical_device_properties2",
                "VK_KHR_get_surface_capabilities2",
                "VK_EXT_debug_utils",
                "VK_EXT_debug_report",
            ])
            .device_with(&device, |device| device.extension("VK_KHR_swapchain"))
    }

    /// Returns the path of a driver's manifest.
    pub fn manifest(&self, driver: &str) -> PathBuf {
        let folder = self
            .drivers
            .iter()
            .find(|known| known.name == driver)
            .map_or("drivers", |known| &known.folder);
        self.path(&format!("{folder}/{driver}.json"))
    }

    /// Returns the path of a driver's library.
    pub fn library(&self, driver: &str) -> PathBuf {
        self.path(&format!("libraries/libmock_{driver}.so"))
    }

    /// Returns the configuration file of a driver, beside its library.
    pub(crate) fn configuration(root: &Path, driver: &str) -> PathBuf {
        root.join(format!("libraries/libmock_{driver}.conf"))
    }

    /// Runs `body` in a child process and returns the outcome.
    pub fn run(&mut self, body: impl FnOnce(&Vk)) -> Outcome {
        self.runs += 1;
        let folder = self.path(&format!("run-{}", self.runs));
        match self.child_run {
            Some(run) if run == self.runs => {
                system::prepare_child(&self.root);
                let vk = Vk::load(&self.root);
                body(&vk);
                vk.mark("end");
                drop(vk);
                std::process::exit(0);
            }
            // Returns the outcome of an earlier run from its files.
            Some(_) => Outcome::read(&folder),
            None => {
                self.build();
                #[cfg(target_os = "linux")]
                self.make_catalogue();
                let outcome = self.spawn();
                outcome.write(&folder);
                outcome
            }
        }
    }

    /// Runs a closure that loads and unloads the library under test itself. The library is not loaded when the closure begins.
    pub fn run_unloaded(&mut self, body: impl FnOnce(&Scratch)) -> Outcome {
        let own = self.child_run == Some(self.runs + 1);
        if own {
            system::prepare_child(&self.root);
            let scratch = Scratch {
                root: self.root.clone(),
            };
            body(&scratch);
            Vk::note(&self.root, "end");
            std::process::exit(0);
        }
        // This process is not the child of this run, so `run` never calls the closure.
        self.run(|_| unreachable!("the run with this number has a closure of its own"))
    }

    /// Writes a driver catalogue for the next runs, if the tests run with catalogues. The function runs before the first run of a scene,
    /// and after drivers were added.
    #[cfg(target_os = "linux")]
    fn make_catalogue(&mut self) {
        let folders = self.drivers.iter().map(|driver| self.path(&driver.folder)).collect();
        self.catalogue.make(&self.root, &self.variables, folders);
    }

    /// Returns `used` if a child used the catalogue of the run, `aside` if children ran without it, and `skipped` if no child ran.
    #[cfg(target_os = "linux")]
    pub(crate) fn catalogue_state(&self) -> &'static str {
        self.catalogue.state(self.runs > 0)
    }

    fn spawn(&self) -> Outcome {
        let journal = self.path("journal");
        // If no driver is called, the run writes no journal, and an old journal must not remain.
        let _ = fs::remove_file(&journal);
        let mut command = self.command();
        let path = self.path.as_str();
        command
            .args(["--exact", path, "--nocapture", "--test-threads", "1"])
            .env_clear();
        system::keep(&mut command, self.elevated);
        command
            .env(ROOT, &self.root)
            .env(RUN, self.runs.to_string())
            .current_dir(&self.root);
        // The child can be a copy of this program in another folder. The copy would not find the library in its folder.
        command.env("VKL_LIBRARY", self.library_of_children());
        if let Some(version) = library::peer_for_child() {
            command.env("VKL_PEER", version);
        }
        if !self.variables.contains_key(OsStr::new("VK_DRIVER_FILES")) {
            command.env("VK_DRIVER_FILES", system::list("VK_DRIVER_FILES", &self.driver_files()));
        }
        #[cfg(target_os = "linux")]
        command.envs(self.catalogue.variables(&self.root, &self.variables, self.elevated));
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        system::register(&self.root, &|name| {
            self.variables.get(OsStr::new(name)).cloned().flatten()
        });
        let slower = if env::var_os("VKL_WRAP").is_some() {
            30
        } else {
            system::slowness()
        };
        let ended = process::run(&mut command, self.limit * slower * BUSY);
        assert!(
            !ended.stdout.contains("running 0 tests"),
            "{path} is no test: `case` is to be called by the test itself, whose name the child is started with"
        );
        Outcome::new(ended, fs::read_to_string(journal).unwrap_or_default())
    }

    /// Returns the command that starts this program, its copy, or its elevated copy. An elevated copy runs without the words of `VKL_WRAP`.
    fn command(&self) -> Command {
        let own = env::current_exe().expect("a process knows its program");
        let own = self.copy.clone().unwrap_or(own);
        if self.elevated {
            return system::elevated(&own, &self.root);
        }
        let wrap = env::var("VKL_WRAP").unwrap_or_default();
        let mut words = wrap.split_whitespace();
        match words.next() {
            None => Command::new(own),
            Some(first) => {
                let mut command = Command::new(first);
                command.args(words).arg(own);
                command
            }
        }
    }

    /// Returns the library under test, or its copy for children of another user.
    fn library_of_children(&self) -> PathBuf {
        let own = library::under_test();
        if !self.copies_library || cfg!(windows) || library::is_peer() {
            return own;
        }
        let copy = self
            .path("copied-library")
            .join(own.file_name().expect("a library has a name"));
        if !copy.exists() {
            fs::create_dir_all(copy.parent().expect("a file has a folder")).expect("folders can be made");
            steady::copy_program(&own, &copy, 0o755);
        }
        copy
    }

    fn driver_files(&self) -> OsString {
        let listed = self.drivers.iter().filter(|driver| driver.listed);
        let paths: Vec<PathBuf> = listed.map(|driver| self.manifest(&driver.name)).collect();
        env::join_paths(paths).expect("scratch paths hold no colon")
    }

    /// Writes the files of the drivers that were added since the last run.
    fn build(&mut self) {
        for driver in &self.drivers[self.built..] {
            self.build_driver(driver);
        }
        self.built = self.drivers.len();
    }

    fn build_driver(&self, driver: &Driver) {
        let library = self.library(&driver.name);
        let mut bytes = fs::read(library::built("mock_driver")).expect("cargo built the mock driver");
        exports::hide(&mut bytes, &driver.hidden);
        self.file(&format!("libraries/libmock_{}.so", driver.name), bytes);
        let text = format!(
            "ordinal {}\njournal {}\n{}",
            driver.ordinal,
            self.text_path("journal"),
            driver.lines
        );
        self.file(&format!("libraries/libmock_{}.conf", driver.name), text);
        let manifest = &driver.manifest;
        let path = manifest
            .library_path
            .as_deref()
            .map(|path| {
                if path.starts_with('.') {
                    system::json_path(path)
                } else {
                    path.into()
                }
            })
            .unwrap_or_else(|| library.display().to_string());
        let text = match &manifest.text {
            Some(text) => text.replace("@LIBRARY@", &library.display().to_string()),
            None => format!(
                r#"{{"file_format_version": "{}", "ICD": {{"library_path": "{path}", "api_version": "{}"{}}}}}"#,
                manifest.file_format_version, manifest.api_version, manifest.more
            ),
        };
        self.file(&format!("{}/{}.json", driver.folder, driver.name), text);
    }
}
