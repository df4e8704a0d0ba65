//! Finds the reason why a manifest cannot be read, if the library's message does not contain the reason.

use super::elf::{self, Identity, closed_folder, locate};
use super::{masked, packages};
use crate::events::{Event, Record};
use crate::manifests;
use crate::mounts::Mounts;
use crate::regular;
use crate::report::{Dropped, Fact, Kind, rank};
use crate::shell::word;
use crate::untraced::sentence;
use rustix::fs::Access;
use rustix::io::Errno;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Folder of links that Debian's alternatives make.
const ALTERNATIVES: &str = "/etc/alternatives/";
/// Remedy for a link of Debian's alternatives that leads to no file.
const OF_ALTERNATIVES: &str = "reinstall the package of the driver, which sets the alternatives of the system";

/// Returns the path of the manifest that a finding is about.
fn path_of(dropped: &Dropped) -> &str {
    dropped.file.as_deref().unwrap_or(&dropped.name)
}

/// Adds the fault of the file to the finding about a manifest. `home` is the value of `HOME`.
pub(super) fn explain(dropped: &mut Dropped, home: &str) {
    let path = path_of(dropped).to_owned();
    match dropped.code.as_str() {
        "file.invalid-json" => invalid_json(dropped, &path),
        "loader.refuses-manifest" => {
            if let Some((finding, advice)) = oddity(&path) {
                dropped.findings.insert(0, finding);
                let rest = dropped.variable.as_ref();
                let rest = rest.map_or(String::new(), |variable| format!(", or: unset {variable}"));
                dropped.advice = format!("{advice}{rest}");
            }
        }
        "file.not-regular" if path.ends_with(".json") && Path::new(&path).is_dir() => {
            dropped.findings.insert(0, format!("{path} is a folder"));
            let restore = packages::to_reinstall(&path).unwrap_or_else(|| "put the JSON file in its place".into());
            dropped.advice = format!(
                "Remove the folder: rmdir {}; then {restore}. Docker makes such a folder for -v FILE:{path} if the host has no FILE: name a file that exists there.",
                word(&path)
            );
        }
        "file.not-regular" => not_regular(dropped, &path),
        "file.not-found" => {
            if let Ok(target) = fs::read_link(&path) {
                let words = format!("{path} is a link to {}, which is not there", target.display());
                dropped.findings.insert(0, words);
                let whole = Path::new(&path).parent().unwrap_or(Path::new("/")).join(&target);
                let restore = || packages::to_restore(&whole).or_else(|| packages::to_reinstall(&path));
                dropped.advice = without_target(&path, &target, restore);
            }
        }
        "file.not-opened" => not_opened(dropped, &path, home),
        _ => {}
    }
}

/// Returns the remedy for a manifest `path` that is a link to the missing file `target`. `restore` returns the remedy of a package. The package of the
/// target brings the target back. The package of the manifest replaces a link that something else put in the place of its file.
fn without_target(path: &str, target: &Path, restore: impl Fn() -> Option<String>) -> String {
    let remove = format!("rm {}", word(path));
    if target.starts_with(ALTERNATIVES) {
        return format!("Remove the link ({remove}), or {OF_ALTERNATIVES}.");
    }
    if let Some(restore) = restore() {
        return format!("{}; or remove the link: {remove}", sentence(&restore));
    }
    format!(
        "Bring {} back, or let the link lead to a manifest that exists. If the driver or layer was removed on purpose, remove the link: {remove}",
        target.display()
    )
}

/// Adds the kind of the object at `path`, which is neither a regular file nor a folder.
fn not_regular(dropped: &mut Dropped, path: &str) {
    let Ok(state) = fs::metadata(path) else { return };
    let kind = state.file_type();
    let kind = if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    if let Ok(target) = fs::read_link(path) {
        let target = target.display();
        let fact = format!("{path} is a link to {target}, which is {kind}");
        dropped.findings.insert(0, fact);
        dropped.advice = format!(
            "If this switches the manifest off on purpose, nothing is wrong. Otherwise remove the link (rm {}), and reinstall the package of the driver or layer.",
            word(path)
        );
    } else if Mounts::of_this_process().at(Path::new(path)).is_some() {
        dropped.findings.insert(0, format!("{kind} is mounted on {path}"));
        dropped.advice = "If this switches the manifest off on purpose, nothing is wrong. Otherwise start the sandbox or container without this mount.".into();
    } else if !path.starts_with("/dev/") {
        dropped.findings.insert(0, format!("{path} is {kind}, and not a file"));
        let restore = packages::to_reinstall(path).unwrap_or_else(|| {
            "if a driver or layer is missing then, reinstall its package, which has the JSON file".into()
        });
        dropped.advice = format!("Remove it: rm {}; then {restore}.", word(path));
    }
}

/// Adds the reason why this process may not open the manifest `path`. `home` is the value of `HOME`.
fn not_opened(dropped: &mut Dropped, path: &str, home: &str) {
    let Err(error) = regular::open(path) else { return };
    let closed = closed_folder(Path::new(path));
    let is_denied = error.kind() == ErrorKind::PermissionDenied;
    let is_of_file = is_denied && closed.is_none();
    let is_by_policy = is_of_file && elf::is_permitted(Path::new(path), Access::READ_OK);
    let kind = if is_of_file && !is_by_policy {
        Kind::Unreadable
    } else {
        Kind::Sentence
    };
    dropped.findings.insert(0, Fact::new(kind, format!("{path}: {error}")));
    if is_by_policy {
        dropped.reason = "The permissions of the file let this process open it, but the system refuses that.".into();
    }
    match closed.filter(|_| is_denied) {
        Some(folder) => in_closed_folder(dropped, folder, home),
        None if is_denied => {
            let hidden = masked::explain(Path::new(path));
            let policy = || is_by_policy.then(elf::by_policy);
            dropped.advice = hidden
                .or_else(policy)
                .map_or_else(|| to_permit(&word(path)), |(_, advice)| advice);
        }
        None => {}
    }
    if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
        dropped.advice =
            "Remove the link, which leads to itself, and reinstall the package of the driver or layer.".into();
    }
}

/// Changes the finding about a manifest for another word size, if the library that it names is for the program. The member `library_arch` is then wrong.
pub(super) fn wrong_member(dropped: &mut Dropped, own: Identity) {
    let path = path_of(dropped).to_owned();
    let manifest = Path::new(&path);
    let library = match dropped.code.as_str() {
        "driver-manifest.architecture" => manifests::named(manifest).map(|name| manifests::found(manifest, &name)),
        "layer.architecture" => manifests::library_of_layer(manifest, &dropped.name),
        _ => None,
    };
    let Some(library) = library else { return };
    let Some(file) = locate(&library.display().to_string(), own).filter(|file| Identity::of(file) == Some(own)) else {
        return;
    };
    dropped.reason =
        "The member library_arch of the manifest is wrong: the library is for the program's word size.".into();
    dropped.findings.insert(0, format!("{} is for {own}", file.display()));
    dropped.advice = format!("Remove the member library_arch from {path}, or correct it.");
}

/// Returns the remedy for manifests that the user may not read. `files` is the files as words of a command.
fn to_permit(files: &str) -> String {
    format!("Give the user read permission: chmod o+r {files}")
}

/// Lets the remedy for a manifest that the user may not read help all such manifests in its folder.
pub(super) fn permit_all(dropped: &mut [Dropped]) {
    let folder = |one: &Dropped| {
        let is_it = one.findings.iter().any(|fact| *fact.kind() == Kind::Unreadable);
        let path = Path::new(path_of(one)).parent().filter(|_| is_it);
        path.map(Path::to_path_buf)
    };
    let folders: Vec<PathBuf> = dropped.iter().filter_map(folder).collect();
    for one in dropped {
        let Some(own) = folder(one) else { continue };
        if folders.iter().filter(|other| **other == own).count() > 1 {
            one.advice = to_permit(&format!("{}/*.json", word(&own.display().to_string())));
        }
    }
}

/// Adds the fault of a file that is not valid JSON.
fn invalid_json(dropped: &mut Dropped, path: &str) {
    if is_wide(path) {
        dropped.findings.insert(0, format!("{path} is a text in UTF-16"));
        dropped.advice = format!("Save the file as UTF-8: iconv -f UTF-16 -t UTF-8 -o NEW {}", word(path));
    } else if fs::metadata(path).is_ok_and(|status| status.len() == 0) {
        dropped.findings.insert(0, format!("{path} is empty"));
        dropped.advice = to_bring_back(path);
    } else if is_zero(path) {
        dropped
            .findings
            .insert(0, format!("{path} holds only zero bytes, as after a power failure"));
        dropped.advice = to_bring_back(path);
    } else if let Some(error) = syntax_error(path) {
        let correct = to_correct(path, &error);
        let comma = comma(path, &error).map(|(line, column)| format!("trailing comma at line {line} column {column}"));
        dropped.findings.insert(0, comma.unwrap_or_else(|| error.to_string()));
        dropped.advice = if dropped.subject == "settings file" {
            format!("{correct}, or delete it: rm {}", word(path))
        } else {
            let usual = || "reinstall the package that it belongs to.".into();
            format!("{correct}, or {}", packages::to_reinstall(path).unwrap_or_else(usual))
        };
    } else if manifests::read(Path::new(path)).is_some_and(|content| !content.is_object()) {
        dropped.reason = "The file is valid JSON, but not a JSON object.".into();
        dropped
            .findings
            .insert(0, format!("{path} has another value in place of an object {{...}}"));
    }
}

/// Returns the remedy for a file without content: its package, or a copy of the file if it belongs to no package.
fn to_bring_back(path: &str) -> String {
    let by_hand = || {
        format!(
            "reinstall the package that it belongs to, or write the file again; or remove it: rm {}",
            word(path)
        )
    };
    let restore = packages::to_reinstall(path).unwrap_or_else(by_hand);
    format!("{}. If this happens again, check the disk.", sentence(&restore))
}

/// Changes the finding about a file in a folder that this user may not search. The changed finding says that the file may exist.
fn in_closed_folder(dropped: &mut Dropped, folder: &Path, home: &str) {
    // Every folder is below the root folder, so a home folder that is the root folder shows nothing about `folder`.
    let has_home = !home.trim_end_matches('/').is_empty();
    let is_home = has_home && (folder.starts_with(home) || Path::new(home).starts_with(folder));
    dropped.reason =
        "This user may not search the folder of the file, so it is unknown whether the file exists.".into();
    let command = format!("chmod o+x {}", word(&folder.display().to_string()));
    dropped.advice = if is_home {
        format!(
            "Set HOME to the home folder of the user who starts the program, or let this user search the folder: {command}"
        )
    } else {
        format!("Let this user search the folder: {command}")
    };
    if let Some((finding, advice)) = masked::explain(folder) {
        dropped.reason = finding + ".";
        dropped.advice = advice;
    }
    if dropped.subject == "settings file" {
        // The loader looks for a settings file in each home folder, and most home folders do not contain one.
        dropped.rank = rank::CONSEQUENCE;
    }
}

/// Returns `true` for a small file that holds only zero bytes.
fn is_zero(path: &str) -> bool {
    let is_small = fs::metadata(path).is_ok_and(|status| status.is_file() && status.len() <= LARGEST);
    is_small && regular::read(path).is_ok_and(|bytes| bytes.iter().all(|byte| *byte == 0))
}

/// Returns the first syntax error in a file that is not valid JSON.
fn syntax_error(path: &str) -> Option<serde_json::Error> {
    let is_small = fs::metadata(path).is_ok_and(|status| status.is_file() && status.len() <= LARGEST);
    let bytes = is_small.then(|| regular::read(path).ok()).flatten()?;
    // Loaders accept a byte order mark of UTF-8.
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    serde_json::from_slice::<serde_json::Value>(bytes).err()
}

/// Returns the line and the column of a comma after the last element, which the error reports at the bracket after it. Returns `None` for other
/// errors.
fn comma(path: &str, error: &serde_json::Error) -> Option<(usize, usize)> {
    let text = regular::text(path).ok()?;
    let text = text.trim_start_matches('\u{FEFF}');
    let mut lines: Vec<&str> = text.lines().take(error.line()).collect();
    let last = lines.pop()?;
    let before = last.get(..error.column().saturating_sub(1)).unwrap_or(last);
    let is_bracket = last[before.len()..].starts_with(['}', ']']);
    lines.push(before);
    let (line, text) = lines.iter().enumerate().rfind(|(_, text)| !text.trim().is_empty())?;
    let text = text.trim_end().strip_suffix(',').filter(|_| is_bracket)?;
    Some((line + 1, text.chars().count() + 1))
}

/// Returns the remedy for a syntax error in a manifest.
fn to_correct(path: &str, error: &serde_json::Error) -> String {
    if let Some((line, column)) = comma(path, error) {
        return format!("Remove the comma at line {line}, column {column} of the file");
    }
    let text = regular::text(path).unwrap_or_default();
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let is_comment = ["//", "/*", "#"].iter().any(|sign| line.trim_start().starts_with(sign));
    let reason = if is_comment { ": JSON has no comments" } else { "" };
    format!(
        "Correct the file at line {}, column {}{reason}",
        error.line(),
        error.column()
    )
}

/// Returns `true` if a driver's manifest has a property that only some loaders accept.
pub(crate) fn is_odd(path: &str) -> bool {
    oddity(path).is_some()
}

/// Byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// Upper bound on the size of a manifest in bytes.
const LARGEST: u64 = 1 << 20;

/// Returns the finding and the remedy for a property of a driver's manifest that only some loaders accept.
fn oddity(path: &str) -> Option<(String, String)> {
    let status = fs::metadata(path).ok()?;
    let bytes = (status.is_file() && status.len() <= LARGEST)
        .then(|| regular::read(path).ok())
        .flatten()?;
    if bytes.starts_with(BYTE_ORDER_MARK) {
        return Some((
            "it begins with a byte order mark, which older loaders do not expect".into(),
            format!(
                "Remove the byte order mark: sed -i '1s/^\\xEF\\xBB\\xBF//' {}",
                word(path)
            ),
        ));
    }
    let members = match serde_json::from_slice(&bytes) {
        Err(error) => return Some((format!("it is not valid JSON: {error}"), to_correct(path, &error))),
        Ok(serde_json::Value::Object(members)) => members,
        Ok(_) => {
            return Some((
                "it is not one object in braces".into(),
                "Correct the file: a manifest is one object in braces".into(),
            ));
        }
    };
    let name = members
        .keys()
        .find(|name| name.eq_ignore_ascii_case("ICD") && *name != "ICD")?;
    Some((
        format!("it has the member {name}, and older loaders look for ICD"),
        format!("Rename the member {name} to ICD"),
    ))
}

/// Returns `true` if a file begins with a byte order mark of UTF-16.
fn is_wide(path: &str) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|status| status.is_file());
    let mut start = [0; 4];
    let is_long = is_file && regular::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok());
    is_long && matches!(start, [0xFF, 0xFE, _, 0] | [0xFE, 0xFF, 0, _])
}

/// Returns the manifest of the driver or layer that a finding is about. A finding about a layer contains only the path of the layer's
/// library, so the manifest comes from the trace.
pub(super) fn of(dropped: &Dropped, records: &[&Record]) -> Option<String> {
    let own = dropped.file.as_ref().filter(|path| path.ends_with(".json"));
    let all = records.iter().filter_map(|record| match &record.event {
        Event::Decision(decision) if decision.subject == "layer" && decision.name == dropped.name => {
            Some(&decision.path).filter(|path| path.ends_with(".json"))
        }
        _ => None,
    });
    // Several manifests may describe layers of one name, each with a library of its own.
    let names_library = |path: &&String| {
        let path = Path::new(path);
        let content = manifests::read(path).unwrap_or_default();
        let library = |layer: &serde_json::Value| Some(manifests::found(path, layer["library_path"].as_str()?));
        let mut libraries = manifests::layers(&content).filter_map(library);
        let file = dropped.file.as_deref().map(Path::new);
        libraries.any(|library| Some(library.as_path()) == file)
    };
    let decided = || all.clone().find(names_library).or_else(|| all.clone().next());
    own.or_else(decided).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::codes;

    #[test]
    fn a_comma_after_the_last_element_is_named_where_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        for (text, advice) in [
            (
                "{\n  \"a\": {\n    \"b\": 1,\n  }\n}\n",
                "Remove the comma at line 3, column 11 of the file",
            ),
            ("{\"a\": [1,]}", "Remove the comma at line 1, column 9 of the file"),
            (
                "\u{FEFF}{\n  \"a\": 1,\n}",
                "Remove the comma at line 2, column 9 of the file",
            ),
            ("{\"a\": 1 \"b\"}", "Correct the file at line 1, column 9"),
        ] {
            fs::write(&path, text).expect("a file");
            let path = path.to_str().expect("plain");
            let error = syntax_error(path).expect("an error");
            assert_eq!(to_correct(path, &error), advice, "{error}");
        }
    }

    #[test]
    fn the_package_of_a_broken_link_brings_its_file_back() {
        let advice = |target: &str, restore: Option<&str>| {
            without_target("/usr/share/x.json", Path::new(target), || restore.map(String::from))
        };
        let expected = "Reinstall x: apt-get install --reinstall x; or remove the link: rm /usr/share/x.json";
        let restore = Some("reinstall x: apt-get install --reinstall x");
        assert_eq!(advice("/opt/x.json", restore), expected);
        assert!(advice("/opt/x.json", None).starts_with("Bring /opt/x.json back"));
        assert!(advice("/etc/alternatives/x", restore).contains(OF_ALTERNATIVES));
    }

    #[test]
    fn a_closed_folder_belongs_to_a_home_folder_other_than_the_root_folder() {
        for (home, is_home) in [("/", false), ("", false), ("/closed/ann", true), ("/home/ann", false)] {
            let mut dropped = codes::SEARCH_FOLDER_CLOSED.about("/closed/ann/x.json");
            in_closed_folder(&mut dropped, Path::new("/closed"), home);
            assert_eq!(dropped.advice.contains("Set HOME"), is_home, "{home}");
        }
    }
}
