//! Compares the loader's prediction with the files that the real dynamic linker loads in a program. A program uses an entry only if the
//! linker loads the recorded files.

use crate::asked::*;
use crate::closure::{compile, compile_user, update, used};
use crate::machine::{Machine, in_environment_of, library, skip};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Source of a program that asks the loader for extensions and opens the driver. The program then prints the mapped files whose names
/// contain a text.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    if (getenv("RENAMES"))
        for (char **one = environ; *one; one++)
            words[0] = *one;
    char *value = getenv("LD_LIBRARY_PATH");
    if (getenv("FORGETS"))
        unsetenv("LD_LIBRARY_PATH");
    if (getenv("WIPES"))
        memset(value - strlen("LD_LIBRARY_PATH="), 0, strlen("LD_LIBRARY_PATH=") + strlen(value));
    if (getenv("LATER"))
        setenv("LD_LIBRARY_PATH", getenv("LATER"), 1);
    void *loader = dlopen(words[1], RTLD_NOW);
    int (*query)(const char *, unsigned *, void *);
    unsigned extensions = 0;
    if (count != 4 || !loader || !(*(void **)&query = dlsym(loader, "vkEnumerateInstanceExtensionProperties")))
        return 1;
    query(NULL, &extensions, NULL);
    if (!dlopen(words[2], RTLD_NOW))
        return 2;
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, words[3]) && strchr(line, '/'))
            fputs(strchr(line, '/'), stdout);
    return 0;
}
"#;

/// A machine with a program and a driver. The driver's library needs another library, which the linker finds through `LD_LIBRARY_PATH`.
struct Case {
    machine: Machine,
    driver: PathBuf,
    needed: PathBuf,
    program: PathBuf,
    /// Command before the program: a dynamic linker with its options; empty to start the program directly.
    before: Vec<String>,
}

/// Result of running the program.
#[derive(Debug, PartialEq, Eq)]
struct Got {
    /// Reason why the entry was not used; empty if the entry was used.
    doubt: String,
    /// File that the linker loaded when the driver requested the needed library.
    taken: PathBuf,
}

impl Case {
    fn new() -> Option<Self> {
        let mut machine = machine();
        machine.variable("VK_LOADER_CATALOGUE", "on");
        machine.driver("needed", "instance_extension VK_KHR_surface 25\ndevice one");
        let libraries = machine.path("libraries");
        machine.variable("LD_LIBRARY_PATH", libraries.display().to_string());
        let driver = libraries.join("libdriver.so");
        let folder = format!("-L{}", libraries.display());
        if !compile(&driver, "", &["-Wl,--no-as-needed", &folder, "-lmock_needed"]) {
            skip("there is no C compiler");
            return None;
        }
        machine.manifest("needed", &driver, "");
        for place in ["other", "bin"] {
            fs::create_dir_all(machine.path(place)).expect("folders");
        }
        let (needed, program) = (libraries.join("libmock_needed.so"), machine.path("bin/program"));
        let case = Self {
            machine,
            driver,
            needed,
            program,
            before: Vec::new(),
        };
        case.link(&[]);
        update(&case.machine);
        Some(case)
    }

    /// Builds the program with `words` as options for the compiler's linker.
    fn link(&self, words: &[&str]) {
        let source = self.machine.file("bin/program.c", PROGRAM);
        let mut command = Command::new("cc");
        command.arg("-o").arg(&self.program).arg(source).args(words).arg("-ldl");
        assert!(command.output().expect("cc was there").status.success(), "{words:?}");
    }

    /// Creates another file with the name of the needed library, in a folder.
    fn other(&self, folder: &str) -> PathBuf {
        fs::create_dir_all(self.machine.path(folder)).expect("folders");
        let path = self.machine.path(folder).join("libmock_needed.so");
        assert!(
            compile(&path, "int other;", &["-Wl,-soname,libmock_needed.so"]),
            "{folder}"
        );
        path
    }

    fn run(&self, variables: &[(&str, String)]) -> Got {
        let trace = self.machine.path("trace");
        fs::write(&trace, "").expect("a file");
        fs::set_permissions(&trace, fs::Permissions::from_mode(0o666)).expect("the owner may");
        let like = self.machine.command(&[]);
        let program = self.program.display().to_string();
        let mut words = self.before.iter().chain([&program]);
        let mut command = in_environment_of(&like, words.next().expect("a program"));
        command
            .args(words)
            .arg(library())
            .arg(&self.driver)
            .arg("libmock_needed");
        command
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .env("VK_LOADER_TRACE", &trace);
        let output = self.machine.as_user(&mut command).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        let text = fs::read_to_string(&trace).expect("a trace");
        let records = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("a record"));
        let first = records.into_iter().find(|record| record["event"] == "catalogue");
        let first = first.unwrap_or_else(|| panic!("{text}"));
        let mapped = String::from_utf8(output.stdout).expect("text");
        Got {
            doubt: first["doubt"].as_str().unwrap_or_default().into(),
            taken: mapped.lines().next().expect("it is mapped").into(),
        }
    }

    /// Checks that the program uses the entry and that the linker loads the recorded file.
    fn counts(&self, variables: &[(&str, String)]) {
        let (doubt, taken) = (String::new(), self.needed.clone());
        assert_eq!(self.run(variables), Got { doubt, taken }, "{variables:?}");
    }

    /// Checks that the program does not use the entry and that the linker loads the file `taken`.
    fn takes(&self, taken: &Path, variables: &[(&str, String)]) {
        let (doubt, taken) = ("shadowed".into(), taken.into());
        assert_eq!(self.run(variables), Got { doubt, taken }, "{variables:?}");
    }

    fn search(&self, folders: &str) -> [(&'static str, String); 1] {
        let root = self.machine.path("").display().to_string();
        let all: Vec<String> = folders.split(' ').map(|folder| format!("{root}{folder}")).collect();
        [("LD_LIBRARY_PATH", all.join(":"))]
    }
}

/// Tests each way to make the linker load a file that the catalogue entry does not list, as root and as an ordinary user.
fn each_way(case: &Case) {
    case.counts(&[]);
    // `LD_LIBRARY_PATH` names the folder of the other library.
    let other = case.other("other");
    case.takes(&other, &case.search("other libraries"));
    // `DT_RPATH` of the program names the folder of the other library. `DT_RUNPATH` of the program has no effect on libraries that the
    // driver needs.
    let folder = format!("-Wl,-rpath,{}", case.machine.path("other").display());
    case.link(&[&folder, "-Wl,--disable-new-dtags"]);
    case.takes(&other, &[]);
    case.link(&["-Wl,-rpath,$ORIGIN/../other", "-Wl,--disable-new-dtags"]);
    case.takes(&other, &[]);
    case.link(&[&folder, "-Wl,--enable-new-dtags"]);
    case.counts(&[]);
    // `LD_PRELOAD` loads the other library, which has the name of the needed library.
    case.link(&[]);
    case.takes(&other, &[("LD_PRELOAD", other.display().to_string())]);
    let place = format!("-L{}", case.machine.path("other").display());
    case.link(&[
        "-Wl,--no-as-needed",
        &place,
        "-lmock_needed",
        &folder,
        "-Wl,--disable-new-dtags",
    ]);
    case.takes(&other, &[]);
    case.link(&[]);
    case.counts(&[]);
    fs::remove_file(&other).expect("a file");
}

/// DRV-271: an entry is not used if the linker finds another file before the recorded one.
#[test]
fn what_another_file_is_put_in_front_of_does_not_count() {
    let Some(mut case) = Case::new() else { return };
    each_way(&case);
    if !case.machine.unprivileged() {
        return;
    }
    // The mock driver writes the names of its called functions to the journal.
    fs::write(case.machine.path("journal"), "").expect("a file");
    fs::set_permissions(case.machine.path("journal"), fs::Permissions::from_mode(0o666)).expect("the owner may");
    for place in ["cache", "cache/vulkan-loader"] {
        chown(case.machine.path(place), Some(65534), Some(65534)).expect("the superuser may");
    }
    chown(file(&case.machine), Some(65534), Some(65534)).expect("the superuser may");
    each_way(&case);
}

/// DRV-271: an auditing library that the program names can lead the linker to another file, as a library in `LD_AUDIT`
/// can.
#[test]
fn a_program_that_is_linked_with_an_auditing_library_uses_no_entry() {
    let Some(case) = Case::new() else { return };
    let (audit, other) = (case.machine.path("bin/audit.so"), case.other("other"));
    let source = format!(
        r#"
        #include <string.h>
        unsigned la_version(unsigned version) {{ return version; }}
        char *la_objsearch(const char *name, unsigned long *cookie, unsigned flag) {{
            return strstr(name, "libmock_needed.so") ? "{}" : (char *)name;
        }}"#,
        other.display()
    );
    assert!(compile(&audit, &source, &[]));
    for option in ["--audit", "--depaudit"] {
        case.link(&[&format!("-Wl,{option}={}", audit.display())]);
        let got = case.run(&[]);
        if got.taken == case.needed {
            return skip("the linker loads no auditing library that a program names");
        }
        assert_eq!((got.doubt.as_str(), got.taken), ("shadowed", other.clone()), "{option}");
    }
    case.link(&[]);
    case.counts(&[]);
}

/// Paths of dynamic linkers that C compilers write into programs.
const LINKERS: [&str; 3] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-linux.so.2",
];

/// DRV-271: an entry is not used if a user starts the dynamic linker with the program as its argument, because the library cannot determine
/// the linker's options.
#[test]
fn a_program_that_the_linker_was_asked_to_start_uses_no_entry() {
    let Some(mut case) = Case::new() else { return };
    case.counts(&[]);
    let Some(linker) = LINKERS.into_iter().find(|path| Path::new(path).exists()) else {
        return skip("the dynamic linker has another name");
    };
    let other = case.other("other");
    let folders = [other.parent(), case.needed.parent()].map(|folder| folder.expect("a folder").display().to_string());
    case.before = vec![linker.into(), "--library-path".into(), folders.join(":")];
    case.takes(&other, &[]);
}

/// The dynamic linker reads `LD_LIBRARY_PATH` when a program starts, so the entry must match the value at that time. Later changes by the
/// program have no effect.
#[test]
fn a_variable_counts_as_the_linker_read_it() {
    let Some(case) = Case::new() else { return };
    let other = case.other("other");
    let [search] = case.search("other libraries");
    case.takes(&other, &[search.clone(), ("FORGETS", "1".into())]);
    // With `RENAMES`, the pointers to the program's arguments no longer show where the variables are in memory. With `WIPES`, the variable
    // itself is overwritten. In both cases, the entry is not used.
    for way in ["RENAMES", "WIPES"] {
        case.takes(&other, &[search.clone(), ("FORGETS", "1".into()), (way, "1".into())]);
    }
    let [search] = case.search("libraries other");
    case.counts(&[search, ("FORGETS", "1".into())]);
    // The linker reads `LD_LIBRARY_PATH` only at the start, so a later change by the program has no effect.
    let [search] = case.search("libraries");
    case.counts(&[search, ("LATER", "/nowhere".into())]);
}

/// A game launcher preloads an overlay for each word size, and puts the folders of its runtime at the beginning of `LD_LIBRARY_PATH`. An
/// entry is used only if the runtime does not contain other files with the names of the driver's files.
#[test]
fn a_launcher_matters_where_its_runtime_has_another_file_of_the_driver() {
    let Some(case) = Case::new() else { return };
    for place in ["overlay", "foreign", "runtime", "pinned"] {
        fs::create_dir_all(case.machine.path(place)).expect("folders");
    }
    assert!(compile(&case.machine.path("overlay/overlay.so"), "int overlay;", &[]));
    // Byte 4 of an ELF file is its class: 1 for 32-bit, 2 for 64-bit. The linker skips a library of another class.
    let class = if cfg!(target_pointer_width = "64") { 1 } else { 2 };
    let mut foreign = fs::read(case.machine.path("overlay/overlay.so")).expect("a file");
    foreign[4] = class;
    for name in ["foreign/overlay.so", "foreign/libmock_needed.so"] {
        case.machine.file(name, &foreign);
    }
    case.machine.file("runtime/libunrelated.so", "");
    let path = |name: &str| case.machine.path(name).display().to_string();
    let with = |folders: &str, overlay: &str| {
        let preload = format!("{}:{}", path(overlay), path("overlay/overlay.so"));
        let [search] = case.search(folders);
        [search, ("LD_PRELOAD", preload)]
    };
    for overlay in ["foreign/overlay.so", "nowhere/overlay.so"] {
        case.counts(&with("foreign runtime libraries", overlay));
    }
    let runtime = case.other("runtime");
    case.takes(&runtime, &with("foreign runtime libraries", "foreign/overlay.so"));
    // An earlier folder contains a link to the system's own file. Launchers create links to libraries whose version in the system is newer.
    std::os::unix::fs::symlink(&case.needed, case.machine.path("pinned/libmock_needed.so")).expect("a link");
    let (doubt, taken) = (String::new(), case.needed.clone());
    let got = case.run(&with("pinned foreign runtime libraries", "foreign/overlay.so"));
    let taken_file = fs::canonicalize(&got.taken).expect("a file");
    assert_eq!((got.doubt, taken_file), (doubt, taken));
}

/// An entry is not used if a folder for the hardware of this processor contains another file, because the linker searches that folder
/// first.
#[test]
fn folders_for_kinds_of_hardware_are_looked_at() {
    let Some(case) = Case::new() else { return };
    if !cfg!(target_arch = "x86_64") {
        return skip("the name of a folder for this processor is not known");
    }
    let other = case.other("other/glibc-hwcaps/x86-64-v2");
    case.takes(&other, &case.search("other libraries"));
    fs::remove_file(&other).expect("a file");
    case.counts(&case.search("other libraries"));
}

/// DRV-271: if the update found a library through `LD_LIBRARY_PATH`, a program must also find the library through `LD_LIBRARY_PATH`.
/// Additional folders in the variable are allowed.
#[test]
fn a_search_path_of_the_user_may_have_more_folders() {
    let Some(case) = Case::new() else { return };
    fs::create_dir_all(case.machine.path("empty")).expect("a folder");
    // `plain` is a file, so the linker finds no library in it.
    case.machine.file("plain", "");
    for folders in [
        "libraries",
        "plain libraries",
        "libraries empty",
        "empty libraries",
        "nowhere libraries other",
    ] {
        case.counts(&case.search(folders));
    }
    let other = case.other("other");
    case.counts(&case.search("libraries other"));
    case.takes(&other, &case.search("other"));
    case.takes(&other, &case.search("empty other libraries"));
    assert_eq!(
        used(&case.machine, &[("LD_LIBRARY_PATH", Path::new("/nowhere"))]),
        "shadowed"
    );
    assert_eq!(used(&case.machine, &[("LD_LIBRARY_PATH", Path::new(""))]), "shadowed");
}

/// DRV-271: if a folder depends on the process, the whole value of `LD_LIBRARY_PATH` is compared.
#[test]
fn a_search_path_that_depends_on_the_process_must_be_the_same() {
    let Some(mut case) = Case::new() else { return };
    let libraries = case.machine.path("libraries").display().to_string();
    let odd = format!("{libraries}:$ORIGIN/nothing");
    case.machine.variable("LD_LIBRARY_PATH", odd.clone());
    update(&case.machine);
    assert_eq!(written(&case.machine)["variables"][0]["value"], odd);
    case.counts(&[]);
    let ignored = used_or_ignored(&case, &libraries);
    assert_eq!(ignored, "ignored");
}

/// Returns `ignored` if a program with the search path `search` ignores the whole catalogue, and otherwise `used`.
fn used_or_ignored(case: &Case, search: &str) -> &'static str {
    let mut command = case.machine.command(&["catalogue", "show", "--user"]);
    let output = command.env("LD_LIBRARY_PATH", search).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.contains("ignores it: LD_LIBRARY_PATH has another value") {
        "ignored"
    } else {
        "used"
    }
}

/// Launchers of overlays set one search path for programs of both word sizes. The linker replaces `$LIB` in it by the name of a folder, and
/// an entry is used unless a folder that the word may mean has another file.
#[test]
fn a_launcher_s_search_path_for_both_word_sizes_matters_where_it_has_another_file() {
    let Some(case) = Case::new() else { return };
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return skip("the values of $LIB for this processor are not known");
    }
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let folders = ["lib", "lib64", &triplet, &format!("lib/{triplet}")].map(String::from);
    for form in ["$LIB", "${LIB}"] {
        let search = case.search(&format!("other/{form}/overlay libraries"));
        case.counts(&search);
        case.link(&["-Wl,-rpath,$ORIGIN/../$LIB/overlay", "-Wl,--disable-new-dtags"]);
        case.counts(&[]);
        case.link(&[]);
        let taken = folders.iter().filter(|folder| {
            let other = case.other(&format!("other/{folder}/overlay"));
            let got = case.run(&search);
            assert_eq!(got.doubt, "shadowed", "{folder}");
            fs::remove_file(&other).expect("a file");
            got.taken == other
        });
        assert_eq!(taken.count(), 1, "the linker replaces the word by one of these names");
    }
}

/// An entry depends on every library in a long chain of needed libraries, even on the last library.
#[test]
fn a_driver_of_sixty_files_is_known_by_all_of_them() {
    const MANY: usize = 60;
    let Some(case) = Case::new() else { return };
    let folder = format!("-L{}", case.machine.path("libraries").display());
    let place = |number: usize| case.machine.path(&format!("libraries/libpart{number}.so"));
    for number in (0..MANY).rev() {
        let next = match number + 1 {
            MANY => "-lmock_needed".into(),
            next => format!("-lpart{next}"),
        };
        assert!(
            compile(&place(number), "", &["-Wl,--no-as-needed", &folder, &next]),
            "{number}"
        );
    }
    assert!(compile(&case.driver, "", &["-Wl,--no-as-needed", &folder, "-lpart0"]));
    update(&case.machine);
    let files = written(&case.machine)["files"].as_array().map_or(0, Vec::len);
    assert!(files > MANY, "{files}");
    case.counts(&[]);
    let last = place(MANY - 1);
    let copy = case.machine.path("libraries/copy");
    fs::copy(&last, &copy).expect("a copy");
    fs::rename(&copy, &last).expect("a rename");
    assert_eq!(case.run(&[]).doubt, "library");
    update(&case.machine);
    case.counts(&[]);
    let other = case.other("other");
    case.takes(&other, &case.search("other libraries"));
}

/// Returns a machine with a driver that is compiled from `source`. The driver needs the mock driver, which `lines` configures. Returns
/// `None` without a compiler.
pub(crate) fn machine_with_source(source: &str, lines: &str) -> Option<Machine> {
    let mut machine = machine();
    machine.variable("VK_LOADER_CATALOGUE", "on");
    machine.driver("needed", lines);
    let driver = machine.path("libraries/libdriver.so");
    let source = source.replace("LIBRARIES", &machine.path("libraries").display().to_string());
    if !compile(&machine.path("libraries/libextra.so"), "int extra;", &[])
        || !compile_user(&machine, &driver, &source, &["-lmock_needed"])
    {
        skip("there is no C compiler");
        return None;
    }
    machine.manifest("needed", &driver, "");
    Some(machine)
}

/// DRV-271: the dynamic linker's log also shows a library that the driver closed before it answered.
#[test]
fn a_library_that_a_driver_opens_and_closes_is_one_of_its_files() {
    let source = r#"
        #include <dlfcn.h>
        __attribute__((constructor)) static void look(void) { dlclose(dlopen("LIBRARIES/libextra.so", RTLD_NOW)); }"#;
    let Some(machine) = machine_with_source(source, "device one") else {
        return;
    };
    update(&machine);
    assert_eq!(used(&machine, &[]), "");
    let (extra, copy) = (machine.path("libraries/libextra.so"), machine.path("copy"));
    fs::copy(&extra, &copy).expect("a copy");
    update(&machine);
    assert_eq!(used(&machine, &[]), "");
    let text = fs::read(&copy).expect("a file");
    fs::write(&extra, text).expect("a file");
    assert_eq!(used(&machine, &[]), "library");
}
