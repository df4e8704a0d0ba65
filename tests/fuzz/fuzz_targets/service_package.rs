//! Fuzzes the two texts of a package of the driver service. A null byte separates the texts in the input. Whatever their content is, the
//! service must read nothing outside of the package, and the published text must be a manifest with a key.
#![no_main]

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use loader_fuzz::{Files, twice};
use service::library::HandOut;
use service::memory::Memory;
use service::package::{Fault, Manifest, Metadata, Owner};
use service::reader::Reader;

/// Part of a library that the service examines: a header without segments.
const LIBRARY: &[u8] = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0 inside";

static FILES: LazyLock<(Files, Reader)> = LazyLock::new(|| {
    let files = Files::create();
    files.write("icd/p/contents/lib/driver.so", LIBRARY);
    files.write(
        "icd/outside.so",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0 outside",
    );
    for name in ["metadata/metadata.json", "contents/m.json"] {
        files.write(&format!("icd/p/{name}"), b"");
    }
    let root = files.root().join("icd");
    for folder in ["", "p", "p/contents", "p/contents/lib", "p/metadata"] {
        let private = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(root.join(folder), private).expect("the folder is there");
    }
    let owner = std::fs::metadata(&root).expect("the folder is there").uid();
    let reader = Reader {
        roots: vec![root],
        owner: Owner(owner),
        hand_out: HandOut::Memory,
        memory: Memory::default(),
    };
    (files, reader)
});

/// Checks the manifest under which the service publishes a driver: its key begins with the number of the service's instance, and its text
/// is a valid manifest.
fn check_manifest(text: &[u8]) {
    let Ok(manifest) = twice(|| Manifest::read(text, "m.json")) else {
        return;
    };
    let published = [0, 9, 10, u64::MAX].map(|number| (number, manifest.published(number)));
    for (number, one) in &published {
        assert!(wire::is_key(one.key.as_bytes()));
        assert!(one.key.starts_with(&format!("{number}-")));
        assert_eq!(one.name, format!("{}.json", one.key));
        Manifest::read(one.contents.as_bytes(), "published").expect("it is a manifest");
    }
    assert!(published.windows(2).all(|pair| pair[0].1.key != pair[1].1.key));
}

fuzz_target!(|bytes: &[u8]| {
    let mut texts = bytes.splitn(2, |byte| *byte == 0);
    let (metadata, manifest) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    check_manifest(manifest);
    check_manifest(metadata);
    if let Ok(metadata) = twice(|| Metadata::read(metadata, "metadata.json")) {
        let libraries = metadata.libraries.iter().map(|library| &library.path);
        for path in libraries.chain([&metadata.manifest]) {
            assert!(path.as_str().split('/').all(|part| !matches!(part, "" | "." | "..")));
        }
    }
    let (files, reader) = &*FILES;
    files.write("icd/p/metadata/metadata.json", metadata);
    files.write("icd/p/contents/m.json", manifest);
    match reader.read("p", &mut |_| {}) {
        Ok((package, read)) => {
            for handed in &package.libraries {
                assert_eq!(
                    handed.library.size,
                    LIBRARY.len() as u64,
                    "another library than that of the package"
                );
            }
            assert!(reader.stamp("p").is_some_and(|stamp| stamp.are_same(&read)));
        }
        Err(fault) => assert!(!fault.to_string().is_empty() && fault != Fault::Absent),
    }
});
