//! Reads the committed explanations of differences, `tests/differential.txt`.

use crate::trace::Difference;

/// Row `SIDE STREAM SCENES LINE`. All four parts may contain stars. The side is `ours`, `there` or `*`.
struct Row {
    text: &'static str,
    side: &'static str,
    stream: &'static str,
    scenes: &'static str,
    line: &'static str,
    used: bool,
}

/// Rows of `differential.txt`.
pub(crate) struct Explained {
    rows: Vec<Row>,
}

impl Explained {
    /// Reads `differential.txt`. Each reason is a line without indentation, and its rows are the indented lines below it.
    pub(crate) fn read() -> Self {
        let mut reason = "";
        let mut rows = Vec::new();
        for line in include_str!("../differential.txt").lines() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some(text) = line.strip_prefix("  ") else {
                reason = line;
                continue;
            };
            assert!(!reason.is_empty(), "differential.txt: no reason for `{text}`");
            let mut words = text.splitn(4, ' ');
            let mut next = || {
                words
                    .next()
                    .unwrap_or_else(|| panic!("differential.txt: what is `{text}`?"))
            };
            rows.push(Row {
                text,
                side: next(),
                stream: next(),
                scenes: next(),
                line: next(),
                used: false,
            });
        }
        Explained { rows }
    }

    /// Returns `true` if a row covers this difference, and marks the row as used.
    pub(crate) fn covers(&mut self, scene: &str, difference: &Difference) -> bool {
        let fits = |row: &&mut Row| {
            matches(row.side, difference.side.word())
                && matches(row.stream, difference.stream)
                && matches(row.scenes, scene)
                && matches(row.line, &difference.line)
        };
        self.rows.iter_mut().filter(fits).map(|row| row.used = true).count() > 0
    }

    /// Returns the rows that covered no difference.
    pub(crate) fn idle(&self) -> Vec<&'static str> {
        let idle = self.rows.iter().filter(|row| !row.used);
        idle.map(|row| row.text).collect()
    }
}

/// Returns `true` if a text matches a pattern. Each star in the pattern matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
