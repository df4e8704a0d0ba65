//! Reasons about driver services that are not used, and about drivers of a service (LSV-37 to LSV-48).

use super::{DRIVER_ERROR, DRIVER_INFO, DRIVER_WARN, LogBits};
use crate::text::Text;
use crate::trace::Record;
use core::fmt;
use os::{Errno, Raw, c_library};
use reasons::Code;

/// Reason why a driver service, or a driver that it published, is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceReason {
    /// The fault.
    pub fault: Fault,
    /// Detail of the fault: the service's answer, or the version of the C library; empty for most faults.
    pub words: Text,
}

/// Fault of a driver service, or of a driver that it published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection could not be made, and the system reported this error.
    NotReached(Errno),
    /// The user with this number runs the service, but is neither the superuser nor the user that the build trusts.
    NotTrusted(u32),
    /// The service did not answer within the time limit.
    TimedOut,
    /// The connection ended, or was replaced by another connection.
    Lost,
    /// The service refused the request, with the answer in [`ServiceReason::words`].
    Refused,
    /// A packet or list of the service is malformed, the packet does not answer the request, or the packet came without exactly one file.
    BadReply,
    /// The service does not have the library.
    NoLibrary,
    /// The drivers of the service are for programs of the other word size.
    WordSize,
    /// The service sent a file that other users can change.
    FileNotTrusted,
    /// The driver, or a library that the driver needs and this system lacks, needs at least the version of the C library in
    /// [`ServiceReason::words`].
    OldCLibrary,
}

impl Fault {
    /// Returns the text of the message about a fault without further facts.
    fn text(self) -> &'static str {
        match self {
            Self::TimedOut => "gave no answer in time",
            Self::BadReply => "sent an invalid answer",
            Self::NoLibrary => "does not have the library",
            Self::WordSize if usize::BITS == 32 => "has drivers for 64-bit programs only",
            Self::WordSize => "has drivers for 32-bit programs only",
            Self::FileNotTrusted => "sent a file that others can change",
            Self::OldCLibrary => "has a driver for the GNU C library, which this program does not use",
            Self::Lost | Self::NotReached(_) | Self::NotTrusted(_) | Self::Refused => "ended the connection",
        }
    }
}

impl ServiceReason {
    pub(super) fn code(&self) -> Code {
        match self.fault {
            Fault::NotReached(_) => Code::ServiceNotReached,
            Fault::NotTrusted(_) => Code::ServiceNotTrusted,
            Fault::TimedOut => Code::ServiceTimeout,
            Fault::Lost => Code::ServiceLost,
            Fault::Refused => Code::ServiceRefused,
            Fault::BadReply => Code::ServiceBadReply,
            Fault::NoLibrary => Code::ServiceNoLibrary,
            Fault::WordSize => Code::ServiceOtherWordSize,
            Fault::FileNotTrusted => Code::ServiceFileNotTrusted,
            Fault::OldCLibrary => Code::ServiceOldCLibrary,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        Some(match self.fault {
            // The message has the same level as one about a library for another processor.
            Fault::OldCLibrary if c_library().is_empty() => DRIVER_INFO,
            Fault::WordSize => DRIVER_INFO,
            Fault::NotReached(_)
            | Fault::TimedOut
            | Fault::Lost
            | Fault::Refused
            | Fault::NoLibrary
            | Fault::OldCLibrary => DRIVER_WARN,
            Fault::NotTrusted(_) | Fault::BadReply | Fault::FileNotTrusted => DRIVER_ERROR,
        })
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, _path: &Text) -> fmt::Result {
        let (words, here) = (&self.words, Raw(c_library()));
        out.write_str("The driver service ")?;
        match self.fault {
            Fault::NotReached(error) => write!(out, "cannot be reached: {error}"),
            Fault::NotTrusted(user) => write!(out, "is run by user {user}, who is not trusted"),
            Fault::Refused => write!(out, "answered \"{words}\""),
            Fault::OldCLibrary if !here.0.is_empty() => write!(
                out,
                "has a driver for version {words} of the C library, and this program has {here}"
            ),
            fault => out.write_str(fault.text()),
        }?;
        write!(out, ". Going on without {name}")
    }

    /// Writes the details of the reason to the trace record that also contains the reason's code.
    pub fn describe(&self, record: &mut Record) {
        if !self.words.is_empty() {
            record.text("words", &self.words);
        }
    }
}
