//! Files and folders as a scan finds them, and whether they are still as they were.
//!
//! [`PathRecorder`] collects what a scan saw: which paths led nowhere, and the [`Stamp`] of every file and folder that it read.
//! [`ScanInputs::are_current`] opens each path again, through the same calls of the C library (APP-217), and compares. Reading and
//! understanding the content is all that is saved, so whatever decides about opening a path, be it permissions, a sandbox, a
//! link or a library that redirects paths, decides afresh each time (APP-218).
//!
//! A stamp only stands for a content if every later change gives another stamp. That needs a file system that keeps its
//! own times with this machine's clock, and a last change so long ago that the next one cannot fall into the same tick. What
//! does not meet that is never taken for unchanged. Stores through a shared mapping of a file can leave no time behind, not even
//! later: these are missed until something else about the file changes.

mod folder;
mod path_recorder;
#[cfg(target_os = "linux")]
mod stamp;
#[cfg(not(target_os = "linux"))]
#[path = "no_stamp.rs"]
mod stamp;

pub use folder::Folder;
pub use path_recorder::{MOST_BYTES, PathRecorder, ScanInputs};
pub use stamp::Stamp;
