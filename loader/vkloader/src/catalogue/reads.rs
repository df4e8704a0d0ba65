//! Finds the files that drivers read while they answer, as far as these files are known (docs/catalogue.md).

use super::identify;
use std::collections::BTreeSet;
use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// Ends of the paths of profiles, as the library files of Mesa's drivers contain them. The first path is a folder in which packages install
/// profiles, and the second path is the administrator's file.
const PROFILES: [&[u8]; 2] = [b"/drirc.d\0", b"/drirc\0"];

/// Files that NVIDIA's driver reads. The name of one further file contains the version of the driver.
const NVIDIA: [&str; 3] = [
    "/usr/share/nvidia/nvidia-application-profiles-rc",
    "/etc/nvidia/nvidia-application-profiles-rc",
    "/etc/nvidia/nvidia-application-profiles-rc.d",
];

/// Folder with the settings of AMDVLK, AMD's own driver.
const AMDVLK: &str = "/etc/amd";

/// File with the names of AMD's cards. All drivers for these cards read the file through the library [`READER_OF_NAMES`].
const AMD_NAMES: &str = "/usr/share/libdrm/amdgpu.ids";

/// Start of the name of the library that reads the names of AMD's cards.
const READER_OF_NAMES: &str = "libdrm_amdgpu.so";

/// End of the path of [`AMD_NAMES`] in the library [`READER_OF_NAMES`]. The rest of the path is the installation prefix with which the
/// library was built.
const END_OF_NAMES: &[u8] = b"/amdgpu.ids\0";

/// Returns `true` if a library is known to read files for the drivers that need it.
pub(super) fn is_reader(library: &Path) -> bool {
    let name = library.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(READER_OF_NAMES.as_bytes())
}

/// Returns the files that a driver's library reads, the folders in which it lists files, and paths of missing files that it would read.
/// `library` is the driver's library, or a library for which [`is_reader`] returns `true`. Skips files of images, whose times do not show
/// changes, because programs could not notice a change. Such files change only together with the image.
pub(super) fn of(library: &Path) -> BTreeSet<PathBuf> {
    let real = fs::canonicalize(library).unwrap_or_default();
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let mut named = match () {
        () if name.contains("_nvidia.so") => of_nvidia(&name),
        () if name.starts_with("amdvlk") => BTreeSet::from([AMDVLK.into()]),
        // Opening a pipe would block, and a device may have no end.
        () if !real.is_file() => BTreeSet::new(),
        () if is_reader(library) => paths_in(&fs::read(&real).unwrap_or_default(), &[END_OF_NAMES]),
        () => profiles(&fs::read(&real).unwrap_or_default()),
    };
    if name.starts_with("amdvlk") || name.contains("_radeon.so") {
        named.insert(AMD_NAMES.into());
    }
    let mut all = with_entries(named);
    all.retain(|path| identify::state(path).is_none_or(|found| !identify::is_of_image(path, &found)));
    all
}

fn of_nvidia(name: &str) -> BTreeSet<PathBuf> {
    let version = name.split_once(".so.").map(|(_, version)| version);
    let own = version.map(|version| format!("/usr/share/nvidia/nvidia-application-profiles-{version}-rc").into());
    NVIDIA.into_iter().map(PathBuf::from).chain(own).collect()
}

/// Adds the entries of all folders among the paths.
pub(crate) fn with_entries(mut paths: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    for folder in paths.clone() {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        paths.extend(entries.map(|entry| entry.path()));
    }
    paths
}

/// Returns the absolute paths of profiles in the content of a driver's file.
pub(crate) fn profiles(driver: &[u8]) -> BTreeSet<PathBuf> {
    paths_in(driver, &PROFILES)
}

/// Returns the absolute paths in the content of a library that end in one of the texts in `ends`.
fn paths_in(library: &[u8], ends: &[&[u8]]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut rest = library;
    // A library has many millions of bytes, so the search for the next slash uses the search of the standard library.
    while rest.skip_until(b'/').is_ok_and(|skipped| skipped > 0) {
        let place = library.len() - rest.len() - 1;
        let Some(end) = ends.iter().find(|end| library[place..].starts_with(end)) else {
            continue;
        };
        let stop = place + end.len() - 1;
        let is_text = |byte: &&u8| byte.is_ascii_graphic();
        let length = library[..stop].iter().rev().take_while(is_text).count();
        let path = String::from_utf8_lossy(&library[stop - length..stop]);
        if path.starts_with('/') {
            found.insert(path.into_owned().into());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drv_271_profiles_are_those_that_a_driver_names() {
        let driver = b"x\0/opt/mesa/share/drirc.d\0%s/.drirc\0/opt/mesa/etc/drirc\0drirc.d\0more/drirc\0";
        let paths: Vec<PathBuf> = profiles(driver).into_iter().collect();
        assert_eq!(
            paths,
            ["/opt/mesa/etc/drirc", "/opt/mesa/share/drirc.d"].map(PathBuf::from)
        );
        let own = of_nvidia("libGLX_nvidia.so.580.1");
        assert!(
            own.contains(Path::new("/usr/share/nvidia/nvidia-application-profiles-580.1-rc")),
            "{own:?}"
        );
    }

    /// Returns the words that begin with a slash in the file `file` of the folder `packaging`.
    fn paths_in(file: &str) -> Vec<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(file);
        let text = fs::read_to_string(path).expect("a file of packages");
        let text = text
            .replace("%{_datadir}", "/usr/share")
            .replace("%{_sysconfdir}", "/etc");
        let words = text.split(|letter: char| letter.is_whitespace() || letter == '=');
        words.filter(|word| word.starts_with('/')).map(str::to_owned).collect()
    }

    #[test]
    fn units_and_triggers_have_the_files_of_drivers() {
        let mesa = profiles(b"\0/usr/share/drirc.d\0/etc/drirc\0");
        let others = [AMDVLK, AMD_NAMES].map(PathBuf::from);
        let all: Vec<PathBuf> = of_nvidia("libGLX_nvidia.so.1")
            .into_iter()
            .chain(mesa)
            .chain(others)
            .collect();
        // For each path in the unit, systemd notices changes at the path itself, and in a folder at the path, but not in subfolders.
        let watched = paths_in("systemd/vulkan-loader-catalogue.path.in");
        let is_watched = |path: &&PathBuf| {
            let is_at = |place: Option<&Path>| watched.iter().any(|one| Some(Path::new(one)) == place);
            is_at(Some(path)) || is_at(path.parent())
        };
        assert_eq!(all.iter().find(|path| !is_watched(path)), None, "{watched:?}");
        // Triggers of packages include everything below a path. The spec file of rpm has each path twice: in a trigger for installed files,
        // and in a trigger for removed files.
        for (file, times) in [("debian/vkloader.triggers", 1), ("rpm/vulkan-loader-rs.spec.in", 2)] {
            let places = paths_in(file);
            let count = |path: &Path| places.iter().filter(|place| path.starts_with(place)).count();
            assert_eq!(all.iter().find(|path| count(path) != times), None, "{file}: {places:?}");
        }
    }

    #[test]
    fn the_reader_of_names_says_where_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("libdrm_amdgpu.so.1");
        fs::write(
            &library,
            b"x\0/opt/amdgpu/share/libdrm/amdgpu.ids\0amdgpu.ids\0/drirc\0",
        )
        .expect("a file");
        assert!(is_reader(&library) && !is_reader(Path::new("/usr/lib/libdrm.so.2")));
        let found: Vec<PathBuf> = of(&library).into_iter().collect();
        assert_eq!(found, [Path::new("/opt/amdgpu/share/libdrm/amdgpu.ids")]);
    }

    #[test]
    fn a_device_without_an_end_is_not_read() {
        assert_eq!(of(Path::new("/dev/zero")), BTreeSet::new());
    }

    #[test]
    fn a_folder_is_one_of_the_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let below = folder.path().join("share/drirc.d");
        fs::create_dir_all(&below).expect("folders");
        fs::write(below.join("a.conf"), "").expect("a file");
        let (place, missing) = (below.display(), folder.path().join("etc/drirc"));
        let library = folder.path().join("libvulkan_x.so");
        fs::write(&library, format!("\0{place}\0{}\0", missing.display())).expect("a file");
        let found: Vec<PathBuf> = of(&library).into_iter().collect();
        assert_eq!(found, [missing, below.clone(), below.join("a.conf")]);
    }
}
