//! `vkloader files` with drivers that open or hide files, crash, hang, or are missing.

mod asked;
mod containers;
#[path = "../machine/mod.rs"]
mod machine;
#[path = "../validated/mod.rs"]
mod validated;

use asked::{Files, compile, files, on_open};
use machine::{Machine, behind, library, skip};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

#[test]
fn a_driver_its_manifest_and_what_they_lead_through() {
    let machine = Machine::new();
    let manifest = machine.driver("good", "device one");
    let found = files(&machine, &[]);
    assert_eq!((found.code(), found.said()), (0, String::new()));
    let library = machine.path("libraries/libmock_good.so");
    for path in [&manifest, &library, Path::new("/etc/ld.so.cache")] {
        assert!(found.has(path), "{}: {}", path.display(), found.text());
    }
    assert!(found.text().contains("/ld-linux"), "{}", found.text());
    // The list contains neither `vkloader` nor the loader, because a sandbox has its own loader.
    let others = ["libvulkan.so", "vkloader", "journal"];
    assert!(
        !others.iter().any(|other| found.text().contains(other)),
        "{}",
        found.text()
    );
    let found = files(&machine, &["--format", "json"]);
    assert_eq!(found.json()["drivers"][0]["devices"], serde_json::json!(["one"]));
    assert_eq!(found.json()["drivers"][0]["watched"], true);
    assert_eq!(found.known(&manifest), Some("manifest chosen".into()));
    assert_eq!(found.known(&library), Some("library chosen".into()));
    // The list contains the driver's configuration file, although the driver closes that file immediately.
    assert_eq!(
        found.known(&machine.path("libraries/libmock_good.conf")),
        Some("data opened".into())
    );
}

#[test]
fn what_is_opened_and_closed_at_once_is_seen() {
    let machine = Machine::new();
    let paths = ["read", "by a thread", "asked", "written"].map(|name| machine.file(name, "x"));
    let [read, threaded, asked, written] = paths.each_ref().map(|path| path.to_str().expect("plain"));
    let other = compile(&machine, "vkltother", "int unused;", &[]);
    let body = format!(
        "look(\"{read}\"); pthread_create(&thread, 0, look_too, \"{threaded}\"); pthread_join(thread, 0);\n\
         struct stat status; stat(\"{asked}\", &status); close(open(\"{written}\", O_RDWR)); look(\"/nowhere/file\");\n\
         void *other = dlopen(\"{}\", RTLD_NOW); dlclose(other);",
        other.display()
    );
    let needed = compile(&machine, "vkltneeded", "int needed;", &[]);
    let driver = compile(&machine, "vkltopens", &on_open(&body), &["-lvkltneeded", "-lpthread"]);
    machine.manifest("opens", &driver, "");
    let found = files(&machine, &["--driver", "opens", "--format", "json"]);
    // The command fails for a driver without a device, because the driver may open more files on other machines.
    assert_eq!(found.code(), 1);
    assert!(found.said().contains("no device works"), "{}", found.said());
    assert_eq!(found.known(&needed), Some("library needed".into()));
    assert_eq!(found.known(&other), Some("library opened".into()));
    for path in [&paths[0], &paths[1]] {
        assert_eq!(found.known(path), Some("data opened".into()), "{}", path.display());
    }
    for path in [&paths[2], &paths[3]] {
        assert_eq!(found.known(path), None, "{}", path.display());
    }
    // Without a pattern, the list only has drivers with devices.
    let found = files(&machine, &[]);
    assert_eq!((found.code(), found.text()), (1, String::new()));
    assert!(
        found
            .said()
            .contains("left out, because none of its devices works here"),
        "{}",
        found.said()
    );
}

#[test]
fn nodes_and_parts_of_sys_are_those_that_are_used() {
    let candidates = [
        "/dev/fuse",
        "/dev/net/tun",
        "/dev/kmsg",
        "/dev/loop-control",
        "/dev/rtc0",
    ];
    let openable = |path: &&&str| fs::File::open(path).is_ok();
    let Some(node) = candidates.iter().find(openable) else {
        return skip("no device node here can be opened");
    };
    let machine = Machine::new();
    let body = format!(
        "look(\"{node}\"); look(\"/dev/null\"); look(\"/dev/urandom\"); look(\"/proc/version\");\n\
        struct stat status; stat(\"/sys/dev/char/1:1\", &status); look(\"/sys/devices/system/cpu/online\");"
    );
    machine.manifest(
        "opens",
        &compile(&machine, "vkltopens", &on_open(&body), &["-lpthread"]),
        "",
    );
    let found = files(&machine, &["--driver", "opens", "--format", "json"]);
    assert_eq!(found.known(Path::new(node)), Some("node opened".into()));
    for folder in ["/sys/dev/char", "/sys/devices"] {
        assert_eq!(found.known(Path::new(folder)), Some("system asked".into()), "{folder}");
    }
    for other in ["/dev/null", "/dev/urandom", "/proc/version", "/sys/devices/system/cpu"] {
        assert_eq!(found.known(Path::new(other)), None, "{other}");
    }
    assert_eq!(found.json()["drivers"][0]["nodes"], serde_json::json!([node]));
    let arguments = files(&machine, &["--driver", "opens", "--format", "bwrap"]).text();
    assert!(arguments.contains(&format!("--dev-bind {node} {node}")), "{arguments}");
    assert!(
        arguments.starts_with("--proc /proc --dev /dev --tmpfs /tmp "),
        "{arguments}"
    );
}

/// Runs `vkloader files` under conditions that make observing processes impossible. Returns `None` if the test cannot create such
/// conditions.
fn unwatched(machine: &Machine, words: &[&str]) -> Option<Files> {
    let source = machine.file(
        "unwatched.c",
        "#include <linux/filter.h>\n#include <linux/seccomp.h>\n#include <stddef.h>\n#include <sys/prctl.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n\
         int main(int count, char **arguments) {\n\
         struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),\n\
         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};\n\
         struct sock_fprog program = {4, filter};\n\
         if (count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) return 77;\n\
         execv(arguments[1], arguments + 1); return 78; }\n",
    );
    let wrapper = machine.path("unwatched");
    let status = Command::new("cc").arg("-o").arg(&wrapper).arg(source).status();
    assert!(status.expect("a compiler").success());
    let library = library();
    let mut all = vec!["files", "--library", library.to_str().expect("plain")];
    all.extend(words);
    let command = machine.command(&all);
    let mut wrapped = behind(&[wrapper.to_str().expect("plain")], &command);
    let found = Files {
        output: wrapped.output().expect("it starts"),
    };
    (found.code() != 77).then_some(found)
}

#[test]
fn a_process_that_cannot_be_watched_tells_what_it_holds() {
    let mut machine = Machine::new();
    let (kept, closed) = (machine.file("kept", "x"), machine.file("closed", "x"));
    let body = format!(
        "open(\"{}\", O_RDONLY); look(\"{}\"); dlopen(\"libvkltkept.so.3\", RTLD_NOW | RTLD_NODELETE);",
        kept.display(),
        closed.display()
    );
    let needed = compile(&machine, "vkltneeded", "int needed;", &[]);
    // The driver opens a library through a link, and keeps the library open.
    let opened = compile(&machine, "vkltkept", "int opened;", &["-Wl,-soname,libvkltkept.so.3"]);
    let found_by = machine.path("libraries/libvkltkept.so.3");
    symlink("libvkltkept.so", &found_by).expect("a link");
    let driver = compile(&machine, "vkltopens", &on_open(&body), &["-lvkltneeded", "-lpthread"]);
    // The linker finds the library by the name of a link.
    let link = machine.path("libraries/libvkltlink.so.1");
    symlink("libvkltopens.so", &link).expect("a link");
    machine.manifest("opens", "libvkltlink.so.1".as_ref(), "");
    machine.variable("LD_LIBRARY_PATH", machine.path("libraries").to_str().expect("plain"));
    let Some(found) = unwatched(&machine, &["--driver", "opens"]) else {
        return skip("no filter for system calls can be installed here");
    };
    assert!(found.said().contains("could not be watched"), "{}", found.said());
    for path in [&driver, &link, &needed, &opened, &found_by, &kept] {
        assert!(found.has(path), "{}: {}", path.display(), found.text());
    }
    assert!(!found.has(&closed), "{}", found.text());
}

#[test]
fn a_link_that_a_manifest_names_is_kept() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    // Installs a driver whose library is a symbolic link. The loader reports the target of this link.
    let link = machine.path("libraries/libmock_link.so");
    symlink("libmock_good.so", &link).expect("a link");
    machine.file("libraries/libmock_link.conf", "device one\n");
    machine.manifest("good", "libmock_link.so".as_ref(), "");
    machine.variable("LD_LIBRARY_PATH", machine.path("libraries").to_str().expect("plain"));
    let Some(found) = unwatched(&machine, &[]) else {
        return skip("no filter for system calls can be installed here");
    };
    assert_eq!(found.code(), 0, "{}", found.said());
    assert!(
        found.has(&link) && found.has(&machine.path("libraries/libmock_good.so")),
        "{}",
        found.text()
    );
}

#[test]
fn a_driver_that_crashes_does_not_hide_others() {
    let machine = Machine::new();
    let good = machine.driver("good", "device one");
    let bad = machine.driver("bad", "crash vkCreateInstance");
    let deadly = compile(&machine, "vkltdeadly", &on_open("abort();"), &["-lpthread"]);
    // The name begins with `a`, so the loader opens this driver before the other drivers.
    let deadly = machine.manifest("a_deadly", &deadly, "");
    let found = files(&machine, &[]);
    assert_eq!(found.code(), 0, "{}", found.said());
    assert!(
        found.has(&good) && !found.has(&bad) && !found.has(&deadly),
        "{}",
        found.text()
    );
    for words in ["it ends every process", "vkCreateInstance of ", "libmock_bad.so"] {
        assert!(found.said().contains(words), "{words}: {}", found.said());
    }
    let found = files(&machine, &["--driver", "bad"]);
    assert_eq!(found.code(), 1);
    assert!(
        found.has(&bad) && found.has(&machine.path("libraries/libmock_bad.so")),
        "{}",
        found.text()
    );
    assert!(
        found.said().contains("What it opens after that is not known"),
        "{}",
        found.said()
    );
}

#[test]
fn a_driver_that_hangs_is_given_up() {
    steady::with_more_time(|factor| {
        let machine = Machine::new();
        let manifest = machine.driver("slow", "hang vkCreateDevice\ndevice one");
        let seconds = (8 * factor).to_string();
        let found = files(&machine, &["--driver", "slow", "--timeout", &seconds]);
        assert_eq!(found.code(), 1);
        assert!(
            found
                .said()
                .contains(&format!("within {seconds} s in vkCreateDevice of ")),
            "{}",
            found.said()
        );
        assert!(
            found.has(&manifest) && found.has(&machine.path("libraries/libmock_slow.conf")),
            "{}",
            found.text()
        );
    });
}

#[test]
fn what_is_missing_is_named() {
    let machine = Machine::new();
    machine.manifest("gone", "/nowhere/libgone.so".as_ref(), "");
    compile(&machine, "vkltdeepest", "", &[]);
    let driver = compile(&machine, "vkltdriver", "", &["-lvkltdeepest"]);
    fs::remove_file(machine.path("libraries/libvkltdeepest.so")).expect("it was just made");
    machine.manifest("broken", &driver, "");
    machine.manifest("circle", &machine.path("libraries/a.so"), "");
    symlink("b.so", machine.path("libraries/a.so")).expect("a link");
    symlink("a.so", machine.path("libraries/b.so")).expect("a link");
    let other = if cfg!(target_pointer_width = "64") { "32" } else { "64" };
    let other = format!(r#", "library_arch": "{other}""#);
    machine.manifest("other", "/nowhere/lib.so".as_ref(), &other);
    for (name, words) in [
        ("gone", "/nowhere/libgone.so was not found"),
        ("broken", "libvkltdeepest.so is missing, which "),
        ("circle", "libraries/a.so was not found"),
        ("other", "left out by the loader"),
        ("another", "no driver is called another"),
    ] {
        for format in ["list", "bwrap", "json"] {
            let found = files(&machine, &["--driver", name, "--format", format]);
            assert_eq!(found.code(), 1, "{name}: {}", found.said());
            assert!(found.said().contains(words), "{name}: {}", found.said());
        }
    }
}

#[test]
fn no_driver_and_no_loader() {
    let machine = Machine::new();
    let found = files(&machine, &[]);
    assert_eq!((found.code(), found.text()), (1, String::new()));
    assert!(found.said().contains("no driver offers a device"), "{}", found.said());
    let found = files(&machine, &["--format", "cdi"]);
    assert_eq!((found.code(), found.text()), (1, String::new()));
    let text = machine.file("libvulkan.so.1", "no library");
    let output = machine.run(&["files", "--library", text.to_str().expect("plain")]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_file_that_this_user_may_not_read() {
    let mut machine = Machine::new();
    machine.driver("closed", "device one");
    let open = machine.driver("open", "device one");
    let journal = machine.file("journal", "");
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o666)).expect("the owner may");
    let library = machine.path("libraries/libmock_closed.so");
    fs::set_permissions(&library, fs::Permissions::from_mode(0o600)).expect("the owner may");
    if !machine.unprivileged() {
        return;
    }
    let found = files(&machine, &[]);
    assert_eq!(found.code(), 0, "{}", found.said());
    assert!(found.has(&open), "{}", found.text());
    assert!(
        found.said().contains("libmock_closed.so: this user may not read it"),
        "{}",
        found.said()
    );
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_dynamic_linker_has_the_last_word_on_which_file_it_takes() {
    let machine = Machine::new();
    let plain = compile(&machine, "vkltneeded", "int needed;", &[]);
    // This folder is for libraries that need newer processors. The linker searches it before the folder in the search path of the library.
    let folder = machine.path("libraries/glibc-hwcaps/x86-64-v2");
    fs::create_dir_all(&folder).expect("folders");
    let newer = folder.join("libvkltneeded.so");
    fs::copy(&plain, &newer).expect("a copy");
    let driver = compile(&machine, "vkltopens", &on_open(""), &["-lvkltneeded", "-lpthread"]);
    machine.manifest("opens", &driver, "");
    let found = files(&machine, &["--driver", "opens", "--format", "json"]);
    if found.known(&newer).is_none() && found.known(&plain).is_some() {
        return skip("this processor or C library knows no such folder");
    }
    assert_eq!(found.known(&newer), Some("library needed".into()), "{}", found.text());
    assert_eq!(found.known(&plain), None);
}

#[test]
fn folders_that_a_library_names_count_for_what_it_brings_along() {
    let machine = Machine::new();
    let inner = machine.path("libraries/inner");
    fs::create_dir(&inner).expect("a folder");
    let build = |name: &str, folder: &Path, more: &[&str]| {
        let library = folder.join(format!("lib{name}.so"));
        let mut command = Command::new("cc");
        command
            .args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-L"])
            .arg(&inner);
        command
            .arg("-o")
            .arg(&library)
            .args(["-x", "c", "/dev/null"])
            .args(more);
        assert!(command.status().expect("a compiler").success());
        library
    };
    let deepest = build("vkltdeepest", &inner, &[]);
    let middle = build("vkltmiddle", &inner, &["-lvkltdeepest"]);
    let old_tag = ["-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/inner", "-lvkltmiddle"];
    let driver = build("vkltdriver", &machine.path("libraries"), &old_tag);
    machine.manifest("inherits", &driver, "");
    let found = files(&machine, &["--driver", "inherits"]);
    assert!(found.has(&middle) && found.has(&deepest), "{}", found.text());
    assert!(!found.said().contains("is missing"), "{}", found.said());
    // `DT_RUNPATH` of a library does not apply to the libraries that its dependencies need.
    let new_tag = ["-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN/inner", "-lvkltmiddle"];
    build("vkltdriver", &machine.path("libraries"), &new_tag);
    let found = files(&machine, &["--driver", "inherits"]);
    assert!(
        found.said().contains("libvkltdeepest.so is missing, which "),
        "{}",
        found.said()
    );
}

#[test]
fn the_work_is_valid_and_a_shader_is_compiled() {
    let layer = Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json");
    if !layer.exists() || !Path::new("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json").exists() {
        return skip("Mesa's drivers and the validation layer are not installed here");
    }
    let mut machine = Machine::new();
    let cache = machine.path("cache");
    fs::create_dir(&cache).expect("a folder");
    machine.variable("XDG_DATA_DIRS", "/usr/share");
    machine.variable("VK_DRIVER_FILES", "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json");
    machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
    machine.variable("XDG_CACHE_HOME", cache.to_str().expect("plain"));
    let output = machine.run(&["use", library().to_str().expect("plain")]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(r#""driver":"llvmpipe","failed":null"#), "{said}");
    assert!(!said.contains("VUID") && !said.contains("Validation"), "{said}");
    // The validation layer stores the hash of each valid shader, after a header of 24 bytes, in one file for each user.
    let name = format!("shader_validation_cache-{}.bin", rustix::process::geteuid().as_raw());
    let kept = fs::metadata(cache.join(name)).map_or(0, |file| file.len());
    assert!(kept > 24, "no shader was compiled: {said}");
}
#[test]
fn layers_are_listed_when_they_are_asked_for() {
    let layer = Path::new("/usr/share/vulkan/implicit_layer.d/VkLayer_MESA_device_select.json");
    if !layer.exists() || !Path::new("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json").exists() {
        return skip("Mesa's drivers and layers are not installed here");
    }
    let mut machine = Machine::new();
    machine.variable("XDG_DATA_DIRS", "/usr/share");
    let with = files(&machine, &["--driver", "lvp", "--layers"]);
    assert!(
        with.has(layer) && with.text().contains("libVkLayer_MESA_device_select.so"),
        "{}",
        with.text()
    );
    let without = files(&machine, &["--driver", "lvp"]);
    assert!(!without.text().contains("device_select"), "{}", without.text());
}

#[test]
fn a_driver_is_found_by_what_it_calls_itself() {
    if !Path::new("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json").exists() {
        return skip("Mesa's drivers are not installed here");
    }
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.variable("XDG_DATA_DIRS", "/usr/share");
    let found = files(&machine, &["--driver", "LLVMpipe"]);
    assert_eq!(found.code(), 0, "{}", found.said());
    let known = Path::new("/usr/share/drirc.d/00-mesa-defaults.conf");
    assert!(found.has(known) || !known.exists(), "{}", found.text());
    assert!(
        found.text().contains("libvulkan_lvp.so") && !found.text().contains("mock_good"),
        "{}",
        found.text()
    );
}

#[test]
fn a_reader_that_is_gone_is_no_failure() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = machine.command(&["files"]);
    let output = command
        .arg("--library")
        .arg(library())
        .stdout(writer)
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*said), (Some(0), ""));
}
