//! Reads Cargo's data about the packages of the lock file.

use crate::tree::Tree;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Used parts of the output of `cargo metadata`.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    /// All packages.
    pub packages: Vec<Package>,
    resolve: Resolve,
}

/// A package.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// Identifier by which other packages refer to this package.
    pub id: String,
    /// Name of the package.
    pub name: String,
    /// Version of the package.
    pub version: String,
    /// Origin of the package, or `None` for packages of this project.
    pub source: Option<String>,
    license: Option<String>,
    /// Path of the package's `Cargo.toml`.
    pub manifest_path: String,
    /// Authors of the package.
    pub authors: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Package {
    /// Returns the licence expression of the package. A slash is the older form of `OR`.
    pub fn licence(&self) -> String {
        self.license.as_deref().unwrap_or("NOASSERTION").replace('/', " OR ")
    }
}

impl Metadata {
    /// Runs `cargo metadata`, without a network if possible.
    ///
    /// # Errors
    /// Returns a message if cargo fails.
    pub fn ask(tree: &Tree) -> Result<Self, String> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let ask = |more: &[&str]| {
            let arguments = [
                "metadata",
                "--format-version=1",
                "--locked",
                "--all-features",
                "--quiet",
            ];
            Command::new(&cargo)
                .args(arguments)
                .args(more)
                .current_dir(tree.root())
                .output()
        };
        let mut found = ask(&["--offline"]);
        if !found.as_ref().is_ok_and(|done| done.status.success()) {
            found = ask(&[]);
        }
        let done = found.map_err(|error| format!("{cargo}: {error}"))?;
        if !done.status.success() {
            return Err(format!("{cargo} metadata: {}", String::from_utf8_lossy(&done.stderr)));
        }
        serde_json::from_slice(&done.stdout).map_err(|error| format!("{cargo} metadata: {error}"))
    }

    /// Returns the packages that the package with the identifier `start` needs, directly or through other packages. Excludes packages that
    /// only tests need.
    pub fn closure<'a>(&'a self, start: &'a str) -> BTreeSet<&'a str> {
        let nodes: BTreeMap<&str, &Node> = self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![start]);
        while let Some(current) = waiting.pop() {
            if seen.insert(current) {
                let needed = nodes[current]
                    .deps
                    .iter()
                    .filter(|it| it.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev")));
                waiting.extend(needed.map(|dependency| dependency.pkg.as_str()));
            }
        }
        seen
    }
}
