//! Names of the features of devices.

/// The names, in a line for each structure: the number of the structure's type, and then the names of its members.
const NAMES: &str = include_str!("features.txt");

/// Number of the type of the structure with the core features.
pub(crate) const CORE: i32 = 1_000_059_000;

/// Returns the names of the members of a structure, in order. Returns no names for an unknown structure.
pub(crate) fn of(structure: i32) -> impl Iterator<Item = &'static str> {
    let number = structure.to_string();
    let mut lines = NAMES.lines().map(|line| line.split(' '));
    let line = lines.find_map(|mut words| (words.next() == Some(&number)).then_some(words));
    line.into_iter().flatten()
}

/// Returns the name of a member of a structure.
pub(crate) fn name(structure: i32, place: usize) -> Option<&'static str> {
    of(structure).nth(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_have_names() {
        assert_eq!(name(CORE, 0), Some("robustBufferAccess"));
        assert_eq!(of(CORE).count(), 55);
        assert_eq!(name(51, 46), Some("subgroupBroadcastDynamicId"));
        assert_eq!(name(51, 47), None);
        assert_eq!(name(2, 0), None);
    }

    #[test]
    fn each_structure_has_the_members_of_the_registry() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../registry/snapshot/structs.txt");
        let registry = std::fs::read_to_string(path).expect("the snapshot");
        let mut lists: Vec<Vec<&str>> = Vec::new();
        for line in registry.lines() {
            match line.strip_prefix("  member VkBool32 ") {
                Some(name) => lists.last_mut().expect("a structure").push(name),
                None if line.starts_with("struct ") => lists.push(Vec::new()),
                None => {}
            }
        }
        for line in NAMES.lines().filter(|line| !line.starts_with('#')) {
            let names: Vec<&str> = line.split(' ').skip(1).collect();
            assert!(
                lists.contains(&names),
                "no structure of the registry has the members {line}"
            );
        }
    }
}
