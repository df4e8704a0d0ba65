//! The command line.

use crate::config::{Config, ConfigError};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Hands Vulkan drivers to sandboxed programs through one socket.
#[derive(Debug, Parser)]
#[command(name = "vk-loader-service", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What goes over the configuration file.
    #[command(flatten)]
    pub options: Options,
    /// Look at the package in FOLDER, print what would be published, and end: with 0 if it can be used, with 1 if not
    #[arg(long, value_name = "FOLDER")]
    pub check: Option<PathBuf>,
    /// Print the settings in the form of the configuration file, and end
    #[arg(long, conflicts_with = "check")]
    pub print_config: bool,
    /// What else there is to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What goes over the configuration file.
#[derive(Args, Debug, Default)]
pub struct Options {
    /// The configuration file [default: /etc/vulkan-loader/service.json, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where clients connect
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// A folder with packages; may be given several times
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// The folder of device nodes
    #[arg(long, value_name = "DIR")]
    pub dri: Option<PathBuf>,
    /// Where sysfs is
    #[arg(long, value_name = "DIR")]
    pub sys: Option<PathBuf>,
    /// The folder in which debug/ is written
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
    /// Do not listen to udev: for containers
    #[arg(long)]
    pub no_udev: bool,
}

/// What else there is to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a package of an installed driver
    Package {
        /// The driver's library: a path, or the name that the manifest has for it
        library: PathBuf,
        /// The driver's manifest
        manifest: PathBuf,
        /// The folder to make
        out: PathBuf,
    },
}

impl Options {
    /// The settings of the file with what the command line says instead.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn settings(&self) -> Result<Config, ConfigError> {
        let mut config = Config::read(self.config.as_deref())?;
        for (option, setting) in [
            (&self.socket, &mut config.socket),
            (&self.dri, &mut config.dri),
            (&self.sys, &mut config.sys),
            (&self.run, &mut config.run),
        ] {
            if let Some(path) = option {
                setting.clone_from(path);
            }
        }
        if !self.root.is_empty() {
            config.roots.clone_from(&self.root);
        }
        config.udev &= !self.no_udev;
        Ok(config)
    }
}
