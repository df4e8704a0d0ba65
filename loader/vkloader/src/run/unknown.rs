//! Warns about variables that the loader of this machine's programs does not support.

use crate::child::{self, Watched};
use crate::probe::{self, Seen};
use crate::regular;
use crate::show;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Beginning of the names of variables that only some loaders support.
const OWN: &str = "VK_LOADER_";
/// Time limit for opening the loader.
const LIMIT: Duration = Duration::from_secs(10);

/// Prints a warning for each variable that has no effect on this machine: the file of the loader that programs use does not contain the
/// variable's name. The command continues, because a program may come with its own loader.
pub(super) fn warn<'a>(variables: impl Iterator<Item = &'a str>) {
    let own: Vec<&str> = variables.filter(|name| name.starts_with(OWN)).collect();
    let Some(loader) = (!own.is_empty()).then(loader).flatten() else {
        return;
    };
    let Ok(bytes) = regular::read(&loader) else { return };
    let knows = |name: &str| bytes.windows(name.len()).any(|part| part == name.as_bytes());
    for name in own.into_iter().filter(|name| !knows(name)) {
        let loader = show::plain(&loader);
        anstream::eprintln!(
            "vkloader: {name} has no effect, unless the program brings its own loader: programs get {loader}, which does not know it"
        );
    }
}

/// Returns the path of the loader that programs use; `None` if programs find no loader.
fn loader() -> Option<String> {
    let mut command = Command::new(crate::itself::path().ok()?);
    command.args([probe::ARGUMENT, "--open-only"]).arg(probe::library(None));
    let watched = Watched {
        keeps_output: true,
        ..Watched::default()
    };
    let finished = child::run(command, LIMIT, watched).ok()?;
    let path = Seen::last(&finished.output)?.library?;
    Path::new(&path).is_file().then_some(path)
}
