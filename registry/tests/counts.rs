//! Counts of the pinned header: from the snapshot, and once more from the plain text of the XML.

mod common;

use common::{crate_root, read, registry_folder, snapshot_files};
use std::collections::{BTreeMap, BTreeSet};
use vk_registry::model::{ExtensionKind, Level, Registry};
use vk_registry::{Source, load, snapshot};

/// `section.key` to value, of the small part of TOML that the pin uses.
fn pin() -> BTreeMap<String, String> {
    let mut section = String::new();
    let mut values = BTreeMap::new();
    for line in read(&crate_root().join("pin.toml"))
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        if let Some(name) = line.strip_prefix('[') {
            section = format!("{}.", name.trim_end_matches(']'));
        } else if let Some((key, value)) = line.split_once(" = ") {
            values.insert(
                format!("{section}{}", key.trim_matches('"')),
                value.trim_matches('"').to_owned(),
            );
        }
    }
    values
}

fn pinned_count(pin: &BTreeMap<String, String>, key: &str) -> usize {
    pin[&format!("counts.{key}")]
        .parse()
        .unwrap_or_else(|_| panic!("{key} is no number"))
}

fn committed() -> Registry {
    snapshot::read(&snapshot_files()).expect("the committed snapshot")
}

fn counts(registry: &Registry) -> BTreeMap<String, usize> {
    let commands = || registry.commands.values();
    let level = |level: Level| commands().filter(|command| command.level == level).count();
    let mut found = BTreeMap::from([
        ("commands".to_owned(), registry.commands.len()),
        (
            "core-commands".to_owned(),
            commands().filter(|command| command.core.is_some()).count(),
        ),
        (
            "exported-definitions".to_owned(),
            commands().filter(|command| command.export).count(),
        ),
        (
            "aliases".to_owned(),
            commands().filter(|command| command.alias.is_some()).count(),
        ),
        ("unlisted-commands".to_owned(), registry.unlisted_commands.len()),
        ("handles".to_owned(), registry.handles.len()),
        (
            "dispatchable-handles".to_owned(),
            registry.handles.values().filter(|handle| handle.dispatchable).count(),
        ),
        ("extensions".to_owned(), registry.extensions.len()),
        ("reserved-extensions".to_owned(), registry.reserved_extensions.len()),
        ("level.global".to_owned(), level(Level::Global)),
        ("level.instance".to_owned(), level(Level::Instance)),
        ("level.physical-device".to_owned(), level(Level::PhysicalDevice)),
        ("level.device".to_owned(), level(Level::Device)),
    ]);
    let instance = registry
        .extensions
        .values()
        .filter(|extension| extension.kind == ExtensionKind::Instance)
        .count();
    found.insert("instance-extensions".to_owned(), instance);
    for handle in commands()
        .filter(|command| command.level == Level::Device)
        .filter_map(|it| it.first_handle.as_ref())
    {
        *found.entry(format!("device-level-handle.{handle}")).or_default() += 1;
    }
    found
}

#[test]
fn the_snapshot_has_the_pinned_counts() {
    let (pin, registry) = (pin(), committed());
    assert_eq!(registry.header.to_string(), pin["header"]);
    let pinned: BTreeMap<String, usize> = pin
        .keys()
        .filter_map(|key| key.strip_prefix("counts."))
        .map(|key| (key.to_owned(), pinned_count(&pin, key)))
        .collect();
    assert_eq!(counts(&registry), pinned);
}

#[test]
fn the_snapshot_shows_what_is_known_of_the_header() {
    let registry = committed();
    // GEN-30: commands of two extensions, and commands whose every provider is conditional.
    let commands = || registry.commands.values();
    assert_eq!(commands().map(|command| command.providers.len()).max(), Some(2));
    assert_eq!(commands().filter(|command| command.providers.len() == 2).count(), 57);
    let conditional = commands().filter(|command| {
        command.core.is_none() && command.providers.iter().all(|provider| provider.depends.is_some())
    });
    assert_eq!(conditional.count(), 53);
    // GEN-35: most aliases lead to a core command.
    let target_is_core = |alias: &String| registry.commands[alias].core.is_some();
    assert_eq!(
        commands()
            .filter_map(|command| command.alias.as_ref())
            .filter(|it| target_is_core(it))
            .count(),
        100
    );
    // GEN-41
    assert_eq!(registry.bitmasks.values().filter(|mask| mask.bits == 64).count(), 16);
    // GEN-51
    let kind = |command: &vk_registry::model::Command, kind| {
        !command.providers.is_empty()
            && command
                .providers
                .iter()
                .all(|it| registry.extensions[&it.extension].kind == kind)
    };
    let physical = commands().filter(|it| it.level == Level::PhysicalDevice && it.core.is_none());
    assert_eq!(physical.filter(|it| kind(it, ExtensionKind::Device)).count(), 29);
    let device = commands().filter(|it| it.level == Level::Device && it.core.is_none());
    assert_eq!(device.filter(|it| kind(it, ExtensionKind::Instance)).count(), 8);
    // GEN-54
    assert_eq!(
        commands()
            .filter(|it| it.platform.as_deref() == Some("provisional"))
            .count(),
        13
    );
}

/// The value of an attribute in the text of a start tag.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

fn names_api(list: Option<&str>) -> bool {
    list.is_none_or(|list| list.split(',').any(|token| token == "vulkan"))
}

/// Command names between `<require>` and `</require>` of providers in scope, found line by line.
fn required_commands(text: &str) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let (mut core, mut all) = (BTreeSet::new(), BTreeSet::new());
    let (mut provider, mut is_feature, mut block) = (false, false, false);
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("<feature ") && line.contains(" number=") || line.starts_with("<extension ") {
            is_feature = line.starts_with("<feature ");
            provider = names_api(attribute(line, if is_feature { "api" } else { "supported" }));
        } else if line.starts_with("<require") {
            block = names_api(attribute(line, "api"));
        } else if line.starts_with("</require") || line.starts_with("<deprecate") || line.starts_with("<remove") {
            block = false;
        } else if line.starts_with("<command ") && provider && block {
            let name = attribute(line, "name").unwrap_or_default();
            all.insert(name);
            if is_feature {
                core.insert(name);
            }
        }
    }
    (core, all)
}

#[test]
fn a_plain_text_scan_counts_the_same() {
    let Some(folder) = registry_folder() else { return };
    let text = read(&folder.join("vk.xml"));
    let registry = committed();
    let (core, all) = required_commands(&text);
    assert!(
        all == registry.commands.keys().map(String::as_str).collect(),
        "required commands differ"
    );
    let model_core: BTreeSet<_> = registry
        .commands
        .values()
        .filter(|it| it.core.is_some())
        .map(|it| it.name.as_str())
        .collect();
    assert!(core == model_core, "core commands differ");
    let extensions: BTreeSet<_> = text
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with("<extension ") && names_api(attribute(line, "supported")))
        .filter_map(|line| attribute(line, "name"))
        .collect();
    assert!(
        extensions == registry.extensions.keys().map(String::as_str).collect(),
        "extensions differ"
    );
    let handles = |macro_name: &str| text.matches(&format!("<type>{macro_name}</type>(<name>")).count();
    let dispatchable = registry.handles.values().filter(|handle| handle.dispatchable).count();
    assert_eq!(handles("VK_DEFINE_HANDLE"), dispatchable);
    // One handle of the file belongs to another API (GEN-47).
    assert_eq!(
        handles("VK_DEFINE_NON_DISPATCHABLE_HANDLE"),
        registry.handles.len() - dispatchable + 1
    );
    let aliases = text
        .lines()
        .filter(|line| line.trim_start().starts_with("<command name=") && line.contains(" alias="));
    assert_eq!(
        aliases.count(),
        registry
            .commands
            .values()
            .filter(|command| command.alias.is_some())
            .count()
    );
}

#[test]
fn the_xml_gives_the_committed_snapshot() {
    let Some(folder) = registry_folder() else { return };
    let (vk, video) = (read(&folder.join("vk.xml")), read(&folder.join("video.xml")));
    let load = |vk: &str| {
        load(
            Source {
                name: "vk.xml",
                text: vk,
            },
            Source {
                name: "video.xml",
                text: &video,
            },
        )
    };
    let registry = load(&vk)
        .map_err(|found| found[0].to_string())
        .expect("the pinned registry");
    for ((name, text), (_, committed)) in snapshot::write(&registry).iter().zip(snapshot_files()) {
        assert!(*text == committed, "{name} is out of date; import the registry again");
    }
    assert!(
        load(&vk.replace('\n', "\r\n")) == Ok(registry),
        "CRLF makes a difference"
    );
}

#[test]
fn other_headers_parse_with_the_same_lists() {
    let Some(folder) = registry_folder() else { return };
    let video = read(&folder.join("video.xml"));
    // Commands, core commands and aliases of headers of each shape (GEN-92).
    let known = BTreeMap::from([
        ("1.4.319", [758, 234, 103]),
        ("1.4.335", [775, 234, 105]),
        ("1.4.346", [815, 234, 105]),
        ("1.4.359", [842, 234, 105]),
    ]);
    let mut seen = 0;
    for (header, expected) in known {
        let path = folder.join(header).join("vk.xml");
        if !path.is_file() {
            println!("skipped: no {}", path.display());
            continue;
        }
        let text = read(&path);
        let registry = load(
            Source {
                name: header,
                text: &text,
            },
            Source {
                name: "video.xml",
                text: &video,
            },
        );
        let registry = registry.unwrap_or_else(|found| panic!("{}", found[0]));
        let counts = counts(&registry);
        assert_eq!(registry.header.to_string(), header);
        assert_eq!(
            [counts["commands"], counts["core-commands"], counts["aliases"]],
            expected,
            "{header}"
        );
        assert_eq!(snapshot::read(&snapshot::write(&registry)).as_ref(), Ok(&registry));
        // A second count that shares no code with the parser (GEN-92).
        let (core, all) = required_commands(&text);
        let commands = || registry.commands.values();
        assert!(
            all == commands().map(|it| it.name.as_str()).collect(),
            "{header}: required commands differ"
        );
        let model_core = commands().filter(|it| it.core.is_some()).map(|it| it.name.as_str());
        assert!(core == model_core.collect(), "{header}: core commands differ");
        seen += 1;
    }
    println!("{seen} other headers read");
}
