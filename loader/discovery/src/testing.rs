//! Folders of layer manifests for the tests of discovery and activation.

use super::layers::{DiscoveredLayers, Extent, LayerScan};
use crate::env::{Environment, Fixed};
use crate::journal::Journal;
use crate::journal::testing::Lines;
use crate::search::Search;
use crate::settings::{Control, LayerEntry, Settings};
use crate::text::Text;
use crate::text::scratch::Scratch;

/// A folder with implicit and explicit layers, and the environment in which it is searched.
#[derive(Debug)]
pub struct World {
    /// Folder that contains the folders of the layers.
    pub scratch: Scratch,
    /// Lines that were logged.
    pub lines: Lines,
    variables: Vec<(String, String)>,
}

/// Path of the running executable in tests.
pub const EXECUTABLE: &str = "/bin/app";

impl World {
    /// Creates a world in a new folder. The only searched folders are `implicit` and `explicit`.
    pub fn create() -> Self {
        let scratch = Scratch::create();
        let place = |name: &str| scratch.folder(name).to_string();
        let variables = vec![
            ("VK_IMPLICIT_LAYER_PATH".to_owned(), place("implicit")),
            ("VK_LAYER_PATH".to_owned(), place("explicit")),
        ];
        Self {
            scratch,
            lines: Lines::default(),
            variables,
        }
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: &str) -> &mut Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Unsets a variable.
    pub fn unset(&mut self, name: &str) {
        self.variables.retain(|(known, _)| known != name);
    }

    /// Returns the variables as a source for an environment.
    pub fn variables(&self) -> Fixed {
        let pairs: Vec<(&str, String)> = self
            .variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        Fixed::new(&pairs)
    }

    /// Writes a manifest with one layer. `more` has further members; each one starts with a comma.
    pub fn layer(&self, file: &str, name: &str, more: &str) -> Text {
        let body = if more.contains("component_layers") {
            ""
        } else {
            r#","library_path":"lib.so""#
        };
        let version = if more.contains("api_version") {
            ""
        } else {
            r#","api_version":"1.1.0""#
        };
        let text = format!(
            r#"{{"file_format_version":"1.1.2","layer":{{"name":"{name}","type":"GLOBAL","implementation_version":"1",
            "description":"d"{body}{version}{more}}}}}"#
        );
        self.scratch.file(&format!("{file}.json"), text.as_bytes())
    }

    /// Writes an implicit layer. The variable `OFF_<file name>` disables it.
    pub fn implicit(&self, file: &str, name: &str, more: &str) -> Text {
        let disable = format!(r#","disable_environment":{{"OFF_{file}":"1"}}"#);
        self.layer(&format!("implicit/{file}"), name, &(disable + more))
    }

    /// Writes an explicit layer.
    pub fn explicit(&self, file: &str, name: &str, more: &str) -> Text {
        self.layer(&format!("explicit/{file}"), name, more)
    }

    /// Searches for layers, with the settings if there are any.
    pub fn scan_with(&self, settings: Option<&Settings>) -> DiscoveredLayers {
        let variables = self.variables();
        let environment = Environment::new(&variables);
        let scan = LayerScan {
            search: &Search::new(&environment),
            settings,
            executable: &Some(EXECUTABLE.into()).into(),
        };
        scan.run(Extent::All, &mut Journal::new(&self.lines)).unwrap()
    }

    /// Searches for layers without settings.
    pub fn scan(&self) -> DiscoveredLayers {
        self.scan_with(None)
    }

    /// Returns the names of the layers that a scan finds.
    pub fn names(&self) -> Vec<String> {
        names(&self.scan())
    }
}

/// Returns the names of the layers in a scan result.
pub fn names(list: &DiscoveredLayers) -> Vec<String> {
    list.layers.iter().map(|layer| layer.name.to_string()).collect()
}

/// Returns the member of a manifest that makes the layer a meta-layer.
pub fn components(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!(r#","component_layers":[{}]"#, quoted.join(","))
}

/// Returns an entry of a settings file.
pub fn entry(control: Control, name: &str, path: &Text) -> LayerEntry {
    LayerEntry {
        control,
        name: name.into(),
        path: path.clone(),
        implicit: path.windows(10).any(|part| part == b"/implicit/"),
    }
}

/// Returns settings that list the layers in `entries`.
pub fn settings(entries: &[LayerEntry]) -> Settings {
    Settings {
        layers: Some(entries.to_vec()),
        ..Settings::default()
    }
}
