//! The command `package LIBRARY MANIFEST OUT`, which creates a package of an installed driver.

use crate::failure::Failure;
use crate::package::{Class, Described, Fault, InnerPath, Manifest, Metadata, class_of, library_header};
use elf::{Header, START_BYTES};
use linked::Identity;
use rustix::fs::{CWD, RenameFlags};
use serde_json::json;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Name of the manifest in a package.
const MANIFEST: &str = "manifest.json";
/// The folder in a package for the libraries that the driver needs.
const NEEDS: &str = "needs";
/// Paths of the files in a package that describe the package.
const DESCRIPTIONS: [&str; 2] = ["metadata/metadata.json", "meta/metadata/metadata.json"];

/// Creates a package of the driver `library` in the folder `out`. The complete folder appears in one step, so a service that watches the
/// folder of packages never sees an incomplete package. When a package is replaced, the old package is complete until that step. `more` is
/// a further member of `metadata.json`.
///
/// # Errors
/// Returns the fault, with the file.
pub fn make(
    library: &Path,
    manifest: &Path,
    out: &Path,
    replace: bool,
    more: Option<(&str, &str)>,
) -> Result<(), Failure> {
    let is_there = fs::symlink_metadata(out).is_ok();
    if is_there && !replace {
        return Err(Failure::at(out)("it exists already; --replace replaces it"));
    }
    if is_there && !DESCRIPTIONS.iter().any(|description| out.join(description).is_file()) {
        return Err(Failure::at(out)("it is not a package, and is not replaced"));
    }
    let text = fs::read(manifest).map_err(Failure::at(manifest))?;
    let own = class_of(&out.file_name().unwrap_or_default().to_string_lossy());
    let found = if library.components().count() != 1 || library.exists() {
        library.to_owned()
    } else {
        installed(library, own)?
    };
    let class = header(&found)?.form.class;
    if class != own {
        let file = found.to_string_lossy().into_owned();
        return Err(Fault::Class { file, class }.into());
    }
    let described = Manifest::read(&text, &manifest.to_string_lossy())?;
    if let Some(class) = class_in(&described, manifest)
        && class != own
    {
        let (bits, found) = (class.bits(), found.display());
        return Err(Failure::at(manifest)(format!(
            "it is for {bits}-bit programs, and {found} is not"
        )));
    }
    let name = library.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Fault::Key(library.to_string_lossy().into_owned()))?;
    if let Some(folder) = out.parent() {
        fs::create_dir_all(folder).map_err(Failure::at(folder))?;
    }
    let made = beside(out);
    let put = || {
        if is_there {
            let exchanged = rustix::fs::renameat_with(CWD, &made, CWD, out, RenameFlags::EXCHANGE);
            exchanged.map_err(Failure::at(out))?;
            return fs::remove_dir_all(&made).map_err(Failure::at(&made));
        }
        fs::rename(&made, out).map_err(Failure::at(out))
    };
    let result = fill(&made, name, &found, &text, more).and_then(|()| put());
    if result.is_err() {
        // An incomplete package is useless. The caller receives the first error instead of an error of this removal.
        let _ = fs::remove_dir_all(&made);
    }
    result
}

/// Returns an unused path in the folder that contains `out`. The path's name is not valid for a package, so a service ignores the path.
fn beside(out: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(out.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    out.with_file_name(name)
}

fn fill(folder: &Path, name: &str, library: &Path, manifest: &[u8], more: Option<(&str, &str)>) -> Result<(), Failure> {
    let (contents, metadata) = (folder.join("contents"), folder.join("metadata"));
    for path in [folder, &contents, &contents.join(NEEDS), &metadata] {
        fs::DirBuilder::new()
            .mode(0o755)
            .create(path)
            .map_err(Failure::at(path))?;
        // The permissions must not depend on the umask of this process.
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).map_err(Failure::at(path))?;
    }
    put(library, &contents.join(name))?;
    let mut needs = Vec::new();
    for (file, need) in needs_of(library) {
        put(&file, &contents.join(need.path.as_str()))?;
        needs.push(need);
    }
    let mut description = json!({
        "version": Metadata::VERSION,
        "file_path": name,
        "manifest_path": MANIFEST,
        "c_library": c_library(library),
        "needs": needs,
    });
    if let Some((key, value)) = more {
        description[key] = value.into();
    }
    let place = metadata.join("metadata.json");
    for (path, bytes) in [
        (contents.join(MANIFEST), manifest),
        (place, format!("{description}\n").as_bytes()),
    ] {
        io::Write::write_all(&mut create(&path)?, bytes).map_err(Failure::at(&path))?;
    }
    Ok(())
}

/// Returns the libraries that a driver needs, and their descriptions. Skips the C library, and libraries whose names are too long for a
/// key.
fn needs_of(library: &Path) -> Vec<(PathBuf, Described)> {
    let needs = linked::needs_in_order(library).into_iter();
    let described = needs.filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        let real = fs::canonicalize(&path).ok()?;
        let need = Described {
            path: InnerPath::try_from(format!("{NEEDS}/{}", real.file_name()?.to_str()?)).ok()?,
            symbols: symbols(&real).unwrap_or_default(),
            c_library: c_library(&real),
            name,
        };
        need.is_need().then_some((real, need))
    });
    described.collect()
}

/// Returns the oldest version of the C library that a library works with; empty if the library states no version.
fn c_library(library: &Path) -> String {
    let needs = linked::read(library).unwrap_or_default();
    needs.c_library.unwrap_or_default()
}

/// Returns the number of symbols that a library exports.
fn symbols(library: &Path) -> Option<u64> {
    let file = fs::File::open(library).ok()?;
    wire::exported_symbols(|place, room| file.read_exact_at(room, place).is_ok())
}

/// Adds a file to a package: as a hard link if only this user can change the file, otherwise as a copy. Does nothing if `place` already
/// exists, because two needed libraries may be the same file.
fn put(file: &Path, place: &Path) -> Result<(), Failure> {
    let file = &fs::canonicalize(file).map_err(Failure::at(file))?;
    let state = fs::metadata(file).map_err(Failure::at(file))?;
    let is_own = state.uid() == rustix::process::geteuid().as_raw() && state.mode() & 0o7777 == 0o644;
    if place.exists() || is_own && fs::hard_link(file, place).is_ok() {
        return Ok(());
    }
    let mut from = fs::File::open(file).map_err(Failure::at(file))?;
    io::copy(&mut from, &mut create(place)?).map_err(Failure::at(place))?;
    Ok(())
}

fn create(path: &Path) -> Result<fs::File, Failure> {
    let file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(path)
        .map_err(Failure::at(path))?;
    file.set_permissions(PermissionsExt::from_mode(0o644))
        .map_err(Failure::at(path))?;
    Ok(file)
}

/// Returns the ELF header of a shared library.
///
/// # Errors
/// The file cannot be read, or is not a shared library.
pub(crate) fn header(library: &Path) -> Result<Header, Failure> {
    let mut header = Vec::new();
    let file = fs::File::open(library).map_err(Failure::at(library))?;
    io::Read::read_to_end(&mut io::Read::take(file, START_BYTES as u64), &mut header).map_err(Failure::at(library))?;
    let header = library_header(&header).map_err(|wrong| Fault::Elf {
        file: library.to_string_lossy().into_owned(),
        wrong,
    })?;
    Ok(header)
}

/// Returns the word size of the programs that a manifest is for; `None` if the manifest does not show it.
fn class_in(manifest: &Manifest, path: &Path) -> Option<Class> {
    match manifest.architecture() {
        Some("32") => Some(Class::Bits32),
        Some("64") => Some(Class::Bits64),
        _ => Some(header(&path_in(manifest, path)?).ok()?.form.class),
    }
}

/// Returns the library of a manifest; `None` if the manifest has only the library's name.
fn path_in(manifest: &Manifest, path: &Path) -> Option<PathBuf> {
    let library = Path::new(manifest.library_path());
    // A relative library path starts at the manifest's folder.
    let folder = path.parent().unwrap_or(Path::new("/"));
    (library.components().count() > 1).then(|| folder.join(library))
}

/// Returns the installed libraries that a manifest is for: at most one for each word size.
///
/// # Errors
/// The manifest is invalid, or its library is not installed.
pub(crate) fn libraries(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let text = fs::read(path).map_err(Failure::at(path))?;
    let manifest = Manifest::read(&text, &path.to_string_lossy())?;
    if let Some(library) = path_in(&manifest, path) {
        return Ok(vec![library]);
    }
    let name = Path::new(manifest.library_path());
    let wanted = class_in(&manifest, path);
    let mut found: Vec<_> = [Class::Bits64, Class::Bits32]
        .into_iter()
        .filter(|class| wanted.is_none_or(|wanted| wanted == *class))
        .map(|class| installed(name, class))
        .collect();
    if found.iter().any(Result::is_ok) {
        found.retain(Result::is_ok);
    }
    found.into_iter().collect()
}

/// Finds a library for programs of a class by its name in the system's folders of libraries.
///
/// # Errors
/// No folder has a library of this name.
fn installed(library: &Path, class: Class) -> Result<PathBuf, Failure> {
    let own = Identity::of_this_process().with_class(class);
    let found = library.to_str().and_then(|name| linked::locate(name, own));
    let bits = class.bits();
    found.ok_or_else(|| {
        Failure::at(library)(format!(
            "no folder of libraries has it for {bits}-bit programs; name its path"
        ))
    })
}
