//! The filter of system calls, for the processors for which a filter can be built.

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

/// System calls that are allowed with any arguments. No allowed call starts a program. Only `accept4` creates a socket, for a client that
/// connects, and only `tgkill` sends a signal. The list contains `clone3` because another filter, [`no_clone3`], decides about that call.
const ALLOWED: &[c_long] = &[
    // System calls of the main loop and for clients.
    libc::SYS_accept4,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_getsockopt,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    // System calls for files, packages and memory files.
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
    libc::SYS_renameat2,
    libc::SYS_statx,
    libc::SYS_unlinkat,
    libc::SYS_write,
    libc::SYS_writev,
    // System calls of the standard library and the C library: memory, threads and time.
    libc::SYS_brk,
    libc::SYS_clone3,
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
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    // A panic calls `abort`, which uses this system call.
    libc::SYS_tgkill,
];

/// Further allowed system calls, which exist only on some processors.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[c_long] = &[
    libc::SYS_epoll_wait,
    libc::SYS_open,
    libc::SYS_readlink,
    libc::SYS_renameat,
];
#[cfg(target_arch = "aarch64")]
const ALLOWED_HERE: &[c_long] = &[libc::SYS_renameat];
#[cfg(target_arch = "riscv64")]
const ALLOWED_HERE: &[c_long] = &[];

/// The only allowed request of `ioctl`: the number of bytes that were sent but not read.
const UNREAD: i32 = libc::TIOCOUTQ as i32;

/// Returns the filter of system calls.
///
/// # Errors
/// Returns an error if the rules are invalid for this processor.
pub(super) fn program() -> Result<BpfProgram, BackendError> {
    let processor = TargetArch::try_from(std::env::consts::ARCH)?;
    let mut rules: BTreeMap<_, _> = ALLOWED
        .iter()
        .chain(ALLOWED_HERE)
        .map(|call| (*call, Vec::new()))
        .collect();
    // Allows mapping memory only without `PROT_EXEC` and without a file, because the service never maps drivers as code (LSV-24).
    let is_no_program = || masked(2, libc::PROT_EXEC, 0);
    let is_no_file = masked(3, libc::MAP_ANONYMOUS, libc::MAP_ANONYMOUS)?;
    rules.insert(
        libc::SYS_mmap,
        vec![SeccompRule::new(vec![is_no_program()?, is_no_file])?],
    );
    rules.insert(libc::SYS_mprotect, vec![SeccompRule::new(vec![is_no_program()?])?]);
    // Allows new threads, but no new processes. Allows `unshare` for descriptors, and `close_range` with the same effect, because a thread
    // with its own copies of the descriptors closes those that a client sent.
    let is_thread = masked(
        0,
        libc::CLONE_THREAD | libc::CLONE_VM,
        libc::CLONE_THREAD | libc::CLONE_VM,
    )?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![is_thread])?]);
    let are_files = masked(0, -1, libc::CLONE_FILES)?;
    rules.insert(libc::SYS_unshare, vec![SeccompRule::new(vec![are_files])?]);
    let closes_none = masked(0, -1, -1)?;
    let copies = masked(2, -1, libc::CLOSE_RANGE_UNSHARE.cast_signed())?;
    rules.insert(
        libc::SYS_close_range,
        vec![SeccompRule::new(vec![closes_none, copies])?],
    );
    // Allows the query for the number of sent bytes that a client has not read.
    let is_unread = masked(1, -1, UNREAD)?;
    rules.insert(libc::SYS_ioctl, vec![SeccompRule::new(vec![is_unread])?]);
    let is_name = masked(0, -1, libc::PR_SET_NAME)?;
    rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![is_name])?]);
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, processor)?;
    BpfProgram::try_from(filter)
}

/// Returns the filter that makes the C library use `clone` to start threads. A filter can examine the flags of `clone`, but not those of
/// `clone3`.
///
/// # Errors
/// Returns an error if the rule is invalid for this processor.
pub(super) fn no_clone3() -> Result<BpfProgram, BackendError> {
    let processor = TargetArch::try_from(std::env::consts::ARCH)?;
    let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let unknown = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    BpfProgram::try_from(SeccompFilter::new(rules, SeccompAction::Allow, unknown, processor)?)
}

/// Returns a condition: the argument and `mask`, combined by a bitwise AND, must equal `value`.
fn masked(argument: u8, mask: i32, value: i32) -> Result<SeccompCondition, BackendError> {
    let bits = |number: i32| u64::from(number.cast_unsigned());
    let operator = SeccompCmpOp::MaskedEq(bits(mask));
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, bits(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_51_the_filter_is_one() {
        assert!(program().unwrap().len() > ALLOWED.len());
        for call in [
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_ptrace,
            libc::SYS_kill,
            libc::SYS_capset,
            libc::SYS_prlimit64,
        ] {
            assert!(!ALLOWED.contains(&call), "{call}");
        }
    }
}
