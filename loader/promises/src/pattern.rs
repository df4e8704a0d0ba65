//! Patterns of names, in variables, in the settings file and in options of `vkloader` (APP-220 to APP-222).

/// Returns `true` if an item of a filter matches all names.
pub fn is_everything(item: &[u8]) -> bool {
    matches!(item, b"*" | b"**") || item.eq_ignore_ascii_case(b"~all~")
}

/// A pattern that ignores the case of ASCII letters. A star matches any text at the beginning and at the end of a pattern only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern<T> {
    /// A word for all names.
    Everything,
    /// A word that starts with `~` and has no meaning. The word matches no name.
    Nothing,
    /// The name itself.
    Whole(T),
    /// Names that begin with this text.
    Prefix(T),
    /// Names that end with this text.
    Suffix(T),
    /// Names that contain this text. An empty text matches no name.
    Substring(T),
}

impl<'a> Pattern<&'a [u8]> {
    /// Reads an item of a list of patterns.
    pub fn parse(item: &'a [u8]) -> Self {
        match item {
            _ if is_everything(item) => Self::Everything,
            [b'~', ..] => Self::Nothing,
            [b'*', text @ .., b'*'] => Self::Substring(text),
            [b'*', text @ ..] => Self::Suffix(text),
            [text @ .., b'*'] => Self::Prefix(text),
            text => Self::Whole(text),
        }
    }
}

impl<T: AsRef<[u8]>> Pattern<T> {
    /// Converts the text of the pattern with `text`.
    pub fn map<U>(self, text: impl FnOnce(T) -> U) -> Pattern<U> {
        match self {
            Self::Everything => Pattern::Everything,
            Self::Nothing => Pattern::Nothing,
            Self::Whole(it) => Pattern::Whole(text(it)),
            Self::Prefix(it) => Pattern::Prefix(text(it)),
            Self::Suffix(it) => Pattern::Suffix(text(it)),
            Self::Substring(it) => Pattern::Substring(text(it)),
        }
    }

    /// Returns `true` if the pattern matches a name.
    pub fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Everything => true,
            Self::Nothing => false,
            Self::Whole(text) => name.eq_ignore_ascii_case(text.as_ref()),
            Self::Prefix(text) => name
                .get(..text.as_ref().len())
                .is_some_and(|start| start.eq_ignore_ascii_case(text.as_ref())),
            Self::Suffix(text) => name
                .len()
                .checked_sub(text.as_ref().len())
                .is_some_and(|at| name[at..].eq_ignore_ascii_case(text.as_ref())),
            Self::Substring(text) => {
                let text = text.as_ref();
                !text.is_empty() && name.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text))
            }
        }
    }
}
