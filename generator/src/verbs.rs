//! Runs the subcommands. Each subcommand reads its inputs, and prints or writes its output.

use crate::command_line::{Format, Options, Verb};
use crate::emit::{self, File, Input};
use crate::error::Error;
use crate::output::{self, Wanted};
use crate::plan::{Plan, Problem};
use crate::policy::{Policy, PolicyFile};
use crate::text::counted;
use crate::{diff, dump, explain, input};
use std::io::Write;
use std::path::Path;
use vk_registry::model::{Level, Registry};
use vk_registry::snapshot;

/// Runs the subcommand of the command line.
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
    let changed = output::write(&options.snapshot, &wanted_snapshot(&files), |name| {
        let text = output::text(&options.snapshot, name);
        snapshot::FILES.contains(&name) && text.starts_with(snapshot::HEADING)
    })?;
    let (count, totals) = (files.len(), totals(&registry));
    print(&format!("{changed} of {count} snapshot files changed; {totals}\n"))
}

fn emit(options: &Options) -> Result<(), Error> {
    let (registry, inputs) = source(options)?;
    let files = generate(options, &registry, inputs)?;
    // If the manifest is missing, the generator does not regard any file in the folder as its own.
    let manifest = output::text(&options.generated, emit::MANIFEST);
    let listed = emit::listed(&manifest);
    let changed = output::write(&options.generated, &wanted(&files), |name| listed.contains(name))?;
    let (count, totals) = (files.len(), totals(&registry));
    print(&format!("{changed} of {count} files changed; {totals}\n"))
}

fn check(options: &Options) -> Result<(), Error> {
    let (registry, inputs) = source(options)?;
    let mut differences = Vec::new();
    // The snapshot never contains an overlay, so this comparison is possible only without overlays.
    if options.xml.is_some() && options.overlays.is_empty() {
        let files = snapshot::write(&registry);
        differences.extend(output::compare(&options.snapshot, &wanted_snapshot(&files))?);
    }
    let files = generate(options, &registry, inputs)?;
    differences.extend(output::compare(&options.generated, &wanted(&files))?);
    if differences.is_empty() {
        Ok(())
    } else {
        Err(Error::Differs(differences))
    }
}

fn print_dump(options: &Options) -> Result<(), Error> {
    let ((registry, _), rules) = (source(options)?, Rules::read(options)?);
    let mut text = dump::json(&rules.plan(options, &registry)?);
    text.push('\n');
    print(&text)
}

fn print_diff(options: &Options, old: &Path, new: &Path) -> Result<(), Error> {
    let rules = Rules::read(options)?;
    let (old, new) = (diff::side(old, &options.input)?, diff::side(new, &options.input)?);
    let report = diff::compare(&old, &new, &rules.policy);
    let render = match options.format {
        Format::Text => diff::text,
        Format::Json => diff::json,
        Format::Markdown => diff::markdown,
        Format::Html => diff::html,
    };
    print(&render(&report))?;
    match report.exit_code() {
        code if options.exit_code && code != 0 => Err(Error::Reported(code)),
        _ => Ok(()),
    }
}

fn print_explanation(options: &Options, name: &str) -> Result<(), Error> {
    let ((registry, _), rules) = (source(options)?, Rules::read(options)?);
    // The draft also contains the commands for which other subcommands fail, because maintainers ask about these commands.
    let (plan, _) = Plan::draft(&registry, &rules.policy);
    print(&explain::explain(options, &plan, &rules.files, name)?)
}

/// Prints the whole text to standard output. A full disk, or a reader that closed the pipe, is an error.
pub fn print(text: &str) -> Result<(), Error> {
    let mut output = std::io::stdout().lock();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| Error::file(Path::new("standard output"), &error))
}

/// Policy with the rows of overlays, and the texts of its files.
struct Rules {
    policy: Policy,
    files: Vec<PolicyFile>,
}

impl Rules {
    fn read(options: &Options) -> Result<Self, Error> {
        let (policy, files) = Policy::read(&options.policy, &options.overlay_policies)?;
        Ok(Self { policy, files })
    }

    /// Returns the plan, or the problems with their places.
    fn plan<'a>(&'a self, options: &Options, registry: &'a Registry) -> Result<Plan<'a>, Error> {
        let located = |problem: &Problem| problem.located(&self.files, |name| input::place(options, name));
        Plan::new(registry, &self.policy).map_err(|problems| Error::Policy(problems.iter().map(located).collect()))
    }
}

/// Returns all files of the output, the manifest included.
fn generate(options: &Options, registry: &Registry, mut inputs: Vec<Input>) -> Result<Vec<File>, Error> {
    let rules = Rules::read(options)?;
    let mut files = emit::all(&rules.plan(options, registry)?);
    let names = std::iter::once("generator/policy.toml".to_owned()).chain(rules.files.iter().skip(1).map(overlay_name));
    for (name, file) in names.zip(&rules.files) {
        inputs.push(Input {
            name,
            text: file.content()?,
        });
    }
    files.push(emit::manifest(registry.header, &inputs, &files));
    Ok(files)
}

/// Returns the name of an overlay's file for the manifest. The name does not depend on the file's folder.
fn overlay_name(file: &PolicyFile) -> String {
    let name = Path::new(&file.name).file_name().unwrap_or_default();
    format!("overlay/{}", name.to_string_lossy())
}

/// Returns the registry, and the inputs for the manifest. The registry comes from the XML with its overlays, or from the snapshot if the
/// command line names no XML. The inputs are the same in both cases if the snapshot is up to date.
fn source(options: &Options) -> Result<(Registry, Vec<Input>), Error> {
    let Some(registry) = from_xml(options)? else {
        return input::snapshot(&options.snapshot);
    };
    let mut inputs: Vec<Input> = snapshot::write(&registry)
        .into_iter()
        .map(|(name, text)| input::snapshot_input(name, text))
        .collect();
    for overlay in &options.overlays {
        inputs.push(input::overlay(overlay)?);
    }
    Ok((registry, inputs))
}

fn from_xml(options: &Options) -> Result<Option<Registry>, Error> {
    let xml = options.xml.as_ref();
    xml.map(|(vk, video)| input::xml(vk, &options.overlays, video))
        .transpose()
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

/// Returns the number of commands per level, and of commands that are in no table (GEN-82).
fn totals(registry: &Registry) -> String {
    let count = |level: Level| {
        registry
            .commands
            .values()
            .filter(|command| command.level == level)
            .count()
    };
    format!(
        "{}: {} global, {} instance, {} physical device, {} device; {} unlisted",
        counted(registry.commands.len(), "command", "commands"),
        count(Level::Global),
        count(Level::Instance),
        count(Level::PhysicalDevice),
        count(Level::Device),
        registry.unlisted_commands.len(),
    )
}
