//! Values that are chosen when the loader is built, each by an environment variable of the build: folders, and the socket and the user of
//! the driver service. If the variable for a folder is unset, the loader uses the system's usual folder.

/// Folder that is searched after the base folders of configuration variables (`VKL_SYSCONFDIR`).
pub const SYSCONFDIR: Option<&str> = option_env!("VKL_SYSCONFDIR");

/// Folder that is searched after [`SYSCONFDIR`] (DRV-21, LAY-13; `VKL_EXTRASYSCONFDIR`).
pub const EXTRASYSCONFDIR: Option<&str> = option_env!("VKL_EXTRASYSCONFDIR");

/// Default for an unset `XDG_CONFIG_DIRS` (`VKL_FALLBACK_CONFIG_DIRS`).
pub const FALLBACK_CONFIG_DIRS: Option<&str> = option_env!("VKL_FALLBACK_CONFIG_DIRS");

/// Default for an unset `XDG_DATA_DIRS` (`VKL_FALLBACK_DATA_DIRS`).
pub const FALLBACK_DATA_DIRS: Option<&str> = option_env!("VKL_FALLBACK_DATA_DIRS");

// A relative folder would depend on the current folder of the program.
const _: () = if let Some(folder) = SYSCONFDIR {
    assert!(is_absolute(folder), "VKL_SYSCONFDIR must be an absolute path");
};
const _: () = if let Some(folder) = EXTRASYSCONFDIR {
    assert!(is_absolute(folder), "VKL_EXTRASYSCONFDIR must be an absolute path");
};

/// Socket of the driver service (LSV-33; `VKL_SERVICE_SOCKET`).
pub const SERVICE_SOCKET: Option<&str> = option_env!("VKL_SERVICE_SOCKET");

/// User ID of the driver service. The loader trusts this user in addition to the superuser (LSV-47; `VKL_SERVICE_USER`).
pub const SERVICE_USER: Option<&str> = option_env!("VKL_SERVICE_USER");

const _: () = if let Some(socket) = SERVICE_SOCKET {
    assert!(is_absolute(socket), "VKL_SERVICE_SOCKET must be an absolute path");
};

const fn is_absolute(folder: &str) -> bool {
    matches!(folder.as_bytes(), [b'/', ..])
}

#[cfg(all(test, unix))]
mod tests {
    use crate::text::scratch::Scratch;
    use std::process::Command;

    /// Compiles this file with a build variable. Returns `true` for success, and the compiler's messages.
    fn built(variable: &str, value: &str) -> (bool, String) {
        // The compiler overwrites its output file, so each test has a separate folder for the output.
        let scratch = Scratch::create();
        let output = Command::new("rustc")
            .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir"])
            .arg(scratch.root())
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/src/search/build_dirs.rs"))
            .env(variable, value)
            .output();
        let output = output.unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }

    #[test]
    fn drv_21_folders_that_are_not_absolute_fail_the_build() {
        for variable in ["VKL_SYSCONFDIR", "VKL_EXTRASYSCONFDIR", "VKL_SERVICE_SOCKET"] {
            assert_eq!(built(variable, "/etc"), (true, String::new()), "{variable}");
            for folder in ["etc", "", "./etc"] {
                let (success, words) = built(variable, folder);
                let line = format!("{variable} must be an absolute path");
                assert!(!success && words.contains(&line), "{variable}={folder}: {words}");
            }
        }
    }
}
