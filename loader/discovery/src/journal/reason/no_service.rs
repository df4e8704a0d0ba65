//! Reasons about a driver service, where there is none.

use super::LogBits;
use crate::text::Text;
use crate::trace::Record;
use core::fmt;
use reasons::Code;

/// Why a driver service, or a driver of it, is not used: never.
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

    /// Writes what is known beside the code.
    pub fn describe(&self, _: &mut Record) {
        match *self {}
    }
}
