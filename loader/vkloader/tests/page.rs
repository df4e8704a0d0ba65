//! Tests of the page of `vkloader explain --html` in a real browser, if one is installed.

mod machine;

use browser::{Page, Scheme};
use machine::{Machine, library, skip};
use std::collections::BTreeMap;

/// Returns the HTML page for a machine with a working driver, a failing driver, and a layer that cannot be opened.
fn page() -> String {
    let machine = Machine::new();
    machine.driver("good", "device <b>one\ndevice two");
    machine.manifest("gone", "/nowhere/libgone.so".as_ref(), "");
    machine.layer("gone");
    let file = machine.path("page.html");
    let paths = [&file, &library()].map(|path| path.to_str().expect("a plain path").to_owned());
    let output = machine.run(&["explain", "--html", &paths[0], "--library", &paths[1]]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::read_to_string(file).expect("the page is there")
}

/// Returns the most frequent colour, and the number of pixels with other colours.
fn ground(colours: &BTreeMap<[u8; 3], usize>) -> ([u8; 3], usize) {
    let (ground, count) = colours
        .iter()
        .max_by_key(|(_, count)| **count)
        .expect("a picture has pixels");
    (*ground, colours.values().sum::<usize>() - count)
}

#[test]
fn the_page_is_light_or_dark_as_its_reader_prefers() {
    let page = Page::new(&page());
    let (Some(light), Some(dark)) = (page.colours(Scheme::Light), page.colours(Scheme::Dark)) else {
        return skip("no chromium on this machine; the page was not looked at");
    };
    for (colours, is_expected) in [(&light, [255, 255, 255]), (&dark, [0x14, 0x17, 0x1b])] {
        let (ground, others) = ground(colours);
        assert_eq!(ground, is_expected);
        assert!(
            others > 50_000 && colours.len() > 50,
            "{others} pixels in {} colours are no page",
            colours.len()
        );
    }
}

#[test]
fn the_page_needs_nothing_else_and_names_are_no_markup() {
    let page = page();
    for outside in ["src=", "href=", "@import", "url(h", "http://", "https://", "<script"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("&lt;b&gt;one") && !page.contains("<b>one"));
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(at("<svg") < at("Devices, in the order") && at("Devices, in the order") < at("Left out, or in the way"));
    assert!(
        page[at("<svg")..at("</svg>")].contains("class=\"out\""),
        "what was left out is greyed"
    );
}

#[test]
fn names_do_not_act_on_the_page_and_devices_are_coloured_as_they_stand() {
    let machine = Machine::new();
    machine.driver(
        "soft",
        "device so\u{202E}ft\ndevice.type 4\ndevice bad\x1b[31m\nfail vkCreateDevice -3 1 1",
    );
    let file = machine.path("page.html");
    let paths = [&file, &library()].map(|path| path.to_str().expect("a plain path").to_owned());
    machine.run(&["explain", "--html", &paths[0], "--library", &paths[1]]);
    let page = std::fs::read_to_string(file).expect("the page is there");
    assert!(!page.contains('\u{202E}') && !page.contains('\x1b') && page.contains("\\u{202e}"));
    assert!(page.contains("<main>") && page.contains("</main>"));
    for (class, name) in [("software", "so\\u{202e}ft"), ("bad", "bad\\u{1b}")] {
        let heading = page.lines().find(|line| line.contains("<h3") && line.contains(name));
        assert!(
            heading.is_some_and(|line| line.contains(&format!("class=\"{class}\""))),
            "{class}: {heading:?}"
        );
        assert!(page.contains(&format!("<g class=\"{class}\">")), "{class}");
    }
}

#[test]
fn boxes_of_the_narrow_picture_are_below_each_other() {
    let page = page();
    let narrow = &page[page.find("picture narrow").expect("a second picture")..];
    let svg = &narrow[..narrow.find("</svg>").expect("an end")];
    let width: usize = svg
        .split("width=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .and_then(|width| width.parse().ok())
        .expect("a width");
    assert!(width <= 375 - 32, "{width}");
    let tops: Vec<usize> = svg
        .split("<rect x=")
        .skip(1)
        .filter_map(|rest| rest.split("y=\"").nth(1)?.split('"').next()?.parse().ok())
        .collect();
    assert!(
        tops.len() >= 5 && tops.windows(2).all(|pair| pair[0] < pair[1]),
        "{tops:?}"
    );
}
