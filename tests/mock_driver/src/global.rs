//! Commands that need no instance, and commands that create and destroy instances.

use std::ffi::{CStr, c_char};

use ash::vk::{self, Handle};

use crate::alloc::Allocator;
use crate::entry::{Call, two_call};
use crate::{chain, debug, object, state};

/// Negotiates the interface version (DRV-64).
///
/// # Safety
/// `version` is valid for reads and writes.
pub(crate) unsafe extern "system" fn negotiate(version: *mut u32) -> vk::Result {
    // SAFETY: the caller promises a valid `version`.
    let offered = unsafe { *version };
    let call = Call::enter(
        "vk_icdNegotiateLoaderICDInterfaceVersion",
        format_args!("offered={offered}"),
    );
    let mine = call
        .config
        .interface_forced
        .unwrap_or(offered.min(call.config.interface));
    // SAFETY: the caller promises a valid `version`.
    unsafe { *version = mine };
    vk::Result::from_raw(call.config.negotiate_result)
}

/// Implements `vkEnumerateInstanceVersion`.
pub(crate) unsafe extern "system" fn enumerate_instance_version(version: *mut u32) -> vk::Result {
    let call = Call::enter("vkEnumerateInstanceVersion", "");
    // SAFETY: the caller passes a valid pointer.
    unsafe { *version = call.config.api_version };
    call.result()
}

/// Returns an extension as a C structure. A name of 256 bytes or more has no terminator.
pub(crate) fn extension((name, version): &(String, u32)) -> vk::ExtensionProperties {
    let mut properties = vk::ExtensionProperties {
        spec_version: *version,
        ..Default::default()
    };
    for (to, from) in properties.extension_name.iter_mut().zip(name.bytes()) {
        *to = from as c_char;
    }
    properties
}

/// Implements `vkEnumerateInstanceExtensionProperties`. The layer name must be NULL (DRV-108).
pub(crate) unsafe extern "system" fn enumerate_instance_extension_properties(
    layer: *const c_char,
    count: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result {
    let shown = if layer.is_null() {
        "null".into()
    } else {
        // SAFETY: a non-null layer name is a terminated string.
        format!("{:?}", unsafe { CStr::from_ptr(layer) })
    };
    let form = if out.is_null() { "count" } else { "fill" };
    let call = Call::enter(
        "vkEnumerateInstanceExtensionProperties",
        format_args!("layer={shown} {form}"),
    );
    let list: Vec<_> = call.config.instance_extensions.iter().map(extension).collect();
    // SAFETY: the caller follows the two-call idiom.
    unsafe { two_call(&call, &list, count, out) }
}

/// Implements `vkEnumerateInstanceLayerProperties`. The loader must not call this function (DRV-108). The journal line shows a call.
pub(crate) unsafe extern "system" fn enumerate_instance_layer_properties(
    count: *mut u32,
    _out: *mut vk::LayerProperties,
) -> vk::Result {
    let call = Call::enter("vkEnumerateInstanceLayerProperties", "");
    // SAFETY: the caller passes a valid pointer.
    unsafe { *count = 0 };
    call.result()
}

fn show_application(info: *const vk::ApplicationInfo<'_>) -> String {
    if info.is_null() {
        return "app=null".into();
    }
    // SAFETY: a non-null application info is valid during the call.
    let info = unsafe { &*info };
    let version = info.api_version;
    let name = if info.p_application_name.is_null() {
        "-".into()
    } else {
        // SAFETY: a non-null name is a terminated string.
        unsafe { CStr::from_ptr(info.p_application_name) }
            .to_string_lossy()
            .into_owned()
    };
    let (major, minor, patch) = ((version >> 22) & 0x7f, (version >> 12) & 0x3ff, version & 0xfff);
    // The line omits the application's version and the engine if they are not set, as in most applications.
    let rest = match (
        info.application_version,
        info.engine_version,
        info.p_engine_name.is_null(),
    ) {
        (0, 0, true) => String::new(),
        (own, engine, is_null) => format!(" own={own} engine={engine} engine-name={}", !is_null),
    };
    format!(
        "app={name} stype={} api={major}.{minor}.{patch}{rest}",
        info.s_type.as_raw()
    )
}

/// Implements `vkCreateInstance`.
pub(crate) unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'static>,
    allocator: *const vk::AllocationCallbacks<'static>,
    instance: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: the create info is valid during the call.
    let info = unsafe { &*info };
    // SAFETY: in a create info, the count of an array is the number of its strings.
    let extensions = unsafe { chain::names(info.pp_enabled_extension_names, info.enabled_extension_count) };
    let call = Call::enter(
        "vkCreateInstance",
        format_args!(
            "{} flags={} layers={}{} ext=[{}] {} {}",
            show_application(info.p_application_info),
            info.flags.as_raw(),
            info.enabled_layer_count,
            ["+names", ""][usize::from(info.pp_enabled_layer_names.is_null())],
            extensions.join(" "),
            chain::show(info.p_next),
            Allocator(allocator)
        ),
    );
    // SAFETY: the chain is valid during the call.
    unsafe { debug::emit_to_chain(&call.config, call.name, info.p_next) };
    if let Some(code) = call.failure {
        return code;
    }
    let made = if call.config.gives_null(call.name) {
        vk::Instance::null()
    } else {
        vk::Instance::from_raw(object::create("instance", 0, "", extensions))
    };
    // SAFETY: a non-null application info is valid during the call.
    let version = unsafe { info.p_application_info.as_ref() }.map_or(0, |application| application.api_version);
    state::with(|state| state.versions.insert(made.as_raw(), version));
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *instance = made };
    vk::Result::SUCCESS
}

/// Implements `vkDestroyInstance`.
pub(crate) unsafe extern "system" fn destroy_instance(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'static>,
) {
    Call::enter("vkDestroyInstance", Allocator(allocator));
    if !instance.is_null() {
        object::expect("vkDestroyInstance", &["instance"], instance.as_raw());
        object::destroy_children(instance.as_raw());
        object::destroy(instance.as_raw());
    }
}
