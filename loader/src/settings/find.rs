//! Finding the settings file (APP-240, APP-241, APP-243).

use super::{Settings, parse};
use crate::alloc::OutOfMemory;
use crate::discovery::Executable;
use crate::discovery::build_dirs::{EXTRASYSCONFDIR, FALLBACK_CONFIG_DIRS, FALLBACK_DATA_DIRS, SYSCONFDIR};
use crate::env::variable::Separator;
use crate::env::{Environment, Variable, split};
use crate::journal::reason::FileReason;
use crate::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use crate::manifest::file::{Buffer, FileError, read_json};
use crate::manifest::{Text, join};

/// The file below a base folder.
const FILE: &[u8] = b"vulkan/loader_settings.d/vk_loader_settings.json";

/// The active settings for the running executable, if there are any.
///
/// # Errors
/// Only when memory runs out; whatever is wrong with the file is in the journal.
pub fn load(environment: &Environment<'_>, journal: &mut Journal<'_>) -> Result<Option<Settings>, OutOfMemory> {
    load_for(environment, &Executable::running(), journal)
}

/// The active settings for an executable, if there are any. The first file that exists decides.
pub fn load_for(
    environment: &Environment<'_>,
    executable: &Executable,
    journal: &mut Journal<'_>,
) -> Result<Option<Settings>, OutOfMemory> {
    for folder in folders(environment) {
        let path = join(&folder, FILE);
        let outcome = match read_json(&path, &mut Buffer::default()) {
            Err(FileError::Unusable(FileReason::NotFound)) => continue,
            Err(FileError::OutOfMemory) => return Err(OutOfMemory),
            Err(FileError::Unusable(reason)) => Err(reason.into()),
            Ok(root) => parse::settings(&root, &path, executable)?,
        };
        return Ok(conclude(path, outcome, journal));
    }
    journal.note(
        LogBits::INFO,
        format_args!("No valid vk_loader_settings.json file found, no loader settings will be active"),
    );
    Ok(None)
}

fn conclude(path: Text, outcome: Result<Settings, Reason>, journal: &mut Journal<'_>) -> Option<Settings> {
    let (verdict, settings) = match outcome {
        Ok(settings) => (Verdict::Kept, Some(settings)),
        Err(reason) => (Verdict::Dropped(reason), None),
    };
    journal.decide(Decision {
        subject: Subject::SettingsFile,
        name: path,
        path: Text::default(),
        verdict,
        source: Source::Settings,
    });
    settings
}

/// The base folders, in the order of their precedence. It differs from that of manifests: both homes come first.
fn folders(environment: &Environment<'_>) -> Vec<Vec<u8>> {
    let listed = |variable| environment.items_if_non_empty(variable);
    let config_home = listed(Variable::XdgConfigHome);
    let data_home = listed(Variable::XdgDataHome);
    let home = match (&config_home, &data_home) {
        (Some(_), Some(_)) => None,
        _ => environment.get_non_empty(Variable::Home),
    };
    let below_home = |listed: bool, default: &str| match &home {
        Some(home) if !listed => Some(join(home, default.as_bytes()).to_vec()),
        _ => None,
    };
    let defaults = [
        below_home(config_home.is_some(), ".config"),
        below_home(data_home.is_some(), ".local/share"),
    ];
    let system = |variable, default: &str| {
        let fallback = || split(default.as_bytes(), Separator::Path).map(<[u8]>::to_vec).collect();
        listed(variable).unwrap_or_else(fallback)
    };
    let mut folders = Vec::new();
    folders.extend(config_home.unwrap_or_default());
    folders.extend(data_home.unwrap_or_default());
    folders.extend(defaults.into_iter().flatten());
    folders.extend(system(Variable::XdgConfigDirs, FALLBACK_CONFIG_DIRS));
    let fixed = [Some(SYSCONFDIR), EXTRASYSCONFDIR].into_iter().flatten();
    folders.extend(fixed.map(|folder| folder.as_bytes().to_vec()));
    folders.extend(system(Variable::XdgDataDirs, FALLBACK_DATA_DIRS));
    folders
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::env::Fixed;

    fn found(source: &Fixed) -> Vec<String> {
        let folders = folders(&Environment::new(source));
        folders
            .iter()
            .map(|folder| String::from_utf8_lossy(folder).into_owned())
            .collect()
    }

    const FIXED: [&str; 5] = ["/etc/xdg", "/usr/local/etc", "/etc", "/usr/local/share", "/usr/share"];

    #[test]
    fn app_240_app_241_order_of_folders() {
        // Variables, and the folders expected.
        type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
        let cases: &[Case<'_>] = &[
            (&[], &FIXED),
            (
                &[("HOME", "/h")],
                &[&["/h/.config", "/h/.local/share"][..], &FIXED].concat(),
            ),
            (
                &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c1:/c2"), ("XDG_DATA_HOME", "")],
                &[&["/c1", "/c2", "/h/.local/share"][..], &FIXED].concat(),
            ),
            (
                &[
                    ("XDG_DATA_HOME", "/d"),
                    ("XDG_CONFIG_DIRS", "/x:/y"),
                    ("XDG_DATA_DIRS", "::/z"),
                ],
                &["/d", "/x", "/y", "/usr/local/etc", "/etc", "/z"],
            ),
        ];
        for (variables, expected) in cases {
            assert_eq!(found(&Fixed::new(variables)), *expected, "{variables:?}");
        }
        let elevated = Fixed::new(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_DIRS", "/d")]).elevated();
        assert_eq!(found(&elevated), FIXED);
    }
}
