//! The arguments of commands that are never NULL.

/// The commands, in a line for each list of places.
const NAMES: &str = include_str!("required.txt");

/// Returns `true` if the argument at `place` of a command is never NULL. Returns `false` for an unknown command.
pub(crate) fn is_required(command: &str, place: usize) -> bool {
    let lists = NAMES.lines().filter(|line| !line.starts_with('#'));
    let mut lists = lists.filter_map(|line| line.split_once(' '));
    let name = command.strip_prefix("vk").unwrap_or_default();
    let own = lists.find(|(_, names)| names.split(' ').any(|one| one == name));
    own.is_some_and(|(places, _)| places.contains(&place.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Number of arguments that functions get in registers. Only these are examined.
    const MOST: usize = 6;

    fn snapshot(file: &str) -> String {
        let path = format!("{}/../../registry/snapshot/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("the snapshot")
    }

    #[test]
    fn each_argument_is_as_the_registry_says() {
        let handles = snapshot("handles.txt");
        let handles: HashSet<&str> = handles
            .lines()
            .filter_map(|line| line.strip_prefix("handle "))
            .collect();
        let commands = snapshot("commands.txt");
        for command in commands.split("\ncommand ").skip(1) {
            let name = command.lines().next().expect("a name");
            for (place, parameter) in command.split("\n  param ").skip(1).take(MOST).enumerate() {
                let (head, rest) = parameter.split_once('\n').unwrap_or((parameter, ""));
                let facts: Vec<&str> = rest.lines().take_while(|line| line.starts_with("    ")).collect();
                let is_in = |start: &str| facts.iter().any(|fact| fact.starts_with(start));
                let kind = head.split(' ').next().unwrap_or_default();
                let is_address = head.contains('*') || handles.contains(kind);
                let expected = is_address && !is_in("    len ") && !is_in("    optional true");
                assert_eq!(is_required(name, place), expected, "{name} {place}");
            }
        }
        assert!(!is_required("vkNothing", 0) && !is_required("main", 0));
    }
}
