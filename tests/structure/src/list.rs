//! Compares the list of allowed cycles with the sources.

use crate::arrows::{Arrows, arrows};
use crate::graph::{Graph, circles};
use crate::source::modules;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// The contents of `cycles.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Crates to check.
    #[serde(rename = "crate")]
    crates: Vec<Crate>,
    /// Allowed cycles of imports.
    #[serde(default, rename = "cycle")]
    cycles: Vec<Cycle>,
}

/// A crate to check.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Crate {
    name: String,
    /// Root file of the crate, relative to the root of the repository.
    root: String,
    modules: Modules,
    /// Modules that the check ignores, with all modules that they contain.
    #[serde(default)]
    outside: Vec<String>,
}

/// Definition of a node in the graph of imports.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Modules {
    /// Each file is a node.
    File,
    /// Each declaration of the root is a node, with all modules that this declaration contains.
    Top,
}

/// An allowed cycle of imports.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cycle {
    #[serde(rename = "crate")]
    name: String,
    modules: BTreeSet<String>,
    reason: String,
}

/// Compares the list `text` with the sources that `read` returns. Returns a line for each difference.
///
/// # Errors
/// Returns a message if the list or a source cannot be read.
pub fn differences(text: &str, read: &dyn Fn(&Path) -> Option<String>) -> Result<Vec<String>, String> {
    let list: List = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for cycle in &list.cycles {
        if !list.crates.iter().any(|it| it.name == cycle.name) {
            found.push(format!(
                "the list has a circle of {}, which is no crate of the list",
                cycle.name
            ));
        }
        if cycle.reason.trim().is_empty() {
            found.push(format!(
                "{}: the circle of {} has no reason",
                cycle.name,
                join(&cycle.modules)
            ));
        }
    }
    for row in &list.crates {
        let known: Vec<&BTreeSet<String>> = list
            .cycles
            .iter()
            .filter(|cycle| cycle.name == row.name)
            .map(|cycle| &cycle.modules)
            .collect();
        let arrows = arrows(&modules(Path::new(&row.root), read)?, &|path| row.node(path));
        let circles = circles(&graph(&arrows));
        for circle in circles.iter().filter(|circle| !known.contains(circle)) {
            found.push(format!(
                "{}: a circle that the list lacks: {}\n{}",
                row.name,
                join(circle),
                ties(&arrows, circle)
            ));
        }
        for cycle in known.into_iter().filter(|cycle| !circles.contains(cycle)) {
            let now: Vec<String> = circles.iter().filter(|it| !it.is_disjoint(cycle)).map(join).collect();
            let now = if now.is_empty() {
                "none".to_owned()
            } else {
                now.join("; ")
            };
            found.push(format!(
                "{}: the list has a circle of {}; what is left of it: {now}",
                row.name,
                join(cycle)
            ));
        }
    }
    Ok(found)
}

impl Crate {
    /// Returns the name of the node to which a path belongs, or `None` if the check ignores the path.
    fn node(&self, path: &[String]) -> Option<String> {
        let length = match self.modules {
            Modules::File => path.len(),
            Modules::Top => path.len().min(1),
        };
        let is_outside = path.first().is_some_and(|first| self.outside.contains(first));
        (!is_outside).then(|| match length {
            0 => "crate".to_owned(),
            length => path[..length].join("::"),
        })
    }
}

fn graph(arrows: &Arrows) -> Graph {
    let mut graph = Graph::new();
    for (from, to) in arrows.keys() {
        graph.entry(from.clone()).or_default().insert(to.clone());
    }
    graph
}

/// Returns the uses between the modules of a cycle as text: the files, and the names that each file uses from each module.
fn ties(arrows: &Arrows, circle: &BTreeSet<String>) -> String {
    let inside = arrows
        .iter()
        .filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
    let lines = inside.flat_map(|((_, to), arrow)| {
        arrow
            .files
            .iter()
            .map(move |(file, names)| format!("    {} -> {to}: {}", file.display(), join(names)))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn join(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
