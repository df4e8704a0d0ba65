//! Changes variables of a command so that the command runs without drivers or layers.

use crate::report::{NEWER_ONLY_DRIVERS, ONLY_DRIVERS, WITHOUT_LAYERS};
use std::ffi::OsStr;
use std::process::Command;

/// Word for all layers in the variables of the loader.
pub(crate) const ALL: &str = "~all~";
/// Variable that switches layers on. It takes precedence over the variable that disables layers.
pub(crate) const ENABLING: &str = "VK_LOADER_LAYERS_ENABLE";
/// Variable with the layers that the variable that disables layers leaves alone.
const ALLOWING: &str = "VK_LOADER_LAYERS_ALLOW";

/// Adds a word to the value of a variable that lists disabled layers or drivers, or sets a variable that lists the only drivers.
pub(crate) fn add(command: &mut Command, variable: &str, value: &str) {
    if [ONLY_DRIVERS, NEWER_ONLY_DRIVERS].contains(&variable) {
        command.env(variable, value);
        return;
    }
    let others = get(command, variable).unwrap_or_default();
    command.env(variable, format!("{value},{others}"));
}

/// Does what [`add`] does. If the variable lists disabled layers, also removes the patterns that match these layers from the variables that take
/// precedence.
pub(crate) fn leave_out(command: &mut Command, variable: &str, value: &str) {
    add(command, variable, value);
    if variable != WITHOUT_LAYERS {
        return;
    }
    for name in [ENABLING, ALLOWING] {
        if let Some(patterns) = get(command, name) {
            let is_other = |pattern: &&str| !value.split(',').any(|layer| layer == ALL || is_match(pattern, layer));
            let kept: Vec<&str> = patterns.split(',').filter(is_other).collect();
            command.env(name, kept.join(","));
        }
    }
}

/// Returns the value of a variable in a command.
fn get(command: &Command, variable: &str) -> Option<String> {
    let own = command.get_envs().find(|(name, _)| *name == OsStr::new(variable));
    match own {
        Some((_, value)) => value.map(|value| value.to_string_lossy().into_owned()),
        None => std::env::var(variable).ok(),
    }
}

/// Returns `true` if a pattern of the loader's variables matches the name of a layer.
fn is_match(pattern: &str, layer: &str) -> bool {
    let (pattern, layer) = (pattern.to_ascii_lowercase(), layer.to_ascii_lowercase());
    let (rest, is_open) = pattern
        .strip_prefix('*')
        .map_or((&*pattern, false), |rest| (rest, true));
    let (middle, goes_on) = rest.strip_suffix('*').map_or((rest, false), |middle| (middle, true));
    match (is_open, goes_on) {
        _ if pattern == ALL => true,
        (false, false) => layer == middle,
        (false, true) => layer.starts_with(middle),
        (true, false) => layer.ends_with(middle),
        (true, true) => layer.contains(middle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_left_out_in_spite_of_variables_that_take_precedence() {
        for (patterns, value, kept) in [
            ("VK_LAYER_A*,other", "VK_LAYER_ACME", "other"),
            ("*_acme", "VK_LAYER_ACME", ""),
            ("*LAYER*,*", "VK_LAYER_ACME", ""),
            ("VK_LAYER_ACME,VK_LAYER_B", "VK_LAYER_ACME,VK_LAYER_C", "VK_LAYER_B"),
            ("VK_LAYER_B", ALL, ""),
            ("~all~", "VK_LAYER_B", ""),
        ] {
            let mut command = Command::new("game");
            command.env(ENABLING, patterns).env(ALLOWING, patterns);
            leave_out(&mut command, WITHOUT_LAYERS, value);
            for name in [ENABLING, ALLOWING] {
                assert_eq!(get(&command, name).as_deref(), Some(kept), "{patterns} {value}");
            }
            let disabled = get(&command, WITHOUT_LAYERS).unwrap_or_default();
            assert!(disabled.starts_with(value), "{disabled}");
        }
    }
}
