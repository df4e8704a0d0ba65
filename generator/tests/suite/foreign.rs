//! Tests of files in the output folder that the program did not write (GEN-84).

use crate::common::Scratch;
use crate::program::{check, code, content, emit, errors, prepared, walk};
use std::fs;
use std::process::Command;

/// Runs `emit` with a foreign file in the output folder. `emit` must name that file, and change no file.
fn assert_stranger_stops(scratch: &Scratch, stranger: &str) {
    let generated = scratch.path().join("generated");
    let path = generated.join(stranger);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, "mine").expect("a file");
    let before = content(&generated);
    let output = emit(scratch.path());
    let text = errors(&output);
    assert_eq!(code(&output), 3, "{stranger}: {text}");
    assert!(
        text.contains(&format!("generated/{stranger}: vkgen did not write")),
        "{text}"
    );
    assert_eq!(
        content(&generated),
        before,
        "{stranger}: something was written or removed"
    );
    fs::remove_file(&path).expect("a removal");
}

#[test]
fn gen_84_a_folder_with_the_files_of_others_is_refused() {
    let scratch = prepared();
    let strangers = [
        ".git/HEAD",
        ".hidden",
        "manifest.txt",
        "notes/todo.txt",
        "pfn.rs",
        "x.vkgen-tmp",
    ];
    for stranger in strangers {
        assert_stranger_stops(&scratch, stranger);
    }
    assert_eq!(code(&emit(scratch.path())), 0, "a folder without files is taken");
    for stranger in [".git/HEAD", ".hidden", "left_over.rs", "types/mine.rs"] {
        assert_stranger_stops(&scratch, stranger);
    }
}

#[test]
fn gen_84_only_what_the_manifest_lists_is_removed() {
    let scratch = prepared();
    emit(scratch.path());
    let generated = scratch.path().join("generated");
    fs::create_dir(generated.join("old")).expect("a folder");
    fs::write(generated.join("old/gone.rs"), "").expect("a file of an older run");
    let manifest = generated.join("manifest.txt");
    let text = fs::read_to_string(&manifest).expect("the manifest");
    let (sum, outside) = ("0".repeat(64), scratch.path().join("outside"));
    fs::write(&outside, "mine").expect("a file elsewhere");
    let text = format!("{text}output {sum} old/gone.rs\noutput {sum} ../outside\n");
    fs::write(&manifest, text).expect("a manifest of an older run");
    // This temporary file remained after an interrupted run of the generator. The file is therefore not foreign.
    fs::write(generated.join("pfn.rs.vkgen-tmp"), "half").expect("a temporary file");
    let output = emit(scratch.path());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert!(!generated.join("old").exists() && outside.exists());
    assert_eq!(code(&check(scratch.path())), 0);
}

#[cfg(unix)]
#[test]
fn gen_84_what_is_no_file_is_refused_even_where_the_manifest_lists_it() {
    let scratch = prepared();
    let generated = scratch.path().join("generated");
    let replacements = [
        ("trampoline", Some("../old-0")),
        ("pfn.rs", Some("/dev/zero")),
        ("pfn.rs", Some("nowhere")),
        ("pfn.rs", None),
        ("manifest.txt", None),
    ];
    for (index, (name, link)) in replacements.into_iter().enumerate() {
        let _ = fs::remove_dir_all(&generated);
        assert_eq!(code(&emit(scratch.path())), 0);
        let manifest = generated.join("manifest.txt");
        let listed = fs::read_to_string(&manifest).expect("the manifest") + "output 0 trampoline\n";
        fs::write(&manifest, listed).expect("a hostile manifest");
        let path = generated.join(name);
        fs::rename(&path, scratch.path().join(format!("old-{index}"))).expect("a move");
        match link {
            Some(target) => std::os::unix::fs::symlink(target, &path).expect("a link"),
            None => drop(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs")),
        }
        let output = emit(scratch.path());
        assert_eq!(code(&output), 3, "{name}");
        assert!(errors(&output).contains("vkgen did not write"), "{}", errors(&output));
        let data = fs::symlink_metadata(&path).expect("still there");
        assert!(!data.is_file() && !data.is_dir(), "{name} stays what it was");
        assert_ne!(code(&check(scratch.path())), 0, "check does not wait either");
    }
    assert!(scratch.path().join("old-0/device.rs").is_file());
}

#[test]
fn gen_84_an_import_refuses_a_folder_with_the_files_of_others() {
    let xml = crate::common::xml_folder();
    if !xml.join("vk.xml").is_file() {
        return crate::common::skip("the pinned registry is not fetched; make registry brings it");
    }
    let scratch = Scratch::new();
    let folder = scratch.path().join("snapshot");
    fs::create_dir(&folder).expect("a folder");
    let import = || {
        Command::new(env!("CARGO_BIN_EXE_vkgen"))
            .args(["import", "--snapshot", "snapshot", "--vk-xml"])
            .args([
                xml.join("vk.xml").as_os_str(),
                "--video-xml".as_ref(),
                xml.join("video.xml").as_os_str(),
            ])
            .current_dir(scratch.path())
            .output()
            .expect("the program runs")
    };
    for stranger in [".hidden", "commands.txt", "readme.txt"] {
        fs::write(folder.join(stranger), "mine").expect("a file");
        let output = import();
        assert_eq!(code(&output), 3, "{}", errors(&output));
        assert!(errors(&output).contains(&format!("snapshot/{stranger}: vkgen did not write")));
        assert_eq!(walk(&folder).len(), 1, "nothing is written");
        fs::remove_file(folder.join(stranger)).expect("a removal");
    }
    assert_eq!(code(&import()), 0, "an empty folder is taken");
    fs::write(folder.join("types.txt"), vk_registry::snapshot::HEADING).expect("a file of an older run");
    assert_eq!(code(&import()), 0, "and one that an import filled");
}

#[test]
fn gen_84_a_folder_in_the_way_of_a_file_stops_the_run_before_it_changes_anything() {
    let scratch = prepared();
    emit(scratch.path());
    let generated = scratch.path().join("generated");
    fs::write(generated.join("chains.rs"), "changed").expect("a change");
    fs::remove_file(generated.join("pfn.rs")).expect("a removal");
    fs::create_dir_all(generated.join("pfn.rs/below")).expect("a folder in the way");
    let before = content(&generated);
    let output = emit(scratch.path());
    assert_eq!(code(&output), 3);
    assert!(errors(&output).contains("pfn.rs: a folder stands in the way"));
    assert_eq!(content(&generated), before);
}
