//! The base folders of this system (DRV-18 to DRV-21, LAY-10 to LAY-13, APP-240).

use crate::discovery::build_dirs::{EXTRASYSCONFDIR, FALLBACK_CONFIG_DIRS, FALLBACK_DATA_DIRS, SYSCONFDIR};
use crate::env::variable::Separator;
use crate::env::{Environment, Variable, split};
use crate::journal::Source;
use crate::manifest::{Text, join};
use core::ops::Range;
use rust_alloc::vec::Vec;

/// A base folder, below which each kind of file has a folder of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Its path, as named.
    pub path: Text,
    /// Who named it.
    pub source: Source,
}

/// Room made at once for base folders.
const USUAL_FOLDERS: usize = 8;

/// The base folders, in the order in which manifests are searched.
#[derive(Debug)]
pub struct BaseFolders {
    folders: Vec<Base>,
    /// Where the folders of a home, for configuration and for data, begin and end.
    homes: [Range<usize>; 2],
}

impl BaseFolders {
    /// What the environment names, and else the defaults.
    pub fn of(environment: &Environment<'_>) -> Self {
        let mut folders = Vec::with_capacity(USUAL_FOLDERS);
        let config_home = home(environment, Variable::XdgConfigHome, ".config", &mut folders);
        system(environment, Variable::XdgConfigDirs, FALLBACK_CONFIG_DIRS, &mut folders);
        let fixed = [Some(SYSCONFDIR), EXTRASYSCONFDIR].into_iter().flatten();
        folders.extend(fixed.map(|folder| built_in(folder.into())));
        let data_home = home(environment, Variable::XdgDataHome, ".local/share", &mut folders);
        system(environment, Variable::XdgDataDirs, FALLBACK_DATA_DIRS, &mut folders);
        Self {
            folders,
            homes: [config_home, data_home],
        }
    }

    /// All of them in the order in which manifests are searched.
    pub fn for_manifests(self) -> impl Iterator<Item = Base> {
        self.folders.into_iter()
    }

    /// All of them in the order in which a settings file is: both homes come first, those with a variable of their own
    /// before those below the home folder (APP-240, APP-241).
    pub fn for_settings(self) -> impl Iterator<Item = Base> {
        let Self { folders, homes } = self;
        let rank = |(place, base): &(usize, Base)| match homes.iter().any(|home| home.contains(place)) {
            true if base.source != Source::Variable(Variable::Home) => 0,
            true => 1,
            false => 2,
        };
        let mut ranked: Vec<(usize, Base)> = folders.into_iter().enumerate().collect();
        ranked.sort_by_key(rank);
        ranked.into_iter().map(|(_, base)| base)
    }
}

fn built_in(path: Text) -> Base {
    let source = Source::BuildTime;
    Base { path, source }
}

/// Adds the folders of a variable that has a default below the home folder, and says which they are.
fn home(environment: &Environment<'_>, variable: Variable, default: &str, folders: &mut Vec<Base>) -> Range<usize> {
    let start = folders.len();
    if !named(environment, variable, folders) {
        let home = environment.get_non_empty(Variable::Home);
        folders.extend(home.map(|home| Base {
            path: join(&home, default.as_bytes()),
            source: Source::Variable(Variable::Home),
        }));
    }
    start..folders.len()
}

/// Adds the folders of a variable that has a default list fixed at build time.
fn system(environment: &Environment<'_>, variable: Variable, default: &str, folders: &mut Vec<Base>) {
    if !named(environment, variable, folders) {
        let fallback = split(default.as_bytes(), Separator::Path);
        folders.extend(fallback.map(|folder| built_in(folder.into())));
    }
}

/// Adds the folders that a variable lists; false when it is unset or empty.
fn named(environment: &Environment<'_>, variable: Variable, folders: &mut Vec<Base>) -> bool {
    let value = environment.each_item(variable, |path| {
        folders.push(Base {
            path: path.into(),
            source: Source::Variable(variable),
        });
    });
    value.is_some_and(|bytes| bytes > 0)
}
