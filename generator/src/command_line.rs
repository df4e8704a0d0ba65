//! The command line: a verb, operands and options, all with defaults below the repository's root.

use crate::error::Error;
use std::path::{Path, PathBuf};

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    /// XML to snapshot.
    Import,
    /// Snapshot and policy to output.
    Emit,
    /// Compare with what is on disk.
    Check,
    /// The parsed metadata as JSON.
    Dump,
    /// What differs between two registries.
    Diff {
        /// The old registry.
        old: String,
        /// The new one.
        new: String,
    },
    /// Everything known of a name.
    Explain {
        /// A command, extension or handle.
        name: String,
    },
}

/// How `diff` prints its report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For a comment or a step summary.
    Markdown,
    /// One page for a browser.
    Html,
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What to do.
    pub verb: Verb,
    /// The registry, as `vk.xml` and `video.xml`.
    pub xml: Option<(PathBuf, PathBuf)>,
    /// Further registries to merge into that of the XML.
    pub overlays: Vec<PathBuf>,
    /// Folder of the snapshot.
    pub snapshot: PathBuf,
    /// The policy file.
    pub policy: PathBuf,
    /// Further rows for the commands of overlays.
    pub overlay_policies: Vec<PathBuf>,
    /// Folder of the output.
    pub generated: PathBuf,
    /// Folder that fetched XML lies in.
    pub input: PathBuf,
    /// The repository's root.
    pub root: PathBuf,
    /// Format of the report.
    pub format: Format,
    /// Whether the exit code tells what the report found.
    pub exit_code: bool,
}

/// Printed after every complaint about the command line.
const USAGE: &str = "usage: vkgen import --vk-xml FILE --video-xml FILE [--snapshot DIR]
       vkgen emit    [--generated DIR] [SOURCE]
       vkgen check   [--generated DIR] [SOURCE]
       vkgen dump    [SOURCE]
       vkgen explain NAME [SOURCE]
       vkgen diff    OLD NEW [--json | --markdown | --html] [--exit-code] [--policy FILE] [--input DIR]

SOURCE is [--snapshot DIR] [--policy FILE] [--input DIR] [--vk-xml FILE --video-xml FILE]
          [--overlay FILE]... [--overlay-policy FILE]...
An overlay is merged into the XML, which by default is that in registry/input.
OLD and NEW are a vk.xml, a folder with one, a folder with a snapshot, or a header version such as 1.4.366.";

/// Options with a value; those of [`REPEATED`] may come more than once.
const VALUED: [&str; 8] = [
    "--vk-xml",
    "--video-xml",
    "--snapshot",
    "--policy",
    "--generated",
    "--input",
    "--overlay",
    "--overlay-policy",
];
const REPEATED: [&str; 2] = ["--overlay", "--overlay-policy"];

/// Words after the verb, sorted by kind.
#[derive(Default)]
struct Words {
    operands: Vec<String>,
    flags: Vec<String>,
    values: Vec<(&'static str, PathBuf)>,
}

impl Words {
    /// All values of an option.
    fn all(&self, option: &str) -> Vec<PathBuf> {
        let values = self.values.iter().filter(|(name, _)| *name == option);
        values.map(|(_, value)| value.clone()).collect()
    }

    fn one(&self, option: &str) -> Option<PathBuf> {
        self.all(option).into_iter().next()
    }
}

/// Parses arguments; paths that are not given lie below the repository's root.
pub fn parse(arguments: &[String]) -> Result<Options, Error> {
    let (name, rest) = arguments.split_first().ok_or_else(|| usage("which verb?"))?;
    let words = sort(rest)?;
    let verb = verb(name, &words.operands)?;
    let (format, exit_code) = flags(&verb, &words.flags)?;
    let root = root();
    let below = |option: &str, default: &str| words.one(option).unwrap_or_else(|| root.join(default));
    let input = below("--input", "registry/input");
    let overlays = words.all("--overlay");
    if !overlays.is_empty() && matches!(verb, Verb::Import | Verb::Diff { .. }) {
        return Err(usage("--overlay does not belong here"));
    }
    let xml = match (words.one("--vk-xml"), words.one("--video-xml")) {
        (Some(vk), Some(video)) => Some((vk, video)),
        // The snapshot cannot be merged with: it has no text to put an overlay into.
        (None, None) if !overlays.is_empty() => Some((input.join("vk.xml"), input.join("video.xml"))),
        (None, None) if verb != Verb::Import => None,
        _ => return Err(usage("--vk-xml and --video-xml belong together")),
    };
    Ok(Options {
        verb,
        xml,
        overlays,
        snapshot: below("--snapshot", "registry/snapshot"),
        policy: below("--policy", "generator/policy.toml"),
        overlay_policies: words.all("--overlay-policy"),
        generated: below("--generated", "generated"),
        input,
        root,
        format,
        exit_code,
    })
}

fn usage(text: impl AsRef<str>) -> Error {
    Error::Usage(format!("{}\n{USAGE}", text.as_ref()))
}

fn sort(rest: &[String]) -> Result<Words, Error> {
    let mut words = Words::default();
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        if let Some(option) = VALUED.into_iter().find(|option| option == word) {
            let value = rest.next().ok_or_else(|| usage(format!("{word} needs a value")))?;
            if words.one(option).is_some() && !REPEATED.contains(&option) {
                return Err(usage(format!("{word} is given twice")));
            }
            words.values.push((option, PathBuf::from(value)));
        } else if word.starts_with("--") {
            words.flags.push(word.clone());
        } else {
            words.operands.push(word.clone());
        }
    }
    Ok(words)
}

fn verb(name: &str, operands: &[String]) -> Result<Verb, Error> {
    match (name, operands) {
        ("import", []) => Ok(Verb::Import),
        ("emit", []) => Ok(Verb::Emit),
        ("check", []) => Ok(Verb::Check),
        ("dump", []) => Ok(Verb::Dump),
        ("diff", [old, new]) => Ok(Verb::Diff {
            old: old.clone(),
            new: new.clone(),
        }),
        ("explain", [name]) => Ok(Verb::Explain { name: name.clone() }),
        ("diff", _) => Err(usage("diff needs an old and a new registry")),
        ("explain", _) => Err(usage("explain needs one name")),
        ("import" | "emit" | "check" | "dump", [operand, ..]) => Err(usage(format!("what is {operand:?}?"))),
        (other, _) => Err(usage(format!("unknown verb {other:?}"))),
    }
}

/// Flags without a value; only `diff` has any.
fn flags(verb: &Verb, flags: &[String]) -> Result<(Format, bool), Error> {
    let (mut format, mut exit_code) = (None, false);
    for flag in flags {
        let wanted = match flag.as_str() {
            "--json" => Format::Json,
            "--markdown" => Format::Markdown,
            "--html" => Format::Html,
            "--exit-code" if matches!(verb, Verb::Diff { .. }) => {
                exit_code = true;
                continue;
            }
            other => return Err(usage(format!("unknown option {other:?}"))),
        };
        if !matches!(verb, Verb::Diff { .. }) || format.replace(wanted).is_some() {
            return Err(usage(format!("{flag} does not belong here")));
        }
    }
    Ok((format.unwrap_or_default(), exit_code))
}

/// The closest folder upwards that holds the policy; the current one, without a name of its own, if that is it or if
/// there is none.
fn root() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let holds_policy = |folder: &&Path| folder.join("generator/policy.toml").is_file();
    match here.ancestors().find(holds_policy) {
        Some(root) if root != here => root.to_owned(),
        _ => PathBuf::new(),
    }
}
