//! The verdict of a report, which is the first sentence of the report.

use super::{Card, Dropped, Fact, Kind, Report, Verdict, codes, culprit, rank};
use crate::causes::is_used;
use crate::names;

/// Codes of findings about a program that did not end normally. Each code has the beginning of a verdict.
const ENDINGS: [(&codes::Row, &str); 23] = [
    (
        codes::LOADER_NOT_OPENED,
        "Without vkloader, the program finds no Vulkan loader",
    ),
    (codes::LOADER_FAILED, "Without vkloader, the program fails"),
    (codes::VARIABLE_OF_PROGRAM, "The program uses no graphics card"),
    (codes::VARIABLE_WINDOW_SYSTEM, "The program got no window"),
    (
        codes::PROGRAM_NO_TRACE,
        "The program left no trace, so its devices are unknown",
    ),
    (codes::PROGRAM_FAILED_EARLY, "The program failed before it used Vulkan"),
    (codes::PROGRAM_WORD_SIZE, "The program does not run with this library"),
    (codes::PROGRAM_CRASHED, "The program crashed"),
    (codes::PROGRAM_HUNG, "The program did not end in time"),
    (codes::PROGRAM_EXITED, "The program exited during a call"),
    (codes::PROGRAM_KILLED, "The program was killed"),
    (codes::PROGRAM_ENDED, "The program was ended by a signal"),
    (codes::INSTANCE_LAYER_MISSING, "The program got no instance"),
    (codes::INSTANCE_LAYER_LEFT_OUT, "The program got no instance"),
    (codes::INSTANCE_EXTENSION_MISSING, "The program got no instance"),
    (codes::DISPLAY_MISSING, "The program has no display"),
    (
        codes::DEVICE_CANNOT_PRESENT,
        "A device cannot present to the window of the program",
    ),
    (codes::DISPLAY_WITHOUT_DRI3, "The program failed"),
    (codes::PROGRAM_CALL_FAILED, "The program failed"),
    (codes::PROGRAM_CHOSE_NONE, "The program chose no device"),
    (codes::PROGRAM_CHILD_CRASHED, "The program failed"),
    (codes::PROGRAM_FAILED, "The program failed"),
    (codes::PROGRAM_NO_INSTANCE, "The program created no instance"),
];

/// Codes of findings about the loader that programs use.
const OF_LOADER: [&codes::Row; 2] = [codes::LOADER_NOT_OPENED, codes::LOADER_FAILED];

/// Upper bound on the number of facts of the first cause at the head of a report.
const MOST_FACTS: usize = 3;

/// Number of rows at the beginning of [`ENDINGS`] that explain more than an unusable graphics card.
const BEFORE_HARDWARE: usize = 17;

impl Dropped {
    /// Returns `true` if the finding may explain why no graphics card is usable although a software driver works.
    pub(crate) fn explains_missing_card(&self) -> bool {
        let is_of_layer =
            self.subject.starts_with("layer") || self.subject == "variable" && self.name.contains("LAYER");
        let is_listed_twice = self.code == codes::DRIVER_NAMED_TWICE.name;
        !is_of_layer && !is_listed_twice && self.subject != "program" && !self.is_noise() && self.rank < rank::ASIDE
    }

    /// Returns `true` if the finding is that the system shows no card. Without the kernel's list of devices, the system may have one.
    fn is_about_no_card(&self) -> bool {
        let is_unknown = self.code == codes::HARDWARE_NO_SYS.name && self.rank == codes::HARDWARE_NONE.rank();
        is_unknown || self.code == codes::HARDWARE_NONE.name
    }

    /// Returns `true` if the user probably misses something although a graphics card is usable, for example a second card or a layer.
    fn is_missed(&self) -> bool {
        !self.is_noise() && self.subject != "program" && self.rank < rank::ASIDE
    }

    /// Returns `true` if the finding is about a card that the program cannot use.
    pub(crate) fn is_about_missed_card(&self) -> bool {
        self.subject == "hardware" && self.is_missed() && !self.is_about_no_card()
    }

    /// Returns `true` if the finding explains `failure`, the end of the program, which has no reason of its own. `misses_card` is `false` if the program
    /// can use each card that the system shows.
    fn explains_end(&self, failure: &Self, misses_card: bool) -> bool {
        if self.code == codes::LAYER_CALL_FAILED.name && failure.code == codes::PROGRAM_CALL_FAILED.name {
            return true;
        }
        // A program that refuses the devices of a list often misses another device.
        if failure.code == codes::PROGRAM_CHOSE_NONE.name && self.code != codes::HARDWARE_NONE.name {
            // A broken driver that is left over from another system has no card here. The card of an installed driver may be switched off.
            let may_miss_card = self.findings.iter().any(|fact| *fact.kind() == Kind::WithoutCard);
            let is_spare = self.subject.starts_with("driver") && !misses_card && !may_miss_card;
            return self.is_missed() && self.explains_missing_card() && !is_spare;
        }
        let hides =
            [codes::LAYER_HIDES_EXTENSIONS.name, codes::LAYER_HIDES_FEATURES.name].contains(&self.code.as_str());
        // Something that the program lacked before it had a device explains no failure after that.
        let had_device = failure.findings.iter().any(|fact| *fact.kind() == Kind::HadDevice);
        let is_bare = failure.rank == rank::STATUS && (hides || !had_device);
        is_bare && self.rank <= failure.rank && self.is_missed()
    }

    /// Returns the facts that stand between the finding and its remedy at the head of a report: the subject with its file, a fact, and the
    /// origin of a variable. Omits facts that the sentence or the remedy contains.
    pub(crate) fn head_facts(&self) -> Vec<String> {
        let told = format!("{} {}", self.reason, self.advice);
        let is_new = |text: &str| !text.is_empty() && !told.contains(text);
        let name = Some(self.name.as_str()).filter(|name| is_new(name) && !self.is_general);
        let file = self.file.as_deref().filter(|file| is_new(file) && *file != self.name);
        let subject = match (name, file) {
            (Some(name), Some(file)) => Some(format!("{}: {name} ({file})", self.subject)),
            (Some(name), None) => Some(format!("{}: {name}", self.subject)),
            (None, Some(file)) => Some(format!("file: {file}")),
            (None, None) => None,
        };
        let mut facts = self.findings.iter();
        let fact = facts.clone().find(|fact| is_short(fact.kind()) && is_new(fact));
        let fact = fact.or_else(|| {
            facts
                .find(|fact| *fact.kind() == Kind::System)
                .filter(|fact| is_new(fact))
        });
        let origins = || self.findings.iter().filter(|fact| fact.is_origin(false));
        let origin = origins().find(|fact| fact.is_origin(true)).or_else(|| origins().next());
        // A remedy about a file of the session contains the origin.
        let origin = origin.filter(|_| !told.contains("for new sessions, remove line "));
        // The message of a driver often says why its call failed.
        let printed = self.findings.iter().find(|fact| *fact.kind() == Kind::Printed);
        let printed = printed.filter(|line| fact.is_none_or(|fact| fact != *line));
        let last = origin.or(printed);
        let words = |fact: &Fact| fact.to_string();
        let facts = subject.into_iter().chain(fact.map(words)).chain(last.map(words));
        facts.take(MOST_FACTS).collect()
    }
}

/// Returns `false` for facts that the head of a report omits, because other facts explain more.
fn is_short(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Log | Kind::System | Kind::Searched | Kind::Stack | Kind::Origin { .. }
    )
}

impl Report {
    /// Returns `true` if a program can use a device.
    pub(crate) fn is_usable(&self) -> bool {
        self.verdict != Verdict::Nothing
    }

    /// Returns the verdict as one sentence: the failure of the user's program, and the usable devices.
    pub(crate) fn headline(&self) -> String {
        let usable = self.usable();
        match (self.failure(), self.verdict) {
            (None, _) if self.is_unasked => {
                format!(
                    "The program created an instance, and did not ask for devices; {}",
                    names::as_clause(&usable)
                )
            }
            (None, _) => usable,
            (Some(_), _) if self.is_only_unknown() => {
                "The program ended normally, and left no trace, so its devices are unknown.".into()
            }
            (Some((_, words)), Verdict::Nothing) if self.devices.is_empty() => format!("{words}."),
            (Some((_, words)), _) => format!("{words}; {}", names::as_clause(&usable)),
        }
    }

    /// Returns a sentence about the usable devices.
    pub(crate) fn usable(&self) -> String {
        let count = self.devices.iter().filter(|device| device.is_usable).count();
        match (self.verdict, self.devices.is_empty()) {
            (Verdict::Nothing, true) if self.is_unknown() => "its devices are unknown.".into(),
            (Verdict::Nothing, true) => "No device can be used.".into(),
            (Verdict::Nothing, false) => match self.crash.as_ref().and_then(culprit::Crashed::layer) {
                Some(layer) => format!("No device can be used with the layer {layer}."),
                None => "No device can be used: devices are listed, and none can be created.".into(),
            },
            (Verdict::SoftwareOnly, _) => {
                let first = self.devices.iter().find(|device| device.is_usable);
                let name = first.map_or("", |device| device.name.as_str());
                format!("Only software draws here ({name}): no graphics card can be used.")
            }
            (Verdict::Hardware, _) if count == 1 => "1 device can be used.".into(),
            (Verdict::Hardware, _) => format!("{count} devices can be used."),
        }
    }

    /// Returns the finding that describes the program's failure, and the beginning of the verdict. Returns `None` if the program did not
    /// fail, or if another cause explains more.
    fn failure(&self) -> Option<(&Dropped, &'static str)> {
        // The comparison of two loaders has a section and a verdict of its own.
        let is_compared = self.other_loader.as_ref().is_some_and(|other| other.is_compared);
        let find = |(row, words): &(&codes::Row, &'static str)| {
            if is_compared && OF_LOADER.iter().any(|own| own.name == row.name) {
                return None;
            }
            // A program that was ended outside of a call did not fail, and a loader that is only old may work.
            let is_old = |found: &Dropped| row.name == codes::LOADER_FAILED.name && found.rank > row.rank();
            let is_it = |found: &&Dropped| found.code == row.name && found.rank < rank::ASIDE && !is_old(found);
            let found = self.dropped.iter().find(is_it)?;
            let is_own = row.name == codes::LOADER_FAILED.name && !self.is_of_other_loader(found);
            Some((found, if is_own { "The program failed" } else { *words }))
        };
        // A crash after a failed call follows from the failure, so that all other endings explain more.
        let follows = |found: &Dropped| found.code == codes::PROGRAM_CRASHED.name && found.rank > rank::FIRST;
        match self.verdict {
            Verdict::Hardware => ENDINGS.iter().filter_map(find).min_by_key(|(found, _)| follows(found)),
            Verdict::SoftwareOnly => {
                let all = || ENDINGS[..BEFORE_HARDWARE].iter().filter_map(find);
                let of = |wanted: &codes::Row| ENDINGS.iter().find(|(row, _)| row.name == wanted.name).and_then(find);
                let failed_call = || of(codes::PROGRAM_CALL_FAILED);
                let before_crash = || all().next().map(|crash| failed_call().unwrap_or(crash));
                // On a machine without a card for Vulkan, a software device is all that programs can expect.
                let is_bare = self.hardware.iter().all(|card| self.has_no_driver(card));
                let bare = || {
                    failed_call()
                        .or_else(|| of(codes::PROGRAM_CHOSE_NONE))
                        .or_else(|| of(codes::PROGRAM_FAILED))
                        .filter(|_| is_bare)
                };
                all()
                    .find(|(found, _)| !follows(found))
                    .or_else(before_crash)
                    .or_else(bare)
            }
            Verdict::Nothing => {
                let first = self.dropped.first()?;
                ENDINGS
                    .iter()
                    .filter_map(find)
                    .find(|(found, _)| found.code == first.code)
            }
        }
    }

    /// Returns `true` if a finding is about the loader that programs get without this library.
    fn is_of_other_loader(&self, found: &Dropped) -> bool {
        let other = self.other_loader.as_ref();
        other.is_some_and(|other| found.name == other.path.as_deref().unwrap_or(super::other::NAME))
    }

    /// Returns `true` if a finding says that no Vulkan driver exists for a card, such as the card of a virtual machine that only shows pictures. A card
    /// that needs another kernel driver has the rank of an obstacle.
    pub(crate) fn has_no_driver(&self, card: &Card) -> bool {
        let rows = [codes::HARDWARE_WITHOUT_VULKAN, codes::HARDWARE_DISPLAY_ONLY];
        let name = card.to_string();
        let is_it = |one: &Dropped| one.name == name && one.rank > rank::HARDWARE;
        self.dropped
            .iter()
            .any(|one| is_it(one) && rows.iter().any(|row| row.name == one.code))
    }

    /// Returns `true` if programs find no loader, or one that fails, so that the devices in the report are only those of the examined library.
    pub(crate) fn lacks_loader(&self) -> bool {
        let Some(other) = &self.other_loader else { return false };
        let has = |row: &codes::Row| {
            let mut all = self.dropped.iter();
            all.any(|one| one.code == row.name && one.rank <= row.rank())
        };
        other.path.is_none() && has(codes::LOADER_NOT_OPENED) || !other.is_compared && has(codes::LOADER_FAILED)
    }

    /// Returns `true` if the program left no trace, so that its devices are unknown.
    pub(crate) fn lacks_trace(&self) -> bool {
        let rows = [codes::PROGRAM_NO_TRACE, codes::PROGRAM_FAILED_EARLY];
        self.dropped
            .iter()
            .any(|one| rows.iter().any(|row| row.name == one.code))
    }

    /// Returns `true` if the program left no trace and ended normally, so that nothing shows a failure.
    pub(crate) fn is_only_unknown(&self) -> bool {
        self.lacks_trace() && (self.ending.by, self.ending.number) == ("status", Some(0))
    }

    /// Returns the result of the comparison with the loader of programs. A program without a trace may have used that loader.
    pub(crate) fn agreement(&self) -> Option<&'static str> {
        let other = self.other_loader.as_ref().filter(|_| !self.lacks_trace());
        other.and_then(super::OtherLoader::agreement)
    }

    /// Returns `true` if the verdict begins with a failure of the program.
    pub(crate) fn is_failure(&self) -> bool {
        self.failure().is_some()
    }

    /// Returns `true` if a layer changed the list of devices.
    pub(crate) fn is_changed_by_layer(&self) -> bool {
        self.hidden.iter().any(|hidden| hidden.by_what == "layer")
            || self.devices.iter().any(|device| device.moved_by.is_some())
    }

    /// Returns `true` if `other` has the same active layers in the same order as this report.
    pub(crate) fn has_layers_of(&self, other: &Self) -> bool {
        let names = |report: &Self| -> Vec<String> { report.layers.iter().map(|layer| layer.name.clone()).collect() };
        names(self) == names(other)
    }

    /// Returns the word before a first cause that does not explain the verdict. A broken layer, for example, does not explain that only software
    /// can be used.
    pub(crate) fn aside(&self, cause: &Dropped) -> Option<&'static str> {
        match self.verdict {
            _ if self.is_failure() => None,
            Verdict::Hardware => Some("But: "),
            Verdict::SoftwareOnly => (!cause.explains_missing_card()).then_some("Also: "),
            Verdict::Nothing => None,
        }
    }

    /// Returns the first finding that has a remedy and explains the verdict. If hardware is usable and the program did not fail, returns the
    /// first finding about something that the user probably misses.
    pub(crate) fn first_cause(&self) -> Option<&Dropped> {
        let mut with_remedy = self.dropped.iter().filter(|dropped| !dropped.advice.is_empty());
        match (self.verdict, self.failure()) {
            (Verdict::Nothing, None) if self.is_unknown() => None,
            (Verdict::Nothing, _) => with_remedy.next(),
            (_, Some((failure, _))) => {
                let is_unused = |card: &Card| !is_used(card, &self.devices);
                let misses_card = self.hardware.is_empty() || self.hardware.iter().any(is_unused);
                let found = with_remedy.find(|one| one.explains_end(failure, misses_card));
                Some(found.unwrap_or(failure))
            }
            (Verdict::SoftwareOnly, None) => {
                let card = with_remedy.clone().find(|dropped| dropped.explains_missing_card());
                // Nobody misses a card on a machine that shows none, so another finding explains more.
                let has_card = card.is_some_and(|one| !one.is_about_no_card());
                with_remedy.find(|one| !has_card && one.is_missed()).or(card)
            }
            (Verdict::Hardware, None) => with_remedy.find(|dropped| dropped.is_missed()),
        }
    }
}

#[cfg(test)]
mod tests;
