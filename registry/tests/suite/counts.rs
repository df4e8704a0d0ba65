//! Tests that the counts in `pin.toml` are equal to the counts of the snapshot and of the XML text.

use crate::common::{crate_root, read, registry_folder, skip, snapshot_files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use vk_registry::model::{Command, ExtensionKind, Level, Provider, Registry};
use vk_registry::{Source, load, snapshot};

/// Parses the small part of TOML that the pin uses. Returns the values by `section.key`.
fn values(text: &str) -> BTreeMap<String, String> {
    let mut section = String::new();
    let mut values = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
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

fn pin() -> BTreeMap<String, String> {
    values(&read(&crate_root().join("pin.toml")))
}

fn pinned_count(pin: &BTreeMap<String, String>, key: &str) -> usize {
    pin[&format!("counts.{key}")]
        .parse()
        .unwrap_or_else(|_| panic!("{key} is no number"))
}

fn committed() -> Registry {
    snapshot::read(&snapshot_files()).expect("the committed snapshot")
}

/// Returns `false` for counts of exports, which follow from the policy. The generator's tests check those counts.
fn is_fact(key: &&str) -> bool {
    !key.starts_with("exports.")
}

/// Computes from the model the counts that the pin lists.
fn counts(registry: &Registry) -> BTreeMap<String, usize> {
    let commands = |wanted: &dyn Fn(&Command) -> bool| registry.commands.values().filter(|it| wanted(it)).count();
    let level = |level: Level| commands(&|it| it.level == level);
    let extensions = |kind| registry.extensions.values().filter(|it| it.kind == kind).count();
    let only_of = |command: &Command, kind| {
        let of_kind = |provider: &Provider| registry.extensions[&provider.extension].kind == kind;
        command.core.is_none() && command.providers.iter().all(of_kind)
    };
    let target_is_core = |alias: &String| registry.commands[alias].core.is_some();
    let mut found: BTreeMap<String, usize> = [
        ("commands", registry.commands.len()),
        ("core-commands", commands(&|it| it.core.is_some())),
        ("aliases", commands(&|it| it.alias.is_some())),
        // GEN-35: most aliases have a core command as their target.
        (
            "aliases-of-core",
            commands(&|it| it.alias.as_ref().is_some_and(target_is_core)),
        ),
        ("exported-definitions", commands(&|it| it.export)),
        ("unlisted-commands", registry.unlisted_commands.len()),
        // GEN-30: counts the commands that two extensions provide, and the commands whose providers all have conditions.
        ("two-providers", commands(&|it| it.providers.len() == 2)),
        (
            "most-providers",
            registry
                .commands
                .values()
                .map(|it| it.providers.len())
                .max()
                .unwrap_or(0),
        ),
        (
            "conditional-commands",
            commands(&|it| it.core.is_none() && it.providers.iter().all(|provider| provider.depends.is_some())),
        ),
        // GEN-54: `provisional` is a degree of maturity, and not an operating system.
        (
            "provisional-commands",
            commands(&|it| it.platform.as_deref() == Some("provisional")),
        ),
        // GEN-51: the type of an extension does not determine the level of its commands.
        (
            "physical-device-commands-of-device-extensions",
            commands(&|it| it.level == Level::PhysicalDevice && only_of(it, ExtensionKind::Device)),
        ),
        (
            "device-commands-of-instance-extensions",
            commands(&|it| it.level == Level::Device && only_of(it, ExtensionKind::Instance)),
        ),
        ("handles", registry.handles.len()),
        (
            "dispatchable-handles",
            registry.handles.values().filter(|handle| handle.dispatchable).count(),
        ),
        // GEN-41: the typedef determines the width, and the name does not.
        (
            "wide-flags",
            registry.bitmasks.values().filter(|mask| mask.bits == 64).count(),
        ),
        ("extensions", registry.extensions.len()),
        ("instance-extensions", extensions(ExtensionKind::Instance)),
        ("reserved-extensions", registry.reserved_extensions.len()),
        ("level.global", level(Level::Global)),
        ("level.instance", level(Level::Instance)),
        ("level.physical-device", level(Level::PhysicalDevice)),
        ("level.device", level(Level::Device)),
    ]
    .map(|(key, count)| (key.to_owned(), count))
    .into();
    let of_device = registry.commands.values().filter(|it| it.level == Level::Device);
    for handle in of_device.filter_map(|it| it.first_handle.as_ref()) {
        *found.entry(format!("device-level-handle.{handle}")).or_default() += 1;
    }
    found
}

/// Returns the counts of `count.awk`, which reads XML without a parser. If awk is not installed, prints a message and returns `None`.
fn counted_by_awk(vk: &Path) -> Option<String> {
    let script = crate_root().join("count.awk");
    match std::process::Command::new("awk").arg("-f").arg(script).arg(vk).output() {
        Ok(output) => Some(String::from_utf8(output.stdout).expect("ASCII")),
        Err(_) => {
            skip("no awk on this machine");
            None
        }
    }
}

#[test]
fn the_snapshot_has_the_pinned_counts() {
    let (pin, registry) = (pin(), committed());
    assert_eq!(registry.header.to_string(), pin["header"]);
    let pinned: BTreeMap<String, usize> = pin
        .keys()
        .filter_map(|key| key.strip_prefix("counts."))
        .filter(is_fact)
        .map(|key| (key.to_owned(), pinned_count(&pin, key)))
        .collect();
    assert_eq!(counts(&registry), pinned);
}

/// Returns the value of an attribute in the text of a start tag.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

fn names_api(list: Option<&str>) -> bool {
    list.is_none_or(|list| list.split(',').any(|token| token == "vulkan"))
}

/// Returns the command names between `<require>` and `</require>` of providers in scope. The function reads the text line by line.
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
    // One handle in the file belongs to another API (GEN-47).
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
fn the_pin_holds_what_an_independent_program_counts() {
    let Some(folder) = registry_folder() else { return };
    let Some(counted) = counted_by_awk(&folder.join("vk.xml")) else {
        return;
    };
    let pin = read(&crate_root().join("pin.toml"));
    assert!(pin.ends_with(&counted), "count.awk gives\n{counted}");
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
    // Numbers of commands, core commands and aliases, for headers with each form of the XML (GEN-92).
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
            skip(format_args!("no {}", path.display()));
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
        if let Some(counted) = counted_by_awk(&path) {
            let counted: BTreeMap<String, usize> = values(&counted)
                .into_iter()
                .filter_map(|(key, count)| Some((key.strip_prefix("counts.")?.to_owned(), count)))
                .filter(|(key, _)| is_fact(&key.as_str()))
                .map(|(key, count)| (key, count.parse().expect("a number")))
                .collect();
            assert_eq!(counts, counted, "{header}");
        }
        // The second count shares no code with the parser (GEN-92).
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
