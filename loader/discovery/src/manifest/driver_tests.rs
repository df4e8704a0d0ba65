//! Tests of driver manifests, with one table row per rule.

use super::*;
use crate::journal::testing::Lines;
use crate::text::scratch::Scratch;

const DRIVER: LogBits = LogBits::DRIVER;
const WARN: LogBits = LogBits::WARN.with(DRIVER);

fn read(content: &str, with_portability: bool) -> (DriverOutcome, Text, Vec<(LogBits, String)>) {
    let scratch = Scratch::create();
    let path = scratch.file("x.json", content.as_bytes());
    let lines = Lines::default();
    let mut journal = Journal::new(&lines);
    let outcome = read_driver_manifest(&path, (Source::BuildTime, None), with_portability, &mut journal).unwrap();
    (outcome, path, lines.take())
}

fn icd(members: &str) -> String {
    format!(r#"{{"file_format_version":"1.0.1","ICD":{{{members}}}}}"#)
}

#[test]
fn drv_46_drv_50_a_complete_manifest() {
    let text = r#"{"unknown":[{}],"FILE_format_version":"1.0.1","icd":{"Library_Path":"./lib.so","api_version":"1.3.280",
        "library_arch":"64","is_portability_driver":false,"library_path":"second.so"}}"#;
    let (outcome, path, lines) = read(text, false);
    let DriverOutcome::Driver(driver) = outcome else {
        panic!("{lines:?}");
    };
    assert!(driver.library_path.ends_with(b"/./lib.so"));
    assert_eq!(driver.api_version.without_patch(), ApiVersion::new(1, 3));
    assert_eq!(driver.path, path);
    assert!(!driver.is_portability_driver);
    let expected = [
        (DRIVER, format!("Found ICD manifest file {path}, version 1.0.1")),
        (
            LogBits::DEBUG | DRIVER,
            "Searching for ICD drivers named ./lib.so".into(),
        ),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn drv_51_rejections() {
    #[rustfmt::skip]
    let cases: Vec<(String, LogBits, &str)> = vec![
        ("".into(), LogBits::ERROR, "loader_get_json: Invalid JSON file"),
        ("[]".into(), LogBits::ERROR, "loader_get_json: Invalid JSON file"),
        ("{}".into(), WARN, "file_format_version"),
        (r#"{"file_format_version":1}"#.into(), WARN, "file_format_version"),
        (r#"{"file_format_version":"1.0.0"}"#.into(), WARN, "'ICD'"),
        (r#"{"file_format_version":"1.0.0","ICD":[]}"#.into(), WARN, "'ICD'"),
        (icd(r#""api_version":"1.0.0""#), WARN, "library_path"),
        (icd(r#""library_path":7,"api_version":"1.0.0""#), WARN, "library_path"),
        (icd(r#""library_path":"","api_version":"1.0.0""#), WARN, "library_path"),
        (icd(r#""library_path":"a\u0000b","api_version":"1.0.0""#), WARN, "library_path"),
        (icd(&format!(r#""library_path":"{}","api_version":"1.0.0""#, "x".repeat(5000))), WARN, "library_path"),
        (icd(r#""library_path":"x.so""#), WARN, "api_version"),
        (icd(r#""library_path":"x.so","api_version":1.0"#), WARN, "api_version"),
        (icd(r#""library_path":"x.so","api_version":"1.0.01.1.0.0""#), LogBits::INFO | DRIVER, "non-zero variant value of 1.  Skipping ICD JSON."),
        (icd(r#""library_path":"x.so","api_version":"1.0.0","library_arch":"32""#), LogBits::INFO, "architecture doesn't match"),
    ];
    for (text, bits, part) in cases {
        let (outcome, path, lines) = read(&text, false);
        assert_eq!(outcome, DriverOutcome::Unusable, "{text}");
        // A line with the position follows the message about invalid JSON (LAY-75).
        let told = lines.iter().find(|(found, line)| *found == bits && line.contains(part));
        let (_, line) = told.unwrap_or_else(|| panic!("{text}: {lines:?}"));
        assert!(bits == LogBits::INFO || line.contains(&path.to_string()), "{line}");
    }
}

#[test]
fn drv_51_layer_manifests_in_the_wrong_folder_are_silent() {
    for member in ["layer", "layers"] {
        let text = format!(r#"{{"file_format_version":"1.0.0","{member}":{{}}}}"#);
        let (outcome, _, lines) = read(&text, false);
        assert_eq!(
            (outcome, lines.len()),
            (DriverOutcome::Unusable, 1),
            "only the line that begins with Found: {lines:?}"
        );
    }
}

#[test]
fn drv_98_portability_drivers() {
    let text = icd(r#""library_path":"x.so","api_version":"1.0.0","is_portability_driver":true"#);
    let (outcome, _, lines) = read(&text, false);
    assert_eq!(outcome, DriverOutcome::Portability);
    assert_eq!(lines.len(), 2, "no line about the portability driver: {lines:?}");
    assert!(matches!(read(&text, true).0, DriverOutcome::Driver(driver) if driver.is_portability_driver));
    for other in ["1", r#""true""#, "null"] {
        let text = icd(&format!(
            r#""library_path":"x.so","api_version":"1.0.0","is_portability_driver":{other}"#
        ));
        assert!(matches!(read(&text, false).0, DriverOutcome::Driver(driver) if !driver.is_portability_driver));
    }
}

#[test]
fn drv_47_format_versions_are_no_gate() {
    for (version, unknown) in [
        ("1.0.0", false),
        ("1.0.1", false),
        ("1.0.2", true),
        ("9.0.0", true),
        ("x", false),
    ] {
        let text = format!(
            r#"{{"file_format_version":"{version}","ICD":{{"library_path":"x.so","api_version":"1.0.0","library_arch":"any"}}}}"#
        );
        let (outcome, path, lines) = read(&text, false);
        assert!(matches!(outcome, DriverOutcome::Driver(_)), "{version}");
        let line = format!(
            "loader_parse_icd_manifest: {path} has unknown icd manifest file version {version}. May cause errors."
        );
        assert_eq!(lines.contains(&(LogBits::INFO | DRIVER, line)), unknown, "{version}");
    }
}

#[test]
fn drv_52_library_path_that_is_no_utf_8_is_refused() {
    let scratch = Scratch::create();
    let text = b"{\"file_format_version\":\"1.0.0\",\"ICD\":{\"library_path\":\"\xFF.so\",\"api_version\":\"1.0.0\"}}";
    let path = scratch.file("x.json", text);
    let lines = Lines::default();
    let outcome = read_driver_manifest(&path, (Source::BuildTime, None), false, &mut Journal::new(&lines)).unwrap();
    assert_eq!(outcome, DriverOutcome::Unusable);
    assert!(lines.has(WARN, "library_path"));
}
