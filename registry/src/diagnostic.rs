//! Diagnostics: mistakes in a registry, with their places.

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
        /// Kind of mistake that a diagnostic reports (GEN-83). Its word in messages does not change between releases.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// All codes, for tables and tests.
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
    /// A size, a depth of nesting or a number of attributes is far larger than in any registry (GEN-85).
    InputLimit = "input-limit",
    /// An element is not in any list of known elements (GEN-80).
    UnknownElement = "unknown-element",
    /// An attribute is not in any list of known attributes (GEN-80).
    UnknownAttribute = "unknown-attribute",
    /// An element contains text, although it must not.
    UnexpectedText = "unexpected-text",
    /// A list of APIs contains an unknown word.
    UnknownApi = "unknown-api",
    /// An element lacks a required attribute or child.
    Missing = "missing",
    /// The value of an attribute is invalid.
    BadValue = "bad-value",
    /// A definition has no name, two different names, or a name that is not a C identifier (GEN-11).
    BadName = "bad-name",
    /// A C declaration is invalid (GEN-12).
    BadDeclaration = "bad-declaration",
    /// Two definitions of the same name remain after the API filter (GEN-22).
    DuplicateDefinition = "duplicate-definition",
    /// A provider requires a name that is not defined.
    RequiredUndefined = "required-undefined",
    /// No provider requires this definition (GEN-82).
    NeverRequired = "never-required",
    /// Aliases form a cycle (GEN-33).
    AliasCycle = "alias-cycle",
    /// The target of an alias does not exist, or is of another kind.
    AliasTarget = "alias-target",
    /// An alias has a separate prototype, parameters or API list (GEN-35).
    AliasWithPrototype = "alias-with-prototype",
    /// The type of a parameter or member is not defined.
    UnresolvedType = "unresolved-type",
    /// A structure or union is passed or returned by value (GEN-45).
    StructByValue = "struct-by-value",
    /// The text of `depends` does not have the form of a condition (GEN-31).
    BadDepends = "bad-depends",
    /// The text of `depends` has an unknown name.
    UnknownDependency = "unknown-dependency",
    /// The attribute `promotedto`, `deprecatedby`, `obsoletedby` or `supersededby` has an unknown name.
    UnknownSuccessor = "unknown-successor",
    /// The name of a platform is not in `<platforms>`.
    UnknownPlatform = "unknown-platform",
    /// The providers of a command need different platforms (GEN-54).
    PlatformConflict = "platform-conflict",
    /// A supported extension is neither for instances nor for devices (GEN-38).
    UnknownExtensionType = "unknown-extension-type",
    /// The enumerant for an extension's version or name is missing or wrong.
    ExtensionConstants = "extension-constants",
    /// Two supported extensions have the same number, so their enumerants would have the same values (GEN-69).
    ExtensionNumber = "extension-number",
    /// A handle has no `objtypeenum`, or its `objtypeenum` is not a `VkObjectType`.
    HandleObjectType = "handle-object-type",
    /// The parent of a handle is not a handle.
    HandleParent = "handle-parent",
    /// The parents of handles form a cycle.
    ParentCycle = "parent-cycle",
    /// The first parameter is a dispatchable handle that descends neither from an instance nor from a device (GEN-50).
    NoLevel = "no-level",
    /// Declarations of the same enumerant disagree, or a value cannot be computed (GEN-69).
    EnumerantConflict = "enumerant-conflict",
    /// The core commands differ from the commands whose definition lists the API in `export` (GEN-27).
    ExportMismatch = "export-mismatch",
    /// A feature or extension removes a command that nothing requires (GEN-24).
    RemoveUnrequired = "remove-unrequired",
    /// The header version is missing (GEN-15).
    MissingHeaderVersion = "missing-header-version",
    /// The version macro differs from the highest feature (GEN-15).
    VersionMismatch = "version-mismatch",
    /// The video registry has a command or handle (GEN-4).
    VideoEntryPoint = "video-entry-point",
}

impl Code {
    /// Returns `true` if the input has a construct for which there is no rule yet. `diff` reports these constructs and continues (GEN-80).
    pub const fn is_unknown_construct(self) -> bool {
        matches!(
            self,
            Self::UnknownElement | Self::UnknownAttribute | Self::UnexpectedText
        )
    }

    /// Returns advice for codes whose message does not name a remedy.
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

/// Mistake in a registry, in the style of compiler messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// File name.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// Kind of mistake.
    pub code: Code,
    /// Path of the element, for example `registry/types/type`. Empty if the file is not well-formed XML.
    pub path: String,
    /// Description of the mistake, with the name of its subject.
    pub text: String,
    /// Element as one line, cut at 160 characters. Empty if no element is known.
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
    /// `true` if the parser reported a mistake. `found` may not contain the mistake, because the length of `found` is limited.
    is_broken: bool,
    /// Unknown constructs so far, by path and text, or `None` if the reporter reports each construct.
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

    /// Returns the part of a message that names a second place: its line, and its file if the file is different.
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

    /// Returns `true` if the parser found mistakes other than unknown constructs. Later steps would then report only the consequences of
    /// these mistakes.
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

/// Returns the path and the extent of the innermost element that contains byte `at`.
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
