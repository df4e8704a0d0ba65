//! Patterns of layer names and of driver manifest file names (APP-220 to APP-222, DRV-25, LAY-120 to LAY-122).

use super::environment::split;
use super::variable::Separator;
use os::memory::{Grow, copy_or_note};
use rust_alloc::vec::Vec;

/// Patterns of one variable that are used; later ones are dropped with a warning.
pub const MAX_PATTERNS: usize = 16;
/// Bytes of one pattern that are used; the rest is cut.
const MAX_PATTERN_BYTES: usize = 255;

/// Whether an item stands for all names.
fn is_everything(item: &[u8]) -> bool {
    matches!(item, b"*" | b"**") || item.eq_ignore_ascii_case(b"~all~")
}

/// One pattern. Case does not count.
#[derive(Debug, PartialEq, Eq)]
enum Pattern {
    Everything,
    /// A word that starts with `~` and has no meaning here.
    Nothing,
    Whole(Vec<u8>),
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    Substring(Vec<u8>),
}

impl Pattern {
    fn parse(item: &[u8]) -> Self {
        let cut = |text: &[u8]| copy_or_note(&text[..text.len().min(MAX_PATTERN_BYTES)]);
        match item {
            _ if is_everything(item) => Self::Everything,
            [b'~', ..] => Self::Nothing,
            [b'*', text @ .., b'*'] => Self::Substring(cut(text)),
            [b'*', text @ ..] => Self::Suffix(cut(text)),
            [text @ .., b'*'] => Self::Prefix(cut(text)),
            text => Self::Whole(cut(text)),
        }
    }

    fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Everything => true,
            Self::Nothing => false,
            Self::Whole(text) => name.eq_ignore_ascii_case(text),
            Self::Prefix(text) => name
                .get(..text.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(text)),
            Self::Suffix(text) => name
                .len()
                .checked_sub(text.len())
                .is_some_and(|at| name[at..].eq_ignore_ascii_case(text)),
            Self::Substring(text) => name.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text)),
        }
    }
}

/// The patterns of one filter variable.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Globs {
    patterns: Vec<Pattern>,
    /// More than [`MAX_PATTERNS`] were given; the rest was dropped and deserves a warning.
    pub truncated: bool,
}

impl Globs {
    /// The patterns of a variable's value, at most 16 of them.
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

    /// Whether the variable is unset, empty, or holds only commas. A word that matches nothing still counts, so
    /// selecting by it drops everything.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether any pattern matches the name, ignoring ASCII case.
    pub fn matches(&self, name: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(name))
    }
}

/// The value of `VK_LOADER_LAYERS_DISABLE`: patterns and words for whole kinds of layer. The words do not count toward
/// the limit of 16 (LAY-120).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DisableGlobs {
    /// `*`, `**` or `~all~` was given.
    pub everything: bool,
    /// `~implicit~` was given.
    pub implicit: bool,
    /// `~explicit~` was given.
    pub explicit: bool,
    /// The patterns of names.
    pub names: Globs,
}

impl DisableGlobs {
    /// The patterns and words of a variable's value.
    pub fn parse(value: &[u8]) -> Self {
        let mut globs = Self::default();
        for item in split(value, Separator::Comma) {
            match item {
                _ if is_everything(item) => globs.everything = true,
                _ if item.eq_ignore_ascii_case(b"~implicit~") => globs.implicit = true,
                _ if item.eq_ignore_ascii_case(b"~explicit~") => globs.explicit = true,
                _ => globs.names.add(item),
            }
        }
        globs
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
