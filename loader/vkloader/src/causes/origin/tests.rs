//! Tests of the origins of variables.

use super::*;
use crate::report::codes;

#[test]
fn a_command_may_unset_several_variables() {
    for (advice, expected) in [
        ("To undo this: unset __NV_A VK_X, or start it alone", true),
        ("unset VK_X", true),
        ("If this is unintended: unset VK_X; for new sessions, remove it", true),
        ("unset VK_XY, or VK_X=1 PROGRAM", false),
    ] {
        assert_eq!(unsets(advice, "VK_X"), expected, "{advice}");
    }
}

#[test]
fn the_lines_of_two_variables_are_one_remedy() {
    let mut found = codes::SEARCH_REPLACED.about("VK_A");
    found.advice = "To undo this: unset VK_A VK_B".into();
    for (name, line) in [("VK_A", 2), ("VK_B", 3)] {
        let lasting = Some(format!("remove line {line} of /x"));
        let (words, instead) = (Vec::new(), None);
        Origin {
            words,
            instead,
            lasting,
        }
        .add_to(&mut found, name);
    }
    assert!(
        found
            .advice
            .ends_with("; for new sessions, remove line 2 of /x, and remove line 3 of /x")
    );
}

#[test]
fn the_version_of_flatpaks_runtime_is_read() {
    let text = "[Application]\nname=org.example.Game\nruntime=runtime/org.freedesktop.Platform/x86_64/24.08\n";
    assert_eq!(runtime_version(text), Some("24.08"));
    assert_eq!(runtime_version("runtime=runtime/org.kde.Platform/x86_64/6.8\n"), None);
}

#[test]
fn the_nearest_process_that_was_started_without_the_variable_set_it() {
    let root = tempfile::tempdir().expect("a folder");
    for (process, parent, environment) in [
        (40, 30, "A=1\0VK_X=2\0"),
        (30, 20, "VK_X=2\0"),
        (20, 10, "VK_XY=2\0"),
        (10, 0, "VK_X=0\0"),
    ] {
        let folder = root.path().join(process.to_string());
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("status"), format!("Name:\tx\nPPid:\t{parent}\n")).expect("a file");
        fs::write(folder.join("environ"), environment).expect("a file");
        fs::write(folder.join("comm"), format!("shell{process}\n")).expect("a file");
    }
    let words = process(root.path(), 40, "VK_X").expect("it was set");
    assert!(words.starts_with("set by process 20 (shell20)"), "{words}");
    assert_eq!(process(root.path(), 10, "VK_X"), None);
    for (process, parent) in [(5, 1), (1, 0)] {
        let folder = root.path().join(process.to_string());
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("status"), format!("Name:\tx\nPPid:\t{parent}\n")).expect("a file");
        fs::write(folder.join("environ"), "VK_X=2\0").expect("a file");
    }
    let words = process(root.path(), 5, "VK_X").expect("it was set");
    assert!(words.contains("by ENV in its image"), "{words}");
}

#[test]
fn a_script_that_sets_a_variable_is_named_unless_a_shell_has_it() {
    let root = tempfile::tempdir().expect("a folder");
    let script = root.path().join("wrapper");
    fs::write(&script, "#!/bin/sh\nexport VK_X=2\n\"$@\"\n").expect("a script");
    let command = format!("/bin/sh\0{}\0game\0", script.display());
    for (process, parent, environment, line) in [
        (40, 30, "VK_X=2\0", "vkloader\0"),
        (30, 20, "VK_X=2\0", "game\0"),
        (20, 10, "A=1\0", command.as_str()),
        (50, 31, "VK_X=2\0", "vkloader\0"),
        (31, 20, "VK_X=2\0", "-bash\0-i\0"),
    ] {
        let folder = root.path().join(process.to_string());
        fs::create_dir(&folder).expect("a folder");
        for (name, text) in [
            ("status", format!("PPid:\t{parent}\n")),
            ("environ", environment.into()),
            ("cmdline", line.into()),
        ] {
            fs::write(folder.join(name), text).expect("a file");
        }
    }
    let of = |process| Origin::of_wrapper(root.path(), process, ("VK_X", Some("2")));
    let instead = of(40).and_then(|found| found.instead).expect("a remedy");
    assert_eq!(instead, format!("remove VK_X from line 2 of {}", script.display()));
    assert!(of(50).is_none(), "the shell of a user has the variable");
}

#[test]
fn the_file_of_a_session_is_found_with_its_line() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("etc/environment.d");
    fs::create_dir_all(&folder).expect("folders");
    fs::write(folder.join("90-gpu.conf"), "# VK_X=1\nOTHER=VK\nVK_X=/a.json\n").expect("a file");
    let (path, line) = file(root.path(), None, ("VK_X", Some("/a.json"))).expect("it is set");
    assert!(path.ends_with("90-gpu.conf") && line == 3, "{path:?} {line}");
    assert_eq!(file(root.path(), None, ("VK_Y", None)), None);
    assert_eq!(file(root.path(), None, ("VK_X", Some("/b.json"))), None);
}

#[test]
fn the_file_of_a_limit_is_found_with_its_line() {
    let root = tempfile::tempdir().expect("a folder");
    let home = root.path().join("home");
    let limit = || of_limit(root.path(), Some(&home), 'v', "as");
    fs::create_dir_all(root.path().join("etc/security/limits.d")).expect("folders");
    fs::create_dir_all(&home).expect("folders");
    assert_eq!(limit(), None);
    let rows = root.path().join("etc/security/limits.d/users.conf");
    fs::write(
        &rows,
        "# @users hard as 1\n@users hard nofile 10\n@users hard as 100000\n",
    )
    .expect("a file");
    assert_eq!(limit(), Some((rows, 3)));
    let own = home.join(".profile");
    fs::write(&own, "# ulimit -v 1\nulimit -n 9\n[ -t 0 ] && ulimit -Sv 100000\n").expect("a file");
    assert_eq!(limit(), Some((own, 3)));
}
