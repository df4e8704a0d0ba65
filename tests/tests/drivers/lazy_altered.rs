//! Tests of records that differ from the driver (DRV-285).

use super::catalogue_file;
use super::lazy::{FAILED, WRONG, calls};
use loader_tests::ash::vk;
use loader_tests::vk::Instance;
use loader_tests::{Outcome, Scene, call, case};
use record::{DRIVER, Key, Query, Record};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, ptr};

/// Rows of a record, sorted by key.
pub(super) type Rows = BTreeMap<Key, Vec<u8>>;

/// Files of a scene's record and catalogue. Tests make changed records from these files.
pub(super) struct Whole {
    bytes: Vec<u8>,
    known: PathBuf,
    folder: PathBuf,
}

impl Whole {
    /// Copies the files of the record and of the catalogue, and reads the copy of the record.
    fn of(scene: &Scene) -> Self {
        let (bytes, known) = (scene.path("record"), scene.path("known"));
        let folder = scene.path("catalogue/cache/vulkan-loader");
        scene.on_disk(|| {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let is_known = path == catalogue_file::in_folder(&folder);
                let to = if is_known { &known } else { &bytes };
                fs::copy(&path, to).expect("a copy");
            }
        });
        Self {
            bytes: fs::read(bytes).expect("a record"),
            known,
            folder,
        }
    }

    fn record(&self) -> Record<'_> {
        Record::again(&self.bytes).expect("a record")
    }

    /// Returns the non-empty rows about devices in the record. Of the rows for one structure, returns only the first.
    fn rows(&self) -> Vec<(Key, usize)> {
        let record = self.record();
        let mut all: Vec<(Key, usize)> = Vec::new();
        for place in 0..record.len() {
            let (key, value) = record.row(place).expect("a row");
            let is_new = all
                .iter()
                .all(|(known, _)| (known.query, known.kind) != (key.query, key.kind));
            if key.device != DRIVER && key.query <= Query::Extensions as u16 && value.len() > 4 && is_new {
                all.push((key, place));
            }
        }
        all
    }

    /// Writes a copy of the record in which the last byte of the row at `place` is different.
    fn alter(&self, place: usize) {
        let (_, value) = self.record().row(place).expect("a row");
        let last = value.as_ptr_range().end as usize - self.bytes.as_ptr() as usize - 1;
        let mut bytes = self.bytes.clone();
        bytes[last] ^= 1;
        self.write(bytes);
    }

    /// Writes a copy of the record whose rows `change` has changed.
    pub(super) fn rewrite(&self, change: impl FnOnce(&mut Rows)) {
        let record = self.record();
        let row = |place| record.row(place).map(|(key, value)| (key, value.to_vec()));
        let mut rows: Rows = (0..record.len()).filter_map(row).collect();
        change(&mut rows);
        let (mut heads, mut data) = (Vec::new(), Vec::new());
        for (key, value) in &rows {
            heads.extend([key.device.to_le_bytes(), key.query.to_le_bytes()].concat());
            let start = 32 + 20 * rows.len() + data.len();
            for number in [key.index, key.kind, start as u32, value.len() as u32] {
                heads.extend(number.to_le_bytes());
            }
            data.extend(value);
        }
        let count = (rows.len() as u32).to_le_bytes();
        self.write([&self.bytes[..24], &count, &self.bytes[28..32], &heads, &data].concat());
    }

    /// Writes a record with its new checksum, and a catalogue that names this record.
    fn write(&self, mut bytes: Vec<u8>) {
        let [old, sum] = [&self.bytes, &bytes].map(|bytes| record::checksum(&bytes[24..]));
        bytes[16..24].copy_from_slice(&sum.to_le_bytes());
        let [old, new] = [old, sum].map(|sum| format!("{sum:016x}"));
        let name = format!("record-{}-{new}.bin", catalogue::ARCHITECTURE);
        fs::write(self.folder.join(name), bytes).expect("a file");
        let path = catalogue_file::in_folder(&self.folder);
        fs::copy(&self.known, &path).expect("a copy");
        catalogue_file::replace_text(&path, &[(&old, &new)]);
    }
}

/// Queries the structure of a row from the device.
fn ask(instance: &Instance<'_>, device: vk::PhysicalDevice, key: Key) {
    let mut room = vec![0_u64; 1024];
    room[0] = key.kind.into();
    let next = match key.kind {
        0 => ptr::null_mut(),
        _ => room.as_mut_ptr().cast(),
    };
    macro_rules! ask {
        ($type:ident, $function:ident $(, $more:expr)?) => {{
            let mut asked = vk::$type { p_next: next, ..Default::default() };
            call!(instance, $function(device, $($more,)? &mut asked));
        }};
    }
    match key.query {
        1 => ask!(PhysicalDeviceProperties2, PFN_vkGetPhysicalDeviceProperties2),
        2 => ask!(PhysicalDeviceFeatures2, PFN_vkGetPhysicalDeviceFeatures2),
        3 => ask!(
            PhysicalDeviceMemoryProperties2,
            PFN_vkGetPhysicalDeviceMemoryProperties2
        ),
        4 => {
            let mut count = key.index + 1;
            let mut all = vec![vk::QueueFamilyProperties2::default(); count as usize];
            all[key.index as usize].p_next = next;
            let array = all.as_mut_ptr();
            call!(
                instance,
                PFN_vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, array)
            );
        }
        5 => {
            let format = vk::Format::from_raw(key.index.cast_signed());
            ask!(FormatProperties2, PFN_vkGetPhysicalDeviceFormatProperties2, format);
        }
        _ => drop(instance.device_extensions(device)),
    }
}

/// DRV-285: a late opening compares each structure that the loader answered from the record.
#[test]
fn drv_285_each_altered_structure_is_found() {
    case(|scene| {
        let whole = recorded(scene);
        let rows = whole.rows();
        assert!(rows.len() > 5, "{}", rows.len());
        let program = |scene: &mut Scene, keys: &[Key]| -> Outcome {
            scene.run(|vk| {
                let instance = vk.instance_with("1.3", &[]);
                let device = instance.first();
                keys.iter().for_each(|key| ask(&instance, device, *key));
                assert_eq!(calls(vk, "load"), 0, "{keys:?}");
                let is_gone = keys.len() == 1 && keys[0].kind == record::IDENTITY;
                let created = if is_gone { Err(FAILED) } else { Ok(()) };
                assert_eq!(instance.device_spec(device).create().map(drop), created);
            })
        };
        let keys: Vec<Key> = rows.iter().map(|(key, _)| *key).collect();
        program(scene, &keys).ok().not_logged(WRONG);
        for (key, place) in rows {
            scene.on_disk(|| whole.alter(place));
            let outcome = program(scene, &[key]);
            assert!(outcome.ok().all().contains(WRONG), "{key:?}: {}", outcome.all());
        }
    });
}

/// Adds a recorded driver with one device, and returns its files.
pub(super) fn recorded(scene: &mut Scene) -> Whole {
    scene.driver("a").api("1.3").device_with("one", |device| {
        device.api("1.3").uuids(1, 9).extension("VK_KHR_swapchain")
    });
    scene.lazily().limit(30);
    scene.run(|vk| drop(vk.instance())).ok();
    Whole::of(scene)
}

/// Query that a program makes, the difference that the log must report, and a change of the driver's record.
type Case<'c> = (&'c str, &'c str, &'c dyn Fn(&mut Rows));

/// Runs a program that makes a query, and then makes the loader open the driver.
fn queried(scene: &mut Scene, query: &str) -> Outcome {
    scene.run(|vk| {
        let instance = vk.instance_with("1.3", &[]);
        let (device, mut count) = (instance.first(), 0);
        match query {
            "families" => {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceQueueFamilyProperties(device, &mut count, ptr::null_mut())
                );
                assert_eq!(count, 1, "the record lacks a family");
            }
            "tools" => {
                let result = call!(
                    instance,
                    PFN_vkGetPhysicalDeviceToolProperties(device, &mut count, ptr::null_mut())
                );
                assert_eq!((result, count), (vk::Result::SUCCESS, 0));
            }
            _ => {}
        }
        assert_eq!(calls(vk, "load"), 0, "{query}");
        assert_eq!(instance.device_spec(device).create().map(drop), Ok(()));
    })
}

/// DRV-285: a late opening also compares the number of queue families, an empty list of tools, and the commands of an instance.
#[test]
fn drv_285_altered_numbers_and_commands_are_found() {
    case(|scene| {
        let whole = recorded(scene);
        let number = record::COMMANDS.iter().position(|name| *name == "vkReleaseDisplayEXT");
        let number = number.expect("a command");
        let cases: [Case<'_>; 3] = [
            ("families", "other queue families", &|rows| {
                rows.retain(|key, _| key.query != Query::QueueFamilies as u16 || key.index == 0);
            }),
            ("tools", "other tools", &|rows| {
                rows.insert(Key::of(0, Query::NoTools), Vec::new());
            }),
            ("commands", "other commands", &|rows| {
                let all = rows.iter_mut().filter(|(key, _)| key.query == Query::Commands as u16);
                all.for_each(|(_, bits)| bits[number / 8] |= 1 << (number % 8));
            }),
        ];
        for (query, difference, change) in cases {
            scene.on_disk(|| whole.rewrite(change));
            let outcome = queried(scene, query);
            let line = format!("has {difference} than the driver catalogue says");
            assert!(outcome.ok().all().contains(WRONG), "{query}: {}", outcome.all());
            assert!(outcome.all().contains(&line), "{query}: {}", outcome.all());
        }
        scene.on_disk(|| whole.rewrite(|_| ()));
        queried(scene, "").ok().not_logged(WRONG);
    });
}
