//! The layers and extensions that a program asked for when it created its instance.

use crate::events::{Event, Record, Step};

/// Call that creates an instance.
const CREATES: &str = "vkCreateInstance";
/// Parts of the messages before the lists of names, after the number of names.
const LAYERS: &str = "instance layer(s):";
const EXTENSIONS: &str = "instance extension(s):";

/// The request of the last instance that the program got.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Requested {
    pub(crate) layers: Vec<String>,
    pub(crate) extensions: Vec<String>,
}

impl Requested {
    /// Returns the last request in a trace that succeeded. The lists are empty if the program got no instance.
    pub(crate) fn of(records: &[Record]) -> Self {
        let mut last = Self::default();
        let mut next = Self::default();
        let mut left = (0, false);
        for record in records {
            match &record.event {
                Event::Begin(step) if is_request(step) => next = Self::default(),
                Event::End(step) if is_request(step) && step.result == Some(0) => last = std::mem::take(&mut next),
                Event::Message(message) => next.take(&message.text, &mut left),
                _ => {}
            }
        }
        last
    }

    /// Adds a name, if a message is one of the names that follow the beginning of a list. `left` has the number of names that are still to come, and
    /// whether they are names of layers.
    fn take(&mut self, text: &str, left: &mut (usize, bool)) {
        let number = |end: &str| {
            let words = text.strip_suffix(end)?.trim_end();
            let beginning = format!("{CREATES}: Requested ");
            words.strip_prefix(&beginning)?.parse().ok()
        };
        if let Some(count) = number(LAYERS) {
            *left = (count, true);
        } else if let Some(count) = number(EXTENSIONS) {
            *left = (count, false);
        } else if left.0 > 0 {
            left.0 -= 1;
            let list = if left.1 { &mut self.layers } else { &mut self.extensions };
            list.push(text.trim().into());
        }
    }
}

/// Returns `true` for the call of the program that creates an instance.
fn is_request(step: &Step) -> bool {
    (step.step.as_str(), step.name.as_str()) == ("call", CREATES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events;

    #[test]
    fn the_request_of_the_last_instance_counts() {
        let message = |text: &str| format!("{{\"event\":\"message\",\"process\":1,\"text\":\"{text}\"}}\n");
        let step = |event: &str, result: i32| {
            format!(
                "{{\"event\":\"{event}\",\"process\":1,\"step\":\"call\",\"name\":\"{CREATES}\",\"result\":{result}}}\n"
            )
        };
        let of = |extension: &str, result| {
            [
                step("begin", 0),
                message("vkCreateInstance: Requested 1 instance layer(s):"),
                message("   VK_LAYER_a"),
                message("vkCreateInstance: Requested 1 instance extension(s):"),
                message(&format!("   {extension}")),
                message("   VK_c"),
                step("end", result),
            ]
            .concat()
        };
        let requested = |text: String| Requested::of(&events::parse(text.as_bytes()));
        assert_eq!(requested(of("VK_a", -7)), Requested::default());
        let found = requested([of("VK_a", 0), of("VK_b", -7)].concat());
        assert_eq!(
            (&found.layers[..], &found.extensions[..]),
            (&["VK_LAYER_a".into()][..], &["VK_a".into()][..])
        );
    }
}
