//! Finds children of elements by name.

use roxmltree::Node;

/// Element or text in the tree.
pub(super) type Element<'a> = Node<'a, 'a>;

/// Iterates over the children of `node` with the given name.
pub(super) fn named<'a>(node: Element<'a>, name: &'static str) -> impl Iterator<Item = Element<'a>> {
    node.children()
        .filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// Iterates over the grandchildren of `root` with this exact path.
pub(super) fn chapter<'a>(
    root: Element<'a>,
    outer: &'static str,
    inner: &'static str,
) -> impl Iterator<Item = Element<'a>> {
    named(root, outer).flat_map(move |node| named(node, inner))
}
