//! Checks the targets of links in documents.

use crate::tree::Tree;
use crate::words::{line, links, without_code};
use std::collections::BTreeSet;

/// Returns a line for each link of the documents to a file or heading that does not exist.
///
/// # Errors
/// Returns a message if a document cannot be read.
pub fn problems(tree: &Tree, documents: &[String]) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for path in documents {
        let plain = without_code(&tree.read(path)?);
        for (place, target) in links(&plain) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                path.clone()
            } else {
                joined(path, file)
            };
            let is_there = tree.has(&file)
                && (anchor.is_empty() || !file.ends_with(".md") || anchors(&tree.read(&file)?).contains(anchor));
            if !is_there {
                wrong.push(format!(
                    "{path}:{} links to {target}, which is not there",
                    line(&plain, place)
                ));
            }
        }
    }
    Ok(wrong)
}

/// Returns the anchors of a page: the anchors of its headings, and the anchors that the page defines explicitly.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if !fenced
            && heading.len() < line.len()
            && let Some(heading) = heading.strip_prefix(' ')
        {
            found.insert(slug(heading));
        }
    }
    let named = text.split("<a id=\"").skip(1).filter_map(|rest| rest.split_once('"'));
    found.extend(named.map(|(name, _)| name.to_owned()));
    found
}

/// Returns the anchor of a heading.
fn slug(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|it| it.is_alphanumeric() || [' ', '-', '_'].contains(it));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

/// Returns the path to which a link in a document refers.
fn joined(document: &str, link: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the path of a folder relative to a document.
pub fn relative(document: &str, folder: &str) -> String {
    let from: Vec<&str> = document
        .rsplit_once('/')
        .map_or(Vec::new(), |(folder, _)| folder.split('/').collect());
    let to: Vec<&str> = folder.split('/').collect();
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[shared..].iter().map(|_| "..");
    up.chain(to[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_as_links_write_them() {
        assert_eq!(joined("docs/a/b.md", "../c.md"), "docs/c.md");
        assert_eq!(relative("README.md", "docs/reference"), "docs/reference");
        assert_eq!(relative("docs/using.md", "docs/reference"), "reference");
        assert_eq!(relative("docs/architecture/gate.md", "docs/reference"), "../reference");
    }

    #[test]
    fn headings_are_places() {
        let found = anchors("# Why `make` runs: again\n```\n# no heading\n```\n<a id=\"app-1\"></a>\n");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["app-1", "why-make-runs-again"]);
    }
}
