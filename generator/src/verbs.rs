//! The verbs, each from its inputs to its effect.

use crate::command_line::{Options, Verb};
use crate::dump;
use crate::emit::{self, File, Input};
use crate::error::Error;
use crate::output::{self, Wanted};
use crate::plan::{Plan, Problem};
use crate::policy::Policy;
use std::fs;
use std::io::Write;
use std::path::Path;
use vk_registry::model::{Level, Registry};
use vk_registry::{Source, snapshot};

/// Does what the command line asks for.
pub fn run(options: &Options) -> Result<(), Error> {
    match options.verb {
        Verb::Import => import(options),
        Verb::Emit => emit(options),
        Verb::Check => check(options),
        Verb::Dump => print_dump(options),
    }
}

fn import(options: &Options) -> Result<(), Error> {
    let registry = from_xml(options)?.ok_or_else(|| Error::Usage("import needs the XML".to_owned()))?;
    let files = snapshot::write(&registry);
    let changed = output::write(&options.snapshot, &wanted_snapshot(&files))?;
    println!(
        "{changed} of {} snapshot files changed; {}",
        files.len(),
        totals(&registry)
    );
    Ok(())
}

fn emit(options: &Options) -> Result<(), Error> {
    let (registry, inputs) = from_snapshot(&options.snapshot)?;
    let files = generate(options, &registry, inputs)?;
    let changed = output::write(&options.generated, &wanted(&files))?;
    println!("{changed} of {} files changed; {}", files.len(), totals(&registry));
    Ok(())
}

fn check(options: &Options) -> Result<(), Error> {
    let mut differences = Vec::new();
    if let Some(registry) = from_xml(options)? {
        let files = snapshot::write(&registry);
        differences.extend(output::compare(&options.snapshot, &wanted_snapshot(&files))?);
    }
    let (registry, inputs) = from_snapshot(&options.snapshot)?;
    let files = generate(options, &registry, inputs)?;
    differences.extend(output::compare(&options.generated, &wanted(&files))?);
    if differences.is_empty() {
        Ok(())
    } else {
        Err(Error::Differs(differences))
    }
}

fn print_dump(options: &Options) -> Result<(), Error> {
    let registry = match from_xml(options)? {
        Some(registry) => registry,
        None => from_snapshot(&options.snapshot)?.0,
    };
    let (policy, text) = Policy::read(&options.policy)?;
    let plan = Plan::new(&registry, &policy).map_err(|problems| located(options, &text, &problems))?;
    let mut text = dump::json(&plan);
    text.push('\n');
    // A reader that closes the pipe early has what it wanted.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

/// All files of the output, the manifest included.
fn generate(options: &Options, registry: &Registry, mut inputs: Vec<Input>) -> Result<Vec<File>, Error> {
    let (policy, text) = Policy::read(&options.policy)?;
    let plan = Plan::new(registry, &policy).map_err(|problems| located(options, &text, &problems))?;
    let mut files = emit::all(&plan)?;
    let name = "generator/policy.toml".to_owned();
    inputs.push(Input { name, text });
    files.push(emit::manifest(&inputs, &files));
    Ok(files)
}

fn located(options: &Options, policy: &str, problems: &[Problem]) -> Error {
    let file = options.policy.display().to_string();
    Error::Policy(problems.iter().map(|problem| problem.located(&file, policy)).collect())
}

fn from_xml(options: &Options) -> Result<Option<Registry>, Error> {
    let Some((vk, video)) = &options.xml else {
        return Ok(None);
    };
    let read = |path: &Path| fs::read(path).map_err(|error| Error::file(path, &error));
    let (vk_bytes, video_bytes) = (read(vk)?, read(video)?);
    let (vk_name, video_name) = (vk.display().to_string(), video.display().to_string());
    let source =
        |name, bytes| Source::from_bytes(name, bytes).map_err(|error| Error::Registry(vec![error.to_string()]));
    let registry = vk_registry::load(source(&vk_name, &vk_bytes)?, source(&video_name, &video_bytes)?);
    let lines = |errors: Vec<vk_registry::Diagnostic>| errors.iter().map(ToString::to_string).collect();
    registry.map(Some).map_err(|errors| Error::Registry(lines(errors)))
}

fn from_snapshot(folder: &Path) -> Result<(Registry, Vec<Input>), Error> {
    let mut files = Vec::new();
    for name in snapshot::FILES {
        let path = folder.join(name);
        let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, &error))?;
        files.push((name, text));
    }
    let registry =
        snapshot::read(&files).map_err(|error| Error::Registry(vec![format!("{}/{error}", folder.display())]))?;
    let input = |(name, text): (&str, String)| Input {
        name: format!("registry/snapshot/{name}"),
        text,
    };
    Ok((registry, files.into_iter().map(input).collect()))
}

fn wanted(files: &[File]) -> Vec<Wanted<'_>> {
    files
        .iter()
        .map(|file| Wanted {
            path: &file.path,
            text: &file.text,
        })
        .collect()
}

fn wanted_snapshot<'a>(files: &'a [(&'static str, String)]) -> Vec<Wanted<'a>> {
    files.iter().map(|(path, text)| Wanted { path, text }).collect()
}

/// Totals per level and of what reaches no table (GEN-82).
fn totals(registry: &Registry) -> String {
    let count = |level: Level| {
        registry
            .commands
            .values()
            .filter(|command| command.level == level)
            .count()
    };
    format!(
        "{} commands: {} global, {} instance, {} physical device, {} device; {} unlisted",
        registry.commands.len(),
        count(Level::Global),
        count(Level::Instance),
        count(Level::PhysicalDevice),
        count(Level::Device),
        registry.unlisted_commands.len(),
    )
}
