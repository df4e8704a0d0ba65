//! Functions and values that the tests of this crate share.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs};
use vk_registry::model::Registry;
use vk_registry::snapshot;
use vkgen::diff::{self, Report, Side, View};
use vkgen::emit::{self, File};
use vkgen::plan::{Plan, Problem};
use vkgen::policy::{Policy, PolicyFile};

/// Returns the folder of the crate.
pub(crate) fn crate_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder of the repository.
pub(crate) fn repository() -> PathBuf {
    crate_root()
        .parent()
        .expect("the crate lies in the repository")
        .to_owned()
}

/// Returns the folder of the reduced registry.
pub(crate) fn reduced() -> PathBuf {
    crate_root().join("tests/golden/reduced")
}

/// Reads a registry from the folder of its snapshot.
pub(crate) fn registry(folder: &Path) -> Registry {
    let read = |name: &'static str| (name, fs::read_to_string(folder.join(name)).expect(name));
    let files: Vec<_> = snapshot::FILES.into_iter().map(read).collect();
    snapshot::read(&files).expect("a good snapshot")
}

/// Returns the committed registry.
pub(crate) fn committed_registry() -> Registry {
    registry(&repository().join("registry/snapshot"))
}

/// Returns the committed registry as a side of a comparison. The files of this side are emitted once for all tests.
pub(crate) fn committed_view() -> &'static View<'static> {
    static PARTS: OnceLock<(Side, Policy)> = OnceLock::new();
    static VIEW: OnceLock<View<'_>> = OnceLock::new();
    let (side, policy) = PARTS.get_or_init(|| {
        let registry = committed_registry();
        let unknown = Vec::new();
        (Side { registry, unknown }, policy(&committed_policy()))
    });
    VIEW.get_or_init(|| View::new(side, policy))
}

/// Returns the report between the committed registry and a changed copy.
pub(crate) fn changed(change: impl FnOnce(&mut Registry)) -> Report {
    let (mut registry, unknown) = (committed_registry(), Vec::new());
    change(&mut registry);
    let side = Side { registry, unknown };
    diff::between(committed_view(), &View::new(&side, &policy(&committed_policy())))
}

/// Returns the text of the committed policy.
pub(crate) fn committed_policy() -> String {
    fs::read_to_string(crate_root().join("policy.toml")).expect("the policy")
}

/// Parses a policy that must have a valid form.
pub(crate) fn policy(text: &str) -> Policy {
    Policy::parse("policy.toml", text).expect("a policy of good form")
}

/// Returns all files that follow from the registry and the policy.
pub(crate) fn generate(registry: &Registry, policy: &Policy) -> Vec<File> {
    let plan = Plan::new(registry, policy).unwrap_or_else(|problems| panic!("{problems:#?}"));
    emit::all(&plan)
}

/// Returns the conflicts between a registry and a policy's text, as printed.
pub(crate) fn problems(registry: &Registry, text: &str) -> Vec<String> {
    let policy = policy(text);
    let file = PolicyFile {
        name: "policy.toml".to_owned(),
        text: text.to_owned(),
    };
    let located = |problem: &Problem| problem.located(std::slice::from_ref(&file), |_| None);
    Plan::new(registry, &policy)
        .err()
        .map_or_else(Vec::new, |found| found.iter().map(located).collect())
}

/// Returns the policy's text with `from` replaced by `to`. `from` must occur exactly once.
pub(crate) fn edited(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "`{from}` must occur once");
    text.replace(from, to)
}

/// Folder that is removed when this value is dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(steady::new_folder("vkgen-test"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns a count of the pinned header, such as `level.device`. The script `count.awk` counts the items without the parser.
pub(crate) fn pinned(key: &str) -> usize {
    let text = fs::read_to_string(repository().join("registry/pin.toml")).expect("the pin");
    let pin: toml::Table = text.parse().expect("TOML");
    let mut value = pin.get("counts").expect("counts");
    for part in key.split('.') {
        value = value.get(part).unwrap_or_else(|| panic!("no count {key}"));
    }
    usize::try_from(value.as_integer().expect("a number")).expect("a count")
}

/// Prints the reason of a skipped test, in a line that `make test` counts.
pub(crate) fn skip(reason: impl std::fmt::Display) {
    steady::skip(&reason.to_string());
}

/// Headers that the tests know, oldest first.
pub(crate) const HEADERS: [&str; 5] = ["1.4.319", "1.4.335", "1.4.346", "1.4.359", "1.4.366"];

/// Returns the folder with fetched XML: `VK_REGISTRY_DIR`, or `registry/input`.
pub(crate) fn xml_folder() -> PathBuf {
    env::var_os("VK_REGISTRY_DIR").map_or_else(|| repository().join("registry/input"), PathBuf::from)
}

/// Returns the path of a header's `vk.xml`. If the header was not fetched, prints that the test is skipped, and returns `None`.
pub(crate) fn fixture(header: &str) -> Option<PathBuf> {
    let path = xml_folder().join(header).join("vk.xml");
    if path.is_file() {
        return Some(path);
    }
    skip(format_args!(
        "no {}; registry/fetch.sh --fixtures brings it",
        path.display()
    ));
    None
}
