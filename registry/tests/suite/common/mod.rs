//! Helpers for the tests of this crate.

use std::path::{Path, PathBuf};
use vk_registry::model::Registry;
use vk_registry::{Code, Diagnostic, Source, load};

/// Small registry in the form of current headers.
pub(crate) const VULKAN: &str = include_str!("../../fixtures/small.xml");
/// Small video registry.
pub(crate) const VIDEO: &str = include_str!("../../fixtures/small_video.xml");

/// Loads a text in place of `vk.xml`.
pub(crate) fn load_text(vk: &str) -> Result<Registry, Vec<Diagnostic>> {
    load(
        Source {
            name: "vk.xml",
            text: vk,
        },
        Source {
            name: "video.xml",
            text: VIDEO,
        },
    )
}

/// Loads a text that must have no mistakes.
pub(crate) fn good(vk: &str) -> Registry {
    load_text(vk).unwrap_or_else(|found| {
        let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
        panic!("{}", lines.join("\n"))
    })
}

/// Returns the fixture with one text replaced. The text must occur exactly once.
pub(crate) fn edited(from: &str, to: &str) -> String {
    assert_eq!(
        VULKAN.matches(from).count(),
        1,
        "`{from}` must occur once in the fixture"
    );
    VULKAN.replace(from, to)
}

/// Returns the codes of the mistakes in a text. The text must have at least one mistake.
pub(crate) fn codes(vk: &str) -> Vec<Code> {
    load_text(vk).map_or_else(
        |found| found.iter().map(|diagnostic| diagnostic.code).collect(),
        |_| Vec::new(),
    )
}

/// Returns the folder of the crate.
pub(crate) fn crate_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the committed snapshot as pairs of file name and text.
pub(crate) fn snapshot_files() -> Vec<(&'static str, String)> {
    vk_registry::snapshot::FILES
        .map(|name| (name, read(&crate_root().join("snapshot").join(name))))
        .into()
}

/// Returns the folder with the pinned registry: `VK_REGISTRY_DIR`, or `registry/input`.
///
/// The folder has `vk.xml` and `video.xml` of the pinned header. Other headers are in folders below it. If the folder does not exist,
/// prints a message and returns `None`.
pub(crate) fn registry_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("VK_REGISTRY_DIR").map_or_else(|| crate_root().join("input"), PathBuf::from);
    if folder.join("vk.xml").is_file() {
        return Some(folder);
    }
    skip(format_args!(
        "no vk.xml in {}; `make registry` fetches it",
        folder.display()
    ));
    None
}

/// Prints the reason of a skipped test, in a line that `make test` counts.
pub(crate) fn skip(reason: impl std::fmt::Display) {
    steady::skip(&reason.to_string());
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
