//! `vkloader explain` for 32-bit programs, and for drivers and layers of another word size.

mod machine;

use machine::{Explained, Machine, library, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options for a 32-bit library without the C library.
const SHARED: [&str; 4] = ["-m32", "-nostdlib", "-shared", "-fPIC"];

/// A machine with a 32-bit program, and with a loader and a driver for such programs.
struct Bench {
    machine: Machine,
    program: String,
    driver: PathBuf,
}

impl Bench {
    /// Returns `None` if this system cannot compile or run such programs.
    fn new() -> Option<Self> {
        let mut machine = Machine::new();
        machine.driver("good", "device one");
        let small = "void _start(void) { __asm__ volatile(\"movl $1, %eax; xorl %ebx, %ebx; int $0x80\"); }\n";
        let program = compile(&machine, "small", small, &["-m32", "-nostdlib", "-static"]);
        let program = program.filter(|_| cfg!(target_arch = "x86_64"));
        let runs = |program: &PathBuf| Command::new(program).status().is_ok_and(|status| status.success());
        let Some(program) = program.filter(runs) else {
            skip("a program of 32 bits: the compiler or the kernel here knows none");
            return None;
        };
        compile(&machine, "lib32/libvulkan.so.1", "int loader;\n", &SHARED).expect("a library");
        let driver = compile(&machine, "lib32/libdriver.so", "int driver;\n", &SHARED).expect("a library");
        machine.manifest("small_icd.i686", &driver, "");
        let folder = machine.path("lib32").display().to_string();
        machine.variable("LD_LIBRARY_PATH", folder);
        Some(Self {
            program: program.display().to_string(),
            machine,
            driver,
        })
    }

    /// Returns the report about a command.
    fn explain(&self, command: &[&str]) -> Explained {
        let library = library();
        let words = [&["--library", library.to_str().expect("plain"), "--"], command].concat();
        self.machine.explain_with(&words)
    }

    /// Asserts that the first finding about the program has a code, and words in its reason and in its remedy.
    fn tells(&self, code: &str, reason: &str, advice: &str) {
        let explained = self.explain(&[&self.program]);
        let first = &explained.report["dropped"][0];
        let told = first["reason"].as_str().unwrap_or_default();
        assert!(
            explained.first() == code && told.contains(reason) && explained.advice().contains(advice),
            "{first:#}"
        );
    }
}

fn compile(machine: &Machine, output: &str, text: &str, options: &[&str]) -> Option<PathBuf> {
    let path = machine.path(output);
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    let source = machine.file(&format!("{}.c", output.replace('/', "_")), text);
    let mut command = Command::new("cc");
    let made = command.arg("-o").arg(&path).arg(source).args(options).output();
    made.expect("a compiler").status.success().then_some(path)
}

#[test]
fn a_variable_that_leaves_out_the_driver_of_a_32_bit_program_is_named() {
    let Some(mut bench) = Bench::new() else { return };
    bench.machine.variable("VK_LOADER_DRIVERS_DISABLE", "small_icd*");
    bench.tells(
        "program.word-size",
        "VK_LOADER_DRIVERS_DISABLE leaves out the Vulkan driver",
        "unset VK_LOADER_DRIVERS_DISABLE",
    );
}

/// The variable names a driver for 64-bit programs, although the system has one for 32-bit programs too.
#[test]
fn a_variable_that_names_no_driver_for_a_32_bit_program_is_named() {
    let Some(mut bench) = Bench::new() else { return };
    let folder = bench.machine.path("system/usr/local/share/vulkan/icd.d");
    fs::create_dir_all(&folder).expect("folders");
    let own = bench.machine.path("data/vulkan/icd.d/small_icd.i686.json");
    fs::rename(own, folder.join("small_icd.i686.json")).expect("just written");
    let twin = compile(&bench.machine, "lib32/libmock_good.so", "int twin;\n", &SHARED).expect("a library");
    bench.machine.manifest("twin", &twin, "");
    let own = bench.machine.path("data/vulkan/icd.d/twin.json");
    fs::rename(own, folder.join("twin.json")).expect("just written");
    if !bench.machine.in_made_up_system(&["/usr/local/share"]) {
        return;
    }
    // The machine's `XDG_DATA_DIRS` replaces the folder.
    bench.tells(
        "program.word-size",
        "the search leaves out the Vulkan driver for such programs, /usr/local/share/vulkan/icd.d/small_icd.i686.json",
        "unset XDG_DATA_DIRS",
    );
    let other = bench.machine.path("data/vulkan/icd.d/good.json").display().to_string();
    bench.machine.variable("VK_ICD_FILENAMES", other);
    bench.tells(
        "program.word-size",
        "VK_ICD_FILENAMES names no Vulkan driver for such programs",
        "unset VK_ICD_FILENAMES; or name it: VK_ICD_FILENAMES=/usr/local/share/vulkan/icd.d/twin.json PROGRAM",
    );
}

#[test]
fn a_driver_of_a_32_bit_program_without_a_manifest_is_named() {
    let Some(bench) = Bench::new() else { return };
    fs::remove_file(bench.machine.path("data/vulkan/icd.d/small_icd.i686.json")).expect("just written");
    let library = bench.machine.path("lib32/libvulkan_radeon.so");
    fs::rename(&bench.driver, library).expect("just compiled");
    bench.tells(
        "program.word-size",
        "no manifest names the Vulkan driver for such programs",
        "libvulkan_radeon.so",
    );
}

#[test]
fn a_driver_of_a_32_bit_program_that_is_cut_is_named() {
    let Some(bench) = Bench::new() else { return };
    let bytes = fs::read(&bench.driver).expect("just compiled");
    fs::write(&bench.driver, &bytes[..bytes.len() / 4]).expect("written");
    bench.tells("program.word-size", "libdriver.so is cut", "Replace ");
}

#[test]
fn a_layer_that_is_switched_on_and_has_no_library_for_a_32_bit_program_is_named() {
    let Some(mut bench) = Bench::new() else { return };
    bench.machine.working_layer("explicit", "calm", "", "");
    bench.tells("program.no-trace", "and vkloader is not", "");
    bench.machine.variable("VK_INSTANCE_LAYERS", "VK_LAYER_calm");
    bench.tells(
        "program.no-trace",
        "the layer VK_LAYER_calm, which VK_INSTANCE_LAYERS switches on, has no library",
        "Install the package for x86, 32 bit",
    );
}

/// A script starts the 32-bit program, as the launchers of games do.
#[test]
fn a_32_bit_program_that_a_script_starts_is_known() {
    let Some(bench) = Bench::new() else { return };
    let script = bench.machine.path("start.sh");
    steady::write_script(&script, &format!("#!/bin/sh\n{}\nexit 3\n", bench.program));
    let explained = bench.explain(&[script.to_str().expect("plain")]);
    let first = &explained.report["dropped"][0];
    assert_eq!(first["name"], bench.program.as_str(), "{first:#}");
    assert_eq!(explained.report["other_loader"], serde_json::Value::Null);
}

/// The manifest leads to a driver for another word size, and the driver for the program is there too.
#[test]
fn a_manifest_that_leads_to_the_wrong_one_of_two_drivers_is_corrected() {
    let mut machine = Machine::new();
    let manifest = machine.driver("card", "device card");
    let text = fs::read_to_string(&manifest).expect("just written");
    let content: serde_json::Value = serde_json::from_str(&text).expect("valid");
    let right = PathBuf::from(content["ICD"]["library_path"].as_str().expect("a path"));
    let wrong = machine.path("wrong").join(right.file_name().expect("a name"));
    fs::create_dir(machine.path("wrong")).expect("a folder");
    let mut bytes = fs::read(&right).expect("just copied");
    bytes[4] = if cfg!(target_pointer_width = "64") { 1 } else { 2 };
    fs::write(&wrong, bytes).expect("written");
    let changed = text.replace(&right.display().to_string(), &wrong.display().to_string());
    fs::write(&manifest, changed).expect("written");
    let folder = right.parent().and_then(Path::to_str).expect("plain").to_owned();
    machine.variable("LD_LIBRARY_PATH", folder);
    let explained = machine.explain();
    assert_eq!(explained.first(), "driver.wrong-architecture");
    let start = format!("Correct library_path in {}: ", manifest.display());
    let advice = explained.advice();
    assert!(
        advice.starts_with(&start) && advice.contains(&right.display().to_string()),
        "{advice}"
    );
}
