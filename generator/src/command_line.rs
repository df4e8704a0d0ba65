//! Parses the command line: a subcommand, operands and options. Paths default to places below the repository's root.

use crate::error::Error;
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Subcommand of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Reads the XML and writes the snapshot.
    Import,
    /// Reads the snapshot and the policy, and writes the output.
    Emit,
    /// Compares the output with the files on disk.
    Check,
    /// Prints the facts of the registry and the decisions of the plan as JSON.
    Dump,
    /// Prints the differences between two registries.
    Diff {
        /// Operand for the old registry.
        old: PathBuf,
        /// Operand for the new registry.
        new: PathBuf,
    },
    /// Prints everything known about a name.
    Explain {
        /// Name of a command, extension or handle.
        name: String,
    },
}

/// Format of the report of `diff`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text for a terminal.
    #[default]
    Text,
    /// JSON for programs.
    Json,
    /// Markdown for a comment or the summary of a build step.
    Markdown,
    /// HTML for a browser.
    Html,
}

/// Options of a parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Subcommand to run.
    pub verb: Verb,
    /// Paths of `vk.xml` and `video.xml`, if the registry is not read from the snapshot.
    pub xml: Option<(PathBuf, PathBuf)>,
    /// Overlays: additional registries to merge into the XML's registry.
    pub overlays: Vec<PathBuf>,
    /// Folder of the snapshot.
    pub snapshot: PathBuf,
    /// Path of the policy file.
    pub policy: PathBuf,
    /// Files with policy rows for the commands of overlays.
    pub overlay_policies: Vec<PathBuf>,
    /// Folder of the output.
    pub generated: PathBuf,
    /// Folder that contains fetched XML.
    pub input: PathBuf,
    /// Root of the repository.
    pub root: PathBuf,
    /// Format of the report.
    pub format: Format,
    /// `true` if the exit code depends on the report.
    pub exit_code: bool,
}

/// Request of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Request to run a subcommand.
    Run(Box<Options>),
    /// Request to print a text about the program itself.
    Text(String),
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 `check` or `diff --exit-code` found something; 2 the registry or the policy \
cannot be accepted; 3 usage and files; 4 `diff --exit-code` found something that breaks or needs a decision.";

/// Writes the files in generated/ from the facts of the Vulkan registry and the decisions of the policy.
#[derive(Parser)]
#[command(name = "vkgen", version, after_help = EXIT_CODES)]
struct CommandLine {
    #[command(subcommand)]
    verb: Words,
}

#[derive(Subcommand)]
enum Words {
    /// Reads the XML strictly and writes the snapshot
    Import {
        #[command(flatten)]
        xml: RequiredXml,
        /// Folder of the snapshot [default: registry/snapshot]
        #[arg(long, value_name = "DIR")]
        snapshot: Option<PathBuf>,
    },
    /// Writes the output; files that stay the same are not touched
    Emit {
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        source: Source,
    },
    /// Prints what `emit` would change; exit code 1 if anything
    Check {
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        source: Source,
    },
    /// Prints everything that was read and decided, as JSON
    Dump {
        #[command(flatten)]
        source: Source,
    },
    /// Prints everything known about a command, extension, handle or type, with the lines that define it
    Explain {
        /// Name of the command, extension, handle or type
        name: String,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        source: Source,
    },
    /// Prints what a header changes
    ///
    /// OLD and NEW are a vk.xml, a folder with one, a folder with a snapshot, or a header version such as 1.4.N, which is
    /// fetched.
    Diff {
        /// The old registry
        old: PathBuf,
        /// The new registry
        new: PathBuf,
        #[command(flatten)]
        report: ReportOptions,
        #[command(flatten)]
        rules: Rules,
    },
}

#[derive(Args)]
struct RequiredXml {
    /// The registry
    #[arg(long, value_name = "FILE")]
    vk_xml: PathBuf,
    /// The registry of video types
    #[arg(long, value_name = "FILE")]
    video_xml: PathBuf,
}

#[derive(Args, Default)]
struct Output {
    /// Folder of the output [default: generated]
    #[arg(long, value_name = "DIR")]
    generated: Option<PathBuf>,
}

#[derive(Args, Default)]
struct Rules {
    /// The policy [default: generator/policy.toml]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Folder that contains fetched XML [default: registry/input]
    #[arg(long, value_name = "DIR")]
    input: Option<PathBuf>,
}

#[derive(Args, Default)]
struct Source {
    /// Folder of the snapshot [default: registry/snapshot]
    #[arg(long, value_name = "DIR")]
    snapshot: Option<PathBuf>,
    /// The registry, instead of the snapshot
    #[arg(long, value_name = "FILE", requires = "video_xml")]
    vk_xml: Option<PathBuf>,
    /// The registry of video types
    #[arg(long, value_name = "FILE", requires = "vk_xml")]
    video_xml: Option<PathBuf>,
    /// A registry to merge into the XML, by default the one in registry/input; may be repeated
    #[arg(long, value_name = "FILE")]
    overlay: Vec<PathBuf>,
    /// A file with policy rows for the commands of overlays; may be repeated
    #[arg(long, value_name = "FILE")]
    overlay_policy: Vec<PathBuf>,
    #[command(flatten)]
    rules: Rules,
}

#[derive(Args)]
struct ReportOptions {
    /// A report for programs
    #[arg(long, group = "format")]
    json: bool,
    /// A report for a comment or a step summary
    #[arg(long, group = "format")]
    markdown: bool,
    /// A report for a browser
    #[arg(long, group = "format")]
    html: bool,
    /// Makes the exit code depend on the differences
    #[arg(long)]
    exit_code: bool,
}

/// Parses the arguments of a process. The first argument is the program's name. Missing paths default to paths below the repository's root.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Asked, Error> {
    match CommandLine::try_parse_from(arguments) {
        Ok(line) => Ok(Asked::Run(Box::new(line.verb.options()))),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(Asked::Text(error.to_string()))
        }
        Err(error) => Err(Error::Usage(error.to_string().trim_end().to_owned())),
    }
}

impl Words {
    fn options(self) -> Options {
        match self {
            Self::Import { xml, snapshot } => {
                let source = Source {
                    snapshot,
                    vk_xml: Some(xml.vk_xml),
                    video_xml: Some(xml.video_xml),
                    ..Source::default()
                };
                source.options(Verb::Import, Output::default())
            }
            Self::Emit { output, source } => source.options(Verb::Emit, output),
            Self::Check { output, source } => source.options(Verb::Check, output),
            Self::Dump { source } => source.options(Verb::Dump, Output::default()),
            Self::Explain { name, output, source } => source.options(Verb::Explain { name }, output),
            Self::Diff {
                old,
                new,
                report,
                rules,
            } => {
                let source = Source {
                    rules,
                    ..Source::default()
                };
                let format = match report {
                    ReportOptions { json: true, .. } => Format::Json,
                    ReportOptions { markdown: true, .. } => Format::Markdown,
                    ReportOptions { html: true, .. } => Format::Html,
                    ReportOptions { .. } => Format::Text,
                };
                Options {
                    format,
                    exit_code: report.exit_code,
                    ..source.options(Verb::Diff { old, new }, Output::default())
                }
            }
        }
    }
}

impl Source {
    fn options(self, verb: Verb, output: Output) -> Options {
        let root = root();
        let below = |given: Option<PathBuf>, default: &str| given.unwrap_or_else(|| root.join(default));
        let input = below(self.rules.input, "registry/input");
        let xml = match self.vk_xml.zip(self.video_xml) {
            // An overlay cannot be merged into the snapshot, because the snapshot has no XML text.
            None if !self.overlay.is_empty() => Some((input.join("vk.xml"), input.join("video.xml"))),
            given => given,
        };
        Options {
            verb,
            xml,
            overlays: self.overlay,
            snapshot: below(self.snapshot, "registry/snapshot"),
            policy: below(self.rules.policy, "generator/policy.toml"),
            overlay_policies: self.overlay_policy,
            generated: below(output.generated, "generated"),
            input,
            root,
            format: Format::default(),
            exit_code: false,
        }
    }
}

/// Returns the closest folder with the policy file: the current folder or one above it. The path is empty for the current folder, and if no
/// folder contains the policy.
fn root() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let holds_policy = |folder: &&Path| folder.join("generator/policy.toml").is_file();
    match here.ancestors().find(holds_policy) {
        Some(root) if root != here => root.to_owned(),
        _ => PathBuf::new(),
    }
}
