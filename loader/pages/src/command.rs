//! Writes the manual page of a command.

use crate::sections;
use clap::{Arg, ArgAction, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use std::io;
use std::path::Path;

/// Writes the page of a command, and a page for each of its visible subcommands. The caller must have called `Command::build`.
///
/// # Errors
///
/// Returns the system's error if a file cannot be written.
pub(crate) fn write(command: &Command, folder: &Path) -> io::Result<()> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        write(inner, folder)?;
    }
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let section = sections::number(name);
    let page = Man::new(command.clone()).section(section);
    let mut text = title(name, section).into_bytes();
    page.render_name_section(&mut text)?;
    synopsis(command).to_writer(&mut text)?;
    page.render_description_section(&mut text)?;
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        page.render_options_section(&mut text)?;
    }
    if command.get_subcommands().any(|inner| !inner.is_hide_set()) {
        page.render_subcommands_section(&mut text)?;
    }
    text.extend(sections::of(name).unwrap_or_default().as_bytes());
    std::fs::write(folder.join(page.get_filename()), text)
}

/// Returns the first line of a page. `Man` would omit an empty date, and would print the name of the project instead of the date.
pub(crate) fn title(name: &str, section: &str) -> String {
    format!(
        ".TH \"{name}\" \"{section}\" \"\" \"vulkan-loader-rs {}\" \"Vulkan loader\"\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Returns the section that shows the syntax of the command line: each option with its value.
fn synopsis(command: &Command) -> Roff {
    let mut line = vec![bold(command.get_bin_name().unwrap_or_else(|| command.get_name()))];
    let shown = |arg: &&Arg| !arg.is_hide_set();
    for arg in command.get_arguments().filter(shown).filter(|arg| !arg.is_positional()) {
        let name = match (arg.get_long(), arg.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => continue,
        };
        let mut words = vec![bold(name)];
        if arg.get_action().takes_values() {
            words.extend([roman(" "), italic(value(arg))]);
        }
        push(&mut line, words, arg);
    }
    for arg in command.get_positionals().filter(shown) {
        let mut words = Vec::new();
        if arg.is_last_set() {
            words.extend([bold("--"), roman(" ")]);
        }
        words.push(italic(value(arg)));
        if matches!(arg.get_action(), ArgAction::Append) {
            words.push(roman(" ..."));
        }
        push(&mut line, words, arg);
    }
    if command.has_subcommands() {
        line.extend([roman(" "), italic("COMMAND")]);
    }
    let mut section = Roff::new();
    section.control("SH", ["SYNOPSIS"]).text(line);
    section
}

/// Returns the placeholder for an argument's value.
fn value(arg: &Arg) -> String {
    let names: Vec<&str> = arg
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(|name| name.as_str())
        .collect();
    if names.is_empty() {
        arg.get_id().as_str().to_uppercase()
    } else {
        names.join(" ")
    }
}

/// Adds words to a line. Encloses them in brackets if the argument is optional.
fn push(line: &mut Vec<Inline>, words: Vec<Inline>, arg: &Arg) {
    let (open, close) = if arg.is_required_set() { (" ", "") } else { (" [", "]") };
    line.push(roman(open));
    line.extend(words);
    line.push(roman(close));
}
