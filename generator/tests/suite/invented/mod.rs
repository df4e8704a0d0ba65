//! Tests with unpublished headers (GEN-75): each of a hundred invented extensions is either accepted or stops the run. For an accepted
//! extension, the tables must contain the rows that follow from the XML alone. An error names the commands that need a decision.
//!
//! `VK_INVENTED=1000` tries a thousand inventions, each in a separate registry. `VK_INVENTED_SEED=7` selects another seed, and thus other
//! inventions. `VK_INVENTED_BUILD=1` builds the library with all accepted inventions, and calls each invented command through it on the
//! mock driver.

mod build;
mod corners;
mod invent;
mod oracle;
mod random;

use crate::common::{committed_policy, policy, skip, xml_folder};
use invent::{Invention, Material, invent};
use oracle::{Facts, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use vk_registry::model::Registry;
use vk_registry::{Source, load};
use vkgen::emit::{self, File};
use vkgen::plan::{Plan, Problem};
use vkgen::policy::Policy;

/// Number of inventions in a normal run, number of inventions in one registry, and the seed.
const COUNT: usize = 100;
const TOGETHER: usize = 10;
const SEED: u64 = 29;
/// Upper bound on the invented instance extensions in one build. A set has 64 bits, and the registry uses more than forty of them.
const INSTANCE_EXTENSIONS: usize = 12;

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// Registry to which inventions are added, and the data for judging the result.
struct Ground {
    text: String,
    video: String,
    facts: Facts,
    policy: Policy,
    /// Commands whose policy row has keys in addition to the keys of a review: `commands`, `reviewed` and `reason`.
    treated: BTreeSet<String>,
}

impl Ground {
    fn read() -> Option<Self> {
        let read = |name| fs::read_to_string(xml_folder().join(name)).ok();
        let (Some(text), Some(video)) = (read("vk.xml"), read("video.xml")) else {
            skip("no vk.xml to invent extensions for; make registry fetches it");
            return None;
        };
        Some(Self {
            facts: Facts::read(&text),
            policy: policy(&committed_policy()),
            treated: treated(),
            text,
            video,
        })
    }

    fn registry(&self, text: &str) -> Registry {
        let source = |name, text| Source { name, text };
        load(source("vk.xml", text), source("video.xml", &self.video)).unwrap_or_else(|found| panic!("{found:#?}"))
    }

    /// Compares the plan of a registry that contains `inventions` with the oracle's results. Returns `true` for each accepted invention.
    fn judge(&self, inventions: &[Invention]) -> Vec<bool> {
        let text = invent::with(&self.text, inventions);
        let facts = Facts::read(&text);
        let expected = facts.stopping(&self.facts, &self.treated);
        let registry = self.registry(&text);
        let problems = Plan::draft(&registry, &self.policy).1;
        let found: BTreeSet<String> = problems.iter().map(|problem| problem.name.clone()).collect();
        let numbers: Vec<usize> = inventions.iter().map(|it| it.number).collect();
        assert_eq!(
            found,
            expected,
            "inventions {numbers:?}: {problems:#?}\n{}",
            shown(inventions)
        );
        let told: Vec<String> = problems.iter().map(told).collect();
        // Each message names the invention and has lines for the policy.
        for (problem, told) in problems.iter().zip(&told) {
            assert!(
                inventions.iter().any(|it| told.contains(&it.tag())),
                "which invention? {told}"
            );
            assert!(
                problem.help("policy.toml").is_some() || told.contains("check a parameter of that name as"),
                "what to write? {told}"
            );
        }
        inventions
            .iter()
            .map(|it| !told.iter().any(|told| told.contains(&it.tag())))
            .collect()
    }
}

/// Returns the printed text of a problem, with its advice.
fn told(problem: &Problem) -> String {
    let (help, lines) = problem.help("policy.toml").unwrap_or_default();
    format!("{}: {}; {help}\n{}", problem.name, problem.text, lines.join("\n"))
}

fn shown(inventions: &[Invention]) -> String {
    inventions
        .iter()
        .map(|it| format!("{}{}{}{}", it.types, it.commands, it.features, it.extension()))
        .collect()
}

/// Returns the commands in policy rows that have a key other than `commands`, `reviewed` and `reason`.
fn treated() -> BTreeSet<String> {
    let policy: toml::Table = committed_policy().parse().expect("TOML");
    let rows = policy["treatment"].as_array().expect("rows").iter();
    let says_more = |row: &&toml::Value| {
        let keys = row.as_table().expect("a row").keys();
        keys.into_iter()
            .any(|key| !["commands", "reviewed", "reason"].contains(&key.as_str()))
    };
    let commands = rows
        .filter(says_more)
        .flat_map(|row| row["commands"].as_array().expect("a list"));
    commands.map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// Compares the files that were emitted for the inventions with the rows that follow from the XML alone.
fn check_rows(files: &[File], rows: &BTreeMap<String, Row>) {
    let text = |path: &str| {
        &files
            .iter()
            .find(|file| file.path == path)
            .unwrap_or_else(|| panic!("no {path}"))
            .text
    };
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lookup = words(text("lookup.rs"));
    for (name, row) in rows {
        let start = format!("; {name}: {} {}, {name} as ", row.level, row.first);
        let (_, rest) = lookup.split_once(&start).unwrap_or_else(|| panic!("no row `{start}`"));
        let rest = rest.split(';').next().expect("a row");
        let is_device = row.level == "Device";
        let expected = [
            (", core(1, 4)", row.is_core),
            (", core(", row.is_core),
            (", gate(", false),
            (", terminator(", !is_device),
            (", slot(device)", is_device),
            (", slot(instance)", !is_device),
            (", driver_slot(driver)", !is_device),
            (", platform(", row.platform.is_some()),
            (", platform(windows)", row.platform.as_deref() == Some("win32")),
            (
                ", platform(any())",
                row.platform.as_deref().is_some_and(|it| it.starts_with("stage")),
            ),
        ];
        for (part, holds) in expected {
            assert_eq!(rest.contains(part), holds, "{part} in `{name}: {rest}` by {row:?}");
        }
        let table = if is_device {
            "dispatch/device.rs"
        } else {
            "dispatch/instance.rs"
        };
        assert!(
            text(table).contains(&format!("\n    {name}: ")),
            "{name} has no slot in {table}"
        );
        let exported = text("exports/linux.txt").lines().any(|line| line == name);
        assert_eq!(exported, row.is_core, "{name} in exports/linux.txt");
        let path = format!("trampoline/{}.rs", module(&row.handle));
        let (_, function) = text(&path)
            .split_once(&format!(" fn {name}("))
            .unwrap_or_else(|| panic!("no {name} in {path}"));
        let params = function.split(')').next().expect("parameters");
        assert_eq!(params.matches(": ").count(), row.params, "{name}({params})");
    }
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path));
    }
}

/// Returns the path of the file with the trampolines of a handle.
fn module(handle: &str) -> &str {
    match handle {
        "VkDevice" => "device",
        "VkQueue" => "queue",
        "VkCommandBuffer" => "command_buffer",
        "VkPhysicalDevice" => "physical_device",
        other => panic!("{other} is no handle whose commands are taken"),
    }
}

/// GEN-75, GEN-71, GEN-74: for an invented extension, the output is correct, or the generator refuses the extension.
#[test]
fn gen_75_no_invented_extension_is_silently_wrong() {
    let Some(ground) = Ground::read() else { return };
    let (asked, seed) = (variable("VK_INVENTED"), variable("VK_INVENTED_SEED").unwrap_or(SEED));
    let count = asked.map_or(COUNT, |count| usize::try_from(count).expect("a count"));
    let together = if asked.is_some() { 1 } else { TOGETHER };
    let material = Material {
        bases: ground.facts.bases(),
        commands: ground.facts.commands(),
    };
    let inventions: Vec<Invention> = (0..count).map(|number| invent(number, seed, &material)).collect();
    let groups: Vec<&[Invention]> = inventions.chunks(together).collect();
    let (next, taken) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        let work = || {
            while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                let verdicts = ground.judge(group);
                let good = group
                    .iter()
                    .zip(verdicts)
                    .filter(|(_, taken)| *taken)
                    .map(|(it, _)| it.number);
                taken.lock().expect("no worker panicked").extend(good);
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        (0..workers).for_each(|_| drop(scope.spawn(work)));
    });
    let taken = taken.into_inner().expect("no worker panicked");
    println!(
        "seed {seed}: {count} inventions, {} taken, {} stopped",
        taken.len(),
        count - taken.len()
    );
    assert!(
        taken.len() > count / 10 && taken.len() < count * 9 / 10,
        "they do not try both outcomes"
    );
    let good = inventions.iter().filter(|it| taken.contains(&it.number));
    let (instance, device): (Vec<_>, Vec<_>) = good.cloned().partition(Invention::is_of_instance);
    let taken: Vec<Invention> = device
        .into_iter()
        .chain(instance.into_iter().take(INSTANCE_EXTENSIONS))
        .collect();
    let text = invent::with(&ground.text, &taken);
    let rows = Facts::read(&text).rows(&ground.facts);
    let registry = ground.registry(&text);
    let plan = Plan::new(&registry, &ground.policy).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let files = emit::all(&plan);
    check_rows(&files, &rows);
    println!(
        "{} commands of {} inventions have the rows that the XML asks for",
        rows.len(),
        taken.len()
    );
    if variable("VK_INVENTED_BUILD").is_some() {
        build::build_and_call(&files, &rows);
    }
}
