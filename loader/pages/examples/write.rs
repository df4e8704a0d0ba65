//! Writes the manual pages and completions of all programs to the folder that the argument names.
#![forbid(unsafe_code)]

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os()
        .nth(1)
        .ok_or_else(|| std::io::Error::other("which folder?"))?;
    pages::write(vkloader::command_line(), folder.as_ref())?;
    pages::write_others(folder.as_ref())?;
    service(folder.as_ref())
}

#[cfg(target_os = "linux")]
fn service(folder: &std::path::Path) -> std::io::Result<()> {
    use clap::CommandFactory;
    pages::write(vk_loader_service::cli::Cli::command(), folder)
}

/// Does nothing on this system, because the service exists only on Linux.
#[cfg(not(target_os = "linux"))]
fn service(_: &std::path::Path) -> std::io::Result<()> {
    Ok(())
}
