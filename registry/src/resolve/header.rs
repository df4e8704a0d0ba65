//! Reads the header version from two macros (GEN-15).

use super::scope::Scope;
use super::types::TypeTable;
use crate::diagnostic::{Code, Reporter};
use crate::model::{HeaderVersion, Version};
use crate::parse::types::TypeBody;

const PATCH: &str = "VK_HEADER_VERSION";
const COMPLETE: &str = "VK_HEADER_VERSION_COMPLETE";

pub(super) fn read(table: &TypeTable<'_>, scope: &Scope<'_>, report: &mut Reporter<'_>) -> Option<HeaderVersion> {
    let patch = table.get(PATCH).and_then(|raw| match &raw.body {
        TypeBody::Define(text) => define(text, PATCH)?.trim().parse().ok(),
        _ => None,
    });
    let complete = table.get(COMPLETE).and_then(|raw| match &raw.body {
        TypeBody::Define(text) => Some((raw.at, version(define(text, COMPLETE)?)?)),
        _ => None,
    });
    let (Some(patch), Some((at, version))) = (patch, complete) else {
        let text = format!("no readable `{PATCH}` and `{COMPLETE}` for this API");
        report.report(0, Code::MissingHeaderVersion, text);
        return None;
    };
    if scope.highest_version() != Some(version) {
        let highest = scope
            .highest_version()
            .map_or("absent".to_owned(), |highest| highest.to_string());
        let text = format!("`{COMPLETE}` says {version}, the highest feature is {highest}");
        report.report(at, Code::VersionMismatch, text);
    }
    Some(HeaderVersion { version, patch })
}

/// Returns the value of `#define name` in a C text, without a comment after the value. The text must contain only that definition.
fn define<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .filter(|line| !line.trim().is_empty());
    let line = lines.next().filter(|_| lines.next().is_none())?;
    let value = line.trim().strip_prefix("#define")?.trim_start().strip_prefix(name)?;
    value.starts_with(char::is_whitespace).then_some(value)
}

/// Parses the text `VK_MAKE_API_VERSION(0, 1, 4, VK_HEADER_VERSION)`.
fn version(value: &str) -> Option<Version> {
    let arguments = value
        .trim()
        .strip_prefix("VK_MAKE_API_VERSION")?
        .trim()
        .strip_prefix('(')?
        .strip_suffix(')')?;
    let mut arguments = arguments.split(',').map(str::trim);
    let (variant, major, minor, patch) = (
        arguments.next()?,
        arguments.next()?,
        arguments.next()?,
        arguments.next()?,
    );
    if variant != "0" || patch != PATCH || arguments.next().is_some() {
        return None;
    }
    Some(Version {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}
