//! The program of 32 bits that is installed beside this one: drivers of 32 bits have a catalogue of their own.

use super::Place;
use crate::carried;
use std::process::{Command, Stdio};

/// Lets the program of 32 bits do the same with these words, where it is installed. It tells by itself what goes wrong, which is no failure of
/// this program.
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
