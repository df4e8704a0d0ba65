//! Patterns of layer names and of driver manifest file names (APP-220 to APP-222, DRV-25, LAY-120 to LAY-122).

use super::environment::split;
use crate::text::Text;
use alloc::vec::Vec;
use os::memory::{Grow, copy_or_note};
use promises::limits::{MAX_PATTERN_BYTES, MAX_PATTERNS};
use promises::pattern::{Pattern as Kind, is_everything};
use promises::variable::Separator;

/// Text by which messages show an item that matches all names.
const EVERYTHING: &[u8] = b"*";
/// The word for all implicit layers.
const IMPLICIT: &[u8] = b"~implicit~";
/// The word for all explicit layers.
const EXPLICIT: &[u8] = b"~explicit~";

/// A pattern with its own copy of the text.
#[derive(Debug, PartialEq, Eq)]
pub struct Pattern(Kind<Vec<u8>>);

impl Pattern {
    /// Returns the pattern for an item of a filter variable. If memory runs out, the text is empty.
    pub fn parse(item: &[u8]) -> Self {
        let cut = |text: &[u8]| copy_or_note(&text[..text.len().min(MAX_PATTERN_BYTES)]);
        Self(Kind::parse(item).map(cut))
    }

    /// Returns the pattern as the loader interprets it: `*` for a word that matches all names. A pattern that was too long is truncated.
    pub fn text(&self) -> Text {
        let (before, text, after): (&[u8], &[u8], &[u8]) = match &self.0 {
            Kind::Everything => (EVERYTHING, b"", b""),
            Kind::Nothing => (b"~", b"", b""),
            Kind::Whole(text) => (b"", text, b""),
            Kind::Prefix(text) => (b"", text, b"*"),
            Kind::Suffix(text) => (b"*", text, b""),
            Kind::Substring(text) => (b"*", text, b"*"),
        };
        let mut whole = Vec::new();
        for &byte in before.iter().chain(text).chain(after) {
            whole.push_or_note(byte);
        }
        whole.into()
    }

    /// Returns `true` if the pattern has no wildcard, so that it matches only one name.
    pub fn is_name(&self) -> bool {
        matches!(self.0, Kind::Whole(_))
    }

    /// Returns `true` if the pattern matches all names.
    pub fn is_everything(&self) -> bool {
        matches!(self.0, Kind::Everything)
    }

    /// Returns `true` if the pattern matches a name, ignoring ASCII case.
    pub fn matches(&self, name: &[u8]) -> bool {
        self.0.matches(name)
    }
}

/// The patterns of one filter variable.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Globs {
    patterns: Vec<Pattern>,
    /// `true` if there were more than [`MAX_PATTERNS`] patterns. The loader dropped the surplus patterns, and must warn about them.
    pub truncated: bool,
}

impl Globs {
    /// Reads the patterns of a variable's value, at most 16 of them.
    pub fn parse(value: &[u8]) -> Self {
        let mut globs = Self::default();
        split(value, Separator::Comma).for_each(|item| globs.add(item));
        globs
    }

    fn add(&mut self, item: &[u8]) {
        if self.patterns.len() == MAX_PATTERNS {
            self.truncated = true;
        } else {
            self.patterns.push_or_note(Pattern::parse(item));
        }
    }

    /// Returns `true` if the variable is unset, empty, or contains only commas. A word that matches nothing is still a pattern, so a select
    /// filter with such a word drops everything.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns the first pattern that matches the name, ignoring ASCII case.
    pub fn matching(&self, name: &[u8]) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| pattern.matches(name))
    }

    /// Returns `true` if any pattern matches the name.
    pub fn matches(&self, name: &[u8]) -> bool {
        self.matching(name).is_some()
    }
}

/// Value of `VK_LOADER_LAYERS_DISABLE`: patterns, and words for all layers of a kind. The limit of 16 applies only to the patterns
/// (LAY-120).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DisableGlobs {
    /// `true` if the value contains `*`, `**` or `~all~`.
    everything: bool,
    /// `true` if the value contains `~implicit~`.
    implicit: bool,
    /// `true` if the value contains `~explicit~`.
    explicit: bool,
    /// Patterns of layer names.
    pub names: Globs,
}

impl DisableGlobs {
    /// Reads the patterns and words of a variable's value.
    pub fn parse(value: &[u8]) -> Self {
        let mut globs = Self::default();
        for item in split(value, Separator::Comma) {
            match item {
                _ if is_everything(item) => globs.everything = true,
                _ if item.eq_ignore_ascii_case(IMPLICIT) => globs.implicit = true,
                _ if item.eq_ignore_ascii_case(EXPLICIT) => globs.explicit = true,
                _ => globs.names.add(item),
            }
        }
        globs
    }

    /// Returns the word or pattern that matches a layer. A word for all layers or for the layer's kind takes precedence over patterns.
    pub fn matching(&self, name: &[u8], implicit: bool) -> Option<Item<'_>> {
        let words = [
            (self.everything, EVERYTHING),
            (self.implicit && implicit, IMPLICIT),
            (self.explicit && !implicit, EXPLICIT),
        ];
        let word = words.into_iter().find(|(hits, _)| *hits);
        word.map(|(_, word)| Item::Word(word))
            .or_else(|| self.names.matching(name).map(Item::Pattern))
    }
}

/// An item of `VK_LOADER_LAYERS_DISABLE`.
#[derive(Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A word for all layers, or for all of a kind.
    Word(&'static [u8]),
    /// A pattern of names.
    Pattern(&'a Pattern),
}

impl Item<'_> {
    /// Returns the item as the loader interprets it.
    pub fn text(self) -> Text {
        match self {
            Self::Word(word) => word.into(),
            Self::Pattern(pattern) => pattern.text(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_220_drv_25_lay_121_patterns() {
        let long = [&b"x".repeat(300)[..], b".JSON"].concat();
        let cases: &[(&str, &[u8], bool)] = &[
            ("intel.json", b"INTEL.json", true),
            ("intel", b"intel.json", false),
            ("intel*", b"Intel_icd.json", true),
            ("A*", b"abc", true),
            ("A*", b"bac", false),
            ("*.json", &long, true),
            ("*icd.json", b"icd.json", true),
            ("*icd.json", b"d.json", false),
            ("*TEL*", b"intel.json", true),
            ("*tel*", b"te", false),
            ("a*b", b"a*b", true),
            ("a*b", b"axb", false),
            ("a?b", b"axb", false),
            ("***", b"a*b", true),
            ("***", b"ab", false),
            ("*", b"", true),
            ("**", b"x", true),
            ("~ALL~", b"x", true),
            (" a", b"a", false),
            ("~implicit~", b"~implicit~", false),
            ("~x~", b"~x~", false),
            (",,a,", b"a", true),
            ("", b"", false),
        ];
        for (value, name, expected) in cases {
            assert_eq!(
                Globs::parse(value.as_bytes()).matches(name),
                *expected,
                "{value} {name:?}"
            );
        }
    }

    #[test]
    fn a_pattern_is_told_as_it_was_taken() {
        let all = ["*", "whole", "prefix*", "*suffix", "*substring*"];
        let globs = Globs::parse(all.join(",").as_bytes());
        let told: Vec<Text> = globs.patterns.iter().map(Pattern::text).collect();
        assert_eq!(told, all.map(Text::from));
        let globs = Globs::parse(b"no,~ALL~,*");
        assert_eq!(globs.matching(b"yes").map(Pattern::text), Some("*".into()));
    }

    #[test]
    fn app_221_sixteen_items_of_255_bytes() {
        let many: Vec<String> = (0..20).map(|index| format!("n{index}")).collect();
        let globs = Globs::parse(many.join(",").as_bytes());
        assert!(globs.matches(b"n15"));
        assert!(!globs.matches(b"n16") && globs.truncated);
        assert!(!Globs::parse(many[..16].join(",,").as_bytes()).truncated);
        let long = "y".repeat(1 << 20);
        assert!(Globs::parse(long.as_bytes()).matches(&b"y".repeat(255)));
        assert!(Globs::parse(format!("{long}*").as_bytes()).matches(&b"y".repeat(256)));
    }

    #[test]
    fn lay_120_special_words_of_disable_do_not_count() {
        let names: Vec<String> = (0..16).map(|index| format!("n{index}")).collect();
        let value = format!("~implicit~,*,{},n16,~Explicit~,~odd~", names.join(","));
        let globs = DisableGlobs::parse(value.as_bytes());
        assert!(globs.everything && globs.implicit && globs.explicit);
        assert!(globs.names.matches(b"n15"));
        assert!(!globs.names.matches(b"n16") && globs.names.truncated);
        let fitting = format!("~implicit~,*,{},~Explicit~", names.join(","));
        assert!(!DisableGlobs::parse(fitting.as_bytes()).names.truncated);
    }

    #[test]
    fn app_222_unknown_words_match_nothing_but_count() {
        let globs = Globs::parse(b"~implicit~,~x~");
        assert!(!globs.is_empty() && !globs.matches(b"VK_LAYER_a"));
        assert!(Globs::parse(b",,").is_empty());
        assert_eq!(DisableGlobs::parse(b",,,"), DisableGlobs::default());
    }
}
