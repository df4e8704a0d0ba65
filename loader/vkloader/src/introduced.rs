//! The extensions and core versions to which commands belong.

/// The commands, in a line for each extension or core version: its name, and the names of its commands without `vk`.
const NAMES: &str = include_str!("introduced.txt");

/// Source of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Introduced {
    /// An extension, by its name.
    Extension(&'static str),
    /// A core version after 1.0, such as `1.3`.
    Version(&'static str),
}

/// Returns the source of a command; `None` for a command of Vulkan 1.0 or an unknown one.
pub(crate) fn by(command: &str) -> Option<Introduced> {
    let name = command.strip_prefix("vk")?;
    NAMES.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let (source, names) = line.split_once(' ')?;
        let has_it = names.split(' ').any(|one| one == name);
        has_it.then_some(if source.starts_with("VK_") {
            Introduced::Extension(source)
        } else {
            Introduced::Version(source)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_their_source() {
        assert_eq!(
            by("vkCmdBeginRenderingKHR"),
            Some(Introduced::Extension("VK_KHR_dynamic_rendering"))
        );
        assert_eq!(by("vkCmdBeginRendering"), Some(Introduced::Version("1.3")));
        assert_eq!((by("vkCmdDraw"), by("vkNothing")), (None, None));
    }

    #[test]
    fn each_command_is_as_the_registry_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../registry/snapshot/commands.txt");
        let registry = std::fs::read_to_string(path).expect("the snapshot");
        for line in NAMES.lines().filter(|line| !line.starts_with('#')) {
            let (source, names) = line.split_once(' ').expect("a name and commands");
            let kind = if source.starts_with("VK_") { "extension" } else { "core" };
            let wanted = format!("  {kind} {source}");
            for name in names.split(' ') {
                let head = format!("command vk{name}\n");
                let (_, rest) = registry.split_once(&head).expect("a command of the registry");
                let own = rest.lines().take_while(|line| !line.starts_with("command "));
                assert!(own.into_iter().any(|line| line == wanted), "{source} has no vk{name}");
            }
        }
    }
}
