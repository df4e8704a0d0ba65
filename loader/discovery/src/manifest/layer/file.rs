//! Reads the manifest of one or more layers as a file (LAY-75, LAY-80 to LAY-84).

use super::one::{Context, read_layer};
use super::{LayerManifest, Skip};
use crate::journal::reason::{FileReason, LayerManifestReason};
use crate::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use crate::manifest::FormatVersion;
use crate::manifest::file::{FileError, read_json};
use crate::manifest::json::{Object, Value};
use crate::text::Text;
use alloc::vec::Vec;
use os::Raw;
use os::memory::{Grow, OutOfMemory};

/// Versions of the manifest format that this loader knows (LAY-80).
const KNOWN_FORMATS: &[FormatVersion] = &[
    FormatVersion::new(1, 0, 0),
    FormatVersion::new(1, 0, 1),
    FormatVersion::new(1, 1, 0),
    FormatVersion::new(1, 1, 1),
    FormatVersion::new(1, 1, 2),
    FormatVersion::new(1, 2, 0),
    FormatVersion::new(1, 2, 1),
];
/// First version of the manifest format with `layers`. From this version on, `layer` must not be repeated.
const WITH_LAYERS: FormatVersion = FormatVersion::new(1, 0, 1);

/// Adds the layers of one manifest to `layers`, in the order of the file. `implicit` is `true` for implicit layers.
///
/// # Errors
/// Memory ran out. Layers that were added before remain in the list.
pub fn read_layer_manifest(
    path: &Text,
    source: Source,
    implicit: bool,
    layers: &mut Vec<LayerManifest>,
    journal: &mut Journal<'_>,
) -> Result<(), OutOfMemory> {
    let drop_file = |reason: Reason, journal: &mut Journal<'_>| {
        journal.decide(Decision {
            subject: Subject::LayerManifest,
            name: path.clone(),
            path: Text::default(),
            verdict: Verdict::Dropped(reason),
            source,
        });
    };
    let document = match read_json(path, journal.paths()) {
        Ok(document) => document,
        Err(FileError::OutOfMemory) => return Err(OutOfMemory),
        Err(FileError::Unusable(reason)) => {
            drop_file(reason.into(), journal);
            return Ok(());
        }
    };
    let Some(root) = document.root().as_object() else {
        drop_file(FileReason::NotAnObject.into(), journal);
        return Ok(());
    };
    let (format, described) = match described(root, path, journal) {
        Ok(found) => found,
        Err(reason) => {
            drop_file(reason.into(), journal);
            return Ok(());
        }
    };
    let context = Context {
        manifest: path,
        source,
        implicit,
        format,
    };
    for element in described.iter() {
        let Some(object) = element.as_object() else {
            drop_file(LayerManifestReason::ElementNotObject.into(), journal);
            break;
        };
        if let Some(layer) = one_layer(object, &context, journal)? {
            layers.try_push(layer)?;
        }
    }
    Ok(())
}

/// Members of a file that describe layers.
#[derive(Clone, Copy)]
enum Described<'a> {
    /// The elements of `layers`.
    List(Value<'a>),
    /// All members with the name `layer`.
    Members(Object<'a>),
}

impl<'a> Described<'a> {
    fn iter(self) -> impl Iterator<Item = Value<'a>> {
        let (list, root) = match self {
            Self::List(list) => (Some(list), None),
            Self::Members(root) => (None, Some(root)),
        };
        let members = root.into_iter().flat_map(|root| root.all("layer"));
        list.into_iter().flat_map(Value::children).chain(members)
    }
}

/// Returns the version of the file and the members that describe layers.
fn described<'a>(
    root: Object<'a>,
    path: &Text,
    journal: &Journal<'_>,
) -> Result<(FormatVersion, Described<'a>), LayerManifestReason> {
    let text = root.text("file_format_version");
    let text = text.ok_or(LayerManifestReason::NoFormatVersion)?;
    journal.note(
        LogBits::INFO,
        format_args!("Found manifest file {path} (file version {})", Raw(text)),
    );
    let format = FormatVersion::parse(text);
    let text = Raw(text);
    if !KNOWN_FORMATS.contains(&format) {
        journal.note(
            LogBits::INFO | LogBits::LAYER,
            format_args!(
                "loader_add_layer_properties: {path} has unknown layer manifest file version {format}.  May cause errors."
            ),
        );
    }
    if let Some(layers) = root.get("layers") {
        if format < WITH_LAYERS {
            journal.note(
                LogBits::WARN | LogBits::LAYER,
                format_args!(
                    "loader_add_layer_properties: 'layers' tag not supported until file version 1.0.1, but {path} is \
                     reporting version {text}"
                ),
            );
        }
        return Ok((format, Described::List(layers)));
    }
    match root.all("layer").take(2).count() {
        0 if root.get("ICD").is_some() => Err(LayerManifestReason::DriverManifest),
        0 => Err(LayerManifestReason::NoLayer),
        2 if format >= WITH_LAYERS => Err(LayerManifestReason::RepeatedLayer),
        _ => Ok((format, Described::Members(root))),
    }
}

/// Returns the layer that `object` describes. If the layer is skipped, records the decision and returns `None`.
fn one_layer(
    object: Object<'_>,
    context: &Context<'_>,
    journal: &mut Journal<'_>,
) -> Result<Option<LayerManifest>, OutOfMemory> {
    match read_layer(object, context, journal) {
        Ok(layer) => Ok(Some(layer)),
        Err(Skip::OutOfMemory) => Err(OutOfMemory),
        Err(Skip::Because(reason)) => {
            journal.decide(Decision {
                subject: Subject::Layer,
                name: super::text(object, "name")?.unwrap_or_default(),
                path: context.manifest.clone(),
                verdict: Verdict::Dropped(reason.into()),
                source: context.source,
            });
            Ok(None)
        }
    }
}
