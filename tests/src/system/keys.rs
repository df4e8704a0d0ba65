//! The scene's part of the registry. Keys of the scene replace the two root keys in a child. Tests can therefore run at the same time, and
//! a test does not find the drivers and layers of other tests or of the machine.
//!
//! The folders of a search on Unix become values in the keys that list manifests, in the same order.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::ERROR_SUCCESS;
use windows_sys::Win32::System::Registry::{
    HKEY, HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE, KEY_ALL_ACCESS, REG_DWORD, RegCloseKey, RegCreateKeyExW,
    RegDeleteTreeW, RegOverridePredefKey, RegSetValueExW,
};

/// Keys that list manifests in the registry. Each key has the name of the Unix folder with the same kind of manifests. This folder is below
/// a base folder.
const LISTS: [(&str, &str); 3] = [
    ("Drivers", "vulkan/icd.d"),
    ("ExplicitLayers", "vulkan/explicit_layer.d"),
    ("ImplicitLayers", "vulkan/implicit_layer.d"),
];

/// Path of the key that contains the keys of [`LISTS`], below a root key.
const VULKAN: &str = r"SOFTWARE\Khronos\Vulkan";

/// Path of the settings file below a base folder, with the double slash of the loader on Unix, and the key whose values name settings files
/// (APP-242).
const SETTINGS: (&str, &str) = ("vulkan//loader_settings.d/vk_loader_settings.json", "LoaderSettings");

/// Writes the registry values that name the folders of manifests and the settings file, for a child. `variable` returns the values of the
/// child's environment variables. Registry values that the test wrote itself are not replaced.
pub(crate) fn register(root: &Path, variable: &dyn Fn(&str) -> Option<OsString>) {
    let machine = create(HKEY_CURRENT_USER, &format!("{}\\machine", scratch(root)));
    create(HKEY_CURRENT_USER, &format!("{}\\user", scratch(root)));
    let bases: Vec<String> = ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"]
        .into_iter()
        .filter_map(variable)
        .flat_map(|list| {
            env::split_paths(&list)
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
        })
        .filter(|base| !base.is_empty())
        .collect();
    for (name, folder) in LISTS {
        let places: Vec<String> = bases
            .iter()
            .map(|base| format!("{base}\\{folder}").replace('/', "\\"))
            .collect();
        let key = create(machine, &format!("{VULKAN}\\{name}"));
        for place in in_this_order(&places) {
            set(key, &place, 0);
        }
        close(key);
    }
    let files = bases
        .iter()
        .map(|base| format!("{base}\\{}", SETTINGS.0).replace('/', "\\"));
    if let Some(file) = files.into_iter().find(|file| Path::new(file).exists()) {
        let key = create(machine, &format!("{VULKAN}\\{}", SETTINGS.1));
        set(key, &file, 0);
        close(key);
    }
    close(machine);
}

/// Removes all keys of the scene from the registry.
pub(crate) fn unregister(root: &Path) {
    // SAFETY: the root key is a constant of the system, and the name ends with a null character. A missing key only causes an error.
    unsafe { RegDeleteTreeW(HKEY_CURRENT_USER, wide(&scratch(root)).as_ptr()) };
}

/// Replaces both root keys of this process by the scene's keys.
pub(crate) fn enter(root: &Path) {
    let keys = ["machine", "user"].map(|part| create(HKEY_CURRENT_USER, &format!("{}\\{part}", scratch(root))));
    for (place, key) in [HKEY_LOCAL_MACHINE, HKEY_CURRENT_USER].into_iter().zip(keys) {
        // SAFETY: `place` is a root key of the system, and `key` was opened before.
        assert_eq!(unsafe { RegOverridePredefKey(place, key) }, ERROR_SUCCESS);
    }
}

/// Sets the value `name` in the key of the list `list`. `part` is `machine` or `user`.
pub(crate) fn write_key(root: &Path, part: &str, list: &str, name: &str, data: &[u8]) {
    let key = create(
        HKEY_CURRENT_USER,
        &format!("{}\\{part}\\{VULKAN}\\{list}", scratch(root)),
    );
    set_bytes(key, name, REG_DWORD, data);
    close(key);
}

/// Returns the path of the key that contains all keys of a scene.
fn scratch(root: &Path) -> String {
    let name = root.file_name().expect("a scene has a folder").to_string_lossy();
    format!("Software\\VulkanLoaderTests\\{name}")
}

/// Returns the paths in a form that the registry returns in the same order. Windows keeps the order of writing. Wine sorts the values, and
/// puts a path with more slashes after the drive first. The additional slashes do not change the folder.
fn in_this_order(places: &[String]) -> Vec<String> {
    let lower: Vec<String> = places.iter().map(|place| place.to_lowercase()).collect();
    if lower.is_sorted() {
        return places.to_vec();
    }
    let more =
        |(index, place): (usize, &String)| place.replacen(':', &format!(":{}", "/".repeat(places.len() - index)), 1);
    places.iter().enumerate().map(more).collect()
}

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

fn create(parent: HKEY, name: &str) -> HKEY {
    let mut key = null_mut();
    // SAFETY: the parent key is open, the name ends with a null character, and the place for the handle is writable.
    let told = unsafe {
        RegCreateKeyExW(
            parent,
            wide(name).as_ptr(),
            0,
            null(),
            0,
            KEY_ALL_ACCESS,
            null(),
            &mut key,
            null_mut(),
        )
    };
    assert_eq!(told, ERROR_SUCCESS, "the key {name} can be made");
    key
}

fn set(key: HKEY, name: &str, number: u32) {
    set_bytes(key, name, REG_DWORD, &number.to_le_bytes());
}

fn set_bytes(key: HKEY, name: &str, kind: u32, data: &[u8]) {
    let size = u32::try_from(data.len()).expect("a value is short");
    let data = if data.is_empty() { null() } else { data.as_ptr() };
    // SAFETY: the key is open, the name ends with a null character, and the data have this size.
    let told = unsafe { RegSetValueExW(key, wide(name).as_ptr(), 0, kind, data, size) };
    assert_eq!(told, ERROR_SUCCESS, "the value {name} can be set");
}

fn close(key: HKEY) {
    // SAFETY: the key is open and is not used again.
    unsafe { RegCloseKey(key) };
}
