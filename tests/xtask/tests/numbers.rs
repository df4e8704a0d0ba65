//! Tests the checks of the reference's requirement numbers. Each number must have one definition, and a test or a reason, and every cited
//! number must have a definition.

use std::fs;
use std::path::Path;
use xtask::reference::{entries, problems, with_places};
use xtask::tree::Tree;

/// A valid page with three entries: an entry with a test, an entry of two lines with a reason, and a row of a table.
const ENTRIES: &str = "\
# What is seen

- <a id=\"app-1\"></a>**APP-1** One thing, as in [APP-2](#app-2).
- <a id=\"app-2\"></a>**APP-2** Another,
  of two lines (no case: needs Windows)

| Number | What |
|---|---|
| <a id=\"app-3a\"></a>**APP-3a** | a third |
";
const CODE: &str = "\
//! A part (APP-1 to APP-3a).

/// APP-3a
#[test]
fn app_001_a_thing() {
    assert!(true);
}
";

fn tree(page: &str, code: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in [("docs/reference/application.md", page), ("loader/src/part.rs", code)] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn all(page: &str, code: &str, cases: &[(String, String)]) -> Vec<String> {
    let folder = tree(page, code);
    problems(&Tree::new(folder.path()), cases)
        .expect("a tree that can be read")
        .1
}

/// Checks that the check prints exactly one message, and that the message contains `words`.
fn said(words: &str, page: &str, code: &str) {
    let lines = all(page, code, &[]);
    assert!(lines.len() == 1 && lines[0].contains(words), "{words}: {lines:?}");
}

#[test]
fn what_is_right_is_passed_over() {
    assert_eq!(all(ENTRIES, CODE, &[]), [""; 0]);
    // A range is valid even if both ends are the same number.
    assert_eq!(
        all(ENTRIES, &CODE.replace("/// APP-3a", "/// APP-3a to APP-3a"), &[]),
        [""; 0]
    );
}

#[test]
fn a_number_that_no_page_defines_is_told_with_its_place() {
    said(
        "loader/src/part.rs:8 cites APP-4, which no page",
        ENTRIES,
        &format!("{CODE}// APP-4\n"),
    );
    said(
        "loader/src/part.rs:8 cites BI-4, which no page",
        ENTRIES,
        &format!("{CODE}// As BI-4 and ABI-5 say.\n"),
    );
    // The name of a test can contain the number with zeros before it.
    let code = CODE.replace("app_001_a_thing", "app_001_a_thing_and_app_005_another");
    said("cites APP-5, which no page", ENTRIES, &code);
    said(
        "application.md:9 cites APP-6",
        &ENTRIES.replace("a third |", "a third, as APP-6 |"),
        CODE,
    );
}

#[test]
fn a_number_is_defined_once_under_its_own_anchor_and_links_lead_to_one() {
    let twice = format!("{ENTRIES}\n- <a id=\"app-1\"></a>**APP-1** Again.\n");
    said("defines APP-1 again", &twice, CODE);
    said(
        "gives APP-1 the anchor app-7",
        &ENTRIES.replace("id=\"app-1\"", "id=\"app-7\""),
        CODE,
    );
    said(
        "links to #app-3, which is not there",
        &ENTRIES.replace("(#app-2)", "(#app-3)"),
        CODE,
    );
    said(
        "links to drivers.md#app-2, which is not there",
        &ENTRIES.replace("(#app-2)", "(drivers.md#app-2)"),
        CODE,
    );
}

#[test]
fn a_number_has_a_case_or_a_reason_and_not_both() {
    let bare = CODE.replace("/// APP-3a\n", "");
    said("application.md:9: no case shows APP-3a", ENTRIES, &bare);
    // A number in the documentation of a module, or of a function that is not a test, does not name a test.
    said(
        "no case shows APP-3a",
        ENTRIES,
        &format!("{bare}\n/// APP-3a\nfn helper() {{}}\n"),
    );
    said(
        "no case shows APP-2",
        &ENTRIES.replace(" (no case: needs Windows)", ""),
        CODE,
    );
    said(
        "no case shows APP-2",
        &ENTRIES.replace("(no case: needs Windows)", "(no case: needs Windows), or not"),
        CODE,
    );
    let both = CODE.replace("/// APP-3a", "/// APP-3a, APP-2");
    said(
        "says why no case shows APP-2, but loader/src/part.rs: app_001_a_thing does",
        ENTRIES,
        &both,
    );
    said(
        "says why no case shows APP-3a",
        &ENTRIES.replace("a third |", "a third (no case: it is odd) |"),
        CODE,
    );
    let lines = all(ENTRIES, CODE, &[("app::one::two".to_owned(), "/// APP-2".to_owned())]);
    assert!(
        lines.len() == 1 && lines[0].contains("but app::one::two does"),
        "{lines:?}"
    );
}

#[test]
fn a_document_has_the_places_of_its_numbers_at_its_end() {
    let folder = tree(ENTRIES, CODE);
    let entries = entries(&Tree::new(folder.path())).expect("entries");
    let (text, wrong) = with_places("docs/using.md", "As [APP-2] and `APP-1` say.\n", &entries);
    assert!(
        wrong.is_empty() && text.contains("\n[APP-2]: reference/application.md#app-2\n") && !text.contains("[APP-1]:"),
        "{text}{wrong:?}"
    );
    assert_eq!(with_places("docs/using.md", &text, &entries), (text.clone(), wrong));
    let (text, wrong) = with_places(
        "README.md",
        "As APP-2 says, and [that](docs/reference/drivers.md#app-1).\n",
        &entries,
    );
    assert!(
        wrong.len() == 2 && wrong[0].contains("README.md:1 cites APP-2") && wrong[1].contains("links to"),
        "{text}{wrong:?}"
    );
}

#[test]
fn the_project_is_a_tree() {
    let tree = Tree::around(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("the project");
    assert!(tree.crates().expect("members").contains(&"tests/xtask".to_owned()));
    assert!(tree.module("loader/", "manifest/driver.rs").is_ok() && tree.module("loader/", "mod.rs").is_err());
}
