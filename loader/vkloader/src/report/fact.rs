//! Facts of findings. The kind of a fact is set where the fact is made.

use serde::{Serialize, Serializer};
use std::ops::{Deref, DerefMut};

/// Kind of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A sentence about the subject of the finding.
    Sentence,
    /// A message in the loader's log.
    Log,
    /// A message of the operating system or of the dynamic linker.
    System,
    /// A line that a driver printed.
    Printed,
    /// A folder that the library searched.
    Searched,
    /// The functions on the stack of a crash.
    Stack,
    /// The layers that a call went through.
    Through(Vec<String>),
    /// The layer whose library the finding is about.
    Layer(String),
    /// The value of the variable that controls a layer.
    Controlling(&'static str),
    /// The origin of a variable.
    Origin {
        variable: String,
        /// `true` if the origin is a file that sets the variable in each session.
        is_file: bool,
    },
    /// The value that a limit of the process has.
    Limit,
    /// A manifest that this user may not read.
    Unreadable,
    /// A file that a driver could not open.
    NotOpened,
    /// A library of a driver without functions of Vulkan.
    WithoutVulkan,
    /// A device that cannot show pictures.
    WithoutSwapchain,
    /// A driver that failed on a system that lists no card for it. A laptop may have switched the card off.
    WithoutCard,
    /// A device node that this user may not open.
    ClosedNode(String),
    /// The program had created a device before it failed.
    HadDevice,
}

/// A fact of a finding: a sentence, and its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    kind: Kind,
    text: String,
    /// Place in `text` at which the words of the quotation begin.
    words: usize,
}

impl Fact {
    /// Returns a fact of the kind `kind`.
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            words: 0,
        }
    }

    /// Returns a message in the loader's log.
    pub(crate) fn of_log(words: &str) -> Self {
        Self::quoted(Kind::Log, "the log says: ", words)
    }

    /// Returns a message of the operating system or of the dynamic linker.
    pub(crate) fn of_system(words: &str) -> Self {
        Self::quoted(Kind::System, "the system says: ", words)
    }

    /// Returns a line that a driver printed.
    pub(crate) fn printed(words: &str) -> Self {
        Self::quoted(Kind::Printed, "it printed: ", words)
    }

    fn quoted(kind: Kind, beginning: &str, words: &str) -> Self {
        Self {
            kind,
            text: format!("{beginning}{words}"),
            words: beginning.len(),
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns `true` for the origin of a variable; if `only_file` is `true`, only for a file that sets the variable in each session.
    pub(crate) fn is_origin(&self, only_file: bool) -> bool {
        matches!(self.kind, Kind::Origin { is_file, .. } if is_file || !only_file)
    }

    /// Returns the quoted words of a fact of the kind `kind`; `None` for a fact of another kind.
    pub(crate) fn words(&self, kind: &Kind) -> Option<&str> {
        self.text.get(self.words..).filter(|_| self.kind == *kind)
    }
}

impl<T: Into<String>> From<T> for Fact {
    fn from(text: T) -> Self {
        Self::new(Kind::Sentence, text)
    }
}

impl Deref for Fact {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<&str> for Fact {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// The facts of a finding. A text without a kind becomes a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Facts(Vec<Fact>);

impl Facts {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn push(&mut self, fact: impl Into<Fact>) {
        self.0.push(fact.into());
    }

    /// Returns the texts of all facts, with `between` between them.
    #[cfg(test)]
    pub(crate) fn joined(&self, between: &str) -> String {
        let texts: Vec<&str> = self.0.iter().map(|fact| &**fact).collect();
        texts.join(between)
    }

    pub(crate) fn insert(&mut self, place: usize, fact: impl Into<Fact>) {
        self.0.insert(place, fact.into());
    }
}

impl Deref for Facts {
    type Target = Vec<Fact>;

    fn deref(&self) -> &Vec<Fact> {
        &self.0
    }
}

impl DerefMut for Facts {
    fn deref_mut(&mut self) -> &mut Vec<Fact> {
        &mut self.0
    }
}

impl<T: Into<Fact>> Extend<T> for Facts {
    fn extend<I: IntoIterator<Item = T>>(&mut self, facts: I) {
        self.0.extend(facts.into_iter().map(Into::into));
    }
}

impl<T: Into<Fact>> FromIterator<T> for Facts {
    fn from_iter<I: IntoIterator<Item = T>>(facts: I) -> Self {
        Self(facts.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Fact>> From<Vec<T>> for Facts {
    fn from(facts: Vec<T>) -> Self {
        facts.into_iter().collect()
    }
}

impl<T: Into<Fact>, const N: usize> From<[T; N]> for Facts {
    fn from(facts: [T; N]) -> Self {
        facts.into_iter().collect()
    }
}

impl<const N: usize> PartialEq<[&str; N]> for Facts {
    fn eq(&self, other: &[&str; N]) -> bool {
        *self.0 == other[..]
    }
}

impl IntoIterator for Facts {
    type Item = Fact;
    type IntoIter = std::vec::IntoIter<Fact>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Facts {
    type Item = &'a Fact;
    type IntoIter = std::slice::Iter<'a, Fact>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_fact_does_not_depend_on_its_words() {
        let sentence = Fact::from("the system says: no");
        let quoted = Fact::of_system("no");
        assert_eq!(*sentence, *quoted);
        assert_eq!(
            (sentence.words(&Kind::System), quoted.words(&Kind::System)),
            (None, Some("no"))
        );
        assert_eq!(quoted.words(&Kind::Log), None);
        let json = serde_json::to_string(&Facts::from([quoted])).expect("a text");
        assert_eq!(json, r#"["the system says: no"]"#);
    }
}
