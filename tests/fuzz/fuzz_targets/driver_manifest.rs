//! Fuzzes driver manifests. The scan must find the valid manifest beside the input, and the values that it accepts must be within their
//! bounds.
#![no_main]

use std::sync::LazyLock;

use discovery::drivers::{DriverScan, LeftOut};
use discovery::env::Environment;
use discovery::journal::{Decision, Journal, LogBits};
use discovery::manifest::DriverManifest;
use discovery::search::Search;
use libfuzzer_sys::fuzz_target;
use loader_fuzz::{Files, Lines, Variables, check_json, twice};

const GOOD: &[u8] = br#"{"file_format_version":"1.0.1","ICD":{"library_path":"./d.so","api_version":"1.3.0"}}"#;

static FILES: LazyLock<Files> = LazyLock::new(|| {
    let files = Files::create();
    files.write("drivers/z.json", GOOD);
    files
});

/// Results of a scan.
#[derive(Debug, PartialEq)]
struct Scan {
    drivers: Vec<DriverManifest>,
    left_out: LeftOut,
    decisions: Vec<Decision>,
    lines: Vec<(LogBits, Vec<u8>)>,
}

fn scan(with_portability: bool) -> Scan {
    let variables = Variables::none().with("VK_DRIVER_FILES", FILES.text("drivers"));
    let environment = Environment::new(&variables);
    let lines = Lines::default();
    let mut journal = Journal::new(&lines);
    let drivers = DriverScan {
        search: &Search::new(&environment),
        settings: None,
        with_portability,
    };
    let mut found = Vec::new();
    let listing = drivers.list(&mut journal).expect("memory suffices");
    let left_out = drivers.run(&listing, &mut journal, |driver, _| {
        found.push(driver);
        Ok(())
    });
    Scan {
        drivers: found,
        left_out: left_out.expect("memory suffices"),
        decisions: journal.decisions().to_vec(),
        lines: lines.take(),
    }
}

fuzz_target!(|text: &[u8]| {
    check_json(text);
    FILES.write("drivers/a.json", text);
    let all = twice(|| scan(true));
    let (good, odd) = all.drivers.split_last().expect("the good driver is found");
    assert!(good.path.ends_with(b"/z.json"));
    for driver in odd {
        let library = driver.library_path.as_bytes();
        assert!(!library.is_empty() && library.len() <= 4095 && !library.contains(&0));
        assert!(std::str::from_utf8(library).is_ok());
        assert_eq!(driver.api_version.variant(), 0);
    }
    // A scan without portability drivers contains all other drivers.
    let strict = scan(false);
    let ordinary = all.drivers.iter().filter(|driver| !driver.is_portability_driver);
    assert!(ordinary.eq(&strict.drivers));
    // If a manifest is unusable for two reasons, the scan can report either reason (DRV-51).
    assert!(strict.left_out.portability || strict.drivers.len() == all.drivers.len());
});
