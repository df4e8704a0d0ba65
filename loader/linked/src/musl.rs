//! The file that lists the folders in which the dynamic linker of musl searches for libraries.

use std::path::{Path, PathBuf};

/// Folders that the dynamic linker of musl searches if the file that lists the linker's folders is missing.
const USUAL: &str = "/lib:/usr/local/lib:/usr/lib";

/// Returns the path of the file that lists the folders of musl's dynamic linker, and the folders that this linker searches. The file may be
/// missing. Returns `None` for another linker. `linker` is the dynamic linker that a program requests.
pub fn list_of(linker: &Path) -> Option<(PathBuf, Vec<String>)> {
    let name = linker.file_name()?.to_str()?;
    let (architecture, _) = name.strip_prefix("ld-musl-")?.split_once(".so")?;
    let path = PathBuf::from(format!("/etc/ld-musl-{architecture}.path"));
    let folders = folders_in(std::fs::read_to_string(&path).ok().as_deref());
    Some((path, folders))
}

/// Returns the folders in the content of the file that lists folders, or the folders in [`USUAL`] if the file is missing.
fn folders_in(content: Option<&str>) -> Vec<String> {
    let folders = content.unwrap_or(USUAL).split([':', '\n']);
    folders
        .filter(|folder| folder.starts_with('/'))
        .map(String::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_the_name_of_the_architecture() {
        let (path, folders) = list_of(Path::new("/lib/ld-musl-armhf.so.1")).expect("a linker of musl");
        assert_eq!(path, Path::new("/etc/ld-musl-armhf.path"));
        assert!(folders.contains(&"/usr/local/lib".into()), "{folders:?}");
        for other in ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-armhf", "/"] {
            assert!(list_of(Path::new(other)).is_none(), "{other}");
        }
        assert_eq!(folders_in(Some("/opt/lib\n/lib:x\n")), ["/opt/lib", "/lib"]);
        assert_eq!(folders_in(Some("")), [""; 0]);
    }
}
