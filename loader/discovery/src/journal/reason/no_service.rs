//! Replacement for the reasons about a driver service, in builds without support for services.

use super::LogBits;
use crate::text::Text;
use crate::trace::Record;
use core::fmt;
use reasons::Code;

/// Reason about a driver service. The type has no values in this build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceReason {}

impl ServiceReason {
    pub(super) fn code(&self) -> Code {
        match *self {}
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        match *self {}
    }

    pub(super) fn write(&self, _: &mut fmt::Formatter<'_>, _: &Text, _: &Text) -> fmt::Result {
        match *self {}
    }

    /// Writes the details of the reason to the trace record that also contains the reason's code.
    pub fn describe(&self, _: &mut Record) {
        match *self {}
    }
}
