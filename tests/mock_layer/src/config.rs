//! Configuration of a layer, which is a text file beside the library with lines `key value`. The documentation of the crate describes the
//! keys.

/// Lines that configure one layer of the library.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Config {
    lines: Vec<(String, String)>,
}

impl Config {
    /// Reads the section of layer `identity`. Lines before the first heading `[n]` belong to layer 0, and lines of `[all]` to every layer.
    pub(crate) fn parse(text: &str, identity: usize) -> Self {
        let wanted = format!("[{identity}]");
        let mut ours = identity == 0;
        let mut lines = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                ours = line == wanted || line == "[all]";
            } else if ours && !line.is_empty() && !line.starts_with('#') {
                let (key, value) = line.split_once(' ').unwrap_or((line, ""));
                lines.push((key.to_owned(), value.trim().to_owned()));
            }
        }
        Self { lines }
    }

    /// Iterates over the values of all lines with this key.
    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines
            .iter()
            .filter(move |(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the value of the first line with this key.
    pub(crate) fn text<'a>(&'a self, key: &'a str) -> Option<&'a str> {
        self.all(key).next()
    }

    /// Returns `true` if a line with this key exists.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.text(key).is_some()
    }

    /// Returns the first value of this key as a number, or `None` if the key is missing.
    pub(crate) fn number(&self, key: &str) -> Option<i64> {
        self.text(key).and_then(|value| value.parse().ok())
    }

    /// Returns `true` if one of the key's lines has exactly this value.
    pub(crate) fn lists(&self, key: &str, value: &str) -> bool {
        self.all(key).any(|text| text == value)
    }

    /// Returns the number of `name` in a line `key NAME NUMBER`.
    pub(crate) fn number_of(&self, key: &str, name: &str) -> Option<i64> {
        self.all(key)
            .filter_map(|value| value.split_once(' '))
            .find(|(first, _)| *first == name)
            .and_then(|(_, number)| number.trim().parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::Config;

    const TEXT: &str = "name first\n# note\nfail vkCreateInstance -3\n\n[1]\nname second\n[all]\njournal /j\n";

    #[test]
    fn each_identity_reads_its_own_section_and_the_shared_one() {
        let first = Config::parse(TEXT, 0);
        assert_eq!(first.text("name"), Some("first"));
        assert_eq!(first.number_of("fail", "vkCreateInstance"), Some(-3));
        assert_eq!(first.text("journal"), Some("/j"));
        let second = Config::parse(TEXT, 1);
        assert_eq!(second.text("name"), Some("second"));
        assert!(!second.flag("fail"));
        assert_eq!(second.text("journal"), Some("/j"));
    }
}
