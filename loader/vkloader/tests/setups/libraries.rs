//! Set-ups with libraries that cannot be opened, or that can be opened but do not contain a driver.

use super::{Machine, Row, try_all};
use crate::machine::built;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

const LIBRARY: &str = "libraries/libmock_bad.so";

/// Installs a driver whose library file was changed.
fn changed(machine: &mut Machine, change: fn(&mut Vec<u8>)) {
    machine.driver("bad", "device one");
    let path = machine.path(LIBRARY);
    let mut bytes = fs::read(&path).expect("just copied");
    change(&mut bytes);
    fs::write(path, bytes).expect("written");
}

fn reinstall(machine: &mut Machine) {
    fs::copy(built("libmock_driver.so"), machine.path(LIBRARY)).expect("copied");
}

/// Compiles a C source to a library in the folder `libraries`.
pub(super) fn compile(machine: &Machine, name: &str, text: &str, needs: &[&str]) {
    let folder = machine.path("libraries");
    let source = machine.file(&format!("{name}.c"), text);
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", "-o"]);
    command
        .arg(folder.join(format!("lib{name}.so")))
        .arg(source)
        .arg("-L")
        .arg(&folder);
    command.args(needs.iter().map(|name| format!("-l{name}")));
    assert!(command.status().expect("a compiler").success());
}

/// Installs a library that is not a driver and is linked against the libraries in `needs`.
fn compiled(machine: &mut Machine, text: &str, needs: &[&str]) {
    for name in needs {
        compile(machine, name, "int nothing;\n", &[]);
    }
    compile(machine, "vkltuser", text, needs);
    machine.manifest("user", &machine.path("libraries/libvkltuser.so"), "");
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "Steam's container leads to a library of the system that was updated",
        |machine| {
            let manifest = machine.driver("bad", "device one");
            fs::create_dir(machine.path("pressure-vessel")).expect("a folder");
            let made = machine.path("pressure-vessel/0-bad.json");
            fs::rename(manifest, &made).expect("moved");
            fs::remove_file(machine.path(LIBRARY)).expect("removed");
            symlink("/run/host/nowhere/libmock_bad.so", machine.path(LIBRARY)).expect("a link");
            machine.variable("VK_DRIVER_FILES", made.to_str().expect("plain"));
        },
        "driver.not-opened",
    )
    .about("/run/host/nowhere/libmock_bad.so")
    .remedy("Quit Steam and start it again", |machine| {
        fs::remove_file(machine.path(LIBRARY)).expect("removed");
        reinstall(machine);
    }),
    Row::new(
        "a driver in Steam's container needs a library that the system lacks",
        |machine| {
            compiled(machine, "int user;\n", &["vkltneeded"]);
            fs::remove_file(machine.path("libraries/libvkltneeded.so")).expect("just made");
            fs::create_dir(machine.path("pressure-vessel")).expect("a folder");
            let library = machine.path("pressure-vessel/libvkltuser.so");
            fs::rename(machine.path("libraries/libvkltuser.so"), &library).expect("moved");
            machine.manifest("user", &library, "");
        },
        "driver.not-opened",
    )
    .about("libvkltneeded.so is missing")
    .remedy("On the system itself, not in Steam's container", |machine| {
        compile(machine, "vkltneeded", "int nothing;\n", &[]);
        let folder = machine.path("libraries");
        machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
    })
    .gone(),
    Row::new(
        "a variable makes the dynamic linker search for functions that are never called",
        |machine| {
            machine.driver("good", "device one");
            let source = machine.file("lazy.c", "int never(void);\nint unused(void) { return never(); }\n");
            let folder = machine.path("libraries");
            let library = folder.join("libvkltlazy.so");
            let mut command = Command::new("cc");
            command.args(["-shared", "-fPIC", "-Wl,--no-as-needed,-z,lazy,-rpath,$ORIGIN", "-o"]);
            command
                .arg(&library)
                .arg(source)
                .arg("-L")
                .arg(&folder)
                .arg("-lmock_good");
            assert!(command.status().expect("a compiler").success());
            machine.manifest("good", &library, "");
            machine.variable("LD_BIND_NOW", "1");
        },
        "driver.not-opened",
    )
    .about("needs the symbol never")
    .remedy("Unset LD_BIND_NOW, ", |machine| machine.unset("LD_BIND_NOW")),
    Row::new(
        "a library is cut off",
        // The file lacks a part of the segments that the header names. The dynamic linker crashes when it reads that part.
        |machine| changed(machine, |bytes| bytes.truncate(4096)),
        "program.crashed",
    )
    .about("libmock_bad.so is cut")
    .remedy("Reinstall", reinstall),
    Row::new(
        "a variable names a driver whose library is cut off",
        |machine| {
            changed(machine, |bytes| bytes.truncate(40));
            let manifest = machine.path("data/vulkan/icd.d/bad.json");
            machine.variable("VK_DRIVER_FILES", manifest.to_str().expect("plain"));
        },
        "driver.not-opened",
    )
    .about("is cut: it has 40 bytes")
    .remedy("Reinstall", reinstall),
    Row::new(
        "a variable puts a damaged file in front of a library that the driver needs",
        |machine| {
            compiled(machine, "int user;\n", &["vkltneeded"]);
            let folder = machine.path("in_front");
            fs::create_dir(&folder).expect("a folder");
            fs::write(folder.join("libvkltneeded.so"), "broken\n").expect("written");
            machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
        },
        "driver.not-opened",
    )
    .about("in_front/libvkltneeded.so is not a library")
    .remedy("in_front out of LD_LIBRARY_PATH", |machine| {
        machine.unset("LD_LIBRARY_PATH")
    })
    .gone(),
    Row::new(
        "a library is empty",
        |machine| changed(machine, Vec::clear),
        "driver.not-opened",
    )
    .about("is not a library: 0 bytes")
    .remedy("Reinstall", reinstall),
    Row::new(
        "a library is a text",
        |machine| changed(machine, |bytes| *bytes = b"version https://git-lfs\n".to_vec()),
        "driver.not-opened",
    )
    .about("without the beginning of one")
    .remedy("Reinstall", reinstall),
    Row::new(
        "a library is for another processor",
        |machine| changed(machine, |bytes| bytes[18] = 0xF7),
        "driver.wrong-architecture",
    )
    .about("libmock_bad.so is for machine")
    .remedy("Install the package for", reinstall),
    Row::new(
        "a library is for the other word size",
        |machine| {
            changed(machine, |bytes| {
                bytes[4] = if cfg!(target_pointer_width = "64") { 1 } else { 2 }
            })
        },
        "driver.wrong-architecture",
    )
    .about("libmock_bad.so")
    .remedy("Install", reinstall),
    Row::new(
        "a library that the driver needs is missing",
        |machine| {
            compiled(machine, "int nothing_more;\n", &["vkltneeded"]);
            fs::remove_file(machine.path("libraries/libvkltneeded.so")).expect("removed");
        },
        "driver.not-opened",
    )
    .about("libvkltneeded.so is missing")
    .remedy("Install the packages that bring libvkltneeded.so", |machine| {
        compile(machine, "vkltneeded", "int nothing;\n", &[]);
    })
    .gone(),
    Row::new(
        "a library that the driver needs is empty",
        |machine| {
            compiled(machine, "int nothing_more;\n", &["vkltneeded"]);
            fs::write(machine.path("libraries/libvkltneeded.so"), "").expect("written");
        },
        "driver.not-opened",
    )
    .about("libvkltneeded.so is not a library: 0 bytes")
    .remedy("Reinstall", |machine| {
        compile(machine, "vkltneeded", "int nothing;\n", &[]);
    })
    .gone(),
    Row::new(
        "a limit on the address space leaves no room for a library that the driver needs",
        |machine| {
            compile(machine, "vkltneeded", "char large[1 << 30];\n", &[]);
            compile(machine, "vkltuser", "int user;\n", &["vkltneeded"]);
            machine.manifest("user", &machine.path("libraries/libvkltuser.so"), "");
            let words = ["sh", "-c", "ulimit -v 1000000 && exec \"$@\"", "sh"];
            assert!(
                machine.start_with(words.map(String::from).into()),
                "a shell sets limits"
            );
        },
        "driver.not-opened",
    )
    .about("libvkltneeded.so, which libvkltuser.so needs: memory had no space for it")
    .remedy("ulimit -v unlimited", |machine| {
        machine.start_with(Vec::new());
    })
    .gone(),
    Row::new(
        "a known library that the driver needs is missing",
        |machine| {
            let folder = machine.path("libraries");
            compile(machine, "X11-xcb", "int nothing;\n", &[]);
            let own = folder.join("libX11-xcb.so");
            fs::remove_file(&own).expect("removed");
            let source = machine.file("known.c", "int nothing;\n");
            let made = Command::new("cc")
                .args(["-shared", "-fPIC", "-Wl,-soname,libX11-xcb.so.1", "-o"])
                .args([&own, &source])
                .status();
            assert!(made.expect("a compiler").success());
            compile(machine, "vkltuser", "int nothing_more;\n", &["X11-xcb"]);
            // The library `libX11-xcb.so.1` may be installed on this system, so the test replaces its name by a name that no system has.
            let user = folder.join("libvkltuser.so");
            let bytes = fs::read(&user).expect("just made");
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(text.contains("libX11-xcb.so.1"));
            let place = bytes
                .windows(15)
                .position(|part| part == b"libX11-xcb.so.1")
                .expect("a name");
            let mut bytes = bytes;
            bytes[place..place + 15].copy_from_slice(b"libY11-xcb.so.1");
            fs::write(&user, bytes).expect("written");
            machine.manifest("user", &user, "");
        },
        "driver.not-opened",
    )
    .about("libY11-xcb.so.1 is missing")
    .remedy("Install the packages that bring libY11-xcb.so.1", |machine| {
        let folder = machine.path("libraries");
        fs::copy(folder.join("libX11-xcb.so"), folder.join("libY11-xcb.so.1")).expect("copied");
    })
    .gone(),
    Row::new(
        "a driver needs a symbol that no library has",
        |machine| {
            compiled(
                machine,
                "extern int vklt_nowhere;\nint *use = &vklt_nowhere;\n",
                &["vkltold"],
            )
        },
        "driver.not-opened",
    )
    .about("needs the symbol vklt_nowhere")
    .remedy("Update", |machine| {
        compile(machine, "vkltold", "int vklt_nowhere;\n", &[])
    })
    .gone(),
    Row::new(
        "a driver that its manifest names by a path lies in a folder of a variable, and needs a symbol that no library has",
        |machine| {
            compiled(
                machine,
                "extern int vklt_nowhere;\nint *use = &vklt_nowhere;\n",
                &["vkltold"],
            );
            let folder = machine.path("libraries").display().to_string();
            machine.variable("LD_LIBRARY_PATH", folder);
        },
        "driver.not-opened",
    )
    .about("needs the symbol vklt_nowhere")
    .remedy("Update", |machine| {
        compile(machine, "vkltold", "int vklt_nowhere;\n", &[])
    })
    .gone(),
    Row::new(
        "a library is no driver",
        |machine| compiled(machine, "int nothing_more;\n", &[]),
        "driver.no-entry-point",
    )
    .about("libvkltuser.so")
    .remedy("library_path names the driver itself", |machine| {
        machine.driver("user", "device one");
    }),
    Row::new(
        "a driver finds none of its own functions",
        |machine| {
            let text = "void *vk_icdGetInstanceProcAddr(void *instance, const char *name) { return 0; }\n";
            compiled(machine, text, &[]);
        },
        "driver.no-global-function",
    )
    .about("libvkltuser.so")
    .remedy("companion libraries", |machine| {
        machine.driver("user", "device one");
    }),
];

#[test]
fn each_cause_in_a_library_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}

/// The dynamic linker skips the file of a bare name, and reports that there is none.
#[test]
fn a_name_of_a_library_for_another_processor() {
    let mut machine = Machine::new();
    let library = machine.path("libraries/libvkltbare.so");
    let mut bytes = std::fs::read(built("libmock_driver.so")).expect("cargo built it");
    bytes[18] = 0xF7;
    std::fs::write(&library, bytes).expect("it can be written");
    machine.manifest("bare", "libvkltbare.so".as_ref(), "");
    let folder = library.parent().expect("a folder").display().to_string();
    machine.variable("LD_LIBRARY_PATH", &folder);
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.wrong-architecture"));
    let findings = explained.findings();
    assert!(
        findings.contains("libvkltbare.so is for machine 247") && !findings.contains("in no folder"),
        "{findings}"
    );
}
