//! Names the shared library, binds the library's own symbols inside it, and adds a description of the library on systems that expect one.

mod version_resource;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    name_and_bind();
    // `VKL_LAYOUTS` names a file with the sizes and offsets that tests for other targets assert.
    println!("cargo:rerun-if-env-changed=VKL_LAYOUTS");
    if let Ok(rows) = std::env::var("VKL_LAYOUTS") {
        println!("cargo:rerun-if-changed={rows}");
        println!("cargo:rustc-cfg=vkl_layouts");
    }
    println!("cargo:rerun-if-env-changed=VKL_STEPS_ASIDE");
    let asked = std::env::var("VKL_STEPS_ASIDE").is_ok_and(|value| value == "1");
    if asked || std::env::var_os("CARGO_FEATURE_STEPS_ASIDE").is_some() {
        println!("cargo:rustc-cfg=vkl_steps_aside");
    }
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "windows") {
        match std::env::var("CARGO_CFG_TARGET_ENV").as_deref() {
            Ok("msvc") => link_like_microsoft(),
            _ => {
                // The list of exports also names the library, so Microsoft's linker needs no option for the name.
                let exports = concat!(env!("CARGO_MANIFEST_DIR"), "/../generated/exports/windows.def");
                println!("cargo:rerun-if-changed={exports}");
                link(format_args!("{exports}"));
            }
        }
        version_resource::link();
        // On Windows, the shipped library uses the standard library, so `vkl_shipped` is not set.
        return;
    }
    // The shipped library uses neither the standard library nor its panic handler.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo:rustc-cfg=vkl_shipped");
        let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
        if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
            println!("cargo:rustc-cfg=vkl_one_frame");
        }
        // The crate `libc` may be built without the feature that links the C library, so the build script
        // links the C library.
        println!("cargo:rustc-link-lib=c");
    }
}

fn name_and_bind() {
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if let Some((_, name)) = ELF.iter().find(|(elf, _)| *elf == system) {
        // On Fuchsia, rustc calls the linker directly, without a C compiler that would need the prefix.
        let comma = if system == "fuchsia" { "" } else { "-Wl," };
        link(format_args!("{comma}-soname={name}"));
        // A driver that exports Vulkan names must never be bound instead of this library's functions (DRV-77).
        link(format_args!("{comma}-Bsymbolic"));
        println!("cargo:rustc-cfg=vkl_binds_own_symbols");
    }
    if std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple") {
        // On Apple's systems, a library binds its own symbols by default, so no option like `-Bsymbolic` is needed.
        link(format_args!("-Wl,-install_name,{APPLE}"));
        link(format_args!("-Wl,-compatibility_version,1.0.0"));
        // The crate `libc` links a library that the loader does not use. The linker drops this unused library.
        link(format_args!("-Wl,-dead_strip_dylibs"));
        // On Apple's systems, the last part of a version has only eight bits, which do not suffice for the patch number of the Vulkan
        // headers.
        const CURRENT: &str = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
        link(format_args!("-Wl,-current_version,{CURRENT}"));
    }
}

/// Sets the name of the library for Microsoft's linkers. On Windows, the name of a library is the name of its file. The linker therefore
/// writes the file directly into cargo's output folder, under that name. The compiler supplies the list of exports, because Microsoft's
/// linker accepts only one list.
fn link_like_microsoft() {
    let own = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names the folder"));
    // `OUT_DIR` is three levels below the folder of the profile.
    let folder = own
        .ancestors()
        .nth(3)
        .expect("cargo's folder lies in that of the profile");
    link(format_args!("/out:{}", folder.join("vulkan-1.dll").display()));
    link(format_args!("/implib:{}", folder.join("vulkan-1.lib").display()));
    if is_guarded() {
        println!("cargo:rustc-cfg=vkl_guarded");
    }
}

/// Returns `true` if the compiler uses Control Flow Guard to check calls through pointers. In that case, the loader's assembly code also
/// checks its jumps through tables.
fn is_guarded() -> bool {
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let mut values = flags.split('\x1f').filter_map(|flag| {
        let option = flag.trim_start_matches("-C").trim_start();
        option.strip_prefix("control-flow-guard")
    });
    values
        .next_back()
        .is_some_and(|value| ["", "=y", "=yes", "=on", "=true", "=checks"].contains(&value))
}

fn link(argument: std::fmt::Arguments<'_>) {
    println!("cargo:rustc-cdylib-link-arg={argument}");
}

/// Name under which programs load the library, on the systems with ELF files. On a listed system, the library binds its own symbols. The
/// names for Android and Fuchsia have no numbers, because a library with a number in its name cannot be packaged there.
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

/// Name under which programs load the library on Apple's systems (APP-1). The program that loads the library lists the folders for
/// `@rpath`.
const APPLE: &str = "@rpath/libvulkan.1.dylib";
