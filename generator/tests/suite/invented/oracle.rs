//! The oracle, which derives the expected results for invented extensions from the XML alone.
//!
//! The oracle shares no code with the crates under test: it reads elements by name, and collects the types that each command can reach. Its
//! inputs are the text of the registry with and without the inventions, the handles that the loader wraps, and the first parameters that
//! are checked. The oracle has its own copy of these rules: GEN-50 (levels), GEN-52 and GEN-53 (look-up, exports), GEN-54 (platforms) and
//! GEN-71 (special commands). The oracle also knows the commands whose policy row decides more than `reviewed` and `reason`.

use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};

/// Handles that the loader wraps.
const WRAPPED: [&str; 5] = [
    "VkInstance",
    "VkPhysicalDevice",
    "VkSurfaceKHR",
    "VkDebugUtilsMessengerEXT",
    "VkDebugReportCallbackEXT",
];
/// First parameters that a trampoline checks, with their handle types.
const CHECKED: [(&str, &str); 6] = [
    ("commandBuffer", "VkCommandBuffer"),
    ("device", "VkDevice"),
    ("externalQueue", "VkExternalComputeQueueNV"),
    ("instance", "VkInstance"),
    ("physicalDevice", "VkPhysicalDevice"),
    ("queue", "VkQueue"),
];

/// Member or parameter in the XML.
struct Part {
    kind: String,
    name: String,
    /// `true` if the callee may write through the first pointer, or `None` without a pointer.
    writes: Option<bool>,
    is_raw: bool,
}

/// Command in the XML.
struct Entry {
    params: Vec<Part>,
    returned: String,
    alias: Option<String>,
    is_core: bool,
    /// Kinds and platforms of the extensions that provide the command.
    providers: Vec<(String, String)>,
}

/// Facts that the oracle reads from the XML.
pub(crate) struct Facts {
    parts: BTreeMap<String, Vec<Part>>,
    extended_by: BTreeMap<String, Vec<String>>,
    aliases: BTreeMap<String, String>,
    handles: BTreeMap<String, (bool, Option<String>)>,
    commands: BTreeMap<String, Entry>,
}

/// Expected row of an accepted command.
#[derive(Debug)]
pub(crate) struct Row {
    /// Level of the command, named as in the look-up table.
    pub(crate) level: &'static str,
    /// Name of the first parameter, which determines the file of the trampoline.
    pub(crate) first: String,
    pub(crate) handle: String,
    pub(crate) is_core: bool,
    pub(crate) platform: Option<String>,
    pub(crate) params: usize,
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|it| it.has_tag_name(name))
}

fn inner<'a>(node: Node<'a, 'a>, name: &str) -> String {
    child(node, name)
        .and_then(|it| it.text())
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Returns `true` if an element belongs to the Vulkan API.
fn admitted(node: Node<'_, '_>) -> bool {
    let list = node.attribute("supported").or(node.attribute("api"));
    list.is_none_or(|list| list.split(',').any(|word| word == "vulkan"))
}

fn part(node: Node<'_, '_>) -> Part {
    let texts = || node.children().filter(|it| it.is_text()).filter_map(|it| it.text());
    let stars = texts().any(|text| text.contains('*'));
    let mut before = node.children().take_while(|it| !it.has_tag_name("type"));
    let is_const = before.any(|it| it.text().is_some_and(|text| text.contains("const")));
    let kind = node
        .children()
        .find(|it| it.has_tag_name("type"))
        .and_then(|it| it.text());
    Part {
        kind: kind.unwrap_or_default().to_owned(),
        name: node
            .children()
            .find(|it| it.has_tag_name("name"))
            .and_then(|it| it.text())
            .unwrap_or_default()
            .to_owned(),
        writes: stars.then_some(!is_const),
        is_raw: node.attribute("objecttype").is_some(),
    }
}

fn parts<'a>(node: Node<'a, 'a>, name: &str) -> Vec<Part> {
    let found = node.children().filter(|it| it.has_tag_name(name) && admitted(*it));
    found.map(part).collect()
}

impl Facts {
    pub(crate) fn read(text: &str) -> Self {
        let document = Document::parse(text).expect("XML");
        let root = document.root_element();
        let mut facts = Self {
            parts: BTreeMap::new(),
            extended_by: BTreeMap::new(),
            aliases: BTreeMap::new(),
            handles: BTreeMap::new(),
            commands: BTreeMap::new(),
        };
        for node in root
            .children()
            .filter(|it| it.has_tag_name("types"))
            .flat_map(|it| it.children())
        {
            if node.has_tag_name("type") && admitted(node) {
                facts.read_type(node);
            }
        }
        for node in root
            .children()
            .filter(|it| it.has_tag_name("commands"))
            .flat_map(|it| it.children())
        {
            if node.has_tag_name("command") && admitted(node) {
                facts.read_command(node);
            }
        }
        let extensions = root
            .children()
            .filter(|it| it.has_tag_name("extensions"))
            .flat_map(|it| it.children());
        for node in root.children().chain(extensions).filter(|it| admitted(*it)) {
            if node.has_tag_name("feature") || node.has_tag_name("extension") {
                facts.read_provider(node);
            }
        }
        facts
            .commands
            .retain(|_, entry| entry.is_core || !entry.providers.is_empty());
        facts
    }

    fn read_type(&mut self, node: Node<'_, '_>) {
        let proto = child(node, "proto");
        let name = node
            .attribute("name")
            .map_or_else(|| inner(proto.unwrap_or(node), "name"), str::to_owned);
        if let Some(target) = node.attribute("alias") {
            self.aliases.insert(name, target.to_owned());
            return;
        }
        for base in node
            .attribute("structextends")
            .into_iter()
            .flat_map(|list| list.split(','))
        {
            self.extended_by.entry(base.to_owned()).or_default().push(name.clone());
        }
        match node.attribute("category") {
            Some("handle") => {
                let dispatchable = inner(node, "type") == "VK_DEFINE_HANDLE";
                self.handles
                    .insert(name, (dispatchable, node.attribute("parent").map(str::to_owned)));
            }
            Some("struct" | "union") => {
                self.parts.insert(name, parts(node, "member"));
            }
            Some("funcpointer") => {
                self.parts.insert(name, parts(node, "param"));
            }
            Some("basetype") if child(node, "type").is_some() => {
                self.aliases.insert(name, inner(node, "type"));
            }
            _ => {}
        }
    }

    fn read_command(&mut self, node: Node<'_, '_>) {
        let entry = |params, returned, alias| Entry {
            params,
            returned,
            alias,
            is_core: false,
            providers: Vec::new(),
        };
        if let (Some(name), Some(target)) = (node.attribute("name"), node.attribute("alias")) {
            self.commands.insert(
                name.to_owned(),
                entry(Vec::new(), String::new(), Some(target.to_owned())),
            );
        } else if let Some(proto) = child(node, "proto") {
            let found = entry(parts(node, "param"), inner(proto, "type"), None);
            self.commands.insert(inner(proto, "name"), found);
        }
    }

    fn read_provider(&mut self, node: Node<'_, '_>) {
        let word = |name| node.attribute(name).unwrap_or_default().to_owned();
        let blocks = node.children().filter(|it| it.has_tag_name("require") && admitted(*it));
        for named in blocks
            .flat_map(|it| it.children())
            .filter(|it| it.has_tag_name("command"))
        {
            let Some(entry) = named.attribute("name").and_then(|name| self.commands.get_mut(name)) else {
                continue;
            };
            if node.has_tag_name("feature") {
                entry.is_core = true
            } else {
                entry.providers.push((word("type"), word("platform")))
            }
        }
    }

    /// Returns the structures that other structures extend.
    pub(crate) fn bases(&self) -> Vec<String> {
        let bases = self.extended_by.keys().filter(|name| self.parts.contains_key(*name));
        bases.cloned().collect()
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        let own = self.commands.iter().filter(|(_, entry)| entry.alias.is_none());
        own.map(|(name, _)| name.clone()).collect()
    }

    fn meaning<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, |target| self.meaning(target))
    }

    fn is_dispatchable(&self, name: &str) -> bool {
        self.handles
            .get(self.meaning(name))
            .is_some_and(|(dispatchable, _)| *dispatchable)
    }

    /// Returns the entry with the prototype of a command, which may be an alias.
    fn prototype(&self, name: &str) -> &Entry {
        let entry = &self.commands[name];
        entry.alias.as_ref().map_or(entry, |target| self.prototype(target))
    }

    /// Returns `true` if a wrapped or raw handle can be reached from a part of a command, by any path.
    fn is_sensitive(&self, part: &Part, seen: &mut BTreeSet<String>) -> bool {
        let kind = self.meaning(&part.kind);
        if part.is_raw || WRAPPED.contains(&kind) {
            return true;
        }
        if !seen.insert(kind.to_owned()) {
            return false;
        }
        let inside = self
            .parts
            .get(kind)
            .is_some_and(|parts| parts.iter().any(|it| self.is_sensitive(it, seen)));
        inside || self.chained(kind).any(|name| self.is_sensitive_type(name, seen))
    }

    fn is_sensitive_type(&self, name: &str, seen: &mut BTreeSet<String>) -> bool {
        let part = Part {
            kind: name.to_owned(),
            name: String::new(),
            writes: None,
            is_raw: false,
        };
        self.is_sensitive(&part, seen)
    }

    /// Returns the structures that may be in the chain of this structure.
    fn chained<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        let spelled = self
            .extended_by
            .iter()
            .filter(move |(base, _)| self.meaning(base) == kind);
        spelled.flat_map(|(_, names)| names.iter().map(String::as_str))
    }

    /// Returns all types that can be reached from a command.
    fn reached(&self, entry: &Entry) -> BTreeSet<String> {
        let mut pending: Vec<&str> = entry.params.iter().map(|it| it.kind.as_str()).collect();
        let mut found = BTreeSet::new();
        while let Some(name) = pending.pop() {
            let kind = self.meaning(name);
            if found.insert(kind.to_owned()) {
                pending.extend(self.parts.get(kind).into_iter().flatten().map(|it| it.kind.as_str()));
                pending.extend(self.chained(kind));
            }
        }
        found
    }

    /// Returns `true` if the callee may write a dispatchable handle into memory of the caller.
    fn hands_out(&self, part: &Part, outer: bool, is_member: bool, seen: &mut BTreeSet<(String, bool)>) -> bool {
        let (kind, written) = (self.meaning(&part.kind), part.writes.unwrap_or(outer));
        if self.is_dispatchable(kind) {
            return written && !(is_member && WRAPPED.contains(&kind));
        }
        if !seen.insert((kind.to_owned(), written)) {
            return false;
        }
        let parts = self.parts.get(kind);
        let next = parts.into_iter().flatten().find(|it| it.name == "pNext");
        let chain = next.and_then(|it| it.writes).unwrap_or(false);
        let inside = parts.is_some_and(|parts| parts.iter().any(|it| self.hands_out(it, written, true, seen)));
        inside
            || self.chained(kind).collect::<Vec<_>>().into_iter().any(|name| {
                let part = Part {
                    kind: name.to_owned(),
                    name: String::new(),
                    writes: Some(chain),
                    is_raw: false,
                };
                self.hands_out(&part, false, true, seen)
            })
    }

    fn level(&self, entry: &Entry) -> &'static str {
        let Some(first) = entry
            .params
            .first()
            .filter(|it| it.writes.is_none() && self.is_dispatchable(&it.kind))
        else {
            return "Global";
        };
        match self.meaning(&first.kind) {
            "VkInstance" => "Instance",
            "VkPhysicalDevice" => "PhysicalDevice",
            _ => "Device",
        }
    }

    /// Returns `true` if the XML makes a command special. `treated` lists the commands whose policy row decides more than
    /// `reviewed` and `reason`.
    fn is_special(&self, name: &str, treated: &BTreeSet<String>) -> bool {
        let (own, entry) = (&self.commands[name], self.prototype(name));
        let level = self.level(entry);
        let behind = &entry.params[usize::from(level != "Global").min(entry.params.len())..];
        let returns = Part {
            kind: entry.returned.clone(),
            name: String::new(),
            writes: Some(true),
            is_raw: false,
        };
        let sensitive = |part: &Part| self.is_sensitive(part, &mut BTreeSet::new());
        let only_instance = !own.is_core && own.providers.iter().all(|(kind, _)| kind == "instance");
        let target = |name: &String| self.commands[name].alias.clone().unwrap_or_else(|| name.clone());
        let family = target(&name.to_owned());
        matches!(level, "Global" | "Instance")
            || only_instance
            || behind.iter().any(sensitive)
            || sensitive(&returns)
            || behind
                .iter()
                .any(|it| it.writes != Some(true) && self.is_dispatchable(&it.kind))
            || entry
                .params
                .iter()
                .chain([&returns])
                .any(|it| self.hands_out(it, false, false, &mut BTreeSet::new()))
            || treated
                .iter()
                .any(|other| other != name && self.commands.contains_key(other) && target(other) == family)
    }

    /// Returns `true` if a trampoline would check the first parameter as the wrong handle type.
    fn is_unchecked(&self, name: &str) -> bool {
        let entry = self.prototype(name);
        let first = entry
            .params
            .first()
            .map(|it| (it.name.as_str(), self.meaning(&it.kind)));
        self.level(entry) != "Global" && !first.is_some_and(|first| CHECKED.contains(&first))
    }

    /// Returns the commands that must stop the run: invented commands that need a decision, and known commands from which a handle can be
    /// reached through an invented type.
    pub(crate) fn stopping(&self, before: &Self, treated: &BTreeSet<String>) -> BTreeSet<String> {
        let fresh: BTreeSet<&String> = self
            .parts
            .keys()
            .filter(|name| !before.parts.contains_key(*name))
            .collect();
        let opened: BTreeSet<&String> = fresh
            .into_iter()
            .filter(|name| self.is_sensitive_type(name, &mut BTreeSet::new()))
            .collect();
        let stops = |name: &&String| {
            if before.commands.contains_key(*name) {
                let reached = self.reached(self.prototype(name));
                let handed = |facts: &Self| {
                    let params = &facts.prototype(name).params;
                    params
                        .iter()
                        .any(|it| facts.hands_out(it, false, false, &mut BTreeSet::new()))
                };
                opened.iter().any(|name| reached.contains(*name)) || (handed(self) && !handed(before))
            } else {
                self.is_special(name, treated) || self.is_unchecked(name)
            }
        };
        self.commands.keys().filter(stops).cloned().collect()
    }

    /// Returns the expected rows of the invented commands if no command stops the run.
    pub(crate) fn rows(&self, before: &Self) -> BTreeMap<String, Row> {
        let fresh = self
            .commands
            .iter()
            .filter(|(name, _)| !before.commands.contains_key(*name));
        let row = |(name, own): (&String, &Entry)| {
            let entry = self.prototype(name);
            let first = &entry.params[0];
            let platforms: BTreeSet<&str> = own.providers.iter().map(|(_, platform)| platform.as_str()).collect();
            let platform = platforms
                .first()
                .filter(|word| !own.is_core && !["", "provisional"].contains(*word));
            let row = Row {
                level: self.level(entry),
                first: first.name.clone(),
                handle: self.meaning(&first.kind).to_owned(),
                is_core: own.is_core,
                platform: platform.map(|word| (*word).to_owned()),
                params: entry.params.len(),
            };
            (name.clone(), row)
        };
        fresh.map(row).collect()
    }
}
