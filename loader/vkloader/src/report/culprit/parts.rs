//! The libraries of a process by whom they belong to.

use crate::causes::elf::{Closure, Identity, is_usual};
use crate::crash::Crash;
use crate::events::{Event, Record};
use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Beginnings of names of libraries whose faults count for their caller.
const OF_ALL: [&str; 20] = [
    "libc.so",
    "libc-2",
    "libc.musl",
    "libpthread",
    "libm.so",
    "libm-2",
    "libdl",
    "librt",
    "libstdc++",
    "libc++",
    "libgcc_s",
    "libunwind",
    "ld-",
    "ld.so",
    "libasan",
    "libtsan",
    "libubsan",
    "liblsan",
    "linux-vdso",
    "[",
];
/// Beginnings of names of libraries that drivers open by themselves, each with a part of the names of these drivers.
const OF_DRIVERS: [(&str, &str); 1] = [("libnvidia-", "nvidia")];

/// A driver or layer.
pub(super) struct Part {
    pub(super) is_layer: bool,
    /// The name of a layer, or the library of a driver.
    pub(super) name: String,
    pub(super) library: String,
    /// The manifest of a layer.
    pub(super) manifest: Option<String>,
    real: PathBuf,
    needs: OnceCell<HashSet<PathBuf>>,
}

/// Whose code it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// That of a driver or layer, by its place.
    Part(usize),
    Program,
    /// A library that only these drivers and layers need.
    Brought(Vec<usize>),
    /// The loader itself.
    Loader,
    /// A library that several may use, or code without a file: who calls it is responsible.
    Common,
}

/// All that is known of the libraries of a process.
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    loaders: Vec<PathBuf>,
    program: PathBuf,
    needs: OnceCell<HashSet<PathBuf>>,
}

impl Part {
    fn new(is_layer: bool, name: &str, library: &str, manifest: Option<&str>) -> Self {
        Self {
            is_layer,
            name: name.into(),
            library: library.into(),
            manifest: manifest.map(String::from),
            real: real(library),
            needs: OnceCell::new(),
        }
    }

    fn needs(&self) -> &HashSet<PathBuf> {
        self.needs.get_or_init(|| needs(&self.real))
    }

    /// Returns `true` if a file is the library.
    fn is(&self, file: &Path) -> bool {
        let is_named = !self.library.contains('/') || !self.real.exists();
        self.real == file || is_named && self.real.file_name() == file.file_name()
    }
}

impl Parts {
    /// The drivers, layers and loaders in a trace, and the program that crashed.
    pub(super) fn of(records: &[Record], crash: &Crash) -> Self {
        let mut parts = Self {
            parts: Vec::new(),
            loaders: Vec::new(),
            program: real(crash.executable.as_deref().unwrap_or_default()),
            needs: OnceCell::new(),
        };
        for record in records {
            if let Event::Chain(chain) = &record.event {
                for layer in &chain.layers {
                    parts.add(Part::new(true, &layer.name, &layer.library, Some(&layer.manifest)));
                }
            }
        }
        for record in records {
            parts.add_layer_of(record);
        }
        for record in records {
            match &record.event {
                Event::Decision(decision) if decision.subject == "driver" => {
                    parts.add(Part::new(false, &decision.name, &decision.name, None));
                }
                Event::Begin(step) => {
                    if let Some(library) = step.runs() {
                        parts.add(Part::new(false, library, library, None));
                    }
                }
                Event::Loaded(loaded) => parts.loaders.extend(loaded.library.as_deref().map(real)),
                _ => {}
            }
        }
        parts
    }

    fn add(&mut self, part: Part) {
        if !self.parts.iter().any(|known| known.real == part.real) {
            self.parts.push(part);
        }
    }

    /// Adds a layer that was found: one that crashes while it is opened is in no chain.
    fn add_layer_of(&mut self, record: &Record) {
        let Event::Decision(decision) = &record.event else {
            return;
        };
        if decision.subject != "layer" || !decision.is_kept() {
            return;
        }
        for (name, library) in super::switch::layers_of(Path::new(&decision.path)) {
            if name == decision.name {
                let library = library.display().to_string();
                self.add(Part::new(true, &name, &library, Some(&decision.path)));
            }
        }
    }

    /// Whose a file is.
    pub(super) fn owner(&self, file: Option<&str>) -> Owner {
        let Some(file) = file.map(real) else {
            return Owner::Common;
        };
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(place) = self.parts.iter().position(|part| part.is(&file)) {
            return Owner::Part(place);
        }
        if self.loaders.contains(&file) || name.starts_with("libvulkan.so") {
            return Owner::Loader;
        }
        if file == self.program {
            return Owner::Program;
        }
        if OF_ALL.iter().any(|beginning| name.starts_with(beginning)) {
            return Owner::Common;
        }
        let by = self.needed_by(&file, name);
        let is_needed = self.needs.get_or_init(|| needs(&self.program)).contains(&file);
        match (is_needed, by.is_empty()) {
            (true, true) => Owner::Program,
            (true, false) => Owner::Common,
            (false, false) => Owner::Brought(by),
            // Somebody opened it: the program what is its own, and anybody what comes with the system or lies beside a driver.
            (false, true) if self.is_of_system(&file) => Owner::Common,
            (false, true) => Owner::Program,
        }
    }

    /// The drivers and layers that need a file.
    fn needed_by(&self, file: &Path, name: &str) -> Vec<usize> {
        let opens = |part: &Part| {
            let mut known = OF_DRIVERS.iter();
            known.any(|(library, driver)| name.starts_with(library) && part.library.contains(driver))
        };
        let needs = |part: &Part| part.needs().contains(file) || opens(part);
        let places = self.parts.iter().enumerate();
        places.filter(|(_, part)| needs(part)).map(|(place, _)| place).collect()
    }

    fn is_of_system(&self, file: &Path) -> bool {
        let Some(folder) = file.parent() else { return true };
        let is_beside = |part: &Part| part.real.parent() == Some(folder);
        let is_of_program = self.program.parent() == Some(folder);
        is_usual(folder)
            || ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"]
                .iter()
                .any(|usual| folder.starts_with(usual))
            || !is_of_program && self.parts.iter().any(is_beside)
    }
}

/// The libraries that a program or library needs.
fn needs(file: &Path) -> HashSet<PathBuf> {
    let Some(identity) = Identity::of(file) else {
        return HashSet::new();
    };
    let found = Closure::of(file, identity).found;
    found.iter().map(|path| real(&path.display().to_string())).collect()
}

fn real(path: &str) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.into())
}
