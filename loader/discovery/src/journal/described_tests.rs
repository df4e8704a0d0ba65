//! Tests of the code and the details of each reason in the trace.

use super::*;
use crate::journal::reason::{
    Asked, CatalogueReason, FileKind, LayerLibraryReason, LayerManifestReason, SettingsReason,
};
use crate::text::Place;

/// Returns the trace of a decision that drops something for this reason.
fn dropped(reason: Reason) -> String {
    let decision = Decision {
        subject: Subject::Layer,
        name: "NAME".into(),
        path: "PATH".into(),
        verdict: Verdict::Dropped(reason),
        source: Source::Variable(Variable::DriverFiles),
    };
    let mut record = Record::new();
    decision.describe(&mut record);
    String::from_utf8(record.finish().unwrap()).unwrap()
}

#[track_caller]
fn check(cases: Vec<(Reason, &str, String)>) {
    for (reason, code, details) in cases {
        let found = dropped(reason.clone());
        let code = format!(r#""verdict":"dropped","code":"{code}","text":""#);
        let details = format!("\"details\":{{{details}}}}}\n");
        assert!(
            found.contains(&code) && found.ends_with(&details),
            "{reason:?}: {code} and {details} in {found}"
        );
    }
}

fn none() -> String {
    String::new()
}

/// Returns a detail whose value is a word or text, in the form of the trace.
fn word(name: &str, value: &str) -> String {
    format!(r#""{name}":"{value}""#)
}

/// Returns a detail whose value is a number, in the form of the trace.
fn number(name: &str, value: i64) -> String {
    format!(r#""{name}":{value}"#)
}

fn of_system(words: &str) -> String {
    format!("{},{}", word("system", words), of_word_size())
}

fn of_word_size() -> String {
    number("word-size", usize::BITS.into())
}

fn of_pattern(variable: &str) -> String {
    format!("{},{}", word("variable", variable), word("pattern", "p*"))
}

#[test]
fn a_decision_has_all_that_is_known() {
    let found = dropped(FileReason::TooLarge(7).into());
    let expected = concat!(
        r#"{"subject":"layer","name":"NAME","path":"PATH","source":{"kind":"variable","variable":"VK_DRIVER_FILES"},"#,
        r#""verdict":"dropped","code":"file.too-large","#,
        r#""text":"loader_get_json: Failed to read JSON file NAME: it is larger than 7 bytes","#,
        r#""kinds":[{"kind":"ERROR"}],"details":{"most-bytes":7}}"#,
    );
    assert_eq!(found, expected.to_owned() + "\n");
}

#[test]
fn reasons_about_files() {
    check(vec![
        (FileReason::NotFound.into(), "file.not-found", none()),
        (FileReason::NotOpened.into(), "file.not-opened", none()),
        (FileReason::NotRegular.into(), "file.not-regular", none()),
        (FileReason::NotRead.into(), "file.not-read", none()),
        (
            FileReason::TooLarge(9).into(),
            "file.too-large",
            number("most-bytes", 9),
        ),
        (FileReason::Changed.into(), "file.changed", none()),
        (FileReason::InvalidJson(None).into(), "file.invalid-json", none()),
        (
            FileReason::InvalidJson(Some(Place { line: 3, column: 7 })).into(),
            "file.invalid-json",
            format!("{},{}", number("line", 3), number("column", 7)),
        ),
        (FileReason::FoundBefore.into(), "file.found-before", none()),
        (FileReason::NotAnObject.into(), "file.not-an-object", none()),
        (
            FileReason::NotJsonName(FileKind::Driver).into(),
            "file.not-json-name",
            none(),
        ),
        (
            SettingsReason::NoFormatVersion.into(),
            "settings.no-format-version",
            none(),
        ),
        (SettingsReason::NoSettings.into(), "settings.no-settings", none()),
        (
            SettingsReason::OtherExecutable.into(),
            "settings.other-executable",
            none(),
        ),
        (SettingsReason::Nothing.into(), "settings.nothing", none()),
    ]);
}

#[test]
fn reasons_about_drivers() {
    use crate::journal::reason::DriverManifestReason as Manifest;
    use DriverLibraryReason::*;
    let command = "vkCreateInstance";
    let indexed = |more: &str| format!("{},{more}", number("index", 3));
    check(vec![
        (
            Manifest::Variant(2).into(),
            "driver-manifest.variant",
            number("variant", 2),
        ),
        (
            Manifest::Architecture.into(),
            "driver-manifest.architecture",
            of_word_size(),
        ),
        (
            Manifest::Disabled { pattern: "p*".into() }.into(),
            "driver-manifest.disabled",
            of_pattern("VK_LOADER_DRIVERS_DISABLE"),
        ),
        (
            Manifest::NotSelected.into(),
            "driver-manifest.not-selected",
            word("variable", "VK_LOADER_DRIVERS_SELECT"),
        ),
        (
            Manifest::SameFile { kept: "K".into() }.into(),
            "file.found-before",
            word("kept", "K"),
        ),
        (Manifest::NoIcd.into(), "driver-manifest.no-icd", none()),
        (
            NotOpened("words".into()).into(),
            "driver.not-opened",
            of_system("words"),
        ),
        (NotOpened(Text::default()).into(), "driver.not-opened", of_word_size()),
        (
            WrongArchitecture("words".into()).into(),
            "driver.wrong-architecture",
            of_system("words"),
        ),
        (
            NoGetInstanceProcAddr(4).into(),
            "driver.no-get-instance-proc-addr",
            number("interface-version", 4),
        ),
        (NoExport(command).into(), "driver.no-export", word("function", command)),
        (
            NoGlobalFunction(command).into(),
            "driver.no-global-function",
            word("function", command),
        ),
        (
            ExtensionQueryFailed(-3).into(),
            "driver.extension-query-failed",
            number("result", -3),
        ),
        (
            CreationFailed(-3).into(),
            "driver.creation-failed",
            number("result", -3),
        ),
        (
            DirectNoFunction(3).into(),
            "driver.direct-no-function",
            number("index", 3),
        ),
        (
            DirectNoCommand(3, command).into(),
            "driver.direct-no-command",
            indexed(&word("function", command)),
        ),
        (
            DirectVersion(3, 6).into(),
            "driver.direct-version",
            indexed(&number("interface-version", 6)),
        ),
        (
            DirectVersionQueryFailed(3, -1).into(),
            "driver.direct-version-query-failed",
            indexed(&number("result", -1)),
        ),
        (NoDevices.into(), "driver.no-devices", none()),
    ]);
}

#[test]
fn reasons_about_layers() {
    use LayerLibraryProblem as Library;
    use LayerListReason::*;
    let library = |problem| {
        Reason::from(LayerLibraryReason {
            problem,
            requested: true,
        })
    };
    let component = || word("component", "C");
    let (version, component_version) = ((1, 2), (1, 1));
    check(vec![
        (LayerManifestReason::NoLayer.into(), "layer-manifest.no-layer", none()),
        (LayerReason::Variant(1).into(), "layer.variant", number("variant", 1)),
        (LayerReason::Architecture.into(), "layer.architecture", of_word_size()),
        (
            LayerReason::NoField("name").into(),
            "layer.no-field",
            word("field", "name"),
        ),
        (
            library(Library::NotOpened("words".into())),
            "layer-library.not-opened",
            of_system("words"),
        ),
        (
            library(Library::WrongArchitecture(Text::default())),
            "layer-library.wrong-architecture",
            of_word_size(),
        ),
        (
            library(Library::NoSymbol("S".into())),
            "layer-library.no-symbol",
            word("function", "S"),
        ),
        (
            library(Library::NegotiationRefused {
                negotiate: "N".into(),
                result: -3,
                symbol: "S".into(),
            }),
            "layer-library.negotiation-refused",
            format!("{},{}", word("function", "N"), number("result", -3)),
        ),
        (
            library(Library::NoPreInstanceFunction("vkEnumerateInstanceVersion", "S".into())),
            "layer-library.no-pre-instance-function",
            word("function", "S"),
        ),
        (
            Duplicate { kept: "K".into() }.into(),
            "layer.duplicate",
            word("kept", "K"),
        ),
        (
            Disabled { pattern: "p*".into() }.into(),
            "layer.disabled",
            of_pattern("VK_LOADER_LAYERS_DISABLE"),
        ),
        (
            ComponentMissing {
                component: "C".into(),
                index: 1,
            }
            .into(),
            "layer.component-missing",
            component(),
        ),
        (
            Recursive { component: "C".into() }.into(),
            "layer.recursive",
            component(),
        ),
        (
            ComponentInvalid { component: "C".into() }.into(),
            "layer.component-invalid",
            component(),
        ),
        (
            ComponentOlder {
                version,
                index: 5,
                component_version,
            }
            .into(),
            "layer.component-older",
            number("index", 5),
        ),
        (
            ListsItself { index: 5 }.into(),
            "layer.lists-itself",
            number("index", 5),
        ),
        (
            OtherExecutable {
                executable: "/x".into(),
            }
            .into(),
            "layer.other-executable",
            word("executable", "/x"),
        ),
        (Blacklisted.into(), "layer.blacklisted", none()),
    ]);
}

#[test]
fn reasons_about_devices_and_the_catalogue() {
    use CatalogueReason::*;
    let asked = || number("asked", 60);
    check(vec![
        (
            DeviceReason::IdFilter(crate::env::Variable::DeviceIdFilter).into(),
            "device.id-filter",
            word("variable", "VK_LOADER_DEVICE_ID_FILTER"),
        ),
        (
            DeviceReason::EnumerationFailed(-3).into(),
            "device.enumeration-failed",
            number("result", -3),
        ),
        (DeviceReason::NotConfigured.into(), "device.not-configured", none()),
        (DeviceReason::NotVisible(None).into(), "device.not-visible", none()),
        (DeviceReason::Served.into(), "device.served", none()),
        (
            DeviceReason::NotVisible(Some(crate::env::Variable::VisibleDevices)).into(),
            "device.not-visible",
            word("variable", "VK_LOADER_VISIBLE_DEVICES"),
        ),
        (Variable("V".into()).into(), "catalogue.variable", word("variable", "V")),
        (NoDevice(Asked(60)).into(), "catalogue.no-device", asked()),
        (Hidden(Asked(60)).into(), "catalogue.hidden", asked()),
        (
            Crashed(6, Asked(60)).into(),
            "catalogue.crashed",
            format!("{},{}", number("signal", 6), asked()),
        ),
        (
            Hung(10, Asked(60)).into(),
            "catalogue.hung",
            format!("{},{}", number("seconds", 10), asked()),
        ),
        (NotKept.into(), "catalogue.not-kept", none()),
    ]);
}

#[cfg(all(feature = "service", target_os = "linux"))]
#[test]
fn reasons_about_the_service() {
    use crate::journal::reason::Fault::*;
    use crate::journal::reason::ServiceReason;
    let of = |fault| {
        let words = "2.38".into();
        Reason::from(ServiceReason { fault, words })
    };
    let words = || word("words", "2.38");
    check(vec![
        (of(NotReached(os::Errno(2))), "service.not-reached", words()),
        (of(NotTrusted(7)), "service.not-trusted", words()),
        (of(TimedOut), "service.timeout", words()),
        (of(Lost), "service.lost", words()),
        (of(Refused), "service.refused", words()),
        (of(BadReply), "service.bad-reply", words()),
        (of(NoLibrary), "service.no-library", words()),
        (of(WordSize), "service.other-word-size", words()),
        (of(FileNotTrusted), "service.file-not-trusted", words()),
        (of(OldCLibrary), "service.old-c-library", words()),
    ]);
}
