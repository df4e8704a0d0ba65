//! The arguments of commands that may not be NULL.

/// The commands, in a line for each list of places.
const NAMES: &str = include_str!("required.txt");

/// Condition under which an argument may be NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Null {
    /// The argument is optional, or it is a number.
    Valid,
    Invalid,
    /// An array, which may be NULL if the argument at this place is 0.
    IfEmpty(usize),
}

/// Sign after the place of a handle that a driver makes.
const HANDLE: char = 'h';

/// Returns the places of the arguments of a command that may not be NULL, with what the table says about them.
fn places(command: &str) -> Option<&'static str> {
    let name = command.strip_prefix("vk")?;
    let lists = NAMES.lines().filter(|line| !line.starts_with('#'));
    let mut lists = lists.filter_map(|line| line.split_once(' '));
    let found = lists.find(|(_, names)| names.split(' ').any(|one| one == name));
    found.map(|(places, _)| places)
}

/// Returns `true` if a command belongs to Vulkan 1.0, so that each driver must have it.
pub(crate) fn is_of_first_version(command: &str) -> bool {
    crate::introduced::by(command).is_none() && places(command).is_some()
}

/// Returns `true` if the argument at `place` of a command is a handle that a driver makes, and that may not be NULL.
pub(crate) fn is_handle_of_driver(command: &str, place: usize) -> bool {
    let mut places = places(command).unwrap_or_default().split(',');
    places.any(|one| one.strip_suffix(HANDLE).is_some_and(|own| own.parse() == Ok(place)))
}

/// Returns the condition under which the argument at `place` of a command may be NULL. Returns `None` for unknown commands.
pub(crate) fn null(command: &str, place: usize) -> Option<Null> {
    let Some(places) = places(command) else {
        return crate::introduced::by(command).map(|_| Null::Valid);
    };
    let own = places.split(',').find_map(|one| {
        let one = one.trim_end_matches(HANDLE);
        let (own, count) = one
            .split_once(':')
            .map_or((one, None), |(own, count)| (own, Some(count)));
        (own.parse() == Ok(place)).then_some(count)
    });
    Some(match own {
        None => Null::Valid,
        Some(None) => Null::Invalid,
        Some(Some(count)) => count.parse().map_or(Null::Invalid, Null::IfEmpty),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Number of arguments that the table has.
    const MOST: usize = 10;
    /// Handles that the loader makes, or checks after a driver made them.
    const OF_LOADER: [&str; 3] = ["VkInstance", "VkPhysicalDevice", "VkDevice"];

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
            let parameters: Vec<&str> = command.split("\n  param ").skip(1).collect();
            let head = |parameter: &str| parameter.lines().next().unwrap_or_default().to_owned();
            let named = |count: &str| {
                let is_it = |one: &str| head(one).rsplit([' ', '*']).next() == Some(count);
                parameters.iter().position(|one| is_it(one))
            };
            for (place, parameter) in parameters.iter().enumerate().take(MOST) {
                let head = head(parameter);
                let facts = parameter.lines().skip(1).take_while(|line| line.starts_with("    "));
                let facts: Vec<&str> = facts.map(str::trim).collect();
                let count = facts.iter().find_map(|fact| fact.strip_prefix("len "));
                let kind = head.split(' ').next().unwrap_or_default();
                let is_address = head.contains('*') || handles.contains(kind);
                let is_optional = facts.iter().any(|fact| fact.starts_with("optional true"));
                let expected = match count {
                    _ if !is_address || is_optional => Null::Valid,
                    None => Null::Invalid,
                    Some(count) => named(count).map_or(Null::Invalid, Null::IfEmpty),
                };
                assert_eq!(null(name, place).unwrap_or(Null::Valid), expected, "{name} {place}");
                let is_made = handles.contains(kind) && !OF_LOADER.contains(&kind) && !head.contains('*');
                let expected = is_made && expected == Null::Invalid;
                assert_eq!(is_handle_of_driver(name, place), expected, "{name} {place}");
            }
        }
        assert_eq!((null("vkNothing", 0), null("main", 0)), (None, None));
        assert_eq!(null("vkQueueSubmit", 2), Some(Null::IfEmpty(1)));
    }
}
