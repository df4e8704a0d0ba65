//! Fuzzes the settings file. The loader must use the file as a whole or not at all, and limit the number of its layers and drivers. `/self`
//! in the text means the running executable.
#![no_main]

use std::sync::LazyLock;

use discovery::drivers::DriverScan;
use discovery::env::Environment;
use discovery::journal::{Journal, LogBits};
use discovery::layers::{Extent, LayerScan};
use discovery::search::Executable;
use discovery::search::Search;
use discovery::settings::{Control, Settings, load};
use libfuzzer_sys::fuzz_target;
use loader_fuzz::{Files, Lines, Variables, check_json, twice};

const FILE: &str = "config/vulkan/loader_settings.d/vk_loader_settings.json";
const DRIVER: &[u8] = br#"{"file_format_version":"1.0.1","ICD":{"library_path":"./d.so","api_version":"1.3.0"}}"#;
const LAYER: &[u8] = br#"{"file_format_version":"1.2.0","layer":{"name":"VK_LAYER_good","type":"GLOBAL",
    "library_path":"./l.so","api_version":"1.1.0","implementation_version":"1","description":"good"}}"#;

static FILES: LazyLock<Files> = LazyLock::new(|| {
    let files = Files::create();
    files.write("drivers/z.json", DRIVER);
    files.write("explicit/z.json", LAYER);
    // Relative paths of a settings file start at this folder.
    std::env::set_current_dir(files.root()).expect("the folder is there");
    files
});

static EXECUTABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let running = Executable::running();
    running.path().map(|path| path.as_bytes().to_vec()).unwrap_or_default()
});

fn variables() -> Variables {
    Variables::none()
        .with("XDG_CONFIG_HOME", FILES.text("config"))
        .with("XDG_DATA_HOME", FILES.text("empty"))
        .with("XDG_CONFIG_DIRS", FILES.text("empty"))
        .with("XDG_DATA_DIRS", FILES.text("empty"))
        .with("VK_DRIVER_FILES", FILES.text("drivers"))
        .with("VK_IMPLICIT_LAYER_PATH", FILES.text("empty"))
        .with("VK_LAYER_PATH", FILES.text("explicit"))
}

/// Returns the settings, and the messages that were logged while the loader read and described the settings.
fn read(environment: &Environment<'_>) -> (Option<Settings>, Vec<(LogBits, Vec<u8>)>) {
    let lines = Lines::default();
    let mut journal = Journal::new(&lines);
    let settings = load(&Search::new(environment), &mut journal).expect("memory suffices");
    if let Some(settings) = &settings {
        settings.describe(&journal);
    }
    (settings, lines.take())
}

/// Checks the layers that result from the settings. If the settings list layers, the list decides the order, and only layers that are `on`
/// are forced on.
fn check_layers(environment: &Environment<'_>, settings: Option<&Settings>) {
    let lines = Lines::default();
    let scan = LayerScan {
        search: &Search::new(environment),
        settings,
        executable: &Executable::running(),
    };
    let list = twice(|| {
        scan.run(Extent::All, &mut Journal::new(&lines))
            .expect("memory suffices")
    });
    let Some(entries) = settings.and_then(|settings| settings.layers.as_ref()) else {
        assert!(list.find(b"VK_LAYER_good").is_some(), "nothing says otherwise");
        return;
    };
    assert!(list.ordered_by_settings);
    if !entries.iter().any(|entry| entry.control == Control::Unordered) {
        assert!(list.layers.len() <= entries.len(), "only what the file lists");
    }
    for (layer, _) in list
        .layers
        .iter()
        .zip(&list.forced_on)
        .filter(|(_, forced_on)| **forced_on)
    {
        let name = &layer.name;
        assert!(
            entries
                .iter()
                .any(|entry| entry.control == Control::On && entry.name == *name)
        );
    }
}

/// Checks the drivers that result from the settings. The valid driver must be among them, unless the settings have exclusive drivers or
/// configured devices.
fn check_drivers(environment: &Environment<'_>, settings: Option<&Settings>) {
    let lines = Lines::default();
    let scan = DriverScan {
        search: &Search::new(environment),
        settings,
        with_portability: true,
    };
    let mut good = false;
    let mut journal = Journal::new(&lines);
    let listing = scan.list(&mut journal).expect("memory suffices");
    let result = scan.run(&listing, &mut journal, |driver, _| {
        good |= driver.path.ends_with(b"/drivers/z.json");
        Ok(())
    });
    result.expect("memory suffices");
    let hidden = settings
        .is_some_and(|settings| settings.additional_drivers_exclusive || settings.device_configurations.is_some());
    assert!(good || hidden, "the good driver is found");
}

fuzz_target!(|text: &[u8]| {
    check_json(text);
    let marks: Vec<usize> = (0..text.len())
        .filter(|&at| text[at..].starts_with(b"/self"))
        .take(4)
        .collect();
    let mut written = text.to_vec();
    for at in marks.into_iter().rev() {
        written.splice(at..at + 5, EXECUTABLE.iter().copied());
    }
    FILES.write(FILE, &written);
    let variables = variables();
    let environment = Environment::new(&variables);
    let (settings, _) = twice(|| read(&environment));
    if let Some(settings) = &settings {
        let active = !settings.log_mask.is_empty()
            || settings.layers.is_some()
            || !settings.additional_drivers.is_empty()
            || settings.device_configurations.is_some()
            || !settings.visible_devices.is_empty()
            || !settings.driver_policies.is_empty();
        assert!(active, "settings that do nothing are none");
    }
    check_layers(&environment, settings.as_ref());
    check_drivers(&environment, settings.as_ref());
});
