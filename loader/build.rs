//! Names the shared library, binds its own symbols inside it, and says what it is where systems ask for that.

mod version_resource;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libvulkan.so.1");
        // A driver that exports Vulkan names must never be bound in place of ours (DRV-77).
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        println!("cargo:rustc-cfg=vkl_binds_own_symbols");
    }
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "windows") {
        // The name that programs ask for stands in the library itself.
        let exports = concat!(env!("CARGO_MANIFEST_DIR"), "/../generated/exports/windows.def");
        println!("cargo:rerun-if-changed={exports}");
        println!("cargo:rustc-cdylib-link-arg={exports}");
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
