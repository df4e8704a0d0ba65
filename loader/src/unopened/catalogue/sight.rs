//! Examines the present variables, libraries and devices for a comparison with the catalogue.

use super::file::{Loaded, Looked};
use super::{identity_of, ignore};
use ::catalogue::closure::{self, Checked, Found, Mount, Object, Place, Process};
use ::catalogue::{HEAD_BYTES, Look, MOST_OF_TEXT};
use core::ffi::CStr;
use discovery::journal::Journal;
use discovery::journal::reason::CatalogueReason;
use discovery::text::Text;
use os::memory::Grow;
use os::{File, Folder, Mounted, Status, with_terminated};
use rust_alloc::vec::Vec;

/// File of the kernel with the variables that the program started with.
const VARIABLES: &[u8] = b"/proc/self/environ";

/// Upper bound on the total size in bytes of the variables that a program starts with: Linux allows six megabytes.
const MOST_VARIABLE_BYTES: usize = 6 << 20;

/// Returns `true` if all variables of drivers have the recorded values. Reports the first variable whose value differs.
pub(super) fn variables_are_allowed(loaded: &Loaded, journal: &mut Journal<'_>) -> bool {
    let Some(catalogue) = loaded.catalogue() else {
        return false;
    };
    let mut other = None;
    let mut set = 0;
    os::each_variable(|name, value| {
        let (is_allowed, is_recorded) = catalogue.judges(name, value);
        set += usize::from(is_recorded);
        if !is_allowed {
            other = Some(Text::from(name));
        }
        other.is_none()
    });
    let name = match other {
        Some(name) => name,
        // The environment lacks a variable that the catalogue recorded.
        None if set < catalogue.variables().count() => Text::from(&b"a variable"[..]),
        None => return true,
    };
    ignore(&loaded.path, CatalogueReason::Variable(name).into(), journal);
    false
}

/// Returns the name of a variable that is set and may change the record of a driver's devices.
#[cfg(all(feature = "lazy", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(in crate::unopened) fn variable_of_records() -> Option<Text> {
    let mut found = None;
    os::each_variable(|name, value| {
        if ::catalogue::variables::may_change_records(name, value) {
            found = Some(Text::from(name));
        }
        found.is_none()
    });
    found
}

/// Returns the variables that the program started with, as the kernel lists them, each terminated. Returns `None` if memory runs out, or if
/// the kernel hides the variables from this process. Without `/proc`, returns the present value of `LD_LIBRARY_PATH`.
fn listed_variables() -> Option<Vec<u8>> {
    let (mut text, mut is_whole) = (Vec::new(), true);
    let is_read = Kernel.read(VARIABLES, MOST_VARIABLE_BYTES, &mut |piece| {
        is_whole &= text.try_room(piece.len()).is_ok();
        if is_whole {
            text.extend_from_slice(piece);
        }
    });
    if !is_read && Kernel.exists(VARIABLES) {
        return None;
    }
    if !is_read && let Some(value) = os::environment::plain_value(c"LD_LIBRARY_PATH") {
        const NAME: &[u8] = b"LD_LIBRARY_PATH=";
        text.try_exact_room(NAME.len() + value.len()).ok()?;
        text.extend_from_slice(NAME);
        text.extend_from_slice(&value);
    }
    is_whole.then_some(text)
}

/// Returns the values of the named variables in a list of terminated texts, and `true` if every text has the form of a variable
/// (`NAME=value`). If a name is repeated, this function uses the last value, like the dynamic linker.
fn values<'v, const COUNT: usize>(mut variables: &'v [u8], names: [&str; COUNT]) -> ([Option<&'v [u8]>; COUNT], bool) {
    let (mut values, mut is_whole) = ([None; COUNT], true);
    while !variables.is_empty() {
        let end = os::find_byte(variables, 0).unwrap_or(variables.len());
        let (one, rest) = variables.split_at(end);
        is_whole &= os::find_byte(one, b'=').is_some();
        for (value, name) in values.iter_mut().zip(names) {
            *value = one.strip_prefix(name.as_bytes()).or(*value);
        }
        variables = rest.get(1..).unwrap_or_default();
    }
    (values, is_whole)
}

/// Returns the folders of two values of `LD_LIBRARY_PATH`: of `first`, with which the program started, and of the present value. Returns
/// `None` if memory runs out. Both values are necessary, because a program may have overwritten the memory of its first variables with its
/// title.
fn searched(first: &[u8]) -> Option<Vec<u8>> {
    let present = os::environment::plain_value(c"LD_LIBRARY_PATH").unwrap_or_default();
    let present: &[u8] = if *present == *first { b"" } else { &present };
    let mut all = Vec::new();
    all.try_exact_room(first.len() + 1 + present.len()).ok()?;
    all.extend_from_slice(first);
    // An empty item would mean the current folder.
    if !first.is_empty() && !present.is_empty() {
        all.push(b':');
    }
    all.extend_from_slice(present);
    Some(all)
}

/// Examines each file of a catalogue. Returns `None` if memory runs out.
pub(super) fn look(loaded: &Loaded, loads: (u64, u64), mount: &mut Mount) -> Option<Looked> {
    let catalogue = loaded.catalogue()?;
    let (mut files, mut doubts) = (Vec::new(), Vec::new());
    let mut all = catalogue.files().map(Checked::from);
    all.try_for_each(|file| files.try_push(file)).ok()?;
    doubts.try_exact_room(files.len()).ok()?;
    // The dynamic linker read the variables that the program started with, and the program may have changed its environment since.
    let listed;
    let variables = match os::first_variables() {
        Some(variables) => variables,
        // The list in `/proc` takes ten times as long as the process's own memory, because the kernel creates files for a process that
        // reads the list.
        None => {
            listed = listed_variables()?;
            &listed
        }
    };
    let ([search, audit, mask, tunables], is_whole) = values(
        variables,
        ["LD_LIBRARY_PATH=", "LD_AUDIT=", "LD_HWCAP_MASK=", "GLIBC_TUNABLES="],
    );
    let is_allowed =
        |name: &str, value: Option<&[u8]>| value.is_none_or(|value| catalogue.allows(name.as_bytes(), value));
    let search = searched(search.unwrap_or_default())?;
    let is_relative = closure::look(&Kernel, &search, &mut files, mount);
    // The variables that the dynamic linker read are unknown if the program overwrote them, or if the linker was started as a program with
    // options of its own.
    let is_unknown = !is_whole || os::is_started_by_linker();
    let are_allowed =
        is_allowed("LD_AUDIT", audit) && is_allowed("LD_HWCAP_MASK", mask) && is_allowed("GLIBC_TUNABLES", tunables);
    if is_unknown || !are_allowed {
        closure::doubt_all(&mut files);
    }
    doubts.extend(files.iter().map(|file| file.doubt));
    let same_search = catalogue.has_same_linker_cache(&Kernel);
    let replaced = replaced(loaded)?;
    Some(Looked {
        replaced,
        loads,
        is_relative,
        folder: is_relative.then(current_folder).flatten(),
        doubts,
        same_search,
    })
}

/// Returns the indices of the entries whose own library the process has loaded from a file that was replaced since. Returns `None` if memory
/// runs out.
fn replaced(loaded: &Loaded) -> Option<Vec<u16>> {
    let (mut own, mut replaced) = (Vec::new(), Vec::new());
    let libraries = (0..).zip(loaded.catalogue()?.libraries());
    for (number, (path, build_id)) in libraries.filter(|(_, (path, _))| path.contains(&b'/')) {
        own.try_push((number, path, build_id)).ok()?;
    }
    let mut is_whole = true;
    Kernel.objects(&mut |object| {
        let mut same_path = own.iter().filter(|(_, path, _)| *path == object.path);
        is_whole &= same_path.all(|&(number, path, build_id)| {
            closure::is_present(&Kernel, object, (path, build_id)) || replaced.try_push(number).is_ok()
        });
    });
    is_whole.then_some(replaced)
}

/// Returns the numbers of the current folder's device and inode.
pub(super) fn current_folder() -> Option<(u64, u64)> {
    Status::at(c".").ok()?.identity()
}

fn state(found: Mounted) -> Found {
    Found {
        identity: identity_of(found.stamp),
        is_open: found.is_open_to_all,
        mount: found.mount,
    }
}

/// The machine and the process, as the kernel and the dynamic linker describe them. This view never opens a file that belongs to a device.
pub(super) struct Kernel;

impl Process for Kernel {
    type Folder = File;

    fn folder(&self, path: &[u8]) -> Place<File> {
        match with_terminated(path, File::open_place) {
            Ok(folder) => Place::Open(folder),
            Err(error) if error.is_absence() => Place::Missing,
            Err(_) if self.exists(path) => Place::Unknown,
            Err(_) => Place::Missing,
        }
    }

    fn file_in(&self, folder: &File, name: &[u8]) -> Option<Found> {
        with_terminated(name, |name| folder.mounted_within(name))
            .ok()
            .map(state)
    }

    fn file(&self, path: &[u8]) -> Option<Found> {
        with_terminated(path, Mounted::at).ok().map(state)
    }

    fn may_execute(&self, path: &[u8]) -> bool {
        os::may_execute(path)
    }

    fn opened(&self, path: &[u8]) -> Option<Found> {
        let opened = with_terminated(path, |path| File::open(path)?.mounted());
        let is_open = opened.is_ok();
        let found = opened.ok().map(state).or_else(|| self.file(path))?;
        Some(Found { is_open, ..found })
    }

    #[cold]
    fn read(&self, path: &[u8], most: usize, take: &mut dyn FnMut(&[u8])) -> bool {
        let mut room = [0; HEAD_BYTES];
        let Ok(file) = with_terminated(path, File::open) else {
            return false;
        };
        for _ in 0..most.div_ceil(HEAD_BYTES) {
            match file.read(&mut room) {
                Ok(length) if length > 0 => take(room.get(..length).unwrap_or_default()),
                _ => break,
            }
        }
        true
    }

    fn objects(&self, take: &mut dyn FnMut(&Object<'_>)) {
        os::each_object(|found| {
            take(&Object {
                path: found.path,
                name: found.name,
                search: found.search,
                own_search: found.own_search,
                is_audited: found.is_audited,
                head: found.head,
            });
        });
    }

    fn c_library(&self) -> &'static [u8] {
        os::c_library()
    }

    fn exports(&self, symbol: &CStr) -> bool {
        os::is_exported(symbol)
    }
}

impl Look for Kernel {
    fn names(&self, folder: &[u8], take: &mut dyn FnMut(&[u8])) -> bool {
        let Ok(folder) = with_terminated(folder, Folder::open_terminated) else {
            return false;
        };
        // The loop allocates no memory.
        let read = folder.names(|name| {
            if !matches!(name, b"." | b"..") {
                take(name);
            }
            Ok(())
        });
        matches!(read, Ok(Ok(())))
    }

    fn link(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
        os::link_target(path, |target| take(target));
    }

    fn text(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
        let mut room = [0; MOST_OF_TEXT];
        if let Ok(file) = with_terminated(path, File::open_itself)
            && let Ok(length) = file.read(&mut room)
        {
            take(room.get(..length).unwrap_or_default());
        }
    }

    fn device_number(&self, path: &[u8]) -> Option<u64> {
        with_terminated(path, Status::at)
            .ok()
            .map(|found| found.device_number())
    }
}
