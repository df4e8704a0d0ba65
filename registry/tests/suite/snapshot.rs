//! Tests that the committed snapshot can be read, and is written again with the same bytes.

use vk_registry::snapshot::{self, SnapshotError, SnapshotFault};

#[test]
fn the_committed_snapshot_is_what_its_model_writes() {
    let files = crate::common::snapshot_files();
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

/// Reads the snapshot of the small registry with one text of one file replaced.
fn edited(file: &str, from: &str, to: &str) -> Result<vk_registry::model::Registry, SnapshotError> {
    let mut files = snapshot::write(&crate::common::good(crate::common::VULKAN));
    for (name, text) in &mut files {
        if *name == file {
            assert!(text.contains(from), "`{from}` is not in {file}:\n{text}");
            *text = text.replacen(from, to, 1);
        }
    }
    snapshot::read(&files)
}

#[test]
fn a_model_reads_back_equal() {
    let registry = crate::common::good(crate::common::VULKAN);
    assert!(snapshot::read(&snapshot::write(&registry)) == Ok(registry.clone()));
    let crlf: Vec<_> = snapshot::write(&registry)
        .into_iter()
        .map(|(name, text)| (name, text.replace('\n', "\r\n")))
        .collect();
    assert!(snapshot::read(&crlf) == Ok(registry));
}

/// Each row has the file, a text in it, the replacement, and the expected error.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("header.txt", "header 1.1.7\n", "", "header.txt:0: `header` is missing"),
    (
        "header.txt",
        "header 1.1.7",
        "header 1.1",
        "header.txt:2: cannot read `1.1` as `header`",
    ),
    (
        "header.txt",
        "  protect VK_ENABLE_BETA_EXTENSIONS\n",
        "",
        "header.txt:5: `protect` is missing",
    ),
    (
        "header.txt",
        "core 1.0",
        " core 1.0",
        "header.txt:3: the indentation fits no record",
    ),
    (
        "header.txt",
        "core 1.0",
        "    core 1.0",
        "header.txt:3: the indentation fits no record",
    ),
    (
        "commands.txt",
        "level device",
        "level queue",
        "commands.txt:3: cannot read `queue` as `level`",
    ),
    (
        "commands.txt",
        "  level",
        "  level device\n  level",
        "commands.txt:4: `level` does not belong here, or stands here twice",
    ),
    (
        "commands.txt",
        "  level",
        "  level device\n    x\n  level",
        "commands.txt:4: `x` does not belong here, or stands here twice",
    ),
    (
        "commands.txt",
        "export yes",
        "export no",
        "commands.txt:6: cannot read `no` as `export`",
    ),
    (
        "commands.txt",
        "vkCmdThingKHR",
        "vkCmdThing",
        "commands.txt:12: a second record of `vkCmdThing`",
    ),
    (
        "handles.txt",
        "able yes",
        "able maybe",
        "handles.txt:3: cannot read `maybe` as `dispatchable`",
    ),
    (
        "types.txt",
        "alias ",
        "novelty ",
        "types.txt:2: `novelty` does not belong here, or stands here twice",
    ),
];

#[test]
fn mistakes_in_a_snapshot_name_file_and_line() {
    for (file, from, to, expected) in MISTAKES {
        let error = edited(file, from, to).expect_err(from);
        assert_eq!(error.to_string(), *expected, "`{from}` -> `{to}`");
    }
    let none: [(&str, &str); 0] = [];
    assert_eq!(
        snapshot::read(&none).map_err(|error| error.fault),
        Err(SnapshotFault::MissingFile)
    );
}
