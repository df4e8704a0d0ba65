//! Places, in the order in which they are searched (APP-213, DRV-15 to DRV-23, LAY-10 to LAY-16, LAY-60 to LAY-64).

use rust_alloc::collections::BTreeSet;
use rust_alloc::vec::Vec;

use super::ManifestKind;
use super::bases::{Base, BaseFolders};
use crate::env::Environment;
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

/// The places of a kind, each once. With `with_variables` false the variables made for this kind are not looked at,
/// only those that name base folders (APP-215).
pub fn places(kind: ManifestKind, environment: &Environment<'_>, with_variables: bool) -> Vec<Place> {
    let mut found = Vec::with_capacity(USUAL_PLACES);
    let list = |variable, found: &mut Vec<Place>| {
        environment.each_item(variable, |path| {
            found.push(Place {
                path: path.into(),
                source: Source::Variable(variable),
            });
        })
    };
    if with_variables {
        let replacing = kind.replacing().iter();
        // A variable that is set replaces all other places, even if it is empty (APP-214a); the first one counts.
        if replacing
            .into_iter()
            .any(|&variable| list(variable, &mut found).is_some())
        {
            return without_repeats(found);
        }
        list(kind.adding(), &mut found);
    }
    found.extend(
        BaseFolders::of(environment)
            .for_manifests()
            .map(|Base { path, source }| match has_json_name(&path) {
                true => Place { path, source },
                false => Place {
                    path: join(&path, kind.suffix().as_bytes()),
                    source,
                },
            }),
    );
    without_repeats(found)
}

/// Room made at once for places.
const USUAL_PLACES: usize = 16;

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
    if places.len() <= USUAL_PLACES {
        let mut index = 1;
        while index < places.len() {
            let (before, rest) = places.split_at(index);
            match before.iter().any(|place| place.path == rest[0].path) {
                true => drop(places.remove(index)),
                false => index += 1,
            }
        }
        return places;
    }
    let mut seen = BTreeSet::new();
    let first: Vec<bool> = places.iter().map(|place| seen.insert(&place.path)).collect();
    let mut first = first.into_iter();
    places.retain(|_| first.next() == Some(true));
    places
}
