//! Explains missing symbols: finds the library in which a symbol probably belongs, by the names of the symbols that libraries define, and
//! symbols that no library defines.

use super::closure::{self, Closure, Identity};
use super::{elsewhere, instead, locate, messages, owned, shown};
use crate::paths::file_name;
use crate::regular;
use object::read::elf::{FileHeader, Sym};
use object::{Endianness, elf};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Upper bound on the size in bytes of a library whose symbols are read. The largest library of a driver is that of LLVM.
const LARGEST: u64 = 256 << 20;
/// Lower bound on the number of symbols with the shortest beginning of a name. Short beginnings may occur in unrelated libraries.
const FEWEST: usize = 3;
/// Lower bound on the length of a beginning.
const SHORTEST: usize = 3;
/// Beginning of the names of C++ functions in namespaces and classes, which the length of the first name follows.
const NESTED: &str = "_ZN";

/// The names in a library's table of dynamic symbols.
#[derive(Default)]
pub(super) struct Symbols {
    defined: Vec<Vec<u8>>,
    /// Symbols that another library must define. Weak symbols are not among them, because the dynamic linker accepts that they are missing.
    undefined: Vec<Vec<u8>>,
}

impl Symbols {
    /// Reads the symbols of a library; empty for a file that is not a library.
    pub(super) fn of(path: &Path) -> Self {
        Self::in_table(path, elf::SHT_DYNSYM)
    }

    /// Reads the symbols in one table of a library.
    fn in_table(path: &Path, table: u32) -> Self {
        let is_small = fs::metadata(path).is_ok_and(|status| status.is_file() && status.len() <= LARGEST);
        let data = is_small.then(|| regular::read(path).ok()).flatten().unwrap_or_default();
        let symbols = match data.get(4) {
            Some(&elf::ELFCLASS64) => read::<elf::FileHeader64<Endianness>>(&data, table),
            Some(_) => read::<elf::FileHeader32<Endianness>>(&data, table),
            None => None,
        };
        symbols.unwrap_or_default()
    }

    /// Returns the names of the symbols that the library exports.
    pub(super) fn defined(&self) -> Vec<String> {
        let names = self
            .defined
            .iter()
            .map(|name| String::from_utf8_lossy(name).into_owned());
        names.collect()
    }

    /// Returns the names of the symbols that a library defines without exporting them; empty if the library was stripped.
    pub(super) fn hidden(path: &Path) -> Vec<String> {
        let exported = Self::of(path).defined();
        let mut all = Self::in_table(path, elf::SHT_SYMTAB).defined();
        all.retain(|name| !exported.contains(name));
        all
    }

    fn count(&self, beginning: &str) -> usize {
        let begins = |name: &&Vec<u8>| name.starts_with(beginning.as_bytes());
        self.defined.iter().filter(begins).count()
    }
}

fn read<H: FileHeader<Endian = Endianness>>(data: &[u8], table: u32) -> Option<Symbols> {
    let header = H::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, data).ok()?;
    let table = sections.symbols(endian, data, table).ok()?;
    let mut symbols = Symbols::default();
    for symbol in table.iter() {
        let name = symbol.name(endian, table.strings()).unwrap_or_default().to_vec();
        if name.is_empty() {
            continue;
        }
        if symbol.st_shndx(endian) != elf::SHN_UNDEF {
            symbols.defined.push(name);
        } else if symbol.st_bind() == elf::STB_GLOBAL {
            symbols.undefined.push(name);
        }
    }
    Some(symbols)
}

/// Returns the finding and the remedy for a symbol that no library defines. `words` is a message of the dynamic linker. `opened` is the name by which
/// the driver or layer is opened: a path does not come from a variable.
pub(in crate::causes) fn undefined(
    words: &str,
    own: Identity,
    program: Option<&Path>,
    opened: &str,
) -> Option<(String, String)> {
    let messages::Missing { library, symbol, of } = messages::missing_symbol(words)?;
    let replaced = closure::replaced_by_variable(Path::new(library), own);
    let replaced = replaced.or_else(|| {
        let (other, usual) = closure::replaced_by_program(Path::new(library), program?, own)?;
        let advice = instead(&shown(&other), &usual);
        Some((other, advice))
    });
    if let Some((other, advice)) = replaced {
        return Some((
            format!(
                "{library} needs the symbol {symbol}, which {} does not have",
                shown(&other)
            ),
            advice,
        ));
    }
    let folder = Path::new(library).parent();
    if let Some(folder) = folder.filter(|folder| library != opened && closure::is_in_variable(folder)) {
        return Some((
            format!("{library} needs the symbol {symbol}, which the libraries of this program do not have"),
            format!(
                "Take {} out of LD_LIBRARY_PATH: its {} is for another system.",
                shown(folder),
                file_name(library)
            ),
        ));
    }
    if let Some(of) = of {
        let other = locate(of, own).map_or_else(|| of.into(), |path| shown(&path));
        return Some((
            format!("{library} needs the symbol {symbol}, which {other} of this version does not have"),
            format!(
                "Update {} to the version that {} needs.",
                owned(&other),
                file_name(library)
            ),
        ));
    }
    Some(by_names(library, symbol, own))
}

/// Returns the finding and the remedy for a symbol that `library` needs. The names of other symbols show the library in which the symbol
/// belongs.
fn by_names(library: &str, symbol: &str, own: Identity) -> (String, String) {
    if let Some((other, usual)) = of_same_name(symbol, Path::new(library), own) {
        return elsewhere::before_usual(library, symbol, &other, &usual);
    }
    if let Some((other, beginning)) = likely(symbol, Path::new(library), own) {
        if let Some(usual) = usual_with(symbol, &other, own) {
            return elsewhere::before_usual(library, symbol, &other, &usual);
        }
        let other = shown(&other);
        return (
            format!("{library} needs the symbol {symbol}, which {other} of this version probably lacks"),
            format!(
                "Update {} to the version that {} needs: names of its functions begin with {beginning} too.",
                owned(&other),
                file_name(library)
            ),
        );
    }
    (
        format!("{library} needs the symbol {symbol}, and no library that it is linked against has this symbol"),
        format!(
            "Update {} and the libraries that it needs together: one of them has another version.",
            owned(library)
        ),
    )
}

/// Returns the library that `library` needs and that defines symbols with the same beginning as `symbol`, together with that beginning. The
/// longest beginning that a library defines decides.
fn likely(symbol: &str, library: &Path, own: Identity) -> Option<(PathBuf, String)> {
    let found = Closure::of(library, own).found.into_iter();
    let found = found.filter(|path| !closure::is_of_c_library(path));
    let known: Vec<(PathBuf, Symbols)> = found.map(|path| (path.clone(), Symbols::of(&path))).collect();
    let all = beginnings(symbol);
    all.iter().enumerate().find_map(|(place, beginning)| {
        let fewest = if place + 1 == all.len() { FEWEST } else { 1 };
        let counted = known.iter().map(|(path, symbols)| (symbols.count(beginning), path));
        let (_, path) = counted
            .filter(|(count, _)| *count >= fewest)
            .max_by_key(|(count, _)| *count)?;
        Some((path.clone(), (*beginning).to_owned()))
    })
}

/// Returns the file of the system with the name of `library` that defines `symbol`, if `library` itself is another file. The dynamic linker
/// finds `library` first, because its configuration lists folders of other software, such as those of a driver from the maker of the card.
fn usual_with(symbol: &str, library: &Path, own: Identity) -> Option<PathBuf> {
    other_with(symbol, library, None, own)
}

/// Returns the file of the system with the name of `library` that defines `symbol`, like [`usual_with`]. Also examines the folder `beside`.
fn other_with(symbol: &str, library: &Path, beside: Option<&Path>, own: Identity) -> Option<PathBuf> {
    let defines = |path: &Path| Symbols::of(path).defined.iter().any(|name| name == symbol.as_bytes());
    other_where(library, beside, own, defines)
}

/// Returns the file with the name of `library` in a usual folder of the system for which `fits` returns `true`, if `library` itself is another file.
pub(super) fn usual_where(library: &Path, own: Identity, fits: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    other_where(library, None, own, fits)
}

fn other_where(library: &Path, beside: Option<&Path>, own: Identity, fits: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let name = library.file_name()?;
    let folders = closure::usual_folders().map(|folder| Path::new(folder).join(name));
    let mut usual = folders.chain(beside.map(|folder| folder.join(name)));
    usual.find(|path| Identity::of(path) == Some(own) && real(path) != real(library) && fits(path))
}

/// Returns a library that `library` needs and that the dynamic linker finds first, together with a library of the same name that defines
/// `symbol`. The second library is in a usual folder or in the folder of `library`.
fn of_same_name(symbol: &str, library: &Path, own: Identity) -> Option<(PathBuf, PathBuf)> {
    let found = Closure::of(library, own).found.into_iter();
    let mut found = found.filter(|path| !closure::is_of_c_library(path));
    found.find_map(|other| {
        let usual = other_with(symbol, &other, library.parent(), own)?;
        Some((other, usual))
    })
}

/// Returns the beginnings of a name that end with a whole word, longest first. The beginnings of `wl_display_get` are `wl_display_` and
/// `wl_`.
fn beginnings(symbol: &str) -> Vec<&str> {
    let ends = match symbol.strip_prefix(NESTED) {
        Some(rest) => ends_of_nested(rest),
        None => ends_of_words(symbol),
    };
    let all = ends.into_iter().rev().filter_map(|end| symbol.get(..end));
    all.filter(|beginning| (SHORTEST..symbol.len()).contains(&beginning.len()))
        .collect()
}

/// Returns the ends of the words in a name. Words are separated by underscores, or each begins with a capital letter.
fn ends_of_words(symbol: &str) -> Vec<usize> {
    let bytes = symbol.as_bytes();
    let is_end = |&end: &usize| {
        let (before, after) = (bytes[end - 1], bytes[end]);
        let begins_word = bytes.get(end + 1).is_some_and(u8::is_ascii_lowercase);
        before == b'_' || after.is_ascii_uppercase() && (before.is_ascii_lowercase() || begins_word)
    };
    (1..bytes.len()).filter(is_end).collect()
}

/// Returns the ends of the names in the rest of a C++ name after [`NESTED`], such as `4llvm5Value3getEv`.
fn ends_of_nested(rest: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = usize::from(rest.starts_with('K'));
    while let Some(text) = rest.get(at..) {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = text[..digits].parse::<usize>() else {
            break;
        };
        at = at.saturating_add(digits).saturating_add(length);
        ends.push(NESTED.len().saturating_add(at));
    }
    ends
}

/// Returns the symbols that `library` needs and that neither the libraries that it needs define, nor `program` with its libraries.
pub(crate) fn undefined_in(library: &Path, program: Option<&Path>, own: Identity) -> Vec<String> {
    let wanted = Symbols::of(library);
    let mut files = vec![library.to_path_buf()];
    files.extend(Closure::of(library, own).found);
    if let Some(program) = program {
        files.push(program.into());
        files.extend(Closure::of(program, own).found);
    }
    files.sort_unstable();
    files.dedup();
    let defined: HashSet<Vec<u8>> = files.iter().flat_map(|file| Symbols::of(file).defined).collect();
    let missing = wanted.undefined.iter().filter(|name| !defined.contains(*name));
    missing.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// Returns the file of a program, or of one of its libraries, that needs functions of the library `name`, and these functions. The names of the
/// functions start with `beginning`. Neither the file `given` nor another library of the program defines them.
pub(in crate::causes) fn lacking(
    program: &Path,
    (name, given): (&str, &Path),
    beginning: &str,
    own: Identity,
) -> Option<(PathBuf, Vec<String>)> {
    let defined: HashSet<Vec<u8>> = Symbols::of(given).defined.into_iter().collect();
    // The symbols of a file without a table of sections are not known.
    if !defined.iter().any(|symbol| symbol.starts_with(beginning.as_bytes())) {
        return None;
    }
    let needs_it =
        |file: &PathBuf| closure::read(file).is_some_and(|needs| needs.names.iter().any(|need| need == name));
    let files = std::iter::once(program.to_path_buf()).chain(Closure::of(program, own).found);
    files.filter(needs_it).find_map(|file| {
        let is_lacking = |symbol: &[u8]| symbol.starts_with(beginning.as_bytes()) && !defined.contains(symbol);
        // All libraries of the program are read only if the file needs a function that `given` lacks.
        let symbols = Symbols::of(&file).undefined;
        symbols.iter().find(|symbol| is_lacking(symbol))?;
        let mut missing = undefined_in(&file, Some(program), own);
        missing.retain(|symbol| is_lacking(symbol.as_bytes()));
        (!missing.is_empty()).then_some((file, missing))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_end_with_whole_words() {
        for (symbol, expected) in [
            (
                "xcb_dri3_import_syncobj",
                &["xcb_dri3_import_", "xcb_dri3_", "xcb_"][..],
            ),
            ("wl_display_create", &["wl_display_", "wl_"]),
            ("drmSyncobjEventfd", &["drmSyncobj", "drm"]),
            ("LLVMBuildLoad", &["LLVMBuild", "LLVM"]),
            (
                "_ZN4llvm5Value3getEv",
                &["_ZN4llvm5Value3get", "_ZN4llvm5Value", "_ZN4llvm"],
            ),
            ("_ZNK4llvm5ValueE", &["_ZNK4llvm5Value", "_ZNK4llvm"]),
            ("_ZN99999999999999999999a", &[]),
            ("x_y", &[]),
            ("open", &[]),
            ("", &[]),
        ] {
            assert_eq!(beginnings(symbol), expected, "{symbol}");
        }
    }

    /// The configuration of the dynamic linker may lead to an old library that is not in a usual folder.
    #[test]
    fn the_systems_own_library_is_found_after_one_that_lacks_a_version() {
        const NAME: &str = "libgcc_s.so.1";
        let own = Identity::of_this_process();
        let Some(usual) = usual_where(Path::new(NAME), own, |path| super::super::contains(path, "GCC_3.0")) else {
            return;
        };
        for (version, words) in [
            ("GCC_3.0", "LD_PRELOAD="),
            ("GCC_9999", " is too old for /opt/libdriver.so"),
        ] {
            let words_of_the_linker =
                format!("/nowhere/{NAME}: version `{version}' not found (required by /opt/libdriver.so)");
            let (_, advice) = super::super::too_old(&words_of_the_linker, "", own).expect("a version");
            assert!(advice.contains(words), "{advice}");
            let is_named = advice.contains(&shown(&usual));
            assert_eq!(is_named, version == "GCC_3.0", "{advice}");
        }
    }

    #[test]
    fn the_systems_own_library_is_found_after_one_that_lacks_a_symbol() {
        let own = Identity::of_this_process();
        // The name of the C library differs in systems with musl.
        let Some(usual) = closure::locate("libm.so.6", own) else {
            return;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let other = folder.path().join("libm.so.6");
        fs::write(&other, "").expect("a file");
        let found = usual_with("cos", &other, own).expect("the system's own");
        assert_eq!(fs::canonicalize(found).ok(), fs::canonicalize(&usual).ok());
        assert_eq!(usual_with("vklt_nowhere", &other, own), None);
        assert_eq!(usual_with("cos", &usual, own), None);
        let (finding, advice) = elsewhere::before_usual("/d.so", "cos", &other, &usual);
        assert!(
            finding.contains("which") && finding.contains(" lacks and "),
            "{finding}"
        );
        assert!(
            advice.starts_with("Start programs with the system's library: LD_PRELOAD="),
            "{advice}"
        );
    }

    #[test]
    fn symbols_of_a_library_are_read() {
        let own = Identity::of_this_process();
        // The name of the C library differs in systems with musl.
        let Some(library) = closure::locate("libm.so.6", own) else {
            return;
        };
        let symbols = Symbols::of(&library);
        assert!(symbols.count("cos") > 1 && symbols.count("vklt_nowhere") == 0);
        assert_eq!(undefined_in(&library, None, own), [""; 0]);
        let text = Symbols::of(Path::new("/etc/passwd"));
        assert!(text.defined.is_empty() && text.undefined.is_empty());
    }
}
