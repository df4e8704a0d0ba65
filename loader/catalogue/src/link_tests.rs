//! Tests of files with several links, of loaded files, and of files that cannot be loaded.

use crate::build_id::tests::{ID, head, note};
use crate::build_id::{BUILD_ID, OWNER};
use crate::closure_tests::{One, SHADOWED, inode, known};
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

/// A loaded library may be an older file than the present one at its path. The build ID shows the difference, or else the beginning of the
/// file.
#[test]
fn a_loaded_library_must_be_the_present_file() {
    let path = "/lib/libdrm.so.2";
    let (this, that) = (
        head(&note(OWNER, BUILD_ID, &ID)),
        head(&note(OWNER, BUILD_ID, &[1; 20])),
    );
    let without = |byte: u8| [&head(&note(OWNER, BUILD_ID, b""))[..], &[byte; 8]].concat();
    let check = |build_id: &str, in_memory: &[u8], on_disk: &[u8]| {
        let mut known = known();
        known["files"][0] = json!([path, inode(20).to_string(), "libdrm.so.2", build_id]);
        let content = Some(on_disk.to_vec());
        let one = One::then().object(path, "libdrm.so.2", "").head(in_memory);
        one.change(path, |file| file.content = content).check(&known)
    };
    let id = "ab".repeat(ID.len());
    for (build_id, in_memory, on_disk, expected) in [
        (id.as_str(), &this, &this, Ok(())),
        (&id, &that, &this, SHADOWED),
        (&id, &without(1), &this, SHADOWED),
        ("", &without(1), &without(1), Ok(())),
        ("", &without(1), &without(2), SHADOWED),
        ("", &this, &without(1), SHADOWED),
        // The beginning of the loaded object is unknown, so the file on disk is assumed to be the loaded one.
        (&id, &Vec::new(), &that, Ok(())),
    ] {
        assert_eq!(
            check(build_id, in_memory, on_disk),
            expected,
            "{build_id} {in_memory:?} {on_disk:?}"
        );
    }
}

/// The linker loads no library from a folder in a mount with the option `noexec`.
#[test]
fn libraries_must_be_in_folders_from_which_they_can_be_loaded() {
    let refused = |folder| One::then().with("/share/profile", inode(40)).refused(folder);
    let mut known = known();
    known["files"][0][0] = json!("/drm/libdrm.so.2");
    let profile = json!(["/share/profile", inode(40).to_string(), ""]);
    known["files"].as_array_mut().unwrap().push(profile);
    known["drivers"][0]["files"] = json!([0, 1, 2]);
    let check = |one: One| one.with("/drm/libdrm.so.2", inode(20)).check(&known);
    assert_eq!(check(refused("")), Ok(()));
    assert_eq!(check(refused("/drm")), Err((Doubt::Unreadable, Some(0))));
    assert_eq!(check(refused("/lib")), Err((Doubt::Unreadable, None)));
    assert_eq!(check(refused("/share")), Ok(()), "no library is in this folder");
}

/// A file whose search path contains `$ORIGIN` leads to other libraries through a link in another folder.
#[test]
fn a_link_to_a_file_with_an_origin_in_its_search_path_is_another_file() {
    for (way, expected) in [("origin", SHADOWED), ("", Ok(()))] {
        let mut known = known();
        known["files"][0] = json!(["/lib/libdrm.so.2", inode(20).to_string(), "libdrm.so.2", "", way]);
        let linked = || One::then().with("/links/libdrm.so.2", inode(20));
        assert_eq!(linked().search("/links").check(&known), expected);
        assert_eq!(linked().search("/lib:/links").check(&known), Ok(()));
        let loaded = linked().object("/links/libdrm.so.2", "libdrm.so.2", "");
        assert_eq!(loaded.check(&known), expected);
        assert_eq!(
            One::then().object("/lib/libdrm.so.2", "libdrm.so.2", "").check(&known),
            Ok(())
        );
    }
}

/// The linker also searches the folders of the loader's `DT_RUNPATH` for drivers that are named without a folder.
#[test]
fn folders_of_the_loader_itself_count() {
    let other = One::then().with("/own/libdrm.so.2", inode(30));
    assert_eq!(
        other
            .clone()
            .object("/x/libother.so", "libother.so", "")
            .check(&known()),
        Ok(())
    );
    assert_eq!(
        other.object("/x/libvulkan.so.1", "libvulkan.so.1", "").check(&known()),
        SHADOWED
    );
}
