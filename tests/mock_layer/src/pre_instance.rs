//! Implements the pre-instance functions of an implicit layer (LAY-270 to LAY-277). The library exports them as `mockEnumerateInstance...`,
//! and a manifest can name them.

use std::ffi::c_char;

use ash::vk;

use crate::abi::Chain;
use crate::extensions::{configured, copy_out};
use crate::layer::{Layer, layer};

/// Type of the next function in the pre-instance chain of `vkEnumerateInstanceVersion`.
type Version = unsafe extern "system" fn(chain: *const VersionChain, version: *mut u32) -> vk::Result;
/// Type of the next function in the pre-instance chain of `vkEnumerateInstanceExtensionProperties`.
type Extensions = unsafe extern "system" fn(
    chain: *const ExtensionChain,
    layer: *const c_char,
    count: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result;
/// Type of the next function in the pre-instance chain of `vkEnumerateInstanceLayerProperties`.
type Layers =
    unsafe extern "system" fn(chain: *const LayerChain, count: *mut u32, out: *mut vk::LayerProperties) -> vk::Result;

/// The structure `VkEnumerateInstanceVersionChain`, which contains the next function.
#[repr(transparent)]
pub(crate) struct VersionChain(Chain<Version>);
/// The structure `VkEnumerateInstanceExtensionPropertiesChain`, which contains the next function.
#[repr(transparent)]
pub(crate) struct ExtensionChain(Chain<Extensions>);
/// The structure `VkEnumerateInstanceLayerPropertiesChain`, which contains the next function.
#[repr(transparent)]
pub(crate) struct LayerChain(Chain<Layers>);

/// Records the call and its chain structure, and returns the configured failure.
fn begin<F>(layer: &Layer, function: &str, chain: &Chain<F>) -> Option<vk::Result> {
    let fits = chain.size as usize == size_of::<Chain<F>>();
    layer.journal(&format!(
        "pre {function} type={} version={} size-fits={fits}",
        chain.kind, chain.version
    ));
    layer
        .config
        .number("pre-fail")
        .map(|code| vk::Result::from_raw(code as i32))
}

/// Returns the number that the configuration line `pre-grow` adds to a count. The number grows by one at each call, so that the two calls
/// of a query have different counts (BI-52).
fn growth(layer: &Layer) -> usize {
    static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let calls = CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    if layer.config.flag("pre-grow") {
        1 + calls % 2 * 9
    } else {
        0
    }
}

/// Pre-instance function of the layer for `vkEnumerateInstanceVersion`.
///
/// # Safety
/// `chain` is a structure of the loader, and `version` is writable.
#[unsafe(no_mangle)]
unsafe extern "system" fn mockEnumerateInstanceVersion(chain: *const VersionChain, version: *mut u32) -> vk::Result {
    let layer = layer(0);
    // SAFETY: the loader's structure is valid during the call.
    let chain = unsafe { &(*chain).0 };
    if let Some(result) = begin(&layer, "vkEnumerateInstanceVersion", chain) {
        return result;
    }
    // SAFETY: the structure contains the function of the next link, and the layer calls the function with that link.
    let result = unsafe { (chain.next_layer)(chain.next_link.cast(), version) };
    if let Some(wanted) = layer.config.number("pre-version") {
        // SAFETY: the caller passes a writable place for the version.
        unsafe { *version = wanted as u32 };
    }
    result
}

/// Pre-instance function of the layer for `vkEnumerateInstanceExtensionProperties`.
///
/// # Safety
/// `chain` is a structure of the loader, and the other parameters are valid for the command.
#[unsafe(no_mangle)]
unsafe extern "system" fn mockEnumerateInstanceExtensionProperties(
    chain: *const ExtensionChain,
    name: *const c_char,
    count: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result {
    let layer = layer(0);
    // SAFETY: the loader's structure is valid during the call.
    let chain = unsafe { &(*chain).0 };
    if let Some(result) = begin(&layer, "vkEnumerateInstanceExtensionProperties", chain) {
        return result;
    }
    let added = configured(&layer, "pre-extension");
    let grown = vec![crate::extensions::property("VK_EXT_mock_grown", 1); growth(&layer)];
    if added.is_empty() && grown.is_empty() {
        // SAFETY: the structure contains the function of the next link, and the layer calls the function with that link.
        return unsafe { (chain.next_layer)(chain.next_link.cast(), name, count, out) };
    }
    let mut lower = 0;
    // SAFETY: the first call has no array, and the array of the second call has the counted number of elements. The caller's array is
    // valid.
    unsafe {
        let _ = (chain.next_layer)(chain.next_link.cast(), name, &mut lower, std::ptr::null_mut());
        let mut list = vec![vk::ExtensionProperties::default(); lower as usize];
        let _ = (chain.next_layer)(chain.next_link.cast(), name, &mut lower, list.as_mut_ptr());
        list.extend(added);
        list.extend(grown);
        copy_out(&list, count, out)
    }
}

/// Pre-instance function of the layer for `vkEnumerateInstanceLayerProperties`.
///
/// # Safety
/// `chain` is a structure of the loader, and the other parameters are valid for the command.
#[unsafe(no_mangle)]
unsafe extern "system" fn mockEnumerateInstanceLayerProperties(
    chain: *const LayerChain,
    count: *mut u32,
    out: *mut vk::LayerProperties,
) -> vk::Result {
    let layer = layer(0);
    // SAFETY: the loader's structure is valid during the call.
    let chain = unsafe { &(*chain).0 };
    if let Some(result) = begin(&layer, "vkEnumerateInstanceLayerProperties", chain) {
        return result;
    }
    let named = layer.config.all("pre-layer").map(|name| {
        let mut made = vk::LayerProperties {
            spec_version: vk::API_VERSION_1_0,
            ..Default::default()
        };
        for (to, from) in made.layer_name.iter_mut().zip(name.bytes().take(255)) {
            *to = from as c_char;
        }
        made
    });
    let added: Vec<_> = named.collect();
    if added.is_empty() {
        // SAFETY: the structure contains the function of the next link, and the layer calls the function with that link.
        return unsafe { (chain.next_layer)(chain.next_link.cast(), count, out) };
    }
    let mut lower = 0;
    // SAFETY: the first call has no array, and the array of the second call has the counted number of elements. The caller's array is
    // valid.
    unsafe {
        let _ = (chain.next_layer)(chain.next_link.cast(), &mut lower, std::ptr::null_mut());
        let mut list = vec![vk::LayerProperties::default(); lower as usize];
        let _ = (chain.next_layer)(chain.next_link.cast(), &mut lower, list.as_mut_ptr());
        list.extend(added);
        copy_out(&list, count, out)
    }
}
