//! The program.
#![forbid(unsafe_code)]

use clap::Parser;
use std::error::Error;
use std::process::ExitCode;
use tracing::info;
use vk_loader_service::cli::{Cli, Command, Options};
use vk_loader_service::package::Owner;
use vk_loader_service::server::Server;
use vk_loader_service::socket::Listener;
use vk_loader_service::{check, harden, make_package};

fn main() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .with_max_level(tracing::Level::INFO)
        .init();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("vk-loader-service: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<(), Box<dyn Error>> {
    if let Some(Command::Package { library, manifest, out }) = cli.command {
        make_package::make(&library, &manifest, &out)?;
        return Ok(());
    }
    let config = cli.options.settings()?;
    if cli.print_config {
        println!("{}", config.json());
    } else if let Some(folder) = cli.check {
        print!("{}", check::check(&folder, Owner::ROOT, config.libraries)?);
    } else {
        serve(&cli.options)?;
    }
    Ok(())
}

fn serve(options: &Options) -> Result<(), Box<dyn Error>> {
    let config = options.settings()?;
    // The socket's folder and the written state are readable for all users (LSV-33, LSV-44), whatever the umask at the start.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    let variable = |name| std::env::var(name).ok();
    let inherited = Listener::inherited(variable("LISTEN_PID").as_deref(), variable("LISTEN_FDS").as_deref())?;
    let listener = match inherited {
        Some(listener) => {
            info!("listening on an inherited socket");
            listener
        }
        None => {
            info!("listening on {}", config.socket.display());
            Listener::bind(&config.socket)?
        }
    };
    harden::drop_privileges()?;
    let server = Server::new(config, listener)?;
    harden::filter_calls()?;
    server.run()?;
    Ok(())
}
