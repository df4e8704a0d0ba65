//! Tests of the folders that are searched (order, defaults, repeats), and of the files that are found in them.

use super::*;
use crate::env::{Environment, Fixed};
use crate::journal::testing::Lines;
use crate::journal::{Journal, LogBits, Silence};
use crate::text::Text;
use crate::text::scratch::Scratch;
use os::Raw;
use os::folders::{self, Folders};

fn paths(kind: ManifestKind, variables: &[(&str, &str)]) -> Vec<String> {
    let source = Fixed::new(variables);
    texts(
        &Search::new(&Environment::new(&source))
            .places(kind, true, &Journal::of_call(&Silence))
            .unwrap(),
    )
}

fn texts(places: &Paths) -> Vec<String> {
    places.iter().map(|place| Raw(place.path).to_string()).collect()
}

const SYSTEM: [&str; 5] = [
    "/etc/xdg/vulkan/icd.d",
    "/usr/local/etc/vulkan/icd.d",
    "/etc/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/usr/share/vulkan/icd.d",
];

#[test]
fn drv_21_lay_11_defaults() {
    assert_eq!(paths(ManifestKind::Driver, &[]), SYSTEM);
    let home = paths(ManifestKind::ExplicitLayer, &[("HOME", "/h")]);
    let expected = [
        "/h/.config/vulkan/explicit_layer.d",
        "/etc/xdg/vulkan/explicit_layer.d",
        "/usr/local/etc/vulkan/explicit_layer.d",
        "/etc/vulkan/explicit_layer.d",
        "/h/.local/share/vulkan/explicit_layer.d",
        "/usr/local/share/vulkan/explicit_layer.d",
        "/usr/share/vulkan/explicit_layer.d",
    ];
    assert_eq!(home, expected);
}

/// Rules of macOS, for a program in a bundle.
struct MacOs;
/// Rules of macOS, for a program outside of a bundle.
struct MacOsAlone;
struct FreeBsd;
struct Fuchsia;
struct Qnx;

macro_rules! systems {
    ($($system:ident: $folders:ident, $bundle:expr;)*) => {
        $(impl System for $system {
            const FOLDERS: Folders = folders::$folders;

            fn bundle(take: impl FnOnce(&[u8])) {
                let bundle: Option<&str> = $bundle;
                if let Some(bundle) = bundle {
                    take(bundle.as_bytes());
                }
            }

            fn service(take: impl FnOnce(&[u8])) {
                if Self::FOLDERS == folders::FUCHSIA {
                    take(b"/loader-manifests");
                }
            }
        })*
    };
}

systems! {
    MacOs: APPLE, Some("/A.app/Contents/Resources");
    MacOsAlone: APPLE, None;
    FreeBsd: UNIX, None;
    Fuchsia: FUCHSIA, None;
    Qnx: QNX, None;
}

const NOTHING: [(&str, &str); 0] = [];

fn paths_of<S: System>(kind: ManifestKind, source: &Fixed) -> Vec<String> {
    texts(
        &Search::<S>::of_system(&Environment::new(source))
            .places(kind, true, &Journal::of_call(&Silence))
            .unwrap(),
    )
}

const ONLY_BUNDLE: (&str, &str) = ("VK_LOADER_SEARCH_ONLY_IN_BUNDLE", "");

#[test]
fn drv_33_lay_40_the_bundle_comes_first_but_for_what_is_added() {
    let driver = ManifestKind::Driver;
    let bundle = "/A.app/Contents/Resources/vulkan/icd.d";
    let source = Fixed::new(&[("VK_ADD_DRIVER_FILES", "/a.json"), ("HOME", "/h")]);
    let found = paths_of::<MacOs>(driver, &source);
    assert_eq!(found[..3], ["/a.json", bundle, "/h/.config/vulkan/icd.d"]);
    assert_eq!(found.len(), 3 + SYSTEM.len() + 1);
    let source = Fixed::new(&NOTHING);
    assert_eq!(paths_of::<MacOs>(driver, &source)[1..], SYSTEM);
    for (kind, folder) in [
        (ManifestKind::ImplicitLayer, "implicit_layer.d"),
        (ManifestKind::ExplicitLayer, "explicit_layer.d"),
    ] {
        let expected = format!("/A.app/Contents/Resources/vulkan/{folder}");
        assert_eq!(paths_of::<MacOs>(kind, &source)[0], expected);
    }
    let source = Fixed::new(&[("VK_DRIVER_FILES", "/d.json"), ONLY_BUNDLE]);
    assert_eq!(
        paths_of::<MacOs>(driver, &source),
        ["/d.json"],
        "a variable replaces the bundle"
    );
}

#[test]
fn drv_34_lay_41_nothing_but_the_bundle() {
    let driver = ManifestKind::Driver;
    let bundle = "/A.app/Contents/Resources/vulkan/icd.d";
    let source = Fixed::new(&[("VK_ADD_DRIVER_FILES", "/a.json"), ONLY_BUNDLE]);
    assert_eq!(paths_of::<MacOs>(driver, &source), ["/a.json", bundle]);
    let elevated = Fixed::new(&[("VK_ADD_DRIVER_FILES", "/a.json"), ONLY_BUNDLE]).elevated();
    assert_eq!(paths_of::<MacOs>(driver, &elevated)[0], bundle);
    assert_eq!(paths_of::<MacOs>(driver, &elevated)[1..], SYSTEM);
    assert_eq!(
        paths(driver, &[ONLY_BUNDLE]),
        SYSTEM,
        "the variable has no effect on other systems"
    );
    assert_eq!(paths_of::<FreeBsd>(driver, &Fixed::new(&[ONLY_BUNDLE])), SYSTEM);
}

#[test]
fn lay_42_without_a_bundle_the_folders_are_left() {
    let driver = ManifestKind::Driver;
    assert_eq!(paths_of::<MacOsAlone>(driver, &Fixed::new(&NOTHING)), SYSTEM);
    let none: [&str; 0] = [];
    assert_eq!(paths_of::<MacOsAlone>(driver, &Fixed::new(&[ONLY_BUNDLE])), none);
}

#[test]
fn lay_175_bi_38_an_override_layer_names_each_place_once() {
    let named = ["/a", "", "/b/", "/a", "/c", "/b/"].map(Text::from);
    assert_eq!(texts(&override_places(&named).unwrap()), ["/a", "/b/", "/c"]);
}

#[test]
fn lay_55_drv_42_fuchsia_and_qnx_have_no_defaults_for_lists() {
    let fuchsia = paths_of::<Fuchsia>(ManifestKind::Driver, &Fixed::new(&NOTHING));
    assert_eq!(
        fuchsia,
        ["/config/vulkan/icd.d", "/pkg/data/vulkan/icd.d", "/loader-manifests"]
    );
    let layers = paths_of::<Fuchsia>(ManifestKind::ImplicitLayer, &Fixed::new(&NOTHING));
    assert_eq!(
        layers,
        ["/config/vulkan/implicit_layer.d", "/pkg/data/vulkan/implicit_layer.d"]
    );
    let qnx = paths_of::<Qnx>(ManifestKind::ExplicitLayer, &Fixed::new(&NOTHING));
    assert_eq!(
        qnx,
        ["/usr/local/etc/vulkan/explicit_layer.d", "/etc/vulkan/explicit_layer.d"]
    );
    let source = Fixed::new(&[("XDG_CONFIG_DIRS", "/c"), ("XDG_DATA_DIRS", "/d"), ("HOME", "/h")]);
    let expected = [
        "/h/.config/vulkan/icd.d",
        "/c/vulkan/icd.d",
        "/config/vulkan/icd.d",
        "/pkg/data/vulkan/icd.d",
        "/h/.local/share/vulkan/icd.d",
        "/d/vulkan/icd.d",
        "/loader-manifests",
    ];
    assert_eq!(paths_of::<Fuchsia>(ManifestKind::Driver, &source), expected);
}

#[test]
fn app_213_lay_14_to_lay_16_variables_are_lists() {
    let variables = [
        ("XDG_CONFIG_HOME", "/c1::/c 2/"),
        ("XDG_CONFIG_DIRS", "/c1:rel:file.json"),
        ("XDG_DATA_HOME", ":"),
        ("XDG_DATA_DIRS", ""),
        ("HOME", ""),
    ];
    let found = paths(ManifestKind::ImplicitLayer, &variables);
    let expected = [
        "/c1/vulkan/implicit_layer.d",
        "/c 2/vulkan/implicit_layer.d",
        "rel/vulkan/implicit_layer.d",
        "file.json",
        "/usr/local/etc/vulkan/implicit_layer.d",
        "/etc/vulkan/implicit_layer.d",
        "/usr/local/share/vulkan/implicit_layer.d",
        "/usr/share/vulkan/implicit_layer.d",
    ];
    assert_eq!(found, expected);
}

/// Columns: the kind of manifest, the variables, the expected places.
type Case<'a> = (ManifestKind, &'a [(&'a str, &'a str)], &'a [&'a str]);

#[test]
fn drv_15_drv_16_drv_18_lay_61_replacing_and_adding() {
    let driver = ManifestKind::Driver;
    let cases: &[Case<'_>] = &[
        (driver, &[("VK_DRIVER_FILES", "/a:b.json:")], &["/a", "b.json"]),
        (driver, &[("VK_DRIVER_FILES", ""), ("VK_ICD_FILENAMES", "/a")], &[]),
        (
            driver,
            &[("VK_ICD_FILENAMES", "/a:/a"), ("VK_ADD_DRIVER_FILES", "/b")],
            &["/a"],
        ),
        (
            ManifestKind::ExplicitLayer,
            &[("VK_LAYER_PATH", ""), ("VK_ADD_LAYER_PATH", "/b")],
            &[],
        ),
        (
            ManifestKind::ExplicitLayer,
            &[("VK_LAYER_PATH", "/a/:/a")],
            &["/a/", "/a"],
        ),
        (
            ManifestKind::ImplicitLayer,
            &[("VK_IMPLICIT_LAYER_PATH", "::x")],
            &["x"],
        ),
    ];
    for (kind, variables, expected) in cases {
        assert_eq!(paths(*kind, variables), *expected, "{variables:?}");
    }
    let added = paths(driver, &[("VK_ADD_DRIVER_FILES", "/b:/etc/vulkan/icd.d")]);
    assert_eq!(added[..2], ["/b", "/etc/vulkan/icd.d"]);
    assert_eq!(added.len(), SYSTEM.len() + 1, "repeats are searched once: {added:?}");
}

#[test]
fn drv_29_lay_12_elevated_processes_search_fixed_folders_only() {
    let all: Vec<(&str, &str)> = [
        "VK_DRIVER_FILES",
        "VK_ICD_FILENAMES",
        "VK_ADD_DRIVER_FILES",
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CONFIG_DIRS",
        "XDG_DATA_HOME",
        "XDG_DATA_DIRS",
    ]
    .map(|name| (name, "/evil"))
    .into();
    let source = Fixed::new(&all).elevated();
    let found = Search::new(&Environment::new(&source))
        .places(ManifestKind::Driver, true, &Journal::of_call(&Silence))
        .unwrap();
    assert_eq!(texts(&found), SYSTEM);
}

#[test]
fn app_215_variables_of_the_kind_can_be_left_out() {
    let source = Fixed::new(&[("VK_DRIVER_FILES", "/a"), ("VK_ADD_DRIVER_FILES", "/b")]);
    let found = Search::new(&Environment::new(&source))
        .places(ManifestKind::Driver, false, &Journal::of_call(&Silence))
        .unwrap();
    assert_eq!(found.len(), SYSTEM.len());
}

fn of(places: &[&Text]) -> Paths {
    let mut paths = Paths::with_usual_room();
    places
        .iter()
        .for_each(|place| paths.push(place, crate::journal::Source::BuildTime));
    paths
}

#[test]
fn drv_12_to_drv_14_sorted_files_and_log_lines() {
    let scratch = Scratch::create();
    for name in [
        "b.json",
        "a.json",
        "B.json",
        ".json",
        "c.JSON",
        "d.json.bak",
        "vulkan-loader.catalogue",
        "sub/e.json",
    ] {
        scratch.file(&format!("d/{name}"), b"");
    }
    let folder = scratch.path("d");
    let missing = scratch.path("missing");
    let file = scratch.path("no_such.json");
    let file_again = scratch.path("d/a.json");
    let folder_again: Text = format!("{folder}/").as_str().into();
    let lines = Lines::default();
    let found = find(
        ManifestKind::Driver,
        &of(&[&folder, &missing, &file, &file_again, &folder_again]),
        &mut Journal::new(&lines),
    );
    let files = [".json", "B.json", "a.json", "b.json"].map(|name| format!("{folder}/{name}"));
    let Files { found, is_marked } = found.unwrap();
    assert!(
        is_marked,
        "the folder has the mark of a user's driver catalogue (DRV-274)"
    );
    let found: Vec<String> = found.iter().map(|file| file.path.to_string()).collect();
    assert_eq!(found[..4], files);
    assert_eq!(
        found[4..],
        [file.to_string()],
        "each path is listed once (DRV-11, LAY-16)"
    );
    let mut expected = vec![
        "Searching for driver manifest files".to_owned(),
        "   In following locations:".to_owned(),
        format!("      {folder}"),
        format!("      {missing}"),
        format!("      {file}"),
        format!("      {file_again}"),
        format!("      {folder_again}"),
        "   Found the following files:".to_owned(),
    ];
    expected.extend(found.iter().map(|path| format!("      {path}")));
    let expected: Vec<(LogBits, String)> = expected.into_iter().map(|line| (LogBits::DRIVER, line)).collect();
    assert_eq!(lines.take(), expected);
}

#[test]
fn lay_21_nothing_found() {
    let lines = Lines::default();
    assert_eq!(
        find(ManifestKind::ImplicitLayer, &of(&[]), &mut Journal::new(&lines)),
        Ok(Files::default())
    );
    let expected = [
        "Searching for implicit layer manifest files",
        "   In following locations:",
        "   Found no files",
    ];
    assert_eq!(lines.take(), expected.map(|line| (LogBits::LAYER, line.to_owned())));
}

#[test]
fn bi_40_long_and_odd_lists() {
    let long = "x".repeat(100_000);
    assert_eq!(paths(ManifestKind::ExplicitLayer, &[("VK_LAYER_PATH", &long)]), [long]);
    assert!(paths(ManifestKind::ExplicitLayer, &[("VK_LAYER_PATH", ":::")]).is_empty());
}
