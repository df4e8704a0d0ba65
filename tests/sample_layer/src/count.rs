//! Counts the draws, instances and vertices of each command buffer. These counts are the purpose of the layer.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use ash::vk;
use ash::vk::Handle;

use crate::chain;

/// Counts of one command buffer since its recording began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    draws: u64,
    instances: u64,
    vertices: u64,
}

impl Counts {
    /// Adds one draw. Every instance draws all vertices, so the numbers are multiplied.
    fn draw(&mut self, vertices: u32, instances: u32) {
        self.draws += 1;
        self.instances += u64::from(instances);
        self.vertices += u64::from(vertices) * u64::from(instances);
    }
}

impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            draws,
            instances,
            vertices,
        } = self;
        write!(f, "{draws} draws, {instances} instances and {vertices} vertices")
    }
}

static COUNTS: Mutex<BTreeMap<u64, Counts>> = Mutex::new(BTreeMap::new());

/// Calls `work` with the counts of all command buffers.
fn counts<R>(work: impl FnOnce(&mut BTreeMap<u64, Counts>) -> R) -> R {
    work(&mut COUNTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Implements `vkBeginCommandBuffer`, and sets the counts of the command buffer to 0.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn begin_command_buffer(
    buffer: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    let Some(below) = chain::device(buffer) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    counts(|all| all.insert(buffer.as_raw(), Counts::default()));
    // SAFETY: the caller passes valid parameters of this command.
    unsafe { (below.begin_command_buffer)(buffer, info) }
}

/// Implements `vkCmdDraw`, and counts the draw.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn cmd_draw(
    buffer: vk::CommandBuffer,
    vertices: u32,
    instances: u32,
    first_vertex: u32,
    first_instance: u32,
) {
    let Some(below) = chain::device(buffer) else { return };
    counts(|all| all.entry(buffer.as_raw()).or_default().draw(vertices, instances));
    // SAFETY: the caller passes valid parameters of this command.
    unsafe { (below.cmd_draw)(buffer, vertices, instances, first_vertex, first_instance) }
}

/// Implements `vkCmdDrawIndexed`, and counts each index as a vertex.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn cmd_draw_indexed(
    buffer: vk::CommandBuffer,
    indices: u32,
    instances: u32,
    first_index: u32,
    vertex_offset: i32,
    first_instance: u32,
) {
    let Some(below) = chain::device(buffer) else { return };
    counts(|all| all.entry(buffer.as_raw()).or_default().draw(indices, instances));
    // SAFETY: the caller passes valid parameters of this command.
    unsafe { (below.cmd_draw_indexed)(buffer, indices, instances, first_index, vertex_offset, first_instance) }
}

/// Implements `vkEndCommandBuffer`, and prints the counts.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn end_command_buffer(buffer: vk::CommandBuffer) -> vk::Result {
    let Some(below) = chain::device(buffer) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    let counted = counts(|all| all.get(&buffer.as_raw()).copied().unwrap_or_default());
    let line = format!("Command buffer {:#x} ended with {counted}\n", buffer.as_raw());
    // If the application has no standard output, the application must still continue. The layer therefore ignores an
    // error.
    let _ = std::io::stdout().write_all(line.as_bytes());
    // SAFETY: the caller passes a valid parameter of this command.
    unsafe { (below.end_command_buffer)(buffer) }
}

/// Implements `vkFreeCommandBuffers`, and removes the counts of the freed command buffers.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn free_command_buffers(
    device: vk::Device,
    pool: vk::CommandPool,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    let Some(below) = chain::device(device) else { return };
    if count > 0 && !buffers.is_null() {
        // SAFETY: the caller passes `count` handles.
        let freed = unsafe { std::slice::from_raw_parts(buffers, count as usize) };
        counts(|all| all.retain(|known, _| !freed.iter().any(|buffer| buffer.as_raw() == *known)));
    }
    // SAFETY: the caller passes valid parameters of this command.
    unsafe { (below.free_command_buffers)(device, pool, count, buffers) }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn every_instance_has_all_vertices() {
        let mut counts = Counts::default();
        counts.draw(36, 1);
        assert_eq!(counts.to_string(), "1 draws, 1 instances and 36 vertices");
        counts.draw(3, 4);
        assert_eq!(counts.to_string(), "2 draws, 5 instances and 48 vertices");
        counts.draw(0, 0);
        assert_eq!(
            counts,
            Counts {
                draws: 3,
                instances: 5,
                vertices: 48
            }
        );
    }
}
