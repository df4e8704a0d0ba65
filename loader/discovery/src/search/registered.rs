//! Reads the entries of a system's registry, and logs them (DRV-35 to DRV-41, LAY-45 to LAY-52).

use super::{ManifestKind, Paths};
use crate::journal::{Journal, LogBits, Source};
use os::Raw;
use os::registry::{self, Event};

/// Adds the places that the registry lists, in order of precedence.
pub(super) fn add(kind: ManifestKind, found: &mut Paths, journal: &Journal<'_>) {
    // A registry may change at any time, and the loader cannot compare states of its content, so the result of the scan is not kept.
    if let Some(paths) = journal.paths() {
        paths.mark_uncacheable();
    }
    registry::each_registered(kind.registered(), |event| take(kind, event, found, journal));
}

fn take(kind: ManifestKind, event: Event<'_>, found: &mut Paths, journal: &Journal<'_>) {
    match event {
        // Several registry keys or devices may list the same path, and a path is added only once (LAY-51).
        Event::Listed(path, key) if found.has(path, Source::Registry) => journal.note(
            LogBits::INFO | kind.category(),
            format_args!(
                "Skipping adding of json file \"{}\" from registry \"{key}\" to the list due to duplication",
                Raw(path)
            ),
        ),
        Event::Package(path) | Event::Listed(path, _) => {
            found.push(path, Source::Registry);
            tell(kind, event, journal);
        }
        _ => tell(kind, event, journal),
    }
}

fn tell(kind: ManifestKind, event: Event<'_>, journal: &Journal<'_>) {
    let category = kind.category();
    let info = LogBits::INFO | category;
    match event {
        Event::Package(_) => {}
        Event::Listed(path, key) => journal.note(
            info,
            format_args!("Located json file \"{}\" from registry \"{key}\"", Raw(path)),
        ),
        Event::Unserved(path, key) => journal.note(
            info,
            format_args!(
                "Dropping json file \"{}\" from registry \"{key}\", because no adapter of its vendor is present",
                Raw(path)
            ),
        ),
        Event::NoAdapters(key) => journal.note(
            LogBits::WARN | category,
            format_args!("The display adapters are not known, so nothing from registry \"{key}\" is used"),
        ),
        Event::Empty(key) => journal.note(category, format_args!("Found no registry files in {key}")),
        Event::NoValue(key) => journal.note(info, format_args!("Found no registry value {key}")),
        Event::WrongType(key, kind) => journal.note(
            LogBits::ERROR | category,
            format_args!(
                "Registry value {key} is ignored, because its type {kind} is neither a text nor a list of texts"
            ),
        ),
        Event::NeedsRestart(device) => journal.note(
            info,
            format_args!(
                "Skipping device {}, which waits for a restart of the machine",
                Raw(device)
            ),
        ),
        Event::NoStatus(device) => journal.note(
            info,
            format_args!("Skipping device {}, whose status cannot be read", Raw(device)),
        ),
        Event::Nothing => tell_absence(kind, journal),
    }
}

/// Logs that the registry lists no manifests. The message is less severe for layers, which are optional. Missing implicit layers are not
/// logged (LAY-52).
fn tell_absence(kind: ManifestKind, journal: &Journal<'_>) {
    match kind {
        ManifestKind::Driver => journal.note(
            LogBits::ERROR | LogBits::DRIVER,
            format_args!("The registry lists no driver manifest files. Possibly a Vulkan driver is missing"),
        ),
        ManifestKind::ExplicitLayer => journal.note(
            LogBits::WARN | LogBits::LAYER,
            format_args!("The registry lists no explicit layer manifest files"),
        ),
        ManifestKind::ImplicitLayer => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::testing::Lines;
    use os::registry::Key;

    const KEY: Key<'static> = Key {
        root: b"HKEY_LOCAL_MACHINE",
        name: r"SOFTWARE\Khronos\Vulkan\Drivers",
    };
    const VALUE: Key<'static> = Key {
        root: br"PCI\VEN_1002",
        name: "VulkanDriverName",
    };

    fn told(kind: ManifestKind, event: Event<'_>) -> Option<(LogBits, String)> {
        let lines = Lines::default();
        tell(kind, event, &Journal::new(&lines));
        lines.take().pop()
    }

    #[test]
    fn drv_41_exact_messages() {
        let info = LogBits::INFO | LogBits::DRIVER;
        let cases = [
            (
                Event::Listed(br"C:\a.json", KEY),
                info,
                r#"Located json file "C:\a.json" from registry "HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\Drivers""#,
            ),
            (
                Event::Empty(KEY),
                LogBits::DRIVER,
                r"Found no registry files in HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\Drivers",
            ),
            (
                Event::Unserved(br"C:\a.json", KEY),
                info,
                r#"Dropping json file "C:\a.json" from registry "HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\Drivers", because no adapter of its vendor is present"#,
            ),
        ];
        for (event, bits, text) in cases {
            assert_eq!(told(ManifestKind::Driver, event), Some((bits, text.to_owned())));
        }
    }

    #[test]
    fn drv_38_drv_40_lay_50_how_loud_they_are() {
        let bits = |kind, event| told(kind, event).map(|(bits, _)| bits);
        let (driver, layer) = (ManifestKind::Driver, ManifestKind::ImplicitLayer);
        let cases = [
            (Event::WrongType(VALUE, 4), Some(LogBits::ERROR)),
            (Event::NoValue(VALUE), Some(LogBits::INFO)),
            (Event::NeedsRestart(b"device"), Some(LogBits::INFO)),
            (Event::NoStatus(b"device"), Some(LogBits::INFO)),
            (Event::NoAdapters(KEY), Some(LogBits::WARN)),
            (Event::Package(b"P:"), None),
        ];
        for (event, level) in cases {
            assert_eq!(
                bits(driver, event),
                level.map(|level| level | LogBits::DRIVER),
                "{event:?}"
            );
            assert_eq!(
                bits(layer, event),
                level.map(|level| level | LogBits::LAYER),
                "{event:?}"
            );
        }
    }

    #[test]
    fn drv_41_lay_51_a_path_that_is_listed_again_is_named_and_skipped() {
        let lines = Lines::default();
        let journal = Journal::new(&lines);
        let mut found = Paths::with_usual_room();
        found.push(br"C:\b.json", Source::BuildTime);
        for path in [&br"C:\a.json"[..], br"C:\b.json", br"C:\a.json", br"C:\A.json"] {
            take(ManifestKind::Driver, Event::Listed(path, KEY), &mut found, &journal);
        }
        let texts: Vec<String> = lines.take().into_iter().map(|(_, text)| text).collect();
        let again = r#"Skipping adding of json file "C:\a.json" from registry "HKEY_LOCAL_MACHINE\SOFTWARE\Khronos\Vulkan\Drivers" to the list due to duplication"#;
        assert_eq!(
            texts.iter().filter(|text| text.starts_with("Located")).count(),
            3,
            "{texts:?}"
        );
        assert_eq!(texts[2], again);
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn drv_41_lay_52_only_some_are_missed() {
        let cases = [
            (ManifestKind::Driver, Some(LogBits::ERROR | LogBits::DRIVER)),
            (ManifestKind::ExplicitLayer, Some(LogBits::WARN | LogBits::LAYER)),
            (ManifestKind::ImplicitLayer, None),
        ];
        for (kind, expected) in cases {
            assert_eq!(told(kind, Event::Nothing).map(|(bits, _)| bits), expected);
        }
    }
}
