//! Reasons about driver catalogues that are ignored, and about drivers that the loader does not open because of a catalogue.

use super::{DRIVER_ERROR, DRIVER_INFO, DRIVER_WARN, LogBits};
use crate::text::Text;
use crate::trace::Record;
use core::fmt;
use reasons::Code;

/// Reason why a driver catalogue is ignored, or why a driver in the catalogue is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogueReason {
    /// The file belongs to an untrusted user, or other users may write to it.
    NotKept,
    /// The file does not contain a valid catalogue.
    Invalid,
    /// The file's schema version differs from the version that this loader reads.
    OtherSchema,
    /// Another version of the loader made the catalogue.
    OtherLoader,
    /// The variable with this name had another value during the update of the catalogue.
    Variable(Text),
    /// The driver has no device on this machine.
    NoDevice(Asked),
    /// The settings and variables hide all devices of the driver.
    Hidden(Asked),
    /// The driver runs on the processor, and another driver has a device.
    Software,
    /// All devices of the driver are suspended.
    Asleep,
    /// A signal ended the process in which the update called the driver. The number is the signal.
    Crashed(u32, Asked),
    /// The driver ended its process with this exit status.
    Ended(u32, Asked),
    /// The driver did not answer within this many seconds.
    Hung(u32, Asked),
}

/// Time at which the driver was asked, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked(pub u64);

impl CatalogueReason {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::NotKept => Code::CatalogueNotKept,
            Self::Invalid => Code::CatalogueInvalid,
            Self::OtherSchema => Code::CatalogueOtherSchema,
            Self::OtherLoader => Code::CatalogueOtherLoader,
            Self::Variable(_) => Code::CatalogueVariable,
            Self::NoDevice(_) => Code::CatalogueNoDevice,
            Self::Hidden(_) => Code::CatalogueHidden,
            Self::Software => Code::CatalogueSoftware,
            Self::Asleep => Code::CatalogueAsleep,
            Self::Crashed(..) | Self::Ended(..) => Code::CatalogueCrashed,
            Self::Hung(..) => Code::CatalogueHung,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        Some(match self {
            Self::NotKept | Self::Invalid | Self::OtherSchema => DRIVER_WARN,
            Self::OtherLoader
            | Self::Variable(_)
            | Self::NoDevice(_)
            | Self::Hidden(_)
            | Self::Software
            | Self::Asleep => DRIVER_INFO,
            Self::Crashed(..) | Self::Ended(..) | Self::Hung(..) => DRIVER_ERROR,
        })
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, path: &Text) -> fmt::Result {
        let try_again = "To try again: vkloader catalogue update, or VK_LOADER_CATALOGUE=off";
        match self {
            Self::NotKept => ignored(out, name, "it belongs to another user, or others may write to it"),
            Self::Invalid => ignored(out, name, "it is not a whole catalogue of this architecture"),
            Self::OtherSchema => ignored(out, name, "it has the form of another version"),
            Self::OtherLoader => ignored(out, name, "it is of another loader"),
            Self::Variable(variable) => {
                write!(
                    out,
                    "The driver catalogue {name} is ignored: {variable} is not as it was when it was made"
                )
            }
            Self::NoDevice(asked) => {
                write!(
                    out,
                    "Not opening driver {name} of {path}: by the driver catalogue of {asked} it has no device here"
                )
            }
            Self::Hidden(asked) => {
                write!(
                    out,
                    "Not opening driver {name} of {path}: by the driver catalogue of {asked} it has no device that is \
                     visible"
                )
            }
            Self::Software => write!(
                out,
                "Not opening driver {name} of {path}: it is software, which comes last"
            ),
            Self::Asleep => write!(
                out,
                "Not opening driver {name} of {path}: all its devices are suspended"
            ),
            Self::Crashed(signal, asked) => {
                write!(
                    out,
                    "Not opening driver {name} of {path}: it crashed with signal {signal} on {asked}. {try_again}"
                )
            }
            Self::Ended(status, asked) => {
                write!(
                    out,
                    "Not opening driver {name} of {path}: it ended the process with code {status} on {asked}. {try_again}"
                )
            }
            Self::Hung(seconds, asked) => {
                write!(
                    out,
                    "Not opening driver {name} of {path}: it hung for {seconds} seconds on {asked}. {try_again}"
                )
            }
        }
    }

    /// Writes the details of the reason to the trace record that also contains the reason's code.
    pub fn describe(&self, record: &mut Record) {
        match self {
            Self::Variable(variable) => record.text("variable", variable),
            Self::Crashed(signal, asked) => {
                record.number("signal", (*signal).into());
                record.number("asked", asked.0);
            }
            Self::Ended(status, asked) => {
                record.number("status", (*status).into());
                record.number("asked", asked.0);
            }
            Self::Hung(seconds, asked) => {
                record.number("seconds", (*seconds).into());
                record.number("asked", asked.0);
            }
            Self::NoDevice(asked) | Self::Hidden(asked) => record.number("asked", asked.0),
            Self::NotKept | Self::Invalid | Self::OtherSchema | Self::OtherLoader | Self::Software | Self::Asleep => {}
        }
    }
}

/// Prints the day and the minute in UTC.
impl fmt::Display for Asked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.0 / 86_400, self.0 % 86_400);
        // The calculation uses periods of 400 years, which begin on the first of March. A leap day is then the last day of a year.
        let days = days.saturating_add(719_468);
        let (period, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = year + period * 400 + next;
        write!(
            out,
            "{year}-{month:02}-{day:02} {:02}:{:02} UTC",
            rest / 3600,
            rest / 60 % 60
        )
    }
}

/// Writes the message for a catalogue that is completely ignored.
fn ignored(out: &mut fmt::Formatter<'_>, name: &Text, why: &str) -> fmt::Result {
    write!(out, "The driver catalogue {name} is ignored: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_868_799, "2000-02-29 23:59 UTC"),
            (1_795_370_700, "2026-11-22 18:05 UTC"),
            (4_107_542_399, "2100-02-28 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(std::format!("{}", Asked(seconds)), expected);
        }
        // An arbitrary number in a file must not cause a panic.
        let _ = std::format!("{}", Asked(u64::MAX));
    }

    #[test]
    fn each_day_follows_the_one_before() {
        const LENGTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut seconds = 0;
        for year in 1970..2405 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            for (month, length) in (1..).zip(LENGTHS) {
                for day in 1..=length + u64::from(leap && month == 2) {
                    let expected = std::format!("{year}-{month:02}-{day:02} 00:00 UTC");
                    assert_eq!(std::format!("{}", Asked(seconds)), expected);
                    seconds += 86_400;
                }
            }
        }
    }
}
