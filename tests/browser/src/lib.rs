//! Opens pages in headless Chromium, on machines with this browser.
//!
//! If there is no browser, functions return `None`. The test then prints a message, and is reported as skipped.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BROWSERS: [&str; 2] = ["chromium", "chromium-browser"];
const TIME_LIMIT: Duration = Duration::from_secs(60);
const ALWAYS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
];

/// Width and height of the window in pixels.
pub const WINDOW: (u32, u32) = (1000, 1400);

/// Colour scheme that the reader of a page prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Dark text on a light page.
    Light,
    /// Light text on a dark page.
    Dark,
}

/// Page in a temporary folder.
pub struct Page {
    folder: tempfile::TempDir,
}

impl Page {
    /// Creates the page with this text.
    ///
    /// # Panics
    /// Panics if there is no space for temporary files.
    pub fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("page.html"), text).expect("the page");
        Self { folder }
    }

    /// Returns the number of pixels for each colour of the first visible part of the page, or `None` if there is no browser.
    ///
    /// # Panics
    /// Panics if the browser does not end, or writes no picture of the window.
    pub fn colours(&self, scheme: Scheme) -> Option<BTreeMap<[u8; 3], usize>> {
        let shot = self.folder.path().join("page.png");
        let mut arguments = vec![format!("--screenshot={}", shot.display())];
        if scheme == Scheme::Dark {
            arguments.push("--blink-settings=preferredColorScheme=0".into());
        }
        self.browse(&arguments, "")?;
        let file = std::io::BufReader::new(fs::File::open(&shot).expect("a screenshot"));
        let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("a frame");
        assert_eq!((info.width, info.height), WINDOW);
        let mut found = BTreeMap::new();
        for pixel in pixels[..info.buffer_size()].chunks_exact(info.color_type.samples()) {
            *found.entry([pixel[0], pixel[1], pixel[2]]).or_default() += 1;
        }
        Some(found)
    }

    /// Returns the document after its scripts have run, or `None` if there is no browser. The address of the page has `fragment` after `#`.
    ///
    /// # Panics
    /// Panics if the browser does not end.
    pub fn document(&self, fragment: &str) -> Option<String> {
        self.browse(&["--dump-dom".into()], fragment)
    }

    /// Runs the browser and returns its standard output, or `None` if there is no browser.
    fn browse(&self, arguments: &[String], fragment: &str) -> Option<String> {
        let folder = self.folder.path();
        let (width, height) = WINDOW;
        let mut child = BROWSERS.iter().find_map(|browser| {
            Command::new(browser)
                .args(ALWAYS)
                .arg(format!("--window-size={width},{height}"))
                .arg(format!("--user-data-dir={}", folder.join("profile").display()))
                .args(arguments)
                .arg(format!("file://{}#{fragment}", folder.join("page.html").display()))
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
}
