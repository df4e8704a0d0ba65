//! Reads a package, which is found by its name, and prepares its files for clients.

use crate::drivers::{Handed, Loaded};
use crate::library::{HandOut, Library};
use crate::memory::Memory;
use crate::package::{Class, Described, Fault, File, Folder, Manifest, Metadata, Owner, Stamp, class_of, is_name};
use std::path::{Path, PathBuf};

/// A package that was read, and the state of its files. A later check compares this state to find out that the package has changed.
pub type Read = (Box<Loaded<Library>>, Stamps);

/// The state of all files of a package.
#[derive(Clone, Debug)]
pub struct Stamps {
    folder: (u64, u64),
    files: Vec<Stamp>,
}

impl Stamps {
    /// Returns `true` if both are stamps of the same package with the same content.
    pub fn are_same(&self, other: &Self) -> bool {
        let mut pairs = self.files.iter().zip(&other.files);
        (self.folder, self.files.len()) == (other.folder, other.files.len())
            && pairs.all(|(one, other)| one.is_same(other))
    }
}

/// A reader of packages.
#[derive(Clone, Debug)]
pub struct Reader {
    /// The folders with packages, in the order in which the reader searches them.
    pub roots: Vec<PathBuf>,
    /// The user whose packages the reader trusts.
    pub owner: Owner,
    /// Method by which the service sends libraries to clients.
    pub hand_out: HandOut,
    /// The total size of library copies, which the reader updates.
    pub memory: Memory,
}

/// The open files of a package.
struct Files {
    manifest: Manifest,
    libraries: Vec<(Described, File)>,
    stamp: Stamps,
    /// `true` if only root can replace the library and the folders above it.
    is_safe: bool,
}

impl Reader {
    /// Reads a package. Calls `visit` with each folder that must be watched for changes, before it opens a file in that folder.
    ///
    /// # Errors
    /// Returns the fault of the package.
    pub fn read(&self, name: &str, visit: &mut dyn FnMut(&Path)) -> Result<Read, Fault> {
        let folder = self.folder(name, visit)?;
        self.read_folder(&folder, class_of(name), visit)
    }

    /// Reads the package in a folder, which must be for programs of a class. Unlike [`Reader::read`], does not check the folder's name.
    ///
    /// # Errors
    /// Returns the fault of the package.
    pub fn read_folder(&self, folder: &Folder, class: Class, visit: &mut dyn FnMut(&Path)) -> Result<Read, Fault> {
        let files = open(folder, visit)?;
        let mut libraries = Vec::new();
        for (about, file) in files.libraries {
            let library = self.library(file, files.is_safe)?;
            let own = library.header.form.class;
            if own != class {
                let file = about.path.as_str().to_owned();
                return Err(Fault::Class { file, class: own });
            }
            libraries.push(Handed { about, library });
        }
        let loaded = Box::new(Loaded {
            manifest: files.manifest,
            libraries,
        });
        Ok((loaded, files.stamp))
    }

    fn library(&self, file: File, is_safe: bool) -> Result<Library, Fault> {
        let may_be_file = is_safe && file.may_be_executed();
        let copied = match self.hand_out {
            HandOut::File if may_be_file => Err(Fault::NoExecutableMemory),
            _ => Library::copy(&file, &self.memory),
        };
        match copied {
            Err(Fault::NoExecutableMemory) if may_be_file => Library::itself(file, &self.memory),
            copied => copied,
        }
    }

    /// Returns the state of a package's files; `None` if the folder is no longer a package.
    pub fn stamp(&self, name: &str) -> Option<Stamps> {
        let folder = self.folder(name, &mut |_| {}).ok()?;
        Some(open(&folder, &mut |_| {}).ok()?.stamp)
    }

    /// Returns the folder of a package, from the first root that contains the package. A root folder that users other than `owner` can
    /// change is treated as empty.
    fn folder(&self, name: &str, visit: &mut dyn FnMut(&Path)) -> Result<Folder, Fault> {
        if !is_name(name) {
            return Err(Fault::Name(name.to_owned()));
        }
        let mut reason = Fault::Absent;
        for root in &self.roots {
            let found = Folder::named(root, self.owner, "..").and_then(|root| root.package(name));
            match found {
                Ok(folder) => {
                    visit(folder.path());
                    return Ok(folder);
                }
                Err(Fault::Absent | Fault::Io { .. }) if is_missing(&root.join(name)) => {}
                Err(fault @ Fault::Writable { .. }) => reason = fault,
                Err(fault) => return Err(fault),
            }
        }
        Err(reason)
    }
}

fn is_missing(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err()
}

fn open(folder: &Folder, visit: &mut dyn FnMut(&Path)) -> Result<Files, Fault> {
    // Packages have two layouts. In one layout, the description is part of the contents, and the folder has no subfolder `metadata`.
    let is_two_folders = !folder.is_absent("metadata");
    let path = if is_two_folders {
        "metadata/metadata.json"
    } else {
        "meta/metadata/metadata.json"
    };
    let description = folder.file(path, visit)?;
    let metadata = Metadata::read(&text(&description)?, &description.shown)?;
    let contents = if is_two_folders {
        let contents = folder.folder("contents")?;
        visit(contents.path());
        Some(contents)
    } else {
        None
    };
    let contents = contents.as_ref().unwrap_or(folder);
    let manifest_file = contents.file(metadata.manifest.as_str(), visit)?;
    let manifest = Manifest::read(&text(&manifest_file)?, &manifest_file.shown)?;
    let mut stamps = vec![description.stamp(), manifest_file.stamp()];
    let mut libraries = Vec::new();
    for about in metadata.libraries {
        let file = contents.file(about.path.as_str(), visit)?;
        stamps.push(file.stamp());
        libraries.push((about, file));
    }
    Ok(Files {
        stamp: Stamps {
            folder: folder.identity(),
            files: stamps,
        },
        manifest,
        libraries,
        is_safe: folder.is_safe_up_to_root(),
    })
}

/// Returns the complete content of a short file.
fn text(file: &File) -> Result<Vec<u8>, Fault> {
    let most = wire::MOST_IN_MANIFEST;
    // Reading one byte more than the size detects a file that has grown.
    let mut bytes = vec![0; most + 1];
    let mut length = 0;
    while length < bytes.len() {
        let count = rustix::io::retry_on_intr(|| rustix::io::pread(&file.fd, &mut bytes[length..], length as u64));
        match count.map_err(|error| Fault::io(&*file.shown, error))? {
            0 => break,
            count => length += count,
        }
    }
    if length > most || file.size() > most as u64 {
        return Err(Fault::TooLarge {
            file: file.shown.clone(),
            size: file.size(),
            most: most as u64,
        });
    }
    bytes.truncate(length);
    Ok(bytes)
}
