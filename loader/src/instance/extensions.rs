//! Which known instance extensions are enabled.

use crate::generated::extensions::{InstanceExtension, InstanceExtensionSet};
use crate::state::lock;
use std::sync::Mutex;

/// The extensions the application enabled, united with those that reached the terminator (APP-28).
#[derive(Default)]
pub struct EnabledExtensions(Mutex<InstanceExtensionSet>);

impl EnabledExtensions {
    /// The set as it is now.
    pub fn get(&self) -> InstanceExtensionSet {
        *lock(&self.0)
    }

    /// Whether one extension is enabled.
    pub fn contains(&self, extension: InstanceExtension) -> bool {
        self.get().contains(extension)
    }

    /// Adds what is known among `names`.
    pub fn add<'a>(&self, names: impl Iterator<Item = &'a [u8]>) {
        let added = known(names);
        let mut set = lock(&self.0);
        *set = set.union(added);
    }
}

/// The known extensions among `names`.
pub fn known<'a>(names: impl Iterator<Item = &'a [u8]>) -> InstanceExtensionSet {
    names.filter_map(InstanceExtension::find).fold(InstanceExtensionSet::EMPTY, InstanceExtensionSet::with)
}
