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
    /// Text of the fault; empty for most faults.
    pub words: Text,
}

/// Fault of a driver service, or of a driver that it published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection could not be made, and the system reported this error.
    NotReached(Errno),
    /// The user with this number runs the service, but is neither the superuser nor the user that the build trusts.
    NotTrusted(u32),
    /// The process is elevated, and users other than the superuser can change the folder of the socket.
    Folder,
    /// The service did not answer within the time limit.
    TimedOut,
    /// The connection ended, or was replaced by another connection.
    Lost,
    /// The service answered with the word in the reason.
    Refused,
    /// The service's answer is malformed.
    BadReply(Problem),
    /// The service does not have the library.
    NoLibrary,
    /// The service sent no file.
    NoFile,
    /// The service sent more than one file.
    MoreFiles,
    /// The service sent a file that other users can change.
    FileNotTrusted,
    /// The checksum of the file differs from the one in the service's list.
    OtherSum,
    /// The driver, or a library that the driver needs and this system lacks, needs at least the version of the C library in the reason.
    OldCLibrary,
}

/// Fault of a malformed answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The header is invalid, or has another length than the packet.
    Packet,
    /// The packet is longer than any answer.
    LongPacket,
    /// The header belongs to another request.
    OtherRequest,
    /// The text is not JSON.
    Json,
    /// The text is not a JSON object.
    Object,
    /// The file with the list cannot be read.
    Unreadable,
    /// The list is not a JSON array.
    List,
    /// The list is too long.
    TooMany,
    /// The name of a manifest is missing or invalid.
    Name,
    /// The text of a manifest is missing or too long.
    Content,
    /// A checksum is missing or has another length.
    Sum,
    /// The key of a library that a driver needs is missing or invalid, or there are too many such libraries.
    Need,
    /// The key of a driver is invalid.
    Key,
}

impl Problem {
    /// Returns the words for messages.
    pub fn text(self) -> &'static str {
        match self {
            Self::Packet => "an invalid packet",
            Self::LongPacket => "a packet that is too long",
            Self::OtherRequest => "the answer to another request",
            Self::Json => "not JSON",
            Self::Object => "not an object",
            Self::Unreadable => "a list that cannot be read",
            Self::List => "not a list",
            Self::TooMany => "more manifests than there can be",
            Self::Name => "a manifest without a name",
            Self::Content => "a manifest without a text",
            Self::Sum => "a manifest without a checksum",
            Self::Need => "a library without a key",
            Self::Key => "an invalid key",
        }
    }
}

impl Fault {
    /// Returns the words about the descriptors or bytes that came, or about the malformed answer; `None` for other faults.
    fn problem(self) -> Option<&'static str> {
        match self {
            Self::BadReply(problem) => Some(problem.text()),
            Self::NoFile => Some("no file"),
            Self::MoreFiles => Some("more than one file"),
            Self::OtherSum => Some("checksum"),
            _ => None,
        }
    }
}

impl ServiceReason {
    pub(super) fn code(&self) -> Code {
        match self.fault {
            Fault::NotReached(_) => Code::ServiceNotReached,
            Fault::NotTrusted(_) => Code::ServiceNotTrusted,
            Fault::Folder => Code::ServiceFolder,
            Fault::TimedOut => Code::ServiceTimeout,
            Fault::Lost => Code::ServiceLost,
            Fault::Refused => Code::ServiceRefused,
            Fault::BadReply(_) => Code::ServiceBadReply,
            Fault::NoLibrary => Code::ServiceNoLibrary,
            Fault::NoFile | Fault::MoreFiles => Code::ServiceDescriptors,
            Fault::FileNotTrusted => Code::ServiceFileNotTrusted,
            Fault::OtherSum => Code::ServiceOtherBytes,
            Fault::OldCLibrary => Code::ServiceOldCLibrary,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        Some(match self.fault {
            // The message has the same level as one about a library for another processor.
            Fault::OldCLibrary if c_library().is_empty() => DRIVER_INFO,
            Fault::NotReached(_)
            | Fault::TimedOut
            | Fault::Lost
            | Fault::Refused
            | Fault::NoLibrary
            | Fault::OldCLibrary => DRIVER_WARN,
            Fault::NotTrusted(_)
            | Fault::Folder
            | Fault::BadReply(_)
            | Fault::NoFile
            | Fault::MoreFiles
            | Fault::FileNotTrusted
            | Fault::OtherSum => DRIVER_ERROR,
        })
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, _path: &Text) -> fmt::Result {
        out.write_str("The driver service ")?;
        let (words, problem) = (&self.words, self.fault.problem().unwrap_or_default());
        match self.fault {
            Fault::NotReached(error) => write!(out, "cannot be reached: {error}"),
            Fault::NotTrusted(user) => write!(out, "is run by user {user}, who is not trusted"),
            Fault::Folder => out.write_str("has its socket in a folder that is not the superuser's alone"),
            Fault::TimedOut => out.write_str("gave no answer in time"),
            Fault::Lost => out.write_str("ended the connection"),
            Fault::Refused => write!(out, "answered \"{words}\""),
            Fault::BadReply(_) => write!(out, "gave a wrong answer ({problem})"),
            Fault::NoLibrary => out.write_str("does not have the library"),
            Fault::NoFile | Fault::MoreFiles => write!(out, "sent {problem}"),
            Fault::FileNotTrusted => out.write_str("sent a file that others can change"),
            Fault::OtherSum => write!(out, "sent a file of another {problem} than it promised"),
            Fault::OldCLibrary => {
                let here = Raw(c_library());
                if here.0.is_empty() {
                    out.write_str("has a driver for the GNU C library, which this program does not use")
                } else {
                    write!(
                        out,
                        "has a driver for version {words} of the C library, and this program has {here}"
                    )
                }
            }
        }?;
        write!(out, ". Going on without {name}")
    }

    /// Writes the details of the reason. The record has them next to the code.
    pub fn describe(&self, record: &mut Record) {
        match self.fault {
            Fault::NotReached(error) => record.shown("system", format_args!("{error}")),
            Fault::NotTrusted(user) => record.number("user", user.into()),
            Fault::Refused => record.text("status", &self.words),
            Fault::OldCLibrary => {
                record.text("needed", &self.words);
                record.text("here", c_library());
            }
            fault => {
                if let Some(problem) = fault.problem() {
                    record.word("problem", problem);
                }
            }
        }
    }
}
