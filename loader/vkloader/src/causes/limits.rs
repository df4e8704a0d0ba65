//! Limits that the system sets for a process.

use super::origin;
use crate::child::Finished;
use crate::report::{Dropped, codes};
use rustix::io::Errno;
use rustix::process::{Resource, geteuid, getrlimit};
use std::io;
use std::path::{Path, PathBuf};

/// Remedy for a limit on the address space.
const REMEDY: &str = "Remove the limit: ulimit -v unlimited; in a service of systemd, LimitAS=infinity.";

/// Variables that batch systems set for their jobs, each with the remedy. A job cannot raise the limit that its batch system set.
const OF_BATCH: [(&str, &str); 4] = [
    (
        "SLURM_JOB_ID",
        "Ask Slurm for more memory: sbatch --mem=8G (or srun --mem=8G).",
    ),
    ("SGE_ROOT", "Ask Grid Engine for more memory: qsub -l h_vmem=8G."),
    ("PBS_JOBID", "Ask PBS for more memory: qsub -l vmem=8gb, or -l mem=8gb."),
    ("LSB_JOBID", "Ask LSF for more memory: bsub -M 8GB."),
];

/// Returns the remedy for a limit on the address space. `is_set` returns `true` for the name of a variable that is set.
pub(super) fn remedy(is_set: impl Fn(&str) -> bool) -> String {
    let of_batch = OF_BATCH.iter().find(|(name, _)| is_set(name));
    of_batch.map_or_else(
        || REMEDY.into(),
        |(_, remedy)| format!("{remedy} Outside of a job: ulimit -v unlimited"),
    )
}

/// Limit on the address space in bytes from which on the limit explains no failure.
const LARGE: u64 = 64 << 30;

/// Remedy for a limit on the address space that a process cannot raise.
const HARD_REMEDY: &str = "Remove the limit, which is hard, in the shell that starts the program: sudo prlimit --as=unlimited:unlimited --pid $$ (only the \
     superuser may ulimit -v unlimited); in a service of systemd, LimitAS=infinity.";

/// Returns the remedy for a limit on the address space of this process.
pub(super) fn own_remedy() -> String {
    let limit = getrlimit(Resource::As);
    let words = remedy(|name| std::env::var_os(name).is_some());
    let words = if limit.maximum.is_some() && words == REMEDY && !geteuid().is_root() {
        HARD_REMEDY.into()
    } else {
        words
    };
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let place = limit
        .current
        .and_then(|_| origin::of_limit(Path::new("/"), home.as_deref(), 'v', "as"));
    place.map_or(words.clone(), |(path, line)| {
        format!(
            "{} For new sessions, remove line {line} of {}.",
            words.trim_end_matches('.').to_owned() + ".",
            path.display()
        )
    })
}

/// Codes of findings about failures that a lack of memory can cause.
const MAY_LACK_MEMORY: [&str; 6] = [
    codes::PROGRAM_CRASHED.name,
    codes::INSTANCE_FAILED.name,
    codes::DEVICE_NOT_CREATED.name,
    codes::LOADER_FAILED.name,
    "device.enumeration-failed",
    "driver.creation-failed",
];

/// Name of the limit on open files.
pub(super) const OPEN_FILES: &str = "RLIMIT_NOFILE";
/// Limits of the program that a report is about; `None` where there is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Size of the address space in bytes.
    address_space: Option<u64>,
    /// Number of open files.
    open_files: Option<u64>,
    /// Upper bound to which a process may raise the limit on open files.
    hard_open_files: Option<u64>,
    /// Size of the stack of the first thread in bytes.
    stack: Option<u64>,
    /// Number of processes and threads of the user.
    processes: Option<u64>,
    /// Upper bound on the processor time in seconds, after which the kernel sends SIGKILL.
    processor_time: Option<u64>,
}

/// The limits of this process, which a program inherits.
impl Default for Limits {
    fn default() -> Self {
        let open_files = getrlimit(Resource::Nofile);
        Self {
            address_space: getrlimit(Resource::As).current,
            open_files: open_files.current,
            hard_open_files: open_files.maximum,
            stack: getrlimit(Resource::Stack).current,
            processes: getrlimit(Resource::Nproc).current,
            processor_time: getrlimit(Resource::Cpu).maximum,
        }
    }
}

impl Limits {
    /// Returns the limits of the process that the report is about, if it was supervised; otherwise the limits of this process.
    pub(crate) fn of(finished: &Finished) -> Self {
        finished.started().map_or_else(Self::default, |started| started.limits)
    }

    /// Reads the limits in the text of `/proc/PID/limits`.
    pub(crate) fn parse(text: &str) -> Self {
        let value = |name, column| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().nth(column)?.parse().ok()
        };
        Self {
            address_space: value("Max address space", 0),
            open_files: value("Max open files", 0),
            hard_open_files: value("Max open files", 1),
            stack: value("Max stack size", 0),
            processes: value("Max processes", 0),
            processor_time: value("Max cpu time", 1),
        }
    }

    /// Returns a sentence about the limit on the address space of a process; `None` if there is no limit, or none that a driver reaches.
    pub(super) fn of_address_space(&self) -> Option<String> {
        let bytes = self.address_space.filter(|bytes| *bytes < LARGE)?;
        Some(format!(
            "the address space of a process is limited to {} KiB (RLIMIT_AS)",
            bytes / 1024
        ))
    }

    /// Returns the end of the message about an error of this program: the remedy if the system starts no further process, or if this program
    /// may open too few files. Otherwise, returns an empty text.
    pub(crate) fn end_of_message(error: &io::Error) -> String {
        if let Some(words) = of_tasks(error) {
            return format!("\nvkloader: {words}");
        }
        let own = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        let limits = Self {
            open_files: own.current,
            hard_open_files: own.maximum,
            ..Self::default()
        };
        match own.current.filter(|most| *most < TOO_FEW_FILES) {
            Some(most) => format!(
                "\nvkloader: a process may open only {most} files here ({OPEN_FILES}), which is too few for vkloader itself. {}",
                limits.remedy_for_files()
            ),
            None => String::new(),
        }
    }

    /// Returns the number of files that the process may have open; `None` if there is no limit.
    pub(super) fn open_files(&self) -> Option<u64> {
        self.open_files
    }

    /// Returns `true` if a process with `count` open files may not open more files.
    pub(crate) fn is_full(&self, count: usize) -> bool {
        self.open_files.is_some_and(|most| count as u64 >= most)
    }

    /// Returns the finding and the remedy for a process that may not open more files.
    pub(crate) fn of_open_files(&self) -> (String, String) {
        let most = self.open_files;
        let limit = most.map_or_else(String::new, |most| format!(": at most {most} ({OPEN_FILES})"));
        (
            format!("the process may not open more files{limit}"),
            self.remedy_for_files(),
        )
    }

    /// Returns the remedy for a low limit on open files. A process may raise the soft limit up to the hard limit.
    pub(super) fn remedy_for_files(&self) -> String {
        const ENOUGH: u64 = 4096;
        let soft = self.open_files.unwrap_or_default();
        let wanted = soft.saturating_mul(2).max(ENOUGH);
        match self.hard_open_files {
            Some(hard) if hard <= soft => format!(
                "Raise the hard limit, which is {hard}, as the superuser: sudo prlimit --nofile={wanted} --pid $$ in the shell that starts the \
                 program; in a service of systemd, LimitNOFILE={wanted}."
            ),
            hard => {
                let target = hard.map_or(wanted, |hard| wanted.min(hard));
                let hard = hard.map_or_else(|| "infinity".into(), |hard| hard.to_string());
                format!("Raise the limit: ulimit -Sn {target}; in a service of systemd, LimitNOFILE={target}:{hard}.")
            }
        }
    }
}

/// Number of open files below which this program itself may fail.
const TOO_FEW_FILES: u64 = 32;

/// Returns the reason and the remedy for the error of a system that starts no further process or thread. Returns `None` for other errors.
fn of_tasks(error: &io::Error) -> Option<String> {
    if error.raw_os_error() != Some(Errno::AGAIN.raw_os_error()) {
        return None;
    }
    let limit = getrlimit(Resource::Nproc).current;
    let limit = limit.map_or_else(String::new, |most| {
        format!("RLIMIT_NPROC permits {most} for this user (raise it: ulimit -u 4096); ")
    });
    Some(format!(
        "the system starts no further process or thread: {limit}a service of systemd also has TasksMax= and LimitNPROC=, and a container --pids-limit"
    ))
}

/// Limit on the stack in bytes below which drivers may crash. The usual limit is 8 MiB.
const SMALL_STACK: u64 = 1 << 20;

/// Adds a low limit on the stack to the finding about a crash.
fn explain_stack(dropped: &mut Dropped, limits: &Limits) {
    let small = limits.stack.filter(|&bytes| bytes < SMALL_STACK);
    if let Some(bytes) = small.filter(|_| dropped.code == codes::PROGRAM_CRASHED.name) {
        dropped.findings.insert(
            0,
            format!(
                "the stack of the process is limited to {} KiB (RLIMIT_STACK)",
                bytes / 1024
            ),
        );
        dropped.advice = format!(
            "Raise the limit: ulimit -s 8192; in a service of systemd, LimitSTACK=8M. If that does not help: {}",
            dropped.advice
        );
    }
}

/// Limit on processes and threads below which drivers may fail. Drivers start a thread for each processor.
const FEW_PROCESSES: u64 = 256;

/// Codes of findings about failures that the limit on threads can cause.
const MAY_LACK_THREADS: [&str; 7] = [
    codes::PROGRAM_CRASHED.name,
    codes::PROGRAM_EXITED.name,
    codes::HARDWARE_NOT_USED.name,
    codes::INSTANCE_FAILED.name,
    codes::DEVICE_NOT_CREATED.name,
    "device.enumeration-failed",
    "driver.creation-failed",
];

/// Adds a low limit on the processes and threads of a user to a finding. The limit does not bind the superuser.
fn explain_processes(dropped: &mut Dropped, limits: &Limits, is_superuser: bool) {
    let few = limits.processes.filter(|&most| most < FEW_PROCESSES && !is_superuser);
    if let Some(most) = few.filter(|_| MAY_LACK_THREADS.contains(&dropped.code.as_str())) {
        dropped.findings.insert(
            0,
            format!("the user may have {most} processes and threads (RLIMIT_NPROC)"),
        );
        dropped.advice = format!(
            "Raise the limit: ulimit -u 4096, or nproc in /etc/security/limits.conf; in a service of systemd, LimitNPROC=infinity. If that does not \
             help: {}",
            dropped.advice
        );
    }
}

/// Adds the limit on the processor time to the finding about a program that SIGKILL ended.
fn explain_processor_time(dropped: &mut Dropped, limits: &Limits) {
    let is_killed = dropped.code == codes::PROGRAM_KILLED.name;
    if let Some(seconds) = limits.processor_time.filter(|_| is_killed) {
        let words = format!("the kernel ends the process after {seconds} s of processor time (RLIMIT_CPU)");
        dropped.findings.insert(0, words);
        dropped.advice = format!(
            "{} If it had used {seconds} s of processor time: raise the limit, which is hard, where the program is started: ulimit -t, cpu in \
             /etc/security/limits.conf, or LimitCPU= in a service of systemd.",
            dropped.advice
        );
    }
}

/// Adds the limits that may have caused the failure to a finding.
pub(super) fn explain(dropped: &mut Dropped, limits: &Limits) {
    explain_stack(dropped, limits);
    explain_processor_time(dropped, limits);
    explain_processes(dropped, limits, rustix::process::geteuid().is_root());
    if !MAY_LACK_MEMORY.contains(&dropped.code.as_str()) {
        return;
    }
    if let Some(limit) = limits.of_address_space() {
        dropped.findings.insert(0, limit);
        dropped.advice = format!("{} If that does not help: {}", own_remedy(), dropped.advice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_starts_no_thread_comes_with_its_limits() {
        let words = of_tasks(&io::Error::from(Errno::AGAIN)).expect("a remedy");
        assert!(words.contains("TasksMax="), "{words}");
        assert!(of_tasks(&io::Error::from(Errno::NOENT)).is_none());
    }

    #[test]
    fn a_job_of_a_batch_system_asks_that_system_for_memory() {
        assert!(remedy(|name| name == "SLURM_JOB_ID").starts_with("Ask Slurm"));
        assert_eq!(remedy(|_| false), REMEDY);
    }

    #[test]
    fn limits_are_read_from_the_text_of_the_kernel() {
        let limits = Limits::parse(
            "Limit                     Soft Limit           Hard Limit           Units\n\
             Max open files            64                   1048576              files\n\
             Max address space         unlimited            unlimited            bytes\n",
        );
        assert!(limits.of_open_files().0.ends_with("at most 64 (RLIMIT_NOFILE)"));
        assert_eq!(limits.of_address_space(), None);
    }

    #[test]
    fn a_large_address_space_explains_no_failure() {
        for (bytes, is_told) in [(1_u64 << 30, true), (1 << 40, false)] {
            let limits = Limits::parse(&format!("Max address space         {bytes}  {bytes}  bytes\n"));
            assert_eq!(limits.of_address_space().is_some(), is_told, "{bytes}");
        }
    }

    #[test]
    fn a_low_limit_on_threads_is_told_to_users() {
        let limits = Limits::parse("Max processes             20                   4096                 processes\n");
        for (is_superuser, code, is_told) in [
            (false, codes::PROGRAM_CRASHED, true),
            (true, codes::PROGRAM_CRASHED, false),
            (false, codes::SEARCH_REPLACED, false),
        ] {
            let mut found = code.about("a driver");
            explain_processes(&mut found, &limits, is_superuser);
            let is_first = found
                .findings
                .first()
                .is_some_and(|finding| finding.contains("20 processes and threads"));
            assert_eq!(
                (is_first, found.advice.contains("ulimit -u")),
                (is_told, is_told),
                "{}",
                found.code
            );
        }
    }

    #[test]
    fn a_limit_on_processor_time_explains_a_kill() {
        let limits = Limits::parse("Max cpu time              unlimited            60                   seconds\n");
        for (code, is_told) in [(codes::PROGRAM_KILLED, true), (codes::PROGRAM_CRASHED, false)] {
            let mut found = code.about("the program");
            explain(&mut found, &limits);
            assert_eq!(found.advice.contains("LimitCPU="), is_told, "{}", found.code);
        }
    }

    #[test]
    fn the_remedy_raises_the_soft_limit_and_keeps_the_hard_limit() {
        for (soft, hard, expected) in [
            (
                "64",
                "1048576",
                "ulimit -Sn 4096; in a service of systemd, LimitNOFILE=4096:1048576.",
            ),
            (
                "4096",
                "1048576",
                "ulimit -Sn 8192; in a service of systemd, LimitNOFILE=8192:1048576.",
            ),
            (
                "1024",
                "2000",
                "ulimit -Sn 2000; in a service of systemd, LimitNOFILE=2000:2000.",
            ),
            (
                "64",
                "unlimited",
                "ulimit -Sn 4096; in a service of systemd, LimitNOFILE=4096:infinity.",
            ),
            ("4096", "4096", "sudo prlimit --nofile=8192 --pid $$ in the shell"),
        ] {
            let limits = Limits::parse(&format!(
                "Max open files            {soft}                   {hard}              files\n"
            ));
            let remedy = limits.remedy_for_files();
            assert!(remedy.contains(expected), "{remedy}");
            assert_eq!(remedy.contains("ulimit"), soft != hard, "{remedy}");
        }
    }
}
