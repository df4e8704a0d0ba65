//! Resolves platforms.

use super::scope::unique;
use crate::diagnostic::Reporter;
use crate::model::Platform;
use crate::parse::Raw;
use std::collections::BTreeMap;

pub(super) fn build(raw: &Raw<'_>, report: &mut Reporter<'_>) -> BTreeMap<String, Platform> {
    unique(
        raw.platforms
            .iter()
            .map(|platform| (platform.name, platform.at, platform)),
        report,
    )
    .into_iter()
    .map(|(name, raw)| {
        (
            name.to_owned(),
            Platform {
                name: name.to_owned(),
                protect: raw.protect.to_owned(),
            },
        )
    })
    .collect()
}
