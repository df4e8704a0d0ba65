//! Reasons about driver services that are not used, and about drivers of a service (LSV-37 to LSV-48).

use super::{DRIVER_ERROR, DRIVER_INFO, DRIVER_WARN, LogBits};
use crate::text::Text;
use crate::trace::Record;
use core::fmt;
use reasons::Code;

/// Reason why a driver service, or a driver that it published, is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceReason {
    /// The connection could not be made, and the system reported this error.
    NotReached(Text),
    /// The user with this number runs the service, but is neither the superuser nor the user that the build trusts.
    NotTrusted(u32),
    /// The process is elevated, and users other than the superuser can change the folder of the socket.
    Folder,
    /// The service did not answer within the time limit.
    TimedOut,
    /// The connection ended, or was replaced by another connection.
    Lost,
    /// The service answered with this word.
    Refused(Text),
    /// This property of the service's answer is malformed.
    BadReply(&'static str),
    /// The service does not have the library.
    NoLibrary,
    /// The service sent no file, or more than one.
    Descriptors(&'static str),
    /// The service sent a file that other users can change.
    FileNotTrusted,
    /// This property of the file differs from the file's description.
    OtherBytes(&'static str),
    /// The driver, or a library that the driver needs and this system lacks, needs a newer C library.
    OldCLibrary {
        /// The oldest version of the C library that suffices.
        needed: Text,
        /// Version of the GNU C library in this process; empty if the process uses another C library.
        here: Text,
    },
}

impl ServiceReason {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::NotReached(_) => Code::ServiceNotReached,
            Self::NotTrusted(_) => Code::ServiceNotTrusted,
            Self::Folder => Code::ServiceFolder,
            Self::TimedOut => Code::ServiceTimeout,
            Self::Lost => Code::ServiceLost,
            Self::Refused(_) => Code::ServiceRefused,
            Self::BadReply(_) => Code::ServiceBadReply,
            Self::NoLibrary => Code::ServiceNoLibrary,
            Self::Descriptors(_) => Code::ServiceDescriptors,
            Self::FileNotTrusted => Code::ServiceFileNotTrusted,
            Self::OtherBytes(_) => Code::ServiceOtherBytes,
            Self::OldCLibrary { .. } => Code::ServiceOldCLibrary,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        Some(match self {
            // A driver for another C library has the same severity as a driver for another processor.
            Self::OldCLibrary { here, .. } if here.is_empty() => DRIVER_INFO,
            Self::NotReached(_)
            | Self::TimedOut
            | Self::Lost
            | Self::Refused(_)
            | Self::NoLibrary
            | Self::OldCLibrary { .. } => DRIVER_WARN,
            Self::NotTrusted(_)
            | Self::Folder
            | Self::BadReply(_)
            | Self::Descriptors(_)
            | Self::FileNotTrusted
            | Self::OtherBytes(_) => DRIVER_ERROR,
        })
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, _path: &Text) -> fmt::Result {
        out.write_str("The driver service ")?;
        match self {
            Self::NotReached(words) => write!(out, "cannot be reached: {words}"),
            Self::NotTrusted(user) => write!(out, "is run by user {user}, who is not trusted"),
            Self::Folder => out.write_str("has its socket in a folder that is not the superuser's alone"),
            Self::TimedOut => out.write_str("gave no answer in time"),
            Self::Lost => out.write_str("ended the connection"),
            Self::Refused(word) => write!(out, "answered \"{word}\""),
            Self::BadReply(problem) => write!(out, "gave a wrong answer ({problem})"),
            Self::NoLibrary => out.write_str("does not have the library"),
            Self::Descriptors(problem) => write!(out, "sent {problem}"),
            Self::FileNotTrusted => out.write_str("sent a file that others can change"),
            Self::OtherBytes(part) => write!(out, "sent a file of another {part} than it promised"),
            Self::OldCLibrary { here, .. } if here.is_empty() => {
                out.write_str("has a driver for the GNU C library, which this program does not use")
            }
            Self::OldCLibrary { needed, here } => {
                write!(
                    out,
                    "has a driver for version {needed} of the C library, and this program has {here}"
                )
            }
        }?;
        write!(out, ". Going on without {name}")
    }

    /// Writes the details of the reason. The record has them next to the code.
    pub fn describe(&self, record: &mut Record) {
        match self {
            Self::NotReached(words) => record.text("system", words),
            Self::NotTrusted(user) => record.number("user", (*user).into()),
            Self::Refused(word) => record.text("status", word),
            Self::BadReply(problem) | Self::Descriptors(problem) | Self::OtherBytes(problem) => {
                record.word("problem", problem);
            }
            Self::OldCLibrary { needed, here } => {
                record.text("needed", needed);
                record.text("here", here);
            }
            Self::Folder | Self::TimedOut | Self::Lost | Self::NoLibrary | Self::FileNotTrusted => {}
        }
    }
}
