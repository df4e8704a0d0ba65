//! Places, in the order in which they are searched (APP-213, DRV-15 to DRV-23, LAY-10 to LAY-16, LAY-60 to LAY-64).

use std::collections::BTreeSet;

use super::ManifestKind;
use super::bases::{Base, BaseFolders};
use crate::env::{Environment, Variable};
use crate::journal::Source;
use crate::manifest::{Text, has_json_name, join};

/// A folder, or one manifest file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its path, as assembled.
    pub path: Text,
    /// Who named it.
    pub source: Source,
}

impl Place {
    /// Whether the place is one file.
    pub fn is_file(&self) -> bool {
        has_json_name(&self.path)
    }
}

/// The first variable set that replaces all other places of a kind, even if it is empty (APP-214a).
pub fn replacing(kind: ManifestKind, environment: &Environment<'_>) -> Option<Variable> {
    kind.replacing()
        .iter()
        .copied()
        .find(|&variable| environment.is_set(variable))
}

/// The places of a kind, each once. With `with_variables` false the variables made for this kind are not looked at,
/// only those that name base folders (APP-215).
pub fn places(kind: ManifestKind, environment: &Environment<'_>, with_variables: bool) -> Vec<Place> {
    let mut found = Vec::new();
    let list = |variable| {
        let source = Source::Variable(variable);
        environment.items(variable).into_iter().map(move |path| Place {
            path: path.into(),
            source,
        })
    };
    if with_variables {
        if let Some(variable) = replacing(kind, environment) {
            found.extend(list(variable));
            return without_repeats(found);
        }
        found.extend(list(kind.adding()));
    }
    let bases = BaseFolders::of(environment).for_manifests();
    found.extend(bases.map(|Base { path, source }| match has_json_name(&path) {
        true => Place { path, source },
        false => Place {
            path: join(&path, kind.suffix().as_bytes()),
            source,
        },
    }));
    without_repeats(found)
}

/// The places that an override layer names in place of all others (LAY-175). Empty ones are skipped (BI-38).
pub fn override_places(paths: &[Text]) -> Vec<Place> {
    let named = paths.iter().filter(|path| !path.is_empty());
    without_repeats(
        named
            .map(|path| Place {
                path: path.clone(),
                source: Source::OverrideLayer,
            })
            .collect(),
    )
}

/// Drops places whose exact text occurred before (DRV-11, LAY-16).
fn without_repeats(mut places: Vec<Place>) -> Vec<Place> {
    let mut seen = BTreeSet::new();
    let first: Vec<bool> = places.iter().map(|place| seen.insert(&place.path)).collect();
    let mut first = first.into_iter();
    places.retain(|_| first.next() == Some(true));
    places
}
