//! A simulated machine for one test: folders for devices, packages and the socket, a service in a separate process, and clients that send
//! the packets that the test chooses.
//!
//! Packages must belong to root, so the tests run as root. For another user, each test prints that it was skipped, and passes.
#![allow(
    dead_code,
    unused_imports,
    reason = "each file of tests uses only a part of this module"
)]

mod client;

pub(crate) use client::{Connection, Reply, connections};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
pub(crate) use steady::{HANG, eventually, skip};
use wire::Operation;

/// Path of the program.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_vk-loader-service");

/// Runs a test if the user is root. Otherwise, prints that the test was skipped.
pub(crate) fn case(run: impl FnOnce(Machine)) {
    if steady::is_superuser() {
        run(Machine::new(tempfile::tempdir().expect("there is room for a folder")));
    } else {
        skip("packages must belong to root, and the tests do not run as root");
    }
}

/// Returns a library of `size` bytes with a valid header.
pub(crate) fn library(bits: u32, size: usize) -> Vec<u8> {
    let (class, machines) = if bits == 64 { (2, [62, 183]) } else { (1, [3, 40]) };
    let machine = machines[usize::from(cfg!(any(target_arch = "aarch64", target_arch = "arm")))];
    let mut bytes = vec![
        0x7f, b'E', b'L', b'F', class, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, machine, 0,
    ];
    // The rest of the header is zero, which means that the library has no segments.
    bytes.resize(64, 0);
    bytes.resize(size.max(bytes.len()), 7);
    bytes
}

/// Returns a manifest for a library.
pub(crate) fn manifest(library: &str) -> String {
    format!(r#"{{"file_format_version":"1.0.1","ICD":{{"library_path":"{library}","api_version":"1.3.0"}}}}"#)
}

/// A simulated machine with a service.
pub(crate) struct Machine {
    place: tempfile::TempDir,
    daemon: Option<Child>,
    /// Command and arguments that start the service; empty to start the service directly.
    pub(crate) wrap: Vec<String>,
    /// User that runs the service; `None` for root.
    pub(crate) user: Option<u32>,
    /// Further options of the program.
    pub(crate) options: Vec<String>,
    /// Text of the configuration: the packages for each kernel driver, and the software driver.
    config: String,
}

/// The rules of most tests: devices of the kernel driver `one` use the packages a and b, and devices of `two` use b.
const CONFIG: &str =
    r#"{"devices":[{"driver":"one","icds":["a","b"]},{"driver":"two","icds":["b"]}],"fallback":"soft"}"#;

impl Machine {
    /// Returns a machine without devices or packages.
    pub(crate) fn new(place: tempfile::TempDir) -> Self {
        steady::usual_umask();
        let machine = Self {
            place,
            daemon: None,
            wrap: Vec::new(),
            user: None,
            options: Vec::new(),
            config: CONFIG.to_owned(),
        };
        for folder in ["dri", "sys/class/drm", "icd", "run"] {
            fs::create_dir_all(machine.path(folder)).unwrap();
        }
        for folder in ["", "dri", "icd", "run"] {
            machine.set_mode(folder, 0o755);
        }
        machine
    }

    /// Returns the path of a file or folder of the machine.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.place.path().join(path)
    }

    /// Returns the path of the service's socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path("run/service.sock")
    }

    /// Replaces the configuration.
    pub(crate) fn config(&mut self, text: &str) {
        text.clone_into(&mut self.config);
    }

    /// Changes the permissions of a file or folder.
    pub(crate) fn set_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), PermissionsExt::from_mode(mode)).unwrap();
    }

    /// Writes a file that only root can change, and creates missing folders.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let place = self.path(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, bytes).unwrap();
    }

    /// Adds a device.
    pub(crate) fn device(&self, node: &str, driver: &str) {
        let device = format!("sys/class/drm/{node}/device");
        fs::create_dir_all(self.path(&device)).unwrap();
        let _ = symlink(format!("../../bus/drivers/{driver}"), self.path(&device).join("driver"));
        self.write(&format!("{device}/vendor"), "0x1002\n");
        self.write(&format!("dri/{node}"), "");
    }

    /// Removes a device.
    pub(crate) fn remove_device(&self, node: &str) {
        fs::remove_file(self.path("dri").join(node)).unwrap();
    }

    /// Adds a package with a 64-bit library.
    pub(crate) fn package(&self, name: &str) {
        self.package_with(name, &manifest(&format!("lib{name}.so")), &library(64, 100_000));
    }

    /// Adds a package. The package appears in one step.
    pub(crate) fn package_with(&self, name: &str, manifest: &str, library: &[u8]) {
        let new = format!("new-{name}");
        self.write(
            &format!("{new}/metadata/metadata.json"),
            r#"{"version":1,"file_path":"lib/driver.so","manifest_path":"m.json"}"#,
        );
        self.write(&format!("{new}/contents/m.json"), manifest);
        self.write(&format!("{new}/contents/lib/driver.so"), library);
        fs::rename(self.path(&new), self.path("icd").join(name)).unwrap();
    }

    /// Removes a package in one step.
    pub(crate) fn remove_package(&self, name: &str) {
        let away = self.path(&format!("away-{name}"));
        fs::rename(self.path("icd").join(name), &away).unwrap();
        fs::remove_dir_all(away).unwrap();
    }

    /// Returns the command that runs the service on this machine.
    pub(crate) fn command(&self) -> Command {
        self.write("service.json", &self.config);
        let program = self.program();
        let mut words = self.wrap.iter().map(Path::new).chain([program.as_path()]);
        let mut command = Command::new(words.next().unwrap_or(&program));
        if let Some(user) = self.user {
            std::os::unix::process::CommandExt::uid(&mut command, user);
        }
        command.args(words).arg("--config").arg(self.path("service.json"));
        for (option, path) in [
            ("socket", "run/service.sock"),
            ("root", "icd"),
            ("dri", "dri"),
            ("sys", "sys"),
            ("run", "run"),
        ] {
            command.arg(format!("--{option}")).arg(self.path(path));
        }
        command.args(&self.options);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(fs::File::create(self.path("log")).unwrap());
        command
    }

    /// Returns a path of the service's program that the service's user can open.
    fn program(&self) -> PathBuf {
        let Some(user) = self.user else {
            return PROGRAM.into();
        };
        let copy = self.path("program");
        steady::copy_program(PROGRAM.as_ref(), &copy, 0o755);
        self.set_mode("service.json", 0o644);
        std::os::unix::fs::chown(self.path("run"), Some(user), None).unwrap();
        copy
    }

    /// Makes the service start with the umask `umask`.
    pub(crate) fn with_umask(&mut self, umask: u32) {
        let script = format!(r#"umask {umask:03o}; exec "$0" "$@""#);
        self.wrap = vec!["sh".to_owned(), "-c".to_owned(), script];
    }

    /// Starts the service and waits until it listens.
    pub(crate) fn start(&mut self) {
        self.start_with(|_| ());
    }

    /// Adds the package of the software driver, starts the service, and waits until it publishes the driver.
    pub(crate) fn start_with_soft(&mut self) {
        self.package("soft");
        self.start();
        self.expect(&["0-libsoft.so.json"]);
    }

    /// Adds a device and its package, starts the service, and waits until it publishes the driver.
    pub(crate) fn start_with_device(&mut self) {
        self.device("renderD128", "one");
        self.package("a");
        self.start();
        self.expect(&["0-liba.so.json"]);
    }

    /// Starts the service with a changed command, and waits until it listens.
    pub(crate) fn start_with(&mut self, change: impl FnOnce(&mut Command)) {
        let mut command = self.command();
        change(&mut command);
        let child = command.spawn().expect("the program is there");
        self.daemon = Some(child);
        eventually("the service listens", || Connection::try_new(&self.socket()).is_ok());
    }

    /// Kills the service, to simulate a crash.
    pub(crate) fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }

    /// Returns the process ID of the service.
    pub(crate) fn process(&self) -> u32 {
        self.daemon.as_ref().expect("it was started").id()
    }

    /// Sends a signal to the service.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_raw(self.process() as i32).expect("it is no 0");
        rustix::process::kill_process(process, signal).expect("it runs");
    }

    /// Returns a row of the kernel's status file for a process or thread.
    pub(crate) fn status(&self, process: u32, row: &str) -> String {
        let text = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
        let found = text.lines().find_map(|line| line.strip_prefix(row)?.strip_prefix(':'));
        found.expect("there is such a row").trim().to_owned()
    }

    /// Returns the number of entries in a folder of the kernel for the service, such as `fd` for descriptors.
    pub(crate) fn count(&self, what: &str) -> usize {
        fs::read_dir(format!("/proc/{}/{what}", self.process()))
            .expect("it runs")
            .count()
    }

    /// Returns the processor time that the service has used.
    pub(crate) fn processor_time(&self) -> Duration {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.process())).expect("it runs");
        // The name of the program may contain spaces, so this code counts the columns from the parenthesis after the name. A tick is a
        // hundredth of a second on all processors.
        let rows = text.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u64 = rows.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        Duration::from_millis(10 * ticks)
    }

    /// Waits until the service hardly uses the processor for longer than the time for which it collects changes.
    pub(crate) fn expect_idle(&self) {
        eventually("the service is idle", || {
            let busy = self.processor_time();
            std::thread::sleep(Duration::from_millis(1500));
            self.processor_time() - busy < Duration::from_millis(500)
        });
    }

    /// Returns the service's log.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Connects a new client.
    pub(crate) fn client(&self) -> Connection {
        Connection::try_new(&self.socket()).expect("the service listens")
    }

    /// Returns the names of the manifests that a new client receives when no work is pending.
    pub(crate) fn manifests(&self) -> Vec<String> {
        self.client()
            .manifests(true)
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    }

    /// Waits until the service publishes exactly the manifests in `names`.
    pub(crate) fn expect(&self, names: &[&str]) {
        let mut last = Vec::new();
        let begin = Instant::now();
        while begin.elapsed() < HANG {
            last = self.manifests();
            if last == names {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the service publishes {last:?} instead of {names:?}\n{}", self.log());
    }

    /// Returns the part of the state below `core/vulkan_loader`, which a client of root receives.
    pub(crate) fn inspect(&self) -> Value {
        let mut reply = self.client().ask(Operation::Inspect, "{}");
        assert_eq!(reply.status(), "ok");
        let state = serde_json::from_slice::<Value>(&reply.attached()).unwrap();
        state.get("core/vulkan_loader").unwrap().clone()
    }

    /// Returns the reason why an instance of the package failed.
    pub(crate) fn failure(&self, package: &str) -> String {
        let state = self.inspect();
        let Some(Value::Object(icds)) = state.get("icds") else {
            panic!("{state}");
        };
        let is_it = |icd: &&Value| icd.get("package").and_then(Value::as_str) == Some(package);
        let found = icds.iter().map(|(_, icd)| icd).rfind(is_it);
        let icd = found.unwrap_or_else(|| panic!("{package} is not in {state}"));
        assert_eq!(icd.get("status").and_then(Value::as_str), Some("failed"), "{icd}");
        icd.get("error").and_then(Value::as_str).unwrap().to_owned()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("the service said:\n{}", self.log());
        }
    }
}

/// Runs the program with the arguments in `words`.
pub(crate) fn program<S: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = S>) -> Output {
    let output = Command::new(PROGRAM).args(words).stdin(Stdio::null()).output();
    output.expect("the program is there")
}

/// Runs the program with the arguments in `words`, which must succeed. Returns the standard output and the standard error.
pub(crate) fn succeeds<S: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = S>) -> String {
    let output = program(words);
    assert!(output.status.success(), "{}", printed(&output));
    printed(&output)
}

/// Returns the standard output and the standard error of a command as one text.
pub(crate) fn printed(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    let _ = write!(text, "{}", String::from_utf8_lossy(&output.stderr));
    text
}
