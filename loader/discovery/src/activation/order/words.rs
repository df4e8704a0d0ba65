//! The words of a declaration. Each word matches one or more layers.

use crate::env::glob::Pattern;
use crate::manifest::LayerManifest;

/// One word of a chain, between two `>`, or of a list in a manifest.
#[derive(Debug)]
pub(super) enum Word {
    /// `implicit` or `explicit`: all layers of one kind.
    Kind {
        /// `true` for implicit layers, `false` for explicit ones.
        implicit: bool,
    },
    /// A name, or a pattern of names.
    Names(Pattern),
}

impl Word {
    /// Parses a word. Ignores blanks around the word.
    pub(super) fn parse(text: &[u8]) -> Self {
        let text = text.trim_ascii();
        let inner = text.strip_prefix(b"~").and_then(|rest| rest.strip_suffix(b"~"));
        match inner.unwrap_or(text) {
            kind if kind.eq_ignore_ascii_case(b"implicit") => Self::Kind { implicit: true },
            kind if kind.eq_ignore_ascii_case(b"explicit") => Self::Kind { implicit: false },
            _ => Self::Names(Pattern::parse(text)),
        }
    }

    /// Returns `true` if the word matches this layer.
    pub(super) fn is_for(&self, layer: &LayerManifest) -> bool {
        match self {
            Self::Kind { implicit } => layer.implicit == *implicit,
            Self::Names(pattern) => pattern.matches(&layer.name),
        }
    }

    /// Returns a number that is smaller for a more specific word.
    pub(super) fn breadth(&self) -> u8 {
        match self {
            Self::Names(pattern) if pattern.is_name() => 0,
            Self::Names(pattern) if !pattern.is_everything() => 1,
            Self::Kind { .. } => 2,
            Self::Names(_) => 3,
        }
    }
}

/// Returns the chains in a text. Each chain is a list of words, from the application down.
pub(super) fn chains(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let chains = text.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    chains.filter(|chain| !chain.is_empty())
}

/// Returns the words of one of the [`chains`] in a text.
pub(super) fn words(chain: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = chain.split(|&byte| byte == b'>').map(<[u8]>::trim_ascii);
    words.filter(|word| !word.is_empty())
}
