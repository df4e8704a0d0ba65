//! Finds the cycles of a directed graph: the strongly connected components with more than one node.

use std::collections::{BTreeMap, BTreeSet};

/// The direct successors of each node.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// Returns the cycles in the order of their first nodes. Each cycle is sorted.
///
/// Two nodes belong to the same cycle if each node can be reached from the other. For a few hundred nodes, checking each pair is fast
/// enough.
pub fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph.keys().map(|node| (node, reach(graph, node))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (node, beyond) in &reached {
        // The node already belongs to a known cycle.
        if !beyond.contains(*node) || found.iter().any(|circle| circle.contains(*node)) {
            continue;
        }
        let back = |other: &&&String| reached.get(**other).is_some_and(|from| from.contains(*node));
        found.push(beyond.iter().filter(back).map(|other| (*other).clone()).collect());
    }
    found
}

/// Returns every node that can be reached from `start` with one or more steps.
fn reach<'a>(graph: &'a Graph, start: &String) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut pending: Vec<&String> = graph.get(start).into_iter().flatten().collect();
    while let Some(node) = pending.pop() {
        if seen.insert(node) {
            pending.extend(graph.get(node).into_iter().flatten());
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(arrows: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::new();
        for (from, to) in arrows {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        graph
    }

    fn found(arrows: &[(&str, &str)]) -> Vec<String> {
        let join = |circle: BTreeSet<String>| circle.into_iter().collect::<String>();
        circles(&graph(arrows)).into_iter().map(join).collect()
    }

    #[test]
    fn only_what_leads_back_is_a_circle() {
        assert!(found(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
        assert_eq!(found(&[("a", "b"), ("b", "a"), ("b", "c")]), ["ab"]);
        assert_eq!(
            found(&[("a", "b"), ("b", "c"), ("c", "a"), ("x", "a"), ("d", "e"), ("e", "d")]),
            ["abc", "de"]
        );
    }
}
