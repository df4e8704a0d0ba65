//! Finds the reason why a program wrote no trace: for example, the program does not use the library that writes the trace.

mod early;
mod launched;
mod others;
mod privileges;
mod sandbox;
mod started;
mod unopened;
mod word_size;

pub(crate) use unopened::{is_name_of_loader, printed, why as why_unopened};
pub(crate) use word_size::{Other as OfOtherSize, become_32_bits};

use crate::c_library;
use crate::causes;
use crate::causes::elf::{
    Closure, Fault, Identity, contained, folders, folders_before_variable, interpreter, is_usual, read, undefined_in,
};
use crate::child::{Ending, Finished};
use crate::crash::Environment;
use crate::itself;
use crate::library_folder;
use crate::report::{self, Report, codes};
use crate::shell::{aside, word};
pub(crate) use early::{add as add_early, last_lines, opened_nothing};
use linked::is_in_variable;
pub(crate) use sandbox::hides_trace;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Name that programs use to open their loader.
const LOADER: &str = "libvulkan.so.1";

/// Words in the file of a program that contains a Vulkan loader.
const OF_LOADERS: [&str; 2] = ["vk_icdGetInstanceProcAddr", "VK_ICD_FILENAMES"];

/// Message of the C library musl in programs that cannot open libraries.
const WITHOUT_LIBRARIES: &str = "Dynamic loading not supported";

/// Variables that name manifests of drivers.
const OF_DRIVERS: [&str; 3] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"];

/// Returns the loader in a program's folder, if the dynamic linker opens that loader for the program.
pub(crate) fn own_loader(program: &OsStr) -> Option<PathBuf> {
    let program = itself::find(program)?;
    let program = std::fs::canonicalize(&program).ok()?;
    let needs = read(&program)?;
    // A library that opens the loader for the program does not search the folders of the program's `DT_RUNPATH`.
    let opens = || needs.names.iter().any(|name| name == LOADER) || !contained(&program, &[causes::LINK]).is_empty();
    if folders_before_variable(&program).is_empty() && !opens() {
        return None;
    }
    let paths = folders(&program, &needs);
    let mut paths = paths.iter().map(|folder| Path::new(folder).join(LOADER));
    // The dynamic linker skips libraries for another processor or word size, but not broken files.
    let is_skipped = |path: &Path| Identity::of(path).is_some_and(|found| Some(found) != Identity::of(&program));
    paths.find(|path| path.exists() && !is_skipped(path))
}

/// Returns the reason why a program wrote no trace, with a remedy. `graphics` lists the libraries that its processes had open when they
/// ended, if these are known. `library` is the library that writes a trace.
pub(crate) fn why(command: &[OsString], graphics: Option<&[String]>, library: &Path) -> String {
    let brings = || has_loader(command.first()?);
    let found = known(command)
        .or_else(brings)
        .or_else(|| unknown(command, graphics, library));
    found.unwrap_or_else(|| {
        "the program did not load this loader, or runs with raised privileges, where no trace is written, or in a sandbox, where --descriptor \
         helps; vkloader explain without a program tells which devices there are"
            .into()
    })
}

/// Returns the reason why a program wrote no trace, if its name and file do not show the reason. The arguments are as for [`why`].
pub(crate) fn unknown(command: &[OsString], graphics: Option<&[String]>, library: &Path) -> Option<String> {
    let is_unseen = graphics.is_none_or(<[String]>::is_empty);
    let in_sandbox = || launched::sandboxed(command).filter(|_| is_unseen);
    in_sandbox().or_else(|| opened(command, graphics, library))
}

/// Returns the reason why a program wrote no trace, with a remedy, if it ended before it opened a graphics library, and a signal without a fault was
/// the reason.
pub(crate) fn cut_short(command: &[OsString], finished: &Finished) -> Option<String> {
    let is_early = opened_nothing(finished.graphics.as_deref(), command.first()?);
    let (how, remedy) = report::cut_short(finished).filter(|_| is_early)?;
    if known(command).is_some() || launched::sandboxed(command).is_some() {
        return None;
    }
    Some(format!(
        "it opened no Vulkan loader before it {how}; {}; vkloader explain without a program tells which devices there are",
        remedy.trim_end_matches('.')
    ))
}

/// Exit status with which the dynamic linker ends a program that lacks a symbol.
const LACKS_SYMBOL: i32 = 127;

/// Returns the reason why a program ended before it opened a loader, if the program needs a function that no library defines.
pub(crate) fn lacks_symbol(program: &OsStr, ending: Ending) -> Option<String> {
    let path = itself::find(program).filter(|_| ending == Ending::Status(LACKS_SYMBOL))?;
    let own = Identity::of(&path)?;
    let closure = Closure::of(&path, own);
    let is_whole = |library: &PathBuf| Fault::of(library, own).is_none();
    if !closure.missing.is_empty() || !closure.found.iter().all(is_whole) {
        // The program lacks a whole library.
        return None;
    }
    let missing = undefined_in(&path, None, own);
    let symbol = missing.first()?;
    Some(format!(
        "the program needs the function {symbol}, which none of its libraries has, so the dynamic linker ended it; {}",
        to_define(symbol)
    ))
}

/// Returns the remedy for a program that needs the function `symbol`, which none of its libraries has.
pub(crate) fn to_define(symbol: &str) -> &'static str {
    if symbol.starts_with("vk") {
        "update the Vulkan loader (libvulkan1 in Debian and Ubuntu, vulkan-loader in Fedora and Alpine, vulkan-icd-loader in Arch), or the program, if it \
         asks for a function that no longer exists"
    } else {
        "update the program and the libraries that it needs together"
    }
}

/// Returns the reason why a program wrote no trace, if the program opened a Vulkan loader without the variable that turns on the trace.
/// Returns `None` if the program's variables are unknown.
pub(crate) fn cleared(environments: &[Environment], command: &[OsString]) -> Option<String> {
    let mut cleared = environments.iter().filter(|one| one.has_loader && one.lacks_trace());
    let process = cleared.next()?.process;
    if let Some((script, line, text)) = causes::clearing(command) {
        return Some(format!(
            "line {line} of {} removes the variables of this shell ({text}), VK_LOADER_TRACE included, so the program writes no trace; start vkloader \
             there, in front of the program: vkloader explain -- PROGRAM",
            script.display()
        ));
    }
    Some(format!(
        "something that starts the program removes variables (env -i, a launcher, a service), VK_LOADER_TRACE of process {process} included, so it \
         writes no trace; start vkloader there, in place of the program: vkloader explain -- PROGRAM"
    ))
}

/// Returns the reason why a program could not open its loader or the trace, if it had opened all files that its limit permits.
pub(crate) fn lacks_files(environments: &[Environment]) -> Option<String> {
    let full = environments.iter().find(|one| one.is_full)?;
    let (finding, remedy) = full.limits.of_open_files();
    let lost = if full.has_loader {
        "could not write the trace"
    } else {
        "could not open the Vulkan loader"
    };
    Some(format!(
        "{finding}, and it ended with all of them open, so it {lost}; {}; if their number grows while the program runs, it leaves files open that it no \
         longer needs: ls -l /proc/PID/fd lists them",
        remedy.trim_end_matches('.')
    ))
}

/// Returns `true` if it is known that a program opened no Vulkan loader.
pub(crate) fn has_no_loader(graphics: Option<&[String]>) -> bool {
    graphics.is_some_and(|graphics| loader_in(graphics).is_none())
}

/// Returns the first Vulkan loader in a list of libraries.
pub(crate) fn loader_in(graphics: &[String]) -> Option<&String> {
    let file = |path: &String| Path::new(path).file_name().map(|name| name.display().to_string());
    graphics
        .iter()
        .find(|path| file(path).is_some_and(|name| name.starts_with(causes::LINK)))
}

/// Software driver that Chromium and programs with Electron bring.
const SOFTWARE: &str = "libvk_swiftshader.so";

/// Returns a sentence about the graphics libraries that a program opened, if they are known. Returns `None` if the program opened
/// `library`, and another reason prevented the trace.
fn opened(command: &[OsString], graphics: Option<&[String]>, library: &Path) -> Option<String> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let is_library = |path: &String| real(Path::new(path)).is_some_and(|path| Some(path) == real(library));
    let graphics = graphics.filter(|graphics| !graphics.iter().any(is_library))?;
    let file = |path: &String| Path::new(path).file_name().map(|name| name.display().to_string());
    if let Some(path) = loader_in(graphics) {
        let folder = Path::new(path).parent().unwrap_or(Path::new("/"));
        if is_usual(folder) && !library.is_absolute() {
            return Some(others::why(path, folder));
        }
        if is_usual(folder) && names_folder(command, folder) {
            return Some(format!(
                "it opened the system's loader, {path}, by its path, so it does not get the library that writes a trace; vkloader explain without a program tells \
                 which devices there are"
            ));
        }
        if is_usual(folder) {
            return Some(format!(
                "it opened the system's loader, {path}, which writes no trace: the program, or what starts it, clears LD_LIBRARY_PATH; start \
                 vkloader there, in place of the program: vkloader explain -- PROGRAM"
            ));
        }
        if graphics
            .iter()
            .any(|path| file(path).is_some_and(|name| name == SOFTWARE))
        {
            return Some(format!(
                "it uses a loader of its own, {path}, which writes no trace, and with this loader only its own software driver, {SOFTWARE}: the program did \
                 not ask the drivers of the system, so do not change them; let the program use them in its settings, for Chromium and Electron: \
                 {NATIVE}"
            ));
        }
        return Some(format!(
            "it opened {path}, which writes no trace; {}{}",
            to_replace(path, folder, library),
            with_usual_drivers()
        ));
    }
    let other = graphics
        .first()
        .map_or(String::new(), |path| format!(", and draws with OpenGL ({path})"));
    let is_chromium = |path: &String| Path::new(path).with_file_name(SOFTWARE).exists();
    if graphics.iter().any(is_chromium) {
        return Some(format!(
            "it opened no Vulkan loader, so it uses no Vulkan{other}; let it use Vulkan, as programs with Chromium and Electron do with these \
             options: {NATIVE}"
        ));
    }
    Some(format!(
        "it opened no Vulkan loader, so it uses no Vulkan{other}; vkloader explain without a program tells which devices there are"
    ))
}

/// Returns `true` if the file of a program contains the path of a loader in `folder`. The dynamic linker does not search for a path, so
/// `LD_LIBRARY_PATH` has no effect on it.
fn names_folder(command: &[OsString], folder: &Path) -> bool {
    let path = folder.join(causes::LINK).display().to_string();
    // A NUL before the text shows that it is the whole path.
    let short = format!("\0{}", path.strip_prefix("/usr").unwrap_or(&path));
    let path = format!("\0{path}");
    let file = command.first().and_then(|program| itself::find(program));
    file.is_some_and(|file| !contained(&file, &[&short, &path]).is_empty())
}

/// Returns the remedy for a program that opened the loader `path` in place of `library`.
fn to_replace(path: &str, folder: &Path, library: &Path) -> String {
    let folder_name = folder.display();
    if is_in_variable(folder) {
        return format!("take {folder_name} out of LD_LIBRARY_PATH");
    }
    let own = Identity::of_this_process();
    if let Some((remove, other)) = causes::before_usual(Path::new(path), own) {
        return format!(
            "the configuration of the dynamic linker leads to {folder_name} before the folders of the system; remove that loader, so that programs get {}: {remove}",
            other.display()
        );
    }
    let usual = || causes::elf::without_variable(LOADER, own);
    let library = Some(library.to_path_buf())
        .filter(|library| library.is_absolute())
        .or_else(usual);
    let link = library.map_or_else(String::new, |library| {
        format!(" && ln -s {} {}", word(&library.display().to_string()), word(path))
    });
    format!(
        "if something that starts the program adds {folder_name} to LD_LIBRARY_PATH, take that out; if the program itself names the file, let the program \
         get the system's loader: {}{link}",
        aside(Path::new(path))
    )
}

/// Returns the remedy for a loader that does not search the folders of the system. Returns an empty text if the system has no driver, or if a
/// variable names drivers already.
fn with_usual_drivers() -> String {
    let manifests = causes::usual_manifests();
    let is_set = |name: &&str| std::env::var_os(name).is_some();
    if manifests.is_empty() || OF_DRIVERS.iter().any(is_set) {
        return String::new();
    }
    let value = word(&manifests.join(":"));
    format!("{IF_NOT_SEARCHED} name the drivers: VK_DRIVER_FILES={value} PROGRAM")
}

/// Returns the remedy for a machine without a Vulkan loader, after a semicolon. `words` is the message of the dynamic linker. Returns an empty text if
/// the loader is not missing.
pub(crate) fn to_install_loader(words: &str) -> String {
    if !words.contains(&format!("{LOADER}: cannot open shared object file: No such file")) {
        return String::new();
    }
    format!("; install the package {PACKAGES}")
}

/// Packages of the Vulkan loader.
const PACKAGES: &str = "libvulkan1 (Debian, Ubuntu), vulkan-loader (Fedora, Alpine) or vulkan-icd-loader (Arch)";

/// Beginning of the last part of a remedy, for a loader that may not search the folders of the system.
const IF_NOT_SEARCHED: &str = "; if that loader does not search the folders of the system,";

/// Removes from a remedy the part for a loader that does not search the folders of the system.
pub(crate) fn searches_usual(advice: &mut String) {
    if let Some(place) = advice.find(IF_NOT_SEARCHED) {
        advice.truncate(place);
    }
}

/// Returns the reason why a program wrote no trace, with a remedy, if the program's name or file shows the reason.
pub(crate) fn known(command: &[OsString]) -> Option<String> {
    let name = command.first()?;
    if let Some(words) = launched::find(command) {
        return Some(words);
    }
    let program = itself::find(name)?;
    if let Some(why) = privileges::find(&program) {
        return Some(why);
    }
    if is_for_windows(&program) {
        let name = program.display();
        return Some(format!(
            "{name} is a program for Windows; start it with wine: vkloader explain -- wine {name}"
        ));
    }
    if let Some(words) = c_library::of_other(&program) {
        return Some(words);
    }
    if Identity::of(&program).is_some() && interpreter(&program).is_none() {
        return Some(is_static(&program));
    }
    let missing = Closure::of(&program, Identity::of(&program)?).missing;
    let (library, by) = missing.iter().find(|(library, _)| library != LOADER)?;
    Some(format!(
        "{} does not start: {library} is missing, which {} needs; install the package that brings it",
        program.display(),
        by.display()
    ))
}

/// Returns the names of the programs that a command starts.
pub(crate) fn programs(command: &[OsString]) -> impl Iterator<Item = String> + use<> {
    started::by(command).into_iter().map(|one| one.file)
}

/// Command that makes programs with Chromium or Electron use the Vulkan drivers of the system.
const NATIVE: &str = "PROGRAM --enable-features=Vulkan --use-vulkan=native --ignore-gpu-blocklist";

/// Makes the missing trace of a program the first finding of the report. `why` is the reason, and after each semicolon a remedy. All other
/// findings about the system are removed, because it is not known whether the program has to do with them.
pub(crate) fn add(report: &mut Report, program: &OsStr, why: &str) {
    let mut parts = why.split("; ");
    let reason = parts.next().unwrap_or_default();
    let mut found = codes::PROGRAM_NO_TRACE.about(Path::new(program).display().to_string());
    found.reason = if reason.starts_with("it ") {
        format!("The program left no trace: {reason}.")
    } else {
        format!("{}.", sentence(reason))
    };
    let chosen = causes::without_vulkan();
    let unset = chosen.iter().map(|(_, name)| format!("unset {name}"));
    let remedies: Vec<String> = unset.chain(parts.map(String::from)).collect();
    if !remedies.is_empty() {
        found.advice = sentence(&remedies.join("; "));
    }
    found.findings.extend(chosen.into_iter().map(|(fact, _)| fact));
    report.dropped.retain(|one| one.subject == "program");
    report.dropped.insert(0, found);
}

/// Returns a text that begins with a capital letter. The name of a command keeps its case.
pub(crate) fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    if text.starts_with("vkloader") {
        text.into()
    } else {
        format!("{first}{}", rest.as_str())
    }
}

/// Returns `true` for a program for Windows, which begins with the letters MZ.
fn is_for_windows(program: &Path) -> bool {
    let mut beginning = [0; 2];
    let read = std::fs::File::open(program).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut beginning));
    read.is_ok() && beginning == *b"MZ"
}

/// Returns the reason why a program has no trace, if the program comes with its own loader.
fn has_loader(program: &OsStr) -> Option<String> {
    let loader = own_loader(program)?;
    let before = itself::find(program).and_then(|program| library_folder::before_variable(&program));
    Some(match before {
        Some(words) => words,
        None => format!(
            "the program {} brings its own Vulkan loader, {}, which writes no trace; to run it under a library of this project: {}",
            Path::new(program).display(),
            loader.display(),
            others::with_library(Path::new("/"))
        ),
    })
}

/// Returns the reason why a program has no trace, if the program cannot open libraries.
fn is_static(program: &Path) -> String {
    let bytes = std::fs::read(program).unwrap_or_default();
    let contains = |word: &str| bytes.windows(word.len()).any(|part| part == word.as_bytes());
    let name = program.display();
    if contains(WITHOUT_LIBRARIES) {
        return format!(
            "{name} is linked statically with the C library musl, so it cannot open libraries, such as the Vulkan loader; build the program for glibc, or \
             link it dynamically; with Rust: cargo build --target {}-unknown-linux-gnu",
            std::env::consts::ARCH
        );
    }
    if !OF_LOADERS.into_iter().all(contains) && contains(causes::LINK) {
        return format!(
            "{name} is linked statically and opens the Vulkan loader by itself (dlopen), where vkloader cannot follow it, so it writes no trace; vkloader \
             explain without a program lists the devices"
        );
    }
    let what = if OF_LOADERS.into_iter().all(contains) {
        "contains its own Vulkan loader, which writes no trace"
    } else {
        "uses no Vulkan loader"
    };
    format!(
        "{name} is linked statically, so it opens no library, and {what}; vkloader explain without a program lists the devices"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dynamic linker does not search for a path, so the program need not clear LD_LIBRARY_PATH.
    #[test]
    fn a_program_with_the_path_of_the_loader_is_recognised() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        let command = [program.clone().into_os_string()];
        for (text, is_it) in [("/usr/lib64/libvulkan.so.1", true), ("libvulkan.so.1", false)] {
            std::fs::write(&program, format!("\0{text}\0")).expect("a file");
            assert_eq!(names_folder(&command, Path::new("/usr/lib64")), is_it, "{text}");
        }
    }

    #[test]
    fn a_software_driver_of_the_program_is_named() {
        let libraries = ["/opt/editor/libvulkan.so.1", "/opt/editor/libvk_swiftshader.so"].map(String::from);
        let words = opened(&[], Some(&libraries), Path::new("/nowhere/libvulkan.so.1")).expect("another loader");
        assert!(
            words.contains("its own software driver, libvk_swiftshader.so"),
            "{words}"
        );
        let words = opened(&[], Some(&libraries[..1]), Path::new("/nowhere/libvulkan.so.1")).expect("another loader");
        assert!(!words.contains("software"), "{words}");
    }
}
