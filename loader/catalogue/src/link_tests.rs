//! Tests of files with several links or without usable times, of loaded files, of refused files, and of words in search paths.

use crate::build_id::tests::{ID, head, note};
use crate::build_id::{BUILD_ID, OWNER};
use crate::closure_tests::{DRIVER, One, SHADOWED, inode, known};
use crate::tests::{LIBRARY, with};
use crate::{Doubt, Identity};
use serde_json::{Value, json};

#[test]
fn a_file_with_another_change_time_is_known_by_its_build_id() {
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
    let linked = Identity { changed, ..drm };
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
    // A second name of the file may be in a folder that the linker searches.
    let mut other = process(linked, content(&ID)).search("/games");
    other = other.with("/games/libdrm.so.2", linked);
    assert_eq!(other.check(&document), Ok(()));
    let mut loaded = process(linked, content(&ID)).object("/games/libdrm.so.2", "libdrm.so.2", "");
    loaded = loaded.with("/games/libdrm.so.2", linked);
    assert_eq!(loaded.check(&document), Ok(()));
}

#[test]
fn a_file_whose_times_prove_nothing_is_known_by_its_build_id() {
    let image = Identity {
        changed: (1, 0),
        ..LIBRARY
    };
    let check = |now, written: Value, found: &[u8]| {
        let mut document = with("/drivers/0/library/identity", json!(image.to_string()));
        document["drivers"][0]["library"]["build-id"] = written;
        let content = head(&note(OWNER, BUILD_ID, found));
        One::then()
            .with(DRIVER, now)
            .change(DRIVER, |file| file.content = Some(content))
            .check(&document)
    };
    let written = || json!("ab".repeat(ID.len()));
    assert_eq!(check(image, written(), &ID), Ok(()));
    assert_eq!(check(image, written(), &[1; 20]), Err((Doubt::Library, None)));
    assert_eq!(check(image, written(), b""), Err((Doubt::Times, None)));
    for none in [json!(null), json!(""), json!(7)] {
        assert_eq!(check(image, none, &ID), Err((Doubt::Times, None)));
    }
    // A file whose inode or change time differs from the record does not match, although its build ID does.
    for other in [
        Identity { inode: 9, ..image },
        Identity {
            changed: (0, 0),
            ..image
        },
    ] {
        assert_eq!(check(other, written(), &ID), Err((Doubt::Library, None)));
    }
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

/// The linker loads no library from a mount with the option `noexec`. The kernel decides by the mount of the file, not of its folder.
#[test]
fn libraries_must_be_in_mounts_from_which_they_can_be_loaded() {
    let mut known = known();
    let profile = json!(["/share/profile", inode(40).to_string(), ""]);
    known["files"].as_array_mut().unwrap().push(profile);
    known["drivers"][0]["files"] = json!([0, 1, 2]);
    let one = || One::then().with("/share/profile", inode(40)).refused(7);
    for (path, expected) in [
        ("/lib/libdrm.so.2", Err((Doubt::Unreadable, Some(0)))),
        ("/lib/libz.so.1", Err((Doubt::Unreadable, Some(1)))),
        (DRIVER, Err((Doubt::Unreadable, None))),
        // The file is not a library.
        ("/share/profile", Ok(())),
    ] {
        for (mount, expected) in [(2, Ok(())), (7, expected)] {
            let one = one().change(path, |file| file.mount = mount);
            assert_eq!(one.check(&known), expected, "{path} {mount}");
        }
    }
}

#[test]
fn each_mount_is_examined_once() {
    let examined = |one: One| {
        assert_eq!(one.check(&known()), Ok(()));
        one.examined.take()
    };
    let files = ["/lib/libdrm.so.2", "/lib/libz.so.1", DRIVER];
    assert_eq!(examined(One::then()), [files[0]]);
    assert_eq!(
        examined(One::then().change(DRIVER, |file| file.mount = 2)),
        [files[0], DRIVER]
    );
    let other = |path| One::then().change(path, |file| file.mount = 2);
    assert_eq!(examined(other(files[1])), files);
    // The kernel does not report the numbers of mounts.
    let unknown = |one: One, path| one.change(path, |file| file.mount = 0);
    assert_eq!(examined(files.into_iter().fold(One::then(), unknown)), files);
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

/// A folder may have several paths, for example `/lib` and `/usr/lib`. Another mount of a folder has other folders above it.
#[test]
fn another_path_of_a_folder_leads_to_the_same_origin() {
    let mut known = known();
    known["files"][0] = json!(["/lib/libdrm.so.2", inode(20).to_string(), "libdrm.so.2", "", "origin"]);
    let same = (inode(90), 1);
    let other_device = Identity { device: 2, ..same.0 };
    for (own, other, expected) in [
        (same, same, Ok(())),
        (same, (inode(91), 1), SHADOWED),
        (same, (other_device, 1), SHADOWED),
        (same, (inode(90), 2), SHADOWED),
        // The kernel does not report the numbers of mounts.
        ((inode(90), 0), (inode(90), 0), SHADOWED),
    ] {
        let folder =
            |one: One, path, (identity, mount)| one.with(path, identity).change(path, |file| file.mount = mount);
        let one = folder(folder(One::then(), "/lib", own), "/usr/lib", other);
        let one = || one.clone().with("/usr/lib/libdrm.so.2", inode(20));
        assert_eq!(one().search("/usr/lib").check(&known), expected, "{other:?}");
        let loaded = one().object("/usr/lib/libdrm.so.2", "libdrm.so.2", "");
        assert_eq!(loaded.check(&known), expected, "{other:?}");
    }
    // Another name of the file in the same folder does not change the meaning of `$ORIGIN`.
    let named = One::then().with("/lib/libdrm.so.2.4.0", inode(20));
    assert_eq!(
        named.object("/lib/libdrm.so.2.4.0", "libdrm.so.2", "").check(&known),
        Ok(())
    );
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

/// The linker's word `$LIB` stands for one of several folders. An entry is used if none of them has another file.
#[test]
fn each_folder_for_which_a_word_may_stand_is_searched() {
    if !cfg!(any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64"
    )) {
        return;
    }
    let other = |path: &str| One::then().with(path, inode(99));
    for (path, search, expected) in [
        ("/usr/lib/overlay/libm.so.6", "/usr/$LIB/overlay", Ok(())),
        ("/usr/lib/overlay/libdrm.so.2", "/usr/$LIB/overlay", SHADOWED),
        ("/usr/lib/overlay/libdrm.so.2", "/usr/${LIB}/overlay", SHADOWED),
        ("/usr/lib/libdrm.so.2", "/usr/$LIB", SHADOWED),
        (
            "/usr/lib/overlay/libm.so.6",
            "/usr/$LIB/overlay:/usr/$PLATFORM",
            SHADOWED,
        ),
        ("/usr/lib/lib/libm.so.6", "/usr/$LIB/$LIB", SHADOWED),
        ("/usr/lib/libm.so.6", "/usr/$LIBRARY", SHADOWED),
        ("/game/bin/../lib/libdrm.so.2", "$ORIGIN/../$LIB", SHADOWED),
        ("/game/bin/../lib/libm.so.6", "$ORIGIN/../$LIB", Ok(())),
        // It is not certain that the linker searches the folder of the recorded file before the other folder.
        ("/other/libdrm.so.2", "/$LIB:/other", SHADOWED),
    ] {
        assert_eq!(other(path).search(search).check(&known()), expected, "{path} {search}");
        let by_path = other(path).object("", "", search);
        assert_eq!(by_path.check(&known()), expected, "{path} {search}");
    }
    if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
        for folder in ["lib64", "x86_64-linux-gnu", "lib/x86_64-linux-gnu"] {
            let path = format!("/usr/{folder}/overlay/libdrm.so.2");
            assert_eq!(
                other(&path).search("/usr/$LIB/overlay").check(&known()),
                SHADOWED,
                "{path}"
            );
        }
    }
}
