//! Where the libraries are: the one under test and the built mocks.

use std::env;
use std::path::{Path, PathBuf};

/// True when the library under test is Debian's Khronos loader, against which the cases themselves are tested.
pub fn is_peer() -> bool {
    env::var_os("VKL_PEER").is_some_and(|value| value == "1")
}

/// The library under test: `VKL_LIBRARY`; else, for the peer, the system's; else the one built beside this program.
pub fn under_test() -> PathBuf {
    match env::var_os("VKL_LIBRARY") {
        Some(path) => path.into(),
        None if is_peer() => "libvulkan.so.1".into(),
        None => built_here().parent().unwrap_or(Path::new(".")).join("libvulkan.so"),
    }
}

/// A library of this workspace, for example `mock_driver`: built as a dependency of this program, or by itself.
pub fn built(name: &str) -> PathBuf {
    let here = built_here();
    let file = format!("lib{name}.so");
    let dependency = here.join(&file);
    if dependency.exists() {
        dependency
    } else {
        here.parent().unwrap_or(Path::new(".")).join(file)
    }
}

/// `target/<profile>/deps`, where test programs and the libraries they depend on lie.
fn built_here() -> PathBuf {
    let program = env::current_exe().expect("a process knows its program");
    program.parent().expect("a program lies in a folder").into()
}
