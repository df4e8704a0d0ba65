//! Explains libraries that do not export the functions of a driver or layer: the names of the functions that they export show the mistake.

use super::closure::{Identity, locate};
use super::shown;
use super::symbols::Symbols;
use crate::manifests;
use crate::paths::file_name;
use crate::report::{Dropped, Fact, Kind};
use crate::shell::word;
use std::path::Path;

/// Codes of findings about a library without the functions of a driver or layer.
const CODES: [&str; 4] = [
    "driver.no-entry-point",
    "driver.no-get-instance-proc-addr",
    "driver.no-export",
    "layer-library.no-symbol",
];
/// Code of findings about a layer that refuses the loader's interface.
const REFUSED: &str = "layer-library.negotiation-refused";
/// Functions of which a driver exports at least one.
const OF_DRIVERS: [&str; 2] = ["vk_icdGetInstanceProcAddr", "vkGetInstanceProcAddr"];
/// Functions of which a layer exports at least one, unless its manifest names others.
const OF_LAYERS: [&str; 2] = ["vkNegotiateLoaderLayerInterfaceVersion", "vkGetInstanceProcAddr"];
/// Beginnings of the names of functions of other interfaces for graphics, each with the name of the interface.
const OTHERS: [(&str, &str); 3] = [("egl", "EGL"), ("gl", "OpenGL"), ("cl", "OpenCL")];
/// Beginning of the names of functions in C++.
const MANGLED: &str = "_Z";

/// Adds the mistake to a finding about a library that lacks functions. `manifest` is the manifest of the driver or layer.
pub(in crate::causes) fn explain(dropped: &mut Dropped, manifest: Option<&str>, own: Identity) {
    if dropped.code == REFUSED {
        return refused(dropped, manifest);
    }
    if !CODES.contains(&dropped.code.as_str()) {
        return;
    }
    let is_layer = dropped.code.starts_with("layer");
    let library = if is_layer {
        dropped.file.clone()
    } else {
        Some(dropped.name.clone())
    };
    if let Some(manifest) = manifest.filter(|_| is_layer) {
        dropped.findings.insert(0, format!("its manifest: {manifest}"));
        dropped.advice = format!("Reinstall the layer, or correct library_path in {manifest}.");
    }
    let located = |library: String| locate(&library, own).map(|path| shown(&path));
    let Some(library) = library.and_then(located) else {
        return;
    };
    let usual = if is_layer { OF_LAYERS } else { OF_DRIVERS };
    let functions = manifest
        .filter(|_| is_layer)
        .map(|manifest| functions(manifest, &dropped.name));
    let functions = functions.unwrap_or_default();
    let wanted: Vec<&str> = functions.iter().map(String::as_str).chain(usual).collect();
    let symbols = Symbols::of(Path::new(&library));
    let about = About {
        library: &library,
        manifest: manifest.unwrap_or("the manifest"),
        names: symbols.defined(),
        hidden: Symbols::hidden(Path::new(&library)),
        functions: &functions,
    };
    let found = about
        .of_cpp(&wanted)
        .or_else(|| about.hidden(&wanted))
        .or_else(|| about.of_other_kind(is_layer))
        .map(|(finding, advice)| (Fact::from(finding), advice))
        .or_else(|| about.of_other_interface())
        .or_else(|| about.of_manifest().map(|(finding, advice)| (finding.into(), advice)));
    if let Some((finding, advice)) = found {
        dropped.findings.insert(0, finding);
        dropped.advice = advice;
        dropped.names_file = true;
    }
}

/// Returns `true` if a library is a driver: it exports the function through which only drivers are called.
pub(crate) fn is_driver(library: &Path) -> bool {
    let symbols = Symbols::of(library);
    symbols.defined().iter().any(|name| *name == OF_DRIVERS[0])
}

/// Adds the manifest of a layer that refuses the loader's interface, and the variable that switches the layer off.
fn refused(dropped: &mut Dropped, manifest: Option<&str>) {
    let own = manifest.and_then(|manifest| manifests::own_switch(Path::new(manifest), &dropped.name));
    let (variable, value) = own.unwrap_or_else(|| ("VK_LOADER_LAYERS_DISABLE".into(), dropped.name.clone()));
    dropped.advice = format!(
        "Update the layer to a version for this loader, or remove it; until then, switch it off: {variable}={} PROGRAM",
        word(&value)
    );
    dropped
        .findings
        .extend(manifest.map(|manifest| format!("its manifest: {manifest}")));
}

/// Returns the names of the functions that a manifest promises for a layer.
fn functions(manifest: &str, layer: &str) -> Vec<String> {
    let content = manifests::read(Path::new(manifest)).unwrap_or_default();
    let named = manifests::layers(&content).find(|one| one["name"] == layer);
    let functions = named.and_then(|one| one.get("functions")?.as_object());
    let names = functions.into_iter().flatten().filter_map(|(_, name)| name.as_str());
    names.map(String::from).collect()
}

/// Facts about a library that lacks functions.
struct About<'a> {
    library: &'a str,
    manifest: &'a str,
    /// Names of the exported functions.
    names: Vec<String>,
    /// Names of functions that are not exported.
    hidden: Vec<String>,
    /// Names in `functions` of the layer's manifest.
    functions: &'a [String],
}

impl About<'_> {
    /// Returns the finding and the remedy if the library exports a function under its name in C++.
    fn of_cpp(&self, wanted: &[&str]) -> Option<(String, String)> {
        let is_it = |name: &&String, function: &str| {
            name.starts_with(MANGLED) && name.contains(&format!("{}{function}", function.len()))
        };
        let (function, name) = wanted
            .iter()
            .find_map(|function| Some((function, self.names.iter().find(|name| is_it(name, function))?)))?;
        let library = self.library;
        Some((
            format!("{library} exports {name}, which is {function} under its name in C++, and not {function} itself"),
            format!(
                "Declare {function} as extern \"C\" in the source of {}, and build it again.",
                file_name(library)
            ),
        ))
    }

    /// Returns the finding and the remedy if the library has a function without exporting it.
    fn hidden(&self, wanted: &[&str]) -> Option<(String, String)> {
        let function = wanted
            .iter()
            .find(|function| self.hidden.iter().any(|name| name == *function))?;
        let library = self.library;
        Some((
            format!("{library} has {function}, but does not export it"),
            format!(
                "Export {function} from {}: __attribute__((visibility(\"default\"))) in its source, or a line in its version script; then build it \
                 again.",
                file_name(library)
            ),
        ))
    }

    /// Returns the finding and the remedy if a manifest of a layer names a driver, or a manifest of a driver names a layer.
    fn of_other_kind(&self, is_layer: bool) -> Option<(String, String)> {
        let (kind, function, folder) = if is_layer {
            ("driver", OF_DRIVERS[0], "icd.d")
        } else {
            ("layer", OF_LAYERS[0], "explicit_layer.d or implicit_layer.d")
        };
        let library = self.library;
        self.names.iter().any(|name| name == function).then(|| {
            (
                format!(
                    "{library} is a {kind}, and its manifest {} is that of another kind",
                    self.manifest
                ),
                format!("Reinstall the package of the {kind}: its manifest belongs in a folder {folder}."),
            )
        })
    }

    /// Returns the finding and the remedy for a library of another interface for graphics.
    fn of_other_interface(&self) -> Option<(Fact, String)> {
        let has = |beginning: &str| {
            let mut rests = self.names.iter().filter_map(|name| name.strip_prefix(beginning));
            rests.any(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
        };
        let known: Vec<&str> = OTHERS
            .iter()
            .filter(|(start, _)| has(start))
            .map(|(_, name)| *name)
            .collect();
        let library = self.library;
        (!known.is_empty()).then(|| {
            (
                Fact::new(
                    Kind::WithoutVulkan,
                    format!("{library} has {}, but no Vulkan", known.join(", ")),
                ),
                format!(
                    "Remove the manifest, because its library has no Vulkan: rm {}; or install the variant of {} that has Vulkan, if its maker has one.",
                    word(self.manifest),
                    file_name(library)
                ),
            )
        })
    }

    /// Returns the finding and the remedy if the manifest names functions that the library does not have.
    fn of_manifest(&self) -> Option<(String, String)> {
        let is_missing = |function: &&String| !self.names.iter().any(|name| name == *function);
        let function = self.functions.iter().find(is_missing)?;
        let library = self.library;
        Some((
            format!(
                "{library} does not export {function}, which \"functions\" in {} names",
                self.manifest
            ),
            format!(
                "Correct \"functions\" in {}, or export {function} from {}.",
                self.manifest,
                file_name(library)
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_other_functions_show_the_mistake() {
        let about = |names: &[&str], hidden: &[&str], functions: &[&str], is_layer: bool| {
            let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            let functions = own(functions);
            let about = About {
                library: "/l/libx.so",
                manifest: "/m/x.json",
                names: own(names),
                hidden: own(hidden),
                functions: &functions,
            };
            let wanted: Vec<&str> = functions.iter().map(String::as_str).chain(OF_LAYERS).collect();
            let found = about.of_cpp(&wanted).or_else(|| about.hidden(&wanted));
            let found = found.or_else(|| about.of_other_kind(is_layer));
            found
                .map(|(finding, advice)| (Fact::from(finding), advice))
                .or_else(|| about.of_other_interface())
                .or_else(|| about.of_manifest().map(|(finding, advice)| (finding.into(), advice)))
        };
        let mangled = "_ZN6timing9NegotiateEP1P";
        for (names, hidden, functions, is_layer, words) in [
            (&[mangled][..], &[][..], &["Negotiate"][..], true, "extern \"C\""),
            (&["_Z21vkGetInstanceProcAddrv"], &[], &[], false, "extern \"C\""),
            (&["other"], &["vkGetInstanceProcAddr"], &[], false, "visibility"),
            (&["vk_icdGetInstanceProcAddr"], &[], &[], true, "icd.d"),
            (&["vkNegotiateLoaderLayerInterfaceVersion"], &[], &[], false, "layer.d"),
            (&["eglGetDisplay", "glClear"], &[], &[], false, "rm /m/x.json"),
            (&["other"], &[], &["Negotiate"], true, "Correct \"functions\""),
        ] {
            let (_, advice) = about(names, hidden, functions, is_layer).expect("a mistake");
            assert!(advice.contains(words), "{names:?}: {advice}");
        }
        assert_eq!(about(&["global", "close"], &[], &[], false), None);
    }
}
