//! Measures the time and memory of the subcommands on the complete registry (GEN-97).
//!
//! `cargo bench -p vkgen --bench speed` runs the release build of the program with the arguments that a maintainer uses. The benchmark
//! prints a line for each subcommand, and fails if a limit is exceeded. The XML must have been fetched.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// Number of runs of each subcommand. The result is the median, because the first run has a cold cache, and other load may disturb any run.
const RUNS: usize = 11;
/// Maximum peak memory of each subcommand, in KiB.
const MEMORY_LIMIT: u64 = 150 * 1024;

/// Subcommand to measure, with its arguments and limits.
struct Case {
    name: &'static str,
    arguments: Vec<String>,
    limit: Duration,
}

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository")
        .to_owned();
    let input = env::var_os("VK_REGISTRY_DIR").map_or_else(|| root.join("registry/input"), PathBuf::from);
    if !input.join("vk.xml").is_file() {
        eprintln!("SKIPPED: no vk.xml in {}; make registry fetches it", input.display());
        return ExitCode::SUCCESS;
    }
    let output = env::temp_dir().join(format!("vkgen-speed-{}", std::process::id()));
    let size = fs::metadata(input.join("vk.xml")).map_or(0, |data| data.len());
    println!("vk.xml: {:.1} MB; median of {RUNS} runs", size as f64 / 1e6);
    let mut good = true;
    for case in cases(&input, &output) {
        good &= measure(&root, &case);
    }
    let _ = fs::remove_dir_all(&output);
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn cases(input: &Path, output: &Path) -> Vec<Case> {
    let path = |path: PathBuf| path.display().to_string();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (vk, video) = (path(input.join("vk.xml")), path(input.join("video.xml")));
    let xml = ["--vk-xml", &vk, "--video-xml", &video];
    let generated = path(output.join("generated"));
    let ms = Duration::from_millis;
    let mut cases = vec![
        // Each row is a name, a time limit and arguments. Runs of `emit` find the output of earlier runs, except `emit, all new`: its
        // output is removed before each run.
        (
            "emit, all new",
            ms(300),
            [&["emit", "--generated", &generated], &xml[..]].concat(),
        ),
        (
            "emit, unchanged",
            ms(300),
            [&["emit", "--generated", &generated], &xml[..]].concat(),
        ),
        ("check", ms(300), [&["check"], &xml[..]].concat()),
        ("emit from snapshot", ms(300), vec!["emit", "--generated", &generated]),
    ];
    let other = path(input.join("1.4.319/vk.xml"));
    let old = if Path::new(&other).is_file() { &other } else { &vk };
    cases.push(("diff, text", ms(400), vec!["diff", old, &vk]));
    cases.push(("diff, html", ms(400), vec!["diff", old, &vk, "--html"]));
    let case = |(name, limit, arguments): (&'static str, Duration, Vec<&str>)| Case {
        name,
        arguments: words(&arguments),
        limit,
    };
    cases.into_iter().map(case).collect()
}

/// Runs a case and prints its figures. Returns `false` if the case exceeds a limit or fails.
fn measure(root: &Path, case: &Case) -> bool {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        if case.name.ends_with("all new") {
            let generated = &case.arguments[2];
            let _ = fs::remove_dir_all(generated);
        }
        let begin = Instant::now();
        let status = start(root, case).wait();
        times.push(begin.elapsed());
        if !status.is_ok_and(|status| status.success()) {
            println!("{:20} FAILED", case.name);
            return false;
        }
    }
    times.sort();
    let (median, fastest) = (times[RUNS / 2], times[0]);
    let memory = peak_memory(start(root, case));
    let good = median <= case.limit && memory <= MEMORY_LIMIT;
    println!(
        "{:20}{:7.1} ms (fastest {:.1}, limit {}){:8.1} MiB (limit {}){}",
        case.name,
        median.as_secs_f64() * 1e3,
        fastest.as_secs_f64() * 1e3,
        case.limit.as_millis(),
        memory as f64 / 1024.0,
        MEMORY_LIMIT / 1024,
        if good { "" } else { "  OVER THE LIMIT" }
    );
    good
}

fn start(root: &Path, case: &Case) -> Child {
    Command::new(env!("CARGO_BIN_EXE_vkgen"))
        .args(&case.arguments)
        .current_dir(root)
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs")
}

/// Returns the peak resident set in KiB, as last read before the program ended, or 0 if the system does not report it.
fn peak_memory(mut child: Child) -> u64 {
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while matches!(child.try_wait(), Ok(None)) {
        let status = fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let amount = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = amount.unwrap_or(0).max(peak);
        thread::sleep(Duration::from_micros(200));
    }
    peak
}
