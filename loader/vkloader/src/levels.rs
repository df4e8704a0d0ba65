//! The levels of commands: a command of the level of devices takes a device, a queue or a command buffer.

/// The table of the commands for devices, which is generated from the registry.
const OF_DEVICES: &str = include_str!("../../../generated/dispatch/device.rs");

/// Returns `true` for a command of the level of devices.
pub(crate) fn is_of_device(command: &str) -> bool {
    let row = format!("    {command}:");
    OF_DEVICES.lines().any(|line| line.starts_with(&row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_the_level_of_the_registry() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../registry/snapshot/commands.txt");
        let registry = std::fs::read_to_string(path).expect("the snapshot");
        for command in registry.split("\ncommand ").skip(1) {
            let mut lines = command.lines();
            let name = lines.next().expect("a name");
            let is_expected = lines.next() == Some("  level device");
            assert_eq!(is_of_device(name), is_expected, "{name}");
        }
        assert!(!is_of_device("vkNothing") && !is_of_device("vkCreate"));
    }
}
