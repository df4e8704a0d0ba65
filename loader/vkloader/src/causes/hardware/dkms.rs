//! Finds the state of NVIDIA's kernel module in DKMS or akmods, which build modules for each kernel.

use super::machine::Machine;

/// Folder with a subfolder for each module that DKMS builds.
const FOLDER: &str = "var/lib/dkms";

/// Returns the name and the version of NVIDIA's module in DKMS; `None` if DKMS does not have it.
fn module(machine: &Machine) -> Option<(String, String)> {
    let names = machine.names(FOLDER).into_iter();
    let mut names = names.filter(|name| name.starts_with("nvidia"));
    names.find_map(|name| {
        // Beside the versions, the folder has links to the modules of kernels.
        let is_version = |version: &String| machine.has(&format!("{FOLDER}/{name}/{version}/source"));
        let version = machine
            .names(&format!("{FOLDER}/{name}"))
            .into_iter()
            .rfind(is_version)?;
        Some((name, version))
    })
}

/// Returns the end of a sentence about a kernel without NVIDIA's module: what DKMS did.
pub(super) fn state(machine: &Machine, release: &str) -> String {
    let Some((name, version)) = module(machine) else {
        return String::new();
    };
    let own = format!("{FOLDER}/{name}/{version}");
    if machine.has(&format!("{own}/{release}")) {
        return format!(": DKMS built {name}/{version} for it, but did not install it");
    }
    let log = format!("{own}/build/make.log");
    if machine.has(&log) {
        return format!(": DKMS failed to build {name}/{version}, see /{log}");
    }
    format!(": DKMS has {name}/{version}, but did not build it for this kernel")
}

/// Program that builds kernel modules on Fedora, relative to the root folder.
const AKMODS: &str = "usr/sbin/akmods";
/// Remedy for a kernel without NVIDIA's module on a system with akmods.
const WITH_AKMODS: &str = "Build NVIDIA's kernel module for this kernel, and load it: akmods --force && modprobe nvidia. If akmods fails, read its \
    logs in /var/cache/akmods/nvidia: it needs the package kernel-devel of this kernel, and with Secure Boot a key that the firmware trusts \
    (kmodgenca, mokutil --import).";

/// Returns the remedy for a system on which akmods builds the kernel modules.
pub(super) fn with_akmods(machine: &Machine) -> Option<&'static str> {
    machine.has(AKMODS).then_some(WITH_AKMODS)
}

/// Returns the remedy for a kernel without NVIDIA's module.
pub(super) fn to_build(machine: &Machine, release: &str) -> String {
    let headers = match machine.text("etc/os-release") {
        system
            if system
                .lines()
                .any(|line| line == "ID=fedora" || line == "ID_LIKE=fedora") =>
        {
            format!("kernel-devel-{release}")
        }
        system if system.lines().any(|line| line == "ID=arch") => "linux-headers".into(),
        _ => format!("linux-headers-{release}"),
    };
    let Some((name, version)) = module(machine) else {
        if let Some(remedy) = with_akmods(machine) {
            return remedy.into();
        }
        return format!(
            "Build NVIDIA's kernel module for this kernel: dkms autoinstall, which needs the headers of the kernel ({headers}); or install the package \
             with the module for this kernel."
        );
    };
    let build = format!("dkms install {name}/{version} -k {release}");
    if machine.has(&format!("lib/modules/{release}/build")) {
        return format!(
            "Build NVIDIA's kernel module for this kernel: {build}. If that fails, read /{FOLDER}/{name}/{version}/build/make.log: a new kernel needs a new \
             version of the driver."
        );
    }
    format!("Install the headers of the kernel ({headers}), without which DKMS cannot build the module, then: {build}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_system_with_akmods_builds_the_module_with_it() {
        let root = tempfile::tempdir().expect("a folder");
        let machine = Machine::seen_from(root.path(), None);
        assert_eq!(with_akmods(&machine), None);
        fs::create_dir_all(root.path().join("usr/sbin")).expect("folders");
        fs::write(root.path().join(AKMODS), "").expect("a file");
        assert!(to_build(&machine, "6.1").contains("akmods --force"));
    }
}
