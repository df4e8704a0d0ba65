//! Tests that the committed output is up to date, complete and well-formed.

use crate::common::{committed_policy, committed_registry, generate, pinned, policy, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use vkgen::emit::File;

fn files() -> Vec<File> {
    generate(&committed_registry(), &policy(&committed_policy()))
}

fn text<'a>(files: &'a [File], path: &str) -> &'a str {
    &files.iter().find(|file| file.path == path).expect(path).text
}

fn exported(files: &[File], path: &str) -> BTreeSet<String> {
    let lines = text(files, path)
        .lines()
        .map(|line| line.trim().trim_start_matches('_'));
    lines.filter(|line| line.starts_with("vk")).map(str::to_owned).collect()
}

#[test]
fn gen_53_export_lists_have_the_known_sizes() {
    let files = files();
    let linux = exported(&files, "exports/linux.txt");
    let windows = exported(&files, "exports/windows.def");
    assert_eq!(
        (linux.len(), windows.len()),
        (pinned("exports.linux"), pinned("exports.windows"))
    );
    for name in [
        "vkCreateXcbSurfaceKHR",
        "vkCreateSwapchainKHR",
        "vkGetDisplayModeProperties2KHR",
        "vkCmdDraw",
    ] {
        assert!(linux.contains(name), "{name}");
    }
    for name in [
        "vkCreateDebugUtilsMessengerEXT",
        "vkGetPhysicalDeviceFeatures2KHR",
        "vkReleaseDisplayEXT",
    ] {
        assert!(!linux.contains(name), "{name} is not exported (APP-6)");
    }
    assert!(windows.contains("vkCreateWin32SurfaceKHR") && !windows.contains("vkCreateXcbSurfaceKHR"));
}

#[test]
fn gen_53_only_exported_trampolines_have_public_symbols() {
    let files = files();
    let listed: BTreeSet<String> = ["exports/linux.txt", "exports/windows.def", "exports/macos.txt"]
        .iter()
        .flat_map(|path| exported(&files, path))
        .collect();
    let mut marked = BTreeSet::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        let lines: Vec<&str> = file.text.lines().collect();
        for (number, _) in lines.iter().enumerate().filter(|(_, line)| line.contains("no_mangle")) {
            assert!(file.path.starts_with("trampoline/"), "{}: a public symbol", file.path);
            // A long attribute continues on further lines.
            let function = lines[number..].iter().find_map(|line| line.split(" fn ").nth(1));
            let name = function.and_then(|rest| rest.split('(').next()).expect("a function");
            marked.insert(name.to_owned());
        }
    }
    assert!(marked.is_superset(&listed));
    // The exported functions that are in no list belong to systems without an export list.
    let others: Vec<&str> = marked.difference(&listed).map(String::as_str).collect();
    let expected = [
        "vkCreateAndroidSurfaceKHR",
        "vkCreateIOSSurfaceMVK",
        "vkCreateImagePipeSurfaceFUCHSIA",
        "vkCreateScreenSurfaceQNX",
        "vkGetPhysicalDeviceScreenPresentationSupportQNX",
    ];
    assert_eq!(others, expected);
}

#[test]
fn gen_64_every_command_has_a_row_and_a_trampoline() {
    let (registry, files) = (committed_registry(), files());
    // Counts rows in the text of the output, independently of the generator.
    let rows = text(&files, "lookup.rs")
        .lines()
        .filter(|line| line.starts_with("    vk") && line.contains(": "))
        .count();
    assert_eq!(rows, registry.commands.len());
    let functions: BTreeMap<&str, usize> = files
        .iter()
        .filter(|file| file.path.starts_with("trampoline/"))
        .map(|file| {
            (
                file.path.as_str(),
                file.text.matches("\npub unsafe extern \"system\" fn vk").count(),
            )
        })
        .collect();
    let shared = committed_policy_shared();
    assert_eq!(functions.values().sum::<usize>(), registry.commands.len() - shared);
}

/// Returns the number of commands that share a trampoline: the aliases of APP-30.
fn committed_policy_shared() -> usize {
    let policy = policy(&committed_policy());
    let shared = policy
        .treatments
        .iter()
        .filter(|row| row.entry == vkgen::policy::Entry::Shared);
    shared.map(|row| row.commands.len()).sum()
}

#[test]
fn gen_50_tables_have_a_slot_for_each_command_of_their_levels() {
    let files = files();
    let slots = |path: &str| {
        let lines = text(&files, path).lines();
        lines
            .filter(|line| line.starts_with("    vk") && line.contains(':'))
            .count()
    };
    assert_eq!(slots("dispatch/device.rs"), pinned("level.device"));
    let chain = pinned("level.instance") + pinned("level.physical-device");
    // The instance table has all commands of the instance and physical-device levels, except `vkCreateDevice`.
    assert_eq!(slots("dispatch/instance.rs"), chain - 1);
    // The driver table also has the function that looks up device functions. The table lacks two commands that the loader does not request
    // from a driver.
    assert_eq!(slots("dispatch/driver.rs"), chain + 1 - 2);
    let policy = policy(&committed_policy());
    let with_driver_function = policy.treatments.iter().filter(|row| !row.needs.is_empty());
    let count: usize = with_driver_function.map(|row| row.commands.len()).sum();
    assert_eq!(slots("dispatch/device_terminator.rs"), count);
}

#[test]
fn gen_62_core_functions_of_1_0_are_mandatory_for_drivers() {
    let files = files();
    let list = text(&files, "dispatch/driver.rs")
        .split("MANDATORY")
        .nth(1)
        .expect("the list");
    let names: Vec<&str> = list.matches("slot::vk").collect();
    assert_eq!(names.len(), 12, "DRV-112 lists twelve");
}

#[test]
fn gen_95_output_parses_and_its_lines_are_clean() {
    for file in files() {
        assert!(
            file.text.ends_with('\n') && !file.text.ends_with("\n\n"),
            "{}: final newline",
            file.path
        );
        assert!(!file.text.contains('\r'), "{}: line ends", file.path);
        assert!(
            file.text.lines().all(|line| line.trim_end() == line),
            "{}: trailing space",
            file.path
        );
        if file.path.ends_with(".rs")
            && let Err(error) = syn::parse_file(&file.text)
        {
            panic!("{}: {error}", file.path);
        }
    }
}

#[test]
fn gen_95_the_formatter_changes_nothing() {
    let configuration = repository();
    for file in files().iter().filter(|file| file.path.ends_with(".rs")) {
        let Some(formatted) = formatted(&file.text, &configuration) else {
            return crate::common::skip("no rustfmt on this machine; the form of the output was not compared");
        };
        let changed = file
            .text
            .lines()
            .zip(formatted.lines())
            .find(|(before, after)| before != after);
        assert!(formatted == file.text, "{}: {changed:?}", file.path);
    }
}

/// Returns the text in the format of rustfmt, or `None` if rustfmt is not installed. The text is passed on standard input, so that rustfmt
/// does not open the modules that the text declares.
fn formatted(text: &str, configuration: &std::path::Path) -> Option<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(configuration)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    // A thread writes to rustfmt, so that neither process waits for the other to read.
    let mut input = child.stdin.take()?;
    let text = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().ok()?;
    writer.join().ok()?.ok()?;
    assert!(output.status.success(), "rustfmt refuses the text");
    String::from_utf8(output.stdout).ok()
}

#[test]
fn gen_93_two_runs_give_the_same_bytes() {
    assert_eq!(files(), files());
}

#[test]
fn gen_93_committed_output_is_up_to_date() {
    let folder = repository().join("generated");
    for file in files() {
        let found = fs::read_to_string(folder.join(&file.path)).unwrap_or_default();
        assert!(
            found == file.text,
            "generated/{} is not what `vkgen emit` writes",
            file.path
        );
    }
}

#[test]
fn gen_93_each_file_says_where_it_comes_from_and_nothing_about_the_run() {
    let header = committed_registry().header.to_string();
    for file in files() {
        let first = file.text.lines().next().unwrap_or_default();
        assert!(first.contains("do not edit"), "{}: {first}", file.path);
        // Only the manifest names the header version, so that a new header does not change unaffected files.
        assert!(!file.text.contains(&header), "{}: the header", file.path);
        assert!(
            !file.text.contains("/work") && !file.text.contains("/home"),
            "{}: a path",
            file.path
        );
    }
}

#[test]
fn gen_54_table_layout_does_not_depend_on_the_host() {
    let files = files();
    for file in files
        .iter()
        .filter(|file| file.path.starts_with("dispatch/") || file.path == "lookup.rs")
    {
        assert!(!file.text.contains("cfg("), "{}", file.path);
    }
}
