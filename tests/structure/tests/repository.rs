//! Tests that the crates of this repository have no cycles of modules except the cycles in `cycles.toml`.

use std::path::Path;
use structure::list::differences;

#[test]
fn modules_import_each_other_only_where_the_list_says_why() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &Path| std::fs::read_to_string(root.join(path)).ok();
    let found = differences(include_str!("../cycles.toml"), &read).expect("the list and the sources are readable");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
