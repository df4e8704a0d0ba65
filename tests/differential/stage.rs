//! Creates the files and environment of a scene, which the scene's `world` items in `catalogue.txt` describe.

use std::fs;
use std::path::Path;

use loader_tests::{Driver, Scene};

use crate::catalogue::Item;
use crate::kit::Layer;

/// Path of a settings file that the loader finds.
const SETTINGS: &str = "xdg/config-home/vulkan/loader_settings.d/vk_loader_settings.json";

/// Builds all pieces of a scene. A child makes the same calls, but uses only the returned paths.
pub(crate) fn build(scene: &mut Scene, pieces: &[Item]) {
    let mut bases = Vec::new();
    for item in pieces {
        let (kind, rest) = item.text.split_once(' ').unwrap_or((&item.text, ""));
        match kind {
            "driver" => driver(scene, rest, &item.below),
            "layer" => bases.extend(layer(scene, rest, &item.below)),
            "env" => {
                let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
                let value = filled(scene, value);
                scene.env(name, value);
            }
            "unset" => drop(scene.unset(rest)),
            "settings" => drop(scene.file(SETTINGS, filled(scene, &item.below.join("\n")))),
            "file" => drop(scene.file(rest, filled(scene, &item.below.join("\n")))),
            _ => panic!("catalogue.txt: what is `{}`?", item.text),
        }
    }
    if !bases.is_empty() {
        scene.env("XDG_DATA_DIRS", bases.join(":"));
    }
}

/// Replaces the placeholders: `@ROOT@` becomes the scene's folder, and `@LAVAPIPE@` becomes the path of lavapipe's
/// manifest.
fn filled(scene: &Scene, text: &str) -> String {
    let text = text.replace("@ROOT@", scene.text_path("").trim_end_matches('/'));
    if text.contains("@LAVAPIPE@") {
        text.replace("@LAVAPIPE@", &lavapipe())
    } else {
        text
    }
}

fn lavapipe() -> String {
    let folder = Path::new("/usr/share/vulkan/icd.d");
    let files = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = files.filter_map(|file| Some(file.ok()?.path().display().to_string()));
    let hit = paths.into_iter().find(|path| path.contains("lvp_icd"));
    hit.expect("lavapipe is installed (mesa-vulkan-drivers)")
}

/// Builds a driver from the line `driver NAME usual|plain`. The indented lines after it configure the driver.
fn driver(scene: &mut Scene, head: &str, lines: &[String]) {
    let (name, kind) = head.split_once(' ').unwrap_or((head, "usual"));
    let driver = match kind {
        "usual" => scene.usual_driver(name),
        "plain" => scene.driver(name),
        _ => panic!("catalogue.txt: what driver is `{head}`?"),
    };
    driver.flag("journal_lookups");
    for line in lines {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        describe(driver, key, value);
    }
}

fn describe(driver: &mut Driver, key: &str, value: &str) {
    match key {
        "api" => driver.api(value),
        "manifest-api" => driver.manifest_api(value),
        "hide" => driver.hide(value),
        "legacy" => driver.legacy_exports(),
        "members" => driver.manifest_members(value),
        "library-path" => driver.library_path(value),
        "manifest" => driver.manifest_text(value),
        "folder" => driver.folder(value),
        "unlisted" => driver.unlisted(),
        "unknown-physical" => driver.unknown_physical(value),
        "unknown-device" => driver.unknown_device(value),
        // All other keys are passed to the mock driver.
        _ => driver.line(key, value),
    };
}

/// Builds a layer from the line `layer NAME explicit|implicit|meta|implicit-meta COMPONENT...`. Returns the folder of the layer's manifest.
fn layer(scene: &Scene, head: &str, lines: &[String]) -> Option<String> {
    let words: Vec<&str> = head.split(' ').collect();
    let (name, components) = (words[0], words.get(2..).unwrap_or_default());
    let mut layer = match words.get(1) {
        Some(&"explicit") => Layer::explicit(name),
        Some(&"implicit") => Layer::implicit(name),
        Some(&"meta") => Layer::meta(name, components),
        Some(&"implicit-meta") => Layer::implicit_meta(name, components),
        Some(&"override") => Layer::overriding(components),
        _ => panic!("catalogue.txt: what layer is `{head}`?"),
    };
    let mut elsewhere = false;
    for line in lines {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        elsewhere |= key == "folder";
        layer = match key {
            "member" => {
                let (member, json) = value.split_once(' ').unwrap_or((value, "null"));
                layer.member(member, filled(scene, json))
            }
            "without" => layer.without(value),
            "api" => layer.api(value),
            "format" => layer.format(value),
            "folder" => layer.folder(value),
            // `ask *` makes the layer look up every known command.
            "ask" if value == "*" => commands().fold(layer, |layer, name| layer.conf("ask", name)),
            // All other keys are passed to the mock layer.
            _ => layer.conf(key, value),
        };
    }
    layer.put(scene);
    (!elsewhere).then(|| scene.text_path(&format!("layers/{name}")))
}

/// Returns the names of all commands in the registry's snapshot.
pub(crate) fn commands() -> impl Iterator<Item = &'static str> {
    let text = include_str!("../../registry/snapshot/commands.txt");
    text.lines().filter_map(|line| line.strip_prefix("command "))
}
