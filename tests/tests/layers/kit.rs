//! Layers for tests. Each layer is a copy of the mock layer, with a configuration and a manifest.

use std::fmt::Display;
use std::fmt::Write as _;

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, Vk, built, call, hide};

/// Magic number that the loader reads if the mock layer replaces a handle with the address of memory that is not an object. Each word of
/// this memory is 0x51515151. The magic number has 64 bits, so it consists of two words on a 32-bit target.
pub(crate) const GARBAGE: &str = if cfg!(target_pointer_width = "64") {
    "0x51515151"
} else {
    "0x5151515151515151"
};

/// Folder in which the normal search finds explicit layers: row 5 of LAY-11.
pub(crate) const EXPLICIT: &str = "xdg/data-home/vulkan/explicit_layer.d";
/// Folder in which the normal search finds implicit layers.
pub(crate) const IMPLICIT: &str = "xdg/data-home/vulkan/implicit_layer.d";

/// Description of a layer for a scene. By default, the name of the layer is `VK_LAYER_` and the short name, and its version is 1.3.0. The
/// library passes all calls on, and records creations and destructions.
#[derive(Clone)]
pub(crate) struct Layer {
    short: String,
    kind: &'static str,
    folder: Option<String>,
    version: String,
    members: Vec<(String, String)>,
    lines: String,
    hidden: Vec<&'static str>,
}

impl Layer {
    /// Creates an explicit layer in a separate base folder. The search finds layers in the order of the list for [`place`].
    pub(crate) fn explicit(short: &str) -> Self {
        let members = [
            ("name", format!("\"VK_LAYER_{short}\"")),
            ("type", "\"GLOBAL\"".into()),
            ("library_path", format!("\"@ROOT@/libraries/liblayer_{short}.so\"")),
            ("api_version", "\"1.3.0\"".into()),
            ("implementation_version", "\"1\"".into()),
            ("description", format!("\"layer {short}\"")),
        ];
        Self {
            short: short.into(),
            kind: "explicit",
            folder: None,
            version: "1.2.0".into(),
            members: members.map(|(key, value)| (key.into(), value)).into(),
            lines: format!("name VK_LAYER_{short}\njournal @ROOT@/journal\n"),
            hidden: Vec::new(),
        }
    }

    /// Creates an implicit layer in a separate base folder. The disable variable of the layer is `DISABLE_` and the short name.
    pub(crate) fn implicit(short: &str) -> Self {
        Self {
            kind: "implicit",
            ..Self::explicit(short)
        }
        .member("disable_environment", format!(r#"{{"DISABLE_{short}": "1"}}"#))
    }

    /// Creates an explicit meta-layer with the given components.
    pub(crate) fn meta(short: &str, components: &[&str]) -> Self {
        Self::explicit(short)
            .without("library_path")
            .member("component_layers", list(components))
    }

    /// Creates an implicit meta-layer with the given components.
    pub(crate) fn implicit_meta(short: &str, components: &[&str]) -> Self {
        Self::implicit(short)
            .without("library_path")
            .member("component_layers", list(components))
    }

    /// Creates the override layer with the given components.
    pub(crate) fn overriding(components: &[&str]) -> Self {
        Self::implicit_meta("override", components).named("VK_LAYER_LUNARG_override")
    }

    /// Sets a member of the manifest's layer object to JSON text.
    pub(crate) fn member(mut self, key: &str, json: impl Display) -> Self {
        match self.members.iter_mut().find(|(known, _)| known == key) {
            Some((_, value)) => *value = json.to_string(),
            None => self.members.push((key.into(), json.to_string())),
        }
        self
    }

    /// Removes a member from the manifest.
    pub(crate) fn without(mut self, key: &str) -> Self {
        self.members.retain(|(known, _)| known != key);
        self
    }

    /// Changes the name of the layer.
    pub(crate) fn named(self, name: &str) -> Self {
        self.member("name", format!("\"{name}\"")).conf("name", name)
    }

    /// Sets the layer's API version.
    pub(crate) fn api(self, version: &str) -> Self {
        self.member("api_version", format!("\"{version}\""))
    }

    /// Sets the `file_format_version`.
    pub(crate) fn format(mut self, version: &str) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the folder of the manifest.
    pub(crate) fn folder(mut self, folder: &str) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Adds an enable variable, with the value that it must have.
    pub(crate) fn enabled_by(self, variable: &str, value: &str) -> Self {
        self.member("enable_environment", format!(r#"{{"{variable}": "{value}"}}"#))
    }

    /// Adds a line to the mock's configuration.
    pub(crate) fn conf(mut self, key: &str, value: impl Display) -> Self {
        // The mock layer uses the first line of a key, so each new line is inserted before the earlier lines.
        self.lines.insert_str(0, &format!("{key} {value}\n"));
        self
    }

    /// Disables the mock layer's journal, for long runs.
    pub(crate) fn without_journal(mut self) -> Self {
        self.lines = self
            .lines
            .lines()
            .filter(|line| !line.starts_with("journal "))
            .map(|line| format!("{line}\n"))
            .collect();
        self
    }

    /// Adds configuration lines for the layer with the number `identity` in this layer's library.
    pub(crate) fn section(mut self, identity: usize, lines: &str) -> Self {
        write!(self.lines, "[{identity}]\njournal @ROOT@/journal\n{lines}\n")
            .expect("writing to a string does not fail");
        self
    }

    /// Removes an export from the library.
    pub(crate) fn hide(mut self, symbol: &'static str) -> Self {
        self.hidden.push(symbol);
        self
    }

    /// Returns the manifest's layer object.
    pub(crate) fn object(&self) -> String {
        let members: Vec<String> = self
            .members
            .iter()
            .map(|(key, value)| format!("\"{key}\": {value}"))
            .collect();
        format!("{{{}}}", members.join(", "))
    }

    /// Returns the whole text of a manifest of this layer.
    pub(crate) fn text(&self) -> String {
        format!(
            "{{\"file_format_version\": \"{}\", \"layer\": {}}}",
            self.version,
            self.object()
        )
    }

    /// Returns the base folder of this layer, which other layers do not use.
    fn base(&self) -> String {
        format!("layers/{}", self.short)
    }

    /// Writes the layer's library, configuration and manifest. The file name of the manifest is the layer's short name and `.json`.
    pub(crate) fn put(&self, scene: &Scene) {
        let own = || format!("{}/vulkan/{}_layer.d", self.base(), self.kind);
        let folder = self.folder.clone().unwrap_or_else(own);
        self.put_as(scene, &format!("{folder}/{}.json", self.short));
    }

    /// Writes the layer's library, configuration and manifest. `file` is the path of the manifest.
    pub(crate) fn put_as(&self, scene: &Scene, file: &str) {
        self.put_library(scene);
        put_manifest(scene, file, &self.version, &[&self.object()]);
    }

    /// Writes the library and the configuration, without a manifest.
    pub(crate) fn put_library(&self, scene: &Scene) {
        // The child can be a copy of the program, and this copy cannot find the mock layer that cargo built.
        scene.on_disk(|| {
            let mut bytes = std::fs::read(built("mock_layer")).expect("cargo built the mock layer");
            hide(&mut bytes, &self.hidden);
            scene.file(&format!("libraries/liblayer_{}.so", self.short), bytes);
        });
        let text = self.lines.replace("@ROOT@", scene.text_path("").trim_end_matches('/'));
        scene.file(&format!("libraries/liblayer_{}.conf", self.short), text);
    }
}

/// Writes a manifest with the given layer objects. `@ROOT@` becomes the scene's folder.
pub(crate) fn put_manifest(scene: &Scene, file: &str, version: &str, objects: &[&str]) {
    let layers = match objects {
        [one] => format!("\"layer\": {one}"),
        many => format!("\"layers\": [{}]", many.join(", ")),
    };
    put_text(
        scene,
        file,
        &format!("{{\"file_format_version\": \"{version}\", {layers}}}"),
    );
}

/// Writes a manifest with this text. `@ROOT@` becomes the scene's folder.
pub(crate) fn put_text(scene: &Scene, file: &str, text: &str) {
    scene.file(file, text.replace("@ROOT@", scene.text_path("").trim_end_matches('/')));
}

/// Returns the JSON text of a list of strings.
pub(crate) fn list(texts: &[&str]) -> String {
    let mut json = String::from("[");
    for (index, text) in texts.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(json, "{comma}\"{text}\"").expect("writing to a string does not fail");
    }
    json + "]"
}

/// Adds `layers` to the scene, and a driver with one device, because every instance needs a driver. The search finds layers without a
/// chosen folder in the order of the list.
pub(crate) fn place(scene: &mut Scene, layers: &[Layer]) {
    scene.usual_driver("driver");
    let bases = layers.iter().filter(|layer| layer.folder.is_none());
    let bases: Vec<String> = bases.map(|layer| scene.text_path(&layer.base())).collect();
    if !bases.is_empty() {
        scene.env("XDG_DATA_DIRS", bases.join(":"));
    }
    for layer in layers {
        layer.put(scene);
    }
}

/// Searches for layers once, and returns their number. If the test queried the count and then the list, the loader would search and log
/// twice.
pub(crate) fn scan_once(vk: &Vk) -> u32 {
    let mut count = 0;
    let result = call!(
        vk,
        PFN_vkEnumerateInstanceLayerProperties(&mut count, std::ptr::null_mut())
    );
    assert_eq!(result, vk::Result::SUCCESS);
    count
}

/// Changes the header of a 64-bit library to the header of a 32-bit library, and the reverse.
pub(crate) fn of_32_bits(library: &mut [u8]) {
    if cfg!(windows) {
        // In a Windows library, the machine type follows the signature: x86-64 becomes x86.
        let header = usize::from(u16::from_le_bytes([library[0x3c], library[0x3d]]));
        library[header + 4..header + 6].copy_from_slice(&0x14c_u16.to_le_bytes());
    } else {
        // In an ELF library, this byte is EI_CLASS.
        library[4] ^= 3;
    }
}

/// Returns the layers whose `vkCreateInstance` was called. The order begins with the layer that is closest to the application.
pub(crate) fn chain(outcome: &Outcome) -> Vec<&str> {
    creations(outcome, "vkCreateInstance")
}

/// Returns the layers whose `vkCreateDevice` was called.
pub(crate) fn device_chain(outcome: &Outcome) -> Vec<&str> {
    creations(outcome, "vkCreateDevice")
}

/// Returns the layers that recorded a call of `command`, in order.
fn creations<'o>(outcome: &'o Outcome, command: &str) -> Vec<&'o str> {
    let lines = outcome
        .journal()
        .into_iter()
        .filter(|line| line.starts_with("VK_LAYER_"));
    lines
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, event)| event.split(' ').next() == Some(command))
        .map(|(name, _)| name)
        .collect()
}

/// Returns the layers whose library was loaded, in order.
pub(crate) fn loads(outcome: &Outcome) -> Vec<&str> {
    creations(outcome, "loaded")
}

/// Returns the layers whose library was unloaded, in order.
pub(crate) fn unloads(outcome: &Outcome) -> Vec<&str> {
    creations(outcome, "unloaded")
}

/// Defines tests, each with one manifest between valid manifests. A test checks the layers that the loader finds, and the messages about
/// the file.
///
/// A row is `name: explicit|implicit text => [names], "LEVEL" "text", not "text";`. `@FILE@` is the manifest's path.
macro_rules! manifests {
    ($($(#[$doc:meta])* $name:ident: $kind:ident $text:expr => [$($expected:expr),*]
        $(, $level:literal $log:expr)* $(, not $silent:literal)?;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            loader_tests::case(|scene| {
                let outcome = $crate::kit::found(scene, $crate::kit::Folder::$kind, &$text, &[$($expected),*]);
                $(outcome.logged_with($level, &$crate::kit::at_file(scene, $crate::kit::Folder::$kind, $log));)*
                $(assert!(!outcome.stderr.contains($silent), "{}", outcome.all());)?
                drop(outcome);
            });
        }
    )*};
}
pub(crate) use manifests;

/// Kind of the folder that contains the manifest of a test.
#[allow(non_camel_case_types, reason = "the names are the words of the rows of `manifests`")]
#[derive(Clone, Copy)]
pub(crate) enum Folder {
    /// Folder of explicit layers.
    explicit,
    /// Folder of implicit layers.
    implicit,
}

impl Folder {
    /// Returns the path of the manifest under test.
    fn file(self) -> String {
        let folder = match self {
            Folder::explicit => EXPLICIT,
            Folder::implicit => IMPLICIT,
        };
        format!("{folder}/m.json")
    }
}

/// Puts a manifest between two valid manifests, and checks that the loader finds the layers in `expected` in the manifest.
pub(crate) fn found(scene: &mut Scene, folder: Folder, text: &str, expected: &[&str]) -> Outcome {
    place(scene, &[Layer::implicit("0"), Layer::explicit("z")]);
    Layer::explicit("m").put_library(scene);
    put_text(scene, &folder.file(), text);
    let outcome = scene.run(|vk| {
        let layers = vk.layers().expect("layers");
        let between = layers
            .iter()
            .filter(|name| !["VK_LAYER_0", "VK_LAYER_z"].contains(&name.as_str()));
        assert_eq!(between.collect::<Vec<_>>(), expected);
        assert_eq!(layers.len(), expected.len() + 2, "the good layers stay");
    });
    outcome.ok();
    outcome
}

/// Replaces `@FILE@` in a log line by the path of the manifest under test, and `@ROOT@` by the scene's folder.
pub(crate) fn at_file(scene: &Scene, folder: Folder, text: &str) -> String {
    let root = scene.text_path("");
    text.replace("@FILE@", &scene.text_path(&folder.file()))
        .replace("@ROOT@", root.trim_end_matches('/'))
}
