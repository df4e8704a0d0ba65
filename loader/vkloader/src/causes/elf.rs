//! Finds the reason why the dynamic linker cannot open a library: for example, a library that it needs is missing or invalid.

mod contents;
pub(super) mod damage;
mod elsewhere;
pub(crate) mod exports;
mod loader;
mod messages;
mod processor;
mod refused;
mod removed;
mod symbols;
mod template;
mod tls;
mod versions;

use super::limits::Limits;
use super::packages;
use crate::installed;
use crate::paths::file_name;
use crate::regular;
use crate::report::{Absent, Dropped, Kind, codes, rank};
pub(crate) use contents::contained;
use contents::contains;
pub(crate) use damage::Fault;
use damage::damaged;
use linked as closure;
pub(crate) use linked::{
    Closure, Identity, Needs, examine, folders, folders_before_variable, interpreter, interpreter_in, is_cached,
    is_found_by_name, is_in_variable, is_of_c_library, is_usual, list_of, locate, named_path, of_other_processor, read,
    usual_folders, usual_of as replaced_file,
};
pub(super) use loader::file_of as file_of_loader;
pub(in crate::causes) use processor::TO_CORRECT;
pub(crate) use processor::remedy as to_install_for;
use reasons::Code;
pub(super) use refused::{by_policy, closed, is_permitted};
pub(crate) use refused::{closed_folder, forbidding_mount, mount_point};
pub(super) use removed::{IF_REMOVED, without_library};
use removed::{by_hand, is_of_steam};
use std::path::Path;
pub(crate) use symbols::undefined_in;
use symbols::usual_where;
pub(super) use symbols::{lacking, undefined};
use versions::{instead, too_old};

/// Circumstances of a library that could not be opened.
pub(super) struct About<'a> {
    /// The manifest that names the library.
    pub(super) manifest: Option<&'a str>,
    /// File of the loader that tried to open the library.
    pub(super) loader: Option<&'a Path>,
    /// File of the program.
    pub(super) program: Option<&'a Path>,
    pub(super) limits: &'a Limits,
}

/// Returns the file that the dynamic linker finds for a name without `LD_LIBRARY_PATH`.
pub(crate) fn without_variable(name: &str, own: Identity) -> Option<std::path::PathBuf> {
    closure::usual_of(Path::new(name), own)
}

/// Adds missing and invalid libraries to the finding about a library that could not be opened.
pub(super) fn explain(dropped: &mut Dropped, about: &About<'_>) {
    let is_about = [
        codes::LOADER_NOT_OPENED.name,
        codes::LOADER_FAILED.name,
        "driver.not-opened",
        "layer-library.not-opened",
        "driver.wrong-architecture",
        "layer-library.wrong-architecture",
    ];
    if !is_about.contains(&dropped.code.as_str()) {
        return;
    }
    // A finding about a driver has the path of the driver's library as its name. A finding about a layer has the layer's name as its name,
    // and the path of the library in `file`.
    let library = if dropped.code.starts_with("layer") {
        dropped.file.clone().unwrap_or_default()
    } else {
        dropped.name.clone()
    };
    // The word size of the program may differ from the word size of this process.
    let own = about
        .loader
        .and_then(Identity::of)
        .unwrap_or_else(Identity::of_this_process);
    if dropped.code == codes::LOADER_NOT_OPENED.name {
        return loader::not_opened(dropped, &library, own, about);
    }
    if dropped.code == codes::LOADER_FAILED.name {
        return loader::failed(dropped, own);
    }
    let library = elsewhere::with_words_replaced(&library, about.loader).unwrap_or(library);
    // The search skips files that are not libraries, so the message of the dynamic linker may name one.
    let rejected = || {
        let path = refused::named_path(&words_of_the_linker(dropped)?)?;
        (path.is_file() && path.file_name() == Path::new(&library).file_name()).then_some(path)
    };
    // The dynamic linker skips a file that the user may not read, and reports it as missing.
    let unreadable = || closure::unreadable(&library, Path::new(""));
    let of_other = || of_other_processor(&library, own);
    let found = locate(&library, own).or_else(rejected).or_else(unreadable);
    let Some(path) = found.or_else(of_other) else {
        return absent(dropped, &library, about.manifest, own);
    };
    of_file(dropped, &path, own, about);
    if dropped.code.starts_with("layer") {
        damage::adapt_to_layer(dropped);
    }
}

/// Adds the reason why the library at `path` does not open.
fn of_file(dropped: &mut Dropped, path: &Path, own: Identity, about: &About<'_>) {
    if closed_folder(path).is_some() {
        return in_closed_folder(dropped, path);
    }
    if !path.is_file() {
        dropped.findings.insert(0, format!("{} is not a file", shown(path)));
        dropped.advice = if dropped.code == codes::LOADER_NOT_OPENED.name {
            format!("Reinstall {}.", owned(&shown(path)))
        } else {
            "Correct library_path in the manifest.".into()
        };
        return;
    }
    if let Err(error) = regular::open(path) {
        dropped.findings.insert(0, format!("{}: {error}", path.display()));
        dropped.advice = refused::closed(path).1;
        return;
    }
    if damaged(dropped, path, path, own) {
        return;
    }
    if let Some(found) = Identity::of(path)
        && found != own
    {
        dropped
            .findings
            .insert(0, format!("{} is for {found}, the program for {own}", path.display()));
        dropped.advice =
            processor::of_manifest(path, about.manifest, own).unwrap_or_else(|| processor::remedy(path, own));
        // For a library that is for another processor with the same word size, the system only reports that it cannot open the library.
        if let Some(code) = Code::of_name(&dropped.code.replace("not-opened", "wrong-architecture")) {
            dropped.code = code.name().into();
            dropped.reason = code.row().meaning.into();
            // Systems with programs of two word sizes have drivers for both, but none has drivers for another kind of processor.
            dropped.rank = if found.is_of_family(own) {
                rank::of(Some(code))
            } else {
                rank::BROKEN
            };
        }
        return;
    }
    let words = words_of_the_linker(dropped).unwrap_or_default();
    // The system's message names the first file that stopped the dynamic linker. Therefore, this function examines the message before it
    // searches for missing libraries.
    if !refused::explain(dropped, &words, path, (own, about.limits)) && !missing(dropped, path, own, about.manifest) {
        in_words_of_the_linker(dropped, &words, own, about.program);
    }
}

/// Adds the remedy for a library in a folder that this user may not search.
fn in_closed_folder(dropped: &mut Dropped, library: &Path) {
    let (finding, advice) = refused::closed(library);
    dropped.findings.insert(0, finding);
    dropped.advice = advice;
}

/// Adds the reason why the library was not found.
fn absent(dropped: &mut Dropped, library: &str, manifest: Option<&str>, own: Identity) {
    if closed_folder(Path::new(library)).is_some() {
        return in_closed_folder(dropped, Path::new(library));
    }
    let uncached = || elsewhere::uncached(library, own);
    if let Some((finding, advice)) = template::of(library, manifest, own).or_else(uncached) {
        dropped.findings.insert(0, finding);
        dropped.advice = advice;
        return;
    }
    let is_name = !library.contains('/');
    let path = Path::new(manifest.filter(|_| is_name).unwrap_or_default());
    if let Some((finding, advice)) = elsewhere::aside(library, path, own).filter(|_| is_name) {
        dropped.findings.insert(0, finding);
        dropped.advice = advice;
        return;
    }
    if let Some((finding, advice)) = elsewhere::misspelt(library) {
        dropped.findings.insert(0, finding);
        dropped.advice = format!("{advice} in library_path of {}.", manifest.unwrap_or("the manifest"));
        return;
    }
    let words = match elsewhere::dangling(library) {
        Some((link, target)) => format!("{link} is a link to {target}, which is not there"),
        None if library.contains('/') => format!("{library} is not there"),
        None => format!("{library} is in no folder that the dynamic linker searches"),
    };
    dropped.findings.insert(0, words);
    dropped.absent = Some(Absent::Everywhere);
    dropped.advice = match manifest {
        Some(manifest) => without_library(manifest, library),
        None => "Reinstall the package that the manifest belongs to, or correct library_path in it.".into(),
    };
    if let Some(manifest) = manifest.filter(|manifest| dropped.file.as_deref() != Some(*manifest)) {
        dropped.findings.push(format!("its manifest: {manifest}"));
    }
    // The manifest may be from a package for another system, whose library is in another folder.
    if library.contains('/')
        && let Some(path) = locate(file_name(library), own)
    {
        dropped
            .findings
            .insert(1, format!("a library of this name is {}", shown(&path)));
        dropped.absent = Some(Absent::Elsewhere);
        if manifest.is_some_and(is_of_steam) {
            return;
        }
        dropped.advice = format!(
            "Correct library_path in {} to {}, or reinstall the package that the manifest belongs to.",
            manifest.unwrap_or("the manifest"),
            shown(&path)
        );
    }
}

/// Adds the missing libraries that a library needs. Returns `false` if no library is missing.
fn missing(dropped: &mut Dropped, path: &Path, own: Identity, manifest: Option<&str>) -> bool {
    let missing = Closure::of(path, own).missing;
    for (name, needed_by) in &missing {
        let asking = shown(needed_by);
        let finding = match closure::unreadable(name, needed_by) {
            Some(file) => {
                let (finding, advice) = refused::closed(&file);
                dropped.advice = advice;
                format!("{}, which {asking} needs: {finding}", shown(&file))
            }
            None => format!("{name} is missing, which {asking} needs"),
        };
        dropped.findings.insert(0, finding);
    }
    let mut names: Vec<&str> = missing
        .iter()
        .filter(|(name, needed_by)| closure::unreadable(name, needed_by).is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        dropped.advice = if is_of_steam(&shown(path)) {
            format!(
                "On the system itself, not in Steam's container, install the packages that bring {}, or reinstall the driver. Then quit Steam and \
                 start it again, because it makes its container anew.",
                names.join(", ")
            )
        } else {
            packages::install(&names, own)
        };
    }
    let aside = names.iter().find_map(|name| elsewhere::aside(name, path, own));
    let aside = aside
        .or_else(|| by_hand(dropped, &names, path, manifest))
        .or_else(|| elsewhere::other_version(&names, path, &dropped.advice, own));
    if let Some((finding, advice)) = aside {
        dropped.findings.push(finding);
        dropped.advice = advice;
    }
    if let Some((finding, advice)) = names.iter().find_map(|name| elsewhere::uncached(name, own)) {
        dropped.findings.insert(0, finding);
        dropped.advice = advice;
    }
    if let Some(words) = elsewhere::of_other_c_library(&names) {
        dropped.findings.insert(0, words);
        dropped.advice = "Install a driver that is built for this system.".into();
    }
    !missing.is_empty()
}

/// Returns the dynamic linker's message in a finding.
fn words_of_the_linker(dropped: &Dropped) -> Option<String> {
    let mut findings = dropped.findings.iter();
    findings.find_map(|fact| fact.words(&Kind::System)).map(String::from)
}

/// Adds an explanation of the dynamic linker's message about versions and symbols.
fn in_words_of_the_linker(dropped: &mut Dropped, words: &str, own: Identity, program: Option<&Path>) {
    let explained = too_old(words, &dropped.name, own)
        .or_else(|| undefined(words, own, program, &dropped.name))
        .or_else(|| elsewhere::unsearched(words, own));
    if let Some((finding, advice)) = explained {
        dropped.findings.insert(0, finding);
        dropped.advice = advice;
    }
}

/// Beginning of the remedy for a driver that this system cannot use.
pub(super) const FOR_ANOTHER_SYSTEM: &str = "Install a driver that is built for this system";

/// Returns a library together with the package that contains it.
fn owned(library: &str) -> String {
    match installed::owner(library) {
        Some(owner) => format!("{library} ({owner})"),
        None => library.into(),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Facts;

    #[test]
    fn words_of_the_dynamic_linker() {
        let words = "/lib/libnone.so.6: version `GLIBC_2.99' not found (required by /opt/libdriver.so)";
        let own = Identity::of_this_process();
        let (finding, advice) = too_old(words, "", own).expect("a version");
        assert_eq!(
            finding,
            "/lib/libnone.so.6 lacks the version GLIBC_2.99 of its symbols, which /opt/libdriver.so needs"
        );
        assert!(
            advice.starts_with("/lib/libnone.so.6 is too old for /opt/libdriver.so"),
            "{advice}"
        );
        let (finding, _) =
            undefined("/opt/libdriver.so: undefined symbol: drmOpen, version X", own, None, "").expect("a symbol");
        assert!(finding.contains("needs the symbol drmOpen,"), "{finding}");
        let (finding, _) =
            undefined("/opt/My App/libdriver.so: undefined symbol: drmOpen", own, None, "").expect("a symbol");
        assert!(finding.starts_with("/opt/My App/libdriver.so needs"), "{finding}");
        let words = "/opt/My App/libnone.so.6: version `V_2' not found (required by /opt/libdriver.so)";
        let (finding, _) = too_old(words, "", own).expect("a version");
        assert!(
            finding.starts_with("/opt/My App/libnone.so.6 lacks the version V_2"),
            "{finding}"
        );
        assert!(!contains(&std::env::current_exe().expect("a path"), ""));
        assert!(
            too_old("cannot open shared object file", "", own).is_none() && undefined("x", own, None, "").is_none()
        );
    }

    #[test]
    fn the_word_size_that_counts_is_that_of_the_loader() {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("lib.so");
        // These bytes are the start of a 32-bit x86 library.
        let mut header = *b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x03\0";
        let findings = |header: &[u8], loader: Option<&Path>| {
            std::fs::write(&library, header).expect("it can be written");
            let mut dropped = Dropped {
                subject: "driver".into(),
                code: "driver.not-opened".into(),
                name: library.display().to_string(),
                file: None,
                source: None,
                named_by: None,
                reason: String::new(),
                findings: Facts::new(),
                advice: String::new(),
                set: None,
                variable: None,
                absent: None,
                is_general: false,
                names_file: false,
                rank: 0,
            };
            let about = About {
                manifest: None,
                loader,
                program: None,
                limits: &Limits::default(),
            };
            explain(&mut dropped, &about);
            dropped.findings
        };
        assert!(
            findings(&header, Some(&library))
                .iter()
                .all(|finding| !finding.contains("is for"))
        );
        // Changes the processor in the ELF header to one on which no test runs.
        header[18] = 0xF7;
        assert_eq!(findings(&header, None).len(), 1);
    }
}
