//! Tests of the output of a trace: files, crashes, threads, forked processes, and elevated privileges.

use super::{named, of, records};
use loader_tests::{case, retried};
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;
use std::{fs, io};

/// After a crash, the trace shows the library, and the call that did not end.
#[test]
fn trace_of_a_crash_ends_in_the_call_that_crashed() {
    case(|scene| {
        scene.driver("a").line("crash", "vkCreateInstance");
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace);
        let outcome = scene.run(|vk| drop(vk.spec().create()));
        outcome.crashed();
        let records = records(&trace);
        let last = records.last().expect("records");
        assert_eq!(
            (&last["event"], &last["name"]),
            (&"begin".into(), &"vkCreateInstance".into())
        );
        assert!(
            last["library"]
                .as_str()
                .is_some_and(|path| path.ends_with("libmock_a.so"))
        );
    });
}

/// If the trace file cannot be written, the loader writes one line to standard error. There is no other effect.
#[test]
fn trace_that_cannot_be_written_is_one_line() {
    case(|scene| {
        scene.driver("a").device("one");
        let target = scene.file("target", "");
        let link = scene.path("link");
        scene.on_disk(|| symlink(&target, &link).expect("a link can be made"));
        let folder = scene.folder("folder");
        let absent = scene.path("absent/trace");
        for (place, error) in [
            (link.as_os_str(), libc::ELOOP),
            (folder.as_os_str(), libc::EISDIR),
            (absent.as_os_str(), libc::ENOENT),
            ("fd:9999".as_ref(), libc::EBADF),
            ("fd:".as_ref(), libc::EBADF),
            ("fd:-1".as_ref(), libc::EBADF),
            // Standard input is open for reading only.
            ("fd:0".as_ref(), libc::EBADF),
        ] {
            let words = io::Error::from_raw_os_error(error).to_string();
            scene.env("VK_LOADER_TRACE", place).unset("VK_LOADER_DEBUG");
            let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["one"]));
            outcome.ok();
            assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
            assert!(
                outcome
                    .stderr
                    .starts_with("[Vulkan Loader] ERROR:          VK_LOADER_TRACE: "),
                "{}",
                outcome.stderr
            );
            assert!(outcome.stderr.contains(&words), "{}", outcome.stderr);
        }
        assert_eq!(fs::read(&target).expect("the target is there"), b"");
    });
}

/// If the trace goes to a full disk, or to a pipe without a reader, the loader prints one line and causes no signal, and the program
/// continues.
#[test]
fn trace_that_fails_ends_without_harm() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.unset("VK_LOADER_DEBUG").unset("VK_LOADER_TRACE");
        for full in [true, false] {
            let outcome = scene.run_unloaded(|scratch| {
                let number = if full {
                    let file = fs::OpenOptions::new()
                        .write(true)
                        .open("/dev/full")
                        .expect("the device is there");
                    // SAFETY: the descriptor is open, and the call only copies it.
                    unsafe { libc::dup(file.as_raw_fd()) }
                } else {
                    let (reader, writer) = std::io::pipe().expect("a pipe");
                    drop(reader);
                    // SAFETY: this call only restores the default action of the signal, which would end the program, because the test
                    // runner ignores the signal.
                    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
                    // SAFETY: the descriptor is open, and the call only copies it.
                    unsafe { libc::dup(writer.as_raw_fd()) }
                };
                // SAFETY: the process has one thread.
                unsafe { std::env::set_var("VK_LOADER_TRACE", format!("fd:{number}")) };
                let vk = scratch.load();
                assert_eq!(vk.instance().device_names(), ["one"]);
            });
            outcome.ok();
            assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
            assert!(
                outcome.stderr.contains("VK_LOADER_TRACE: the trace ends here: "),
                "{}",
                outcome.stderr
            );
        }
    });
}

/// Number above that of the trace's descriptor, which is 200 or the next free one. Numbers from this one on stay free for drivers, because
/// many systems allow a process only 1,024 descriptors.
const ABOVE_TRACE: i32 = 512;

/// Returns the number of descriptors that this process may have.
fn most_descriptors() -> i32 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for writes.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) }, 0);
    limit.rlim_cur.try_into().unwrap_or(i32::MAX)
}

/// The trace is never written into a file that the program opens after it closed all descriptors.
#[test]
fn trace_never_goes_into_another_file() {
    case(|scene| {
        scene.driver("a").device("one");
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace).unset("VK_LOADER_DEBUG");
        let outcome = scene.run(|vk| {
            let end = ABOVE_TRACE.min(most_descriptors() - 32);
            for number in 3..end {
                // SAFETY: the only open descriptor above standard error belongs to the trace, and no code of this process uses the
                // descriptor after this call.
                unsafe { libc::close(number) };
            }
            let own = fs::File::create(vk.path("own")).expect("a file");
            for number in own.as_raw_fd() + 1..end {
                // SAFETY: the first descriptor is open, and the second number was closed before.
                unsafe { libc::dup2(own.as_raw_fd(), number) };
            }
            assert_eq!(vk.instance().device_names(), ["one"]);
            assert_eq!(own.metadata().expect("it is open").len(), 0);
        });
        outcome.ok();
        assert!(outcome.stderr.contains("the trace ends here"), "{}", outcome.stderr);
    });
}

/// Threads and forked copies write whole lines, and each line names its process and thread.
#[test]
fn trace_of_threads_and_forks_is_whole_lines() {
    case(|scene| {
        scene.driver("a").device("one");
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace);
        let outcome = scene.run(|vk| {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..20).for_each(|_| drop(vk.instance().device_names())));
                }
            });
            // SAFETY: the process has one thread now.
            match unsafe { libc::fork() } {
                0 => {
                    drop(vk.instance().device_names());
                    // SAFETY: `_exit` ends the copy without running the parent's exit handlers.
                    unsafe { libc::_exit(0) };
                }
                child => {
                    // SAFETY: the number is the process ID of the new child, and null discards the status.
                    let waited = retried(|| unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) });
                    assert_eq!(waited.expect("a child can be waited for"), child);
                }
            }
        });
        outcome.ok();
        let records = records(&trace);
        let distinct = |key: &str| {
            let mut all: Vec<String> = records.iter().map(|record| record[key].to_string()).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        assert_eq!(distinct("process"), 2);
        assert!(distinct("thread") >= 5);
        let calls = named(&records, "end", "name", "vkCreateInstance");
        assert_eq!(calls.iter().filter(|end| end["step"] == "call").count(), 81);
    });
}

/// APP-211: an elevated process writes no trace.
#[test]
fn trace_is_not_for_elevated_processes() {
    case(|scene| {
        scene.elevated();
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace);
        scene.run(|vk| assert!(vk.version() > (1, 0, 0))).ok();
        assert!(!trace.exists());
    });
}

/// The library leaves no descriptor open, even if it is loaded and unloaded many times.
#[test]
fn trace_is_closed_when_the_library_leaves() {
    case(|scene| {
        scene.driver("a").device("one");
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace);
        let outcome = scene.run_unloaded(|scratch| {
            let open = || fs::read_dir("/proc/self/fd").expect("the folder is there").count();
            let before = open();
            for _ in 0..3 {
                scratch.load().version();
            }
            assert_eq!(open(), before);
        });
        outcome.ok();
        assert_eq!(of(&records(&trace), "loaded").count(), 3);
    });
}
