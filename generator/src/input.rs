//! Reads registries from files.

use crate::command_line::Options;
use crate::emit::Input;
use crate::error::Error;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use vk_registry::model::Registry;
use vk_registry::{Diagnostic, MAX_BYTES, Source, mentions};

/// Reads the registry from a folder's snapshot. Also returns the files of the snapshot as inputs for the manifest.
pub fn snapshot(folder: &Path) -> Result<(Registry, Vec<Input>), Error> {
    let mut files = Vec::new();
    for name in vk_registry::snapshot::FILES {
        let path = folder.join(name);
        let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, &error))?;
        files.push((name, text));
    }
    let registry = vk_registry::snapshot::read(&files)
        .map_err(|error| Error::Registry(vec![format!("{}/{error}", folder.display())]))?;
    let inputs = files.into_iter().map(|(name, text)| snapshot_input(name, text));
    Ok((registry, inputs.collect()))
}

/// Returns a file of the snapshot as an input, under its name in the manifest.
pub fn snapshot_input(name: &str, text: String) -> Input {
    Input {
        name: format!("registry/snapshot/{name}"),
        text,
    }
}

/// Reads an overlay. The name of the input does not contain the folder, so the manifest does not depend on the folder.
pub fn overlay(path: &Path) -> Result<Input, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(Input {
        name: format!("overlay/{name}"),
        text: fs::read_to_string(path).map_err(|error| Error::file(path, &error))?,
    })
}

/// Reads the registry in `vk.xml` strictly, and merges overlays into it.
pub fn xml(vk: &Path, overlays: &[PathBuf], video: &Path) -> Result<Registry, Error> {
    let (vk, video) = (XmlFile::read(vk)?, XmlFile::read(video)?);
    let overlays = overlays
        .iter()
        .map(|path| XmlFile::read(path))
        .collect::<Result<Vec<_>, _>>()?;
    let sources = overlays.iter().map(XmlFile::source).collect::<Result<Vec<_>, _>>()?;
    let registry = match sources.as_slice() {
        [] => vk_registry::load(vk.source()?, video.source()?),
        overlays => vk_registry::load_with_overlays(vk.source()?, overlays, video.source()?),
    };
    registry.map_err(|errors| refused(&errors))
}

/// Reads the registry in `vk.xml`. Also returns the constructs that no rule covers yet.
pub fn xml_tolerant(vk: &Path, video: Option<&Path>) -> Result<(Registry, Vec<Diagnostic>), Error> {
    let vk = XmlFile::read(vk)?;
    let video = video.map(XmlFile::read).transpose()?;
    let video = video.as_ref().map(XmlFile::source).transpose()?;
    vk_registry::load_tolerant(vk.source()?, video).map_err(|errors| refused(&errors))
}

/// Returns the place where the input defines a name: in the XML and its overlays, or in the snapshot.
pub fn place(options: &Options, name: &str) -> Option<String> {
    let Some((vk, _)) = &options.xml else {
        return vk_registry::snapshot::FILES.iter().find_map(|file| {
            let path = options.snapshot.join(file);
            let text = fs::read_to_string(&path).ok()?;
            let is_record = |line: &str| !line.starts_with(' ') && line.split(' ').nth(1) == Some(name);
            let index = text.lines().position(is_record)?;
            Some(format!("{}:{}:1", path.display(), index + 1))
        });
    };
    [vk].into_iter().chain(&options.overlays).find_map(|path| {
        let file = XmlFile::read(path).ok()?;
        let found = mentions(file.source().ok()?, name).ok()?;
        let mention = found.first()?;
        Some(format!("{}:{}:{}", file.name, mention.line, mention.column))
    })
}

fn refused(errors: &[Diagnostic]) -> Error {
    Error::Registry(errors.iter().map(ToString::to_string).collect())
}

/// Bytes of an XML file, and the file's name in messages.
pub struct XmlFile {
    name: String,
    bytes: Vec<u8>,
}

impl XmlFile {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        let file = fs::File::open(path);
        // One byte more than the limit is enough to refuse the file.
        file.and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
            .map_err(|error| Error::file(path, &error))?;
        let name = path.display().to_string();
        Ok(Self { name, bytes })
    }

    /// Returns the text of the file, if it is UTF-8.
    pub fn source(&self) -> Result<Source<'_>, Error> {
        Source::from_bytes(&self.name, &self.bytes).map_err(|error| Error::Registry(vec![error.to_string()]))
    }
}
