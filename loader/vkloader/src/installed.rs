//! Finds the package that a file belongs to.

use std::path::Path;
use std::process::Command;

/// A package manager: its query for the owner of a file, and the text before and after the package in its answer.
struct Manager {
    program: &'static str,
    arguments: &'static [&'static str],
    before: &'static str,
    after: &'static str,
}

const MANAGERS: [Manager; 4] = [
    Manager {
        program: "dpkg-query",
        arguments: &["-S"],
        before: "",
        after: ": ",
    },
    Manager {
        program: "rpm",
        arguments: &["-qf"],
        before: "",
        after: "",
    },
    Manager {
        program: "pacman",
        arguments: &["-Qo"],
        before: " is owned by ",
        after: " ",
    },
    Manager {
        program: "apk",
        arguments: &["info", "--who-owns"],
        before: " is owned by ",
        after: "",
    },
];

/// Returns the package that a file belongs to, as the package manager prints it; `None` if no package manager knows the file.
pub(crate) fn owner(path: &str) -> Option<String> {
    let real = std::fs::canonicalize(path).ok();
    let real = real.as_deref().unwrap_or(Path::new(path));
    // With a merged /usr, a file has two paths, and dpkg knows one of them.
    let without_usr = real.strip_prefix("/usr").ok().map(|rest| Path::new("/").join(rest));
    let candidates = [Some(real.to_path_buf()), without_usr, Some(path.into())];
    candidates
        .into_iter()
        .flatten()
        .find_map(|path| MANAGERS.iter().find_map(|manager| manager.owner(&path)))
}

impl Manager {
    fn owner(&self, path: &Path) -> Option<String> {
        let mut command = Command::new(self.program);
        let found = command
            .env("LC_ALL", "C")
            .args(self.arguments)
            .arg(path)
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&found.stdout).into_owned();
        self.package(&text).filter(|_| found.status.success())
    }

    /// Returns the package in an answer.
    fn package(&self, answer: &str) -> Option<String> {
        let line = answer.lines().next()?.trim();
        let at = line.find(self.before)?;
        let rest = &line[at + self.before.len()..];
        let name = match self.after {
            "" => rest,
            after => rest.split_once(after)?.0,
        };
        (!name.is_empty()).then(|| format!("package {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_in_the_answers_of_package_managers() {
        for (manager, answer, package) in [
            (
                0,
                "libvulkan1:amd64: /usr/lib/libvulkan.so.1\n",
                Some("package libvulkan1:amd64"),
            ),
            (
                1,
                "mesa-vulkan-drivers-24.1-1.fc40.x86_64\n",
                Some("package mesa-vulkan-drivers-24.1-1.fc40.x86_64"),
            ),
            (
                2,
                "/usr/lib/libvulkan_radeon.so is owned by vulkan-radeon 1:24.1-1\n",
                Some("package vulkan-radeon"),
            ),
            (
                3,
                "/usr/lib/libvulkan_lvp.so is owned by mesa-vulkan-swrast-24.1-r0\n",
                Some("package mesa-vulkan-swrast-24.1-r0"),
            ),
            (0, "", None),
            (2, "error: No package owns /x\n", None),
        ] {
            assert_eq!(MANAGERS[manager].package(answer).as_deref(), package, "{answer}");
        }
    }
}
