//! Messages of the dynamic linker that have one cause each, with their meaning and remedy.

/// A message about a file, with its meaning and remedy.
pub(super) struct Row {
    /// Text that follows the file's name in the message.
    message: &'static str,
    /// Meaning of the message, about "it", the file.
    pub(super) finding: &'static str,
    /// Remedy; `FILE` stands for the path of the file, and [`BYTES`] for the memory that its thread-local variables need.
    pub(super) remedy: &'static str,
}

/// Text in remedies that stands for a number of bytes.
pub(super) const BYTES: &str = "BYTES";

const ANOTHER_SYSTEM: &str = "Install a build of FILE for this system.";
const NOT_A_LIBRARY: &str =
    "Name the library in library_path of the manifest, or reinstall the package that contains FILE.";
const GONE: &str = "Mount the file system again; for an AppImage, start it again.";
const RELOCATED: &str =
    "Update or replace the library. To permit it: chcon -t textrel_shlib_t FILE, or setsebool -P selinuxuser_execmod 1";

const ROWS: [Row; 15] = [
    Row {
        message: ": cannot allocate memory in static TLS block",
        finding: "the program has too little memory left for the thread-local variables of this library",
        remedy: "Reserve more of this memory: GLIBC_TUNABLES=glibc.rtld.optional_static_tls=BYTES PROGRAM; in older systems, load the library \
                 first: LD_PRELOAD=FILE PROGRAM",
    },
    Row {
        message: ": cannot enable executable stack as shared object requires",
        finding: "it asks for an executable stack, which this system forbids",
        remedy: "Update the library. Until then, permit it: GLIBC_TUNABLES=glibc.rtld.execstack=2 PROGRAM, or remove the request from the file: \
                 patchelf --clear-execstack FILE",
    },
    Row {
        message: ": ELF load command alignment not page-aligned",
        finding: "it is built for smaller memory pages than this kernel has (getconf PAGESIZE)",
        remedy: "Install a build of FILE for the pages of this kernel, or start a kernel with pages of 4 KiB; for a Raspberry Pi 5: \
                 kernel=kernel8.img in /boot/firmware/config.txt",
    },
    Row {
        message: ": CPU ISA level is lower than required",
        finding: "it is built for newer processors, such as x86-64-v3",
        remedy: "Install a build of FILE for this processor, such as the package of the distribution for all x86-64 processors.",
    },
    Row {
        message: ": cannot dynamically load executable",
        finding: "it is a program and not a library",
        remedy: NOT_A_LIBRARY,
    },
    Row {
        message: ": cannot dynamically load position-independent executable",
        finding: "it is a program and not a library",
        remedy: NOT_A_LIBRARY,
    },
    Row {
        message: ": only ET_DYN and ET_EXEC can be loaded",
        finding: "it is an object file and not a library",
        remedy: NOT_A_LIBRARY,
    },
    Row {
        message: ": ELF file OS ABI invalid",
        finding: "it is built for another operating system or a newer C library",
        remedy: ANOTHER_SYSTEM,
    },
    Row {
        message: ": ELF file data encoding not little-endian",
        finding: "it is built for big-endian processors",
        remedy: ANOTHER_SYSTEM,
    },
    Row {
        message: ": cannot read file data: Input/output error",
        finding: "the disk cannot read it",
        remedy: "Look in dmesg for errors of the disk, and check it (smartctl -a, fsck); then reinstall the package that contains FILE.",
    },
    Row {
        message: ": cannot open shared object file: Too many levels of symbolic links",
        finding: "it is a link that leads back to itself",
        remedy: "Reinstall the package that contains FILE.",
    },
    Row {
        message: ": cannot open shared object file: Transport endpoint is not connected",
        finding: "the file system that holds it is no longer connected",
        remedy: GONE,
    },
    Row {
        message: ": cannot open shared object file: Stale file handle",
        finding: "the file system that holds it is no longer connected",
        remedy: GONE,
    },
    Row {
        message: ": cannot restore segment prot after reloc: Permission denied",
        finding: "its code must be changed when it is loaded, which SELinux forbids",
        remedy: RELOCATED,
    },
    Row {
        message: ": cannot make segment writable for relocation: Permission denied",
        finding: "its code must be changed when it is loaded, which SELinux forbids",
        remedy: RELOCATED,
    },
];

/// Returns the name of the file in a message, and the row for the message.
pub(super) fn find(words: &str) -> Option<(&str, &'static Row)> {
    ROWS.iter().find_map(|row| {
        let before = &words[..words.find(row.message)?];
        let name = before.rsplit(": ").next()?;
        (!name.is_empty()).then_some((name, row))
    })
}

/// A symbol that a library needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing<'a> {
    /// The library that needs the symbol.
    pub(super) library: &'a str,
    pub(super) symbol: &'a str,
    /// Name of the library that should define the symbol, if the message has it.
    pub(super) of: Option<&'a str>,
}

/// Returns the symbol in a message about a symbol that no library defines. The message is `LIBRARY: undefined symbol: NAME`, or `LIBRARY:
/// symbol NAME, version VERSION not defined in file LIBRARY with link time reference`.
pub(super) fn missing_symbol(words: &str) -> Option<Missing<'_>> {
    let plain = words.split_once(": undefined symbol: ");
    let (library, rest) = plain.or_else(|| words.split_once(": symbol "))?;
    let of = rest.split_once(" not defined in file ");
    let of = of.and_then(|(_, rest)| rest.split(' ').next());
    (plain.is_some() || of.is_some()).then_some(Missing {
        library: library.rsplit(": ").next()?,
        symbol: rest.split([',', ' ']).next()?,
        of,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_with_one_cause_come_with_the_file() {
        for (words, expected) in [
            (
                "/lib/libgomp.so.1: cannot allocate memory in static TLS block",
                Some(("/lib/libgomp.so.1", "thread-local")),
            ),
            (
                "libx.so.1: cannot enable executable stack as shared object requires: Invalid argument",
                Some(("libx.so.1", "executable stack")),
            ),
            (
                "/a: b/libx.so: /a/liby.so: CPU ISA level is lower than required",
                Some(("/a/liby.so", "newer processors")),
            ),
            ("/lib/libx.so: cannot allocate memory", None),
            (": ELF file OS ABI invalid", None),
        ] {
            let found = find(words);
            assert_eq!(found.map(|(name, _)| name), expected.map(|(name, _)| name), "{words}");
            if let (Some((_, row)), Some((_, text))) = (found, expected) {
                assert!(row.finding.contains(text), "{}", row.finding);
            }
        }
    }

    #[test]
    fn missing_symbols_come_with_the_library_that_should_have_them() {
        let missing = |library, symbol, of| Some(Missing { library, symbol, of });
        for (words, expected) in [
            ("/l/a.so: undefined symbol: f", missing("/l/a.so", "f", None)),
            ("/l/a.so: undefined symbol: f, version V", missing("/l/a.so", "f", None)),
            (
                "a: relocation error: /l/a.so: symbol f, version V_2 not defined in file libb.so.1 with link time reference",
                missing("/l/a.so", "f", Some("libb.so.1")),
            ),
            ("/l/a.so: symbol not found", None),
        ] {
            assert_eq!(missing_symbol(words), expected, "{words}");
        }
    }
}
