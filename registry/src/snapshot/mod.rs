//! Writes and reads the model as committed text, so that a reviewer can read the difference of a new header.
//!
//! A record is an unindented line `kind name`. The record's facts follow as lines `key value`, indented by two spaces. Facts about a
//! parameter or member are indented by four spaces. Lines that start with `#` are prose. Records are sorted by name in each file.
//!
//! | file | records |
//! |---|---|
//! | `header.txt` | header version, core versions, platforms |
//! | `commands.txt` | commands; commands that reach no table, with the reason |
//! | `extensions.txt` | supported extensions; names of disabled ones |
//! | `handles.txt` | handles |
//! | `structs.txt` | structures and unions |
//! | `enums.txt` | enumerations and flags types |
//! | `types.txt` | aliases, base types, constants, function pointers, types of platform headers |

mod entry;
mod read_commands;
mod read_types;
mod write_commands;
mod write_types;

use crate::model::{HeaderVersion, Platform, Registry, Version};
use entry::{Entries, Text};
pub use entry::{HEADING, SnapshotError, SnapshotFault};
use std::collections::BTreeMap;

const HEADER: &str = "header.txt";
const COMMANDS: &str = "commands.txt";
const EXTENSIONS: &str = "extensions.txt";
const HANDLES: &str = "handles.txt";
const STRUCTS: &str = "structs.txt";
const ENUMS: &str = "enums.txt";
const TYPES: &str = "types.txt";

/// Names of the files in a snapshot, sorted.
pub const FILES: [&str; 7] = [COMMANDS, ENUMS, EXTENSIONS, HANDLES, HEADER, STRUCTS, TYPES];

/// Writes the model: a text for each of [`FILES`], in that order.
pub fn write(registry: &Registry) -> Vec<(&'static str, String)> {
    vec![
        (COMMANDS, write_commands::commands(registry)),
        (ENUMS, write_types::enums(registry)),
        (EXTENSIONS, write_commands::extensions(registry)),
        (HANDLES, write_types::handles(registry)),
        (HEADER, header(registry)),
        (STRUCTS, write_types::structs(registry)),
        (TYPES, write_types::types(registry)),
    ]
}

/// Reads the model from `(file name, text)` pairs. Ignores files that are not in [`FILES`].
///
/// # Errors
/// Returns the first line that cannot be read, or the first missing fact, with file and line.
pub fn read<N: AsRef<str>, T: AsRef<str>>(files: &[(N, T)]) -> Result<Registry, SnapshotError> {
    let file = |name: &'static str| -> Result<Entries<'_>, SnapshotError> {
        let text = files.iter().find(|(other, _)| other.as_ref() == name);
        let (_, text) = text.ok_or(SnapshotError {
            file: name,
            line: 0,
            fault: SnapshotFault::MissingFile,
        })?;
        Entries::parse(name, text.as_ref())
    };
    let mut header = file(HEADER)?;
    let mut commands = file(COMMANDS)?;
    let mut extensions = file(EXTENSIONS)?;
    let mut enums = file(ENUMS)?;
    let mut types = file(TYPES)?;
    let registry = Registry {
        header: header.required("header")?.value_by(HeaderVersion::parse)?,
        core_versions: header
            .many("core")
            .into_iter()
            .map(|entry| entry.value_by(Version::parse))
            .collect::<Result<_, _>>()?,
        platforms: platforms(&mut header)?,
        commands: commands.records("command", read_commands::command)?,
        unlisted_commands: commands.records("unlisted", read_commands::unlisted)?,
        extensions: extensions.records("extension", read_commands::extension)?,
        reserved_extensions: extensions.records("reserved", |_, _| Ok(()))?.into_keys().collect(),
        handles: file(HANDLES)?.only_records("handle", read_types::handle)?,
        structs: read_types::structs(file(STRUCTS)?)?,
        enums: enums.records("enum", read_types::enumeration)?,
        bitmasks: enums.records("flags", read_types::bitmask)?,
        base_types: types.records("base", read_types::base_type)?,
        function_pointers: types.records("function-pointer", read_types::function_pointer)?,
        constants: types.records("constant", read_types::constant)?,
        platform_types: types.records("platform-type", read_types::platform_type)?,
        type_aliases: types.records("alias", read_types::alias)?,
    };
    for rest in [header, commands, extensions, enums, types] {
        rest.finish()?;
    }
    Ok(registry)
}

fn header(registry: &Registry) -> String {
    let mut text = Text::new();
    text.record("header", registry.header);
    for version in &registry.core_versions {
        text.record("core", version);
    }
    for platform in registry.platforms.values() {
        text.record("platform", &platform.name);
        text.fact("protect", &platform.protect);
    }
    text.finish()
}

fn platforms(header: &mut Entries<'_>) -> Result<BTreeMap<String, Platform>, SnapshotError> {
    header.records("platform", |name, facts| {
        Ok(Platform {
            name: name.to_owned(),
            protect: facts.required("protect")?.text()?,
        })
    })
}
