//! Names the shared library and binds its own symbols inside it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if os == "linux" {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libvulkan.so.1");
        // A driver that exports Vulkan names must never be bound in place of ours (DRV-77).
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    }
}
