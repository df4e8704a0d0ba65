//! Finds the package that contains a file.

use crate::regular;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package manager: its command that finds the owner of a file, and the texts before and after the package's name in the command's
/// output.
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

/// Folder in which dpkg has the list of files of each package.
const DPKG_LISTS: &str = "/var/lib/dpkg/info";

/// Returns the package that contains a file, in the words of the package manager. Returns `None` if the file belongs to no package.
pub(crate) fn owner(path: &str) -> Option<String> {
    let paths = paths_of(path);
    let (dpkg, others) = MANAGERS.split_first()?;
    let of_dpkg = match listed(Path::new(DPKG_LISTS), &paths) {
        Some(found) => found,
        None => dpkg.owner(&paths),
    };
    of_dpkg.or_else(|| others.iter().find_map(|manager| manager.owner(&paths)))
}

/// Returns the name of the installed package that contains one of the paths below the folder `root`, although the file was deleted.
pub(crate) fn owner_of_lost(root: &Path, paths: &[PathBuf]) -> Option<String> {
    let without_usr = paths.iter().filter_map(|path| path.strip_prefix("/usr").ok());
    let with_usr = paths.iter().filter_map(|path| path.strip_prefix("/").ok());
    let with_usr = with_usr.map(|rest| Path::new("/usr").join(rest));
    let all: Vec<PathBuf> = paths
        .iter()
        .cloned()
        .chain(without_usr.map(|rest| Path::new("/").join(rest)))
        .chain(with_usr)
        .collect();
    let below = |path: &str| root.join(path.trim_start_matches('/'));
    let of_dpkg = || Some(listed(&below(DPKG_LISTS), &all)??.trim_start_matches("package ").into());
    let of_rpm = || {
        let rpm = MANAGERS.iter().find(|manager| manager.program == "rpm")?;
        let found = rpm.owner(paths).filter(|_| root == Path::new("/"))?;
        Some(found.trim_start_matches("package ").into())
    };
    of_dpkg()
        .or_else(|| in_pacman(&below(PACMAN_LISTS), &all))
        .or_else(|| in_apk(&below(APK_LIST), &all))
        .or_else(of_rpm)
}

/// Returns `true` if the contents of a file differ from those that its package installed. Only dpkg and rpm are asked.
pub(crate) fn is_altered(path: &str) -> bool {
    let paths = paths_of(path);
    let output = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let made = command.env("LC_ALL", "C").args(arguments).arg(path).output().ok()?;
        Some(String::from_utf8_lossy(&made.stdout).into_owned())
    };
    match listed(Path::new(DPKG_LISTS), &paths) {
        Some(Some(package)) => {
            let name = package.trim_start_matches("package ");
            let sums = regular::text(format!("{DPKG_LISTS}/{name}.md5sums")).unwrap_or_default();
            let expected = paths.iter().find_map(|path| sum_of(&sums, path));
            let found = output("md5sum", &[]);
            let found = found.as_deref().and_then(|line| line.split_whitespace().next());
            expected.is_some_and(|expected| found.is_some_and(|found| found != expected))
        }
        Some(None) => false,
        None => output("rpm", &["-V", "--nodeps", "-f"]).is_some_and(|answer| is_in_answer(&answer, &paths)),
    }
}

/// Returns the checksum of a file in the list of a package of dpkg.
fn sum_of<'a>(sums: &'a str, path: &Path) -> Option<&'a str> {
    let name = relative(path)?;
    let mut lines = sums.lines().filter_map(|line| line.split_once("  "));
    lines.find(|(_, file)| *file == name).map(|(sum, _)| sum)
}

/// Returns `true` if the answer of `rpm -V` reports other contents of one of the paths.
fn is_in_answer(answer: &str, paths: &[PathBuf]) -> bool {
    let is_one = |line: &str| paths.iter().any(|path| line.ends_with(&format!(" {}", path.display())));
    answer.lines().any(|line| line.get(2..3) == Some("5") && is_one(line))
}

/// Folder in which pacman has a folder for each package, and the file of apk that describes all packages.
const PACMAN_LISTS: &str = "/var/lib/pacman/local";
const APK_LIST: &str = "/lib/apk/db/installed";

/// Returns the name of the package of pacman that contains one of the paths.
fn in_pacman(folder: &Path, paths: &[PathBuf]) -> Option<String> {
    let names: Vec<String> = paths.iter().filter_map(|path| relative(path)).collect();
    let mut folders = fs::read_dir(folder).ok()?.flatten();
    let has_one = |list: &str| list.lines().any(|line| names.iter().any(|name| name == line));
    let package = folders.find(|entry| regular::text(entry.path().join("files")).is_ok_and(|list| has_one(&list)))?;
    without_version(&package.file_name().to_string_lossy())
}

/// Returns the name of the package of apk that contains one of the paths.
fn in_apk(list: &Path, paths: &[PathBuf]) -> Option<String> {
    let names: Vec<String> = paths.iter().filter_map(|path| relative(path)).collect();
    let (mut package, mut folder) = (String::new(), String::new());
    for line in regular::text(list).ok()?.lines() {
        match line.split_once(':') {
            Some(("P", name)) => package = name.into(),
            Some(("F", name)) => folder = name.into(),
            Some(("R", name)) if names.contains(&format!("{folder}/{name}")) => return Some(package),
            _ => {}
        }
    }
    None
}

/// Returns an absolute path without its first slash.
fn relative(path: &Path) -> Option<String> {
    Some(path.to_str()?.strip_prefix('/')?.into())
}

/// Returns the name of a package in a text that also has the version and the release.
pub(crate) fn without_version(package: &str) -> Option<String> {
    package.rsplitn(3, '-').nth(2).map(String::from)
}

/// Returns the paths under which a package manager may list a file, without duplicates.
fn paths_of(path: &str) -> Vec<PathBuf> {
    // A broken link belongs to a package too, so only its folder is resolved.
    let of_link = || {
        Some(
            fs::canonicalize(Path::new(path).parent()?)
                .ok()?
                .join(Path::new(path).file_name()?),
        )
    };
    let real = fs::canonicalize(path)
        .ok()
        .or_else(of_link)
        .unwrap_or_else(|| path.into());
    // On systems with a merged `/usr`, a file has two paths, and dpkg lists only one of them.
    let without_usr = real.strip_prefix("/usr").ok().map(|rest| Path::new("/").join(rest));
    let mut paths = vec![real.clone()];
    paths.extend(without_usr);
    if real != Path::new(path) {
        paths.push(path.into());
    }
    paths
}

/// Returns the first package whose list in `folder` has one of the paths. Returns `None` if the lists are missing or have an unknown
/// format. Reading the lists is ten times as fast as `dpkg-query`, which also reads the descriptions of all packages.
fn listed(folder: &Path, paths: &[PathBuf]) -> Option<Option<String>> {
    if regular::read(folder.join("format")).ok()?.trim_ascii() != b"1" {
        return None;
    }
    let lists: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension() == Some(OsStr::new("list")))
        .collect();
    let lines: Vec<Vec<u8>> = paths
        .iter()
        .map(|path| [b"\n", path.as_os_str().as_bytes(), b"\n"].concat())
        .collect();
    // The first line of a package's list is the root folder.
    let has_one =
        |file: &&PathBuf| regular::read(file).is_ok_and(|list| lines.iter().any(|line| contains(&list, line)));
    let package = lists.iter().find(has_one).and_then(|file| file.file_stem());
    Some(package.map(|name| format!("package {}", name.display())))
}

/// Returns `true` if `part` occurs in `bytes`. Calls the C library, because a loop in a debug build would be too slow for about ten
/// megabytes of lists.
fn contains(bytes: &[u8], part: &[u8]) -> bool {
    // SAFETY: each pointer comes from a slice and is passed with the slice's length; `memmem` only reads.
    let found = unsafe { libc::memmem(bytes.as_ptr().cast(), bytes.len(), part.as_ptr().cast(), part.len()) };
    !found.is_null()
}

impl Manager {
    fn owner(&self, paths: &[PathBuf]) -> Option<String> {
        paths.iter().find_map(|path| {
            let mut command = Command::new(self.program);
            let found = command
                .env("LC_ALL", "C")
                .args(self.arguments)
                .arg(path)
                .output()
                .ok()?;
            let text = String::from_utf8_lossy(&found.stdout).into_owned();
            self.package(&text).filter(|_| found.status.success())
        })
    }

    /// Returns the package that an answer of the package manager names.
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
    fn lists_of_dpkg_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let paths = [PathBuf::from("/usr/lib/libone.so"), PathBuf::from("/lib/libone.so")];
        write("one:amd64.list", "/.\n/lib\n/lib/libone.so\n");
        assert_eq!(listed(folder.path(), &paths), None, "an unknown format");
        write("format", "2\n");
        assert_eq!(listed(folder.path(), &paths), None);
        write("format", "1\n");
        assert_eq!(listed(folder.path(), &paths), Some(Some("package one:amd64".into())));
        write("one:amd64.list", "/.\n/lib/libone.so.1\n/usr/lib/libone.s\n");
        write("one:amd64.md5sums", "/lib/libone.so\n");
        assert_eq!(listed(folder.path(), &paths), Some(None));
    }

    #[test]
    fn lists_and_dpkg_query_give_the_same_package() {
        let folder = Path::new(DPKG_LISTS);
        for path in ["/bin/sh", "/usr/bin/env", "/etc/os-release", "/nowhere/libnone.so"] {
            let paths = paths_of(path);
            let Some(listed) = listed(folder, &paths) else {
                return steady::skip("dpkg is not the package manager here");
            };
            assert_eq!(listed, MANAGERS[0].owner(&paths), "{path}");
        }
    }

    #[test]
    fn each_path_of_a_file_is_asked_for_once() {
        let own = std::env::current_exe().unwrap();
        let own = own.to_str().unwrap();
        let mut paths = paths_of(own);
        paths.sort();
        paths.dedup();
        assert_eq!(paths, paths_of(own));
        assert_eq!(
            paths_of("/usr/nowhere"),
            ["/usr/nowhere", "/nowhere"].map(PathBuf::from)
        );
    }

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

    #[test]
    fn package_managers_report_altered_files() {
        let sums = "0123  usr/lib/libone.so\n4567  lib/libtwo.so\n";
        assert_eq!(sum_of(sums, Path::new("/lib/libtwo.so")), Some("4567"));
        assert_eq!(sum_of(sums, Path::new("/lib/libone.so")), None);
        let answer = ".......T.  c /etc/one\nS.5....T.    /usr/lib64/libone.so\n.......T.    /usr/lib64/libtwo.so\n";
        assert!(is_in_answer(answer, &["/usr/lib64/libone.so".into()]));
        assert!(!is_in_answer(answer, &["/usr/lib64/libtwo.so".into()]));
        assert!(!is_altered("/nowhere/libnone.so"));
    }

    #[test]
    fn deleted_files_belong_to_the_packages_that_list_them() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        };
        let owner = |path: &str| owner_of_lost(root.path(), &[path.into()]);
        write(
            "lib/apk/db/installed",
            "P:a\nF:usr/lib\nR:libo.so\n\nP:mesa-vulkan-ati\nF:usr/lib\nR:libone.so\n",
        );
        assert_eq!(owner("/usr/lib/libone.so").as_deref(), Some("mesa-vulkan-ati"));
        write(
            "var/lib/pacman/local/vulkan-radeon-1:24.1-1/files",
            "%FILES%\nusr/lib/libone.so\n",
        );
        assert_eq!(owner("/usr/lib/libone.so").as_deref(), Some("vulkan-radeon"));
        write("var/lib/dpkg/info/format", "1\n");
        write(
            "var/lib/dpkg/info/mesa-vulkan-drivers:amd64.list",
            "/.\n/usr/lib/libone.so\n",
        );
        assert_eq!(owner("/lib/libone.so").as_deref(), Some("mesa-vulkan-drivers:amd64"));
        assert_eq!(owner("/usr/lib/libtwo.so"), None);
    }
}
