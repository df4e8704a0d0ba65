//! The committed snapshot reads back, and writes the same bytes again.

mod common;

use vk_registry::snapshot::{self, SnapshotError, SnapshotFault};

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

/// Reads the snapshot of the small registry with one text of one file replaced.
fn edited(file: &str, from: &str, to: &str) -> Result<vk_registry::model::Registry, SnapshotError> {
    let mut files = snapshot::write(&common::good(common::VULKAN));
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
    let registry = common::good(common::VULKAN);
    assert!(snapshot::read(&snapshot::write(&registry)) == Ok(registry.clone()));
    let crlf: Vec<_> = snapshot::write(&registry)
        .into_iter()
        .map(|(name, text)| (name, text.replace('\n', "\r\n")))
        .collect();
    assert!(snapshot::read(&crlf) == Ok(registry));
}

#[test]
fn mistakes_in_a_snapshot_name_file_and_line() {
    let unexpected = |key: &str| SnapshotFault::UnexpectedKey(key.to_owned());
    let bad = |key: &str, value: &str| SnapshotFault::BadValue(key.to_owned(), value.to_owned());
    for (file, from, to, line, fault) in [
        (
            "header.txt",
            "header 1.1.7\n",
            "",
            0,
            SnapshotFault::MissingKey("header"),
        ),
        ("header.txt", "header 1.1.7", "header 1.1", 2, bad("header", "1.1")),
        (
            "header.txt",
            "  protect VK_ENABLE_BETA_EXTENSIONS\n",
            "",
            5,
            SnapshotFault::MissingKey("protect"),
        ),
        ("header.txt", "core 1.0", " core 1.0", 3, SnapshotFault::Indentation),
        ("header.txt", "core 1.0", "    core 1.0", 3, SnapshotFault::Indentation),
        (
            "commands.txt",
            "  level device",
            "  level queue",
            3,
            bad("level", "queue"),
        ),
        (
            "commands.txt",
            "  level device",
            "  level device\n  level device",
            4,
            unexpected("level"),
        ),
        (
            "commands.txt",
            "  level device",
            "  level device\n    deep",
            4,
            unexpected("deep"),
        ),
        ("commands.txt", "  export yes", "  export no", 6, bad("export", "no")),
        (
            "commands.txt",
            "command vkCmdThingKHR",
            "command vkCmdThing",
            12,
            SnapshotFault::DuplicateRecord("vkCmdThing".to_owned()),
        ),
        (
            "handles.txt",
            "dispatchable yes",
            "dispatchable maybe",
            3,
            bad("dispatchable", "maybe"),
        ),
        ("types.txt", "alias ", "novelty ", 2, unexpected("novelty")),
    ] {
        let error = edited(file, from, to).expect_err(from);
        assert_eq!(
            (error.file, error.line, &error.fault),
            (file, line, &fault),
            "`{from}` -> `{to}`: {error}"
        );
    }
    let none: [(&str, &str); 0] = [];
    assert_eq!(
        snapshot::read(&none).map_err(|error| error.fault),
        Err(SnapshotFault::MissingFile)
    );
}
