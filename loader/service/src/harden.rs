//! Restricts the process before it serves a client (LSV-24, LSV-51). The process drops privileges, disables core dumps, and gives up the
//! right to start programs and all system calls that it does not need.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod calls;
mod files;

pub use files::restrict_files;

use rustix::fs::{Gid, Uid};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use std::io;
use tracing::warn;

/// Upper bound on the descriptors that are open in this process, or were sent and not yet received. The bound suffices for 512 clients and
/// 2048 closed connections with one unread reply each.
pub const DESCRIPTORS: u64 = 65536;

/// The only capability that the process keeps, if it has the capability. Linux limits the sent descriptors of each user ID. With this
/// capability, the limit does not apply to this process, so root in a container cannot use up the limit with this process's user ID. The
/// capability also allows raising resource limits, which the filter of system calls forbids.
const KEPT: CapabilitySet = CapabilitySet::SYS_RESOURCE;

/// Priority of the process, which users cannot give to their programs.
const NICE: i32 = -10;

/// Raises the priority of a process of root, so that other users cannot take the processor from it by starting many programs. Logs a warning
/// if the system does not allow this, for example in a container.
pub fn raise_priority() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        warn!("the service has no higher priority than programs of users: {error}");
    }
    // Linux may divide the processor between sessions, regardless of the priorities of their processes. A session also has a priority. A
    // process that does not lead its session shares the session with other programs, whose priority does not change.
    // The session of a process can be outside of its PID namespace and then has the ID 0, which rustix cannot represent.
    if nix::unistd::getsid(None) == Ok(nix::unistd::getpid()) {
        let _ = std::fs::write("/proc/self/autogroup", NICE.to_string());
    }
}

/// Drops the privileges that threads inherit, except [`KEPT`], disables core files, and limits descriptors. If the process runs as root,
/// changes the user to `user`, unless `user` is root. If the system refuses the change of user, logs a warning and continues. Must be called
/// before any thread starts. Returns `true` if the process has kept the capability.
///
/// # Errors
/// Returns the error that the system reported for any step other than the change of user.
pub fn drop_privileges(user: u32) -> io::Result<bool> {
    rustix::thread::set_no_new_privs(true)?;
    limit(Resource::Core, 0)?;
    // Only root may raise the upper bound of the limit.
    limit(Resource::Nofile, DESCRIPTORS).or_else(|_| {
        let most = rustix::process::getrlimit(Resource::Nofile).maximum;
        limit(Resource::Nofile, most.unwrap_or(DESCRIPTORS))
    })?;
    drop_bounding_set()?;
    if user != 0 && rustix::process::geteuid().is_root() {
        // Otherwise, the system would drop all capabilities with the change of user.
        rustix::thread::set_keep_capabilities(true)?;
        leave_root(user).unwrap_or_else(|error| warn!("the service stays root, as user {user} is refused: {error}"));
        rustix::thread::set_keep_capabilities(false)?;
    }
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    drop_capabilities()
}

/// Changes the user of the process to `user`. Changes the group to the group with the same ID, and removes all supplementary groups.
fn leave_root(user: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(user));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    Ok(rustix::thread::set_thread_res_uid(user, user, user)?)
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    Ok(rustix::process::setrlimit(resource, limit)?)
}

fn drop_bounding_set() -> io::Result<()> {
    if rustix::thread::capabilities(None)?
        .permitted
        .contains(CapabilitySet::SETPCAP)
    {
        for capability in CapabilitySet::all().iter() {
            // An error means that the kernel does not know the capability. In that case, the process cannot have the capability.
            let _ = rustix::thread::remove_capability_from_bounding_set(capability);
        }
    }
    Ok(())
}

fn drop_capabilities() -> io::Result<bool> {
    let _ = rustix::thread::clear_ambient_capability_set();
    let kept = rustix::thread::capabilities(None)?.permitted & KEPT;
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, sets)?;
    Ok(kept == KEPT)
}

/// Forbids all system calls that the filter in `calls` does not allow, in all threads. Must be called after all threads have started.
///
/// # Errors
/// Returns the error that the system reported.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
pub fn filter_calls() -> io::Result<()> {
    for program in [calls::no_clone3(), calls::program()] {
        let program = program.map_err(io::Error::other)?;
        seccompiler::apply_filter_all_threads(&program).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Does nothing, because there is no filter for this processor.
///
/// # Errors
/// Never returns an error.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
pub fn filter_calls() -> io::Result<()> {
    tracing::warn!("there is no filter of system calls for this processor");
    Ok(())
}
