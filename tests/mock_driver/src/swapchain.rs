//! Swapchains and presentation.

use ash::vk::{self, Handle};

use crate::alloc::Allocator;
use crate::entry::{Call, two_call};
use crate::{chain, object, surface};

fn make(info: &vk::SwapchainCreateInfoKHR<'_>, call: &Call, out: &mut vk::SwapchainKHR) {
    surface::note(call, info.surface);
    call.note(format_args!(
        "old={:#x} {}",
        info.old_swapchain.as_raw(),
        chain::show(info.p_next)
    ));
    *out = vk::SwapchainKHR::from_raw(object::number("swapchain"));
}

/// Implements `vkCreateSwapchainKHR`.
pub(crate) unsafe extern "system" fn create(
    device: vk::Device,
    info: *const vk::SwapchainCreateInfoKHR<'static>,
    allocator: *const vk::AllocationCallbacks<'static>,
    out: *mut vk::SwapchainKHR,
) -> vk::Result {
    object::expect("vkCreateSwapchainKHR", &["device"], device.as_raw());
    let call = Call::enter("vkCreateSwapchainKHR", Allocator(allocator));
    if call.failure.is_none() {
        // SAFETY: the caller passes a valid create info and a valid place.
        unsafe { make(&*info, &call, &mut *out) };
    }
    call.result()
}

/// Implements `vkCreateSharedSwapchainsKHR`.
pub(crate) unsafe extern "system" fn create_shared(
    device: vk::Device,
    count: u32,
    infos: *const vk::SwapchainCreateInfoKHR<'static>,
    allocator: *const vk::AllocationCallbacks<'static>,
    out: *mut vk::SwapchainKHR,
) -> vk::Result {
    object::expect("vkCreateSharedSwapchainsKHR", &["device"], device.as_raw());
    let call = Call::enter(
        "vkCreateSharedSwapchainsKHR",
        format_args!("count={count} {}", Allocator(allocator)),
    );
    if call.failure.is_none() {
        for index in 0..count as usize {
            // SAFETY: the caller passes `count` create infos and space for `count` handles.
            unsafe { make(&*infos.add(index), &call, &mut *out.add(index)) };
        }
    }
    call.result()
}

/// Implements `vkDestroySwapchainKHR`.
pub(crate) unsafe extern "system" fn destroy(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    allocator: *const vk::AllocationCallbacks<'static>,
) {
    object::expect("vkDestroySwapchainKHR", &["device"], device.as_raw());
    Call::enter("vkDestroySwapchainKHR", Allocator(allocator));
    object::release("vkDestroySwapchainKHR", "swapchain", swapchain.as_raw());
}

/// Implements `vkGetSwapchainImagesKHR`.
pub(crate) unsafe extern "system" fn images(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    count: *mut u32,
    out: *mut vk::Image,
) -> vk::Result {
    object::expect("vkGetSwapchainImagesKHR", &["device"], device.as_raw());
    let call = Call::enter("vkGetSwapchainImagesKHR", "");
    let image = |index| vk::Image::from_raw((swapchain.as_raw() << 4) + index);
    // SAFETY: the caller follows the two-call idiom.
    unsafe { two_call(&call, &[image(0), image(1)], count, out) }
}

/// Implements `vkAcquireNextImageKHR`.
pub(crate) unsafe extern "system" fn acquire(
    device: vk::Device,
    _swapchain: vk::SwapchainKHR,
    _timeout: u64,
    _semaphore: vk::Semaphore,
    _fence: vk::Fence,
    out: *mut u32,
) -> vk::Result {
    object::expect("vkAcquireNextImageKHR", &["device"], device.as_raw());
    let call = Call::enter("vkAcquireNextImageKHR", "");
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = 1 };
    call.result()
}

/// Implements `vkAcquireNextImage2KHR`.
pub(crate) unsafe extern "system" fn acquire2(
    device: vk::Device,
    _info: *const vk::AcquireNextImageInfoKHR<'static>,
    out: *mut u32,
) -> vk::Result {
    object::expect("vkAcquireNextImage2KHR", &["device"], device.as_raw());
    let call = Call::enter("vkAcquireNextImage2KHR", "");
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = 1 };
    call.result()
}

/// Implements `vkQueuePresentKHR`.
pub(crate) unsafe extern "system" fn present(queue: vk::Queue, info: *const vk::PresentInfoKHR<'static>) -> vk::Result {
    object::expect("vkQueuePresentKHR", &["queue"], queue.as_raw());
    // SAFETY: the caller passes a valid structure.
    let count = unsafe { (*info).swapchain_count };
    Call::enter("vkQueuePresentKHR", format_args!("swapchains={count}")).result()
}

/// Implements `vkGetDeviceGroupSurfacePresentModesKHR`.
pub(crate) unsafe extern "system" fn group_modes(
    device: vk::Device,
    surface: vk::SurfaceKHR,
    out: *mut vk::DeviceGroupPresentModeFlagsKHR,
) -> vk::Result {
    object::expect("vkGetDeviceGroupSurfacePresentModesKHR", &["device"], device.as_raw());
    let call = Call::enter("vkGetDeviceGroupSurfacePresentModesKHR", "");
    surface::note(&call, surface);
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = vk::DeviceGroupPresentModeFlagsKHR::LOCAL };
    call.result()
}

/// Implements `vkGetDeviceGroupSurfacePresentModes2EXT`.
pub(crate) unsafe extern "system" fn group_modes2(
    device: vk::Device,
    info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'static>,
    out: *mut vk::DeviceGroupPresentModeFlagsKHR,
) -> vk::Result {
    object::expect("vkGetDeviceGroupSurfacePresentModes2EXT", &["device"], device.as_raw());
    // SAFETY: the caller passes a valid structure.
    let info = unsafe { &*info };
    let call = Call::enter("vkGetDeviceGroupSurfacePresentModes2EXT", chain::show(info.p_next));
    surface::note(&call, info.surface);
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = vk::DeviceGroupPresentModeFlagsKHR::REMOTE };
    call.result()
}

/// Implements `vkGetDeviceGroupPresentCapabilitiesKHR`.
pub(crate) unsafe extern "system" fn group_capabilities(
    device: vk::Device,
    out: *mut vk::DeviceGroupPresentCapabilitiesKHR<'static>,
) -> vk::Result {
    object::expect("vkGetDeviceGroupPresentCapabilitiesKHR", &["device"], device.as_raw());
    // SAFETY: the caller passes a valid structure.
    unsafe { (*out).modes = vk::DeviceGroupPresentModeFlagsKHR::LOCAL };
    Call::enter("vkGetDeviceGroupPresentCapabilitiesKHR", "").result()
}
