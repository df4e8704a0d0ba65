//! The command line: a verb and options, all with defaults below the repository's root.

use crate::error::Error;
use std::path::{Path, PathBuf};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// XML to snapshot.
    Import,
    /// Snapshot and policy to output.
    Emit,
    /// Compare with what is on disk.
    Check,
    /// The parsed metadata as JSON.
    Dump,
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What to do.
    pub verb: Verb,
    /// The registry, as `vk.xml` and `video.xml`.
    pub xml: Option<(PathBuf, PathBuf)>,
    /// Folder of the snapshot.
    pub snapshot: PathBuf,
    /// The policy file.
    pub policy: PathBuf,
    /// Folder of the output.
    pub generated: PathBuf,
}

/// Printed after every complaint about the command line.
const USAGE: &str = "usage: vkgen import --vk-xml FILE --video-xml FILE [--snapshot DIR]
       vkgen emit  [--snapshot DIR] [--policy FILE] [--generated DIR]
       vkgen check [--snapshot DIR] [--policy FILE] [--generated DIR] [--vk-xml FILE --video-xml FILE]
       vkgen dump  [--snapshot DIR] [--policy FILE] [--vk-xml FILE --video-xml FILE]";

/// Parses arguments; paths that are not given lie below the repository's root.
pub fn parse(arguments: &[String]) -> Result<Options, Error> {
    let usage = |text: String| Error::Usage(format!("{text}\n{USAGE}"));
    let (verb, rest) = arguments.split_first().ok_or_else(|| usage("which verb?".to_owned()))?;
    let verb = match verb.as_str() {
        "import" => Verb::Import,
        "emit" => Verb::Emit,
        "check" => Verb::Check,
        "dump" => Verb::Dump,
        other => return Err(usage(format!("unknown verb {other:?}"))),
    };
    let [mut vk, mut video, mut snapshot, mut policy, mut generated] = [const { None::<PathBuf> }; 5];
    let mut rest = rest.iter();
    while let Some(option) = rest.next() {
        let place = match option.as_str() {
            "--vk-xml" => &mut vk,
            "--video-xml" => &mut video,
            "--snapshot" => &mut snapshot,
            "--policy" => &mut policy,
            "--generated" => &mut generated,
            other => return Err(usage(format!("unknown option {other:?}"))),
        };
        let value = rest.next().ok_or_else(|| usage(format!("{option} needs a value")))?;
        if place.replace(PathBuf::from(value)).is_some() {
            return Err(usage(format!("{option} is given twice")));
        }
    }
    let xml = match (vk, video) {
        (Some(vk), Some(video)) => Some((vk, video)),
        (None, None) if verb != Verb::Import => None,
        _ => return Err(usage("--vk-xml and --video-xml belong together".to_owned())),
    };
    let root = root();
    let below = |path: Option<PathBuf>, default: &str| path.unwrap_or_else(|| root.join(default));
    Ok(Options {
        verb,
        xml,
        snapshot: below(snapshot, "registry/snapshot"),
        policy: below(policy, "generator/policy.toml"),
        generated: below(generated, "generated"),
    })
}

/// The closest folder upwards that holds the policy; the current one if there is none.
fn root() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let holds_policy = |folder: &&Path| folder.join("generator/policy.toml").is_file();
    here.ancestors()
        .find(holds_policy)
        .map_or(PathBuf::new(), Path::to_owned)
}
