//! `vkloader run`: runs a program with variables or settings that select devices, drivers and layers.

mod settings;
mod unknown;

use crate::child;
use crate::commands::{heard, print};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use settings::SettingsFile;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command as Process, ExitCode, ExitStatus};

/// Options of `vkloader run`.
#[derive(Args)]
pub(crate) struct Run {
    /// The only devices to show, in this order, such as type:discrete or pci:0000:65:00.0,type:cpu.
    #[arg(long, value_name = "WORDS", value_parser = OsStringValueParser::new().try_map(with_words))]
    devices: Option<OsString>,
    /// The only drivers to use, as patterns that match the file names of their manifests.
    #[arg(long, value_name = "PATTERNS")]
    drivers: Option<OsString>,
    /// Layers to enable; the first is nearest to the program.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    layers: Vec<OsString>,
    /// Layers to treat as not installed, by patterns of their names.
    #[arg(long, value_name = "PATTERNS")]
    without_layers: Option<OsString>,
    /// The use of the driver catalogue.
    #[arg(long, value_name = "USE", value_parser = ["off", "on", "verify"])]
    catalogue: Option<String>,
    /// A file for the trace.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// An executable whose environment is cleared, and which therefore receives the devices through the settings file.
    #[arg(long, value_name = "PATH", requires = "devices", conflicts_with = "print")]
    executable: Vec<PathBuf>,
    /// Prints the variables for a shell, and runs nothing.
    #[arg(long)]
    print: bool,
    /// A program to run, and its arguments.
    #[arg(last = true, value_name = "PROGRAM", required_unless_present = "print")]
    program: Vec<OsString>,
}

impl Run {
    /// Runs the program. If no settings file is needed, replaces this process by the program.
    ///
    /// # Errors
    ///
    /// The program cannot be started, or another settings file exists.
    pub(crate) fn run(&self) -> io::Result<ExitCode> {
        let variables = self.variables()?;
        unknown::warn(variables.iter().map(|(name, _)| *name));
        let Some((program, arguments)) = self.program.split_first().filter(|_| !self.print) else {
            return print_all(&variables);
        };
        let mut command = Process::new(program);
        command.args(arguments).envs(variables);
        let started = |error| child::naming(program.as_ref(), error);
        let words = self.devices.as_ref().filter(|_| !self.executable.is_empty());
        let Some(words) = words else {
            #[cfg(target_os = "linux")]
            crate::single::remove_own_folder();
            return Err(started(command.exec()));
        };
        let file = SettingsFile::write(words, &self.executable)?;
        let status = file.keep_while(command).map_err(started)?;
        Ok(ExitCode::from(code(status)))
    }

    /// Returns the variables that the options set.
    fn variables(&self) -> io::Result<Vec<(&'static str, OsString)>> {
        let layers = (!self.layers.is_empty()).then(|| self.layers.join(OsStr::new(":")));
        let trace = self.trace.as_ref().map(std::path::absolute).transpose()?;
        let all = [
            ("VK_LOADER_VISIBLE_DEVICES", self.devices.clone()),
            ("VK_LOADER_DRIVERS_SELECT", self.drivers.clone()),
            ("VK_INSTANCE_LAYERS", layers),
            ("VK_LOADER_LAYERS_DISABLE", self.without_layers.clone()),
            ("VK_LOADER_CATALOGUE", self.catalogue.clone().map(OsString::from)),
            ("VK_LOADER_TRACE", trace.map(OsString::from)),
        ];
        Ok(all
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect())
    }
}

/// Rejects a list without a word, because the library would ignore the list. Blanks and commas are not words.
fn with_words(value: OsString) -> Result<OsString, &'static str> {
    let mut bytes = value.as_encoded_bytes().iter();
    let has_word = bytes.any(|&byte| byte != b',' && !byte.is_ascii_whitespace());
    has_word
        .then_some(value)
        .ok_or("name at least one device, or none to hide all")
}

/// Prints assignments in the syntax of a shell.
fn print_all(variables: &[(&str, OsString)]) -> io::Result<ExitCode> {
    let mut text = Vec::new();
    for (name, value) in variables {
        text.extend(b"export ");
        text.extend(name.as_bytes());
        text.extend(b"='");
        for &byte in value.as_encoded_bytes() {
            match byte {
                b'\'' => text.extend(b"'\\''"),
                byte => text.push(byte),
            }
        }
        text.extend(b"'\n");
    }
    text.pop();
    heard(print(text))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the exit status that a shell would report for the program.
fn code(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    u8::try_from(code).unwrap_or(u8::MAX)
}
