//! Tests that every command in a document needs a row, and that every row needs a document and a test.

use std::path::Path;
use xtask::commands::Rows;
use xtask::tree::Tree;

fn rows() -> Rows {
    let tree = Tree::around(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("the project");
    Rows::read(&tree).expect("rows")
}

/// Returns the messages about a document with this text. Messages about rows are excluded, because the text contains no commands of the
/// rows, and the test reads no test files.
fn found(text: &str) -> Vec<String> {
    let mut lines = rows().problems(&[("a.md".to_owned(), text.to_owned())], |_| None);
    lines.retain(|line| line.starts_with("a.md"));
    lines
}

#[test]
fn commands_with_a_row_and_what_is_no_shells_are_passed_over() {
    assert_eq!(found("```text\nmake juggle\n```\n"), [""; 0]);
    let known = "    make run\n`make test`, or `vkgen`\n\n    LD_LIBRARY_PATH=/tmp/vulkan vulkaninfo --summary  # so\n";
    assert_eq!(found(known), [""; 0]);
}

#[test]
fn a_command_without_a_row_is_told_wherever_it_stands() {
    for text in [
        "```\nmake juggle\n```\n",
        "```sh\n$ make juggle\n```\n",
        "So `make\njuggle` does.\n",
        "    a.txt      make juggle\n",
        "    make juggle\n",
        "See `cargo juggle --fast`.\n",
        "    ldconfig && make juggle\n",
        "    A=1 B=2 make juggle\n",
    ] {
        let lines = found(text);
        assert!(lines.len() == 1 && lines[0].contains("juggle"), "{text:?}: {lines:?}");
    }
}

#[test]
fn a_row_without_a_document_or_a_test_is_told() {
    let lines = rows().problems(&[], |_| Some(String::new()));
    assert!(lines.iter().any(|line| line.contains("which no document shows")));
    assert!(
        lines
            .iter()
            .any(|line| line.contains("does not run `make run` any more"))
    );
}
