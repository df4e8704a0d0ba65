//! Error message of a call that fails because no driver or device is left (APP-89a).

use super::Instance;
use core::fmt::{Arguments, Display};
use discovery::journal::{Journal, LogBits};
use discovery::text::Text;
use discovery::text::{folder_of, join};
use os::{Status, with_terminated};

/// Path of `vkloader`, relative to the folder in which the library is installed.
const PROGRAM: &[u8] = b"bin/vkloader";

/// Number of folders above the library's own folder that may be the installation folder: `/usr` for `/usr/lib` and `/usr/lib/ARCHITECTURE`.
const LEVELS: usize = 2;

/// Logs an error because no driver or device is left.
///
/// The message consists of `line`, the first cause, and a hint at `vkloader` if that program is installed. If no decision is a cause,
/// `otherwise` replaces the cause. If no log sink is active, nothing is looked up.
#[cold]
#[inline(never)]
pub(crate) fn tell_nothing_left(
    instance: &Instance,
    (bits, line): (LogBits, &str),
    otherwise: impl Display,
    journal: &mut Journal<'_>,
) {
    let new = journal.take_cause();
    // A messenger may call the loader, so the lock is not held while it runs.
    let held = core::mem::take(&mut *instance.cause.lock());
    if journal.wants(bits) {
        let more = if program_is_installed() {
            " (vkloader explain tells more)"
        } else {
            ""
        };
        let cause = held.or(&new);
        let end = |cause: Arguments<'_>| journal.note(bits, format_args!("{line} {cause}{more}"));
        if cause.is_empty() {
            end(format_args!("{otherwise}"))
        } else {
            end(format_args!("{}", cause.text()))
        }
    }
    *instance.cause.lock() = held;
}

/// Returns `true` if `vkloader` is installed under the same prefix as the library. Only the path of the library is used, so elevated
/// processes look in the same place as others.
fn program_is_installed() -> bool {
    let Some(own) = os::file_of(program_is_installed as *const ()) else {
        return false;
    };
    let mut folder = Text::from(own);
    (0..=LEVELS).any(|level| {
        let Some(Ok(above)) = folder_of(&folder).map(Text::try_new) else {
            return false;
        };
        folder = above;
        level > 0 && join(&folder, PROGRAM).is_ok_and(|path| with_terminated(&path, Status::at).is_ok())
    })
}
