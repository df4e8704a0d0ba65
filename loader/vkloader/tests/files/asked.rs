//! Runs `vkloader files`, and compiles drivers that open files.

use crate::machine::{Machine, library};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Outputs and exit status of `vkloader files`.
pub(crate) struct Files {
    pub(crate) output: Output,
}

/// Runs `vkloader files` with the arguments `words`.
pub(crate) fn files(machine: &Machine, words: &[&str]) -> Files {
    let library = library();
    let mut all = vec!["files", "--library", library.to_str().expect("plain")];
    all.extend(words);
    Files {
        output: machine.run(&all),
    }
}

impl Files {
    pub(crate) fn code(&self) -> i32 {
        self.output.status.code().unwrap_or(-1)
    }

    pub(crate) fn said(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        self.text().lines().any(|line| Path::new(line) == path)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.output.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.said()))
    }

    /// Returns the kind of a file in the report, and the reason why it is listed.
    pub(crate) fn known(&self, path: &Path) -> Option<String> {
        let report = self.json();
        let files = report["files"].as_array().expect("a list");
        let file = files.iter().find(|file| file["path"].as_str() == path.to_str())?;
        Some(format!("{} {}", file["kind"].as_str()?, file["because"].as_str()?))
    }
}

/// Compiles a C source to a library. The library may be linked against other libraries.
pub(crate) fn compile(machine: &Machine, name: &str, source: &str, more: &[&str]) -> PathBuf {
    let file = machine.file(&format!("{name}.c"), source);
    let library = machine.path(&format!("libraries/lib{name}.so"));
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", "-L"])
        .arg(machine.path("libraries"))
        .arg("-o")
        .arg(&library)
        .arg(file)
        .args(more)
        .status();
    assert!(status.expect("a compiler").success());
    library
}

/// Returns the source of a driver without devices. The driver runs `body` when it is opened.
pub(crate) fn on_open(body: &str) -> String {
    format!(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <fcntl.h>\n#include <pthread.h>\n#include <stdlib.h>\n#include <sys/stat.h>\n#include <unistd.h>\n\
         void *vk_icdGetInstanceProcAddr(void *instance, const char *name) {{ return 0; }}\n\
         static void look(const char *path) {{ int file = open(path, O_RDONLY); char byte; if (file >= 0) read(file, &byte, 1), close(file); }}\n\
         static void *look_too(void *path) {{ look(path); return 0; }}\n\
         __attribute__((constructor)) static void begin(void) {{ pthread_t thread; (void)thread; {body} }}\n"
    )
}
