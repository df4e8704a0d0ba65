//! Writes the pages and completions of the driver service below the folder that is named.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<()> {
    use clap::CommandFactory;
    let folder = std::env::args_os()
        .nth(1)
        .ok_or_else(|| std::io::Error::other("which folder?"))?;
    pages::write(vk_loader_service::cli::Cli::command(), folder.as_ref())
}

/// It is a program of Linux.
#[cfg(not(target_os = "linux"))]
fn main() {}
