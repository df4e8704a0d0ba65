//! Who put a file there.

use std::path::Path;
use std::process::Command;

/// The package that a file belongs to, in the words of the package manager; `None` where none knows it.
pub(crate) fn owner(path: &str) -> Option<String> {
    let real = std::fs::canonicalize(path).ok();
    let real = real.as_deref().unwrap_or(Path::new(path));
    // A merged /usr lets one file have two paths, and dpkg knows one of them.
    let without_usr = real.strip_prefix("/usr").ok().map(|rest| Path::new("/").join(rest));
    let candidates = [Some(real.to_path_buf()), without_usr, Some(path.into())];
    candidates
        .into_iter()
        .flatten()
        .find_map(|path| by_dpkg(&path).or_else(|| by_rpm(&path)))
}

fn by_dpkg(path: &Path) -> Option<String> {
    let found = Command::new("dpkg-query").arg("-S").arg(path).output().ok()?;
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    let (packages, _) = text.lines().next()?.split_once(": ")?;
    Some(format!("package {packages}"))
}

fn by_rpm(path: &Path) -> Option<String> {
    let found = Command::new("rpm").arg("-qf").arg(path).output().ok()?;
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    let name = text.lines().next()?.trim();
    (found.status.success() && !name.is_empty()).then(|| format!("package {name}"))
}
