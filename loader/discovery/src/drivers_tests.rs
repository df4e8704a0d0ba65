//! Tests of whole scans over folders of manifests.

use super::*;
use crate::env::Fixed;
use crate::journal::LogBits;
use crate::journal::testing::Lines;
use crate::settings::DeviceConfiguration;
use crate::text::scratch::Scratch;

const WARN: LogBits = LogBits::WARN.with(LogBits::DRIVER);

/// Writes a manifest whose library has the name of the manifest file.
fn driver(scratch: &Scratch, name: &str) -> Text {
    let library = name.replace('/', "_");
    let text =
        format!(r#"{{"file_format_version":"1.0.0","ICD":{{"library_path":"{library}.so","api_version":"1.0.0"}}}}"#);
    scratch.file(name, text.as_bytes())
}

struct Scan {
    libraries: Vec<String>,
    lines: Lines,
    drivers: Vec<DriverManifest>,
    left_out: LeftOut,
}

fn scan(variables: &[(&str, String)], settings: Option<&Settings>) -> Scan {
    let source = Fixed::new(variables);
    let environment = Environment::new(&source);
    let lines = Lines::default();
    let mut journal = Journal::new(&lines);
    let scan = DriverScan {
        search: &search::Search::new(&environment),
        settings,
        with_portability: false,
    };
    let mut drivers = Vec::new();
    let left_out = scan
        .run(&scan.list(&mut journal).unwrap(), &mut journal, |driver, _| {
            drivers.push(driver);
            Ok(())
        })
        .unwrap();
    let libraries = drivers.iter().map(|driver| driver.library_path.to_string()).collect();
    let kept = journal
        .decisions()
        .iter()
        .filter(|decision| decision.verdict == Verdict::Kept)
        .count();
    assert_eq!(
        kept,
        drivers.len(),
        "the journal has a decision to keep each used driver"
    );
    Scan {
        libraries,
        lines,
        drivers,
        left_out,
    }
}

#[test]
fn drv_15_drv_17_listed_files_and_folders_in_order() {
    let scratch = Scratch::create();
    for name in ["d/b.json", "d/a.json", "z.json"] {
        driver(&scratch, name);
    }
    let list = format!(
        "{}:{}:{}",
        scratch.path("z.json"),
        scratch.path("d"),
        scratch.path("none.json")
    );
    let scan = scan(&[("VK_DRIVER_FILES", list)], None);
    assert_eq!(scan.libraries, ["z.json.so", "d_a.json.so", "d_b.json.so"]);
    assert_eq!(scan.drivers[0].source, Source::Variable(Variable::DriverFiles));
    assert!(
        scan.lines
            .has(LogBits::ERROR, "loader_get_json: Failed to open JSON file"),
        "DRV-19"
    );
}

#[test]
fn drv_11_drv_54_one_manifest_reached_twice_is_one_driver_and_a_copy_is_another() {
    let scratch = Scratch::create();
    let path = driver(&scratch, "d/a.json");
    let list = format!("{path}:{}", scratch.path("d"));
    assert_eq!(scan(&[("VK_ICD_FILENAMES", list.clone())], None).libraries.len(), 1);
    std::fs::copy(path.as_path(), scratch.path("d/b.json").as_path()).unwrap();
    assert_eq!(scan(&[("VK_ICD_FILENAMES", list)], None).libraries.len(), 2);
}

#[test]
fn drv_24_to_drv_28_app_227_filters() {
    let scratch = Scratch::create();
    for name in ["amd.json", "intel.json", "nv.json"] {
        driver(&scratch, name);
    }
    let all = ["amd.json.so", "intel.json.so", "nv.json.so"];
    let cases: &[(&str, &str, &[&str])] = &[
        ("", "", &all),
        ("INTEL*", "", &all[1..2]),
        ("intel", "", &[]),
        ("", "*v.json,amd*", &all[1..2]),
        ("nv*", "~all~", &all[2..]),
        ("~implicit~", "", &[]),
        (",", ",", &all),
    ];
    for (select, disable, expected) in cases {
        let variables = [
            ("VK_DRIVER_FILES", scratch.root().to_string_lossy().into_owned()),
            ("VK_LOADER_DRIVERS_SELECT", (*select).to_owned()),
            ("VK_LOADER_DRIVERS_DISABLE", (*disable).to_owned()),
        ];
        let scan = scan(&variables, None);
        assert_eq!(scan.libraries, *expected, "{select} {disable}");
        let lines = scan.lines.take();
        let ignored = lines.iter().filter(|(bits, _)| *bits == WARN).count();
        assert_eq!(
            ignored,
            3 - expected.len(),
            "one message for each dropped manifest: {lines:?}"
        );
        let found = lines
            .iter()
            .filter(|(_, line)| line.starts_with("Found ICD manifest file"))
            .count();
        assert_eq!(found, 3, "manifests are read before they are filtered");
    }
}

#[test]
fn drv_44_app_261_settings_drivers_come_first_and_last_listed_leads() {
    let scratch = Scratch::create();
    let (a, b) = (driver(&scratch, "s/a.json"), driver(&scratch, "s/b.json"));
    driver(&scratch, "env/c.json");
    let variables = [("VK_DRIVER_FILES", scratch.path("env").to_string())];
    let mut settings = Settings {
        additional_drivers: vec![a, scratch.path("s"), b],
        ..Settings::default()
    };
    let added = scan(&variables, Some(&settings));
    assert_eq!(added.libraries, ["s_b.json.so", "s_a.json.so", "env_c.json.so"]);
    assert!(added.lines.has(WARN, "does not end in .json"));
    settings.additional_drivers_exclusive = true;
    assert_eq!(
        scan(&variables, Some(&settings)).libraries,
        ["s_b.json.so", "s_a.json.so"]
    );
    let filtered = [("VK_LOADER_DRIVERS_DISABLE", "b*".to_owned())];
    assert_eq!(scan(&filtered, Some(&settings)).libraries, ["s_a.json.so"]);
    settings.device_configurations = Some(Vec::<DeviceConfiguration>::new());
    assert_eq!(scan(&filtered, Some(&settings)).libraries.len(), 2, "DRV-45");
    settings.additional_drivers.clear();
    assert!(scan(&variables, Some(&settings)).libraries.is_empty());
}

#[test]
fn drv_99_portability_drivers_are_remembered() {
    let scratch = Scratch::create();
    let text = br#"{"file_format_version":"1.0.1","ICD":{"library_path":"x.so","api_version":"1.0.0",
        "is_portability_driver":true}}"#;
    let path = scratch.file("x.json", text);
    let scan = scan(&[("VK_DRIVER_FILES", path.to_string())], None);
    assert!(scan.libraries.is_empty() && scan.left_out.portability);
}

#[test]
fn app_249_one_bad_manifest_harms_no_other() {
    let scratch = Scratch::create();
    driver(&scratch, "d/good.json");
    scratch.file("d/a.json", b"");
    scratch.file("d/b.json", &b"[".repeat(100_000));
    scratch.file("d/c.json", b"{\"file_format_version\":\"1.0.0\",\"\0\x80\":1}");
    scratch.folder("d/folder.json");
    let scan = scan(&[("VK_DRIVER_FILES", scratch.path("d").to_string())], None);
    assert_eq!(scan.libraries, ["d_good.json.so"]);
}
