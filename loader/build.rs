//! Names the shared library, binds its own symbols inside it, and says what it is where systems ask for that.

mod version_resource;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    name_and_bind();
    // Rows of sizes and offsets to assert, for tests on other targets.
    println!("cargo:rerun-if-env-changed=VKL_LAYOUTS");
    if let Ok(rows) = std::env::var("VKL_LAYOUTS") {
        println!("cargo:rerun-if-changed={rows}");
        println!("cargo:rustc-cfg=vkl_layouts");
    }
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "windows") {
        // The name that programs ask for stands in the library itself.
        let exports = concat!(env!("CARGO_MANIFEST_DIR"), "/../generated/exports/windows.def");
        println!("cargo:rerun-if-changed={exports}");
        // A Microsoft-style linker treats a bare file as an object; GNU's linker accepts any file.
        let is_msvc = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "msvc");
        link(format_args!("{}{exports}", if is_msvc { "/def:" } else { "" }));
        version_resource::link();
        // The standard library is part of what ships there.
        return;
    }
    // What ships goes without the standard library, its panic handler included.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo:rustc-cfg=vkl_shipped");
        // Its symbols come from nowhere else, whatever features the crate `libc` was built with.
        println!("cargo:rustc-link-lib=c");
    }
}

fn name_and_bind() {
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if let Some((_, name)) = ELF.iter().find(|(elf, _)| *elf == system) {
        // Where the compiler does not link, the linker takes its arguments itself.
        let comma = if system == "fuchsia" { "" } else { "-Wl," };
        link(format_args!("{comma}-soname={name}"));
        // A driver that exports Vulkan names must never be bound in place of ours (DRV-77).
        link(format_args!("{comma}-Bsymbolic"));
        println!("cargo:rustc-cfg=vkl_binds_own_symbols");
    }
    if std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple") {
        // Symbols of a library are its own there, unless it asks otherwise.
        link(format_args!("-Wl,-install_name,{APPLE}"));
        link(format_args!("-Wl,-compatibility_version,1.0.0"));
        // The last number has eight bits there, which those of headers exceed.
        const CURRENT: &str = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
        link(format_args!("-Wl,-current_version,{CURRENT}"));
    }
}

fn link(argument: std::fmt::Arguments<'_>) {
    println!("cargo:rustc-cdylib-link-arg={argument}");
}

/// By which name programs ask for the library, on the systems whose libraries are ELF files. One that is listed binds its own
/// symbols. Android and Fuchsia have no numbers in names: what has one cannot be packaged there.
const ELF: [(&str, &str); 12] = [
    ("linux", "libvulkan.so.1"),
    ("freebsd", "libvulkan.so.1"),
    ("netbsd", "libvulkan.so.1"),
    ("openbsd", "libvulkan.so.1"),
    ("dragonfly", "libvulkan.so.1"),
    ("hurd", "libvulkan.so.1"),
    ("illumos", "libvulkan.so.1"),
    ("solaris", "libvulkan.so.1"),
    ("haiku", "libvulkan.so.1"),
    ("nto", "libvulkan.so.1"),
    ("android", "libvulkan.so"),
    ("fuchsia", "libvulkan.so"),
];

/// The same on Apple's systems (APP-1): the folder is one that the program names.
const APPLE: &str = "@rpath/libvulkan.1.dylib";
