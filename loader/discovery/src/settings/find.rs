//! Finds the settings file (APP-240 to APP-243).

use super::{Settings, parse};
use crate::journal::reason::FileReason;
use crate::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use crate::manifest::file::{FileError, read_json};
use crate::search::{Executable, Paths, Search};
use crate::text::Text;
use os::memory::OutOfMemory;
use os::registry;

/// The file below a base folder. The path has two consecutive slashes, because tools compare the path in messages.
const FILE: &[u8] = b"vulkan//loader_settings.d/vk_loader_settings.json";

/// Returns the active settings for the running executable, if there are any.
///
/// # Errors
/// Memory ran out. Faults of the file are reported to the journal instead.
pub fn load(search: &Search<'_>, journal: &mut Journal<'_>) -> Result<Option<Settings>, OutOfMemory> {
    let executable = Executable::running();
    let loaded = load_for(search, &executable, journal);
    executable.note(journal);
    loaded
}

/// Returns the active settings for an executable, if there are any. Uses only the first file that exists.
pub fn load_for(
    search: &Search<'_>,
    executable: &Executable,
    journal: &mut Journal<'_>,
) -> Result<Option<Settings>, OutOfMemory> {
    let mut path = Text::default();
    if registry::EXISTS {
        for place in registered(journal).iter() {
            path = Text::try_new(place.path)?;
            if let Some(outcome) = read(&path, executable, journal)? {
                return Ok(conclude(path, outcome, journal));
            }
        }
    } else {
        for base in search.bases().for_settings() {
            path.set_joined(base.path, FILE)?;
            if let Some(outcome) = read(&path, executable, journal)? {
                return Ok(conclude(path, outcome, journal));
            }
        }
    }
    journal.note(
        LogBits::INFO,
        format_args!("No valid vk_loader_settings.json file found, no loader settings will be active"),
    );
    Ok(None)
}

/// Returns the settings in a file; `None` if the file does not exist.
fn read(
    path: &Text,
    executable: &Executable,
    journal: &Journal<'_>,
) -> Result<Option<Result<Settings, Reason>>, OutOfMemory> {
    match read_json(path, journal.paths()) {
        Err(FileError::Unusable(FileReason::NotFound)) => Ok(None),
        Err(FileError::OutOfMemory) => Err(OutOfMemory),
        Err(FileError::Unusable(reason)) => Ok(Some(Err(reason.into()))),
        Ok(document) => parse::settings(document.root(), path, executable).map(Some),
    }
}

/// Returns the settings files that the system's registry lists (APP-242).
fn registered(journal: &Journal<'_>) -> Paths {
    // A registry may change at any time, and the loader cannot compare states of its content, so the result of the scan is not kept.
    if let Some(paths) = journal.paths() {
        paths.mark_uncacheable();
    }
    let mut named = Paths::with_usual_room();
    registry::each_settings_file(|path| named.push(path, Source::Settings));
    named
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

#[cfg(all(test, unix))]
mod tests {
    use crate::env::{Environment, Fixed};
    use crate::search::{BaseFolders, System, ThisSystem};

    fn found(source: &Fixed) -> Vec<String> {
        let folders = BaseFolders::of(&Environment::new(source), &ThisSystem::FOLDERS);
        let folders = folders.for_settings();
        folders
            .map(|base| String::from_utf8_lossy(base.path).into_owned())
            .collect()
    }

    const FIXED: [&str; 5] = ["/etc/xdg", "/usr/local/etc", "/etc", "/usr/local/share", "/usr/share"];

    #[test]
    fn app_240_app_241_order_of_folders() {
        // Columns: the variables, the expected folders.
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
