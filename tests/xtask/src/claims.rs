//! Checks claims of documents about all code: the length of files and functions, and the only modules that can use a name. `claims.toml`
//! contains the limits and the exceptions.

use crate::rust::{Source, attributes, is_for_tests};
use crate::tree::Tree;
use serde::Deserialize;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, Item, ItemFn, ItemUse, Macro, Path, Signature, TraitItemFn, UseTree};

/// Path of the file with the claims.
const FILE: &str = "tests/xtask/claims.toml";

/// Contents of `claims.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Folders of the crates to examine. Code that exists only in tests is excluded.
    within: Vec<String>,
    /// Maximum number of lines of a function.
    function_lines: usize,
    /// Maximum number of lines of a file of the whole project, tests included.
    file_lines: usize,
    /// Ends of the names of files that the maximum is for.
    file_ends: Vec<String>,
    /// Parts of the paths of files that a program writes.
    written: Vec<String>,
    /// Functions that may be longer than the limit. An entry consists of the end of a file's path without `src`, two colons, and the
    /// function's name.
    long_functions: BTreeSet<String>,
    /// Files that may be longer than the limit, by the ends of their paths.
    long_files: BTreeSet<String>,
    #[serde(default)]
    only: Vec<Only>,
}

/// A claim that only a few files contain a name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Only {
    /// Text of the claim.
    claim: String,
    /// Beginnings of the paths, and names of the macros, that the claim restricts.
    names: Vec<String>,
    /// Files that can use the names: the ends of their paths, or the beginnings of folders.
    files: BTreeSet<String>,
    /// Folder of the files to examine.
    within: String,
}

/// Facts about a file that the claims need.
#[derive(Default)]
struct Facts {
    /// Name and number of lines of each function.
    functions: Vec<(String, usize)>,
    /// Paths that the code in the file contains.
    paths: BTreeSet<String>,
}

/// Returns a line for each false claim, and for each unused exception.
///
/// # Errors
/// Returns a message if the claims or a source cannot be read.
pub fn problems(tree: &Tree) -> Result<Vec<String>, String> {
    let claims: Claims = toml::from_str(&tree.read(FILE)?).map_err(|error| format!("{FILE}: {error}"))?;
    let mut files = Vec::new();
    for folder in &claims.within {
        for path in tree.rust(folder)?.into_iter().filter(|path| !is_test(path)) {
            let facts = facts(&*tree.source(&path)?);
            files.push((path, facts));
        }
    }
    let mut lengths = Vec::new();
    for path in tree.files("").into_iter().filter(|path| claims.is_limited(path)) {
        let lines = tree.read(&path)?.lines().count();
        lengths.push((path, lines));
    }
    Ok(claims.judged(&files, &lengths))
}

/// Returns `true` if a file exists only for tests.
fn is_test(path: &str) -> bool {
    ["/tests/", "/testing/", "/golden/"]
        .iter()
        .any(|part| path.contains(part))
        || path.ends_with("tests.rs")
}

impl Claims {
    /// Returns `true` if the maximum number of lines of files is for this file.
    fn is_limited(&self, path: &str) -> bool {
        self.file_ends.iter().any(|end| path.ends_with(end)) && !self.written.iter().any(|part| path.contains(part))
    }

    /// Returns the false claims and unused exceptions. `lengths` contains the number of lines of each file.
    fn judged(&self, files: &[(String, Facts)], lengths: &[(String, usize)]) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut needed = BTreeSet::new();
        let mut judge = |path: &str, count: usize, most: usize, list: &BTreeSet<String>, function: &str| {
            if count <= most {
                return;
            }
            let suffix = if function.is_empty() {
                String::new()
            } else {
                format!("::{function}")
            };
            let whole = format!("/{}{suffix}", path.replace("/src/", "/"));
            match list.iter().find(|end| whole.ends_with(&format!("/{end}"))) {
                Some(end) => drop(needed.insert(end.clone())),
                None => wrong.push(format!(
                    "{path}{suffix} has {count} lines, and {most} are promised: split it, or list it in {FILE}"
                )),
            }
        };
        for (path, lines) in lengths {
            judge(path, *lines, self.file_lines, &self.long_files, "");
        }
        for (path, facts) in files {
            for (name, lines) in &facts.functions {
                judge(path, *lines, self.function_lines, &self.long_functions, name);
            }
        }
        for (path, facts) in files {
            let short = path.replace("/src/", "/");
            for only in self.only.iter().filter(|only| path.starts_with(&only.within)) {
                let Some(name) = facts.paths.iter().find(|path| only.is_about(path)) else {
                    continue;
                };
                match only
                    .files
                    .iter()
                    .find(|file| path.starts_with(*file) || format!("/{short}").ends_with(&format!("/{file}")))
                {
                    Some(file) => drop(needed.insert(format!("{}: {file}", only.claim))),
                    None => wrong.push(format!("{path} names {name}; {FILE} says: {}", only.claim)),
                }
            }
        }
        let listed = self
            .only
            .iter()
            .flat_map(|only| only.files.iter().map(|file| format!("{}: {file}", only.claim)));
        let listed = listed.chain(self.long_functions.iter().chain(&self.long_files).cloned());
        wrong.extend(
            listed
                .filter(|row| !needed.contains(row))
                .map(|row| format!("{FILE} has an exception that nothing needs: {row}")),
        );
        wrong
    }
}

impl Only {
    fn is_about(&self, path: &str) -> bool {
        self.names.iter().any(|name| {
            path.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
    }
}

fn facts(source: &Source) -> Facts {
    let mut facts = Facts::default();
    facts.visit_file(&source.file);
    facts
}

impl Facts {
    fn function(&mut self, signature: &Signature, block: &Block) {
        let lines = block.span().end().line - signature.span().start().line + 1;
        self.functions.push((signature.ident.to_string(), lines));
    }

    fn imports(&mut self, before: &str, tree: &UseTree) {
        let with = |name: &dyn ToString| {
            if before.is_empty() {
                name.to_string()
            } else {
                format!("{before}::{}", name.to_string())
            }
        };
        match tree {
            UseTree::Path(path) => self.imports(&with(&path.ident), &path.tree),
            UseTree::Name(name) => drop(self.paths.insert(with(&name.ident))),
            UseTree::Rename(name) => drop(self.paths.insert(with(&name.ident))),
            UseTree::Glob(_) => drop(self.paths.insert(before.to_owned())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.imports(before, tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Facts {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.imports("", &item.tree);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.paths.insert(words.join("::"));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIMS: &str = "\
within = [\"loader/\"]
function_lines = 2
file_lines = 5
file_ends = [\".rs\", \".sh\"]
written = [\"generated/\"]
long_functions = []
long_files = []
only = [{ claim = \"env/ alone reads it\", names = [\"os::environment\"], files = [\"env/one.rs\"], within = \"loader/\" }]
";

    fn judged(claims: &str, path: &str, text: &str) -> Vec<String> {
        let claims: Claims = toml::from_str(claims).expect("claims");
        let source = Source::new(path, text).expect("Rust");
        let lengths = if claims.is_limited(path) {
            vec![(path.to_owned(), text.lines().count())]
        } else {
            Vec::new()
        };
        let mut found = claims.judged(&[(path.to_owned(), facts(&source))], &lengths);
        found.retain(|line| !line.contains("nothing needs: env/ alone"));
        found
    }

    #[test]
    fn what_is_too_long_is_told_unless_it_is_listed() {
        let text = "fn long() {\n    one();\n}\n#[cfg(test)]\nmod tests { fn f() {} }";
        let lines = judged(CLAIMS, "loader/src/a.rs", text);
        assert!(
            lines.len() == 1 && lines[0].contains("a.rs::long has 3 lines"),
            "{lines:?}"
        );
        let listed = CLAIMS.replace("long_functions = []", "long_functions = [\"a.rs::long\"]");
        assert_eq!(judged(&listed, "loader/src/a.rs", text), [""; 0]);
        let lines = judged(&listed, "loader/src/a.rs", "fn long() {}\n");
        assert!(
            lines.len() == 1 && lines[0].contains("nothing needs: a.rs::long"),
            "{lines:?}"
        );
    }

    #[test]
    fn a_long_file_is_told_unless_it_is_listed_or_written_by_a_program() {
        let text = "//\n//\n//\n//\n//\n//\n";
        for path in ["loader/src/a.rs", "tests/tests/a.rs", "make/a.sh"] {
            let lines = judged(CLAIMS, path, text);
            let expected = format!("{path} has 6 lines");
            assert!(lines.len() == 1 && lines[0].contains(&expected), "{lines:?}");
            let end = path.rsplit('/').next().expect("a name");
            let listed = CLAIMS.replace("long_files = []", &format!("long_files = [\"{end}\"]"));
            assert_eq!(judged(&listed, path, text), [""; 0]);
            let lines = judged(&listed, path, "//\n");
            assert!(
                lines.len() == 1 && lines[0].contains(&format!("nothing needs: {end}")),
                "{lines:?}"
            );
        }
        for path in ["generated/a.rs", "docs/a.md"] {
            assert_eq!(judged(CLAIMS, path, text), [""; 0]);
        }
    }

    #[test]
    fn what_few_may_name_is_found_in_imports_and_paths() {
        for text in [
            "use os::{environment::x, File};",
            "fn f() { os::environment::x() }",
            "use os::environment as e;",
        ] {
            let lines = judged(CLAIMS, "loader/src/a.rs", text);
            assert!(
                lines.len() == 1 && lines[0].contains("env/ alone reads it"),
                "{text}: {lines:?}"
            );
            assert_eq!(judged(CLAIMS, "loader/src/env/one.rs", text), [""; 0]);
        }
        assert_eq!(judged(CLAIMS, "loader/src/a.rs", "use os::environments;"), [""; 0]);
    }
}
