//! Finds the owner of a crash whose culprit is not on the stack, or is there only through a library that it needs.

use super::parts::{Owner, Parts};
use crate::crash::{Crash, sanitizer};
use crate::events::Record;
use crate::report::ended;

/// Returns the owner of the library that was being opened when the process ended.
pub(super) fn being_opened(records: &[Record], parts: &Parts) -> Option<Owner> {
    let own: Vec<&Record> = records.iter().collect();
    Some(parts.owner(Some(ended::running(&own)?)))
}

/// Returns the runtime of a sanitizer that ended the process while a library was being opened, because programs must open the runtime first.
pub(super) fn late_runtime(crash: &Crash, owners: &[Owner], records: &[Record]) -> Option<String> {
    let inner = owners.iter().take_while(|owner| **owner != Owner::Loader);
    let is_of_linker = inner.clone().count() < owners.len() && inner.into_iter().all(|owner| *owner == Owner::Common);
    let mut files = crash.frames.iter().filter_map(|frame| frame.file.as_deref());
    let runtime = files.find(|file| sanitizer(file).is_some());
    let is_late = crash.sanitizer.is_some() && is_of_linker && ended::is_opening(records);
    runtime.filter(|_| is_late).map(String::from)
}

/// Returns the driver or layer that is the only one to need the innermost library on the stack, if the C library called this library. The C
/// library does so when the process exits.
pub(super) fn at_exit(owners: &[Owner]) -> Option<Owner> {
    let mut rest = owners.iter().skip_while(|owner| **owner == Owner::Common);
    let first = rest.next().filter(|owner| matches!(owner, Owner::Brought(_)))?;
    let caller = rest.find(|owner| *owner != first);
    brought(std::slice::from_ref(first)).filter(|_| caller == Some(&Owner::Common))
}

/// Returns the driver or layer that the loader called if code without a file crashed, and the loader's function is the first known one on the
/// stack. A driver generates such code, for example for shaders, and the stack does not show its caller.
pub(super) fn of_generated_code(crash: &Crash, owners: &[Owner], records: &[Record], parts: &Parts) -> Option<Owner> {
    let loader = owners.iter().position(|owner| *owner == Owner::Loader)?;
    let inner = &crash.frames[..loader];
    let is_generated = !inner.is_empty() && inner.iter().all(|frame| frame.file.is_none() && frame.is_mapped);
    let own = records.iter().filter(|record| record.process == crash.process);
    let library = ended::running(&own.collect::<Vec<_>>()).filter(|_| is_generated)?;
    Some(parts.owner(Some(library))).filter(|owner| matches!(owner, Owner::Part(_)))
}

/// Returns the driver or layer that is the only one to need a library on the stack. The driver or layer is the culprit if that library
/// started the thread that crashed.
pub(super) fn brought(owners: &[Owner]) -> Option<Owner> {
    owners.iter().find_map(|owner| match owner {
        Owner::Brought(by) => <[usize; 1]>::try_from(by.clone()).ok().map(|[part]| Owner::Part(part)),
        _ => None,
    })
}
