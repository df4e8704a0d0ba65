//! Writes paragraphs of `debian/copyright` for the crates of an unpacked source archive.
//!
//! If a licence of this project satisfies the choice that a crate offers, the paragraph names only such licences. Everybody can distribute
//! the archive under the licences of this project. For other licences, the texts come from the crates that contain them. The output
//! contains all crates of the lock file, also crates that no feature uses. A licence that `deny.toml` does not allow is an error.

use crate::metadata::{Metadata, Package};
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Licences of the project, and Debian's names for them.
const COMMON: [(&str, &str); 2] = [("Apache-2.0", "Apache-2.0"), ("MIT", "Expat")];

/// Licence of crates that no feature uses. cargo-deny does not check these crates. The archive contains them, because it contains all
/// crates of `Cargo.lock`.
const ARCHIVED: &str = "MIT-0";

/// Prints the paragraphs of `debian/copyright`.
///
/// # Errors
/// Returns a message if a licence is not allowed, cargo fails, or a file cannot be read.
pub fn print(tree: &Tree) -> Result<(), String> {
    let rules = tree.toml("deny.toml")?;
    let (mut groups, mut texts) = (BTreeMap::new(), BTreeMap::new());
    for package in Metadata::ask(tree)?
        .packages
        .iter()
        .filter(|package| package.source.is_some())
    {
        if !satisfied(&package.licence(), &allowed(&rules, &package.name)) {
            return Err(format!(
                "{} {}: deny.toml does not allow its licence, {}",
                package.name,
                package.version,
                package.licence()
            ));
        }
        let folder = Path::new(&package.manifest_path).parent().unwrap_or(Path::new("."));
        let licence = chosen(&package.licence());
        let place = format!("vendor/{}/*", folder.file_name().unwrap_or_default().to_string_lossy());
        for name in licence.split(" and ") {
            let has_text = name.split(' ').any(|word| word == "or") || COMMON.iter().any(|(_, debian)| *debian == name);
            if let Some(file) = licence_file(folder, licence.contains("and")).filter(|_| !has_text) {
                let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
                texts.entry(name.to_owned()).or_insert(text);
            }
        }
        groups
            .entry((licence, authors(package)))
            .or_insert_with(BTreeSet::new)
            .insert(place);
    }
    for ((licence, authors), files) in groups {
        let files = files.into_iter().collect::<Vec<_>>().join(" ");
        println!("Files: {files}\nCopyright: {authors}\nLicense: {licence}\n");
    }
    for (name, text) in texts {
        println!("License: {name}\n{}\n", paragraph(&text));
    }
    Ok(())
}

fn authors(package: &Package) -> String {
    if package.authors.is_empty() {
        format!("The authors of {}", package.name)
    } else {
        package.authors.join(", ")
    }
}

/// Returns the first file of a crate that contains the text of a licence.
fn licence_file(folder: &Path, of_several: bool) -> Option<PathBuf> {
    let begin = if of_several { "LICENSE-UNICODE" } else { "LICENSE" };
    let names = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    names
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(begin))
        })
        .min()
}

/// Returns the licences that `deny.toml` allows for a crate.
fn allowed(rules: &toml::Table, name: &str) -> BTreeSet<String> {
    let list = |value: Option<&toml::Value>| {
        value
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
    };
    let rules = rules.get("licenses");
    let extra = list(rules.and_then(|it| it.get("exceptions"))).into_iter();
    let extra = extra
        .filter(|rule| rule.get("crate").and_then(toml::Value::as_str) == Some(name))
        .flat_map(|rule| list(rule.get("allow")));
    list(rules.and_then(|it| it.get("allow")))
        .into_iter()
        .chain(extra)
        .filter_map(|it| it.as_str().map(str::to_owned))
        .chain([ARCHIVED.to_owned()])
        .collect()
}

/// Returns a licence expression in Debian's form. If the project's own licences satisfy the expression, the result contains only these
/// licences.
fn chosen(expression: &str) -> String {
    let will_do = COMMON
        .iter()
        .filter(|(name, _)| satisfied(expression, &BTreeSet::from([(*name).to_owned()])));
    let will_do: Vec<&str> = will_do.map(|(_, debian)| *debian).collect();
    if !will_do.is_empty() {
        return will_do.join(" or ");
    }
    let debian = |name: &str| {
        COMMON
            .iter()
            .find(|(own, _)| *own == name)
            .map_or(name, |(_, debian)| debian)
            .to_owned()
    };
    let words = expression
        .split(' ')
        .map(|word| word.trim_matches(['(', ')']))
        .filter(|word| !["AND", "OR"].contains(word));
    match words.collect::<Vec<_>>().as_slice() {
        [one] => debian(one),
        // The result contains one licence of each choice, with all licences that AND joins to it.
        _ => {
            let parts = expression.split(" AND ").map(|part| {
                part.split(" OR ")
                    .next()
                    .unwrap_or_default()
                    .trim_matches(['(', ' ', ')'])
            });
            parts.map(debian).collect::<Vec<_>>().join(" and ")
        }
    }
}

/// Returns the lines of a licence in the format of a field of `debian/copyright`.
fn paragraph(text: &str) -> String {
    let lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
    let indents = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| line.len() - line.trim_start().len());
    let indent = indents.min().unwrap_or(0);
    let lines = lines.iter().map(|line| {
        if line.is_empty() {
            " .".to_owned()
        } else {
            format!(" {}", &line[indent..])
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns `true` if allowed licences satisfy the expression. Returns `false` for an invalid expression.
fn satisfied(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut place = 0;
    alternatives(&tokens, &mut place, allowed) == Some(true) && place == tokens.len()
}

fn alternatives(tokens: &[&str], place: &mut usize, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut good = together(tokens, place, allowed)?;
    while tokens.get(*place) == Some(&"OR") {
        *place += 1;
        good |= together(tokens, place, allowed)?;
    }
    Some(good)
}

fn together(tokens: &[&str], place: &mut usize, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut good = single(tokens, place, allowed)?;
    while tokens.get(*place) == Some(&"AND") {
        *place += 1;
        good &= single(tokens, place, allowed)?;
    }
    Some(good)
}

fn single(tokens: &[&str], place: &mut usize, allowed: &BTreeSet<String>) -> Option<bool> {
    let word = *tokens.get(*place)?;
    *place += 1;
    if word == "(" {
        let good = alternatives(tokens, place, allowed)?;
        *place += 1;
        return (tokens.get(*place - 1) == Some(&")")).then_some(good);
    }
    if tokens.get(*place) == Some(&"WITH") {
        let exception = tokens.get(*place + 1)?;
        *place += 2;
        return Some(allowed.contains(&format!("{word} WITH {exception}")));
    }
    Some(allowed.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_or_a_sum_of_licences_is_understood() {
        let ours = BTreeSet::from(["MIT".to_owned(), "A WITH B".to_owned()]);
        for good in ["MIT", "GPL OR MIT", "(MIT OR X) AND MIT", "A WITH B"] {
            assert!(satisfied(good, &ours), "{good}");
        }
        for bad in ["GPL", "MIT AND GPL", "(MIT", "MIT)", "", "A", "MIT MIT"] {
            assert!(!satisfied(bad, &ours), "{bad}");
        }
    }

    #[test]
    fn licences_are_as_debian_names_them() {
        assert_eq!(chosen("MIT OR Apache-2.0"), "Apache-2.0 or Expat");
        assert_eq!(chosen("Zlib"), "Zlib");
        assert_eq!(chosen("(MIT OR Apache-2.0) AND Unicode-3.0"), "Expat and Unicode-3.0");
    }

    #[test]
    fn a_text_is_indented_as_a_field() {
        assert_eq!(paragraph("\n  One\n\n   two\n"), " One\n .\n  two");
    }
}
