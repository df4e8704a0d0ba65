//! The loaded library in a child process, with wrappers for the calls of an application.
//!
//! The wrappers have safe signatures, although the caller must obey Vulkan's rules. A mistake in a test or in the library only ends the
//! child process, and the test detects the end.

mod allocator;
mod device;
#[cfg(unix)]
mod heap;
#[cfg(not(unix))]
#[path = "no_heap.rs"]
mod heap;
mod instance;
#[cfg(unix)]
mod isolated;
#[cfg(not(unix))]
#[path = "no_copies.rs"]
mod isolated;
mod messages;
mod pages;
mod shared;
mod spec;
mod window;

use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use ash::vk;

pub use allocator::Allocator;
pub use device::{Device, DeviceSpec};
pub use heap::{Heap, Refusal};
pub use instance::{Instance, members};
pub use isolated::{Ending, isolated};
pub use messages::{Message, Messages, Report, Reports};
pub use pages::Pages;
pub use shared::Shared;
pub use spec::InstanceSpec;
pub use window::{CREATE_WINDOW_SURFACE, WINDOW_SURFACE, WINDOW_SURFACES};

use crate::Scene;
use crate::library::Version;
use crate::system::{self, Library, open_library};

/// Trait of objects with a look-up function for commands.
pub trait Commands {
    /// Returns the address of the command, or 0 if the command is missing.
    fn address(&self, name: &str) -> usize;

    /// Returns the command as a function. `pfn` is the name of the command, or the name of its type, which begins with `PFN_`.
    #[track_caller]
    fn typed<F: Copy>(&self, pfn: &str) -> F {
        let name = pfn.strip_prefix("PFN_").unwrap_or(pfn);
        let address = self.address(name);
        assert!(address != 0, "{name} was not found");
        assert_eq!(size_of::<F>(), size_of::<usize>());
        // SAFETY: F is a function pointer, so it has the size of the non-null address. The type has the name of the command.
        unsafe { std::mem::transmute_copy(&address) }
    }
}

/// Calls a command that is looked up through an [`Instance`], a [`Device`] or, for exported symbols, the [`Vk`]: `call!(instance,
/// PFN_vkGetPhysicalDeviceFeatures(physical, &mut features))`. If a command has the type of another command, its own name comes first:
/// `call!(instance, "vkFeaturesEXT" as PFN_vkFeatures(..))`.
#[macro_export]
macro_rules! call {
    ($host:expr, $pfn:ident($($argument:expr),* $(,)?)) => {
        $crate::call!($host, stringify!($pfn), $pfn($($argument),*))
    };
    ($host:expr, $name:literal as $pfn:ident($($argument:expr),* $(,)?)) => {
        $crate::call!($host, $name, $pfn($($argument),*))
    };
    ($host:expr, $name:expr, $pfn:ident($($argument:expr),*)) => {{
        let command: $crate::ash::vk::$pfn = $crate::vk::Commands::typed(&$host, $name);
        // SAFETY: the address belongs to the named command, which has this type. The test is responsible for the arguments, and a mistake
        // ends only its own process.
        #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe, reason = "an argument may hold a call of its own")]
        unsafe { command($($argument),*) }
    }};
}

/// Library under test, loaded in the same way as by an application.
pub struct Vk {
    root: PathBuf,
    library: Option<Library>,
}

impl Vk {
    pub(crate) fn load(root: &Path) -> Self {
        let mut vk = Vk {
            root: root.into(),
            library: None,
        };
        vk.open();
        vk
    }

    fn open(&mut self) {
        let path = crate::under_test();
        // SAFETY: opening a library runs its constructors. The library under test is a loader, and its constructors are part of the test.
        let library = unsafe { open_library(&path) };
        system::prepare_library(&library);
        self.library = Some(library);
    }

    /// Unloads the library, runs `between`, and loads it again.
    pub fn reload(&mut self, between: impl FnOnce()) {
        self.unload();
        between();
        self.open();
    }

    /// Unloads the library.
    pub fn unload(&mut self) {
        self.library = None;
    }

    /// Returns another handle of the library under test, for tests that load and unload the library themselves.
    pub fn again(&self) -> Vk {
        Vk::load(&self.root)
    }

    /// Reports a value to the test process, which reads it with [`Outcome::said`](crate::Outcome::said).
    pub fn say(&self, key: &str, value: impl Display) {
        // Begins with a line break, because the test runner may have written a line without one.
        println!("\nsay {key}={value}");
    }

    /// Writes a mark into the journal: `== text`.
    pub fn mark(&self, text: &str) {
        Self::note(&self.root, text);
    }

    pub(crate) fn note(root: &Path, text: &str) {
        let journal = OpenOptions::new().create(true).append(true).open(root.join("journal"));
        writeln!(journal.expect("the journal can be opened"), "== {text}").expect("the journal can be written");
    }

    /// Returns the journal lines written so far.
    pub fn journal(&self) -> Vec<String> {
        let text = fs::read_to_string(self.root.join("journal")).unwrap_or_default();
        text.lines().map(String::from).collect()
    }

    /// Sets or removes a variable of this process.
    pub fn set_env(&self, name: &str, value: Option<&str>) {
        match value {
            // SAFETY: the child has one thread while its closure runs. Threads that a closure starts end before this call.
            Some(value) => unsafe { std::env::set_var(name, system::list(name, value.as_ref())) },
            // SAFETY: the child has one thread while its closure runs. Threads that a closure starts end before this call.
            None => unsafe { std::env::remove_var(name) },
        }
    }

    /// Returns the absolute path of a file of the scene.
    pub fn path(&self, relative: &str) -> PathBuf {
        system::own_path(self.root.join(relative))
    }

    /// Changes the configuration of a mock driver. The change takes effect at the driver's next call.
    pub fn configure(&self, driver: &str, change: impl FnOnce(String) -> String) {
        let path = Scene::configuration(&self.root, driver);
        let text = fs::read_to_string(&path).expect("the driver has a configuration");
        fs::write(&path, change(text)).expect("the configuration can be written");
    }

    /// Adds lines to the configuration of a mock driver.
    pub fn add_lines(&self, driver: &str, lines: &str) {
        self.configure(driver, |text| format!("{text}{lines}\n"));
    }

    /// Removes every line that begins with one of `beginnings` from the configuration of a mock driver.
    pub fn remove_lines(&self, driver: &str, beginnings: &[&str]) {
        let gone = |line: &&str| beginnings.iter().any(|beginning| line.starts_with(beginning));
        self.configure(driver, |text| {
            text.lines()
                .filter(|line| !gone(line))
                .map(|line| format!("{line}\n"))
                .collect()
        });
    }

    /// Calls the exported `vkGetInstanceProcAddr`.
    pub fn get(&self, instance: vk::Instance, name: &str) -> usize {
        let name = CString::new(name).expect("a command name holds no zero byte");
        self.get_c(instance, Some(&name))
    }

    /// Calls the exported `vkGetInstanceProcAddr` with a name of any bytes, or with NULL.
    pub fn get_c(&self, instance: vk::Instance, name: Option<&CStr>) -> usize {
        let name = name.map_or(std::ptr::null(), CStr::as_ptr);
        let found = call!(self, PFN_vkGetInstanceProcAddr(instance, name));
        found.map_or(0, |function| function as usize)
    }

    /// Returns the result of `vkEnumerateInstanceVersion`.
    pub fn version(&self) -> (u32, u32, u32) {
        let mut version = 0;
        let result = call!(self, PFN_vkEnumerateInstanceVersion(&mut version));
        assert_eq!(result, vk::Result::SUCCESS);
        (
            vk::api_version_major(version),
            vk::api_version_minor(version),
            vk::api_version_patch(version),
        )
    }

    /// Returns the instance extensions with their versions, of the loader or of a layer.
    pub fn extension_versions(&self, layer: Option<&CStr>) -> Result<Vec<(String, u32)>, vk::Result> {
        let layer = layer.map_or(std::ptr::null(), CStr::as_ptr);
        let list = two_call(|count, out| call!(self, PFN_vkEnumerateInstanceExtensionProperties(layer, count, out)))?;
        Ok(list
            .iter()
            .map(|one: &vk::ExtensionProperties| (text(&one.extension_name), one.spec_version))
            .collect())
    }

    /// Returns the names of the instance extensions.
    pub fn extensions(&self) -> Result<Vec<String>, vk::Result> {
        Ok(self
            .extension_versions(None)?
            .into_iter()
            .map(|(name, _)| name)
            .collect())
    }

    /// Returns the names of the instance layers.
    pub fn layers(&self) -> Result<Vec<String>, vk::Result> {
        let list = two_call(|count, out| call!(self, PFN_vkEnumerateInstanceLayerProperties(count, out)))?;
        Ok(list
            .iter()
            .map(|one: &vk::LayerProperties| text(&one.layer_name))
            .collect())
    }

    /// Returns a description of an instance, to which the caller adds extensions and other options.
    pub fn spec(&self) -> InstanceSpec<'_> {
        InstanceSpec::new(self)
    }

    /// Creates a 1.0 instance without extensions.
    #[track_caller]
    pub fn instance(&self) -> Instance<'_> {
        self.spec().create().expect("vkCreateInstance")
    }

    /// Creates an instance of the API version `api` with the given extensions.
    #[track_caller]
    pub fn instance_with(&self, api: &str, extensions: &[&str]) -> Instance<'_> {
        self.spec()
            .api(api)
            .extensions(extensions)
            .create()
            .expect("vkCreateInstance")
    }

    /// Returns the exported `vk_icdGetInstanceProcAddr` of a mock driver, for direct driver loading. The library remains loaded.
    pub fn direct_driver(&self, driver: &str) -> vk::PFN_vkGetInstanceProcAddrLUNARG {
        self.exported(&format!("libraries/libmock_{driver}.so"), c"vk_icdGetInstanceProcAddr")
    }

    /// Returns an exported function of a library of the scene, as a function of the type `F`. The library remains loaded.
    pub fn exported<F: Copy>(&self, library: &str, symbol: &CStr) -> F {
        let path = self.root.join(library);
        // SAFETY: the library is a mock, whose constructors have no requirements.
        let library = unsafe { open_library(&path) };
        let address = system::address(&library, symbol);
        assert!(address != 0, "the mock exports {symbol:?}");
        assert_eq!(size_of::<F>(), size_of::<usize>());
        std::mem::forget(library);
        // SAFETY: the address belongs to the function, and the caller names the function's type.
        unsafe { std::mem::transmute_copy(&address) }
    }
}

impl Commands for Vk {
    /// Returns the address of the exported symbol.
    fn address(&self, name: &str) -> usize {
        let Some(library) = &self.library else { return 0 };
        let name = CString::new(name).expect("a symbol name holds no zero byte");
        system::address(library, &name)
    }
}

impl<C: Commands> Commands for &C {
    fn address(&self, name: &str) -> usize {
        (**self).address(name)
    }
}

/// Runs a query whose count is `before` before the call. Returns the result and the new count.
pub fn count_from(before: u32, query: impl FnOnce(&mut u32) -> vk::Result) -> (vk::Result, u32) {
    let mut count = before;
    (query(&mut count), count)
}

/// Runs a query twice: first for the count, and then for the elements.
pub fn two_call<T: Default + Clone>(
    mut query: impl FnMut(&mut u32, *mut T) -> vk::Result,
) -> Result<Vec<T>, vk::Result> {
    let mut count = 0;
    query(&mut count, std::ptr::null_mut()).result()?;
    fill(count, query)
}

/// Runs the second call of a two-call query, with space for `count` elements.
pub fn fill<T: Default + Clone>(
    count: u32,
    mut query: impl FnMut(&mut u32, *mut T) -> vk::Result,
) -> Result<Vec<T>, vk::Result> {
    let (result, list) = fill_some(count, &mut query);
    result.result_with_success(list)
}

/// Runs the second call of a two-call query, and returns the written elements for every result.
pub fn fill_some<T: Default + Clone>(
    room: u32,
    mut query: impl FnMut(&mut u32, *mut T) -> vk::Result,
) -> (vk::Result, Vec<T>) {
    let mut list = vec![T::default(); room as usize];
    let mut count = room;
    let result = query(&mut count, list.as_mut_ptr());
    assert!(count <= room, "{count} elements reported for a room of {room}");
    list.truncate(count as usize);
    (result, list)
}

/// Returns the number that the mock driver returns as the address of an `opaque` command.
pub fn opaque_address(name: &str) -> usize {
    let hash = name.bytes().fold(0xcbf2_9ce4_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let hash = hash & !3;
    let wide = 0x5000_0000_0000 | u64::from(hash);
    usize::try_from(wide).unwrap_or(0x9000_0000 | (hash & 0x0fff_ffff) as usize)
}

/// Returns the text in a fixed array of a Vulkan structure.
pub fn text(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array
        .iter()
        .map(|&byte| byte as u8)
        .take_while(|&byte| byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the result of `vkEnumerateInstanceVersion` of a library.
pub(crate) fn version_of(library: &Path) -> Version {
    // SAFETY: every test runs the constructors of this library, which is a Vulkan loader.
    let library = Some(unsafe { open_library(library) });
    let vk = Vk {
        root: PathBuf::new(),
        library,
    };
    vk.version().into()
}
