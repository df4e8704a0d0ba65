//! The option `--check FOLDER`, which reports whether the service could use a package (LSV-32). The option needs no running service.

use crate::drivers::Handed;
use crate::library::HandOut;
use crate::memory::Memory;
use crate::package::{Fault, Folder, Owner, Published, class_of};
use crate::reader::Reader;
use std::path::Path;

/// Reads the package in a folder in the same way as the service. Returns the facts to print: the package, its libraries, and the manifest
/// that the service would publish for the first instance of the package.
///
/// # Errors
/// Returns the fault of the package.
pub fn check(folder: &Path, owner: Owner, hand_out: HandOut) -> Result<String, Fault> {
    let reader = Reader {
        roots: Vec::new(),
        owner,
        hand_out,
        memory: Memory::default(),
    };
    let name = folder.canonicalize().map_err(|error| Fault::io(".", error))?;
    let name = name
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if !crate::package::is_name(&name) {
        return Err(Fault::Name(name));
    }
    if let Some(root) = folder.canonicalize().ok().as_deref().and_then(Path::parent) {
        Folder::named(root, owner, "..")?;
    }
    let folder = Folder::named(folder, owner, ".")?;
    let class = class_of(&name);
    let (package, _) = reader.read_folder(&folder, class, &mut |_| {})?;
    let published = package.manifest.published(0);
    let bits = class.bits();
    let mut lines = format!("package   {name}\n");
    for Handed { about, library } in &package.libraries {
        let handed_out = if library.is_copy() {
            "copy in memory"
        } else {
            "file itself"
        };
        lines += &format!(
            "library   {}\nsize      {}\nsha256    {}\nclass     {bits} bits, machine {}\nhanded    {handed_out}\n",
            about.path.as_str(),
            library.size,
            library.sha256,
            library.header.machine,
        );
    }
    let Published { key, name, contents } = published;
    Ok(lines + &format!("key       {key}\nmanifest  {name}\n{contents}\n"))
}
