//! The verbs, each from its inputs to its effect.

use crate::command_line::{Format, Options, Verb};
use crate::emit::{self, File, Input};
use crate::error::Error;
use crate::output::{self, Wanted};
use crate::plan::{Plan, Problem};
use crate::policy::Policy;
use crate::{diff, dump, explain, input};
use std::io::Write;
use vk_registry::model::{Level, Registry};
use vk_registry::snapshot;

/// Does what the command line asks for.
pub fn run(options: &Options) -> Result<(), Error> {
    match &options.verb {
        Verb::Import => import(options),
        Verb::Emit => emit(options),
        Verb::Check => check(options),
        Verb::Dump => print_dump(options),
        Verb::Diff { old, new } => print_diff(options, old, new),
        Verb::Explain { name } => print_explanation(options, name),
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
    let (registry, inputs) = input::snapshot(&options.snapshot)?;
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
    let (registry, inputs) = input::snapshot(&options.snapshot)?;
    let files = generate(options, &registry, inputs)?;
    differences.extend(output::compare(&options.generated, &wanted(&files))?);
    if differences.is_empty() {
        Ok(())
    } else {
        Err(Error::Differs(differences))
    }
}

fn print_dump(options: &Options) -> Result<(), Error> {
    let registry = known(options)?;
    let (policy, text) = Policy::read(&options.policy)?;
    let plan = Plan::new(&registry, &policy).map_err(|problems| located(options, &text, &problems))?;
    let mut text = dump::json(&plan);
    text.push('\n');
    print(&text);
    Ok(())
}

fn print_diff(options: &Options, old: &str, new: &str) -> Result<(), Error> {
    let (policy, _) = Policy::read(&options.policy)?;
    let (old, new) = (diff::side(old, &options.input)?, diff::side(new, &options.input)?);
    let report = diff::compare(&old, &new, &policy);
    let render = match options.format {
        Format::Text => diff::text,
        Format::Json => diff::json,
        Format::Markdown => diff::markdown,
        Format::Html => diff::html,
    };
    print(&render(&report));
    match report.exit_code() {
        code if options.exit_code && code != 0 => Err(Error::Reported(code)),
        _ => Ok(()),
    }
}

fn print_explanation(options: &Options, name: &str) -> Result<(), Error> {
    let registry = known(options)?;
    let (policy, text) = Policy::read(&options.policy)?;
    let plan = Plan::new(&registry, &policy).map_err(|problems| located(options, &text, &problems))?;
    print(&explain::explain(options, &plan, &text, name)?);
    Ok(())
}

/// A reader that closes the pipe early has what it wanted.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// The registry of the XML, or of the snapshot when no XML is named.
fn known(options: &Options) -> Result<Registry, Error> {
    match from_xml(options)? {
        Some(registry) => Ok(registry),
        None => Ok(input::snapshot(&options.snapshot)?.0),
    }
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
    let xml = options.xml.as_ref();
    xml.map(|(vk, video)| input::xml(vk, video)).transpose()
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
