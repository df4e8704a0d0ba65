//! Which file it is.

use catalogue::Identity;
use object::Object;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The largest library whose build id is looked for.
const MOST: u64 = 1 << 30;

/// The written identity of what a path leads to; `None` where that is no file.
pub(super) fn identity(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let identity = Identity {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    };
    Some(identity.to_string())
}

/// The build id of a library, in hexadecimal digits.
pub(super) fn build_id(path: &Path) -> Option<String> {
    let length = fs::metadata(path).ok()?.len();
    let bytes = (length <= MOST).then(|| fs::read(path).ok()).flatten()?;
    let id = object::File::parse(&*bytes).ok()?.build_id().ok()??;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}
