//! Conflicts between registry and policy, each with its place in the policy file.

use crate::policy::{PolicyFile, place};

/// Kind of conflict (GEN-83). Its word in messages does not change between releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// A special command has no treatment.
    Unclassified,
    /// A treatment does not list all present reasons and steps of its command (GEN-74).
    Unreviewed,
    /// A treatment belongs to a command that is not special or does not exist.
    Stale,
    /// The registry lacks a name of the policy.
    UnknownName,
    /// A policy row contradicts itself, another row or the facts about its command.
    Contradiction,
    /// A global command is not hand-written.
    NewGlobal,
    /// A type is passed by value, and neither the registry nor the policy describes it.
    UnknownByValue,
    /// A structure is passed by value.
    StructByValue,
    /// A trampoline would check an object of a kind that the policy does not list.
    UnknownParameter,
    /// Two names would become the same identifier.
    Collision,
    /// The plan has more extensions than a set of extensions has bits.
    Limit,
}

impl Code {
    /// Returns the word between brackets in a printed message.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unclassified => "unclassified-command",
            Self::Unreviewed => "unreviewed-treatment",
            Self::Stale => "stale-policy",
            Self::UnknownName => "unknown-name",
            Self::Contradiction => "policy-contradiction",
            Self::NewGlobal => "new-global-command",
            Self::UnknownByValue => "unknown-by-value-type",
            Self::StructByValue => "struct-by-value",
            Self::UnknownParameter => "unknown-parameter",
            Self::Collision => "identifier-collision",
            Self::Limit => "limit",
        }
    }
}

/// Advice on the rows to write into the policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Advice {
    /// No advice is necessary beyond the text of the problem.
    None,
    /// A key of the policy file needs an entry.
    Key(&'static str),
    /// The policy file needs this row.
    Row(Vec<String>),
    /// The row of the command needs the listed lines in `reviewed`.
    Review(Vec<String>),
}

/// Page that the advice refers to.
const RECIPE: &str = "docs/recipes.md#a-special-command";

/// Conflict between registry and policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Name of the command, type or extension that has the conflict.
    pub name: String,
    /// Kind of the conflict.
    pub code: Code,
    /// Description of the conflict, and the remedy.
    pub text: String,
    /// Advice on the rows to write into the policy.
    pub advice: Advice,
}

impl Problem {
    pub(super) fn new(code: Code, name: &str, text: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            code,
            text: text.into(),
            advice: Advice::None,
        }
    }

    pub(super) fn advised(self, advice: Advice) -> Self {
        Self { advice, ..self }
    }

    /// Returns the advice as a sentence, and the lines to paste into the policy `file`.
    pub fn help(&self, file: &str) -> Option<(String, &[String])> {
        let look = format!("read {RECIPE} and `vkgen explain {}`", self.name);
        match &self.advice {
            Advice::None => None,
            Advice::Key(key) => Some((format!("list it in `{key}` of {file}"), &[])),
            Advice::Row(lines) => Some((format!("{look}, decide, and write a row into {file}, such as"), lines)),
            Advice::Review(lines) => {
                let text =
                    format!("{look}, change the treatment if necessary, and add to `reviewed` of its row in {file}");
                Some((text, lines))
            }
        }
    }

    /// Returns the message in the style of a compiler. The message contains the place of the problem's name in the first policy file that
    /// contains the name. If no policy file contains the name, `registry` finds the place in the registry.
    pub fn located(&self, files: &[PolicyFile], registry: impl Fn(&str) -> Option<String>) -> String {
        let holder = files.iter().find_map(|file| Some((file, self.find(&file.text)?)));
        let in_policy = holder.map(|(file, at)| {
            let (line, column) = place(&file.text, at);
            format!("{}:{line}:{column}", file.name)
        });
        let start = || format!("{}:1:1", files.first().map_or("policy", |file| &file.name));
        let place = in_policy.or_else(|| registry(&self.name)).unwrap_or_else(start);
        let mut message = format!("{place}: error[{}]: {}: {}", self.code.word(), self.name, self.text);
        // Advice about an existing row names the policy file with that row.
        let has_row = matches!(self.advice, Advice::Review(_));
        let file = holder.map(|(file, _)| file).filter(|_| has_row).or(files.first());
        let file = file.map_or("the policy", |file| &file.name);
        if let Some((help, lines)) = self.help(file) {
            message.push_str(&format!("; {help}"));
            message.extend(lines.iter().map(|line| format!("\n    {line}")));
        }
        message
    }

    /// Returns the place of the problem's name in the text of a policy file, as a value or as a key.
    fn find(&self, policy: &str) -> Option<usize> {
        let (quoted, key) = (format!("\"{}\"", self.name), format!("\n{} = ", self.name));
        policy.find(&quoted).or_else(|| policy.find(&key).map(|at| at + 1))
    }
}

/// Problems that the plan has found.
pub(super) type Problems = Vec<Problem>;
