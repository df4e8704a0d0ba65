//! The base folders of this system (DRV-18 to DRV-21, LAY-10 to LAY-13, APP-240).

use crate::discovery::build_dirs::{EXTRASYSCONFDIR, FALLBACK_CONFIG_DIRS, FALLBACK_DATA_DIRS, SYSCONFDIR};
use crate::env::variable::Separator;
use crate::env::{Environment, Variable, split};
use crate::journal::Source;
use crate::manifest::{Text, join};

/// A base folder, below which each kind of file has a folder of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Its path, as named.
    pub path: Text,
    /// Who named it.
    pub source: Source,
}

/// The base folders by what they are for.
#[derive(Debug)]
pub struct BaseFolders {
    config_home: Vec<Base>,
    config: Vec<Base>,
    /// Fixed when the loader is built.
    fixed: Vec<Base>,
    data_home: Vec<Base>,
    data: Vec<Base>,
}

impl BaseFolders {
    /// What the environment names, and else the defaults.
    pub fn of(environment: &Environment<'_>) -> Self {
        let fixed = [Some(SYSCONFDIR), EXTRASYSCONFDIR].into_iter().flatten();
        Self {
            config_home: home(environment, Variable::XdgConfigHome, ".config"),
            config: system(environment, Variable::XdgConfigDirs, FALLBACK_CONFIG_DIRS),
            fixed: fixed.map(|folder| built_in(folder.into())).collect(),
            data_home: home(environment, Variable::XdgDataHome, ".local/share"),
            data: system(environment, Variable::XdgDataDirs, FALLBACK_DATA_DIRS),
        }
    }

    /// All of them in the order in which manifests are searched.
    pub fn for_manifests(self) -> impl Iterator<Item = Base> {
        let lists = [self.config_home, self.config, self.fixed, self.data_home, self.data];
        lists.into_iter().flatten()
    }

    /// All of them in the order in which a settings file is: both homes come first, those with a variable of their own
    /// before those below the home folder (APP-240, APP-241).
    pub fn for_settings(self) -> impl Iterator<Item = Base> {
        let mut homes = [self.config_home, self.data_home].concat();
        homes.sort_by_key(|base| base.source == Source::Variable(Variable::Home));
        let lists = [homes, self.config, self.fixed, self.data];
        lists.into_iter().flatten()
    }
}

fn built_in(path: Text) -> Base {
    let source = Source::BuildTime;
    Base { path, source }
}

/// The folders of a variable that has a default below the home folder.
fn home(environment: &Environment<'_>, variable: Variable, default: &str) -> Vec<Base> {
    if let Some(listed) = named(environment, variable) {
        return listed;
    }
    let home = environment.get_non_empty(Variable::Home);
    home.into_iter()
        .map(|home| Base {
            path: join(&home, default.as_bytes()),
            source: Source::Variable(Variable::Home),
        })
        .collect()
}

/// The folders of a variable that has a default list fixed at build time.
fn system(environment: &Environment<'_>, variable: Variable, default: &str) -> Vec<Base> {
    let fallback = || {
        let folders = split(default.as_bytes(), Separator::Path);
        folders.map(|folder| built_in(folder.into())).collect()
    };
    named(environment, variable).unwrap_or_else(fallback)
}

/// The folders that a variable lists; `None` when it is unset or empty.
fn named(environment: &Environment<'_>, variable: Variable) -> Option<Vec<Base>> {
    let source = Source::Variable(variable);
    let items = environment.items_if_non_empty(variable)?.into_iter();
    let bases = items.map(|path| Base {
        path: path.into(),
        source,
    });
    Some(bases.collect())
}
