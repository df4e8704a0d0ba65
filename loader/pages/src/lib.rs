//! Writes manual pages and shell completions for the programs. The pages of commands come from the definitions of the command lines and
//! from `sections/`. The module [`other`] writes the pages that are not about commands.
#![forbid(unsafe_code)]

mod command;
mod other;
mod sections;

use clap::Command;
use clap_complete::{Shell, generate_to};
use std::io;
use std::path::Path;

pub use other::write_others;

/// The shells for which completions are written. Packages have a folder for each shell.
const SHELLS: [(Shell, &str); 3] = [(Shell::Bash, "bash"), (Shell::Fish, "fish"), (Shell::Zsh, "zsh")];

/// Creates a folder and writes `man/NAME.1` into it, or `man/NAME.8` for a program that administrators run. Also writes a page for each
/// visible subcommand, and the completions in `bash`, `fish` and `zsh`. Writes the same bytes for the same definition.
///
/// # Errors
///
/// Returns the system's error if a folder or file cannot be written.
pub fn write(command: Command, folder: &Path) -> io::Result<()> {
    // The pages already contain the text of the command `help`.
    let mut command = command.disable_help_subcommand(true);
    let name = command.get_name().to_owned();
    for (shell, place) in SHELLS {
        let place = folder.join(place);
        std::fs::create_dir_all(&place)?;
        generate_to(shell, &mut command, &name, place)?;
    }
    let pages = folder.join("man");
    std::fs::create_dir_all(&pages)?;
    command.build();
    command::write(&command, &pages)
}
