//! Unusual requests of a layer to the loader, and calls with an object of the layer in place of a device (APP-186).
//!
//! The requests are:
//!
//! - the look-up of the next layer's functions, with and without an instance (LAY-240, LAY-241);
//! - the look-up of `vkGetDeviceProcAddr` by its own name (APP-49);
//! - the use of the loader's structures until the call returns (LAY-232);
//! - calls of the loader-data callbacks with an instance or device that the loader did not create (LAY-251).

use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};

use ash::vk;
use ash::vk::Handle;

use crate::abi::{SetDeviceLoaderData, SetInstanceLoaderData};
use crate::instance::GARBAGE;
use crate::layer::{InstanceRecord, Layer, typed};

/// Calls both look-up functions of the next layer for each name in an `ask` line, first without an instance.
///
/// # Safety
/// The record's instance is valid.
pub(crate) unsafe fn ask(layer: &Layer, record: &InstanceRecord) {
    for text in layer.config.all("ask") {
        let Ok(name) = CString::new(text) else { continue };
        let answers = [vk::Instance::null(), record.handle].map(|handle| {
            // SAFETY: the look-up functions come from the link, and the handle is null or was created by the next layer.
            let plain = unsafe { (record.next)(handle, name.as_ptr()) };
            let physical = record
                .next_physical
                // SAFETY: this look-up function comes from the link too, and accepts a null handle.
                .and_then(|next| unsafe { next(handle, name.as_ptr()) });
            (plain.is_some(), physical.is_some())
        });
        let [(null, physical_null), (own, physical)] = answers;
        layer.journal(&format!(
            "ask {text} null={null} own={own} physical-null={physical_null} physical={physical}"
        ));
    }
}

/// Looks up the next layer's three global queries without an instance, and calls them. The list queries only return counts.
///
/// # Safety
/// The record's look-up must come from the link.
pub(crate) unsafe fn call_globals(layer: &Layer, record: &InstanceRecord) {
    if !layer.config.flag("call-globals") {
        return;
    }
    // SAFETY: the look-up function accepts a null instance.
    let find = |name: &CStr| unsafe { (record.next)(vk::Instance::null(), name.as_ptr()) };
    let (mut version, mut layers, mut extensions) = (0, 0, 0);
    // SAFETY: the look-up function returned a function of the command's type, and null lists are allowed.
    let results = unsafe {
        [
            typed::<vk::PFN_vkEnumerateInstanceVersion>(find(c"vkEnumerateInstanceVersion"))
                .map(|function| function(&mut version)),
            typed::<vk::PFN_vkEnumerateInstanceLayerProperties>(find(c"vkEnumerateInstanceLayerProperties"))
                .map(|function| function(&mut layers, null_mut())),
            typed::<vk::PFN_vkEnumerateInstanceExtensionProperties>(find(c"vkEnumerateInstanceExtensionProperties"))
                .map(|function| function(null(), &mut extensions, null_mut())),
        ]
    };
    let results = results.map(|result| result.map(vk::Result::as_raw));
    layer.journal(&format!(
        "globals {results:?} version={version} layers={layers} extensions={extensions}"
    ));
}

/// Calls the next layer's device look-up function for each name in an `ask-device` line. Looks up each name a second time, with the look-up
/// function that the next layer returns for `vkGetDeviceProcAddr`.
///
/// # Safety
/// The device is valid, and `next` is its look-up function.
pub(crate) unsafe fn ask_device(layer: &Layer, device: vk::Device, next: vk::PFN_vkGetDeviceProcAddr) {
    for text in layer.config.all("ask-device") {
        let Ok(name) = CString::new(text) else { continue };
        // SAFETY: the caller promises valid functions. For its own name, `vkGetDeviceProcAddr` returns a function of the same type.
        let (own, direct, through) = unsafe {
            let own = typed::<vk::PFN_vkGetDeviceProcAddr>(next(device, c"vkGetDeviceProcAddr".as_ptr()));
            let direct = next(device, name.as_ptr());
            (own, direct, own.and_then(|own| own(device, name.as_ptr())))
        };
        let address = |function: vk::PFN_vkVoidFunction| function.map_or(0, |function| function as usize);
        let itself = own.is_some_and(|own| own as usize == next as usize);
        let equal = address(direct) == address(through);
        layer.journal(&format!(
            "ask-device {text} found={} itself={itself} equal={equal}",
            direct.is_some()
        ));
    }
}

/// Object that the layer uses in place of a device. Like a C++ object, it begins with the address of readable memory, which is not the
/// table of a device.
static OWN_DEVICE: &[usize; 8] = &GARBAGE;

/// Returns the object that the layer passes to the next function in a call of `name`: the device `inner`, or the layer's own object.
pub(crate) fn handed_on(layer: &Layer, name: &str, inner: usize) -> usize {
    if layer.config.lists("hand-on", name) {
        (&raw const OWN_DEVICE).addr()
    } else {
        inner
    }
}

/// Calls the loader's callback for instances with an object whose parent is an instance that the loader did not create. Records the result,
/// and whether the object is unchanged.
pub(crate) fn stray_instance(layer: &Layer, set: Option<SetInstanceLoaderData>) {
    let Some(set) = set.filter(|_| layer.config.flag("stray-parent")) else {
        return;
    };
    let parent = vk::Instance::from_raw((&raw const GARBAGE).addr() as u64);
    let mut object = GARBAGE;
    // SAFETY: the parent and the object both start with a readable word, and the word of the object is writable.
    let result = unsafe { set(parent, object.as_mut_ptr().cast::<c_void>()) };
    let same = object == GARBAGE;
    layer.journal(&format!("stray instance result={} same={same}", result.as_raw()));
}

/// Calls the loader's callback for devices with an object whose parent is a device that the loader did not create. Records the result, and
/// whether the object is unchanged.
pub(crate) fn stray_device(layer: &Layer, set: Option<SetDeviceLoaderData>) {
    let Some(set) = set.filter(|_| layer.config.flag("stray-parent")) else {
        return;
    };
    let parent = vk::Device::from_raw((&raw const GARBAGE).addr() as u64);
    let mut object = GARBAGE;
    // SAFETY: the parent and the object both start with a readable word, and the word of the object is writable.
    let result = unsafe { set(parent, object.as_mut_ptr().cast::<c_void>()) };
    let same = object == GARBAGE;
    layer.journal(&format!("stray device result={} same={same}", result.as_raw()));
}

/// Returns the value that overwrites a handle before the layer calls the next function, if the configuration contains this value (BI-47).
pub(crate) fn clobbered(layer: &Layer, kind: &str) -> Option<u64> {
    if layer.config.lists("clobber", kind) {
        return Some((&raw const GARBAGE).addr() as u64);
    }
    layer.config.lists("clobber", &format!("{kind}-null")).then_some(0)
}

/// Records three facts after the next function returned (LAY-232). `same` is `true` if the structures are unchanged. `node` is the address
/// of the shared structure, and `used-up` is `true` if no link is left in it.
///
/// # Safety
/// `link` is the content of the valid link structure at `node`.
pub(crate) unsafe fn kept<L>(layer: &Layer, kind: &str, same: bool, node: usize, link: *mut *mut L) {
    if !layer.config.flag("keep-nodes") {
        return;
    }
    // SAFETY: the caller passes a live link structure, and this code writes only the value that the structure already has.
    let left = unsafe {
        let left = link.read_volatile();
        link.write_volatile(left);
        left.is_null()
    };
    layer.journal(&format!("kept {kind} same={same} used-up={left} node={node:#x}"));
}
