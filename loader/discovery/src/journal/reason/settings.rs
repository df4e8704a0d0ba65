//! Reasons about loader settings that have no effect (APP-246 to APP-248).

use core::fmt;

use super::LogBits;
use crate::text::Text;
use reasons::Code;

/// Reason why a readable settings file changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsReason {
    /// `file_format_version` is missing or not a string.
    NoFormatVersion,
    /// Both `settings_array` and `settings` are missing.
    NoSettings,
    /// No object applies to the running executable or to all executables.
    OtherExecutable,
    /// The object for the running executable contains no effective setting.
    Nothing,
}

impl SettingsReason {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::NoFormatVersion => Code::SettingsNoFormatVersion,
            Self::NoSettings => Code::SettingsNoSettings,
            Self::OtherExecutable => Code::SettingsOtherExecutable,
            Self::Nothing => Code::SettingsNothing,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        Some(match self {
            Self::NoFormatVersion | Self::NoSettings => LogBits::WARN,
            Self::OtherExecutable => LogBits::DEBUG,
            Self::Nothing => LogBits::INFO,
        })
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, _path: &Text) -> fmt::Result {
        match self {
            Self::NoFormatVersion => {
                write!(
                    out,
                    "Loader settings file from {name} missing required field file_format_version - no loader settings will be \
                     active"
                )
            }
            Self::NoSettings => {
                write!(
                    out,
                    "Loader settings file from {name} missing required settings objects: Either one of the \"settings\" or \
                     \"settings_array\" objects must be present - no loader settings will be active"
                )
            }
            Self::OtherExecutable => write!(
                out,
                "Loader settings file from {name} missing global settings and none of the app specific settings matched \
                 the current application - no loader settings will be active"
            ),
            Self::Nothing => write!(
                out,
                "vk_loader_settings.json file found at \"{name}\" but did not contain any valid settings."
            ),
        }
    }
}
