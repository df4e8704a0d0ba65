//! Loads files into the model.

use crate::diagnostic::{Diagnostic, Reporter};
use crate::model::Registry;
use crate::source::{Origins, Source};
use crate::{overlay, parse, resolve};

/// Reads `vk.xml`. Also checks that `video.xml` defines no entry point.
///
/// The errors are all mistakes in file order, at most 100 per file. A construct that no rule covers yet is a mistake too (GEN-80).
pub fn load(vk: Source<'_>, video: Source<'_>) -> Result<Registry, Vec<Diagnostic>> {
    let (registry, mut found) = read_vulkan(vk.body(), vk.name, Origins::one(vk), Unknown::Each);
    found.extend(check_video(video));
    match registry {
        Some(registry) if found.is_empty() => Ok(registry),
        _ => Err(found),
    }
}

/// Reads a registry like [`load`], but returns unknown constructs together with the model, for reports that must work on any registry.
///
/// Each kind of construct is returned once, at its first place. Some old headers have no video registry, so
/// `video` may be `None`.
pub fn load_tolerant<'a>(
    vk: Source<'_>,
    video: impl Into<Option<Source<'a>>>,
) -> Result<(Registry, Vec<Diagnostic>), Vec<Diagnostic>> {
    let video = video.into().map(check_video).unwrap_or_default();
    let (registry, mut found) = read_vulkan(vk.body(), vk.name, Origins::one(vk), Unknown::EachKind);
    found.extend(video);
    match registry {
        Some(registry) if found.iter().all(|diagnostic| diagnostic.code.is_unknown_construct()) => {
            Ok((registry, found))
        }
        _ => Err(found),
    }
}

/// Reads a registry like [`load`], and merges overlays into the registry, for example with extensions that are not public yet.
///
/// An overlay has the form of `vk.xml`, with only the new elements. A name that is defined twice, or an extension number that is used
/// twice, is an error with both places.
pub fn load_with_overlays(
    vk: Source<'_>,
    overlays: &[Source<'_>],
    video: Source<'_>,
) -> Result<Registry, Vec<Diagnostic>> {
    let (text, origins) = overlay::merge(vk, overlays)?;
    let (registry, mut found) = read_vulkan(&text, vk.name, origins, Unknown::Each);
    found.extend(check_video(video));
    match registry {
        Some(registry) if found.is_empty() => Ok(registry),
        _ => Err(found),
    }
}

/// Unknown constructs that a run reports.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Each,
    EachKind,
}

fn read_vulkan(text: &str, name: &str, origins: Origins<'_>, unknown: Unknown) -> (Option<Registry>, Vec<Diagnostic>) {
    let document = match parse::document(Source { name, text }) {
        Ok(document) => document,
        Err(diagnostic) => return (None, vec![diagnostic]),
    };
    let mut report = Reporter::new(origins, &document);
    if unknown == Unknown::EachKind {
        report = report.once_a_kind();
    }
    let raw = parse::vulkan(&document, &mut report);
    // The parser leaves out each record that has a mistake. References to such a record would be reported as unknown names, which would be
    // misleading.
    let registry = if report.is_broken() {
        None
    } else {
        resolve::resolve(&raw, &mut report)
    };
    (registry, report.finish())
}

fn check_video(source: Source<'_>) -> Vec<Diagnostic> {
    match parse::document(source) {
        Ok(document) => {
            let mut report = Reporter::new(Origins::one(source), &document);
            parse::video(&document, &mut report);
            report.finish()
        }
        Err(diagnostic) => vec![diagnostic],
    }
}
