//! The base folders that this system searches (DRV-18 to DRV-21, LAY-10 to LAY-13, APP-240).

use super::{Paths, Place};
use crate::env::variable::Separator;
use crate::env::{Environment, Variable, split};
use crate::journal::Source;
use core::ops::Range;
use os::folders::Folders;

/// The base folders. Each kind of file has a separate subfolder in every base folder.
#[derive(Debug)]
pub struct BaseFolders {
    folders: Paths,
    /// Index ranges of the home folders, for configuration and for data.
    homes: [Range<usize>; 2],
}

impl BaseFolders {
    /// Returns the folders from the environment, with the defaults of the system.
    pub fn of(environment: &Environment<'_>, system: &Folders) -> Self {
        let mut folders = Paths::with_usual_room();
        let config_home = home(environment, Variable::XdgConfigHome, ".config", &mut folders);
        listed(environment, Variable::XdgConfigDirs, system.config, &mut folders);
        for folder in [system.local_config, system.system_config] {
            if !folder.is_empty() {
                folders.push(folder.as_bytes(), Source::BuildTime);
            }
        }
        let data_home = home(environment, Variable::XdgDataHome, ".local/share", &mut folders);
        listed(environment, Variable::XdgDataDirs, system.data, &mut folders);
        Self {
            folders,
            homes: [config_home, data_home],
        }
    }

    /// Iterates over all folders, in the order in which manifests are searched.
    pub fn for_manifests(&self) -> impl Iterator<Item = Place<'_>> {
        self.folders.iter()
    }

    /// Iterates over all folders in the order in which the settings file is searched. The user's two folders come first. A user's folder
    /// that a variable names comes before one below the home folder (APP-240, APP-241).
    pub fn for_settings(&self) -> impl Iterator<Item = Place<'_>> {
        let rank = |place: usize, base: &Place<'_>| match self.homes.iter().any(|home| home.contains(&place)) {
            true if base.source != Source::Variable(Variable::Home) => 0,
            true => 1,
            false => 2,
        };
        let of_rank = move |wanted| {
            let folders = self.folders.iter().enumerate();
            folders.filter(move |(place, base)| rank(*place, base) == wanted)
        };
        (0..3).flat_map(of_rank).map(|(_, base)| base)
    }
}

/// Adds the folders of a variable whose default is below the home folder, and returns their indices.
fn home(environment: &Environment<'_>, variable: Variable, default: &str, folders: &mut Paths) -> Range<usize> {
    let start = folders.len();
    if !named(environment, variable, folders)
        && let Some(home) = environment.get_non_empty(Variable::Home)
    {
        folders.push_joined(&home, default.as_bytes(), Source::Variable(Variable::Home));
    }
    start..folders.len()
}

/// Adds the folders of a variable whose default is a list that was fixed at build time.
fn listed(environment: &Environment<'_>, variable: Variable, default: &str, folders: &mut Paths) {
    if !named(environment, variable, folders) {
        let fallback = split(default.as_bytes(), Separator::Path);
        fallback.for_each(|folder| folders.push(folder, Source::BuildTime));
    }
}

/// Adds the folders that a variable lists. Returns `false` if the variable is unset or empty.
fn named(environment: &Environment<'_>, variable: Variable, folders: &mut Paths) -> bool {
    let source = Source::Variable(variable);
    let value = environment.each_item(variable, |path| folders.push(path, source));
    value.is_some_and(|bytes| bytes > 0)
}
