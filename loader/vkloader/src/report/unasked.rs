//! Completes the report of a program that created an instance and did not ask for devices.

use super::{Received, Report, build, codes};
use crate::causes;
use crate::child::Finished;
use crate::events::Record;
use crate::probe::Seen;

impl Report {
    /// Returns `true` if the program did not ask for devices, and no other process did so in its place.
    pub(crate) fn is_unknown(&self) -> bool {
        self.is_unasked && !self.has_devices_of_probe
    }

    /// Notes that the program created an instance and did not ask for devices, if that is so.
    pub(crate) fn note_unasked(&mut self, finished: &Finished) {
        let records: Vec<&Record> = finished.records.iter().collect();
        self.is_unasked = causes::has_not_listed(&records);
    }

    /// Takes over the devices of `probe`, a process that imitated the program, if the program did not ask for devices. The findings about these
    /// devices and their drivers come from that process too. The devices of a program that a signal ended stay unknown.
    pub(crate) fn take_devices(&mut self, probe: &Finished) {
        let is_ended = self.dropped.iter().any(|one| one.code == codes::PROGRAM_ENDED.name);
        let is_wanted = self.is_unasked && !is_ended;
        let Some(seen) = Seen::last(&probe.output).filter(|seen| is_wanted && seen.is_complete()) else {
            return;
        };
        let received = Received {
            devices: Some(&seen.devices),
            is_whole: seen.enumeration == Some(0),
            changer: None,
        };
        let other = build(probe, received);
        self.has_devices_of_probe = true;
        self.dropped.push(codes::PROGRAM_LISTED_NONE.about_any("the program"));
        self.verdict = other.verdict;
        self.devices = other.devices;
        self.hidden = other.hidden;
        for one in other.dropped {
            let is_known = |known: &super::Dropped| (&known.code, &known.name) == (&one.code, &one.name);
            if one.subject != "program" && !self.dropped.iter().any(is_known) {
                self.dropped.push(one);
            }
        }
    }
}
