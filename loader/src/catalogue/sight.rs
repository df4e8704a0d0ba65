//! What a catalogue is held against: variables, libraries and devices, as they are now.

use super::file::Loaded;
use super::{identity_of, ignore};
use ::catalogue::{BuildId, HEAD_BYTES, Identity, Look, variables};
use discovery::journal::Journal;
use discovery::journal::reason::CatalogueReason;
use discovery::text::Text;
use os::{File, Folder, Stamp, Status, with_terminated};

/// What the dynamic linker looks bare names up in.
const LINKER_CACHE: &[u8] = b"/etc/ld.so.cache";
/// Bytes that are read of files of the kernel, each of which has a line.
const LINE: usize = 64;

/// Whether all variables of drivers are as they were when the catalogue was made. The first that is not is told of.
pub(super) fn variables_are_allowed(loaded: &Loaded, journal: &mut Journal<'_>) -> bool {
    let Some(catalogue) = loaded.catalogue() else {
        return false;
    };
    let mut other = None;
    let mut set = 0;
    os::each_variable(|name, value| {
        let matters = variables::matters(name);
        set += usize::from(matters);
        if matters && !catalogue.allows(name, value) {
            other = Some(Text::from(name));
        }
        other.is_none()
    });
    let name = match other {
        Some(name) => name,
        // One that was set then is not now.
        None if set < catalogue.variables().count() => Text::from(&b"a variable"[..]),
        None => return true,
    };
    ignore(&loaded.path, CatalogueReason::Variable(name).into(), journal);
    false
}

/// The identity of what a path leads to; `None` where that is no file.
pub(super) fn identity(path: &[u8]) -> Option<Identity> {
    let found = with_terminated(path, Status::at).ok().filter(Status::is_file)?;
    Stamp::of(&found).as_ref().map(identity_of)
}

/// Whether the library that a path leads to has this build id, if it has one.
#[cold]
pub(super) fn has_build_id(path: &[u8], written: &[u8]) -> Option<bool> {
    let mut room = [0; HEAD_BYTES];
    let length = with_terminated(path, File::open).ok()?.read(&mut room).ok()?;
    Some(BuildId::in_head(room.get(..length)?)?.is_written(written))
}

/// That of the dynamic linker's cache.
pub(super) fn linker_cache() -> Option<Identity> {
    identity(LINKER_CACHE)
}

/// The machine as the kernel tells of it. Nothing that is opened belongs to a device.
pub(super) struct Kernel;

impl Look for Kernel {
    fn names(&self, folder: &[u8], take: &mut dyn FnMut(&[u8])) {
        if let Ok(folder) = with_terminated(folder, Folder::open_terminated) {
            // What cannot be read to its end is another list than the whole one, and memory is not asked for.
            let _ = folder.names(|name| {
                if !matches!(name, b"." | b"..") {
                    take(name);
                }
                Ok(())
            });
        }
    }

    fn link(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
        os::link_target(path, |target| take(target));
    }

    fn text(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
        let mut room = [0; LINE];
        if let Ok(file) = with_terminated(path, File::open_itself)
            && let Ok(length) = file.read(&mut room)
        {
            take(room.get(..length).unwrap_or_default());
        }
    }

    fn exists(&self, path: &[u8]) -> bool {
        os::exists(path)
    }
}
