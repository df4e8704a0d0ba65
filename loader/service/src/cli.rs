//! The command line of the service.

use crate::config::Config;
use crate::failure::Failure;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Hands Vulkan drivers to sandboxed programs through one socket.
#[derive(Debug, Parser)]
#[command(name = "vk-loader-service", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// The options that take precedence over the configuration file.
    #[command(flatten)]
    pub options: Options,
    /// Checks the package in FOLDER, prints what the service would publish, and exits with 0 if the package can be used, else with 1
    #[arg(long, value_name = "FOLDER")]
    pub check: Option<PathBuf>,
    /// Prints the settings in the format of the configuration file, and exits
    #[arg(long, conflicts_with = "check")]
    pub print_config: bool,
    /// The command; `None` to run the service.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The options that take precedence over the configuration file.
#[derive(Args, Debug, Default)]
pub struct Options {
    /// The configuration file [default: /etc/vulkan-loader/service.json, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The socket for clients
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// A folder with packages; may be given several times
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// The folder of device nodes
    #[arg(long, value_name = "DIR")]
    pub dri: Option<PathBuf>,
    /// The folder where sysfs is mounted
    #[arg(long, value_name = "DIR")]
    pub sys: Option<PathBuf>,
    /// The folder in which the service writes debug/
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
}

/// Commands that replace running the service.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Makes a package of an installed driver
    Package {
        /// The driver's library: a path, or the name in the manifest
        library: PathBuf,
        /// The driver's manifest
        manifest: PathBuf,
        /// The folder to create; its name ends in -32 for a driver for 32-bit programs only
        out: PathBuf,
        /// Replaces an existing package
        #[arg(long)]
        replace: bool,
    },
    /// Makes packages of all installed drivers of both word sizes, and renews or removes packages that it made before
    Packages {
        /// A folder with manifests of drivers; may be given several times [default: the folders of the system]
        #[arg(long, value_name = "DIR")]
        manifests: Vec<PathBuf>,
        /// The folder for packages
        #[arg(long, value_name = "DIR", default_value = "/usr/lib/vulkan-icd")]
        out: PathBuf,
    },
}

impl Options {
    /// Returns the settings of the file, overridden by the options.
    ///
    /// # Errors
    /// The file cannot be read, or its content is invalid.
    pub fn settings(&self) -> Result<Config, Failure> {
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
        Ok(config)
    }
}
