//! Tests of the HTML page of `diff --html` in headless Chromium, if Chromium is installed.

use crate::common::{policy, reduced, registry, skip};
use browser::{Page, Scheme};
use std::fs;
use vkgen::diff::{self, Side};

/// Returns the page about the differences between the reduced registry and a changed registry. The changed registry lacks a command, and
/// has a changed command and a new extension.
fn page() -> String {
    let old = registry(&reduced().join("snapshot"));
    let mut new = old.clone();
    new.header.patch += 1;
    new.commands
        .remove("vkGetQueryPoolResults")
        .expect("a command of the reduced registry");
    let changed = new.commands.get_mut("vkCmdSetBlendConstants").expect("another one");
    changed.params.pop();
    let mut extension = new.extensions.values().next().expect("an extension").clone();
    extension.name = "VK_ACME_sword".to_owned();
    new.extensions.insert(extension.name.clone(), extension);
    let side = |registry| Side {
        registry,
        unknown: Vec::new(),
    };
    let policy_text = fs::read_to_string(reduced().join("policy.toml")).expect("its policy");
    diff::html(&diff::compare(&side(old), &side(new), &policy(&policy_text)))
}

#[test]
fn the_page_is_not_blank_and_breaking_changes_are_red() {
    let Some(colours) = Page::new(&page()).colours(Scheme::Light) else {
        return skip("no chromium on this machine; the page was not looked at");
    };
    let total: usize = colours.values().sum();
    let background = colours.values().max().copied().unwrap_or(0);
    assert!(colours.len() > 20, "{} colours are a blank page", colours.len());
    assert!(
        background < total * 98 / 100,
        "{background} of {total} pixels are background"
    );
    let is_red = |[red, green, blue]: &[u8; 3]| *red > 150 && *green < 90 && *blue < 90;
    let red: usize = colours
        .iter()
        .filter(|(colour, _)| is_red(colour))
        .map(|(_, count)| count)
        .sum();
    assert!(red > 500, "{red} red pixels are no frame around the breaking changes");
}

#[test]
fn the_filter_hides_rows_and_counts_the_rest() {
    let page = Page::new(&page());
    let shown = |filter: &str| {
        let page = page.document(&format!("filter={filter}"))?;
        let output = page.split("id=\"shown\">").nth(1)?.split('<').next()?.to_owned();
        let hidden = page.matches(" hidden=\"\"").count();
        Some((output, hidden))
    };
    let Some((all, hidden)) = shown("") else {
        return skip("no chromium on this machine; the filter was not tried");
    };
    let (_, total) = all.split_once(" of ").expect("N of N");
    let total: usize = total.parse().expect("a number");
    assert_eq!((all.as_str(), hidden), (format!("{total} of {total}").as_str(), 0));
    let (some, hidden) = shown("VKGETQUERY").expect("it ran before");
    let (count, _) = some.split_once(" of ").expect("N of N");
    let count: usize = count.parse().expect("a number");
    assert!(0 < count && count < total, "{some}");
    assert_eq!(hidden, total - count);
    assert_eq!(shown("juggle").expect("it ran before").0, format!("0 of {total}"));
}

#[test]
fn the_page_is_self_contained_and_breaking_changes_come_first() {
    let page = page();
    for outside in ["src=", "href=", "@import", "url(", "http://", "https://"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(at("Breaking changes (") < at("<h2>Summary</h2>"));
    assert!(at("<h2>Summary</h2>") < at("<h2>Everything that differs</h2>"));
    // The breaking changes are the removed command, its export, and the changed command.
    let urgent = &page[at("Breaking changes (")..at("<h2>Summary</h2>")];
    for name in ["vkGetQueryPoolResults", "vkCmdSetBlendConstants"] {
        assert!(urgent.contains(&format!("<code>{name}</code>")), "{name}");
    }
    assert!(!urgent.contains("VK_ACME_sword") && page.contains("<code>VK_ACME_sword</code>"));
    assert!(page.contains("data-change=\"removed\"") && page.contains("number of arguments: 2 -&gt; 1"));
}
