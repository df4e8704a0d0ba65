//! Reasons why a JSON file has no usable value, or was read before (DRV-11, DRV-19, DRV-51, LAY-16, LAY-75, APP-248).

use core::fmt;

use super::LogBits;
use crate::text::{Place, Text};
use reasons::Code;

/// Reason why a file is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileReason {
    /// The file does not exist.
    NotFound,
    /// The file could not be opened.
    NotOpened,
    /// The file is a folder, a device or a pipe.
    NotRegular,
    /// Reading the file failed.
    NotRead,
    /// The file is larger than this bound in bytes. Real manifests are much smaller.
    TooLarge(u64),
    /// The size of the file changed while it was read.
    Changed,
    /// The text is not valid JSON from this position on. If there is no position, the JSON value has the wrong type.
    InvalidJson(Option<Place>),
    /// The root of a layer manifest's JSON text is not an object. This fault is not logged (LAY-81).
    NotAnObject,
    /// The path does not end in `.json`, so the file was not opened. The value is the expected kind of file.
    NotJsonName(FileKind),
    /// The same scan has found this path before.
    FoundBefore,
}

/// Expected kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A driver manifest.
    Driver,
    /// A layer manifest.
    Layer,
}

impl FileReason {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::NotFound => Code::FileNotFound,
            Self::NotOpened => Code::FileNotOpened,
            Self::NotRegular => Code::FileNotRegular,
            Self::NotRead => Code::FileNotRead,
            Self::TooLarge(_) => Code::FileTooLarge,
            Self::Changed => Code::FileChanged,
            Self::InvalidJson(_) => Code::FileInvalidJson,
            Self::NotAnObject => Code::FileNotAnObject,
            Self::NotJsonName(_) => Code::FileNotJsonName,
            Self::FoundBefore => Code::FileFoundBefore,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        match self {
            Self::NotAnObject | Self::NotJsonName(FileKind::Layer) | Self::FoundBefore => None,
            Self::NotJsonName(FileKind::Driver) => Some(LogBits::WARN | LogBits::DRIVER),
            Self::NotFound
            | Self::NotOpened
            | Self::NotRegular
            | Self::NotRead
            | Self::TooLarge(_)
            | Self::Changed
            | Self::InvalidJson(_) => Some(LogBits::ERROR),
        }
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, _path: &Text) -> fmt::Result {
        match self {
            Self::NotFound | Self::NotOpened => write!(out, "loader_get_json: Failed to open JSON file {name}"),
            Self::NotRegular => {
                write!(
                    out,
                    "loader_get_json: Failed to open JSON file {name}: it is not a regular file"
                )
            }
            Self::NotRead => write!(out, "loader_get_json: Failed to read JSON file {name}."),
            Self::TooLarge(bound) => {
                write!(
                    out,
                    "loader_get_json: Failed to read JSON file {name}: it is larger than {bound} bytes"
                )
            }
            Self::Changed => {
                write!(
                    out,
                    "loader_get_json: Failed to read JSON file {name}: its size changed while it was read"
                )
            }
            Self::InvalidJson(_) => write!(out, "loader_get_json: Invalid JSON file {name}."),
            Self::NotAnObject => write!(out, "The root of JSON file {name} is not an object."),
            Self::NotJsonName(_) => write!(out, "Skipping {name}, because its name does not end in .json"),
            Self::FoundBefore => write!(out, "Skipping {name}, because it was found before"),
        }
    }
}
