//! The page of `diff --html`, looked at in a real browser: headless Chromium, where it is installed.

mod common;

use common::{Scratch, policy, reduced, registry, skip};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use vkgen::diff::{self, Side};

/// A page between the reduced registry and one with a command less, a changed one and a new extension.
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

const BROWSERS: [&str; 2] = ["chromium", "chromium-browser"];
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Runs the browser on a page and gives its standard output; none, with a message, where there is no browser.
fn browse(folder: &Path, arguments: &[String]) -> Option<String> {
    let mut child = BROWSERS.iter().find_map(|browser| {
        Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args([
                "--hide-scrollbars",
                "--force-color-profile=srgb",
                "--window-size=1000,1400",
            ])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()
    })?;
    let mut output = child.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).map(|_| text)
    });
    let begin = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begin.elapsed() > TIME_LIMIT {
            child.kill().expect("it ends");
            panic!("the browser did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(reader.join().expect("the reader").expect("UTF-8"))
}

/// A file of the page in a folder, and its address.
fn served() -> (Scratch, String) {
    let scratch = Scratch::new();
    let file = scratch.path().join("page.html");
    fs::write(&file, page()).expect("the page");
    let address = format!("file://{}", file.display());
    (scratch, address)
}

/// Pixels by colour.
fn colours(png: &Path) -> BTreeMap<[u8; 3], usize> {
    let file = std::io::BufReader::new(fs::File::open(png).expect("a screenshot"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("a frame");
    assert_eq!((info.width, info.height), (1000, 1400));
    let mut found = BTreeMap::new();
    for pixel in pixels[..info.buffer_size()].chunks_exact(info.color_type.samples()) {
        *found.entry([pixel[0], pixel[1], pixel[2]]).or_default() += 1;
    }
    found
}

#[test]
fn the_page_is_not_blank_and_breaking_changes_are_red() {
    let (scratch, address) = served();
    let shot = scratch.path().join("page.png");
    let arguments = [format!("--screenshot={}", shot.display()), address];
    if browse(scratch.path(), &arguments).is_none() {
        return skip("no chromium on this machine; the page was not looked at");
    }
    let colours = colours(&shot);
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
    let (scratch, address) = served();
    let shown = |filter: &str| {
        let address = format!("{address}#filter={filter}");
        let page = browse(scratch.path(), &["--dump-dom".to_owned(), address])?;
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
    // The removed command, its export, and the changed one.
    let urgent = &page[at("Breaking changes (")..at("<h2>Summary</h2>")];
    for name in ["vkGetQueryPoolResults", "vkCmdSetBlendConstants"] {
        assert!(urgent.contains(&format!("<code>{name}</code>")), "{name}");
    }
    assert!(!urgent.contains("VK_ACME_sword") && page.contains("<code>VK_ACME_sword</code>"));
    assert!(page.contains("data-change=\"removed\"") && page.contains("number of arguments: 2 -&gt; 1"));
}
