//! The layer's own commands, which no other layer and no driver implements (LAY-300 to LAY-313).

use ash::vk;

use crate::layer::{Layer, layer};
use crate::lookup::erased;

/// Signature of the layer's own commands. The parameters are a dispatchable handle in 64 bits, which is enough for all processors, and a
/// number.
type Command = unsafe extern "system" fn(handle: u64, argument: u32) -> u32;

/// Returns `true` if a line `key NAME` or `key PREFIX*` applies to `name`.
fn listed(layer: &Layer, key: &str, name: &str) -> bool {
    layer.config.all(key).any(|text| match text.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => text == name,
    })
}

/// Implements all of the layer's own commands: records the call, and returns a result that depends on the argument.
unsafe extern "system" fn command<const N: usize>(handle: u64, argument: u32) -> u32 {
    let layer = layer(N);
    let known = if layer.state().wrappers.contains_key(&(handle as usize)) {
        "wrapper"
    } else {
        "plain"
    };
    layer.journal(&format!("own {known} argument={argument}"));
    argument.wrapping_add(layer.config.number("own-result").unwrap_or(0) as u32)
}

/// Returns the layer's own command for `vkGetInstanceProcAddr`, at any level, unless the configuration hides it from this look-up.
pub(crate) fn any_command<const N: usize>(layer: &Layer, name: &str) -> vk::PFN_vkVoidFunction {
    let keys = ["own-instance-command", "own-physical-command", "own-device-command"];
    let answered = !layer.config.flag("own-device-only") && keys.iter().any(|key| listed(layer, key, name));
    answered.then_some(())?;
    erased!(command::<N>, Command)
}

/// Returns the layer's own physical-device command of this name.
pub(crate) fn physical_command<const N: usize>(layer: &Layer, name: &str) -> vk::PFN_vkVoidFunction {
    listed(layer, "own-physical-command", name).then_some(())?;
    erased!(command::<N>, Command)
}

/// Returns the layer's own device command `name`.
pub(crate) fn device_command<const N: usize>(layer: &Layer, name: &str) -> vk::PFN_vkVoidFunction {
    listed(layer, "own-device-command", name).then_some(())?;
    erased!(command::<N>, Command)
}
