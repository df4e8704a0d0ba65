//! Device objects that have no content, so their handles are plain numbers. This module creates, records and destroys these objects, and
//! contains the commands that have no effect.

use ash::vk::{self, Handle};

use crate::alloc::Allocator;
use crate::entry::Call;
use crate::object;

/// Defines the commands that create and destroy objects of a kind.
macro_rules! plain {
    ($($create:ident, $create_name:literal, $destroy:ident, $destroy_name:literal, $kind:literal;)*) => {$(
        #[doc = concat!("`", $create_name, "`.")]
        pub(crate) unsafe extern "system" fn $create(
            device: vk::Device,
            _info: *const vk::BaseInStructure<'static>,
            allocator: *const vk::AllocationCallbacks<'static>,
            out: *mut u64,
        ) -> vk::Result {
            object::expect($create_name, &["device"], device.as_raw());
            let call = Call::enter($create_name, Allocator(allocator));
            if call.failure.is_none() {
                // SAFETY: the caller passes a valid place for the result.
                unsafe { *out = object::number($kind) };
            }
            call.result()
        }
        #[doc = concat!("`", $destroy_name, "`.")]
        pub(crate) unsafe extern "system" fn $destroy(
            device: vk::Device,
            handle: u64,
            allocator: *const vk::AllocationCallbacks<'static>,
        ) {
            object::expect($destroy_name, &["device"], device.as_raw());
            Call::enter($destroy_name, Allocator(allocator));
            object::release($destroy_name, $kind, handle);
        }
    )*};
}

plain! {
    create_command_pool, "vkCreateCommandPool", destroy_command_pool, "vkDestroyCommandPool", "command_pool";
    create_buffer, "vkCreateBuffer", destroy_buffer, "vkDestroyBuffer", "buffer";
    create_image, "vkCreateImage", destroy_image, "vkDestroyImage", "image";
    create_fence, "vkCreateFence", destroy_fence, "vkDestroyFence", "fence";
    create_semaphore, "vkCreateSemaphore", destroy_semaphore, "vkDestroySemaphore", "semaphore";
    allocate_memory, "vkAllocateMemory", free_memory, "vkFreeMemory", "memory";
    create_shader_module, "vkCreateShaderModule", destroy_shader_module, "vkDestroyShaderModule", "shader_module";
    create_sampler, "vkCreateSampler", destroy_sampler, "vkDestroySampler", "sampler";
    create_event, "vkCreateEvent", destroy_event, "vkDestroyEvent", "event";
    create_query_pool, "vkCreateQueryPool", destroy_query_pool, "vkDestroyQueryPool", "query_pool";
    create_render_pass, "vkCreateRenderPass", destroy_render_pass, "vkDestroyRenderPass", "render_pass";
    create_pipeline_layout, "vkCreatePipelineLayout", destroy_pipeline_layout, "vkDestroyPipelineLayout", "layout";
}

/// Implements commands that succeed without effect. On most systems, the caller removes the arguments from the stack, so the function can
/// be called with any arguments. On 32-bit Windows, a function removes its own arguments, so `tests/windows/cases.sh` excludes such calls.
pub(crate) extern "system" fn nothing() -> u64 {
    0
}

/// Implements `vkGetBufferMemoryRequirements`, and the same query for images.
pub(crate) unsafe extern "system" fn memory_requirements(
    device: vk::Device,
    _object: u64,
    out: *mut vk::MemoryRequirements,
) {
    object::expect("vkGetBufferMemoryRequirements", &["device"], device.as_raw());
    // SAFETY: the caller passes a valid place for the result.
    unsafe {
        out.write(vk::MemoryRequirements {
            size: 256,
            alignment: 16,
            memory_type_bits: 1,
        })
    };
}

/// Device commands that succeed and have no effect.
pub(crate) const NOTHING: &[&str] = &[
    "vkBindBufferMemory",
    "vkBindImageMemory",
    "vkCmdBindPipeline",
    "vkCmdCopyBuffer",
    "vkCmdDispatch",
    "vkCmdDrawIndexed",
    "vkCmdFillBuffer",
    "vkCmdPipelineBarrier",
    "vkFlushMappedMemoryRanges",
    "vkGetFenceStatus",
    "vkInvalidateMappedMemoryRanges",
    "vkQueueBindSparse",
    "vkResetCommandPool",
    "vkResetFences",
    "vkUnmapMemory",
    "vkWaitForFences",
];
