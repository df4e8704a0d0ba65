//! Layers of the library: their configuration, their data about objects, and their journal.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use ash::vk;

use crate::abi::{DeviceCallbacks, GetPhysicalDeviceProcAddr, SetDeviceLoaderData};
use crate::config::Config;
use crate::exclusive::Exclusive;
use crate::journal;
use crate::system::library_path;

/// Number of layers in the library (LAY-216).
pub(crate) const IDENTITIES: usize = 4;

/// Data of this layer about an instance.
#[derive(Clone)]
pub(crate) struct InstanceRecord {
    /// Handle that the next layer or the loader created.
    pub(crate) handle: vk::Instance,
    pub(crate) next: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) next_physical: Option<GetPhysicalDeviceProcAddr>,
    pub(crate) callbacks: DeviceCallbacks,
    /// Devices that the layer created through the callback, each with the look-up function of the next layer.
    pub(crate) extra_devices: Vec<(vk::Device, vk::PFN_vkGetDeviceProcAddr)>,
    /// Instance that the layer created through the loader's exported functions.
    pub(crate) own_instance: vk::Instance,
    /// Version of Vulkan that the application asked for; 0 for no version.
    pub(crate) version: u32,
}

/// Data of this layer about a device.
#[derive(Clone)]
pub(crate) struct DeviceRecord {
    /// Handle that the next layer or the loader created.
    pub(crate) handle: vk::Device,
    pub(crate) next: vk::PFN_vkGetDeviceProcAddr,
    /// Dispatch word of the device's instance.
    pub(crate) instance: usize,
    /// Callback that writes the dispatch word into an object of the device.
    pub(crate) set_loader_data: Option<SetDeviceLoaderData>,
    /// Extra devices, which are destroyed together with this device.
    pub(crate) extra_devices: Vec<(vk::Device, vk::PFN_vkGetDeviceProcAddr)>,
}

/// Data about the objects of a layer. Keys are the dispatch words of objects. All objects of an instance or device have the same dispatch
/// word (LAY-250).
#[derive(Default)]
pub(crate) struct State {
    pub(crate) instances: BTreeMap<usize, InstanceRecord>,
    pub(crate) devices: BTreeMap<usize, DeviceRecord>,
    /// Functions of the next layer that were looked up, by dispatch word and name.
    pub(crate) known: BTreeMap<(usize, CString), unsafe extern "system" fn()>,
    /// Maps a wrapper to the inner handle and dispatch word. The map contains a copy of the word, because the loader writes the word in the
    /// wrapper without holding the layer's lock.
    pub(crate) wrappers: BTreeMap<usize, (usize, usize)>,
    /// Maps an inner handle to its wrapper.
    pub(crate) wrapped: BTreeMap<usize, usize>,
}

/// One of the layers in the library.
pub(crate) struct Layer {
    pub(crate) identity: usize,
    pub(crate) config: Config,
    name: String,
    state: Mutex<State>,
    /// `true` while the layer creates an instance for itself, so that this creation does not create another instance.
    pub(crate) inside_own: AtomicBool,
}

impl Layer {
    /// Returns the name of the layer for the journal and for `vkEnumerateDeviceExtensionProperties`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes an event to the journal. Does nothing if the configuration names no journal.
    pub(crate) fn journal(&self, event: &str) {
        if let Some(path) = self.config.text("journal") {
            journal::append(path, &self.name, event);
        }
    }

    /// Returns the objects that the layer knows. The caller must release the lock before a call out of the library.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the layer wraps every dispatchable object (LAY-252).
    pub(crate) fn wraps(&self) -> bool {
        self.config.flag("wrap")
    }

    /// Marks this thread as the only one that may run a checked command of the layer, until the result is dropped. The process ends if
    /// another thread also calls this function. Does nothing without the configuration line `exclusive`.
    pub(crate) fn exclusive(&self, command: &str) -> Option<Exclusive> {
        self.config
            .flag("exclusive")
            .then(|| Exclusive::enter(self.name(), command))
    }

    /// Returns the next layer's handle for a handle that this layer returned to the application or to a layer before it.
    pub(crate) fn inner(&self, handle: usize) -> usize {
        self.state().wrappers.get(&handle).map_or(handle, |(inner, _)| *inner)
    }

    /// Returns the instance with the dispatch word `key`.
    pub(crate) fn instance(&self, key: usize) -> Option<InstanceRecord> {
        self.state().instances.get(&key).cloned()
    }

    /// Returns the device with the dispatch word `key`.
    pub(crate) fn device(&self, key: usize) -> Option<DeviceRecord> {
        self.state().devices.get(&key).cloned()
    }

    /// Returns the next layer's function for an object with dispatch word `key`. Stores the first result, like real layers. A loader can
    /// later return the function of a layer that is closer to the application. With `late-lookup`, looks up the function each time.
    pub(crate) fn below(&self, key: usize, name: &CStr) -> vk::PFN_vkVoidFunction {
        let entry = (key, name.to_owned());
        if let Some(known) = self.state().known.get(&entry) {
            return Some(*known);
        }
        let found = self.look_up(key, name)?;
        if !self.config.flag("late-lookup") {
            self.state().known.insert(entry, found);
        }
        Some(found)
    }

    /// Looks up a function of the next layer.
    fn look_up(&self, key: usize, name: &CStr) -> vk::PFN_vkVoidFunction {
        if let Some(device) = self.device(key) {
            if self.config.lists("through-instance", &name.to_string_lossy()) {
                let instance = self.instance(device.instance)?;
                // SAFETY: the look-up function comes from the loader's instance link, and the next layer created the instance.
                return unsafe { (instance.next)(instance.handle, name.as_ptr()) };
            }
            // SAFETY: the look-up function comes from the loader's device link, and the next layer created the device.
            return unsafe { (device.next)(device.handle, name.as_ptr()) };
        }
        let instance = self.instance(key)?;
        // SAFETY: the look-up function comes from the loader's instance link, and the next layer created the instance.
        let found = unsafe { (instance.next)(instance.handle, name.as_ptr()) };
        match (found, instance.next_physical) {
            // SAFETY: this look-up function comes from the same link as the other, and the next layer created the instance.
            (None, Some(physical)) => unsafe { physical(instance.handle, name.as_ptr()) },
            _ => found,
        }
    }

    /// Removes the instance or device with dispatch word `key`.
    pub(crate) fn forget(&self, key: usize) {
        let mut state = self.state();
        state.instances.remove(&key);
        state.devices.remove(&key);
        state.known.retain(|(owner, _), _| *owner != key);
    }
}

static LAYERS: [RwLock<Option<Arc<Layer>>>; IDENTITIES] = [const { RwLock::new(None) }; IDENTITIES];

/// Returns the layer with this number. The first call creates the layer from the configuration.
pub(crate) fn layer(identity: usize) -> Arc<Layer> {
    let slot = &LAYERS[identity];
    if let Some(layer) = slot.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        return Arc::clone(layer);
    }
    let path = library_path();
    let text = std::fs::read_to_string(path.with_extension("conf")).unwrap_or_default();
    let config = Config::parse(&text, identity);
    let name = match config.text("name") {
        Some(name) => name.to_owned(),
        None => format!("{}:{identity}", path.file_stem().unwrap_or_default().to_string_lossy()),
    };
    let made = Layer {
        identity,
        config,
        name,
        state: Mutex::default(),
        inside_own: AtomicBool::new(false),
    };
    Arc::clone(
        slot.write()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| Arc::new(made)),
    )
}

/// Frees the data of all layers before the library is unloaded.
pub(crate) fn forget() {
    for slot in &LAYERS {
        *slot.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns the first word of a dispatchable object.
///
/// # Safety
/// `object` is a valid dispatchable handle or wrapper.
pub(crate) unsafe fn dispatch_word(object: usize) -> usize {
    // SAFETY: every dispatchable object starts with a pointer (LAY-250).
    unsafe { *(object as *const usize) }
}

/// Returns the result of a look-up as a function of type `F`.
///
/// # Safety
/// `F` is the function pointer type of the command that was looked up.
pub(crate) unsafe fn typed<F: Copy>(found: vk::PFN_vkVoidFunction) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    // SAFETY: both types are function pointers of the same size, and the caller promises that `F` is the type of the command.
    found.map(|function| unsafe { std::mem::transmute_copy(&function) })
}
