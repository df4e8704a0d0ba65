//! Reads commands and extensions from a snapshot.

use super::entry::{Entries, Entry, SnapshotError};
use crate::model::{CType, Command, Deprecation, Extension, ExtensionKind, Level, Param, Provider, Version};

pub(super) fn command(name: &str, facts: &mut Entries<'_>) -> Result<Command, SnapshotError> {
    Ok(Command {
        name: name.to_owned(),
        level: facts.required("level")?.value_by(Level::from_word)?,
        first_handle: facts.optional_text("handle")?,
        core: facts
            .optional("core")
            .map(|entry| entry.value_by(Version::parse))
            .transpose()?,
        export: flag(facts, "export")?,
        providers: facts
            .many("extension")
            .into_iter()
            .map(provider)
            .collect::<Result<_, _>>()?,
        platform: facts.optional_text("platform")?,
        alias: facts.optional_text("alias")?,
        params: facts.many("param").into_iter().map(param).collect::<Result<_, _>>()?,
        return_type: facts.required("returns")?.text()?,
        deprecations: facts
            .many("deprecated")
            .into_iter()
            .map(deprecation)
            .collect::<Result<_, _>>()?,
    })
}

/// Reads a key that either has the value `yes` or is absent.
fn flag(facts: &mut Entries<'_>, key: &str) -> Result<bool, SnapshotError> {
    let value = facts
        .optional(key)
        .map(|entry| entry.value_by(|text| (text == "yes").then_some(true)))
        .transpose()?;
    Ok(value.unwrap_or(false))
}

fn provider(entry: Entry<'_>) -> Result<Provider, SnapshotError> {
    let (extension, depends) =
        entry.with_details(|name| Some(name.to_owned()), |details| details.optional_text("if"))?;
    Ok(Provider { extension, depends })
}

fn deprecation(entry: Entry<'_>) -> Result<Deprecation, SnapshotError> {
    let (by, superseded_by) = entry.with_details(
        |name| Some(name.to_owned()),
        |details| details.optional_text("superseded-by"),
    )?;
    Ok(Deprecation { by, superseded_by })
}

/// Parses a type and a name, separated by a space.
pub(super) fn declaration(text: &str) -> Option<(CType, String)> {
    let (ty, name) = text.rsplit_once(' ')?;
    Some((ty.parse().ok()?, name.to_owned()))
}

fn param(entry: Entry<'_>) -> Result<Param, SnapshotError> {
    let ((ty, name), (len, optional, object_type)) = entry.with_details(declaration, |details| {
        let optional = details
            .optional("optional")
            .map(|entry| entry.value_by(flags))
            .transpose()?;
        Ok((
            details.optional_text("len")?,
            optional.unwrap_or_default(),
            details.optional_text("object-type")?,
        ))
    })?;
    Ok(Param {
        name,
        ty,
        len,
        optional,
        object_type,
    })
}

fn flags(text: &str) -> Option<Vec<bool>> {
    text.split(',').map(|flag| flag.parse().ok()).collect()
}

pub(super) fn unlisted(_name: &str, facts: &mut Entries<'_>) -> Result<String, SnapshotError> {
    facts.required("reason")?.text()
}

pub(super) fn extension(name: &str, facts: &mut Entries<'_>) -> Result<Extension, SnapshotError> {
    let kind = |word: &str| match word {
        "instance" => Some(ExtensionKind::Instance),
        "device" => Some(ExtensionKind::Device),
        _ => None,
    };
    Ok(Extension {
        name: name.to_owned(),
        number: facts.required("number")?.value_by(|text| text.parse().ok())?,
        kind: facts.required("type")?.value_by(kind)?,
        spec_version: facts.required("version")?.value_by(|text| text.parse().ok())?,
        platform: facts.optional_text("platform")?,
        provisional: flag(facts, "provisional")?,
        depends: facts.optional_text("depends")?,
        promoted_to: facts.optional_text("promoted-to")?,
        deprecated_by: facts.optional_text("deprecated-by")?,
        obsoleted_by: facts.optional_text("obsoleted-by")?,
    })
}
