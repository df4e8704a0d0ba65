//! The verdict of a report, which is the first sentence of the report.

use super::{Dropped, Report, Verdict, codes, rank};

/// Codes of findings about a program that did not end normally. Each code has the beginning of a verdict.
const ENDINGS: [(&codes::Row, &str); 12] = [
    (codes::PROGRAM_WORD_SIZE, "The program does not run with this library"),
    (codes::PROGRAM_CRASHED, "The program crashed"),
    (codes::PROGRAM_HUNG, "The program did not end in time"),
    (codes::PROGRAM_EXITED, "The program exited during a call"),
    (codes::PROGRAM_KILLED, "The program was killed"),
    (codes::INSTANCE_LAYER_MISSING, "The program got no instance"),
    (codes::INSTANCE_EXTENSION_MISSING, "The program got no instance"),
    (codes::DISPLAY_MISSING, "The program has no display"),
    (codes::DISPLAY_WITHOUT_DRI3, "The program failed"),
    (codes::PROGRAM_CALL_FAILED, "The program failed"),
    (codes::PROGRAM_FAILED, "The program failed"),
    (codes::PROGRAM_NO_INSTANCE, "The program created no instance"),
];

/// Number of rows at the beginning of [`ENDINGS`] that explain more than an unusable graphics card.
const BEFORE_HARDWARE: usize = 8;

impl Dropped {
    /// Returns `true` if the finding may explain why no graphics card is usable although a software driver works.
    fn explains_missing_card(&self) -> bool {
        let is_of_layer =
            self.subject.starts_with("layer") || self.subject == "variable" && self.name.contains("LAYER");
        !is_of_layer && self.subject != "program" && !self.is_noise() && self.rank < rank::ASIDE
    }
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
            (None, _) => usable,
            (Some((_, words)), Verdict::Nothing) if self.devices.is_empty() => format!("{words}."),
            (Some((_, words)), _) => {
                let mut rest = usable.chars();
                let first: String = rest.next().into_iter().flat_map(char::to_lowercase).collect();
                format!("{words}; {first}{}", rest.as_str())
            }
        }
    }

    /// Returns a sentence about the usable devices.
    pub(crate) fn usable(&self) -> String {
        let count = self.devices.iter().filter(|device| device.is_usable).count();
        match (self.verdict, self.devices.is_empty()) {
            (Verdict::Nothing, true) => "No device can be used.".into(),
            (Verdict::Nothing, false) => "No device can be used: devices are listed, and none can be created.".into(),
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
        let find = |(row, words): &(&codes::Row, &'static str)| {
            let found = self.dropped.iter().find(|found| found.code == row.name)?;
            Some((found, *words))
        };
        // A crash after a failed call follows from the failure, so that all other endings explain more.
        let follows = |found: &Dropped| found.code == codes::PROGRAM_CRASHED.name && found.rank > rank::FIRST;
        match self.verdict {
            Verdict::Hardware => ENDINGS.iter().filter_map(find).min_by_key(|(found, _)| follows(found)),
            Verdict::SoftwareOnly => {
                let all = || ENDINGS[..BEFORE_HARDWARE].iter().filter_map(find);
                let failed_call = ENDINGS
                    .iter()
                    .find(|(row, _)| row.name == codes::PROGRAM_CALL_FAILED.name);
                let before_crash = || all().next().map(|crash| failed_call.and_then(find).unwrap_or(crash));
                all().find(|(found, _)| !follows(found)).or_else(before_crash)
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

    /// Returns the first finding that has a remedy and explains the verdict. Returns `None` if hardware is usable and the program did not
    /// fail.
    pub(crate) fn first_cause(&self) -> Option<&Dropped> {
        let mut with_remedy = self.dropped.iter().filter(|dropped| !dropped.advice.is_empty());
        match (self.verdict, self.failure()) {
            (Verdict::Nothing, _) => with_remedy.next(),
            (_, Some((failure, _))) => Some(failure),
            (Verdict::SoftwareOnly, None) => with_remedy.find(|dropped| dropped.explains_missing_card()),
            (Verdict::Hardware, None) => None,
        }
    }
}
