//! Folders and files in which the loader searches for manifests and settings, in the order of the search (APP-213, DRV-15 to DRV-23, LAY-10
//! to LAY-16, LAY-60 to LAY-64).

use super::bases::BaseFolders;
use super::system::{System, ThisSystem};
use super::{ManifestKind, Paths, registered};
use crate::env::{Environment, Variable};
use crate::journal::{Journal, Source};
use crate::text::{Text, has_json_name};
use core::cell::OnceCell;
use core::marker::PhantomData;
use os::memory::OutOfMemory;
use os::registry;

/// Places that a call searches, according to the environment. The base folders are computed at their first use and stored.
#[derive(Debug)]
pub struct Search<'a, S = ThisSystem> {
    environment: &'a Environment<'a>,
    bases: OnceCell<BaseFolders>,
    system: PhantomData<S>,
}

impl<'a> Search<'a> {
    /// Creates a search of the places that the environment names.
    pub fn new(environment: &'a Environment<'a>) -> Self {
        Self::of_system(environment)
    }
}

impl<'a, S: System> Search<'a, S> {
    /// Creates a search by the rules of the system `S`.
    pub fn of_system(environment: &'a Environment<'a>) -> Self {
        Self {
            environment,
            bases: OnceCell::new(),
            system: PhantomData,
        }
    }

    /// Returns the environment that names the places.
    pub fn environment(&self) -> &'a Environment<'a> {
        self.environment
    }

    /// Returns the base folders.
    pub fn bases(&self) -> &BaseFolders {
        self.bases
            .get_or_init(|| BaseFolders::of(self.environment, &S::FOLDERS))
    }

    /// Returns the places for a kind of manifest, without repetitions. If `with_variables` is `false`, ignores the variables for this kind,
    /// and reads only the variables that name base folders (APP-215).
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn places(
        &self,
        kind: ManifestKind,
        with_variables: bool,
        journal: &Journal<'_>,
    ) -> Result<Paths, OutOfMemory> {
        let mut found = Paths::with_usual_room();
        found.replace = with_variables && self.add_named(kind, &mut found);
        if registry::EXISTS && !found.replace {
            registered::add(kind, &mut found, journal);
        } else if !found.replace && !self.add_bundle(kind, &mut found) {
            for base in self.bases().for_manifests() {
                if has_json_name(base.path) {
                    found.push(base.path, base.source)
                } else {
                    found.push_joined(base.path, kind.suffix().as_bytes(), base.source)
                }
            }
            if kind == ManifestKind::Driver {
                S::service(|folder| found.push(folder, Source::Service));
            }
        }
        found.drop_repeats()?;
        Ok(found)
    }

    /// Adds the folder of a kind in the application's bundle, on a system that has bundles. Returns `true` if the search ends with this
    /// folder (DRV-33, DRV-34, LAY-40 to LAY-42).
    fn add_bundle(&self, kind: ManifestKind, found: &mut Paths) -> bool {
        if !S::FOLDERS.bundles {
            return false;
        }
        S::bundle(|resources| found.push_joined(resources, kind.suffix().as_bytes(), Source::Bundle));
        self.environment.is_set(Variable::SearchOnlyInBundle)
    }

    /// Adds the places from the variables for a kind of manifest. Returns `true` if these places replace all others.
    fn add_named(&self, kind: ManifestKind, found: &mut Paths) -> bool {
        let mut list = |variable: Variable| {
            let source = Source::Variable(variable);
            self.environment.each_item(variable, |path| found.push(path, source))
        };
        // A variable that is set replaces all other places, even if it is empty (APP-214a). The first such variable takes precedence.
        if kind.replacing().iter().any(|&variable| list(variable).is_some()) {
            return true;
        }
        list(kind.adding());
        false
    }
}

/// Returns the places that an override layer names, which replace all other places (LAY-175). Skips empty paths (BI-38).
///
/// # Errors
///
/// Memory ran out.
pub fn override_places(paths: &[Text]) -> Result<Paths, OutOfMemory> {
    let mut places = Paths::with_usual_room();
    for path in paths.iter().filter(|path| !path.is_empty()) {
        places.push(path, Source::OverrideLayer);
    }
    places.drop_repeats()?;
    Ok(places)
}
