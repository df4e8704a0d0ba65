//! Checks that the dynamic linker would load the recorded files of a driver in this process.
//!
//! The dynamic linker searches for a library by its name in this order:
//!
//! 1. libraries that the process has loaded
//! 2. the folders of `DT_RPATH`
//! 3. the folders of `LD_LIBRARY_PATH`
//! 4. the path at which the library was found when the driver was asked, unless the linker found the library through `LD_LIBRARY_PATH`
//!
//! `DT_RUNPATH` of a program does not apply to the needs of other libraries.

use crate::search::{Folder, LongPath, each_folder};
use crate::{BuildId, Doubt, HEAD_BYTES, Identity, Look, words, written};

/// An entry of a catalogue's list of files: a file that drivers depend on, or a folder that the linker searches for a driver.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Path by which the dynamic linker opened the file.
    pub path: &'a [u8],
    /// Written form of the file's identity; empty if the path did not exist.
    pub identity: &'a [u8],
    /// Written form of the file's build ID; empty if the file has no build ID.
    pub build_id: &'a [u8],
    /// Names by which libraries request the file, separated by blanks.
    pub names: &'a [u8],
    /// `true` if the linker found the file through `LD_LIBRARY_PATH` when the driver was asked. The entry is then valid only in a process
    /// that has loaded the file, or in which the linker also finds the file through the variable.
    pub is_searched: bool,
    /// `true` if the file's own search path contains `$ORIGIN`, which means the folder by which the linker opened the file. Through a link
    /// in another folder, the same file would then lead to other libraries.
    pub has_origin: bool,
    /// `true` if the file has an access control list, which may deny the file to a user although the bits of its mode allow it. Each process
    /// then reads the file. A list that is added later changes the identity.
    pub has_list: bool,
}

impl<'a> File<'a> {
    fn names(self) -> impl Iterator<Item = &'a [u8]> {
        words(self.names)
    }
}

/// A file that drivers depend on, with the doubt about it, if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    /// The file.
    pub file: File<'a>,
    /// Reason why the linker might load another file for the driver.
    pub doubt: Option<Doubt>,
    /// `true` if the linker certainly uses this file, because the process has loaded it, or the linker finds it in an earlier folder.
    is_found: bool,
    /// `true` if the file has several names.
    has_names: bool,
}

impl Checked<'_> {
    /// Returns `true` if libraries request the file by this name.
    fn is_named(&self, name: &[u8]) -> bool {
        if self.has_names {
            self.file.names().any(|one| one == name)
        } else {
            !name.is_empty() && self.file.names == name
        }
    }
}

impl<'a> From<File<'a>> for Checked<'a> {
    fn from(file: File<'a>) -> Self {
        Self {
            file,
            doubt: None,
            is_found: false,
            has_names: file.names.contains(&b' '),
        }
    }
}

/// A library or program that the process has loaded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Object<'a> {
    /// Path by which the object was opened; empty for the program.
    pub path: &'a [u8],
    /// `DT_SONAME`; empty if the object has none.
    pub name: &'a [u8],
    /// `DT_RPATH`; empty if the object has none, or if `DT_RUNPATH` replaces it.
    pub search: &'a [u8],
    /// `DT_RUNPATH`; empty if the object has none.
    pub own_search: &'a [u8],
    /// `true` if the object has `DT_AUDIT` or `DT_DEPAUDIT`. In a program, these entries name libraries that can change
    /// each search of the linker.
    pub is_audited: bool,
    /// Beginning of the object in memory, which shows from which file the object was loaded. Empty if unknown; the object is then assumed
    /// to come from the file that is now at its path.
    pub head: &'a [u8],
}

/// State of a file at a path.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Identity of the file.
    pub identity: Identity,
    /// `true` if all users may read the file, or if this process has opened it.
    pub is_open: bool,
    /// Number of the mount through which the path leads to the file; 0 if the kernel does not report the number.
    pub mount: u64,
}

/// Number of the mount that was last found to be without the option `noexec`, so that the kernel is asked once for adjacent files of one
/// mount. The value is valid during one call of the program, because the options of a mount may change.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mount(u64);

impl Mount {
    /// Returns `false` if the file at a path is in a mount with the option `noexec`, so it cannot be loaded.
    pub(crate) fn may_execute(&mut self, process: &impl Process, path: &[u8], found: Option<Found>) -> bool {
        let mount = found.map_or(0, |found| found.mount);
        let may_execute = mount != 0 && mount == self.0 || process.may_execute(path);
        if may_execute {
            self.0 = mount;
        }
        may_execute
    }
}

/// Result of opening a folder for look-ups.
#[derive(Debug)]
pub enum Place<Folder> {
    /// The folder is open.
    Open(Folder),
    /// No folder exists at the path, so the linker cannot find a library in it.
    Missing,
    /// Something exists at the path, but cannot be opened now, for example because the process has too many open files.
    Unknown,
}

/// The process that would open a driver.
pub trait Process: Look {
    /// A folder that is open for look-ups. Several look-ups in an open folder cost less than look-ups of whole paths.
    type Folder;

    /// Opens a folder for look-ups.
    fn folder(&self, path: &[u8]) -> Place<Self::Folder>;
    /// Returns the result of [`Self::file`] for a name in an open folder.
    fn file_in(&self, folder: &Self::Folder, name: &[u8]) -> Option<Found>;
    /// Returns the state of a path's target.
    fn file(&self, path: &[u8]) -> Option<Found>;
    /// Returns `false` if a path's target cannot be loaded because of the mount option `noexec`.
    fn may_execute(&self, path: &[u8]) -> bool;
    /// Returns the state of a path's target, with `is_open` only if this process can open the target for reading. A security module may
    /// refuse a file that all users may read.
    fn opened(&self, path: &[u8]) -> Option<Found>;
    /// Passes a file to `take` in pieces, up to `most` bytes. The first piece has [`HEAD_BYTES`] if the file is long enough. Returns
    /// `false` if this process may not read the file.
    fn read(&self, path: &[u8], most: usize, take: &mut dyn FnMut(&[u8])) -> bool;
    /// Passes each loaded object to `take`.
    fn objects(&self, take: &mut dyn FnMut(&Object<'_>));
    /// Returns the version of the GNU C library; empty for another C library.
    fn c_library(&self) -> &'static [u8];
    /// Returns `true` if the symbol is visible to all libraries of the process.
    fn exports(&self, symbol: &core::ffi::CStr) -> bool;
}

/// Checks that a file is still the recorded one. `found` is the current state of the file at the path.
pub(crate) fn check(
    process: &impl Process,
    path: &[u8],
    found: Option<Found>,
    (identity, build_id): (&[u8], &[u8]),
) -> Result<(), Doubt> {
    let Some(Found {
        identity: found,
        is_open,
        ..
    }) = found
    else {
        return if identity.is_empty() {
            Ok(())
        } else {
            Err(Doubt::Library)
        };
    };
    let is_written = found.is_written(identity);
    if !is_written && !found.is_same_file(identity) {
        return Err(Doubt::Library);
    }
    let proves = is_written && found.proves();
    if proves && is_open {
        return Ok(());
    }
    let mut same = None;
    let is_read = process.read(path, HEAD_BYTES, &mut |head| {
        let id = BuildId::in_head(head).filter(|_| same.is_none() && !build_id.is_empty());
        same = id.map(|id| id.is_written(build_id)).or(same);
    });
    match (is_read, proves, same) {
        (false, ..) => Err(Doubt::Unreadable),
        (_, true, _) | (.., Some(true)) => Ok(()),
        (.., None) if is_written => Err(Doubt::Times),
        _ => Err(Doubt::Library),
    }
}

/// Checks all files in this process: their current state, loaded libraries of the same name, and files in the folders of `DT_RPATH` and
/// `LD_LIBRARY_PATH`. `search` is the value of `LD_LIBRARY_PATH`. Returns `true` if the results depend on the current folder.
pub fn look(process: &impl Process, search: &[u8], files: &mut [Checked<'_>], mount: &mut Mount) -> bool {
    let (mut is_relative, mut is_audited) = (false, false);
    let mut look_in = |folder: Folder<'_>, files: &mut [Checked<'_>], is_final| {
        is_relative |= folder.path().is_some_and(|path| !path.starts_with(b"/"));
        look_in(process, folder.path(), files, is_final && folder.is_certain());
    };
    check_all(process, files, mount);
    process.objects(&mut |object| {
        is_audited |= object.is_audited;
        hold_against(process, object, files);
        each_folder(process, object.search, object.path, &mut |folder| {
            look_in(folder, files, false)
        });
        // The loader opens drivers, so the linker also searches the loader's `DT_RUNPATH` for drivers that are named without a folder.
        if object.name == LOADER {
            each_folder(process, object.own_search, object.path, &mut |folder| {
                look_in(folder, files, false)
            });
        }
    });
    each_folder(process, search, b"", &mut |folder| look_in(folder, files, true));
    for one in files.iter_mut().filter(|one| one.file.is_searched && !one.is_found) {
        one.doubt = one.doubt.or(Some(Doubt::Shadowed));
    }
    let symbols = [
        c"vk_icdGetInstanceProcAddr",
        c"vk_icdNegotiateLoaderICDInterfaceVersion",
        c"vk_icdGetPhysicalDeviceProcAddr",
    ];
    if is_audited || symbols.into_iter().any(|symbol| process.exports(symbol)) {
        doubt_all(files);
    }
    is_relative
}

/// Number of files of one folder from which on opening the folder takes less time than looking up whole paths.
const SEVERAL: usize = 4;

/// Checks that all files are still the recorded ones, and that libraries are in mounts from which they can be loaded. Opens each folder with
/// [`SEVERAL`] files only once, because files of one folder are next to each other in the list.
fn check_all<P: Process>(process: &P, files: &mut [Checked<'_>], mount: &mut Mount) {
    let mut last: Option<(&[u8], Place<P::Folder>)> = None;
    for at in 0..files.len() {
        let Some((one, rest)) = files.get_mut(at..).and_then(<[_]>::split_first_mut) else {
            return;
        };
        let file = one.file;
        let (folder, name) = parts(file.path);
        let is_open = last.as_ref().is_some_and(|(known, _)| *known == folder);
        let has_more = || {
            rest.get(SEVERAL - 2)
                .is_some_and(|other| parts(other.file.path).0 == folder)
        };
        if !is_open && !folder.is_empty() && has_more() {
            last = Some((folder, process.folder(folder)));
        }
        let here = last.as_ref().filter(|(known, _)| *known == folder);
        let found = match here {
            Some((_, Place::Open(open))) => process.file_in(open, name),
            Some((_, Place::Missing)) => None,
            _ => process.file(file.path),
        };
        let is_library = !file.names.is_empty() && !file.identity.is_empty();
        let found = found.map(|found| Found {
            is_open: found.is_open && !file.has_list,
            ..found
        });
        let same = check(process, file.path, found, (file.identity, file.build_id));
        one.doubt = match same {
            Ok(()) if is_library && !mount.may_execute(process, file.path, found) => Some(Doubt::Unreadable),
            same => same.err(),
        };
    }
}

/// Returns the folder and the name of a path; an empty folder if the path has no slash or ends with a slash.
fn parts(path: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = path.rsplitn(2, |&byte| byte == b'/');
    match (parts.next(), parts.next()) {
        (Some(name @ [_, ..]), Some(folder)) => (folder, name),
        _ => (b"", path),
    }
}

/// `DT_SONAME` of the loader.
const LOADER: &[u8] = b"libvulkan.so.1";

/// Compares a loaded object with the files that have its name, because the linker uses the object for each of these files.
fn hold_against(process: &impl Process, object: &Object<'_>, files: &mut [Checked<'_>]) {
    let last = object.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    for one in files.iter_mut() {
        if one.is_named(last) || one.is_named(object.name) {
            let is_there = object.path == one.file.path
                || is_same(process, object.path, one.file) && has_same_origin(process, parts(object.path).0, one.file);
            if is_there && is_present(process, object, (one.file.path, one.file.build_id)) {
                // The linker reuses an object for a name if the name is the object's `DT_SONAME`. If only the path differs, the linker may
                // load the file again.
                one.is_found |= one.file.names().all(|name| name == object.name);
            } else {
                one.doubt = one.doubt.or(Some(Doubt::Shadowed));
            }
        }
    }
}

/// Returns `true` if a loaded object is the file that is now at `path`. If a package replaced the file after the object was loaded, the
/// linker still uses the object. An object without a build ID is compared by its beginning.
pub fn is_present(process: &impl Process, object: &Object<'_>, (path, build_id): (&[u8], &[u8])) -> bool {
    if object.head.is_empty() {
        return true;
    }
    if let Some(id) = BuildId::in_head(object.head).filter(|_| !build_id.is_empty()) {
        return id.is_written(build_id);
    }
    let mut is_same = false;
    process.read(path, HEAD_BYTES, &mut |head| {
        is_same = object.head.iter().zip(head).all(|(one, other)| one == other);
    });
    is_same
}

/// Marks all files as doubtful, so that no entry that depends on one of them is used.
pub fn doubt_all(files: &mut [Checked<'_>]) {
    files.iter_mut().for_each(|one| one.doubt = Some(Doubt::Shadowed));
}

fn is_same(process: &impl Process, path: &[u8], file: File<'_>) -> bool {
    process.file(path).is_some_and(|found| leads_to(found.identity, file))
}

/// Returns `true` if `$ORIGIN` in the search path of a file has the same meaning for a link in `folder`. A folder may have several paths. The
/// mounts are compared too, because a path such as `$ORIGIN/../lib` leads from another mount of the folder to another place.
fn has_same_origin(process: &impl Process, folder: &[u8], file: File<'_>) -> bool {
    let own = parts(file.path).0;
    if !file.has_origin || own == folder {
        return true;
    }
    let place = |path| {
        let Found { identity, mount, .. } = process.file(path)?;
        (mount != 0).then_some((mount, identity.device, identity.inode))
    };
    place(folder).is_some_and(|found| place(own) == Some(found))
}

/// Returns `true` if the file found at a path is the recorded file. [`check`] decides whether the content of the file has changed.
fn leads_to(found: Identity, file: File<'_>) -> bool {
    found.is_written(file.identity) || found.is_same_file(file.identity)
}

/// Name of the subfolder that the linker searches before the searched folder itself.
const HARDWARE_FOLDER: &[u8] = b"glibc-hwcaps";

/// Names of further folders that the GNU C library searches up to version 2.36. The names are one text, because the dynamic linker
/// relocates each address in a list in every process.
pub const OLD_FOLDERS: &[u8] = match () {
    () if cfg!(target_arch = "x86_64") => b"tls haswell avx512_1 xeon_phi x86_64",
    () if cfg!(target_arch = "x86") => b"tls sse2 i386 i486 i586 i686",
    () if cfg!(target_arch = "aarch64") => b"tls atomics aarch64",
    () => b"tls neon vfp v6l v7l v8l power8 power9 power10 z13 z14 z15",
};

/// Returns `true` for a version of the GNU C library that searches [`OLD_FOLDERS`].
fn has_old_folders(version: &[u8]) -> bool {
    let minor = version
        .strip_prefix(b"2.")
        .and_then(|rest| rest.split(|&byte| byte == b'.').next());
    minor.and_then(written::number).is_some_and(|minor| minor < 37)
}

/// Searches a folder for the names of the files. If `is_final` is `true` and the folder contains the recorded file, the linker does not
/// search further folders for that file.
fn look_in(process: &impl Process, path: Option<&[u8]>, files: &mut [Checked<'_>], is_final: bool) {
    let Some(path) = path else { return doubt_all(files) };
    let folder = match process.folder(path) {
        Place::Open(folder) => folder,
        Place::Missing => return,
        Place::Unknown => return doubt_all(files),
    };
    let exists = |name| process.file_in(&folder, name).is_some();
    if has_old_folders(process.c_library()) && words(OLD_FOLDERS).any(exists) {
        return doubt_all(files);
    }
    if exists(HARDWARE_FOLDER) {
        let is_whole = look_below(process, path, files);
        if !is_whole {
            return doubt_all(files);
        }
    }
    look_for(process, (path, &folder), files, is_final);
}

/// Searches the subfolders of a folder's [`HARDWARE_FOLDER`]. Each subfolder contains libraries for some kinds of processors. Returns
/// `false` if one of the subfolders could not be searched.
fn look_below(process: &impl Process, path: &[u8], files: &mut [Checked<'_>]) -> bool {
    let Some(below) = LongPath::of(&[path, b"/", HARDWARE_FOLDER]) else {
        return false;
    };
    let mut is_whole = true;
    let is_listed = process.names(below.bytes(), &mut |name| {
        if name.starts_with(b".") {
            return;
        }
        let path = LongPath::of(&[below.bytes(), b"/", name]);
        let place = path.as_ref().map(|path| (path.bytes(), process.folder(path.bytes())));
        match place {
            Some((path, Place::Open(folder))) => look_for(process, (path, &folder), files, false),
            Some((_, Place::Missing)) => {}
            Some((_, Place::Unknown)) | None => is_whole = false,
        }
    });
    is_listed && is_whole
}

fn look_for<P: Process>(process: &P, (path, folder): (&[u8], &P::Folder), files: &mut [Checked<'_>], is_final: bool) {
    for one in files.iter_mut().filter(|one| !one.is_found && one.doubt.is_none()) {
        let file = one.file;
        let (mut found, mut names) = (0, 0);
        for name in file.names() {
            names += 1;
            let Some(now) = process.file_in(folder, name) else {
                continue;
            };
            let place = path.strip_suffix(b"/").unwrap_or(path);
            let is_same = leads_to(now.identity, file) && has_same_origin(process, place, file);
            found += usize::from(is_same);
            // The linker skips a library of another architecture.
            if !is_same && !is_foreign(process, path, name) {
                one.doubt = Some(Doubt::Shadowed);
            }
        }
        one.is_found = is_final && found == names;
    }
}

/// Returns `true` if the file is a library whose word size differs from the word size of this process.
fn is_foreign(process: &impl Process, folder: &[u8], name: &[u8]) -> bool {
    let mut foreign = false;
    if let Some(path) = LongPath::of(&[folder, b"/", name]) {
        process.read(path.bytes(), HEAD_BYTES, &mut |head| foreign |= is_foreign_head(head));
    }
    foreign
}

/// Returns `true` for the header of an ELF file whose word size differs from the word size of this process.
fn is_foreign_head(head: &[u8]) -> bool {
    const CLASS: u8 = if cfg!(target_pointer_width = "64") { 2 } else { 1 };
    head.starts_with(b"\x7FELF") && head.get(4).is_some_and(|&class| class != CLASS)
}
