//! Runs the probe under the conditions of a program: with the program's library, layers and variables.

use crate::child::{self, Finished};
use crate::commands::Library;
use crate::explain::KEPT;
use crate::filters::{self, ALL, ENABLING, leave_out};
use crate::probe::{self, Seen};
use crate::report::{self, Report, WITHOUT_LAYERS, codes};
use crate::variables::Variables;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Settings for runs of the probe with and without layers.
pub(crate) struct Beside<'a> {
    library: &'a Library,
    /// Path of the library that the program used, for the probe.
    path: PathBuf,
    layers: Vec<Layer>,
    variables: Variables,
    /// `true` if the program was made for Vulkan 1.0. Layers may treat such programs differently.
    is_old: bool,
}

/// A layer of the program.
struct Layer {
    name: String,
    /// `true` if the program requested the layer.
    is_asked_for: bool,
    /// `true` if [`ENABLING`] switched the layer on.
    is_enabled: bool,
}

impl<'a> Beside<'a> {
    /// Returns the probe that imitates the program of a report.
    pub(crate) fn of(library: &'a Library, finished: &Finished, report: &Report) -> Self {
        let path = report.loader.as_ref().and_then(|loader| loader.path.as_deref());
        let layers = report.layers.iter();
        Self {
            library,
            path: path.map_or_else(|| library.path(), PathBuf::from),
            layers: layers
                .map(|layer| Layer {
                    name: layer.name.clone(),
                    is_asked_for: layer.is_asked_for,
                    is_enabled: layer.enabled_by == ENABLING,
                })
                .collect(),
            variables: Variables::of(finished),
            is_old: report.is_for_first_version(),
        }
    }

    /// Runs the probe without the layers that the pattern `without` matches. An empty pattern matches no layer.
    pub(crate) fn run(&self, without: &str) -> io::Result<Finished> {
        self.run_within(without, self.library.limit())
    }

    /// Runs the probe as [`run`](Self::run) does, for at most `limit`.
    pub(crate) fn run_within(&self, without: &str, limit: Duration) -> io::Result<Finished> {
        child::run(self.command(without, false)?, limit, KEPT)
    }

    /// Returns the command that runs the probe without the layers that `without` matches. If `as_old` is `true`, the probe imitates a
    /// program that was made for Vulkan 1.0.
    fn command(&self, without: &str, as_old: bool) -> io::Result<Command> {
        let mut command = Command::new(crate::itself::path()?);
        command.arg(crate::probe::ARGUMENT);
        command.args(as_old.then_some("--old-program"));
        let is_left = |layer: &&Layer| without != ALL && without != layer.name;
        let wanted = self.layers.iter().filter(|layer| layer.is_asked_for);
        command.args(wanted.filter(is_left).map(|layer| format!("--layer={}", layer.name)));
        command.arg(&self.path);
        self.variables.give_to(&mut command);
        if !without.is_empty() {
            leave_out(&mut command, WITHOUT_LAYERS, without);
            // A pattern that matched the layer may have switched on others too.
            let others = self.layers.iter().filter(|layer| layer.is_enabled).filter(is_left);
            others.for_each(|layer| filters::add(&mut command, ENABLING, &layer.name));
        }
        Ok(command)
    }

    /// Returns the results of a probe without the layers that the pattern `without` matches.
    pub(crate) fn seen(&self, without: &str) -> io::Result<Option<Seen>> {
        Ok(Seen::last(&self.run(without)?.output))
    }

    /// Returns the devices that the program receives, according to the results of a probe without the layers that `without` matches. Layers
    /// may arrange the devices otherwise for a program that was made for Vulkan 1.0, so that another probe imitates such a program.
    pub(crate) fn arranged(&self, seen: Seen, without: &str) -> io::Result<Seen> {
        if !self.is_old {
            return Ok(seen);
        }
        let old = child::run(self.command(without, true)?, self.library.limit(), KEPT)?;
        Ok(match Seen::last(&old.output) {
            Some(old) if old.is_complete() => seen.arranged_as(old),
            _ => seen,
        })
    }

    /// Returns the devices that the program receives without the layers that the pattern `without` matches.
    pub(crate) fn received(&self, without: &str) -> io::Result<Option<Seen>> {
        self.seen(without)?.map(|seen| self.arranged(seen, without)).transpose()
    }

    /// Finds the layers whose removal makes more devices usable, and adds them to the report. `seen` has the results of the probe with all
    /// layers.
    pub(crate) fn blame_layers(&self, seen: &Seen, report: &mut Report) -> io::Result<()> {
        let usable = seen.usable().count();
        let is_suspicious = usable == 0 || usable < seen.devices.len();
        // If a layer ended the process, the step in which the process ended already names the layer.
        if self.layers.is_empty() || !is_suspicious || !seen.is_complete() || report.is_changed_by_layer() {
            return Ok(());
        }
        let freed = |pattern: &str| -> io::Result<Option<Seen>> {
            Ok(self.seen(pattern)?.filter(|free| free.usable().count() > usable))
        };
        let Some(free) = freed(ALL)? else { return Ok(()) };
        for Layer { name, .. } in &self.layers {
            if let Some(free) = freed(name)? {
                report::obstructed(report, name, seen, &free);
                return Ok(());
            }
        }
        let names: Vec<&str> = self.layers.iter().map(|layer| layer.name.as_str()).collect();
        report::obstructed(report, &names.join(","), seen, &free);
        Ok(())
    }
}

impl Beside<'_> {
    /// Finds the layer that hides extensions or features of devices from a program that failed without a known reason, and adds it to the
    /// report. `seen` has the results of the probe with all layers.
    ///
    /// # Errors
    ///
    /// The probe cannot be run.
    pub(crate) fn compare_extensions(&self, seen: &Seen, report: &mut Report) -> io::Result<()> {
        if self.layers.is_empty() || !seen.is_complete() || !report.has_failed_alone() {
            return Ok(());
        }
        report.note_without_swapchain(seen);
        let hidden = |without: &str| -> io::Result<[Vec<String>; 2]> {
            let free = self.seen(without)?.unwrap_or_default();
            Ok([hidden(seen, &free, extensions), hidden(seen, &free, features)])
        };
        if hidden(ALL)?.iter().all(Vec::is_empty) {
            return Ok(());
        }
        for Layer { name, .. } in &self.layers {
            let [extensions, features] = hidden(name)?;
            if !extensions.is_empty() {
                report.add_hidden(codes::LAYER_HIDES_EXTENSIONS, name, "extensions", &extensions);
            }
            if !features.is_empty() {
                report.add_hidden(codes::LAYER_HIDES_FEATURES, name, "features", &features);
            }
        }
        Ok(())
    }
}

fn extensions(device: &probe::Device) -> &[String] {
    &device.extensions
}

fn features(device: &probe::Device) -> &[String] {
    &device.features
}

/// Returns the names that `list` returns for devices in `free`, and not for the same devices in `seen`.
fn hidden(seen: &Seen, free: &Seen, list: fn(&probe::Device) -> &[String]) -> Vec<String> {
    let mut hidden: Vec<String> = Vec::new();
    for device in &free.devices {
        let is_same = |one: &&probe::Device| (one.uuid.as_ref(), &one.name) == (device.uuid.as_ref(), &device.name);
        let Some(own) = seen.devices.iter().find(is_same) else {
            continue;
        };
        let is_new = |name: &&String| !list(own).contains(name);
        for name in list(device).iter().filter(is_new) {
            if !hidden.contains(name) {
                hidden.push(name.clone());
            }
        }
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_that_a_layer_hides_are_found() {
        let seen = |name: &str, extensions: &[&str]| Seen {
            devices: vec![probe::Device {
                name: name.into(),
                extensions: extensions.iter().map(|name| (*name).into()).collect(),
                ..probe::Device::default()
            }],
            ..Seen::default()
        };
        let free = seen("one", &["VK_A", "VK_B"]);
        assert_eq!(hidden(&seen("one", &["VK_B", "VK_C"]), &free, extensions), ["VK_A"]);
        assert!(hidden(&seen("one", &["VK_B"]), &free, features).is_empty());
        assert!(
            hidden(&seen("two", &[]), &free, extensions).is_empty(),
            "another device"
        );
    }
}
