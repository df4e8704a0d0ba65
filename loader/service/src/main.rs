//! The program `vk-loader-service`.
#![forbid(unsafe_code)]

use clap::Parser;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tracing::{info, warn};
use vk_loader_service::cli::{Cli, Command, Options};
use vk_loader_service::config::Config;
use vk_loader_service::inspect::Debug;
use vk_loader_service::log::{Log, print};
use vk_loader_service::package::Owner;
use vk_loader_service::server::Server;
use vk_loader_service::socket::Listener;
use vk_loader_service::{accounts, check, harden, make_package, renew};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let log = Arc::new(Log::default());
    tracing_subscriber::fmt()
        .with_writer(log.clone())
        .log_internal_errors(false)
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .with_max_level(tracing::Level::INFO)
        .init();
    let result = run(cli, &log);
    log.print_waiting();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print(&format!("vk-loader-service: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli, log: &Log) -> Result<(), Box<dyn Error>> {
    match cli.command {
        Some(Command::Package {
            library,
            manifest,
            out,
            replace,
        }) => return Ok(make_package::make(&library, &manifest, &out, replace, None)?),
        Some(Command::Packages { manifests, out }) => {
            let usual = || renew::MANIFESTS.iter().map(PathBuf::from).collect();
            let manifests = if manifests.is_empty() { usual() } else { manifests };
            for line in renew::renew(&manifests, &out)? {
                print(&format!("{line}\n"));
            }
            return Ok(());
        }
        None => {}
    }
    let config = cli.options.settings()?;
    if cli.print_config {
        println!("{}", config.text());
    } else if let Some(folder) = cli.check {
        print!("{}", check::check(&folder, Owner::ROOT, config.libraries)?);
    } else {
        serve(&cli.options, log)?;
    }
    Ok(())
}

fn serve(options: &Options, log: &Log) -> Result<(), Box<dyn Error>> {
    let config = options.settings()?;
    harden::raise_priority();
    // All users can read the folder of the socket and the written state (LSV-33, LSV-44), regardless of the inherited umask.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    let variable = |name| std::env::var(name).ok();
    let inherited = Listener::inherited(variable("LISTEN_PID").as_deref(), variable("LISTEN_FDS").as_deref())?;
    let place = match inherited {
        Some(_) => "an inherited socket".to_owned(),
        None => config.socket.display().to_string(),
    };
    let listener = match inherited {
        Some(listener) => listener,
        None => Listener::bind(&config.socket)?,
    };
    let debug = open_debug(&config);
    if !harden::drop_privileges(config.user)? {
        info!("a process with the service's user ID can keep libraries from all programs: CAP_SYS_RESOURCE is missing");
    }
    // Administrators may replace these folders while the service runs, so the rules allow their parent folders.
    let replaced = config.roots.iter().chain([&config.dri]);
    let read = replaced.map(|folder| folder.parent().unwrap_or(folder));
    let state = config.run.join("debug");
    let written = debug.iter().map(|_| state.as_path());
    // `/etc` contains the file with the ranges of user IDs, and the other folder shows the namespaces of clients (LSV-46).
    // Without `/proc`, a rule for a folder below it would allow all files.
    let descriptors = Some(Path::new(accounts::DESCRIPTORS)).filter(|folder| folder.exists());
    let read = read.chain([&*config.sys, Path::new("/etc")]).chain(descriptors);
    if !harden::restrict_files(read, written)? {
        info!("the system does not restrict the files that the service can open: it has no Landlock");
    }
    log.start()?;
    info!("listening on {place}");
    let server = Server::new(config, listener, debug)?;
    harden::filter_calls()?;
    server.run()?;
    Ok(())
}

fn open_debug(config: &Config) -> Option<Debug> {
    let folder = config.run.join("debug");
    match Debug::new(&folder, config.user) {
        Ok(debug) => Some(debug),
        Err(error) => {
            warn!("the state is not written to {}: {error}", folder.display());
            None
        }
    }
}
