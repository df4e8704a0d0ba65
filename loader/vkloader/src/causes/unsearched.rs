//! Finds installed driver manifests that the loader does not find, because a variable removes their folder from the search, or because their names
//! lack the ending of manifests.

use rustix::fs::{Access, access};
use rustix::io::Errno;
use std::fs;
use std::path::Path;

/// Data folders in which systems keep manifests. `XDG_DATA_DIRS` replaces them.
const USUAL: [&str; 3] = ["/usr/local/share", "/usr/share", "/run/opengl-driver/share"];
/// Folder of driver manifests in each data folder.
const BELOW: &str = "vulkan/icd.d";
/// Ending of the names of manifests.
const ENDING: &str = ".json";

/// Manifests that the loader does not find.
pub(super) struct Unsearched {
    pub(super) finding: String,
    pub(super) advice: String,
}

/// Finds manifests below `root`. `searched` lists the folders that were searched.
pub(super) fn find(root: &Path, searched: &[&str]) -> Vec<Unsearched> {
    let elsewhere = USUAL.iter().filter_map(|usual| of_usual(root, usual, searched));
    let misnamed = searched.iter().filter_map(|folder| misnamed(Path::new(folder)));
    misnamed.chain(elsewhere).collect()
}

/// Returns `true` if this user may not read a folder that is there. Below the home folder of another user, nothing may be there.
pub(super) fn is_closed(folder: &Path) -> bool {
    access(folder, Access::READ_OK | Access::EXEC_OK) == Err(Errno::ACCESS) && fs::symlink_metadata(folder).is_ok()
}

fn of_usual(root: &Path, usual: &str, searched: &[&str]) -> Option<Unsearched> {
    let place = format!("{usual}/{BELOW}");
    if searched.iter().any(|folder| Path::new(folder) == Path::new(&place)) {
        return None;
    }
    let folder = root.join(place.trim_start_matches('/'));
    let names = names(&folder);
    let manifests: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| name.ends_with(ENDING))
        .collect();
    (!manifests.is_empty()).then(|| Unsearched {
        finding: format!("{place} is not searched, and has {}", manifests.join(", ")),
        advice: format!("Add {usual} to XDG_DATA_DIRS, which replaces the usual folders, or: unset XDG_DATA_DIRS"),
    })
}

/// Returns a file whose name has text after the ending of a manifest, such as a copy that a package manager left.
fn misnamed(folder: &Path) -> Option<Unsearched> {
    let name = names(folder)
        .into_iter()
        .find(|name| name.contains(ENDING) && !name.ends_with(ENDING))?;
    let path = folder.join(&name).display().to_string();
    let right = path.find(ENDING).map_or("", |at| &path[..at + ENDING.len()]).to_owned();
    Some(Unsearched {
        finding: format!("{path} does not count, as its name does not end in {ENDING}"),
        advice: format!("If it is the driver that you want: mv {path} {right}"),
    })
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_in_a_usual_folder_that_is_not_searched_are_named() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("usr/share/vulkan/icd.d");
        fs::create_dir_all(&folder).expect("folders");
        assert!(find(root.path(), &[]).is_empty());
        fs::write(folder.join("lvp.json"), "").expect("a file");
        let found = find(root.path(), &["/snap/share/vulkan/icd.d"]);
        assert_eq!(
            found[0].finding,
            "/usr/share/vulkan/icd.d is not searched, and has lvp.json"
        );
        assert!(found[0].advice.ends_with("unset XDG_DATA_DIRS"));
        assert!(find(root.path(), &["/usr/share/vulkan/icd.d"]).is_empty());
    }
}
