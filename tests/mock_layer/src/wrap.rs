//! A layer that wraps every dispatchable object (LAY-252). The first word of a wrapper is the loader's dispatch pointer, as in the wrapped
//! object.
//!
//! If the first argument is the only handle of a command, a thunk unwraps this argument. The commands in this module create dispatchable
//! objects, or have them inside structures and arrays.

use std::ffi::c_void;

use ash::vk;
use ash::vk::Handle;

use crate::abi::{SetDeviceLoaderData, SetInstanceLoaderData};
use crate::layer::{Layer, dispatch_word, layer, typed};
use crate::lookup::erased;

/// Wrapper, which is the object that the application's handle points to.
#[repr(C)]
struct Wrapper {
    dispatch: usize,
    inner: usize,
}

/// Returns the wrapper of `inner`. A handle always has the same wrapper. `key` is the dispatch word of `inner`. The first word of the
/// wrapper is `dispatch` until the loader's callback writes the dispatch word.
fn wrapper_with(layer: &Layer, inner: usize, key: usize, dispatch: usize) -> usize {
    let mut state = layer.state();
    if let Some(known) = state.wrapped.get(&inner) {
        return *known;
    }
    let made = Box::into_raw(Box::new(Wrapper { dispatch, inner })).addr();
    state.wrappers.insert(made, (inner, key));
    state.wrapped.insert(inner, made);
    made
}

/// Returns the wrapper of an object with dispatch word `key`. The wrapper has the same dispatch word.
pub(crate) fn wrapper(layer: &Layer, inner: usize, key: usize) -> usize {
    wrapper_with(layer, inner, key, key)
}

/// Returns the wrapper of an instance or device. The wrapper's own dispatch word is zero until the loader's callback writes it.
///
/// # Safety
/// `inner` is a valid instance or device.
unsafe fn bare_wrapper(layer: &Layer, inner: usize) -> usize {
    // SAFETY: the caller promises a dispatchable handle.
    wrapper_with(layer, inner, unsafe { dispatch_word(inner) }, 0)
}

/// Wraps an instance. The loader's callback writes the dispatch word (LAY-251).
///
/// # Safety
/// The next layer created the instance `handle`, and `set` is the loader's callback for instances.
pub(crate) unsafe fn instance(layer: &Layer, handle: vk::Instance, set: Option<SetInstanceLoaderData>) -> vk::Instance {
    // SAFETY: the caller passes a live handle.
    let wrapper = unsafe { bare_wrapper(layer, handle.as_raw() as usize) };
    // SAFETY: the caller promises that `set` is the loader's callback, which writes only the first word of the wrapper. This word is
    // writable.
    let result = set.map(|set| unsafe { set(handle, wrapper as *mut c_void) });
    // SAFETY: the wrapper and the wrapped object start with their dispatch words.
    let same = unsafe { dispatch_word(wrapper) == dispatch_word(handle.as_raw() as usize) };
    layer.journal(&format!(
        "wrap instance result={:?} same={same}",
        result.map(vk::Result::as_raw)
    ));
    vk::Instance::from_raw(wrapper as u64)
}

/// Wraps a device. The loader's callback writes the dispatch word.
///
/// # Safety
/// The next layer created the device `handle`, and `set` is the loader's callback for devices.
pub(crate) unsafe fn device(layer: &Layer, handle: vk::Device, set: Option<SetDeviceLoaderData>) -> vk::Device {
    // SAFETY: the caller passes a live handle.
    let wrapper = unsafe { bare_wrapper(layer, handle.as_raw() as usize) };
    // SAFETY: the caller promises that `set` is the loader's callback, which writes only the first word of the wrapper. This word is
    // writable.
    let result = set.map(|set| unsafe { set(handle, wrapper as *mut c_void) });
    // SAFETY: the wrapper and the wrapped object start with their dispatch words.
    let same = unsafe { dispatch_word(wrapper) == dispatch_word(handle.as_raw() as usize) };
    layer.journal(&format!(
        "wrap device result={:?} same={same}",
        result.map(vk::Result::as_raw)
    ));
    vk::Device::from_raw(wrapper as u64)
}

/// Frees the wrappers of every object with dispatch word `key`.
pub(crate) fn drop_wrappers_of(layer: &Layer, key: usize) {
    let mut state = layer.state();
    let of_key = state.wrappers.iter().filter(|(_, (_, word))| *word == key);
    let gone: Vec<usize> = of_key.map(|(at, _)| *at).collect();
    for at in gone {
        free(&mut state, at);
    }
}

/// Frees the wrapper at the address `at`, and removes it from the layer's maps.
fn free(state: &mut crate::layer::State, at: usize) {
    if let Some((inner, _)) = state.wrappers.remove(&at) {
        state.wrapped.remove(&inner);
        // SAFETY: the address came from `Box::into_raw`, and no map contains it any more.
        drop(unsafe { Box::from_raw(at as *mut Wrapper) });
    }
}

/// Calls `call`. During the call, a `VkDeviceGroupDeviceCreateInfo` in the chain contains the handles of the next layer.
///
/// # Safety
/// `next` is a valid chain.
pub(crate) unsafe fn with_group_unwrapped<R>(layer: &Layer, mut next: *const c_void, call: impl FnOnce() -> R) -> R {
    while !next.is_null() {
        let base = next.cast::<vk::BaseInStructure<'_>>();
        // SAFETY: every structure of the chain starts with its type and its successor.
        let (kind, successor) = unsafe { ((*base).s_type, (*base).p_next) };
        if kind == vk::StructureType::DEVICE_GROUP_DEVICE_CREATE_INFO {
            let group = next.cast_mut().cast::<vk::DeviceGroupDeviceCreateInfo<'_>>();
            // SAFETY: the structure has this type, and its count is the number of elements of its array.
            unsafe {
                let given = (*group).p_physical_devices;
                let mut inner = listed(given, (*group).physical_device_count);
                layer.journal(&format!("device-group devices={}", inner.len()));
                for device in &mut inner {
                    *device = vk::PhysicalDevice::from_raw(layer.inner(device.as_raw() as usize) as u64);
                }
                (*group).p_physical_devices = inner.as_ptr();
                let result = call();
                (*group).p_physical_devices = given;
                return result;
            }
        }
        next = successor.cast();
    }
    call()
}

/// Returns a copy of an array. The copy is empty for NULL.
///
/// # Safety
/// `array` points to `count` elements, or is NULL.
unsafe fn listed<T: Copy>(array: *const T, count: u32) -> Vec<T> {
    if array.is_null() || count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller passes `count` elements.
    unsafe { std::slice::from_raw_parts(array, count as usize) }.to_vec()
}

/// Returns the next layer's handles for the handles in an array.
///
/// # Safety
/// `handles` points to `count` elements, or is NULL.
unsafe fn inner_handles(layer: &Layer, handles: *const vk::CommandBuffer, count: u32) -> Vec<vk::CommandBuffer> {
    // SAFETY: the caller promises an array of `count` handles.
    let mut list = unsafe { listed(handles, count) };
    for one in &mut list {
        *one = vk::CommandBuffer::from_raw(layer.inner(one.as_raw() as usize) as u64);
    }
    list
}

/// Returns a command of this module by its name.
pub(crate) fn command<const N: usize>(name: &str) -> vk::PFN_vkVoidFunction {
    match name {
        "vkGetDeviceQueue" => erased!(get_queue::<N>, vk::PFN_vkGetDeviceQueue),
        "vkGetDeviceQueue2" => erased!(get_queue_2::<N>, vk::PFN_vkGetDeviceQueue2),
        "vkAllocateCommandBuffers" => erased!(allocate::<N>, vk::PFN_vkAllocateCommandBuffers),
        "vkFreeCommandBuffers" => erased!(free_command_buffers::<N>, vk::PFN_vkFreeCommandBuffers),
        "vkQueueSubmit" => erased!(submit::<N>, vk::PFN_vkQueueSubmit),
        "vkQueueSubmit2" => erased!(submit_2::<N>, vk::PFN_vkQueueSubmit2),
        "vkQueueSubmit2KHR" => erased!(submit_2_khr::<N>, vk::PFN_vkQueueSubmit2),
        "vkCmdExecuteCommands" => erased!(execute::<N>, vk::PFN_vkCmdExecuteCommands),
        _ => None,
    }
}

/// Returns the next layer's handle for `outer`, its dispatch word, and the next implementation of the command `$name`.
macro_rules! below {
    ($layer:ident, $outer:expr, $kind:ty, $command:ty, $name:expr) => {{
        let inner = $layer.inner($outer.as_raw() as usize);
        // SAFETY: the handle is valid, and each use of the macro passes the function type of the command `$name`.
        let (key, next) = unsafe {
            let key = dispatch_word(inner);
            (key, typed::<$command>($layer.below(key, $name)))
        };
        (<$kind>::from_raw(inner as u64), key, next)
    }};
}

/// Wraps a queue or command buffer of the next layer. Returns 0 for a null handle. Also sets the dispatch word of the wrapped object,
/// because the next layers need this word, and the loader sets only the dispatch word of the wrapper.
///
/// # Safety
/// `inner` is an object of `device`, whose dispatch word is `key`.
unsafe fn wrap_object(layer: &Layer, device: vk::Device, key: usize, inner: u64) -> u64 {
    if inner == 0 {
        return 0;
    }
    let made = wrapper(layer, inner as usize, key);
    if let Some(set) = layer.device(key).and_then(|record| record.set_loader_data) {
        for object in [inner as usize, made] {
            // SAFETY: the object starts with a writable dispatch word, and the next layer created the device.
            let _ = unsafe { set(device, object as *mut c_void) };
        }
    }
    made as u64
}

/// Implements `vkGetDeviceQueue`.
unsafe extern "system" fn get_queue<const N: usize>(device: vk::Device, family: u32, index: u32, out: *mut vk::Queue) {
    let layer = layer(N);
    let (inner, key, next) = below!(layer, device, vk::Device, vk::PFN_vkGetDeviceQueue, c"vkGetDeviceQueue");
    if let Some(next) = next {
        // SAFETY: the caller passes valid arguments, and the handle belongs to the next layer or driver. The call writes the queue.
        unsafe {
            next(inner, family, index, out);
            *out = vk::Queue::from_raw(wrap_object(&layer, inner, key, (*out).as_raw()));
        }
    }
}

/// Implements `vkGetDeviceQueue2`.
unsafe extern "system" fn get_queue_2<const N: usize>(
    device: vk::Device,
    info: *const vk::DeviceQueueInfo2<'_>,
    out: *mut vk::Queue,
) {
    let layer = layer(N);
    let (inner, key, next) = below!(
        layer,
        device,
        vk::Device,
        vk::PFN_vkGetDeviceQueue2,
        c"vkGetDeviceQueue2"
    );
    if let Some(next) = next {
        // SAFETY: the caller passes valid arguments, and the handle belongs to the next layer or driver. The call writes the queue.
        unsafe {
            next(inner, info, out);
            *out = vk::Queue::from_raw(wrap_object(&layer, inner, key, (*out).as_raw()));
        }
    }
}

/// Implements `vkAllocateCommandBuffers`.
unsafe extern "system" fn allocate<const N: usize>(
    device: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'_>,
    out: *mut vk::CommandBuffer,
) -> vk::Result {
    let layer = layer(N);
    let (inner, key, next) = below!(
        layer,
        device,
        vk::Device,
        vk::PFN_vkAllocateCommandBuffers,
        c"vkAllocateCommandBuffers"
    );
    let Some(next) = next else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes valid arguments, and `inner` is the next layer's handle.
    let result = unsafe { next(inner, info, out) };
    if result == vk::Result::SUCCESS {
        // SAFETY: the command wrote the number of handles in the create info.
        for buffer in unsafe { std::slice::from_raw_parts_mut(out, (*info).command_buffer_count as usize) } {
            // SAFETY: the next layer allocated the command buffer from this device.
            *buffer = vk::CommandBuffer::from_raw(unsafe { wrap_object(&layer, inner, key, buffer.as_raw()) });
        }
    }
    result
}

/// Implements `vkFreeCommandBuffers`.
unsafe extern "system" fn free_command_buffers<const N: usize>(
    device: vk::Device,
    pool: vk::CommandPool,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    let layer = layer(N);
    let (inner, _, next) = below!(
        layer,
        device,
        vk::Device,
        vk::PFN_vkFreeCommandBuffers,
        c"vkFreeCommandBuffers"
    );
    // SAFETY: the caller passes `count` handles.
    let below = unsafe { inner_handles(&layer, buffers, count) };
    if let Some(next) = next {
        // SAFETY: the caller passes valid arguments, and `inner` and the list contain handles of the next layer.
        unsafe { next(inner, pool, count, below.as_ptr()) };
    }
    // SAFETY: the caller passes `count` handles.
    for buffer in unsafe { listed(buffers, count) } {
        free(&mut layer.state(), buffer.as_raw() as usize);
    }
}

/// Implements `vkQueueSubmit`.
unsafe extern "system" fn submit<const N: usize>(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let layer = layer(N);
    let (inner, _, next) = below!(layer, queue, vk::Queue, vk::PFN_vkQueueSubmit, c"vkQueueSubmit");
    let Some(next) = next else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes `count` structures.
    let mut copies = unsafe { listed(submits, count) };
    // SAFETY: in each structure, the count is the number of buffers.
    let lists: Vec<_> = copies
        .iter()
        .map(|one| unsafe { inner_handles(&layer, one.p_command_buffers, one.command_buffer_count) })
        .collect();
    for (copy, list) in copies.iter_mut().zip(&lists) {
        copy.p_command_buffers = list.as_ptr();
    }
    // SAFETY: the copies are valid until the call returns.
    unsafe { next(inner, count, copies.as_ptr(), fence) }
}

/// Implements `vkQueueSubmit2` and its alias. `name` is the name of the called command.
unsafe fn submit_2_by_name<const N: usize>(
    name: &std::ffi::CStr,
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let layer = layer(N);
    let (inner, _, next) = below!(layer, queue, vk::Queue, vk::PFN_vkQueueSubmit2, name);
    let Some(next) = next else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes `count` structures.
    let mut copies = unsafe { listed(submits, count) };
    let mut lists = Vec::new();
    for copy in &copies {
        // SAFETY: in each structure, the count is the number of buffers.
        let mut list = unsafe { listed(copy.p_command_buffer_infos, copy.command_buffer_info_count) };
        for one in &mut list {
            one.command_buffer = vk::CommandBuffer::from_raw(layer.inner(one.command_buffer.as_raw() as usize) as u64);
        }
        lists.push(list);
    }
    for (copy, list) in copies.iter_mut().zip(&lists) {
        copy.p_command_buffer_infos = list.as_ptr();
    }
    // SAFETY: the copies are valid until the call returns.
    unsafe { next(inner, count, copies.as_ptr(), fence) }
}

/// Implements `vkQueueSubmit2`.
unsafe extern "system" fn submit_2<const N: usize>(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the caller passes valid parameters of this command.
    unsafe { submit_2_by_name::<N>(c"vkQueueSubmit2", queue, count, submits, fence) }
}

/// Implements `vkQueueSubmit2KHR`.
unsafe extern "system" fn submit_2_khr<const N: usize>(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: the caller passes valid parameters of this command.
    unsafe { submit_2_by_name::<N>(c"vkQueueSubmit2KHR", queue, count, submits, fence) }
}

/// Implements `vkCmdExecuteCommands`.
unsafe extern "system" fn execute<const N: usize>(
    buffer: vk::CommandBuffer,
    count: u32,
    secondary: *const vk::CommandBuffer,
) {
    let layer = layer(N);
    let (inner, _, next) = below!(
        layer,
        buffer,
        vk::CommandBuffer,
        vk::PFN_vkCmdExecuteCommands,
        c"vkCmdExecuteCommands"
    );
    // SAFETY: the caller passes `count` handles.
    let list = unsafe { inner_handles(&layer, secondary, count) };
    if let Some(next) = next {
        // SAFETY: `inner` and the list contain handles of the next layer, and the list outlives the call.
        unsafe { next(inner, count, list.as_ptr()) };
    }
}
