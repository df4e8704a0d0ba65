//! The committed snapshot reads back, and writes the same bytes again.

mod common;

use vk_registry::snapshot;

#[test]
fn the_committed_snapshot_is_what_its_model_writes() {
    let files = common::snapshot_files();
    let registry = snapshot::read(&files).expect("the committed snapshot");
    for (name, text) in snapshot::write(&registry) {
        let committed = files
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, text)| text.as_str());
        assert!(
            committed == Some(text.as_str()),
            "{name} differs from what its model writes"
        );
        assert_eq!(snapshot::read(&snapshot::write(&registry)).as_ref(), Ok(&registry));
    }
}
