//! Error line of a call that fails because no driver or device is left (APP-89a).

use super::Instance;
use core::fmt::{Arguments, Display};
use discovery::journal::{Journal, LogBits};
use discovery::text::Text;
use discovery::text::{folder_of, join};
use os::{Status, with_terminated};

/// Path of the program that explains, below the folder that the library is installed in.
const PROGRAM: &[u8] = b"bin/vkloader";

/// Number of folders above that of the library that may be the one it is installed in: `/usr` for `/usr/lib` and `/usr/lib/ARCHITECTURE`.
const LEVELS: usize = 2;

/// Reports that no driver or device is left: `line`, the first cause or, where no decision is one, `otherwise`, and the program that
/// tells more, where that is installed. Nothing is looked up unless somebody hears the line.
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
        let more = match program_is_installed() {
            true => " (vkloader explain tells more)",
            false => "",
        };
        let cause = held.or(&new);
        let end = |cause: Arguments<'_>| journal.note(bits, format_args!("{line} {cause}{more}"));
        match cause.is_empty() {
            true => end(format_args!("{otherwise}")),
            false => end(format_args!("{}", cause.text())),
        }
    }
    *instance.cause.lock() = held;
}

/// Returns `true` if the program that explains is beside the library, in the same prefix. The path of the library is the only one
/// that counts, so that an elevated process looks where any other looks.
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
