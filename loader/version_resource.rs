//! The version resource of `vulkan-1.dll`, with the facts that Windows shows about the file.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a build may end for want of memory"
)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Links the resource, if a tool for it is installed. The library works without the resource, so a missing tool only causes a message.
pub(crate) fn link() {
    println!("cargo:rerun-if-changed=version_resource.rs");
    println!("cargo:rerun-if-env-changed=WINDRES");
    println!("cargo:rerun-if-env-changed=RC");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    let source = folder.join("version.rc");
    fs::write(&source, text(env!("CARGO_PKG_VERSION"))).expect("cargo's folder is writable");
    let compiled = match env::var("CARGO_CFG_TARGET_ENV").as_deref() {
        Ok("msvc") => with_rc(&source, &folder.join("version.res")),
        _ => with_windres(&source, &folder.join("version.o")),
    };
    match compiled {
        Some(compiled) => println!("cargo:rustc-cdylib-link-arg={}", compiled.display()),
        None => println!("cargo:warning=no windres or rc was found, so vulkan-1.dll gets no version resource"),
    }
}

fn with_windres(source: &Path, compiled: &Path) -> Option<PathBuf> {
    let (format, own) = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => ("pe-x86-64", "x86_64-w64-mingw32-windres"),
        Ok("x86") => ("pe-i386", "i686-w64-mingw32-windres"),
        _ => return None,
    };
    first_that_runs("WINDRES", &[own, "x86_64-w64-mingw32-windres", "windres"], |tool| {
        tool.args(["-O", "coff", "-F", format, "-i"])
            .arg(source)
            .arg("-o")
            .arg(compiled)
    })
    .then(|| compiled.to_owned())
}

fn with_rc(source: &Path, compiled: &Path) -> Option<PathBuf> {
    first_that_runs("RC", &["rc", "llvm-rc"], |tool| {
        tool.arg("/fo").arg(compiled).arg(source)
    })
    .then(|| compiled.to_owned())
}

/// Runs the tool that a variable names, or else the first tool of `usual` that works.
fn first_that_runs(variable: &str, usual: &[&str], arguments: impl Fn(&mut Command) -> &mut Command) -> bool {
    let named = env::var(variable).ok();
    let runs = |name: &str| {
        arguments(&mut Command::new(name))
            .status()
            .is_ok_and(|status| status.success())
    };
    match &named {
        Some(named) => runs(named),
        None => usual.iter().any(|name| runs(name)),
    }
}

/// Returns the source text of the resource. The resource's language is American English, in UTF-16.
fn text(version: &str) -> String {
    // The resource can contain only numbers, so this line removes a suffix that a packager added to the version.
    let numbers = version.split(['-', '+']).next().unwrap_or(version).replace('.', ",");
    format!(
        r#"1 VERSIONINFO
FILEVERSION {numbers},0
PRODUCTVERSION {numbers},0
FILEFLAGSMASK 0x3FL
FILEFLAGS 0
FILEOS 0x40004L
FILETYPE 2
BEGIN
  BLOCK "StringFileInfo"
  BEGIN
    BLOCK "040904B0"
    BEGIN
      VALUE "CompanyName", "The authors of vulkan-loader"
      VALUE "FileDescription", "Vulkan Loader"
      VALUE "FileVersion", "{version}.0"
      VALUE "InternalName", "vulkan-1.dll"
      VALUE "LegalCopyright", "{license}"
      VALUE "OriginalFilename", "vulkan-1.dll"
      VALUE "ProductName", "Vulkan Loader"
      VALUE "ProductVersion", "{version}.0"
    END
  END
  BLOCK "VarFileInfo"
  BEGIN
    VALUE "Translation", 0x0409, 1200
  END
END
"#,
        license = env!("CARGO_PKG_LICENSE"),
    )
}
