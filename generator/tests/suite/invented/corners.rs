//! Corner cases that random inventions may miss, each with its expected result.

use super::Ground;
use super::invent::{self, Invention};
use std::collections::BTreeSet;
use vk_registry::{Source, load};
use vkgen::plan::Plan;

/// Expected result of a corner case.
enum Fate {
    /// `import` refuses the case with the code of a diagnostic.
    Refused(&'static str),
    /// The generator stops, and reports exactly the commands in the first field. Each message contains the text in the second field.
    Stops(&'static [&'static str], &'static str),
    /// The case is accepted.
    Taken,
}

use Fate::{Refused, Stops, Taken};

/// Corner case: its description, the added types, the added commands, the elements that require them, and the expected
/// result.
type Corner = (&'static str, &'static str, &'static str, &'static str, Fate);

const STRUCTURE_TYPE: &str = "<enum offset=\"0\" extends=\"VkStructureType\" name=\"VK_STRUCTURE_TYPE_CORNER\"/>";
const HEAD: &str = "<member values=\"VK_STRUCTURE_TYPE_CORNER\"><type>VkStructureType</type> <name>sType</name></member>\
                    <member>const <type>void</type>* <name>pNext</name></member>";
const PROPERTIES: &[&str] = &["vkGetPhysicalDeviceProperties2", "vkGetPhysicalDeviceProperties2KHR"];

const CHAINS: &[Corner] = &[
    (
        "a chain of a structure's other name",
        "<type category=\"struct\" name=\"VkCorner\" structextends=\"VkPhysicalDeviceProperties2KHR\">HEAD\
         <member><type>VkPhysicalDevice</type> <name>other</name></member></type>",
        "",
        "<type name=\"VkCorner\"/>",
        Stops(PROPERTIES, "VkPhysicalDeviceProperties2.pNext -> VkCorner"),
    ),
    (
        "an array of structures in the chain of a chain, with a union that has a pointer to a pointer",
        "<type category=\"union\" name=\"VkCornerUnion\"><member><type>uint32_t</type> <name>number</name></member>\
         <member>const <type>VkPhysicalDevice</type>* const* <name>ppOthers</name></member></type>\
         <type category=\"struct\" name=\"VkCornerItem\"><member><type>VkCornerUnion</type> <name>items</name>[2]</member></type>\
         <type category=\"struct\" name=\"VkCorner\" structextends=\"VkPhysicalDeviceProperties2\">HEAD</type>\
         <type category=\"struct\" name=\"VkCornerDeep\" structextends=\"VkCorner\">HEAD\
         <member><type>uint32_t</type> <name>count</name></member>\
         <member len=\"count\">const <type>VkCornerItem</type>* <name>pItems</name></member></type>",
        "",
        "<type name=\"VkCornerUnion\"/><type name=\"VkCornerItem\"/><type name=\"VkCorner\"/><type name=\"VkCornerDeep\"/>",
        Stops(PROPERTIES, "VkCornerUnion.ppOthers -> VkPhysicalDevice"),
    ),
    (
        "a member of another API",
        "<type category=\"struct\" name=\"VkCorner\" structextends=\"VkPhysicalDeviceProperties2\">HEAD\
         <member api=\"vulkansc\"><type>VkPhysicalDevice</type> <name>other</name></member></type>",
        "",
        "<type name=\"VkCorner\"/>",
        Taken,
    ),
    (
        "a member that is deprecated is still one",
        "<type category=\"struct\" name=\"VkCorner\" structextends=\"VkPhysicalDeviceProperties2\">HEAD\
         <member deprecated=\"ignored\"><type>VkPhysicalDevice</type> <name>other</name></member></type>",
        "",
        "<type name=\"VkCorner\"/>",
        Stops(PROPERTIES, "VkCorner.other -> VkPhysicalDevice"),
    ),
    (
        "a callback that takes a structure with a surface",
        "<type category=\"struct\" name=\"VkCornerItem\"><member><type>VkSurfaceKHR</type> <name>surface</name></member></type>\
         <type category=\"funcpointer\"><proto><type>void</type> <name>PFN_vkCorner</name></proto>\
         <param>const <type>VkCornerItem</type>* <name>pItem</name></param></type>\
         <type category=\"struct\" name=\"VkCorner\" structextends=\"VkPhysicalDeviceProperties2\">HEAD\
         <member><type>PFN_vkCorner</type> <name>pfn</name></member></type>",
        "",
        "<type name=\"VkCornerItem\"/><type name=\"PFN_vkCorner\"/><type name=\"VkCorner\"/>",
        Stops(PROPERTIES, "PFN_vkCorner.pItem -> VkCornerItem"),
    ),
    (
        "a raw handle whose kind stands beside it, unmarked",
        "<type category=\"struct\" name=\"VkCorner\" structextends=\"VkPhysicalDeviceProperties2\">HEAD\
         <member><type>VkObjectType</type> <name>kind</name></member><member><type>uint64_t</type> <name>object</name></member></type>",
        "",
        "<type name=\"VkCorner\"/>",
        Stops(PROPERTIES, "VkCorner.object -> uint64_t"),
    ),
    (
        "a structure that extends what is not there",
        "<type category=\"struct\" name=\"VkCorner\" structextends=\"VkNowhere\">HEAD</type>",
        "",
        "<type name=\"VkCorner\"/>",
        Refused("unresolved-type"),
    ),
    (
        "a typedef of a handle in the chain of a treated command",
        "<type category=\"basetype\">typedef <type>VkSurfaceKHR</type> <name>VkCornerBase</name>;</type>\
         <type category=\"struct\" name=\"VkCorner\" structextends=\"VkPhysicalDeviceProperties2\">HEAD\
         <member><type>VkCornerBase</type> <name>other</name></member></type>",
        "",
        "<type name=\"VkCornerBase\"/><type name=\"VkCorner\"/>",
        Stops(PROPERTIES, "VkCorner.other -> VkSurfaceKHR"),
    ),
];

const COMMANDS: &[Corner] = &[
    (
        "a queue under another name as the first parameter",
        "<type category=\"handle\" name=\"VkQueueCorner\" alias=\"VkQueue\"/>",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param><type>VkQueueCorner</type> <name>queue</name></param></command>",
        "<type name=\"VkQueueCorner\"/><command name=\"vkCorner\"/>",
        Taken,
    ),
    (
        "a queue under another name as an output",
        "<type category=\"handle\" name=\"VkQueueCorner\" alias=\"VkQueue\"/>",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param><type>VkDevice</type> <name>device</name></param>\
         <param><type>VkQueueCorner</type>* <name>pQueue</name></param></command>",
        "<type name=\"VkQueueCorner\"/><command name=\"vkCorner\"/>",
        Stops(&["vkCorner"], "pQueue -> VkQueue"),
    ),
    (
        "queues as many as a formula says",
        "",
        "<command><proto><type>VkResult</type> <name>vkCorner</name></proto><param><type>VkDevice</type> <name>device</name></param>\
         <param len=\"latexmath:[\\lceil{x \\over 2}\\rceil]\" stride=\"8\" optional=\"false,true\"><type>VkQueue</type>* <name>pQueues</name></param></command>",
        "<command name=\"vkCorner\"/>",
        Stops(&["vkCorner"], "entry = \"handwritten\""),
    ),
    (
        "an output structure with a queue",
        "<type category=\"struct\" name=\"VkCorner\"><member><type>VkQueue</type> <name>queue</name></member></type>",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param><type>VkDevice</type> <name>device</name></param>\
         <param><type>VkCorner</type>* <name>pCorner</name></param></command>",
        "<type name=\"VkCorner\"/><command name=\"vkCorner\"/>",
        Stops(&["vkCorner"], "outputs_dispatchable"),
    ),
    (
        "an input structure with a queue",
        "<type category=\"struct\" name=\"VkCorner\"><member><type>VkQueue</type> <name>queue</name></member></type>",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param><type>VkDevice</type> <name>device</name></param>\
         <param>const <type>VkCorner</type>* <name>pCorner</name></param></command>",
        "<type name=\"VkCorner\"/><command name=\"vkCorner\"/>",
        Taken,
    ),
    (
        "an output structure with an array of physical devices",
        "<type category=\"struct\" name=\"VkCorner\"><member><type>VkPhysicalDevice</type> <name>devices</name>[<enum>VK_MAX_DEVICE_GROUP_SIZE</enum>]</member></type>",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param><type>VkQueue</type> <name>queue</name></param>\
         <param><type>VkCorner</type>* <name>pCorner</name></param></command>",
        "<type name=\"VkCorner\"/><command name=\"vkCorner\"/>",
        Stops(&["vkCorner"], "wrapped_handle"),
    ),
    (
        "a queue handed over for a device",
        "",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param><type>VkQueue</type> <name>device</name></param></command>",
        "<command name=\"vkCorner\"/>",
        Stops(&["vkCorner"], "parameter of that name as a VkDevice"),
    ),
    (
        "a surface as the result",
        "",
        "<command><proto><type>VkSurfaceKHR</type> <name>vkCorner</name></proto><param><type>VkDevice</type> <name>device</name></param></command>",
        "<command name=\"vkCorner\"/>",
        Stops(&["vkCorner"], "return -> VkSurfaceKHR"),
    ),
    (
        "parameters that are keywords",
        "",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param><type>VkDevice</type> <name>device</name></param>\
         <param><type>uint32_t</type> <name>type</name></param><param><type>uint32_t</type> <name>self</name></param>\
         <param><type>uint32_t</type> <name>gen</name></param></command>",
        "<command name=\"vkCorner\"/>",
        Taken,
    ),
    (
        "a flag of `optional` that nobody knows",
        "",
        "<command><proto><type>void</type> <name>vkCorner</name></proto>\
         <param optional=\"maybe\"><type>VkDevice</type> <name>device</name></param></command>",
        "<command name=\"vkCorner\"/>",
        Refused("bad-value"),
    ),
    (
        "a structure by value",
        "",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param><type>VkDevice</type> <name>device</name></param>\
         <param><type>VkExtent2D</type> <name>extent</name></param></command>",
        "<command name=\"vkCorner\"/>",
        Refused("struct-by-value"),
    ),
    (
        "a pointer to a device as the first parameter",
        "",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param>const <type>VkDevice</type>* <name>pDevices</name></param></command>",
        "<command name=\"vkCorner\"/>",
        Stops(&["vkCorner"], "global"),
    ),
    (
        "an object of the instance that commands are dispatched on",
        "<type category=\"handle\" parent=\"VkInstance\" objtypeenum=\"VK_OBJECT_TYPE_CORNER\"><type>VK_DEFINE_HANDLE</type>(<name>VkCorner</name>)</type>",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param><type>VkCorner</type> <name>device</name></param></command>",
        "<enum offset=\"1\" extends=\"VkObjectType\" name=\"VK_OBJECT_TYPE_CORNER\"/><type name=\"VkCorner\"/><command name=\"vkCorner\"/>",
        Refused("no-level"),
    ),
    (
        "a type of a platform by value",
        "<type requires=\"X11/Xlib.h\" name=\"corner_t\"/>",
        "<command><proto><type>void</type> <name>vkCorner</name></proto><param><type>VkDevice</type> <name>device</name></param>\
         <param><type>corner_t</type> <name>value</name></param></command>",
        "<type name=\"corner_t\"/><command name=\"vkCorner\"/>",
        Stops(&["vkCorner"], "types.by-value"),
    ),
    (
        "an alias of an alias of a treated command",
        "",
        "<command name=\"vkCorner\" alias=\"vkGetPhysicalDeviceFeatures2KHR\"/>",
        "<command name=\"vkCorner\"/>",
        Stops(&["vkCorner"], "other_name"),
    ),
];

/// GEN-75, GEN-71j: each hand-written case is accepted, refused or sent to the reviewer as expected.
#[test]
fn gen_75_corners_have_their_fate() {
    let Some(ground) = Ground::read() else { return };
    for (what, types, commands, requires, fate) in CHAINS.iter().chain(COMMANDS) {
        let corner = Invention::of(
            &types.replace("HEAD", HEAD),
            commands,
            &format!("{STRUCTURE_TYPE}{requires}"),
        );
        let text = invent::with(&ground.text, &[corner]);
        let source = |name, text| Source { name, text };
        let registry = load(source("vk.xml", &text), source("video.xml", &ground.video));
        let registry = match (registry, fate) {
            (Ok(registry), Stops(..) | Taken) => registry,
            (Err(found), Refused(code)) => {
                assert!(found.iter().all(|it| it.code.word() == *code), "{what}: {found:#?}");
                continue;
            }
            (registry, _) => panic!("{what}: {:#?}", registry.err()),
        };
        let problems = Plan::draft(&registry, &ground.policy).1;
        let names: BTreeSet<&str> = problems.iter().map(|it| it.name.as_str()).collect();
        let (expected, part) = match fate {
            Stops(commands, part) => (commands.iter().copied().collect(), *part),
            Refused(_) | Taken => (BTreeSet::new(), ""),
        };
        assert_eq!(names, expected, "{what}: {problems:#?}");
        let told: String = problems.iter().map(super::told).collect();
        assert!(told.contains(part), "{what}: {part} is not in {told}");
    }
}
