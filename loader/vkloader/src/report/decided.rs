//! Reads from a trace what the library decided about devices and drivers, below all layers.

use crate::events::{Event, Record, Step, TracedSource};
use crate::manifests;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Commands that list a driver's devices.
const LISTING: [&str; 3] = [
    "vkEnumeratePhysicalDevices",
    "vkEnumeratePhysicalDeviceGroups",
    "vkEnumeratePhysicalDeviceGroupsKHR",
];

/// A device in the library's list, below all layers.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    pub(super) place: usize,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) vendor: u32,
    pub(super) device: u32,
    pub(super) api_version: String,
    /// UUIDs of the device and its driver, if the driver reports them.
    pub(super) uuid: Option<String>,
    pub(super) driver_uuid: Option<String>,
    /// Path of the driver's library.
    pub(super) driver: String,
    pub(super) manifest: Option<String>,
    /// Name in the trace of the rule that determined the position of the device.
    pub(super) rule: String,
}

/// The library's decisions about devices and drivers.
#[derive(Debug, Default)]
pub(super) struct Decided {
    /// Devices of the last enumeration, in the library's order.
    pub(super) devices: Vec<Listed>,
    /// Drivers that returned an empty list of devices, in the order of their first answers.
    pub(super) idle: Vec<String>,
    /// Names of the devices that a filter hid, each with the variable that sets the filter.
    pub(super) filtered: Vec<(String, String)>,
    /// Names of the layers between the program and the library's list, starting at the program.
    pub(super) layers: Vec<String>,
}

impl Decided {
    pub(super) fn of(records: &[&Record]) -> Self {
        let mut decided = Self::default();
        let mut counts: Vec<(&str, u64)> = Vec::new();
        for record in records {
            match &record.event {
                Event::Device(device) => {
                    decided.devices.truncate(device.place);
                    decided.devices.push(Listed {
                        place: device.place,
                        name: device.name.clone(),
                        kind: device.kind.clone(),
                        vendor: device.vendor,
                        device: device.device,
                        api_version: device.api_version.clone(),
                        uuid: device.uuid.clone(),
                        driver_uuid: device.driver_uuid.clone(),
                        driver: device.driver.clone(),
                        manifest: None,
                        rule: device.rule.clone(),
                    });
                }
                Event::End(step) => counts.extend(listed_by_driver(step)),
                Event::Decision(decision) if decision.code.as_deref() == Some("device.id-filter") => {
                    let variable = decision.details.get("variable").and_then(|word| word.as_str());
                    let hidden = (decision.name.clone(), variable.unwrap_or_default().to_owned());
                    decided.filtered.push(hidden);
                }
                Event::Chain(chain) if chain.call == "vkCreateInstance" => {
                    decided.layers = chain.layers.iter().map(|layer| layer.name.clone()).collect();
                }
                _ => {}
            }
        }
        decided.find_idle(&counts);
        decided.name_manifests(&Manifests::of(records));
        decided
    }

    /// Returns the variable that hides devices called `name`.
    pub(super) fn filter_of(&self, name: &str) -> Option<&str> {
        let mut hidden = self.filtered.iter();
        hidden
            .find(|(hidden, _)| hidden == name)
            .map(|(_, variable)| variable.as_str())
    }

    /// Finds the drivers whose last list of devices was empty.
    fn find_idle(&mut self, counts: &[(&str, u64)]) {
        let last: HashMap<&str, u64> = counts.iter().copied().collect();
        for (driver, _) in counts {
            if last.get(driver) == Some(&0) && !self.idle.iter().any(|known| known == driver) {
                self.idle.push((*driver).into());
            }
        }
    }

    /// Determines the manifest of each device. If several manifests name the same library, assigns the library's equal devices to these
    /// manifests in turn.
    fn name_manifests(&mut self, manifests: &Manifests) {
        for place in 0..self.devices.len() {
            let (before, rest) = self.devices.split_at_mut(place);
            let device = &mut rest[0];
            let same = |other: &&Listed| {
                (&other.driver, &other.name, other.vendor, other.device)
                    == (&device.driver, &device.name, device.vendor, device.device)
            };
            let earlier = before.iter().filter(same).count();
            device.manifest = manifests.of_library(&device.driver, earlier).map(String::from);
        }
    }
}

/// Returns the driver and the number of its devices if `step` is the end of a successful enumeration.
fn listed_by_driver(step: &Step) -> Option<(&str, u64)> {
    let is_listing = step.step == "driver" && LISTING.contains(&step.name.as_str());
    let counted = step.devices.filter(|_| is_listing && step.result == Some(0));
    Some((step.library.as_deref()?, counted?))
}

/// For each library, the manifests that name it, with their origins.
#[derive(Default)]
pub(super) struct Manifests(HashMap<PathBuf, Vec<(String, TracedSource)>>);

impl Manifests {
    pub(super) fn of(records: &[&Record]) -> Self {
        let mut manifests = Self::default();
        for record in records {
            if let Event::Decision(decision) = &record.event
                && decision.subject == "driver"
                && decision.is_kept()
            {
                let known = manifests.0.entry(real(&decision.name)).or_default();
                if !known.iter().any(|(path, _)| *path == decision.path) {
                    known.push((decision.path.clone(), decision.source.clone()));
                }
            }
        }
        manifests.add_unopened(records);
        manifests
    }

    /// Adds the manifests of drivers that were not opened because the driver catalogue contains their devices.
    fn add_unopened(&mut self, records: &[&Record]) {
        for record in records {
            let Event::Catalogue(entry) = &record.event else {
                continue;
            };
            let library = real(&entry.library);
            if entry.used != "devices" || self.0.contains_key(&library) {
                continue;
            }
            let manifest = records.iter().find_map(|record| match &record.event {
                Event::Decision(decision) if decision.subject == "driver-manifest" && decision.is_kept() => {
                    let path = Path::new(&decision.name);
                    let named = manifests::named(path)?;
                    let leads = named == entry.library
                        || real(&manifests::found(path, &named).display().to_string()) == library;
                    leads.then(|| (decision.name.clone(), decision.source.clone()))
                }
                _ => None,
            });
            self.0.entry(library).or_default().extend(manifest);
        }
    }

    /// Returns the manifests that name a library, each with its origin.
    pub(super) fn all(&self, library: &str) -> &[(String, TracedSource)] {
        self.0.get(&real(library)).map_or(&[], Vec::as_slice)
    }

    /// Returns the manifest of a device of `library`. `earlier` is the number of equal devices that the library listed before this device.
    pub(super) fn of_library(&self, library: &str, earlier: usize) -> Option<&str> {
        let all = self.all(library);
        let place = earlier.checked_rem(all.len())?;
        all.get(place).map(|(path, _)| path.as_str())
    }
}

fn real(path: &str) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| Path::new(path).into())
}

/// Returns the records of the process with the most records. A program may start other programs that also use the library.
pub(crate) fn busiest(records: &[Record]) -> Vec<&Record> {
    let mut counts = BTreeMap::new();
    for record in records {
        *counts.entry(record.process).or_insert(0_usize) += 1;
    }
    let busiest = counts.into_iter().max_by_key(|&(_, count)| count);
    records
        .iter()
        .filter(|record| busiest.is_some_and(|(process, _)| record.process == process))
        .collect()
}
