//! An imitated machine for each test. `vkloader` runs with the machine's folders for manifests and mock drivers.

#![allow(dead_code, reason = "each test program uses some of it")]

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

pub(crate) use steady::skip;

/// Lines that make the mock driver faster. An update of a catalogue sends a driver tens of thousands of queries. The driver then reads its
/// configuration once in each process, and its journal has no lines about queries of physical devices.
pub(crate) const BRIEF: &str = "flag settled\nflag brief\n";
/// User ID of `nobody`.
const NOBODY: u32 = 65534;

/// The folders of the machine of one test. The drivers of the real machine are hidden, unless a test requests them.
pub(crate) struct Machine {
    root: tempfile::TempDir,
    variables: Vec<(String, String)>,
    arguments: Vec<String>,
    unprivileged: bool,
    program: PathBuf,
    /// Command that starts `vkloader`, with the arguments of this command; empty to start `vkloader` directly.
    starter: Vec<String>,
}

/// Report of `vkloader explain --json`.
pub(crate) struct Explained {
    pub(crate) report: Value,
    pub(crate) code: i32,
}

impl Explained {
    /// Returns the code of the report's first finding.
    pub(crate) fn first(&self) -> &str {
        self.report["dropped"][0]["code"].as_str().unwrap_or("nothing")
    }

    /// Returns the remedy of the first finding; empty if this finding has no remedy.
    pub(crate) fn advice(&self) -> &str {
        self.report["dropped"][0]["advice"].as_str().unwrap_or_default()
    }

    /// Returns `true` if the remedy of the first finding is `words` with a command for the superuser in place of `#`.
    pub(crate) fn advises(&self, words: &str) -> bool {
        let by = ["sudo", "doas", "as root:"];
        by.iter().any(|by| self.advice() == words.replace('#', by))
    }

    /// Returns the facts of the first finding as one text.
    pub(crate) fn findings(&self) -> String {
        self.report["dropped"][0]["findings"].to_string()
    }

    /// Returns the finding with the code `code`.
    pub(crate) fn found(&self, code: &str) -> &Value {
        let dropped = self.report["dropped"].as_array().expect("a list");
        let found = dropped.iter().find(|dropped| dropped["code"] == code);
        found.unwrap_or_else(|| panic!("no {code} in {:#}", self.report["dropped"]))
    }

    /// Returns the codes of all findings, in the order of the report.
    pub(crate) fn codes(&self) -> Vec<&str> {
        let dropped = self.report["dropped"].as_array().expect("a list");
        dropped.iter().filter_map(|dropped| dropped["code"].as_str()).collect()
    }

    /// Returns the name of the verdict.
    pub(crate) fn verdict(&self) -> &str {
        self.report["verdict"].as_str().unwrap_or("none")
    }

    pub(crate) fn devices(&self) -> Vec<&str> {
        let devices = self.report["devices"].as_array().expect("a list");
        devices.iter().filter_map(|device| device["name"].as_str()).collect()
    }
}

impl Machine {
    pub(crate) fn new() -> Self {
        steady::usual_umask();
        let root = tempfile::tempdir().expect("a folder");
        let machine = Self {
            root,
            variables: Vec::new(),
            arguments: Vec::new(),
            unprivileged: false,
            program: vkloader().into(),
            starter: Vec::new(),
        };
        for folder in ["data/vulkan/icd.d", "data/vulkan/implicit_layer.d", "libraries"] {
            fs::create_dir_all(machine.path(folder)).expect("folders");
        }
        machine
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    pub(crate) fn file(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        fs::write(&path, content).expect("files can be written");
        path
    }

    /// Compiles a C program and returns its path.
    pub(crate) fn c_program(&self, text: &str) -> String {
        let source = self.file("program.c", text);
        let program = self.path("program");
        let mut command = Command::new("cc");
        let status = command.arg("-o").arg(&program).arg(source).arg("-ldl").status();
        assert!(status.expect("a compiler").success());
        program.to_str().expect("plain").into()
    }

    /// Adds a driver: a manifest and a library. `lines` configures the driver's behaviour.
    pub(crate) fn driver(&self, name: &str, lines: &str) -> PathBuf {
        let library = self.path(&format!("libraries/libmock_{name}.so"));
        fs::copy(built("libmock_driver.so"), &library).expect("cargo built the mock driver");
        let journal = self.path("journal");
        self.file(
            &format!("libraries/libmock_{name}.conf"),
            format!("ordinal 0\n{BRIEF}journal {}\n{lines}\n", journal.display()),
        );
        self.manifest(name, &library, "")
    }

    /// Adds the manifest of a driver, with additional members.
    pub(crate) fn manifest(&self, name: &str, library: &Path, more: &str) -> PathBuf {
        let library = library.display();
        let text = format!(
            r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "{library}", "api_version": "1.3.0"{more}}}}}"#
        );
        self.file(&format!("data/vulkan/icd.d/{name}.json"), text)
    }

    /// Adds an implicit layer whose library is missing.
    pub(crate) fn layer(&self, name: &str) -> PathBuf {
        self.layer_of(name, Path::new(&format!("/nowhere/lib{name}.so")))
    }

    /// Adds an implicit layer with the library `library`.
    pub(crate) fn layer_of(&self, name: &str, library: &Path) -> PathBuf {
        let library = library.display();
        let text = format!(
            r#"{{"file_format_version": "1.2.0", "layer": {{"name": "VK_LAYER_{name}", "type": "GLOBAL", "library_path": "{library}",
            "api_version": "1.3.0", "implementation_version": "1", "description": "", "disable_environment": {{"OFF_{name}": "1"}}}}}}"#
        );
        self.file(&format!("data/vulkan/implicit_layer.d/{name}.json"), text)
    }

    /// Adds a valid layer. `lines` configures the layer's behaviour, `more` has further members of the manifest, and `kind` is `implicit`
    /// or `explicit`.
    pub(crate) fn working_layer(&self, kind: &str, name: &str, lines: &str, more: &str) -> PathBuf {
        let library = self.path(&format!("libraries/libVkLayer_{name}.so"));
        fs::copy(built("libmock_layer.so"), &library).expect("cargo built the mock layer");
        self.file(
            &format!("libraries/libVkLayer_{name}.conf"),
            format!(
                "name VK_LAYER_{name}\njournal {}\n{lines}\n",
                self.path("journal").display()
            ),
        );
        fs::create_dir_all(self.path(&format!("data/vulkan/{kind}_layer.d"))).expect("folders");
        let switch = match kind {
            "implicit" => format!(r#", "disable_environment": {{"OFF_{name}": "1"}}"#),
            _ => String::new(),
        };
        let text = format!(
            r#"{{"file_format_version": "1.2.0", "layer": {{"name": "VK_LAYER_{name}", "type": "GLOBAL", "library_path": "{}",
            "api_version": "1.4.0", "implementation_version": "1", "description": ""{switch}{more}}}}}"#,
            library.display()
        );
        self.file(&format!("data/vulkan/{kind}_layer.d/{name}.json"), text)
    }

    /// Sets a variable in place of its previous value.
    pub(crate) fn variable(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.unset(name);
        self.variables.push((name.into(), value.into()));
        self
    }

    pub(crate) fn argument(&mut self, argument: impl Into<String>) -> &mut Self {
        self.arguments.push(argument.into());
        self
    }

    /// Removes a variable.
    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.retain(|(known, _)| known != name);
    }

    /// Shows `vkloader` an imitated system: files in the folder `system/` of this machine replace the files with the same path. `shown`
    /// lists the replaced paths. Reports the test as skipped and returns `false` if the system does not permit it.
    pub(crate) fn in_made_up_system(&mut self, shown: &[&str]) -> bool {
        let words = |machine: &Self| {
            let mut words: Vec<String> = ["bwrap", "--bind", "/", "/", "--dev", "/dev"].map(String::from).into();
            for path in shown {
                let own = machine.path(&format!("system{path}"));
                words.extend(["--bind".into(), own.display().to_string(), (*path).into()]);
            }
            words
        };
        self.start_with(words(self))
    }

    /// Compiles the program `landlock`, which starts a command that may not open the files at a path or below. Returns the program's path. Reports
    /// the test as skipped and returns `None` if the system does not permit it.
    pub(crate) fn landlock(&self) -> Option<String> {
        let program = self.path("landlock");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine/landlock.c");
        let made = Command::new("cc").arg("-o").arg(&program).arg(source).output();
        if !made.is_ok_and(|made| made.status.success()) {
            skip("no program can be compiled that uses Landlock");
            return None;
        }
        let tried = Command::new(&program).args(["/nowhere", "true"]).status();
        if tried.expect("it starts").code() == Some(99) {
            skip("this kernel has no Landlock");
            return None;
        }
        Some(program.to_str().expect("plain").into())
    }

    /// Sets a command that starts `vkloader`; an empty list restores the default. Reports the test as skipped and returns `false` if the
    /// command cannot start programs on this machine.
    pub(crate) fn start_with(&mut self, words: Vec<String>) -> bool {
        if let Some((program, rest)) = words.split_first() {
            let possible = Command::new(program).args(rest).arg("true").output();
            if !possible.is_ok_and(|made| made.status.success()) {
                skip(&format!("{program} makes no namespace here"));
                return false;
            }
        }
        self.starter = words;
        true
    }

    /// Adds words to the end of the command that starts `vkloader`.
    pub(crate) fn start_behind(&mut self, words: &[&str]) {
        self.starter.extend(words.iter().copied().map(String::from));
    }

    /// Removes the last argument of `vkloader`.
    pub(crate) fn pop(&mut self) {
        self.arguments.pop();
    }

    /// Makes `vkloader` run as an unprivileged user from now on. Reports the test as skipped and returns `false` if the system does not
    /// permit it.
    pub(crate) fn unprivileged(&mut self) -> bool {
        if !steady::is_superuser() {
            skip("only the superuser can start a program as a user without rights");
            return false;
        }
        fs::set_permissions(self.root.path(), fs::Permissions::from_mode(0o755)).expect("the owner may");
        let needed = [Path::new(vkloader()), &library(), self.root.path()];
        let hidden = needed
            .into_iter()
            .flat_map(Path::ancestors)
            .find(|place| fs::metadata(place).is_ok_and(|state| is_hidden(&state)));
        if let Some(place) = hidden {
            skip(&format!("a user without rights does not get into {}", place.display()));
            return false;
        }
        self.unprivileged = true;
        true
    }

    /// Makes `vkloader` run as the user of the test again.
    pub(crate) fn privileged(&mut self) {
        self.unprivileged = false;
    }

    /// Runs `vkloader` with the arguments `words`, and returns its output.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it can be started")
    }

    /// Returns a command that runs `vkloader` with the arguments `words`.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let none = self.path("none");
        let mut command = match self.starter.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        command
            .args(words)
            .args(&self.arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &none)
            .env("XDG_CONFIG_HOME", &none)
            .env("XDG_CONFIG_DIRS", &none)
            .env("XDG_DATA_DIRS", &none)
            .env("XDG_DATA_HOME", self.path("data"))
            // Disables the use of a driver service on the real machine. Such a service would provide further drivers.
            .env("VK_LOADER_SERVICE_SOCKET", "")
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        self.as_user(&mut command);
        command
    }

    /// Makes a command run as the user who runs this machine's programs.
    pub(crate) fn as_user<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if self.unprivileged {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Installs `vkloader` with its library below a prefix on this machine.
    pub(crate) fn install(&mut self) {
        self.install_as("bin/vkloader", "libexec/vulkan-loader-rs/libvulkan.so.1");
    }

    /// Copies `vkloader` to the path `program`, and its library to the path `carried`.
    pub(crate) fn install_as(&mut self, program: &str, carried: &str) {
        for (from, to) in [(Path::new(vkloader()), program), (&library(), carried)] {
            let to = self.path(to);
            fs::create_dir_all(to.parent().expect("a file has a folder")).expect("folders");
            steady::copy_program(from, &to, 0o755);
        }
        self.program = self.path(program);
    }

    /// Runs `vkloader explain` and returns the report.
    pub(crate) fn explain(&self) -> Explained {
        let library = library();
        self.explain_with(&["--library", library.to_str().expect("a plain path")])
    }

    /// Runs `vkloader explain` with the arguments `words` and returns the report.
    pub(crate) fn explain_with(&self, words: &[&str]) -> Explained {
        let output = self.run(&[&["explain", "--json"], words].concat());
        let report = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&output.stderr)));
        Explained {
            report,
            code: output.status.code().expect("it ends by itself"),
        }
    }
}

/// Returns `true` if users other than the owner and the group cannot read a file or enter a folder.
fn is_hidden(state: &fs::Metadata) -> bool {
    let needed = if state.is_dir() { 0o001 } else { 0o004 };
    state.mode() & needed == 0
}

/// Returns a command that runs another program with the environment of `like`, a command of [`Machine::command`].
pub(crate) fn in_environment_of(like: &Command, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Returns a command that runs the command `like` through another program. `words` are the other program and its arguments.
pub(crate) fn behind(words: &[&str], like: &Command) -> Command {
    let mut command = in_environment_of(like, words[0]);
    command.args(&words[1..]).arg(like.get_program()).args(like.get_args());
    command
}

/// Returns the path of `vkloader`. `VKL_VKLOADER` can name a copy that other users can read.
pub(crate) fn vkloader() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| match std::env::var("VKL_VKLOADER") {
        Ok(path) if !path.is_empty() => path,
        _ => env!("CARGO_BIN_EXE_vkloader").into(),
    });
    &PATH
}

/// Returns the library under test.
pub(crate) fn library() -> PathBuf {
    match std::env::var_os("VKL_LIBRARY") {
        Some(library) => library.into(),
        None => built("libvulkan.so"),
    }
}

/// Returns the path of a file that cargo built together with this test.
pub(crate) fn built(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a process knows its program");
    let deps = own.parent().expect("a program lies in a folder");
    // If a file was also built under its own name, the copy in `deps` may be older. Therefore, this code uses the newer of the two files.
    let places = [deps.join(name), deps.parent().expect("tests lie in deps").join(name)];
    let made = |place: &PathBuf| fs::metadata(place).and_then(|status| status.modified()).ok();
    places.into_iter().max_by_key(made).expect("two places")
}
