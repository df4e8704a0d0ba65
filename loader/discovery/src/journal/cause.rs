//! First cause of a failure: the decision that best explains why no driver or device is available.

use super::reason::{DeviceReason, DriverLibraryReason, DriverManifestReason, Reason};
use super::{Decision, Source, Subject, Verdict};
use crate::env::Variable;
use core::fmt::{self, Formatter, Write};
use os::{Raw, Show};
use reasons::rank::ASIDE;

/// Decision that explains a missing driver or device, if there is one.
///
/// Keeps the decision with the smallest [rank](reasons::rank), and the first one of equal ranks.
#[derive(Debug, Default)]
pub struct Cause(Option<Decision>);

impl Cause {
    /// A cause without a decision.
    pub const NONE: Self = Self(None);

    /// Returns `true` if the cause contains no decision.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Keeps the decision if it explains the failure better than the current one.
    pub(super) fn consider(&mut self, decision: Decision) {
        if let Some(rank) = rank(&decision)
            && rank < self.rank()
        {
            self.0 = Some(decision);
        }
    }

    /// Keeps the decision of `other` if it explains the failure better than the current one.
    pub fn add(&mut self, other: Self) {
        if let Some(decision) = other.0 {
            self.consider(decision);
        }
    }

    /// Returns the cause that explains the failure better; `self` if both explain it equally well.
    pub fn or<'c>(&'c self, other: &'c Self) -> &'c Self {
        if other.rank() < self.rank() { other } else { self }
    }

    /// Returns the rank of the decision. Without a decision, returns a rank above all others.
    fn rank(&self) -> u8 {
        self.0.as_ref().and_then(rank).unwrap_or(u8::MAX)
    }

    /// Returns a short text: the missing file or library, the file or variable that names it, and the reason.
    pub fn text(&self) -> impl fmt::Display + '_ {
        Show(|out: &mut Formatter<'_>| match &self.0 {
            Some(Decision {
                subject,
                name,
                path,
                verdict: Verdict::Dropped(reason),
                source,
            }) => {
                let (name, path) = if name.is_empty() { (path, name) } else { (name, path) };
                write!(out, "{name}")?;
                match (subject, source) {
                    _ if !path.is_empty() => write!(out, " named by {path}")?,
                    (
                        Subject::DriverManifest,
                        Source::Variable(
                            variable @ (Variable::DriverFiles | Variable::IcdFilenames | Variable::AddDriverFiles),
                        ),
                    ) => write!(out, " named by {}", variable.name())?,
                    _ => {}
                }
                out.write_str(": ")?;
                reason.write_briefly(out, name)
            }
            _ => Ok(()),
        })
    }
}

/// Returns the rank of a decision; `None` if it cannot explain a missing driver or device.
fn rank(decision: &Decision) -> Option<u8> {
    let Verdict::Dropped(reason) = &decision.verdict else {
        return None;
    };
    let is_about_drivers = match decision.subject {
        Subject::DriverManifest
        | Subject::DriverLibrary
        | Subject::DriverInstance
        | Subject::PhysicalDevice
        | Subject::Service => true,
        Subject::LayerManifest
        | Subject::Layer
        | Subject::LayerLibrary
        | Subject::SettingsFile
        | Subject::Catalogue => false,
    };
    let rank = reason.code().rank();
    (is_about_drivers && rank < ASIDE).then_some(rank)
}

impl Reason {
    /// Writes the system's error text without the leading `name`. Without an error text, writes the part of the reason's code after the
    /// point, with blanks instead of hyphens.
    fn write_briefly(&self, out: &mut Formatter<'_>, name: &[u8]) -> fmt::Result {
        if let Self::DriverLibrary(
            DriverLibraryReason::NotOpened(words) | DriverLibraryReason::WrongArchitecture(words),
        ) = self
            && !words.is_empty()
        {
            let rest = words.strip_prefix(name).and_then(|rest| rest.strip_prefix(b": "));
            return write!(out, "{}", Raw(rest.unwrap_or(words)));
        }
        let (_, problem) = self.code().name().split_once('.').unwrap_or_default();
        problem
            .chars()
            .try_for_each(|letter| out.write_char(if letter == '-' { ' ' } else { letter }))?;
        match self {
            Self::DriverManifest(DriverManifestReason::Disabled { .. }) => {
                write!(out, " by {}", Variable::DriversDisable.name())
            }
            Self::DriverManifest(DriverManifestReason::NotSelected) => {
                write!(out, " by {}", Variable::DriversSelect.name())
            }
            Self::DriverLibrary(
                DriverLibraryReason::ExtensionQueryFailed(result) | DriverLibraryReason::CreationFailed(result),
            )
            | Self::Device(DeviceReason::EnumerationFailed(result)) => write!(out, " with VkResult {result}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "cause_tests.rs"]
mod tests;
