//! Assigns the libraries of a process to owners: a driver, a layer, the program, the loader, or no single part.

use crate::causes::elf::exports::is_driver;
use crate::causes::elf::{Closure, Identity, is_usual};
use crate::crash::Crash;
use crate::events::{ChainLayer, Event, Record};
use crate::paths::file_name;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Beginnings of the names of common libraries. A fault in one of these libraries is attributed to its caller.
const OF_ALL: [&str; 22] = [
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
    "libhwasan",
    "libclang_rt",
    "libtsan",
    "libubsan",
    "liblsan",
    "linux-vdso",
    "[",
];
/// Upper bound on the number of functions on a stack whose files are searched for drivers.
const MOST_SEARCHED: usize = 32;
/// Beginnings of the names of libraries that drivers open with `dlopen`. Each row also has a part of the name of the driver's library.
const OF_DRIVERS: [(&str, &str); 1] = [("libnvidia-", "nvidia")];

/// A driver or layer.
pub(super) struct Part {
    pub(super) is_layer: bool,
    /// Name of a layer, or library of a driver.
    pub(super) name: String,
    pub(super) library: String,
    /// Manifest of a layer.
    pub(super) manifest: Option<String>,
    real: PathBuf,
    needs: OnceCell<HashSet<PathBuf>>,
}

/// Part of a process to which the code in a file belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A driver or layer, by its index in [`Parts::parts`].
    Part(usize),
    Program,
    /// A library that only these drivers and layers need, with their indices.
    Brought(Vec<usize>),
    /// The loader.
    Loader,
    /// A library that several parts may use, or code outside of any file. A fault in this code is attributed to the caller.
    Common,
}

/// The parts of a process: drivers, layers, loaders, and the program.
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

    /// Returns `true` if this part has a file name instead of a path, and `other` has the same file name.
    fn is_named_like(&self, other: &Self) -> bool {
        self.real.components().count() == 1 && self.real.file_name() == other.real.file_name()
    }

    fn needs(&self) -> &HashSet<PathBuf> {
        self.needs.get_or_init(|| needs(&self.real))
    }

    /// Returns `true` if `file` is the library of this driver or layer. If the linker found the library by a name without a path, compares
    /// only the names.
    fn is(&self, file: &Path) -> bool {
        let is_named = !self.library.contains('/') || !self.real.exists();
        self.real == file || is_named && self.real.file_name() == file.file_name()
    }
}

impl Parts {
    /// Collects the drivers, layers and loaders from a trace, and the program from its crash.
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
                    let library = library_of(layer);
                    parts.add(Part::new(true, &layer.name, &library, Some(&layer.manifest)));
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
        parts.add_drivers_on(crash);
        parts
    }

    /// Adds the drivers on the stack that are not in the trace, because the program opened another loader.
    fn add_drivers_on(&mut self, crash: &Crash) {
        let files = crash
            .frames
            .iter()
            .take(MOST_SEARCHED)
            .filter_map(|frame| frame.file.as_deref());
        let mut files: Vec<&str> = files.collect();
        files.dedup();
        for file in files {
            let path = real(file);
            let is_known = self.parts.iter().any(|part| part.is(&path)) || path == self.program;
            if !is_known && !is_common(&path) && is_driver(&path) {
                self.add(Part::new(false, file, file, None));
            }
        }
    }

    /// Adds a part that is not yet known. A trace may name the same library first by its file name and later by its path.
    fn add(&mut self, part: Part) {
        let is_same =
            |known: &&mut Part| known.real == part.real || known.is_named_like(&part) || part.is_named_like(known);
        match self.parts.iter_mut().find(is_same) {
            Some(known) if part.real.is_absolute() => known.real = part.real,
            Some(_) => {}
            None => self.parts.push(part),
        }
    }

    /// Adds a layer that the loader found but that is not in a chain, because opening a layer may crash the process.
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

    /// Returns the part of the process to which a file belongs.
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
        if is_common(&file) {
            return Owner::Common;
        }
        let by = self.needed_by(&file, name);
        let is_needed = self.needs.get_or_init(|| needs(&self.program)).contains(&file);
        match (is_needed, by.is_empty()) {
            (true, true) => Owner::Program,
            (true, false) => Owner::Common,
            (false, false) => Owner::Brought(by),
            // It is unknown which part opened this library with `dlopen`. A library of the system, or in the folder of a driver, may belong
            // to any part; other libraries belong to the program.
            (false, true) if self.is_of_system(&file) => Owner::Common,
            (false, true) => Owner::Program,
        }
    }

    /// Returns the parts of the process to which the functions on the stack of a crash belong, innermost first.
    pub(super) fn owners(&self, crash: &Crash) -> Vec<Owner> {
        let files: Vec<Option<&str>> = crash.frames.iter().map(|frame| frame.file.as_deref()).collect();
        let owners: Vec<Owner> = files.iter().map(|file| self.owner(*file)).collect();
        let is_opened_by_part = |at: usize| {
            let file = files[at].filter(|file| owners[at] == Owner::Program && !self.may_be_of_program(file));
            let Some(file) = file else { return false };
            let is_outer = |other: &usize| files[*other] != Some(file) && owners[*other] != Owner::Common;
            let caller = (at + 1..owners.len()).find(is_outer);
            // A library that also called the driver belongs to the program, and the driver calls it back.
            caller.is_some_and(|caller| {
                matches!(owners[caller], Owner::Part(_)) && !files[caller..].contains(&Some(file))
            })
        };
        let of = |at: usize| {
            if is_opened_by_part(at) {
                Owner::Common
            } else {
                owners[at].clone()
            }
        };
        (0..owners.len()).map(of).collect()
    }

    /// Returns `true` if a file is the program, is needed by it, or is in the tree of folders in which the program is installed.
    fn may_be_of_program(&self, file: &str) -> bool {
        let path = real(file);
        let tree = self.program.parent().and_then(Path::parent);
        // Folders such as /opt and /home have the trees of several programs.
        let tree = tree.filter(|tree| tree.components().count() > 2);
        let is_needed = || self.needs.get_or_init(|| needs(&self.program)).contains(&path);
        self.is_of_program(file) || tree.is_some_and(|tree| path.starts_with(tree)) || is_needed()
    }

    /// Returns the indices of the drivers and layers that need a file.
    fn needed_by(&self, file: &Path, name: &str) -> Vec<usize> {
        let opens = |part: &Part| {
            let mut known = OF_DRIVERS.iter();
            known.any(|(library, driver)| name.starts_with(library) && part.library.contains(driver))
        };
        let needs = |part: &Part| part.needs().contains(file) || opens(part);
        let places = self.parts.iter().enumerate();
        places.filter(|(_, part)| needs(part)).map(|(place, _)| place).collect()
    }

    /// Returns `true` if a file is the program, or in the folder of the program.
    pub(super) fn is_of_program(&self, file: &str) -> bool {
        let file = real(file);
        let folder = self.program.parent().filter(|folder| folder.components().count() > 1);
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        file == self.program || !name.contains(".so") || folder.is_some_and(|folder| file.starts_with(folder))
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

/// Returns the library of a layer. A layer whose functions have the same names as those of the loader may lead to the loader, if the program opened the
/// loader first.
fn library_of(layer: &ChainLayer) -> String {
    let is_loader = file_name(&layer.library).starts_with("libvulkan.so");
    let mut named = super::switch::layers_of(Path::new(&layer.manifest)).into_iter();
    let own = named.find(|(name, _)| is_loader && *name == layer.name);
    own.map_or_else(|| layer.library.clone(), |(_, library)| library.display().to_string())
}

/// Returns the paths of the libraries that a program or library needs, directly or indirectly.
fn needs(file: &Path) -> HashSet<PathBuf> {
    let Some(identity) = Identity::of(file) else {
        return HashSet::new();
    };
    let found = Closure::of(file, identity).found;
    found.iter().map(|path| real(&path.display().to_string())).collect()
}

/// Returns `true` for a library that all parts use.
pub(super) fn is_common(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    OF_ALL.iter().any(|beginning| name.starts_with(beginning))
}

fn real(path: &str) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_with_and_without_a_path_is_one_part() {
        let mut parts = Parts {
            parts: Vec::new(),
            loaders: Vec::new(),
            program: PathBuf::from("/usr/bin/game"),
            needs: OnceCell::new(),
        };
        for library in [
            "libGLX_nvidia.so.0",
            "/nowhere/libGLX_nvidia.so.0",
            "libGLX_nvidia.so.0",
            "/other/libvulkan_radeon.so",
        ] {
            parts.add(Part::new(false, library, library, None));
        }
        let libraries: Vec<_> = parts.parts.iter().map(|part| part.real.to_str()).collect();
        assert_eq!(
            libraries,
            [Some("/nowhere/libGLX_nvidia.so.0"), Some("/other/libvulkan_radeon.so")]
        );
        let compiler = Some("/nowhere/libnvidia-glvkspirv.so.1");
        assert_eq!(parts.owner(compiler), Owner::Brought(vec![0]));
    }
}
