//! Finds facts that the crate reads but never uses: every change to the complete registry must change the model.
//!
//! The test removes and changes each used attribute, and removes each element, at places in the whole file. If the model does not change,
//! no code uses the fact, unless [`Scope`] or [`is_default`] explains this. `VK_MUTATIONS` sets the number of places for each kind.

use crate::common::{VIDEO, read, registry_folder};
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use vk_registry::model::Registry;
use vk_registry::{Source, load, used_attributes};

/// Number of changes of each kind that a run tries if `VK_MUTATIONS` is not set.
const PLACES: usize = 2;

/// Change of the XML text.
struct Mutation {
    range: Range<usize>,
    with: String,
}

/// Parts of the XML file that affect the model.
struct Scope {
    /// Names in the model. Other names belong to other APIs or to disabled extensions.
    known: BTreeSet<String>,
    /// Names that exactly one `<require>` element lists. If several elements list a name, the removal of one element has no effect
    /// (GEN-69).
    required_once: BTreeSet<String>,
}

impl Scope {
    fn new(registry: &Registry, document: &Document<'_>) -> Self {
        let mut known: BTreeSet<String> = registry.commands.keys().cloned().collect();
        known.extend(registry.handles.keys().cloned());
        known.extend(registry.structs.keys().cloned());
        known.extend(registry.enums.keys().cloned());
        known.extend(registry.bitmasks.keys().cloned());
        known.extend(registry.base_types.keys().cloned());
        known.extend(registry.function_pointers.keys().cloned());
        known.extend(registry.type_aliases.keys().cloned());
        known.extend(registry.constants.keys().cloned());
        let enumerants = registry.enums.values().flat_map(|it| &it.enumerants);
        known.extend(enumerants.map(|it| it.name.clone()));
        let mut required: BTreeMap<&str, usize> = BTreeMap::new();
        let in_scope = |node: &Node<'_, '_>| node.is_element() && !of_another_api(*node);
        for node in document.descendants().filter(in_scope) {
            let parent = node.parent().is_some_and(|parent| parent.has_tag_name("require"));
            if let Some(name) = node.attribute("name").filter(|_| parent) {
                *required.entry(name).or_default() += 1;
            }
        }
        let once = required.into_iter().filter(|(_, count)| *count == 1);
        let required_once = once.map(|(name, _)| name.to_owned()).collect();
        Self { known, required_once }
    }

    /// Returns `true` if a change of the element can affect the model. A comment at each exception gives the reason.
    fn holds(&self, node: Node<'_, '_>, path: &str) -> bool {
        let name = node.attribute("name").unwrap_or_default();
        let defined = |node: Node<'_, '_>| definition(node).is_none_or(|name| self.known.contains(name));
        match path.rsplit('/').next() {
            // If several `<require>` elements list a name, the removal of one reference has no effect.
            Some("enum" | "command") if path.contains("/require/") => {
                self.required_once.contains(name) && self.known.contains(name)
            }
            // Removing the reference has no effect: a type, for example a plain C type, remains in the model even if no provider requires
            // it. The type disappears only if another API requires it.
            Some("type") if path.contains("/require/") => false,
            // A `<require>` without a command does not affect entry points, and its condition has no effect either.
            Some("require") => node.children().any(|it| it.has_tag_name("command")),
            _ => node.ancestors().filter(Node::is_element).all(defined),
        }
    }
}

/// Returns the name that the element defines, if it defines a type, enumeration or command.
fn definition<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    if node.has_tag_name("enums") {
        return node
            .attribute("name")
            .filter(|_| node.attribute("type") != Some("constants"));
    }
    let chapter = node.parent()?.tag_name().name();
    if !["types", "commands"].contains(&chapter) {
        return None;
    }
    let inside = |node: Node<'a, '_>| node.children().find(|it| it.has_tag_name("name"))?.text();
    let proto = node.children().find(|it| it.has_tag_name("proto"));
    node.attribute("name").or_else(|| inside(proto.unwrap_or(node)))
}

/// Returns `true` if the element belongs to another API or to a disabled extension.
fn of_another_api(node: Node<'_, '_>) -> bool {
    node.ancestors().any(|node| {
        let list = node.attribute("supported").or(node.attribute("api"));
        list.is_some_and(|list| !list.split(',').any(|token| token == "vulkan"))
    })
}

/// Returns all changes by kind.
fn mutations(document: &Document<'_>, scope: &Scope) -> BTreeMap<String, Vec<Mutation>> {
    let used: BTreeSet<(&str, &str)> = used_attributes().collect();
    let used_elements: BTreeSet<&str> = used.iter().map(|(path, _)| *path).collect();
    let mut found: BTreeMap<String, Vec<Mutation>> = BTreeMap::new();
    let mut add = |kind: String, range, with: &str| {
        let with = with.to_owned();
        found.entry(kind).or_default().push(Mutation { range, with });
    };
    for node in document
        .descendants()
        .filter(|node| node.is_element() && !of_another_api(*node))
    {
        let path = path(node);
        if !used_elements.contains(path.as_str()) || !scope.holds(node, &path) {
            continue;
        }
        add(format!("{path}: dropped"), node.range(), "");
        for attribute in node
            .attributes()
            .filter(|it| used.contains(&(path.as_str(), it.name())))
        {
            let name = attribute.name();
            if !is_default(node, name) {
                add(format!("{path}@{name}: dropped"), attribute.range(), "");
            }
            let end = attribute.range_value().end;
            add(format!("{path}@{name}: changed"), end..end, "x");
        }
    }
    found
}

/// Returns `true` if the value of the attribute has the same meaning as a missing attribute.
fn is_default(node: Node<'_, '_>, attribute: &str) -> bool {
    let extension = || node.ancestors().find(|it| it.has_tag_name("extension"));
    match attribute {
        // Each API list in the fixture contains `vulkan`, and such a list has the same meaning as a missing list.
        "api" => true,
        "extnumber" => extension().is_some_and(|it| it.attribute("number") == node.attribute("extnumber")),
        _ => false,
    }
}

fn path(node: Node<'_, '_>) -> String {
    let mut names: Vec<_> = node
        .ancestors()
        .filter(Node::is_element)
        .map(|it| it.tag_name().name())
        .collect();
    names.reverse();
    names.join("/")
}

fn load_text(vk: &str) -> Option<Registry> {
    let source = |name, text| Source { name, text };
    load(source("vk.xml", vk), source("video.xml", VIDEO)).ok()
}

/// Returns at most `count` items, at equal distances in the list.
fn spread<T>(items: Vec<T>, count: usize) -> impl Iterator<Item = T> {
    let step = items.len().div_ceil(count.max(1)).max(1);
    items.into_iter().skip(step / 2).step_by(step)
}

#[test]
fn every_used_fact_of_the_complete_registry_shows() {
    let Some(folder) = registry_folder() else { return };
    let text = read(&folder.join("vk.xml"));
    let expected = load_text(&text).expect("the pinned registry");
    let document = Document::parse(&text).expect("the pinned registry");
    let count = std::env::var("VK_MUTATIONS").ok().and_then(|count| count.parse().ok());
    let work: Vec<(String, Mutation)> = mutations(&document, &Scope::new(&expected, &document))
        .into_iter()
        .flat_map(|(kind, places)| spread(places, count.unwrap_or(PLACES)).map(move |place| (kind.clone(), place)))
        .collect();
    let next = AtomicUsize::new(0);
    let unnoticed = std::thread::scope(|scope| {
        let worker = || {
            let mut unnoticed = Vec::new();
            while let Some((kind, mutation)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Range { start, end } = mutation.range;
                let mutant = [&text[..start], &mutation.with, &text[end..]].concat();
                if load_text(&mutant).as_ref() == Some(&expected) {
                    let line = text[..start].matches('\n').count() + 1;
                    unnoticed.push((kind.clone(), line));
                }
            }
            unnoticed
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let found = workers.into_iter().flat_map(|it| it.join().expect("a worker"));
        found.collect::<BTreeSet<(String, usize)>>()
    });
    println!("{} mutations, {} without effect", work.len(), unnoticed.len());
    assert!(unnoticed.is_empty(), "{unnoticed:#?}");
}
