//! Sentences about drivers with an entry in the driver catalogue.

use super::Catalogued;
use crate::events::{Catalogued as Traced, Event, Record};
use catalogue::Opening;

/// Sentence about a driver that is listed from its record.
const LISTED: &str = "Its devices are listed from the record, and it is not opened before a program needs more.";

/// Returns the sentences about drivers, each once, although a program may create several instances.
pub(super) fn of(records: &[&Record]) -> Vec<Catalogued> {
    let mut said: Vec<(u32, &str, Catalogued)> = Vec::new();
    for record in records {
        let Event::Catalogue(one) = &record.event else { continue };
        let Some(what) = sentence(one) else { continue };
        let (process, thread) = (record.process, record.thread.as_str());
        if one.opened.as_deref().is_some_and(Opening::follows_listing) {
            // The loader listed the driver from its record for this instance, and found the reason afterwards. Earlier instances keep their
            // sentence.
            let is_listed = |(of, by, known): &(u32, &str, Catalogued)| {
                (*of, *by) == (process, thread) && known.library == one.library && known.what == LISTED
            };
            if let Some(listed) = said.iter().rposition(is_listed) {
                said.remove(listed);
            }
        }
        let library = one.library.clone();
        said.push((process, thread, Catalogued { library, what }));
    }
    let mut found = Vec::new();
    for (.., one) in said {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

fn sentence(one: &Traced) -> Option<String> {
    if let Some(word) = one.opened.as_deref() {
        return opened_at_once(word, one.name.as_deref().unwrap_or_default());
    }
    let what = match (one.used.as_str(), one.doubt.as_deref()) {
        ("extensions", _) => "It was not opened for its extensions: they are in the driver catalogue.",
        ("devices", _) => LISTED,
        (_, Some("library")) => {
            "Its entry is ignored, because one of its files has changed: run vkloader catalogue update."
        }
        (_, Some("unreadable")) => {
            "Its entry is ignored, because the program may not read or execute one of its files."
        }
        (_, Some("shadowed")) => {
            "Its entry is ignored, because the dynamic linker would load another library for it in this program."
        }
        (_, Some("unknown")) => "Its entry does not list its files: run vkloader catalogue update.",
        (_, Some("times")) => {
            "Its entry is ignored, because one of its files is in an image whose file times prove nothing."
        }
        (_, Some("linker-cache")) => {
            "Its entry is ignored, because the dynamic linker's cache has changed: run vkloader catalogue update."
        }
        (_, Some("differs")) => "It answers something else than its entry: run vkloader catalogue update.",
        _ => return None,
    };
    Some(what.into())
}

/// Returns the sentence about a driver that was opened although a policy keeps drivers closed.
fn opened_at_once(word: &str, name: &str) -> Option<String> {
    let words = Opening::of_word(word)?;
    let name = if name.is_empty() {
        String::new()
    } else {
        format!(" ({name})")
    };
    Some(format!("It is opened at once in spite of the policy: {words}{name}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(events: &[(&str, &str)]) -> Vec<String> {
        let records = events.iter().map(|(thread, members)| {
            let text = format!(
                r#"{{"process": 1, "thread": "{thread}", "event": "catalogue", "library": "/a.so", {members}}}"#
            );
            serde_json::from_str(&text).expect("a record")
        });
        let records: Vec<Record> = records.collect();
        let all = of(&records.iter().collect::<Vec<_>>());
        all.into_iter().map(|one| one.what).collect()
    }

    #[test]
    fn each_instance_has_its_sentence_and_none_is_repeated() {
        const DEVICES: (&str, &str) = ("1", r#""use": "devices""#);
        const CHAIN: (&str, &str) = ("1", r#""use": "none", "opened": "chain", "name": "sType 7""#);
        const VARIABLE: (&str, &str) = ("1", r#""use": "none", "opened": "variable", "name": "LP_DEBUG""#);
        let chain = opened_at_once("chain", "sType 7").expect("words");
        let variable = opened_at_once("variable", "LP_DEBUG").expect("words");
        assert_eq!(sentences(&[DEVICES, CHAIN]), [chain.as_str()]);
        assert_eq!(sentences(&[DEVICES, CHAIN, DEVICES, CHAIN]), [chain.as_str()]);
        assert_eq!(sentences(&[DEVICES, DEVICES, CHAIN]), [LISTED, &chain]);
        assert_eq!(sentences(&[DEVICES, CHAIN, DEVICES]), [chain.as_str(), LISTED]);
        // With this reason, the driver is not listed before.
        assert_eq!(sentences(&[DEVICES, VARIABLE, VARIABLE]), [LISTED, &variable]);
        let other_thread = ("2", CHAIN.1);
        assert_eq!(sentences(&[DEVICES, other_thread]), [LISTED, &chain]);
    }
}
