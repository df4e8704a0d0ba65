//! Finds the handles that a command returns through a parameter, and the number of these handles (GEN-48).

use super::reach::resolve;
use super::types::TypePlan;
use vk_registry::model::{CType, Command, Level, Param, Registry};

/// Returns `true` if a parameter returns dispatchable handles.
pub(super) fn is_output(registry: &Registry, param: &Param) -> bool {
    let handle = registry.handles.get(resolve(registry, &param.ty.base));
    handle.is_some_and(|handle| handle.dispatchable) && param.ty.pointers.first() == Some(&false)
}

/// Returns `true` if a generated trampoline can find all handles that a command returns. The command must return all handles through one
/// parameter, which is a single object or an array. The length of an array must be in another parameter, or in a member of that parameter.
pub(super) fn is_counted(registry: &Registry, types: &TypePlan<'_>, command: &Command) -> bool {
    let mut outputs = command.params.iter().filter(|param| is_output(registry, param));
    let (Some(output), None) = (outputs.next(), outputs.next()) else {
        return false;
    };
    let is_one_pointer = output.ty.pointers.len() == 1 && output.ty.array.is_empty();
    let tells_success = matches!(command.return_type.as_str(), "void" | "VkResult");
    let is_known = match output.len.as_deref() {
        None => true,
        Some(len) => is_count(registry, types, command, len),
    };
    command.level == Level::Device && is_one_pointer && tells_success && is_known
}

/// Returns `true` if `len` names a number: a parameter, or a member of an emitted structure that a parameter points to.
fn is_count(registry: &Registry, types: &TypePlan<'_>, command: &Command, len: &str) -> bool {
    let param = |name: &str| command.params.iter().find(|param| param.name == name);
    let is_number = |ty: &CType| ty.base == "uint32_t" && ty.pointers.is_empty() && ty.array.is_empty();
    let Some((name, member)) = len.split_once("->") else {
        return param(len).is_some_and(|param| is_number(&param.ty));
    };
    let Some(param) = param(name).filter(|param| param.ty.pointers.len() == 1) else {
        return false;
    };
    let structure = resolve(registry, &param.ty.base);
    let found = registry
        .structs
        .get(structure)
        .filter(|_| types.structs.contains(structure));
    found.is_some_and(|found| found.members.iter().any(|it| it.name == member && is_number(&it.ty)))
}
