//! Names the shared library, binds its own symbols inside it, and finds out what the compiler can do.

/// The first minor version of Rust 1 that compiles naked functions.
const NAKED_FUNCTIONS: u32 = 88;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if os == "linux" {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libvulkan.so.1");
        // A driver that exports Vulkan names must never be bound in place of ours (DRV-77).
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    }
    let is_gnu = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if os == "linux" && is_gnu && has_static_unwinder() {
        // Finding and opening libgcc_s would take longer than opening this library.
        println!("cargo:rustc-link-lib=gcc_eh");
    }
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64")
        && compiler().is_some_and(|minor| minor >= NAKED_FUNCTIONS)
    {
        println!("cargo:rustc-cfg=vkl_naked");
    }
}

/// Whether the C compiler that links has the unwinder, which prints backtraces of panics, as an archive.
fn has_static_unwinder() -> bool {
    const ARCHIVE: &str = "libgcc_eh.a";
    let linker = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let answer = std::process::Command::new(linker)
        .arg(format!("-print-file-name={ARCHIVE}"))
        .output();
    // A compiler without it answers with the bare name.
    answer.is_ok_and(|answer| String::from_utf8_lossy(&answer.stdout).trim().len() > ARCHIVE.len())
}

/// The minor version of the compiler.
fn compiler() -> Option<u32> {
    let told = std::process::Command::new(std::env::var_os("RUSTC")?)
        .arg("--version")
        .output()
        .ok()?;
    let text = String::from_utf8(told.stdout).ok()?;
    text.strip_prefix("rustc 1.")?.split('.').next()?.parse().ok()
}
