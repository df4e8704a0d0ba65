//! Reasons about a driver service, where there is none.

use super::LogBits;
use crate::text::Text;
use crate::trace::Record;
use core::fmt;
use reasons::Code;

/// Replacement for the reasons of a driver service, in builds without one.
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

    /// Writes further facts after the code.
    pub fn describe(&self, _: &mut Record) {
        match *self {}
    }
}
