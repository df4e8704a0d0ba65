//! Reads the files of the project.

use crate::rust::Source;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Folders that contain no files of the project, in addition to folders that git ignores.
const BESIDE: [&str; 3] = ["vendor", ".git", "__pycache__"];

/// The files of the project, in a checkout or in an unpacked source archive.
pub struct Tree {
    root: PathBuf,
    /// Folders with built or downloaded files.
    ignored: Vec<String>,
    /// Texts of files, stored because several checks use them.
    texts: RefCell<BTreeMap<String, Rc<str>>>,
    sources: RefCell<BTreeMap<String, Rc<Source>>>,
}

impl Tree {
    /// Creates the tree with the root folder `root`.
    pub fn new(root: &Path) -> Self {
        let ignored = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
        let ignored = ignored
            .lines()
            .filter_map(|line| line.strip_prefix('/'))
            .map(str::to_owned);
        Self {
            root: root.to_owned(),
            ignored: ignored.collect(),
            texts: RefCell::default(),
            sources: RefCell::default(),
        }
    }

    /// Returns the tree that contains a folder. The root of the tree is the nearest folder with a pinned version of the registry.
    ///
    /// # Errors
    /// Returns a message if the folder is in no tree.
    pub fn around(folder: &Path) -> Result<Self, String> {
        let found = folder.ancestors().find(|root| root.join("registry/pin.toml").is_file());
        found
            .map(Self::new)
            .ok_or_else(|| format!("{}: not in the project", folder.display()))
    }

    /// Returns the root folder of the tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns `true` if the tree contains this file or folder.
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// Returns the text of a file. The path is relative to the tree.
    ///
    /// # Errors
    /// Returns a message if the file cannot be read.
    pub fn read(&self, path: &str) -> Result<Rc<str>, String> {
        if let Some(text) = self.texts.borrow().get(path) {
            return Ok(Rc::clone(text));
        }
        let bytes = fs::read(self.root.join(path)).map_err(|error| format!("{path}: {error}"))?;
        let text: Rc<str> = String::from_utf8_lossy(&bytes).into();
        self.texts.borrow_mut().insert(path.to_owned(), Rc::clone(&text));
        Ok(text)
    }

    /// Parses a file as Rust.
    ///
    /// # Errors
    /// Returns a message if the file cannot be read, or is not Rust.
    pub fn source(&self, path: &str) -> Result<Rc<Source>, String> {
        if let Some(source) = self.sources.borrow().get(path) {
            return Ok(Rc::clone(source));
        }
        let source = Rc::new(Source::new(path, &self.read(path)?)?);
        self.sources.borrow_mut().insert(path.to_owned(), Rc::clone(&source));
        Ok(source)
    }

    /// Returns the files in a folder and its subfolders, sorted by path. Built and downloaded files are excluded.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let mut found = Vec::new();
        self.walk(folder, &mut found);
        found.sort();
        found
    }

    fn walk(&self, folder: &str, found: &mut Vec<String>) {
        let Ok(entries) = fs::read_dir(self.root.join(folder)) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && (BESIDE.contains(&name.as_str()) || self.ignored.contains(&path)) => {}
                Ok(kind) if kind.is_dir() => self.walk(&path, found),
                Ok(kind) if kind.is_file() => found.push(path),
                _ => {}
            }
        }
    }

    /// Returns the documents: the root documents for users, and the pages of `docs/`.
    pub fn documents(&self) -> Vec<String> {
        let mut found = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
        found.retain(|path| self.has(path));
        found.extend(self.files("docs").into_iter().filter(|path| path.ends_with(".md")));
        found
    }

    /// Returns the documents in the folder of the root manifest.
    pub fn root_documents(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".md")).collect()
    }

    /// Parses a file as TOML.
    ///
    /// # Errors
    /// Returns a message if the file cannot be read, or is not TOML.
    pub fn toml(&self, path: &str) -> Result<toml::Table, String> {
        self.read(path)?.parse().map_err(|error| format!("{path}: {error}"))
    }

    /// Returns the folders of the crates of the workspace.
    ///
    /// # Errors
    /// Returns a message if the manifest cannot be read.
    pub fn crates(&self) -> Result<Vec<String>, String> {
        let manifest = self.toml("Cargo.toml")?;
        let members = manifest
            .get("workspace")
            .and_then(|it| it.get("members"))
            .and_then(toml::Value::as_array);
        let members = members.ok_or("Cargo.toml has no members")?;
        Ok(members
            .iter()
            .filter_map(toml::Value::as_str)
            .map(str::to_owned)
            .collect())
    }

    /// Returns the Rust files of the crates whose folders begin with `folder`, sorted.
    ///
    /// # Errors
    /// Returns a message if the manifest cannot be read.
    pub fn rust(&self, folder: &str) -> Result<Vec<String>, String> {
        let crates = self.crates()?;
        let wanted = crates.iter().filter(|path| format!("{path}/").starts_with(folder));
        let mut found: Vec<String> = wanted
            .flat_map(|path| self.files(path))
            .filter(|path| path.ends_with(".rs"))
            .collect();
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Returns the file of a module. `end` is the end of the file's path without `src`. For example, `manifest/driver.rs` can be in any
    /// crate.
    ///
    /// # Errors
    /// Returns a message if the folder contains no module with this path, or more than one.
    pub fn module(&self, folder: &str, end: &str) -> Result<String, String> {
        let files = self.rust(folder)?;
        let fits = |path: &&String| format!("/{}", path.replace("/src/", "/")).ends_with(&format!("/{end}"));
        let found: Vec<&String> = files.iter().filter(fits).collect();
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            _ => Err(format!("{} modules below {folder} end in {end}", found.len())),
        }
    }

    /// Returns the pinned version of the Vulkan header.
    ///
    /// # Errors
    /// Returns a message if no version is pinned.
    pub fn header(&self) -> Result<String, String> {
        let pin = self.toml("registry/pin.toml")?;
        let header = pin.get("header").and_then(toml::Value::as_str);
        header
            .map(str::to_owned)
            .ok_or_else(|| "registry/pin.toml has no header".to_owned())
    }
}
