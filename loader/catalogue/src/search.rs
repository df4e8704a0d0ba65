//! Reads lists of folders that the dynamic linker searches: `LD_LIBRARY_PATH`, `DT_RPATH` and `DT_RUNPATH`.

use crate::closure::Process;
use crate::machine::Path;
use crate::{LONGEST_PATH, words};

/// Space for a path in a searched folder. If a path does not fit, the linker could find an unknown library at that path, so no entry that
/// depends on the searched folders is used.
pub(crate) type LongPath = Path<LONGEST_PATH>;

/// A folder of a list.
#[derive(Clone, Copy)]
pub(crate) enum Folder<'a> {
    /// The linker searches the folder at this path.
    Certain(&'a [u8]),
    /// The linker may search the folder at this path.
    Possible(&'a [u8]),
    /// Only the linker knows the folder.
    Unknown,
}

impl<'a> Folder<'a> {
    /// Returns the path; `None` if only the linker knows the folder.
    pub(crate) fn path(self) -> Option<&'a [u8]> {
        match self {
            Self::Certain(path) | Self::Possible(path) => Some(path),
            Self::Unknown => None,
        }
    }

    /// Returns `true` if the linker searches the folder for certain.
    pub(crate) fn is_certain(self) -> bool {
        matches!(self, Self::Certain(_))
    }
}

/// Values of the linker's word `$LIB` in C libraries for this architecture. The word is the name of the folder for which the C library was
/// built; Debian's also has the folder above. Launchers of overlays set one search path with this word for programs of both word sizes.
const LIBRARY_FOLDERS: &[u8] = match () {
    () if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) => {
        b"lib lib64 x86_64-linux-gnu lib/x86_64-linux-gnu"
    }
    () if cfg!(target_arch = "x86") => b"lib lib32 i386-linux-gnu lib/i386-linux-gnu",
    () if cfg!(target_arch = "aarch64") => b"lib lib64 aarch64-linux-gnu lib/aarch64-linux-gnu",
    () => b"",
};

/// Passes each folder of an object's search path to `take`.
pub(crate) fn each_folder(process: &impl Process, list: &[u8], own: &[u8], take: &mut dyn FnMut(Folder<'_>)) {
    if list.is_empty() {
        return;
    }
    for folder in list.split(|byte| matches!(byte, b':' | b';')) {
        let path = match after(folder, [b"$ORIGIN", b"${ORIGIN}"]) {
            Some(below) => origin(process, own, below),
            None if folder.is_empty() => LongPath::of(&[b"."]),
            None => LongPath::of(&[folder]),
        };
        each_meaning(path.as_ref().map(LongPath::bytes), take);
    }
}

/// Returns the path after one of the forms of a word of the linker. The linker does not replace a word within a longer word: `$ORIGINAL` is
/// an ordinary name.
fn after<'a>(path: &'a [u8], forms: [&[u8]; 2]) -> Option<&'a [u8]> {
    let below = forms.into_iter().find_map(|form| path.strip_prefix(form));
    below.filter(|below| below.is_empty() || below.starts_with(b"/"))
}

/// Passes the folder at a path to `take`. A path with `$LIB` may mean several folders. The values of other words are not known.
fn each_meaning(path: Option<&[u8]>, take: &mut dyn FnMut(Folder<'_>)) {
    let Some(path) = path else { return take(Folder::Unknown) };
    let Some(at) = path.iter().position(|&byte| byte == b'$') else {
        return take(Folder::Certain(path));
    };
    let (before, word) = path.split_at_checked(at).unwrap_or_default();
    let below = after(word, [b"$LIB", b"${LIB}"]).filter(|below| !below.contains(&b'$'));
    let Some(below) = below.filter(|_| !LIBRARY_FOLDERS.is_empty()) else {
        return take(Folder::Unknown);
    };
    for folder in words(LIBRARY_FOLDERS) {
        let path = LongPath::of(&[before, folder, below]);
        take(
            path.as_ref()
                .map_or(Folder::Unknown, |path| Folder::Possible(path.bytes())),
        );
    }
}

/// Returns the absolute form of the path `below`, which is relative to the folder of the object `own`. If `own` is empty, the object is the
/// program.
fn origin(process: &impl Process, own: &[u8], below: &[u8]) -> Option<LongPath> {
    let folder = |path: &[u8]| LongPath::of(&[path.rsplitn(2, |&byte| byte == b'/').nth(1)?, below]);
    if !own.is_empty() {
        return folder(own);
    }
    let mut found = None;
    process.link(b"/proc/self/exe", &mut |path| found = folder(path));
    found
}
