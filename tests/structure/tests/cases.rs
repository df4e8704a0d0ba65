//! Tests the check itself on small trees.

use std::path::Path;
use structure::list::differences;

/// Checks a crate that consists of the named files. The first file is the root.
fn look(files: &[(&str, &str)], list: &str) -> Vec<String> {
    let list = format!("[[crate]]\nname = \"c\"\nroot = \"lib.rs\"\n{list}");
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    differences(&list, &read).expect("the tree is Rust and the list is TOML")
}

fn by_file(files: &[(&str, &str)]) -> Vec<String> {
    look(files, "modules = \"file\"")
}

const ROOT: (&str, &str) = ("lib.rs", "mod a;\nmod b;\n");

#[test]
fn a_circle_is_shown_with_what_ties_it() {
    let files = [
        ROOT,
        ("a.rs", "use crate::b::Second;\npub struct First(Second);\n"),
        ("b.rs", "pub struct Second;\nfn f(_: super::a::First) {}\n"),
    ];
    let expected = "c: a circle that the list lacks: a, b\n    a.rs -> b: Second\n    b.rs -> a: First";
    assert_eq!(by_file(&files), [expected]);
}

#[test]
fn a_macro_hides_nothing() {
    let call = (
        "a.rs",
        "fn f() {\n    assert_eq!(1 + crate::b::g(), 2, \"{}\", [crate::b::X]);\n}\n",
    );
    for other in [
        "macro_rules! m {\n    () => { $crate::a::f() };\n}\n",
        "use super::a;\nfn g() {\n    println!(\"{}\", a::f());\n}\n",
        "fn g() {\n    super::a::declared!();\n}\n",
    ] {
        let found = by_file(&[ROOT, call, ("b.rs", other)]);
        assert!(
            matches!(found.as_slice(), [one] if one.contains("a.rs -> b: X, g")),
            "{other}{found:?}"
        );
    }
}

#[test]
fn imports_are_followed_to_where_a_thing_is_declared() {
    // `b` imports an item of `a` through the parent of `a`.
    let folder = [
        ("lib.rs", "mod b;\nmod folder;\n"),
        (
            "folder/mod.rs",
            "mod a;\nmod other;\npub use a::*;\npub use other::other;\n",
        ),
        (
            "folder/a.rs",
            "pub fn f() {\n    use crate::b as bee;\n    bee::g();\n}\n",
        ),
        ("folder/other.rs", "pub fn other() {}\n"),
    ];
    let with = |text| by_file(&[folder.as_slice(), &[("b.rs", text)]].concat());
    let found = with("pub fn g() {\n    crate::folder::f();\n}\n");
    assert!(
        matches!(found.as_slice(), [one] if one.starts_with("c: a circle that the list lacks: b, folder::a\n")),
        "{found:?}"
    );
    // Another item of the folder causes no cycle, although the parent re-exports both items.
    assert!(with("pub fn g() {\n    crate::folder::other();\n}\n").is_empty());
}

#[test]
fn a_parent_may_pass_on_what_its_children_have_but_not_give_them_what_it_has() {
    let child = ("a.rs", "use super::Shared;\npub fn f(_: Shared) {}\n");
    let parent = |text| by_file(&[("lib.rs", text), child]);
    assert!(parent("mod a;\npub use a::f;\npub struct Shared;\n").is_empty());
    for text in [
        "mod a;\npub struct Shared;\nfn g() {\n    a::f(Shared);\n}\n",
        "mod a;\npub use a::f;\npub struct Shared;\nfn g() {\n    f(Shared);\n}\n",
        "mod a;\nuse a::f;\npub struct Shared;\n",
    ] {
        assert_eq!(parent(text).len(), 1, "{text}");
    }
}

#[test]
fn neither_tests_nor_the_words_of_other_programs_count() {
    let files = [
        ROOT,
        (
            "a.rs",
            "use std::fmt;\npub fn f(b: u8) -> u8 {\n    b\n}\npub fn g() -> T {\n    quote!(crate::b::h())\n}\n",
        ),
        (
            "b.rs",
            "use crate::a::f;\n#[cfg(test)]\nmod tests;\npub fn h() {}\n#[cfg(all(test, unix))]\nfn i() {\n    crate::a::f();\n}\n",
        ),
    ];
    assert!(by_file(&files).is_empty());
    let files = [
        ROOT,
        (
            "a.rs",
            "pub fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::b::g;\n}\nimpl T {\n    #[cfg(test)]\n    fn t() {\n        crate::b::g();\n    }\n}\n",
        ),
        (
            "b.rs",
            "pub(in crate::a) fn g() {\n    crate::a::f();\n    #[cfg(not(test))]\n    crate::a::f();\n}\n",
        ),
    ];
    assert!(by_file(&files).is_empty());
}

#[test]
fn a_module_without_a_file_belongs_to_the_file() {
    let files = [
        ROOT,
        (
            "a.rs",
            "fn f() {}\nmod inner {\n    use super::f;\n    use super::super::b::g;\n    fn h() {\n        super::f();\n    }\n}\n",
        ),
        ("b.rs", "pub fn g() {\n    crate::a::inner::h();\n}\n"),
    ];
    assert_eq!(by_file(&files).len(), 1);
}

#[test]
fn larger_parts_are_looked_at_as_one() {
    let files = [
        ("lib.rs", "mod a;\n#[path = \"elsewhere/b.rs\"]\nmod b;\n"),
        ("a.rs", "mod x;\nmod y;\n"),
        ("a/x.rs", "fn f() {\n    super::y::g();\n    crate::b::h();\n}\n"),
        ("a/y.rs", "fn g() {\n    super::x::f();\n}\n"),
        ("elsewhere/b.rs", "fn h() {}\nfn i() {\n    crate::a::y::g();\n}\n"),
    ];
    let first = |list: &str| {
        let found = look(&files, list);
        found
            .iter()
            .filter_map(|it| it.lines().next())
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert_eq!(
        first("modules = \"file\""),
        "c: a circle that the list lacks: a::x, a::y, b"
    );
    assert_eq!(first("modules = \"top\""), "c: a circle that the list lacks: a, b");
    assert_eq!(first("modules = \"top\"\noutside = [\"b\"]"), "");
}

#[test]
fn the_list_says_neither_too_little_nor_too_much() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod d;\n"),
        ("a.rs", "use crate::b::g;\npub fn f() {}\n"),
        ("b.rs", "pub fn g() {\n    crate::a::f();\n}\n"),
        ("d.rs", "use crate::a::f;\n"),
    ];
    let with = |name: &str, modules: &str, reason: &str| {
        look(
            &files,
            &format!(
                "modules = \"file\"\n[[cycle]]\ncrate = \"{name}\"\nmodules = [{modules}]\nreason = \"{reason}\"\n"
            ),
        )
    };
    assert!(with("c", "\"a\", \"b\"", "so it is").is_empty());
    assert_eq!(with("c", "\"a\", \"b\"", " "), ["c: the circle of a, b has no reason"]);
    let found = with("c", "\"a\", \"b\", \"d\"", "so it was");
    assert_eq!(
        found[1],
        "c: the list has a circle of a, b, d; what is left of it: a, b"
    );
    let found = with("c", "\"d\", \"x\"", "so it was");
    assert_eq!(found[1], "c: the list has a circle of d, x; what is left of it: none");
    let found = with("e", "\"a\", \"b\"", "so it is");
    assert_eq!(found[0], "the list has a circle of e, which is no crate of the list");
}
