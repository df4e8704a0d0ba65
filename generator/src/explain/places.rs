//! Finds the places of a name: lines of the emitted files, the hand-written bodies, the policy, the snapshot and the XML.

use crate::command_line::Options;
use crate::emit::{self, File};
use crate::error::Error;
use crate::input::XmlFile;
use crate::names;
use crate::plan::Plan;
use crate::policy::PolicyFile;
use std::fs;
use std::path::{Path, PathBuf};
use vk_registry::{Mention, mentions, snapshot};

/// Texts in which a name may occur.
pub(super) struct Places<'a> {
    options: &'a Options,
    policy: &'a [PolicyFile],
    emitted: Vec<File>,
    /// XML of the registry and its overlays.
    xml: Vec<(PathBuf, XmlFile)>,
}

impl<'a> Places<'a> {
    pub(super) fn new(options: &'a Options, plan: &Plan<'_>, policy: &'a [PolicyFile]) -> Result<Self, Error> {
        let vk = match &options.xml {
            Some((vk, _)) => vk.clone(),
            None => options.input.join("vk.xml"),
        };
        let mut xml = Vec::new();
        for path in [&vk].into_iter().filter(|vk| vk.is_file()).chain(&options.overlays) {
            xml.push((path.clone(), XmlFile::read(path)?));
        }
        Ok(Self {
            options,
            policy,
            emitted: emit::all(plan),
            xml,
        })
    }

    pub(super) fn has_xml(&self) -> bool {
        !self.xml.is_empty()
    }

    /// Lists the elements of the XML that mention the name.
    pub(super) fn mentions(&self, name: &str) -> Vec<String> {
        let in_file = |(path, xml): &(PathBuf, XmlFile)| {
            let found = xml
                .source()
                .map_or_else(|_| Vec::new(), |source| mentions(source, name).unwrap_or_default());
            let file = self.short(path);
            let show = |mention: &Mention| {
                let provider = mention
                    .provider
                    .as_ref()
                    .map_or(String::new(), |name| format!(" of {name}"));
                let Mention {
                    line, path, snippet, ..
                } = mention;
                [format!("{file}:{line}: {path}{provider}"), format!("    {snippet}")]
            };
            found.iter().flat_map(show).collect::<Vec<String>>()
        };
        self.xml.iter().flat_map(in_file).collect()
    }

    /// Lists the rows of the policy that contain the name.
    pub(super) fn policy(&self, name: &str) -> Vec<String> {
        let (quoted, key) = (format!("\"{name}\""), format!("{name} = "));
        let in_file = |policy: &PolicyFile| {
            let file = self.short(Path::new(&policy.name));
            let rows = matching(&policy.text, |line| line.contains(&quoted) || line.starts_with(&key));
            rows.map(|(number, line)| format!("{file}:{number}: {}", line.trim()))
                .collect::<Vec<String>>()
        };
        self.policy.iter().flat_map(in_file).collect()
    }

    /// Lists the records of the snapshot with this name.
    pub(super) fn snapshot(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        for file in snapshot::FILES {
            let path = self.options.snapshot.join(file);
            // If the generator read only XML, the snapshot can be missing. The list of places is then empty.
            let text = fs::read_to_string(&path).unwrap_or_default();
            let is_record = |line: &str| !line.starts_with(' ') && line.split(' ').nth(1) == Some(name);
            let records = matching(&text, is_record);
            found.extend(records.map(|(number, line)| format!("{}:{number}: {line}", self.short(&path))));
        }
        found
    }

    /// Finds the emitted function of this name in a folder of the output.
    pub(super) fn functions(&self, folder: &str, name: &str) -> Vec<String> {
        let start = format!(" fn {name}(");
        self.find(|path| path.starts_with(folder), |line| line.contains(&start))
    }

    /// Lists the slots in dispatch tables.
    pub(super) fn slots(&self, name: &str) -> Vec<String> {
        let start = format!("    {name}:");
        self.find(|path| path.starts_with("dispatch/"), |line| line.starts_with(&start))
    }

    /// Finds the row of the look-up table.
    pub(super) fn lookup_row(&self, name: &str) -> Vec<String> {
        let start = format!("    {name}: ");
        self.find(|path| path == "lookup.rs", |line| line.starts_with(&start))
    }

    fn find(&self, file: impl Fn(&str) -> bool, line: impl Fn(&str) -> bool) -> Vec<String> {
        let files = self.emitted.iter().filter(|emitted| file(&emitted.path));
        files
            .flat_map(|emitted| {
                let path = self.short(&self.options.generated.join(&emitted.path));
                matching(&emitted.text, &line)
                    .map(move |(number, _)| format!("{path}:{number}"))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Finds the hand-written body of a command: its call in emitted code, and its place in the loader's source.
    pub(super) fn body(&self, module: &str, command: &str) -> Vec<String> {
        let body = names::body(command).to_string();
        let mut found = vec![format!("crate::{module}::{body}")];
        let folder = self.options.root.join("loader/src");
        let text = fs::read_to_string(folder.join(module).join("mod.rs")).unwrap_or_default();
        let (home, name) = reexport(&text, &body).unwrap_or((module.to_owned(), body));
        // If a module re-exports all items of another module, its text does not contain the name of the body. The search then continues in
        // all files.
        for home in [&*home, ""] {
            if found.len() == 1 {
                found.extend(self.definitions(&folder, home, module, &name, command));
            }
        }
        found
    }

    /// Finds a function below a folder of the loader's source. The definition is a function, or a row of a macro that defines the function.
    /// A trampoline and a terminator may have bodies of the same name, so the search skips files that are named after the other role.
    fn definitions(&self, folder: &Path, home: &str, module: &str, name: &str, command: &str) -> Vec<String> {
        let other = if module == "entry" { "terminator" } else { "entry" };
        let function = format!("fn {name}(");
        let rows = [format!("{name}: {command}, "), format!("{name}, ")];
        let is_definition = |line: &str| {
            let line = line.trim_start();
            let item = line.strip_prefix("pub(crate) ").unwrap_or(line);
            let item = item.strip_prefix("unsafe ").unwrap_or(item);
            item.starts_with(&function)
                || rows
                    .iter()
                    .any(|start| line.starts_with(start) && line.contains(command))
        };
        let mut found = Vec::new();
        for path in sources(folder) {
            let below = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
            if below.starts_with(home) && !below.ends_with(other) {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let places = matching(&text, is_definition);
                found.extend(places.map(|(number, _)| format!("{}:{number}", self.short(&path))));
            }
        }
        found
    }

    /// Returns the path relative to the repository's root, if the file is below that root.
    fn short(&self, path: &Path) -> String {
        path.strip_prefix(&self.options.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

/// Finds the statement `use crate::home::{name as body};` by which a module imports a body. Returns the path of the other module, and the
/// name of the body there.
fn reexport(text: &str, body: &str) -> Option<(String, String)> {
    let statements = text.split(';').filter_map(|it| it.split_once("use crate::"));
    for (_, statement) in statements {
        let (home, names) = statement.split_once('{').or_else(|| statement.rsplit_once("::"))?;
        for name in names.trim_end_matches('}').split(',').map(str::trim) {
            let (name, alias) = name.split_once(" as ").unwrap_or((name, name));
            if alias == body {
                return Some((home.trim_end_matches(':').replace("::", "/"), name.to_owned()));
            }
        }
    }
    None
}

/// Iterates over the lines that `wanted` accepts, with their numbers from 1.
fn matching(text: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().filter(move |(_, line)| wanted(line));
    numbered.map(|(index, line)| (index + 1, line))
}

/// Returns the Rust files below a folder, sorted. The list is empty if the folder does not exist.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::reexport;

    #[test]
    fn a_body_is_followed_to_its_home() {
        let text = "//! Prose; with a semicolon.\npub use crate::a::b::{\n    one, two as three,\n};\npub use crate::c::four;\n";
        let found = |body| reexport(text, body);
        assert_eq!(found("one"), Some(("a/b".to_owned(), "one".to_owned())));
        assert_eq!(found("three"), Some(("a/b".to_owned(), "two".to_owned())));
        assert_eq!(found("four"), Some(("c".to_owned(), "four".to_owned())));
        assert_eq!(found("two"), None);
    }
}
