//! Manual pages and shell completions, from the definition of a command line itself: what packages install beside the programs.
#![forbid(unsafe_code)]

use clap::Command;
use clap_complete::{Shell, generate_to};
use std::io;
use std::path::Path;

/// The shells whose completions are written; each has a folder of its own in packages.
const SHELLS: [(Shell, &str); 3] = [(Shell::Bash, "bash"), (Shell::Fish, "fish"), (Shell::Zsh, "zsh")];

/// Writes `man/NAME.1`, a page for each command that is not hidden, and the completions in `bash`, `fish` and `zsh`, below a folder, which
/// is made. The same definition gives the same bytes.
///
/// # Errors
///
/// What the system said of a folder or file that could not be written.
pub fn write(command: Command, folder: &Path) -> io::Result<()> {
    // The pages have what it would print.
    let mut command = command.disable_help_subcommand(true);
    let name = command.get_name().to_owned();
    for (shell, place) in SHELLS {
        let place = folder.join(place);
        std::fs::create_dir_all(&place)?;
        generate_to(shell, &mut command, &name, place)?;
    }
    let pages = folder.join("man");
    std::fs::create_dir_all(&pages)?;
    clap_mangen::generate_to(command, pages)
}
