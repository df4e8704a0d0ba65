//! Lists the installed drivers, and selects the drivers that a pattern matches.

use crate::events::{Event, Record, TracedDecision};
use crate::paths::file_name;
use crate::show;

/// A driver that the loader found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Path of the manifest.
    pub(super) manifest: String,
    /// Path that the loader used to open the library; `None` if the loader did not open it.
    pub(super) library: Option<String>,
    /// `true` if programs find the manifest only through a variable, which the sandbox must set.
    pub(super) is_out_of_the_way: bool,
}

/// The drivers in a trace.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) candidates: Vec<Candidate>,
    /// Manifests that the loader did not use, each with the reason.
    pub(super) left_out: Vec<(String, String)>,
    /// Drivers of a driver service, which have no files on this machine.
    pub(super) of_a_service: Vec<String>,
}

/// Returns the distinct drivers in a trace.
pub(super) fn find(records: &[Record]) -> Found {
    let mut found = Found::default();
    for record in records {
        if let Event::Decision(decision) = &record.event {
            match decision.subject.as_str() {
                "driver-manifest" => found.manifest(decision),
                "driver" => found.driver(decision),
                _ => {}
            }
        }
    }
    found
}

impl Found {
    fn manifest(&mut self, decision: &TracedDecision) {
        let path = if decision.path.is_empty() {
            &decision.name
        } else {
            &decision.path
        };
        if decision.source.kind == "service" {
            add(&mut self.of_a_service, path.clone());
        } else if !decision.is_kept() {
            let why = decision.text.clone().or_else(|| decision.code.clone());
            add(&mut self.left_out, (path.clone(), why.unwrap_or_default()));
        } else if self.candidates.iter().all(|known| known.manifest != *path) {
            self.candidates.push(Candidate {
                manifest: path.clone(),
                library: None,
                is_out_of_the_way: decision.source.kind != "build",
            });
        }
    }

    fn driver(&mut self, decision: &TracedDecision) {
        let candidate = self.candidates.iter_mut().find(|known| known.manifest == decision.path);
        if let Some(candidate) = candidate {
            candidate.library.get_or_insert_with(|| decision.name.clone());
        }
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Returns the manifest whose library the loader was opening when the process ended.
pub(super) fn deadly(records: &[Record]) -> Option<&str> {
    let mut manifest = None;
    let mut opening = None;
    for record in records {
        match &record.event {
            Event::Decision(decision) if decision.subject == "driver-manifest" => manifest = Some(&*decision.name),
            Event::Begin(step) if step.step == "open" => opening = manifest,
            Event::End(step) if step.step == "open" => opening = None,
            _ => {}
        }
    }
    opening
}

/// Returns `true` if a pattern matches the file name of a driver's manifest or library, or the short name of the driver. For
/// `lvp_icd.x86_64.json` and `libvulkan_lvp.so`, the short name is `lvp`.
pub(super) fn means(pattern: &str, candidate: &Candidate) -> bool {
    let manifest = file_name(&candidate.manifest);
    let word = manifest.strip_suffix(".json").unwrap_or(manifest);
    let word = word.split_once("_icd").map_or(word, |(word, _)| word);
    let library = candidate.library.as_deref().unwrap_or_default();
    [
        candidate.manifest.as_str(),
        manifest,
        word,
        library,
        file_name(library),
        show::driver_word(library),
    ]
    .iter()
    .any(|name| !name.is_empty() && show::matches(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_meant_by_any_of_its_names() {
        let candidate = Candidate {
            manifest: "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json".into(),
            library: Some("/usr/lib/libvulkan_lvp.so".into()),
            is_out_of_the_way: false,
        };
        for name in [
            "lvp",
            "LVP",
            "lvp_icd*",
            "lvp_icd.x86_64.json",
            "libvulkan_lvp.so",
            "*lvp*",
            "*/lvp_icd.x86_64.json",
        ] {
            assert!(means(name, &candidate), "{name}");
        }
        for name in [
            "",
            "lv",
            "radeon",
            "icd",
            "libvulkan",
            "/usr/share/*/lvp_icd.x86_64.json",
        ] {
            assert!(!means(name, &candidate), "{name}");
        }
    }

    #[test]
    fn the_driver_that_a_process_did_not_survive() {
        let decision = r#"{"event":"decision","process":1,"subject":"driver-manifest","name":"/a.json","source":{"kind":"build"},"verdict":"kept"}"#;
        let begin = r#"{"event":"begin","process":1,"step":"open","name":"/a.so"}"#;
        let end = r#"{"event":"end","process":1,"step":"open","name":"/a.so"}"#;
        let records = |lines: &[&str]| crate::events::parse(lines.join("\n").as_bytes());
        assert_eq!(deadly(&records(&[decision, begin])), Some("/a.json"));
        assert_eq!(deadly(&records(&[decision, begin, end])), None);
    }
}
