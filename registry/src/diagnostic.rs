//! Mistakes in a registry, and their places.

use crate::source::{Origins, Place};
use roxmltree::Document;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

/// Upper bound on the number of reported diagnostics (GEN-3).
pub const MAX_DIAGNOSTICS: usize = 100;

const SNIPPET_CHARS: usize = 160;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// Kind of mistake that a diagnostic reports (GEN-83). The words are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// Every code, for tables and tests.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the word between brackets in a printed diagnostic.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

codes! {
    /// The text is not UTF-8, or the XML declaration claims another encoding.
    BadEncoding = "bad-encoding",
    /// The text is not well-formed XML, or has a document type declaration.
    NotWellFormed = "not-well-formed",
    /// A size, nesting or attribute count far above that of any registry (GEN-85).
    InputLimit = "input-limit",
    /// An element that no list names (GEN-80).
    UnknownElement = "unknown-element",
    /// An attribute that no list names (GEN-80).
    UnknownAttribute = "unknown-attribute",
    /// Text in an element that must not contain text.
    UnexpectedText = "unexpected-text",
    /// An unknown API token.
    UnknownApi = "unknown-api",
    /// An attribute or child that the element needs is absent.
    Missing = "missing",
    /// An attribute whose value cannot be read.
    BadValue = "bad-value",
    /// A definition has no name, two different names, or a name that is not a C identifier (GEN-11).
    BadName = "bad-name",
    /// A C declaration that cannot be taken apart (GEN-12).
    BadDeclaration = "bad-declaration",
    /// Two definitions of one name survive the API filter (GEN-22).
    DuplicateDefinition = "duplicate-definition",
    /// A provider asks for a name that nothing defines.
    RequiredUndefined = "required-undefined",
    /// A definition that no provider asks for (GEN-82).
    NeverRequired = "never-required",
    /// Aliases that lead back to themselves (GEN-33).
    AliasCycle = "alias-cycle",
    /// An alias of something that does not exist, or is of another kind.
    AliasTarget = "alias-target",
    /// An alias with a prototype, parameters or API list of its own (GEN-35).
    AliasWithPrototype = "alias-with-prototype",
    /// A parameter or member of a type that nothing defines.
    UnresolvedType = "unresolved-type",
    /// A structure or union passed or returned by value (GEN-45).
    StructByValue = "struct-by-value",
    /// A `depends` text outside the grammar (GEN-31).
    BadDepends = "bad-depends",
    /// A `depends` text that names nothing known.
    UnknownDependency = "unknown-dependency",
    /// An unknown name in `promotedto`, `deprecatedby`, `obsoletedby` or `supersededby`.
    UnknownSuccessor = "unknown-successor",
    /// A platform word that `<platforms>` does not list.
    UnknownPlatform = "unknown-platform",
    /// A command whose providers ask for different platforms (GEN-54).
    PlatformConflict = "platform-conflict",
    /// A supported extension that is neither for instances nor for devices (GEN-38).
    UnknownExtensionType = "unknown-extension-type",
    /// An extension whose version or name enumerant is absent or disagrees.
    ExtensionConstants = "extension-constants",
    /// Two supported extensions with one number, which would give their enumerants the same values (GEN-69).
    ExtensionNumber = "extension-number",
    /// A handle has no `objtypeenum`, or one that is not a `VkObjectType`.
    HandleObjectType = "handle-object-type",
    /// A handle whose parent is not a handle.
    HandleParent = "handle-parent",
    /// Handles that are their own ancestors.
    ParentCycle = "parent-cycle",
    /// The first parameter is a dispatchable handle that leads neither to an instance nor to a device (GEN-50).
    NoLevel = "no-level",
    /// Declarations of one enumerant disagree, or a value cannot be computed (GEN-69).
    EnumerantConflict = "enumerant-conflict",
    /// The core commands and the commands that `export` lists differ (GEN-27).
    ExportMismatch = "export-mismatch",
    /// A remove of a command that nothing required (GEN-24).
    RemoveUnrequired = "remove-unrequired",
    /// The header version is missing (GEN-15).
    MissingHeaderVersion = "missing-header-version",
    /// The version macro and the highest feature differ (GEN-15).
    VersionMismatch = "version-mismatch",
    /// A command or handle in the video registry (GEN-4).
    VideoEntryPoint = "video-entry-point",
}

impl Code {
    /// Returns `true` if the input has a construct that no rule covers yet. `diff` reports such constructs and continues (GEN-80).
    pub const fn is_unknown_construct(self) -> bool {
        matches!(
            self,
            Self::UnknownElement | Self::UnknownAttribute | Self::UnexpectedText
        )
    }

    /// Returns advice for codes whose text does not say how to proceed.
    const fn help(self) -> Option<&'static str> {
        Some(match self {
            Self::UnknownElement | Self::UnknownAttribute | Self::UnexpectedText => {
                "judge it and list it in registry/src/parse/schema.rs as used, informational or irrelevant"
            }
            Self::UnknownApi => "judge it and list it in registry/src/parse/attributes.rs",
            Self::VideoEntryPoint => "the loader reads nothing from this file; it would have to learn to",
            Self::StructByValue => "its ABI needs a person",
            _ => return None,
        })
    }
}

/// A mistake, in the style of compilers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// File name.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Kind of mistake.
    pub code: Code,
    /// Element path, such as `registry/types/type`; empty when the file could not be read as XML.
    pub path: String,
    /// Description of the mistake, with the name of its subject.
    pub text: String,
    /// The element as one line, cut at 160 characters; may be empty.
    pub snippet: String,
}

impl Diagnostic {
    /// Creates a diagnostic for a text that has no parsed elements yet.
    pub(crate) fn in_text(file: &str, line: u32, column: u32, code: Code, text: String) -> Self {
        Self {
            file: file.to_owned(),
            line,
            column,
            code,
            path: String::new(),
            text,
            snippet: String::new(),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            code,
            path,
            text,
            snippet,
        } = self;
        write!(f, "{file}:{line}:{column}: error[{}]: {text}", code.word())?;
        if !path.is_empty() {
            write!(f, " (in {path})")?;
        }
        if let Some(help) = code.help() {
            write!(f, "; {help}")?;
        }
        if !snippet.is_empty() {
            write!(f, "\n    {snippet}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// Collects the diagnostics of one file.
pub(crate) struct Reporter<'a> {
    text: &'a str,
    document: &'a Document<'a>,
    origins: Origins<'a>,
    found: Vec<Diagnostic>,
    /// `true` if any mistake was reported. `found` does not show this, because its length is limited.
    is_broken: bool,
    /// Unknown constructs seen so far, by path and text, if each kind is to be reported once.
    kinds: Option<HashSet<String>>,
}

impl<'a> Reporter<'a> {
    /// Creates a reporter for a document whose text comes from the given files.
    pub(crate) fn new(origins: Origins<'a>, document: &'a Document<'a>) -> Self {
        Self {
            text: document.input_text(),
            document,
            origins,
            found: Vec::new(),
            is_broken: false,
            kinds: None,
        }
    }

    /// Makes the reporter report each kind of unknown construct once, so that a frequent kind cannot fill the report.
    pub(crate) fn once_a_kind(mut self) -> Self {
        self.kinds = Some(HashSet::new());
        self
    }

    /// Records a construct that no list names, in the element with the given path.
    pub(crate) fn unknown(&mut self, at: usize, code: Code, path: &str, text: String) {
        let is_new = |kinds: &mut HashSet<String>| kinds.insert(format!("{path}: {text}"));
        if self.kinds.as_mut().is_none_or(is_new) {
            self.report(at, code, text);
        }
    }

    /// Returns the words of a message for a second place: its line, and its file if it is another file.
    pub(crate) fn other_place(&self, first: usize, other: usize) -> String {
        let (first, other) = (self.origins.place(first), self.origins.place(other));
        if first.file == other.file {
            format!("line {}", other.line)
        } else {
            format!("{}:{}", other.file, other.line)
        }
    }

    /// Records a mistake in the element that starts at byte `at`.
    pub(crate) fn report(&mut self, at: usize, code: Code, text: impl Into<String>) {
        self.is_broken |= !code.is_unknown_construct();
        if self.found.len() >= MAX_DIAGNOSTICS {
            return;
        }
        let Place { file, line, column } = self.origins.place(at);
        let (path, range) = element_at(self.document, at);
        let snippet = snippet(self.text.get(range).unwrap_or_default());
        let (file, text) = (file.to_owned(), text.into());
        self.found.push(Diagnostic {
            file,
            line,
            column,
            code,
            path,
            text,
            snippet,
        });
    }

    /// Returns `true` if anything except unknown constructs was found, so that further steps would only report consequences.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Returns all diagnostics, in file order.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by(|a, b| {
            (&a.file, a.line, a.column, a.code, &a.text).cmp(&(&b.file, b.line, b.column, b.code, &b.text))
        });
        self.found
    }
}

/// Returns the path and the extent of the innermost element that holds byte `at`.
fn element_at(document: &Document<'_>, at: usize) -> (String, Range<usize>) {
    let holds = |node: &roxmltree::Node<'_, '_>| node.is_element() && node.range().contains(&at);
    let mut names = Vec::new();
    let mut range = at..at;
    let mut next = document.root().children().find(holds);
    while let Some(element) = next {
        names.push(element.tag_name().name());
        range = element.range();
        next = element.children().find(holds);
    }
    (names.join("/"), range)
}

/// Returns a text as one line, cut at 160 characters.
pub(crate) fn snippet(text: &str) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        for character in word.chars().chain(" ".chars()) {
            if count == SNIPPET_CHARS {
                return line;
            }
            line.push(character);
            count += 1;
        }
    }
    line.trim_end().to_owned()
}
