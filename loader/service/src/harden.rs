//! What the process gives up before it serves anybody (LSV-24, LSV-51): privileges, core dumps, programs, and all calls of the system
//! that it does not make itself.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod calls;

use rustix::process::{DumpableBehavior, Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use std::io;

/// Descriptors that may be open or on their way to clients: what 256 clients can leave unread.
const DESCRIPTORS: u64 = 65536;

/// Gives up what threads inherit: to be called before any is started.
///
/// # Errors
/// What the system says.
pub fn drop_privileges() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    limit(Resource::Core, 0)?;
    let most = rustix::process::getrlimit(Resource::Nofile)
        .maximum
        .unwrap_or(DESCRIPTORS);
    limit(Resource::Nofile, most.min(DESCRIPTORS))?;
    drop_capabilities()
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    Ok(rustix::process::setrlimit(resource, limit)?)
}

fn drop_capabilities() -> io::Result<()> {
    let none = CapabilitySet::empty();
    if rustix::thread::capabilities(None)?
        .permitted
        .contains(CapabilitySet::SETPCAP)
    {
        for capability in CapabilitySet::all().iter() {
            // One that the system does not know is not there either.
            let _ = rustix::thread::remove_capability_from_bounding_set(capability);
        }
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    Ok(rustix::thread::set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?)
}

/// Forbids all calls but those of the table, in all threads: to be called when they run.
///
/// # Errors
/// What the system says.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
pub fn filter_calls() -> io::Result<()> {
    let program = calls::program().map_err(io::Error::other)?;
    seccompiler::apply_filter_all_threads(&program).map_err(io::Error::other)
}

/// Says that there is no filter for this processor.
///
/// # Errors
/// None.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
pub fn filter_calls() -> io::Result<()> {
    tracing::warn!("there is no filter of system calls for this processor");
    Ok(())
}
