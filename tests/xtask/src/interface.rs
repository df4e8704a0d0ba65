//! Checks the binary interface of a built library.
//!
//! The exported names must be the names in `generated/exports` and in the last release, without symbol versions. The library must not need
//! a newer libc than `docs/packaging.md` states.

use crate::tree::Tree;
use crate::words::digits;
use object::read::elf::{FileHeader, Sym};
use object::{Endianness, FileKind, elf};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::ExitCode;

/// The oldest glibc that contains everything that the library needs. With another compiler or linker, the library can need an older
/// version, but never a newer version.
const GLIBC: [u32; 2] = [2, 34];
const EXPORTS: &str = "generated/exports/linux.txt";
/// List of symbols from which Debian derives the dependencies of programs that were built with the library.
const RELEASED: &str = "packaging/debian/libvulkan1-rs.symbols";

type Names = BTreeSet<String>;

/// Dynamic symbols of a library.
#[derive(Default)]
struct Interface {
    exported: Names,
    /// Exported names with a symbol version.
    versioned: Names,
    /// Versions of the C library that the library requires, each with the symbols of this version.
    libc: BTreeMap<String, Names>,
}

/// Prints each promise about the binary interface, with the result of its check.
pub fn run(tree: &Tree, library: &str) -> ExitCode {
    let found = fs::read(library)
        .map_err(|error| format!("{library}: {error}"))
        .and_then(|data| interface(&data));
    let promises = match found.and_then(|interface| judged(tree, &interface)) {
        Ok(promises) => promises,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut status = ExitCode::SUCCESS;
    for (promise, wrong) in promises {
        if wrong.is_empty() {
            println!("  ok    interface: {promise}");
        } else {
            println!("  FAIL  interface: {promise}; but {}", list(&wrong));
            status = ExitCode::FAILURE;
        }
    }
    status
}

fn list(names: &Names) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn interface(data: &[u8]) -> Result<Interface, String> {
    let found = match FileKind::parse(data) {
        Ok(FileKind::Elf32) => of_elf::<elf::FileHeader32<Endianness>>(data),
        Ok(FileKind::Elf64) => of_elf::<elf::FileHeader64<Endianness>>(data),
        _ => return Err("not an ELF library".to_owned()),
    };
    found.map_err(|error| format!("the library: {error}"))
}

fn of_elf<Elf: FileHeader<Endian = Endianness>>(data: &[u8]) -> object::read::Result<Interface> {
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM)?;
    let versions = sections.versions(endian, data)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut found = Interface::default();
    if let Some((mut needs, link)) = sections.gnu_verneed(endian, data)? {
        let strings = sections.strings(endian, data, link)?;
        while let Some((_, mut names)) = needs.next()? {
            while let Some(name) = names.next()? {
                let name = text(name.name(endian, strings)?);
                if name.starts_with("GLIBC_") {
                    found.libc.entry(name).or_default();
                }
            }
        }
    }
    for (index, symbol) in symbols.enumerate() {
        let name = text(symbol.name(endian, symbols.strings())?);
        let version = match &versions {
            Some(versions) => versions
                .version(versions.version_index(endian, index))?
                .map(|version| text(version.name())),
            None => None,
        };
        if name.is_empty() || symbol.is_local() {
            continue;
        }
        if symbol.is_undefined(endian) {
            if let Some(users) = version.and_then(|version| found.libc.get_mut(&version)) {
                users.insert(name);
            }
        } else {
            found
                .versioned
                .extend(version.map(|version| format!("{name}@{version}")));
            found.exported.insert(name);
        }
    }
    Ok(found)
}

/// Returns the text of each promise about the binary interface, with the names that violate it.
fn judged(tree: &Tree, interface: &Interface) -> Result<Vec<(String, Names)>, String> {
    let (listed, released) = (listed(tree)?, released(tree)?);
    let exported = &interface.exported;
    let minus = |one: &Names, other: &Names| one.difference(other).cloned().collect::<Names>();
    let highest = interface
        .libc
        .keys()
        .map(|version| number(version))
        .max()
        .unwrap_or_default();
    let of_highest = interface.libc.iter().filter(|(version, _)| number(version) == highest);
    let of_highest: Names = of_highest.flat_map(|(_, users)| users.clone()).collect();
    let newer = interface
        .libc
        .iter()
        .filter(|(version, _)| number(version).as_slice() > GLIBC.as_slice());
    let newer = newer.flat_map(|(version, users)| {
        if users.is_empty() {
            vec![format!("no symbol@{version}")]
        } else {
            users.iter().map(|user| format!("{user}@{version}")).collect()
        }
    });
    let dotted = |parts: &[u32]| parts.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
    Ok(vec![
        (format!("no name of {EXPORTS} is missing"), minus(&listed, exported)),
        (
            format!("{} exported names, each in {EXPORTS}", exported.len()),
            minus(exported, &listed),
        ),
        (
            format!("all {} names of {RELEASED}", released.len()),
            minus(&released, exported),
        ),
        ("no name that it lacks".to_owned(), minus(exported, &released)),
        ("no name has a version".to_owned(), interface.versioned.clone()),
        (
            format!(
                "glibc {} is the oldest that will do, and {} is promised: {}",
                dotted(&highest),
                dotted(&GLIBC),
                list(&of_highest)
            ),
            newer.collect(),
        ),
    ])
}

/// Returns the numbers of a version for comparison. A version without a number is newer than all known versions.
fn number(version: &str) -> Vec<u32> {
    let parts = version
        .trim_start_matches("GLIBC_")
        .split('.')
        .map(|part| match digits(part) {
            Some((value, "")) => value.parse().ok(),
            _ => None,
        });
    parts.collect::<Option<_>>().unwrap_or(vec![u32::MAX])
}

/// Returns the names that the library must export.
fn listed(tree: &Tree) -> Result<Names, String> {
    Ok(tree
        .read(EXPORTS)?
        .lines()
        .filter(|line| line.starts_with("vk"))
        .map(str::to_owned)
        .collect())
}

/// Returns the names that the last release exports.
fn released(tree: &Tree) -> Result<Names, String> {
    let text = tree.read(RELEASED)?;
    let names = text
        .lines()
        .filter_map(|line| line.strip_prefix(" vk")?.split_once("@Base"));
    Ok(names.map(|(name, _)| format!("vk{name}")).collect())
}

/// Adds the names of a new header to the list of released names. The header's version is the first version in which programs can use these
/// names. Removed names remain in the list, because programs can still use them.
///
/// # Errors
/// Returns a message if a list cannot be read or written.
pub fn add_symbols(tree: &Tree) -> Result<(), String> {
    let header = tree.header()?;
    let text = tree.read(RELEASED)?;
    let (symbols, mut lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with(' '));
    let new = listed(tree)?
        .difference(&released(tree)?)
        .map(|name| format!(" {name}@Base {header}"))
        .collect::<Vec<_>>();
    let sorted: BTreeSet<&str> = symbols.into_iter().chain(new.iter().map(String::as_str)).collect();
    lines.extend(sorted);
    fs::write(tree.root().join(RELEASED), lines.join("\n") + "\n").map_err(|error| format!("{RELEASED}: {error}"))
}
