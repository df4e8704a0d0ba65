//! Writes the parts of documents that come from the sources, and checks the statements of documents.

use crate::cases::cases;
use crate::matrix::matrix;
use crate::tables::{TABLES, with_table};
use crate::tree::Tree;
use crate::{claims, commands, counts, headers, links, prose, reference};
use std::collections::BTreeMap;
use std::fs;

/// Path of the matrix of promises and tests. The repository does not contain this file.
const MATRIX: &str = "target/MATRIX.md";

/// Documents and matrix that were written from the sources.
struct Made {
    /// Expected text of each document.
    documents: BTreeMap<String, String>,
    matrix: String,
}

type Errors = Vec<String>;

/// Writes the documents and the matrix.
///
/// # Errors
/// Returns messages if a statement in a document is wrong.
pub fn write(tree: &Tree) -> Result<(), Errors> {
    let made = made(tree)?;
    let put = |path: &str, text: &str| {
        fs::write(tree.root().join(path), text).map_err(|error| vec![format!("{path}: {error}")])
    };
    for (path, text) in &made.documents {
        if tree.read(path).map_err(one)?.as_ref() != text {
            put(path, text)?;
        }
    }
    put(prose::FILE, &prose::lowered(tree).map_err(one)?)?;
    fs::create_dir_all(tree.root().join("target")).map_err(|error| vec![format!("target: {error}")])?;
    put(MATRIX, &made.matrix)
}

/// Compares every document with its sources. Writes nothing.
///
/// # Errors
/// Returns messages if a document differs from its sources, or if a statement in a document is wrong.
pub fn check(tree: &Tree) -> Result<(), Errors> {
    let mut wrong = Vec::new();
    for (path, text) in made(tree)?.documents {
        if tree.read(&path).map_err(one)?.as_ref() != text {
            wrong.push(format!(
                "{path} is not what the sources give; run make documents and commit it"
            ));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn one(error: String) -> Errors {
    vec![error]
}

/// Writes all documents in memory and runs all checks. Each check reports all findings.
fn made(tree: &Tree) -> Result<Made, Errors> {
    let cases = cases(tree).map_err(one)?;
    let named: Vec<(String, String)> = cases.iter().map(|case| (case.name.clone(), case.own.clone())).collect();
    let (shown, mut wrong) = reference::problems(tree, &named).map_err(one)?;
    let entries = reference::entries(tree).map_err(one)?;
    let (matrix, missing) = matrix(tree, cases, &entries, &shown).map_err(one)?;
    wrong.extend(missing);
    let paths = tree.documents();
    wrong.extend(said(tree, &paths).map_err(one)?);
    let mut documents = BTreeMap::new();
    for path in paths {
        let text = made_document(tree, &path, &entries, &mut wrong).map_err(one)?;
        documents.insert(path, text);
    }
    if wrong.is_empty() {
        Ok(Made { documents, matrix })
    } else {
        Err(wrong)
    }
}

/// Returns a line for each wrong statement in the documents, and for each text to rewrite. The statements are commands, numbers of tests,
/// links, and claims about all code.
fn said(tree: &Tree, paths: &[String]) -> Result<Errors, String> {
    // The reference quotes messages and names of the registry, but contains no shell commands.
    let texts = paths.iter().filter(|path| !path.starts_with(reference::FOLDER));
    let texts: Result<Vec<_>, String> = texts
        .map(|path| Ok((path.clone(), tree.read(path)?.to_string())))
        .collect();
    let read = |path: &str| tree.read(path).ok().map(|text| text.to_string());
    let mut wrong = commands::Rows::read(tree)?.problems(&texts?, read);
    for path in paths {
        wrong.extend(counts::problems(path, &tree.read(path)?));
    }
    wrong.extend(links::problems(tree, paths)?);
    wrong.extend(claims::problems(tree)?);
    wrong.extend(prose::problems(tree)?);
    Ok(wrong)
}

/// Returns a document with its generated tables, the Vulkan header's version, and the link targets of the requirement numbers that it
/// cites.
fn made_document(tree: &Tree, path: &str, entries: &[reference::Entry], wrong: &mut Errors) -> Result<String, String> {
    let mut text = tree.read(path)?.to_string();
    for (_, name, lines) in TABLES.iter().filter(|(document, ..)| *document == path) {
        text = with_table(&text, name, &lines(tree)?).map_err(|error| format!("{path}: {error}"))?;
    }
    match headers::with_header(path, &text, &tree.header()?) {
        Ok(with_header) => text = with_header,
        Err(error) => wrong.push(error),
    }
    // Pages of the reference need no list of link targets, because each link in them contains its target.
    if !path.starts_with(reference::FOLDER) {
        let (with_places, bad) = reference::with_places(path, &text, entries);
        text = with_places;
        wrong.extend(bad);
    }
    Ok(text)
}
