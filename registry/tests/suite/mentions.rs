//! Tests of the search for the places of a name. `vkgen explain` prints these places.

use crate::common::VULKAN;
use vk_registry::{Source, mentions};

fn found(name: &str) -> Vec<(u32, String, Option<String>)> {
    let source = Source {
        name: "vk.xml",
        text: VULKAN,
    };
    let found = mentions(source, name).expect("the fixture");
    found
        .into_iter()
        .map(|mention| (mention.line, mention.path, mention.provider))
        .collect()
}

fn line(text: &str) -> u32 {
    let index = VULKAN.lines().position(|line| line.contains(text)).expect(text);
    u32::try_from(index + 1).expect("a small file")
}

#[test]
fn gen_2_every_element_that_contributed_is_found() {
    let owned = |line, path: &str, provider: Option<&str>| (line, path.to_owned(), provider.map(str::to_owned));
    assert_eq!(
        found("vkCmdThing"),
        [
            owned(line("alias=\"vkCmdThing\""), "registry/commands/command", None),
            owned(line("<name>vkCmdThing<") - 1, "registry/commands/command", None),
            owned(
                line("<command name=\"vkCmdThing\"/>"),
                "registry/feature/require/command",
                Some("VK_COMPUTE_VERSION_1_1")
            ),
        ]
    );
    assert_eq!(
        found("VK_EXT_other"),
        [
            owned(
                line("<require depends=\"VK_EXT_other+"),
                "registry/extensions/extension/require",
                Some("VK_KHR_thing")
            ),
            owned(
                line("<extension name=\"VK_EXT_other\""),
                "registry/extensions/extension",
                None
            ),
            owned(
                line("VK_EXT_OTHER_EXTENSION_NAME"),
                "registry/extensions/extension/require/enum",
                Some("VK_EXT_other")
            ),
        ]
    );
    assert_eq!(found("vkNothing"), []);
}
