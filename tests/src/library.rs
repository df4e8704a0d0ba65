//! Paths of the library under test and of the built mock drivers and layers.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::system::{LIBRARY_SUFFIXES, OWN_LIBRARY};
use crate::vk::version_of;

/// Major, minor and patch number.
pub(crate) type Version = [u32; 3];

/// Returns `true` if the library under test is a Khronos loader. A run on a Khronos loader tests the tests themselves.
pub fn is_peer() -> bool {
    peer_text().is_some()
}

/// Returns the version of the Khronos loader under test.
pub(crate) fn peer_version() -> Option<Version> {
    static VERSION: OnceLock<Option<Version>> = OnceLock::new();
    *VERSION.get_or_init(|| {
        peer_text().map(|text| match text.as_str() {
            "1" => version_of(&under_test()),
            told => parse_version(told).unwrap_or_else(|| panic!("VKL_PEER: `{told}` is neither 1 nor a version")),
        })
    })
}

/// Returns the version of the Khronos loader under test, as text for a child's variable. With this variable, a child knows the version
/// without loading the library.
pub(crate) fn peer_for_child() -> Option<String> {
    peer_version().map(|version| version.map(|part| part.to_string()).join("."))
}

/// Parses a version of the form `major.minor.patch`.
pub(crate) fn parse_version(text: &str) -> Option<Version> {
    let parts: Vec<u32> = text.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    parts.try_into().ok()
}

/// Returns the column of a log line at which its text begins (APP-232). Version 1.3.239 has no prefix with the loader's name.
pub fn log_column() -> usize {
    match peer_version() {
        Some(version) if version <= [1, 3, 239] => 18,
        _ => 32,
    }
}

fn peer_text() -> Option<String> {
    env::var("VKL_PEER").ok().filter(|text| !text.is_empty())
}

/// Returns the library under test: the file in `VKL_LIBRARY`. The default is the library built beside this program, or the installed
/// library of the system in a run on a Khronos loader.
pub fn under_test() -> PathBuf {
    match env::var_os("VKL_LIBRARY") {
        Some(path) => path.into(),
        None if is_peer() => "libvulkan.so.1".into(),
        None => built_here().parent().unwrap_or(Path::new(".")).join(OWN_LIBRARY),
    }
}

/// Returns a library of this workspace, for example `mock_driver`. Cargo built the library separately, or as a dependency of this program.
pub fn built(name: &str) -> PathBuf {
    let here = built_here();
    let (before, after) = LIBRARY_SUFFIXES;
    let file = format!("{before}{name}{after}");
    let dependency = here.join(&file);
    if dependency.exists() {
        dependency
    } else {
        here.parent().unwrap_or(Path::new(".")).join(file)
    }
}

/// Returns `target/<profile>/deps`, the folder of test programs and of the libraries that they depend on.
pub(crate) fn built_here() -> PathBuf {
    let program = env::current_exe().expect("a process knows its program");
    program.parent().expect("a program lies in a folder").into()
}
