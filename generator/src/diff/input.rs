//! Reads the two registries of a comparison.

use super::view::Side;
use crate::error::Error;
use crate::input;
use std::path::{Path, PathBuf};
use std::process::Command;
use vk_registry::model::HeaderVersion;

/// Reads the registry that the user names: a folder with a snapshot or with `vk.xml`, an XML file, or a header version. A header version is
/// fetched into `xml_folder`, like the pinned header.
pub fn side(operand: impl AsRef<Path>, xml_folder: &Path) -> Result<Side, Error> {
    let path = operand.as_ref();
    let version = path.to_str().filter(|text| HeaderVersion::parse(text).is_some());
    let (registry, unknown) = if path.is_dir() && !path.join("vk.xml").is_file() {
        (input::snapshot(path)?.0, Vec::new())
    } else if let Some(version) = version.filter(|_| !path.exists()) {
        from_xml(&fetched(version, xml_folder)?)?
    } else if path.is_dir() {
        from_xml(&path.join("vk.xml"))?
    } else {
        from_xml(path)?
    };
    Ok(Side { registry, unknown })
}

/// Reads a registry, and the video registry beside it if that file exists.
fn from_xml(vk: &Path) -> Result<(vk_registry::model::Registry, Vec<vk_registry::Diagnostic>), Error> {
    let video = vk.with_file_name("video.xml");
    let is_pair = video.is_file() && vk.file_name().is_some_and(|name| name == "vk.xml");
    input::xml_tolerant(vk, is_pair.then_some(video.as_path()))
}

/// Returns the path of a header's `vk.xml`. If the file is absent, the script `fetch.sh` fetches it first.
fn fetched(header: &str, xml_folder: &Path) -> Result<PathBuf, Error> {
    let vk = xml_folder.join(header).join("vk.xml");
    if vk.is_file() {
        return Ok(vk);
    }
    let script = xml_folder.with_file_name("fetch.sh");
    let fail = |text: String| Error::File(script.clone(), format!("cannot fetch header {header}: {text}"));
    // The script's standard output goes to standard error, because it would otherwise mix with the report.
    let output = Command::new(&script)
        .arg(header)
        .output()
        .map_err(|error| fail(error.to_string()))?;
    if output.status.success() && vk.is_file() {
        Ok(vk)
    } else {
        Err(fail(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}
