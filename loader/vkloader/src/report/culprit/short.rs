//! Crashes at mapped files that are shorter than their mappings.

use super::parts::Parts;
use super::{Crashed, Owner, Who};
use crate::crash::{Crash, ShortFile};
use crate::events::Record;

/// Parts of the paths of files in which drivers store compiled shaders.
const CACHES: [&str; 4] = ["mesa_shader_cache", "/nv/GLCache/", "/nvidia/GLCache/", "/AMD/VkCache/"];

impl Crashed {
    /// Records the mapped file that ends before the address of the fault. The culprit is the driver or layer to which the file belongs. Programs map
    /// other files, and pass the memory to drivers.
    pub(super) fn judge_short_file(&mut self, crash: &Crash, parts: &Parts, records: &[Record]) {
        let Some(short) = crash.short_file.clone() else { return };
        let is_cache = CACHES.iter().any(|cache| short.path.contains(cache));
        match parts.owner(Some(&short.path)) {
            Owner::Part(part) => self.blame(&parts.parts[part], records),
            _ if is_cache => {}
            _ if matches!(self.culprit, Who::Driver | Who::Layer) && crash.own.is_none() && self.caller().is_some() => {
                self.blame_caller();
            }
            _ => {}
        }
        (self.doubt, self.beside) = (None, None);
        self.is_in_loader = false;
        self.short_file = Some(short);
    }

    /// Returns the sentence about a program that used a mapped file beyond its end.
    pub(super) fn reason_of_short_file(&self, signal: &str, place: &str) -> Option<String> {
        let short = self.short_file.as_ref()?;
        Some(format!(
            "The program most likely mapped the file {}, which ends before the address that was used: {signal} {place}.",
            short.path
        ))
    }

    /// Returns the fact about the file.
    pub(super) fn fact_of_short_file(&self) -> Option<String> {
        let ShortFile { path, size } = self.short_file.as_ref()?;
        Some(format!(
            "{path} has {size} bytes, and the process used a mapping of the file beyond them: the file was truncated, or is not whole"
        ))
    }

    /// Returns the remedy for the file.
    pub(super) fn advice_for_short_file(&self) -> Option<String> {
        let ShortFile { path, .. } = self.short_file.as_ref()?;
        Some(match self.culprit {
            Who::Driver | Who::Layer => {
                format!("Write {path} anew: remove it if it is a cache, or install its package again.")
            }
            _ => format!("Write {path} anew or whole, and do not let it be truncated while the program runs."),
        })
    }
}
