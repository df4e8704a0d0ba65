//! Tests of the reader of catalogues, and of the decisions about entries.

use super::*;
use serde_json::{Value, json};

impl<'a> Json<'a> for &'a Value {
    fn member(self, name: &str) -> Option<Self> {
        self.get(name)
    }

    fn text(self) -> Option<&'a [u8]> {
        self.as_str().map(str::as_bytes)
    }

    fn number(self) -> Option<f64> {
        self.as_f64()
    }

    fn elements(self) -> Option<(usize, impl Iterator<Item = Self> + Clone)> {
        self.as_array().map(|array| (array.len(), array.iter()))
    }
}

const READER: Reader<'static> = Reader {
    loader: "1.4.366",
    architecture: "x86_64",
};

pub(crate) const LIBRARY: Identity = Identity {
    device: 1,
    inode: 2,
    size: 3,
    modified: (1000, 0),
    changed: (1000, 0),
};

pub(crate) fn document() -> Value {
    json!({
        "schema": 6, "loader": "1.4.366", "architecture": "x86_64", "made": 1_764_000_000_u64,
        "linker-cache": "", "variables": [{"name": "RADV_DEBUG", "value": "info"}],
        "machine": {"fingerprint": "0123456789abcdef", "cards": [{"address": "0000:01:00.0"}]},
        "files": [], "drivers": [entry()]
    })
}

fn entry() -> Value {
    json!({
        "manifest": {"path": "/icd.d/radeon.json"},
        "library": {"named": "/lib/libvulkan_radeon.so", "path": "/lib/libvulkan_radeon.so", "identity": LIBRARY.to_string()},
        "asked": 5, "outcome": "answered", "hardware": "absent", "devices": [],
        "extensions": ["VK_KHR_surface 25"], "files": []
    })
}

pub(crate) fn read(document: &Value) -> Result<Catalogue<'_, &Value>, Problem> {
    Catalogue::read(document, READER)
}

/// Returns a catalogue in which the member at the path `pointer` has the value `value`.
pub(crate) fn with(pointer: &str, value: Value) -> Value {
    let mut document = document();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap()[name] = value;
    document
}

/// Returns the decision about a driver if the member `name` of its entry has the value `value`.
fn decision(name: &str, value: Value) -> Usability {
    let document = with(&format!("/drivers/0/{name}"), value);
    let entry = read(&document).unwrap().entries().next().unwrap();
    entry.at_creation(|| MachineState::SameBoot)
}

#[test]
fn members_are_found() {
    let document = document();
    let catalogue = read(&document).unwrap();
    assert_eq!(catalogue.made(), 1_764_000_000);
    assert!(catalogue.cards().eq([&b"0000:01:00.0"[..]]));
    let entry = catalogue.entries().next().unwrap();
    assert_eq!(
        (entry.manifest, entry.named),
        (&b"/icd.d/radeon.json"[..], &b"/lib/libvulkan_radeon.so"[..])
    );
    assert_eq!(
        (entry.asked(), entry.devices(), entry.hardware()),
        (5, Some(0), Hardware::Absent)
    );
    let surface = Extension {
        name: b"VK_KHR_surface",
        version: 25,
    };
    assert!(entry.extensions().unwrap().eq([surface]));
}

/// Compares the code with the numbers in `docs/catalogue.md` and `docs/limits.md`.
#[test]
fn the_form_and_its_limits_have_their_numbers() {
    assert_eq!((SCHEMA, MOST_BYTES), (6, 1_048_576));
    assert_eq!([MOST_ENTRIES, MOST_EXTENSIONS, MOST_DEVICES], [256, 1024, 256]);
    assert_eq!([MOST_VARIABLES, MOST_CARDS, LONGEST_NAME], [256, 64, 255]);
    assert_eq!(build_id::HEAD_BYTES, 4096);
}

/// DRV-270: a catalogue may have as many elements as each limit allows.
#[test]
fn as_much_as_a_limit_allows_counts() {
    let cards = with("/machine/cards", json!(vec![json!({}); MOST_CARDS]));
    assert!(read(&cards).is_ok());
    let variable = json!({"name": "RADV_DEBUG", "value": "x"});
    for (count, counts) in [(MOST_VARIABLES, true), (MOST_VARIABLES + 1, false)] {
        let document = with("/variables", json!(vec![variable.clone(); count]));
        assert_eq!(read(&document).is_ok(), counts, "{count} variables");
    }
    let extensions = with("/drivers/0/extensions", json!(vec!["x 1"; MOST_EXTENSIONS]));
    let entry = read(&extensions).unwrap().entries().next().unwrap();
    assert_eq!(entry.extensions().map(Iterator::count), Some(MOST_EXTENSIONS));
    let devices = with("/drivers/0/devices", json!(vec![json!({}); MOST_DEVICES]));
    let entry = read(&devices).unwrap().entries().next().unwrap();
    assert_eq!(entry.devices(), Some(MOST_DEVICES));
}

#[test]
fn other_catalogues_do_not_count() {
    for (pointer, value, problem) in [
        ("/schema", json!(1), Problem::OtherSchema),
        ("/schema", json!("2"), Problem::NotACatalogue),
        ("/loader", json!("1.4.367"), Problem::OtherLoader),
        ("/loader", json!(null), Problem::NotACatalogue),
        ("/architecture", json!("x86"), Problem::OtherArchitecture),
        ("/machine", json!([]), Problem::NotACatalogue),
        ("/machine/cards", json!(vec![0; MOST_CARDS + 1]), Problem::NotACatalogue),
        ("/variables", json!({}), Problem::NotACatalogue),
        ("/files", json!(null), Problem::NotACatalogue),
        ("/files", json!(vec![0; MOST_FILES + 1]), Problem::NotACatalogue),
        (
            "/drivers",
            json!(vec![entry(); MOST_ENTRIES + 1]),
            Problem::NotACatalogue,
        ),
    ] {
        assert_eq!(read(&with(pointer, value)).err(), Some(problem), "{pointer}");
    }
    for document in [json!(null), json!([]), json!({})] {
        assert_eq!(read(&document).err(), Some(Problem::NotACatalogue));
    }
    assert!(read(&with("/drivers", json!(vec![entry(); MOST_ENTRIES]))).is_ok());
}

#[test]
fn odd_entries_are_passed_over() {
    for (pointer, value) in [
        ("/drivers", json!([7])),
        ("/drivers/0/manifest", json!("/icd.d/radeon.json")),
        ("/drivers/0/library/identity", json!(1)),
        ("/drivers/0/outcome", json!("slept")),
        ("/drivers/0/outcome", json!("crashed")),
    ] {
        assert_eq!(read(&with(pointer, value)).unwrap().entries().count(), 0, "{pointer}");
    }
}

#[test]
fn odd_lists_of_extensions_are_none() {
    let name = |length| "x".repeat(length);
    let one = |name: String, version: Value| json!([format!("{name} {version}")]);
    let lists = [
        (one(name(LONGEST_NAME), json!(u32::MAX)), true),
        (json!([]), true),
        (one(name(LONGEST_NAME + 1), json!(1)), false),
        (one(String::new(), json!(1)), false),
        (one("a\0b".into(), json!(1)), false),
        (one(name(1), json!(-1)), false),
        (one(name(1), json!(0.5)), false),
        (one(name(1), json!(1_u64 << 32)), false),
        (json!(["x"]), false),
        (json!(["x 1 "]), false),
        (json!([{"name": "x", "version": 1}]), false),
        (json!({}), false),
        (json!(vec!["x 1"; MOST_EXTENSIONS + 1]), false),
    ];
    for (list, counts) in lists {
        let document = with("/drivers/0/extensions", list);
        let entry = read(&document).unwrap().entries().next().unwrap();
        assert_eq!(entry.extensions().is_some(), counts);
    }
}

#[test]
fn only_the_values_of_then_are_allowed() {
    let document = document();
    let catalogue = read(&document).unwrap();
    assert!(catalogue.allows(b"RADV_DEBUG", b"info"));
    assert!(catalogue.allows(b"HOME", b"/root"));
    assert!(!catalogue.allows(b"RADV_DEBUG", b""));
    assert!(!catalogue.allows(b"DRI_PRIME", b"1"));
}

#[test]
fn only_drivers_known_to_have_no_device_are_left_out() {
    assert_eq!(decision("devices", json!([])), Usability::NoDevice);
    assert_eq!(decision("hardware", json!("present")), Usability::NoDevice);
    for hardware in ["unknown", "software", "pending", "", "gone"] {
        assert_eq!(decision("hardware", json!(hardware)), Usability::Open, "{hardware}");
    }
    for devices in [json!(null), json!([{}]), json!(0), json!(vec![0; MOST_DEVICES + 1])] {
        assert_eq!(decision("devices", devices), Usability::Open);
    }
    let mut failed = document();
    failed["drivers"][0]["outcome"] = json!("failed");
    failed["drivers"][0]["devices"] = json!(null);
    for (code, expected) in [(-9, Usability::NoDevice), (-3, Usability::Open), (0, Usability::Open)] {
        failed["drivers"][0]["code"] = json!(code);
        let entry = read(&failed).unwrap().entries().next().unwrap();
        assert_eq!(entry.at_creation(|| MachineState::SameBoot), expected, "{code}");
    }
}

#[test]
fn what_is_not_opened_is_so_on_the_same_machine_only() {
    let mut document = document();
    for hardware in ["absent", "present"] {
        document["drivers"][0]["hardware"] = json!(hardware);
        let entry = read(&document).unwrap().entries().next().unwrap();
        let after_boot = if hardware == "present" {
            Usability::Open
        } else {
            Usability::NoDevice
        };
        for (machine, expected) in [
            (MachineState::SameBoot, Usability::NoDevice),
            (MachineState::Similar, after_boot),
            (MachineState::Changed, Usability::Open),
        ] {
            assert_eq!(entry.at_creation(|| machine), expected, "{hardware} {machine:?}");
        }
    }
    document["drivers"][0]["outcome"] = json!("crashed");
    document["drivers"][0]["signal"] = json!(11);
    document["drivers"][0]["hardware"] = json!("unknown");
    document["drivers"][0]["status"] = json!(3);
    for (word, outcome) in [("crashed", Outcome::Crashed(11)), ("ended", Outcome::Ended(3))] {
        document["drivers"][0]["outcome"] = json!(word);
        let entry = read(&document).unwrap().entries().next().unwrap();
        assert_eq!(entry.outcome, outcome);
        for machine in [MachineState::SameBoot, MachineState::Similar] {
            assert_eq!(entry.at_creation(|| machine), Usability::Broken, "{machine:?}");
        }
        assert_eq!(entry.at_creation(|| MachineState::Changed), Usability::Open);
    }
}

#[test]
fn hardware_shows_by_kernel_driver_node_or_waiting_card() {
    let hardware = |library: &str, drivers: &[&str], nodes: &[&str], card: Option<u16>| {
        Hardware::of(
            library.as_bytes(),
            |driver| drivers.contains(&driver),
            |node| nodes.contains(&node),
            |vendor, _| card == Some(vendor),
        )
    };
    assert_eq!(
        hardware("/x/libvulkan_radeon.so", &["amdgpu"], &[], None),
        Hardware::Present
    );
    assert_eq!(
        hardware("/x/libvulkan_radeon.so", &["radeon"], &[], None),
        Hardware::Absent
    );
    assert_eq!(
        hardware("libvulkan_dzn.so", &[], &["/dev/dxg"], None),
        Hardware::Present
    );
    assert_eq!(hardware("libvulkan_lvp.so", &[], &[], None), Hardware::Software);
    assert_eq!(
        hardware("libvulkan_gfxstream.so", &["virtio_gpu"], &[], None),
        Hardware::Unknown
    );
    assert_eq!(hardware("libGLX_nvidia.so.0", &[], &[], None), Hardware::Absent);
    assert_eq!(
        hardware("libGLX_nvidia.so.0", &[], &[], Some(0x10DE)),
        Hardware::Pending
    );
    assert_eq!(
        hardware("libGLX_nvidia.so.0", &["nvidia"], &[], None),
        Hardware::Pending
    );
}

/// An imitated machine with one PCI device in this power state.
struct One(&'static str);

impl Look for One {
    fn names(&self, _: &[u8], _: &mut dyn FnMut(&[u8])) -> bool {
        true
    }

    fn link(&self, _: &[u8], _: &mut dyn FnMut(&[u8])) {}

    fn text(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
        if path == b"/sys/bus/pci/devices/0000:01:00.0/power/runtime_status" {
            take(self.0.as_bytes());
        }
    }

    fn device_number(&self, _: &[u8]) -> Option<u64> {
        None
    }
}

#[test]
fn a_driver_sleeps_when_all_its_devices_do() {
    let sleeps = |devices: Value, state| {
        let document = with("/drivers/0/devices", devices);
        let entry = read(&document).unwrap().entries().next().unwrap();
        entry.sleeps(&One(state))
    };
    let place = |place: &str| json!({"pci": place});
    assert!(sleeps(json!([place("0000:01:00.0")]), "suspended\n"));
    assert!(!sleeps(json!([place("0000:01:00.0")]), "active\n"));
    assert!(!sleeps(
        json!([place("0000:01:00.0"), place("0000:02:00.0")]),
        "suspended\n"
    ));
    assert!(!sleeps(json!([place("0000:01:00.0"), {}]), "suspended\n"));
    assert!(!sleeps(json!([place("../devices/0000:01:00.0")]), "suspended\n"));
    assert!(!sleeps(json!([]), "suspended\n"));
    assert!(!sleeps(json!(null), "suspended\n"));
}

#[test]
fn software_is_what_needs_no_hardware() {
    let is_software = |hardware: &str, devices: Value| {
        let mut document = with("/drivers/0/hardware", json!(hardware));
        document["drivers"][0]["devices"] = devices;
        let entry = read(&document).unwrap().entries().next().unwrap();
        entry.is_software()
    };
    assert!(is_software("software", json!(null)));
    assert!(is_software("unknown", json!([{"type": "cpu"}])));
    assert!(!is_software("unknown", json!([{"type": "cpu"}, {"type": "discrete"}])));
    assert!(!is_software("unknown", json!([])));
    assert!(!is_software("absent", json!(null)));
}

#[test]
fn the_catalogue_of_the_system_lies_in_its_folder() {
    let path = format!("{SYSTEM_FOLDER}/catalogue-{ARCHITECTURE}.bin");
    assert_eq!(SYSTEM_FILE.to_bytes(), path.as_bytes());
}

#[test]
fn kinds_of_hardware_have_names() {
    let names: Vec<&str> = Hardware::ALL.iter().map(|(hardware, _)| hardware.name()).collect();
    assert_eq!(names, ["unknown", "software", "present", "absent", "pending"]);
}
