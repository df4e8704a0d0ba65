//! Tests of the output for a reduced registry, file by file, and of the changes by each kind of addition.
//!
//! A folder of `golden/kinds` has three parts: records that are added to the reduced registry, rows that are added to its policy, and the
//! changed lines of every emitted file. After an intended change, run the tests with `VKGEN_REFRESH=1` and review the differences of
//! `golden/`.

use crate::common::{crate_root, generate, policy, reduced, registry};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use toml::{Table, Value};
use vk_registry::snapshot;
use vkgen::policy::Policy;

/// GEN-61: the output for the reduced registry has the expected files. The files show that trampolines write the dispatch word of a
/// returned object (APP-158), and that the output contains functions that the XML does not name (GEN-63).
#[test]
fn gen_61_a_reduced_registry_gives_the_expected_files() {
    let folder = reduced();
    let registry = registry(&folder.join("snapshot"));
    let text = fs::read_to_string(folder.join("policy.toml")).expect("its policy");
    let expected = folder.join("expected");
    let files = generate(&registry, &policy(&text));
    let mut names = BTreeSet::new();
    for file in &files {
        names.insert(file.path.clone());
        compare(&expected.join(&file.path), &file.text);
    }
    let mut found = BTreeSet::new();
    collect(&expected, "", &mut found);
    assert_eq!(found, names, "an expectation without a file");
}

/// GEN-61: each kind of addition changes the expected lines. The kinds are commands that need a decision (GEN-71), slots (GEN-50), look-up
/// conditions (GEN-52), and object types (GEN-69).
#[test]
fn gen_61_each_kind_adds_the_expected_lines() {
    let base = base();
    let before = emitted(&base.0, &base.1);
    let folder = crate_root().join("tests/golden/kinds");
    let mut emitters: BTreeSet<&str> = before.keys().map(|path| emitter(path)).collect();
    for entry in fs::read_dir(folder).expect("the kinds") {
        let kind = entry.expect("an entry").path();
        let added = fs::read_to_string(kind.join("registry.txt")).expect("its records");
        let rows = fs::read_to_string(kind.join("policy.toml")).unwrap_or_default();
        let (mut snapshot, mut policy) = base.clone();
        add_records(&mut snapshot, &added);
        add_rows(&mut policy, rows.parse().expect("TOML"));
        let after = emitted(&snapshot, &policy);
        emitters.retain(|emitter_of| {
            let changed =
                |(path, text): (&String, &String)| emitter(path) == *emitter_of && before.get(path) != Some(text);
            !after.iter().any(changed)
        });
        compare(&kind.join("expected.txt"), &changes(&before, &after));
    }
    assert_eq!(emitters, BTreeSet::new(), "no kind shows what they emit");
}

/// Returns the emitter of a file, by the file's path. One emitter writes all files of the folder `trampoline`, and one writes all files of
/// the folder `terminator`.
fn emitter(path: &str) -> &str {
    match path.split_once('/') {
        Some((folder @ ("trampoline" | "terminator"), _)) => folder,
        _ => path,
    }
}

/// Texts of a snapshot, by file name.
type Snapshot = BTreeMap<&'static str, String>;

/// Returns the reduced registry and its policy.
fn base() -> (Snapshot, Table) {
    let read = |path: &str| fs::read_to_string(reduced().join(path)).expect(path);
    let snapshot = snapshot::FILES.map(|file| (file, read(&format!("snapshot/{file}"))));
    (
        snapshot.into_iter().collect(),
        read("policy.toml").parse().expect("TOML"),
    )
}

fn emitted(snapshot: &Snapshot, rows: &Table) -> BTreeMap<String, String> {
    let files: Vec<_> = snapshot.iter().collect();
    let registry = snapshot::read(&files).expect("a good snapshot");
    let policy: Policy = rows.clone().try_into().expect("a policy of good form");
    let files = generate(&registry, &policy);
    files.into_iter().map(|file| (file.path, file.text)).collect()
}

/// Adds each record in the text `records` to the snapshot file for records of that kind. If the snapshot already has the record, adds the
/// new facts to the existing record.
fn add_records(snapshot: &mut Snapshot, records: &str) {
    let (mut file, mut end) = ("", 0);
    for line in records.lines().filter(|line| !line.starts_with('#')) {
        let text = |line: &str| format!("{line}\n");
        if line.starts_with(' ') {
            let facts = snapshot.get_mut(file).expect("a file of the snapshot");
            facts.insert_str(end, &text(line));
            end += line.len() + 1;
            continue;
        }
        file = match line.split(' ').next().expect("a word") {
            "command" => "commands.txt",
            "extension" => "extensions.txt",
            "handle" => "handles.txt",
            "struct" | "union" => "structs.txt",
            "enum" | "flags" => "enums.txt",
            "platform" => "header.txt",
            _ => "types.txt",
        };
        let all = snapshot.get_mut(file).expect("a file of the snapshot");
        let known = all.find(&format!("\n{line}\n")).map(|start| start + 1);
        let start = known.unwrap_or(all.len());
        if known.is_none() {
            all.push_str(&text(line));
        }
        end = start + line.len() + 1;
    }
}

/// Adds policy rows to a policy: appends elements to lists, and adds keys to tables.
fn add_rows(base: &mut Table, rows: Table) {
    for (key, added) in rows {
        match (base.get_mut(&key), added) {
            (Some(Value::Table(base)), Value::Table(added)) => add_rows(base, added),
            (Some(Value::Array(base)), Value::Array(added)) => base.extend(added),
            (_, added) => {
                base.insert(key, added);
            }
        }
    }
}

/// Returns the removed and added lines of each file. A new file is shown as a whole, without its banner.
fn changes(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    for (path, new) in after {
        let old = before.get(path).map_or("", String::as_str);
        if old != new {
            text.push_str(&format!("== {path}\n"));
            let is_banner = |line: &&str| old.is_empty() && line.starts_with("+// ");
            let changed = differences(old, new);
            changed
                .iter()
                .map(String::as_str)
                .filter(|line| !is_banner(line))
                .for_each(|line| {
                    text.push_str(line);
                    text.push('\n');
                });
        }
    }
    text
}

/// Returns the lines that two texts do not share, in order. Lines of `old` begin with `-`, and lines of `new` begin with `+`.
fn differences(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    // Length of the longest common subsequence of lines from line `row` of `old` and line `column` of `new` on.
    let mut common = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for (row, one) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            common[row][column] = if one == other {
                common[row + 1][column + 1] + 1
            } else {
                common[row + 1][column].max(common[row][column + 1])
            };
        }
    }
    let (mut row, mut column, mut lines) = (0, 0, Vec::new());
    while row < old.len() || column < new.len() {
        if row < old.len() && column < new.len() && old[row] == new[column] {
            (row, column) = (row + 1, column + 1);
        } else if column == new.len() || (row < old.len() && common[row + 1][column] >= common[row][column + 1]) {
            lines.push(format!("-{}", old[row]));
            row += 1;
        } else {
            lines.push(format!("+{}", new[column]));
            column += 1;
        }
    }
    lines
}

/// Compares a text with the expected file, or writes it to that file.
fn compare(path: &Path, found: &str) {
    if std::env::var_os("VKGEN_REFRESH").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
        fs::write(path, found).expect("a new expectation");
    }
    let wanted = fs::read_to_string(path).unwrap_or_default();
    let difference = || first_difference(&wanted, found);
    assert!(wanted == found, "{} differs:\n{}", path.display(), difference());
}

fn first_difference(wanted: &str, found: &str) -> String {
    let mut pairs = wanted.lines().zip(found.lines()).enumerate();
    match pairs.find(|(_, (wanted, found))| wanted != found) {
        Some((line, (wanted, found))) => format!("line {}\n- {wanted}\n+ {found}", line + 1),
        None => "one is longer".to_owned(),
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the expectations") {
        let entry = entry.expect("an entry");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}
