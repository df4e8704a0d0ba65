//! What the process gives up before it serves anybody (LSV-24, LSV-51): privileges, core dumps, programs, and all calls of the system
//! that it does not make itself.

use libc::c_long;
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::io;
use tracing::warn;

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

/// Calls that are allowed with any arguments. No program is started, no socket made, nothing is signalled.
const ALLOWED: &[c_long] = &[
    // The loop and its clients.
    libc::SYS_accept4,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_getsockopt,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_setsockopt,
    // Files, packages and memory files.
    libc::SYS_close,
    libc::SYS_fchmod,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_ftruncate,
    libc::SYS_getdents64,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_rm_watch,
    libc::SYS_lseek,
    libc::SYS_memfd_create,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_statx,
    libc::SYS_unlinkat,
    libc::SYS_write,
    libc::SYS_writev,
    // What the standard library and the C library need for memory, threads and time.
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    // A panic ends in this.
    libc::SYS_tgkill,
];

/// Those that only this processor has.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[c_long] = &[libc::SYS_epoll_wait, libc::SYS_open, libc::SYS_readlink];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[c_long] = &[];

/// Forbids all calls but those of the table, in all threads: to be called when they run.
///
/// # Errors
/// What the system says.
pub fn filter_calls() -> io::Result<()> {
    let Some(program) = program().map_err(io::Error::other)? else {
        warn!("there is no filter of system calls for this processor");
        return Ok(());
    };
    seccompiler::apply_filter_all_threads(&program).map_err(io::Error::other)
}

fn program() -> Result<Option<BpfProgram>, seccompiler::BackendError> {
    let Ok(processor) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Ok(None);
    };
    let mut rules: BTreeMap<_, _> = ALLOWED
        .iter()
        .chain(ALLOWED_HERE)
        .map(|call| (*call, Vec::new()))
        .collect();
    // Memory that is no file and no program: drivers are never mapped (LSV-24).
    let is_no_program = || masked(2, libc::PROT_EXEC, 0);
    let is_no_file = masked(3, libc::MAP_ANONYMOUS, libc::MAP_ANONYMOUS)?;
    rules.insert(
        libc::SYS_mmap,
        vec![SeccompRule::new(vec![is_no_program()?, is_no_file])?],
    );
    rules.insert(libc::SYS_mprotect, vec![SeccompRule::new(vec![is_no_program()?])?]);
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, processor)?;
    BpfProgram::try_from(filter).map(Some)
}

/// An argument whose bits under a mask have a value.
fn masked(argument: u8, mask: i32, value: i32) -> Result<SeccompCondition, seccompiler::BackendError> {
    let bits = |number: i32| u64::from(number.cast_unsigned());
    let operator = SeccompCmpOp::MaskedEq(bits(mask));
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, bits(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_51_the_filter_is_one() {
        assert!(program().unwrap().is_some_and(|program| program.len() > ALLOWED.len()));
        for call in [
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_ptrace,
            libc::SYS_kill,
        ] {
            assert!(!ALLOWED.contains(&call), "{call}");
        }
    }
}
