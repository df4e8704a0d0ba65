//! Runs the installed 32-bit `vkloader`, because 32-bit drivers have their own catalogue.

use super::Place;
use crate::carried;
use std::process::{Command, Stdio};

/// Runs `vkloader catalogue` with the arguments `words` in the 32-bit `vkloader`, if that program is installed. The 32-bit `vkloader`
/// prints its own errors, which do not affect the exit status of this program.
pub(super) fn run(place: &Place, words: &[&str]) {
    let Some(program) = carried::program_of_32_bits() else {
        return;
    };
    let mut command = Command::new(&program);
    command.arg("catalogue").args(words);
    if place.user {
        command.arg("--user");
    }
    let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    if let Err(error) = ended {
        anstream::eprintln!("vkloader: {}: {error}", program.display());
    }
}
