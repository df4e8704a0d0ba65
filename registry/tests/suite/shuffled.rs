//! Tests that read a shuffled copy of the complete registry. The order of attributes and of independent siblings, white space and line
//! breaks have no meaning (GEN-85). The model, and every byte of the output, therefore remains the same.

use crate::common::{read, registry_folder};
use roxmltree::{Document, Node};
use vk_registry::{Source, load, snapshot};

/// Elements whose children are independent of each other. The order of members, parameters and values must not change. The order of members
/// determines the layout of a structure, and the order of parameters determines the arguments of a call. The order of values has a meaning
/// for readers.
const UNORDERED: [&str; 6] = ["registry", "platforms", "types", "commands", "extensions", "require"];

/// Small linear congruential generator, so that a seed always results in the same file.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Writes an element with its attributes and independent children in a random order.
fn write(node: Node<'_, '_>, random: &mut Random, out: &mut String) {
    if node.is_text() {
        out.push_str(&escaped(node.text().unwrap_or_default()));
    }
    if !node.is_element() {
        return;
    }
    let name = node.tag_name().name();
    let mut attributes: Vec<String> = node
        .attributes()
        .map(|it| {
            format!(
                "{}{}=\"{}\"",
                [" ", "\n\t", "   "][random.below(3)],
                it.name(),
                escaped(it.value())
            )
        })
        .collect();
    random.shuffle(&mut attributes);
    out.push_str(&format!("<{name}{}>", attributes.concat()));
    if UNORDERED.contains(&name) {
        let mut children: Vec<Node<'_, '_>> = node.children().filter(Node::is_element).collect();
        random.shuffle(&mut children);
        for child in children {
            out.push_str(["\n", "\n        ", "", "<!-- a remark -->"][random.below(4)]);
            write(child, random, out);
        }
    } else {
        node.children().for_each(|child| write(child, random, out));
    }
    out.push_str(&format!("</{name}>"));
}

#[test]
fn gen_85_a_shuffled_registry_gives_the_same_snapshot() {
    let Some(folder) = registry_folder() else { return };
    let (vk, video) = (read(&folder.join("vk.xml")), read(&folder.join("video.xml")));
    let model = |text: &str| {
        let (name, video_name) = ("vk.xml", "video.xml");
        let video = Source {
            name: video_name,
            text: &video,
        };
        load(Source { name, text }, video).unwrap_or_else(|found| panic!("{}", found[0]))
    };
    let expected = snapshot::write(&model(&vk));
    let document = Document::parse(&vk).expect("the pinned registry");
    for seed in 0..4 {
        let mut text = String::new();
        write(document.root_element(), &mut Random(seed), &mut text);
        if seed % 2 == 1 {
            text = text.replace('\n', "\r\n");
        }
        assert_ne!(text, vk);
        for ((name, found), (_, expected)) in snapshot::write(&model(&text)).iter().zip(&expected) {
            let difference = found.lines().zip(expected.lines()).find(|(a, b)| a != b);
            assert!(found == expected, "seed {seed}, {name}: {difference:?}");
        }
    }
}
