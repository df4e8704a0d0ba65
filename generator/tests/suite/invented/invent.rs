//! Invents unpublished extensions that are valid by the rules of vk.xml.

use super::random::Random;
use std::fmt::Write;

/// Parts of one invented extension, for insertion into vk.xml.
#[derive(Clone, Default)]
pub(crate) struct Invention {
    /// Number of the invention, which is part of all its names.
    pub(crate) number: usize,
    pub(crate) types: String,
    pub(crate) commands: String,
    pub(crate) features: String,
    pub(crate) platforms: String,
    /// Elements that the extension or feature requires.
    requires: String,
    /// Attributes of the extension, in addition to name, number and API.
    attributes: String,
    /// Condition of the `<require>` block that lists all elements of the invention.
    depends: String,
    /// Number of enumerant offsets in use.
    offsets: usize,
}

/// Structures that an invented structure can extend, and commands that an invented command can alias. All of them are
/// in the registry.
pub(crate) struct Material {
    pub(crate) bases: Vec<String>,
    pub(crate) commands: Vec<String>,
}

/// Types of members: handles that the loader wraps, other handles, and types without a handle.
const KINDS: [&str; 14] = [
    "VkPhysicalDevice",
    "VkSurfaceKHR",
    "VkInstance",
    "VkDebugUtilsMessengerEXT",
    "VkBuffer",
    "VkSemaphore",
    "VkQueue",
    "VkCommandBuffer",
    "uint32_t",
    "VkDeviceSize",
    "float",
    "VkBool32",
    "VkExtent2D",
    "VkFence",
];
const VENDOR: &str = "JUGGLE";

impl Invention {
    /// Returns the tag in every invented name. The tag ends with a letter, so that no tag is a prefix of another tag.
    pub(crate) fn tag(&self) -> String {
        format!("{}x{VENDOR}", self.number)
    }

    /// Creates a device extension with the given types, commands and required elements.
    pub(crate) fn of(types: &str, commands: &str, requires: &str) -> Self {
        Self {
            types: types.to_owned(),
            commands: commands.to_owned(),
            requires: requires.to_owned(),
            attributes: "type=\"device\"".to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn is_of_instance(&self) -> bool {
        self.attributes.contains("type=\"instance\"")
    }

    /// Returns the `<extension>` element.
    pub(crate) fn extension(&self) -> String {
        let (tag, number) = (self.tag(), 5000 + self.number);
        let name = format!("VK_{VENDOR}_trick_{}x", self.number);
        let Self {
            attributes,
            depends,
            requires,
            ..
        } = self;
        format!(
            "<extension name=\"{name}\" number=\"{number}\" supported=\"vulkan\" {attributes}><require {depends}>\
             <enum value=\"1\" name=\"VK_TRICK_{tag}_SPEC_VERSION\"/>\
             <enum value=\"&quot;{name}&quot;\" name=\"VK_TRICK_{tag}_EXTENSION_NAME\"/>{requires}</require></extension>\n"
        )
    }

    fn enumerant(&mut self, of: &str, name: &str) {
        let offset = self.offsets;
        self.offsets += 1;
        let _ = write!(
            self.requires,
            "<enum offset=\"{offset}\" extends=\"{of}\" name=\"{name}\"/>"
        );
    }

    fn define_type(&mut self, name: &str, text: &str) {
        self.types.push_str(text);
        self.types.push('\n');
        let _ = write!(self.requires, "<type name=\"{name}\"/>");
    }

    /// Adds a structure with the given members. The structure extends `base`, unless `base` is empty.
    fn structure(&mut self, name: &str, base: &str, next: &str, members: &str) {
        let value = format!("VK_STRUCTURE_TYPE_{}", name.to_uppercase());
        self.enumerant("VkStructureType", &value);
        let extends = if base.is_empty() {
            String::new()
        } else {
            format!(" structextends=\"{base}\"")
        };
        let text = format!(
            "<type category=\"struct\" name=\"{name}\"{extends}><member values=\"{value}\"><type>VkStructureType</type> \
             <name>sType</name></member><member optional=\"true\">{next}<type>void</type>* <name>pNext</name></member>{members}</type>"
        );
        self.define_type(name, &text);
    }

    fn handle(&mut self, name: &str, parent: &str, dispatchable: bool) {
        let value = format!("VK_OBJECT_TYPE_{}", name.to_uppercase());
        self.enumerant("VkObjectType", &value);
        let define = if dispatchable {
            "VK_DEFINE_HANDLE"
        } else {
            "VK_DEFINE_NON_DISPATCHABLE_HANDLE"
        };
        let text = format!(
            "<type category=\"handle\" parent=\"{parent}\" objtypeenum=\"{value}\"><type>{define}</type>(<name>{name}</name>)</type>"
        );
        self.define_type(name, &text);
    }

    /// Returns a member that may contain a handle, in one of several forms.
    fn payload(&mut self, random: &mut Random) -> String {
        let kind = random.of(&KINDS);
        let number = "<member><type>uint32_t</type> <name>count</name></member>";
        let (before, attributes, behind) = match random.below(11) {
            0 => ("", "", " <name>thing</name>"),
            1 => ("const ", " len=\"count\"", "* <name>pThings</name>"),
            2 => ("", "", " <name>things</name>[3]"),
            3 => ("const ", " len=\"count,1\"", "* const* <name>ppThings</name>"),
            4 => ("", "", "* <name>pThing</name>"),
            5 => {
                return "<member><type>VkObjectType</type> <name>kind</name></member>\
                        <member objecttype=\"kind\"><type>uint64_t</type> <name>object</name></member>"
                    .to_owned();
            }
            _ => return self.hidden(kind, random),
        };
        format!("{number}<member{attributes}>{before}<type>{kind}</type>{behind}</member>")
    }

    /// Returns a member of an invented type, from which a handle may be reachable.
    fn hidden(&mut self, kind: &str, random: &mut Random) -> String {
        let tag = self.tag();
        let (name, text, behind) = match random.below(5) {
            0 | 1 => {
                let (name, word) = (format!("VkInner{tag}"), random.of(&["struct", "union"]));
                let members = format!("<member><type>{kind}</type> <name>thing</name></member>");
                let text = format!("<type category=\"{word}\" name=\"{name}\">{members}</type>");
                let behind = [" <name>inner</name>", " <name>inner</name>[2]", "* <name>pInner</name>"];
                (name, text, random.of(&behind))
            }
            2 => {
                let name = format!("VkAlias{tag}");
                let (target, category) = random.of(&[
                    ("VkSurfaceKHR", "handle"),
                    ("VkBuffer", "handle"),
                    ("VkApplicationInfo", "struct"),
                ]);
                let text = format!("<type category=\"{category}\" name=\"{name}\" alias=\"{target}\"/>");
                (name, text, "* <name>pOther</name>")
            }
            3 => {
                let name = format!("PFN_vkCall{tag}");
                let text = format!(
                    "<type category=\"funcpointer\"><proto><type>void</type> <name>{name}</name></proto>\
                     <param><type>{kind}</type> <name>thing</name></param></type>"
                );
                (name, text, " <name>pfnCall</name>")
            }
            _ => {
                let (name, target) = (format!("VkTypedef{tag}"), random.of(&["VkSurfaceKHR", "uint64_t"]));
                let declared = format!("typedef <type>{target}</type> <name>{name}</name>;");
                (
                    name,
                    format!("<type category=\"basetype\">{declared}</type>"),
                    " <name>other</name>",
                )
            }
        };
        self.define_type(&name, &text);
        format!("<member><type>{name}</type>{behind}</member>")
    }

    fn command(&mut self, name: &str, attributes: &str, returned: &str, params: &str) {
        let text = format!(
            "<command {attributes}><proto><type>{returned}</type> <name>{name}</name></proto>{params}</command>\n"
        );
        self.commands.push_str(&text);
        let _ = write!(self.requires, "<command name=\"{name}\"/>");
    }
}

fn param(kind: &str, name: &str) -> String {
    format!("<param><type>{kind}</type> <name>{name}</name></param>")
}

/// Handles on which commands are dispatched, with the usual name of a parameter for each handle.
const FIRST: [(&str, &str); 6] = [
    ("VkDevice", "device"),
    ("VkDevice", "device"),
    ("VkQueue", "queue"),
    ("VkCommandBuffer", "commandBuffer"),
    ("VkPhysicalDevice", "physicalDevice"),
    ("VkInstance", "instance"),
];

/// Creates the invention with this number.
pub(crate) fn invent(number: usize, seed: u64, material: &Material) -> Invention {
    let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
    let mut new = Invention {
        number,
        ..Invention::default()
    };
    surroundings(&mut new, &mut random);
    match random.below(10) {
        0..=3 => chain(&mut new, &mut random, material),
        4 | 5 => plain_command(&mut new, &mut random),
        6 => command_with_structure(&mut new, &mut random),
        7 => alias(&mut new, &mut random, material),
        8 => objects(&mut new, &mut random),
        _ => core(&mut new, &mut random),
    }
    new
}

/// Chooses the kind, platform and conditions of the extension.
fn surroundings(new: &mut Invention, random: &mut Random) {
    let kind = random.of(&["device", "device", "device", "instance"]);
    new.attributes = format!("type=\"{kind}\" depends=\"VK_VERSION_1_1\"");
    if random.once_in(4) {
        let word = random.of(&["xcb", "win32", "provisional", "new"]);
        let platform = if word == "new" {
            format!("stage{}x", new.number)
        } else {
            word.to_owned()
        };
        if word == "new" {
            new.platforms = format!(
                "<platform name=\"{platform}\" protect=\"VK_USE_PLATFORM_STAGE{}_X\"/>\n",
                new.number
            );
        }
        let provisional = if word == "provisional" {
            " provisional=\"true\""
        } else {
            ""
        };
        let _ = write!(new.attributes, " platform=\"{platform}\"{provisional}");
    }
    if random.once_in(3) {
        new.attributes.push_str(random.of(&[
            " promotedto=\"VK_VERSION_1_4\"",
            " promotedto=\"VK_KHR_swapchain\"",
            " deprecatedby=\"\"",
            " obsoletedby=\"VK_EXT_debug_utils\"",
        ]));
    }
    if random.once_in(3) {
        new.depends = random
            .of(&[
                "depends=\"VK_KHR_surface+VK_VERSION_1_2\"",
                "depends=\"(VK_VERSION_1_3,VK_KHR_dynamic_rendering)+VK_KHR_swapchain\"",
                "depends=\"VkPhysicalDeviceFeatures::robustBufferAccess\"",
            ])
            .to_owned();
    }
}

/// Adds a structure to a chain, and sometimes a second structure to the chain of the first.
fn chain(new: &mut Invention, random: &mut Random, material: &Material) {
    const LIKELY: [&str; 8] = [
        "VkDeviceCreateInfo",
        "VkPhysicalDeviceProperties2",
        "VkSwapchainCreateInfoKHR",
        "VkPhysicalDeviceSurfaceInfo2KHR",
        "VkInstanceCreateInfo",
        "VkPresentInfoKHR",
        "VkSubmitInfo2",
        "VkSurfaceCapabilities2KHR",
    ];
    let base = if random.once_in(2) {
        random.of(&LIKELY).to_owned()
    } else {
        material.bases[random.below(material.bases.len())].clone()
    };
    let (outer, inner) = (format!("VkOuter{}", new.tag()), format!("VkDeep{}", new.tag()));
    let next = random.of(&["const ", ""]);
    let members = new.payload(random);
    if random.once_in(4) {
        new.structure(
            &outer,
            &base,
            next,
            "<member><type>uint32_t</type> <name>count</name></member>",
        );
        new.structure(&inner, &outer, next, &members);
    } else {
        new.structure(&outer, &base, next, &members);
    }
}

/// Adds a command with numbers and unwrapped handles as parameters. Sometimes adds a wrapped handle.
fn plain_command(new: &mut Invention, random: &mut Random) {
    let (handle, name) = random.of(&FIRST);
    let mut params = param(handle, name);
    for number in 0..random.below(6) {
        let kind = random.of(&[
            "uint32_t",
            "uint64_t",
            "VkBuffer",
            "size_t",
            "VkDeviceSize",
            "VkFlags",
            "VkPipelineStageFlags2",
            "uint32_t",
        ]);
        params.push_str(&param(kind, &format!("value{number}")));
    }
    if random.once_in(3) {
        let kind = random.of(&["VkSurfaceKHR", "VkPhysicalDevice", "VkCommandBuffer", "VkQueue"]);
        let (before, behind) = random.of(&[
            ("", " <name>extra</name>"),
            ("const ", "* <name>pExtra</name>"),
            ("", "* <name>pExtra</name>"),
            ("const ", " <name>extra</name>[2]"),
        ]);
        let _ = write!(params, "<param>{before}<type>{kind}</type>{behind}</param>");
    }
    let returned = random.of(&[
        "void",
        "VkResult",
        "uint64_t",
        "VkBool32",
        "VkDeviceAddress",
        "VkPhysicalDevice",
        "VkQueue",
        "void",
    ]);
    let name = command_name(new, handle);
    new.command(&name, "", returned, &params);
}

/// Returns a command name that fits the dispatched handle, as in the registry.
fn command_name(new: &Invention, handle: &str) -> String {
    let verb = if handle == "VkCommandBuffer" {
        "vkCmdThrow"
    } else {
        "vkThrow"
    };
    format!("{verb}{}", new.tag())
}

fn command_with_structure(new: &mut Invention, random: &mut Random) {
    let (handle, name) = random.of(&FIRST);
    let members = new.payload(random);
    let structure = format!("VkThrowInfo{}", new.tag());
    new.structure(&structure, "", random.of(&["const ", ""]), &members);
    let how = random.of(&["const ", ""]);
    let params = param(handle, name) + &format!("<param>{how}<type>{structure}</type>* <name>pInfo</name></param>");
    let name = command_name(new, handle);
    new.command(&name, "", random.of(&["VkResult", "void"]), &params);
}

fn alias(new: &mut Invention, random: &mut Random, material: &Material) {
    let target = &material.commands[random.below(material.commands.len())];
    let name = format!("{target}{}", new.tag());
    let _ = writeln!(new.commands, "<command name=\"{name}\" alias=\"{target}\"/>");
    let _ = write!(new.requires, "<command name=\"{name}\"/>");
}

/// Adds a new kind of object, with commands that create, use and destroy it.
fn objects(new: &mut Invention, random: &mut Random) {
    let (tag, dispatchable) = (new.tag(), random.once_in(2));
    let handle = format!("VkBall{tag}");
    new.handle(&handle, "VkDevice", dispatchable);
    let device = param("VkDevice", "device");
    let make = device.clone() + &format!("<param><type>{handle}</type>* <name>pBall</name></param>");
    new.command(&format!("vkMakeBall{tag}"), "", random.of(&["VkResult", "void"]), &make);
    let drop = device + &param(&handle, "ball");
    new.command(&format!("vkDropBall{tag}"), "", "void", &drop);
    if dispatchable {
        let name = random.of(&["ball", "queue"]);
        new.command(
            &format!("vkRollBall{tag}"),
            "",
            "void",
            &(param(&handle, name) + &param("uint32_t", "value0")),
        );
    }
}

/// Adds a command to the core of Vulkan 1.4.
fn core(new: &mut Invention, random: &mut Random) {
    let (handle, name) = random.of(&FIRST[..5]);
    let params = param(handle, name) + &param("uint32_t", "value0") + &param("uint64_t", "value1");
    let command = command_name(new, handle);
    let text = format!(
        "<command export=\"vulkan\"><proto><type>uint64_t</type> <name>{command}</name></proto>{params}</command>\n"
    );
    new.commands.push_str(&text);
    new.features = format!(
        "<feature api=\"vulkan\" apitype=\"internal\" name=\"VK_TRICK_VERSION_{}X\" number=\"1.4\"><require>\
         <command name=\"{command}\"/></require></feature>\n",
        new.number
    );
}

/// Returns the text of the registry with the inventions added.
pub(crate) fn with(text: &str, inventions: &[Invention]) -> String {
    let all = |part: fn(&Invention) -> String| inventions.iter().map(part).collect::<String>();
    let parts = [
        ("</platforms>", all(|it| it.platforms.clone())),
        ("</types>", all(|it| it.types.clone())),
        ("</commands>", all(|it| it.commands.clone())),
        ("</extensions>", all(Invention::extension)),
    ];
    let mut text = text.to_owned();
    for (end, part) in parts {
        let at = text.find(end).expect("the end of a chapter");
        text.insert_str(at, &part);
    }
    // Features precede the extensions.
    let at = text.find("<extensions").expect("the extensions");
    text.insert_str(at, &all(|it| it.features.clone()));
    text
}
