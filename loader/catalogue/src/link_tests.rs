//! Tests of files that have several hard links.

use crate::build_id::tests::{ID, head, note};
use crate::build_id::{BUILD_ID, OWNER};
use crate::closure_tests::{One, inode, known};
use crate::{Doubt, Identity};
use serde_json::json;

#[test]
fn a_file_with_another_link_is_known_by_its_build_id() {
    let content = |id: &[u8]| Some(head(&note(OWNER, BUILD_ID, id)));
    let mut document = known();
    let drm = inode(20);
    document["files"][0] = json!([
        "/lib/libdrm.so.2",
        format!("{drm:#}"),
        "libdrm.so.2",
        "ab".repeat(ID.len())
    ]);
    let changed = (drm.changed.0 + 5, 0);
    let linked = Identity {
        changed,
        links: 2,
        ..drm
    };
    let process = |now, content: Option<Vec<u8>>| {
        let process = One::then().with("/lib/libdrm.so.2", now);
        process.change("/lib/libdrm.so.2", |file| file.content = content)
    };
    let wrong = Err((Doubt::Library, Some(0)));
    assert_eq!(process(linked, content(&ID)).check(&document), Ok(()));
    assert_eq!(process(linked, content(&[1; 20])).check(&document), wrong);
    assert_eq!(process(linked, content(b"")).check(&document), wrong);
    assert_eq!(
        process(linked, None).check(&document),
        Err((Doubt::Unreadable, Some(0)))
    );
    assert_eq!(
        process(Identity { changed, ..drm }, content(&ID)).check(&document),
        wrong
    );
    // A second name of the file may be in a folder that the linker searches.
    let mut other = process(linked, content(&ID)).search("/games");
    other = other.with("/games/libdrm.so.2", linked);
    assert_eq!(other.check(&document), Ok(()));
    let mut loaded = process(linked, content(&ID)).object("/games/libdrm.so.2", "libdrm.so.2", "");
    loaded = loaded.with("/games/libdrm.so.2", linked);
    assert_eq!(loaded.check(&document), Ok(()));
}
