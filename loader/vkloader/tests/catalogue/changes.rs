//! Tests of changes to files that a driver depends on, and of hard links, which are not changes.

use crate::asked::*;
use crate::closure::{compile, compile_user, update, used, used_behind};
use crate::machine::{Machine, library, skip};
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

/// Overwrites a file, and restores its modification time.
fn write_unseen(path: &Path, bytes: &[u8]) {
    let found = fs::metadata(path).expect("a file");
    let mut file = fs::File::options()
        .write(true)
        .open(path)
        .expect("it can be written to");
    file.write_all(bytes).expect("there is space");
    let seconds = u64::try_from(found.mtime()).expect("a time after 1970");
    let rest = u32::try_from(found.mtime_nsec()).expect("less than a second");
    file.set_modified(UNIX_EPOCH + Duration::new(seconds, rest))
        .expect("its owner may");
    let now = fs::metadata(path).expect("a file");
    let state = |of: &fs::Metadata| (of.ino(), of.size(), of.mtime(), of.mtime_nsec());
    assert_eq!(state(&found), state(&now));
}

/// Runs a command of `vkloader catalogue`, which must succeed, and returns its output.
fn told(machine: &Machine, words: &[&str]) -> String {
    let library = library().display().to_string();
    let asks = ["update", "verify"].contains(&words[0]);
    let asking: &[&str] = if asks { &["--library", &library] } else { &[] };
    let output = machine.run(&[&["catalogue"], words, &["--user"], asking].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{words:?}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// Returns a machine with a driver that needs another library, and with a catalogue. Also returns the paths of the driver's library and of
/// the needed library.
pub(crate) fn machine_of_two(words: &[&str]) -> Option<(Machine, [PathBuf; 2])> {
    let mut machine = machine();
    machine.variable("VK_LOADER_CATALOGUE", "on");
    machine.driver("a", "instance_extension VK_KHR_surface 25\ndevice one");
    let (needed, driver) = (
        machine.path("libraries/libneeded.so"),
        machine.path("libraries/libdriver.so"),
    );
    let linked = ["-lmock_a", "-lneeded", "-Wl,--build-id"];
    if !compile(&needed, "int needed = 1;", words) || !compile_user(&machine, &driver, "", &linked) {
        skip("there is no C compiler");
        return None;
    }
    machine.manifest("a", &driver, "");
    update(&machine);
    assert_eq!(used(&machine, &[]), "", "nothing has changed, so the entry counts");
    Some((machine, [driver, needed]))
}

/// DRV-271: `vk-loader-service packages` creates hard links to a driver's files, like tools that store equal files only once. The entry of
/// the driver stays valid.
#[test]
fn a_hard_link_changes_no_file() {
    let Some((machine, files)) = machine_of_two(&["-Wl,--build-id"]) else {
        return;
    };
    for (number, file) in files.iter().enumerate() {
        let link = machine.path(&format!("link{number}"));
        let before = fs::metadata(file).expect("a file");
        fs::hard_link(file, &link).expect("the same file system");
        let now = fs::metadata(file).expect("a file");
        assert_ne!((before.ctime(), before.ctime_nsec()), (now.ctime(), now.ctime_nsec()));
        assert_eq!(used(&machine, &[]), "", "{}", file.display());
    }
    let verified = told(&machine, &["verify"]);
    assert!(verified.contains("agrees with the drivers"), "{verified}");
    // A folder that the linker searches earlier contains a hard link to the same file, so the linker uses the same file.
    let folder = machine.path("folder");
    fs::create_dir_all(&folder).expect("a folder");
    fs::hard_link(&files[1], folder.join("libneeded.so")).expect("the same file system");
    assert_eq!(used(&machine, &[("LD_LIBRARY_PATH", &folder)]), "");
    // An update for changes does not ask the driver again. After it, the entry also stays valid if a link is removed. It stays valid if the
    // file then gets another link, as from a package of the driver service that is made again.
    let asked = instances(&machine);
    told(&machine, &["update", "--changed"]);
    assert_eq!(instances(&machine), asked);
    fs::remove_file(machine.path("link0")).expect("a link");
    assert_eq!(used(&machine, &[]), "");
    fs::hard_link(&files[0], machine.path("link0")).expect("the same file system");
    assert_eq!(used(&machine, &[]), "");
}

/// DRV-275: hard links that are added or removed while a driver is asked do not count as changes either, even if each query meets another one.
#[test]
fn hard_links_during_an_update_are_no_changes() {
    let Some((machine, [library, needed])) = machine_of_two(&["-Wl,--build-id"]) else {
        return;
    };
    // The links are in another folder, because the folder of the libraries is a file of the driver too.
    let links = machine.path("links");
    fs::create_dir_all(&links).expect("a folder");
    let link = |(number, file): (usize, &PathBuf)| {
        let (file, links) = (file.display(), links.display());
        // The second link is removed again, so the number of links stays the same after the first query.
        format!("ln {file} {links}/{number}.$PPID; ln {file} {links}/x; rm {links}/x")
    };
    let links: Vec<String> = [&library, &needed].into_iter().enumerate().map(link).collect();
    let links = links.join("; ");
    machine.driver("a", &format!("run vkCreateInstance {links}\ndevice one"));
    machine.manifest("a", &library, "");
    told(&machine, &["update", "--no-records"]);
    assert!(fs::metadata(&needed).expect("a file").nlink() > 1);
    assert_eq!(driver(&written(&machine), "a")["outcome"], "answered");
    assert_eq!(used(&machine, &[]), "");
}

/// DRV-271: an entry is not used after a file was overwritten with another build, even if the file keeps its modification time. A hard link
/// that is added afterwards does not change this. For a file without a build ID, each write counts.
#[test]
fn a_hard_link_hides_no_other_build() {
    for (words, same) in [("-Wl,--build-id", ""), ("-Wl,--build-id=none", "library")] {
        let Some((machine, [_, needed])) = machine_of_two(&[words]) else {
            return;
        };
        let other = machine.path("libothers.so");
        assert!(compile(&other, "int needed = 2;", &[words]));
        let (other, own) = (fs::read(other).expect("a file"), fs::read(&needed).expect("a file"));
        assert_eq!(other.len(), own.len());
        write_unseen(&needed, &own);
        assert_eq!(used(&machine, &[]), same, "{words}: the same content again");
        update(&machine);
        write_unseen(&needed, &other);
        assert_eq!(used(&machine, &[]), "library", "{words}");
        fs::hard_link(&needed, machine.path("link")).expect("the same file system");
        assert_eq!(used(&machine, &[]), "library", "{words}");
    }
}

/// DRV-271: if a file has no build ID, an entry is not used after a hard link to the file is added.
#[test]
fn a_linked_file_without_a_build_id_has_changed() {
    let Some((machine, [_, needed])) = machine_of_two(&["-Wl,--build-id=none"]) else {
        return;
    };
    fs::hard_link(&needed, machine.path("link")).expect("the same file system");
    assert_eq!(used(&machine, &[]), "library");
    told(&machine, &["update", "--changed"]);
    assert_eq!(used(&machine, &[]), "");
}

/// DRV-271: the files of a Mesa driver include its profiles, and the path of a profile that does not exist yet.
#[test]
fn profiles_that_a_driver_reads_are_among_its_files() {
    let mut machine = machine();
    machine.variable("VK_LOADER_CATALOGUE", "on");
    machine.driver("a", "instance_extension VK_KHR_surface 25\ndevice one");
    let (folder, own) = (machine.path("share/drirc.d"), machine.path("etc/drirc"));
    for place in [&folder, &machine.path("etc")] {
        fs::create_dir_all(place).expect("folders");
    }
    fs::write(folder.join("00-a.conf"), "<driconf/>").expect("a file");
    let driver = machine.path("libraries/libdriver.so");
    let source = format!(
        r#"const char *places[] = {{"{}", "{}"}};"#,
        folder.display(),
        own.display()
    );
    if !compile_user(&machine, &driver, &source, &["-lmock_a"]) {
        return skip("there is no C compiler");
    }
    machine.manifest("a", &driver, "");
    let change = |what: &str, change: &dyn Fn()| {
        update(&machine);
        assert_eq!(used(&machine, &[]), "", "{what}");
        change();
        assert_eq!(used(&machine, &[]), "library", "{what}");
        let text = told(&machine, &["show"]);
        assert!(text.contains(what), "{what}: {text}");
        told(&machine, &["update", "--changed"]);
        assert_eq!(used(&machine, &[]), "", "{what}");
    };
    change("00-a.conf has changed", &|| {
        fs::write(folder.join("00-a.conf"), "<driconf> </driconf>").expect("a file");
    });
    change("drirc.d has changed", &|| {
        fs::write(folder.join("01-b.conf"), "").expect("a file")
    });
    change("etc/drirc has changed", &|| {
        fs::write(&own, "<driconf/>").expect("a file")
    });
    change("etc/drirc has changed", &|| fs::remove_file(&own).expect("a file"));
}

/// DRV-271: an entry is not used if a security module denies this process access to the driver's file. Only opening the file shows the
/// denial.
#[test]
fn a_driver_that_a_security_module_refuses_does_not_count() {
    let Some((machine, [driver, _])) = machine_of_two(&["-Wl,--build-id"]) else {
        return;
    };
    let Some(program) = machine.landlock() else {
        return;
    };
    let text = |path: &Path| path.to_str().expect("plain").to_owned();
    let driver = text(&driver);
    let elsewhere = text(&machine.path("other"));
    assert_eq!(used_behind(&machine, &[&program, &elsewhere], &[]), "");
    assert_eq!(used_behind(&machine, &[&program, &driver], &[]), "unreadable");
}

/// DRV-271: the root of a container is an overlay, whose number the kernel chooses at each start. Its files keep their entries.
#[test]
fn a_container_that_starts_again_keeps_its_entries() {
    let Some((machine, _)) = machine_of_two(&["-Wl,--build-id"]) else {
        return;
    };
    let run = |command: &mut Command| command.output().is_ok_and(|done| done.status.success());
    let (inside, place) = (machine.path("inside"), machine.path("libraries"));
    fs::rename(&place, &inside).expect("a folder");
    for folder in ["libraries", "upper", "work", "others"] {
        fs::create_dir_all(machine.path(folder)).expect("a folder");
    }
    let layer = |name: &str| machine.path(name).display().to_string();
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        layer("inside"),
        layer("upper"),
        layer("work")
    );
    let others = machine.path("others");
    let mount = || {
        run(Command::new("mount")
            .args(["-t", "overlay", "none", "-o", &options])
            .arg(&place))
    };
    let unmount = |place: &Path| assert!(run(Command::new("umount").arg(place)), "{} is mounted", place.display());
    if !mount() {
        return skip("no overlay can be mounted");
    }
    update(&machine);
    let before = fs::metadata(&place).map(|found| found.dev()).expect("a folder");
    let counted = used(&machine, &[]);
    // The kernel gives the next file system the lowest number that is free. Any process may take or free numbers meanwhile, so that several
    // file systems are mounted in between until the overlay gets another number.
    let mut taken = 0;
    let mut after = before;
    while after == before && taken < 20 {
        unmount(&place);
        assert!(run(Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&others)));
        taken += 1;
        assert!(mount(), "an overlay");
        after = fs::metadata(&place).map(|found| found.dev()).expect("a folder");
    }
    let counts = used(&machine, &[]);
    unmount(&place);
    for _ in 0..taken {
        unmount(&others);
    }
    assert_ne!(before, after);
    assert_eq!((counted.as_str(), counts.as_str()), ("", ""));
}

/// DRV-271: the files in the next version of an image may have the same inode numbers and times. Only their build IDs show that they
/// differ.
#[test]
fn files_of_an_image_are_known_by_their_build_ids() {
    let Some((mut machine, files)) = machine_of_two(&["-Wl,--build-id"]) else {
        return;
    };
    let (inside, place) = (machine.path("inside"), machine.path("libraries"));
    let other = machine.path("libothers.so");
    assert!(compile(&other, "int needed = 2;", &["-Wl,--build-id"]));
    fs::rename(&place, &inside).expect("a folder");
    fs::create_dir_all(&place).expect("a folder");
    let run = |command: &mut Command| command.output().is_ok_and(|done| done.status.success());
    let image = |name: &str| {
        let image = machine.path(name);
        let made = run(Command::new("mkfs.erofs").arg("-T1700000000").arg(&image).arg(&inside));
        made.then_some(image)
    };
    let first = image("first.erofs");
    fs::copy(other, inside.join("libneeded.so")).expect("a file");
    let (Some(first), Some(second)) = (first, image("second.erofs")) else {
        return skip("there is no mkfs.erofs");
    };
    let mount = |image: &Path| run(Command::new("mount").args(["-o", "loop,ro"]).arg(image).arg(&place));
    let unmount = || {
        assert!(
            run(Command::new("umount").arg(&place)),
            "{} is still mounted",
            place.display()
        )
    };
    if !mount(&first) {
        return skip("no image can be mounted");
    }
    machine.variable("VK_LOADER_CATALOGUE", "on");
    update(&machine);
    let state = || {
        fs::metadata(&files[1])
            .map(|found| (found.ino(), found.size(), found.ctime(), found.mtime()))
            .ok()
    };
    let (before, counted) = (state(), used(&machine, &[]));
    told(&machine, &["update", "--changed"]);
    let kept = used(&machine, &[]);
    unmount();
    assert!(mount(&second), "a second image");
    let (after, counts) = (state(), used(&machine, &[]));
    unmount();
    assert_eq!((before, counted.as_str(), kept.as_str()), (after, "", ""));
    assert_eq!(counts, "library");
}
