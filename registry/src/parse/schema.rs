//! Lists all constructs that the registry files can contain (GEN-80).
//!
//! An element is listed by its path, with its attributes in three groups. The crate reads *used* attributes for the model or for checks.
//! *Informational* attributes describe entry points for readers of a difference, and have no other effect. *Irrelevant* attributes concern
//! documentation, validation or headers. A construct that is not in these lists is an error.

/// Rule for all elements with the path `path`.
pub(super) struct Rule {
    pub(super) path: &'static str,
    pub(super) content: Content,
    pub(super) used: &'static [&'static str],
    pub(super) informational: &'static [&'static str],
    pub(super) irrelevant: &'static [&'static str],
}

/// Content of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Elements without text.
    Elements,
    /// Text, with or without elements.
    Text,
    /// Subtree that does not concern entry points, and that is not read.
    Skipped,
}

use Content::{Elements, Skipped, Text};

type Names = &'static [&'static str];
const NONE: Names = &[];

const fn rule(path: &'static str, content: Content, used: Names, informational: Names, irrelevant: Names) -> Rule {
    Rule {
        path,
        content,
        used,
        informational,
        irrelevant,
    }
}

const fn skipped(path: &'static str) -> Rule {
    rule(path, Skipped, NONE, NONE, NONE)
}

const fn comment(path: &'static str) -> Rule {
    rule(path, Text, NONE, NONE, NONE)
}

const TYPE: Names = &[
    "name",
    "category",
    "requires",
    "api",
    "alias",
    "bitvalues",
    "objtypeenum",
    "parent",
    "structextends",
];
const TYPE_IRRELEVANT: Names = &[
    "comment",
    "returnedonly",
    "requiredlimittype",
    "allowduplicate",
    "deprecated",
];
const MEMBER: Names = &["api", "len", "values", "objecttype"];
const MEMBER_IRRELEVANT: Names = &[
    "optional",
    "noautovalidity",
    "limittype",
    "deprecated",
    "externsync",
    "flagsextend",
    "flagsextendmember",
    "altlen",
    "featurelink",
    "selection",
    "selector",
];
const PARAM: Names = &["api", "len", "optional", "objecttype"];
const PARAM_IRRELEVANT: Names = &["externsync", "noautovalidity", "stride", "altlen", "validstructs"];
const COMMAND: Names = &["name", "alias", "api", "export"];
const COMMAND_INFORMATIONAL: Names = &["successcodes", "errorcodes", "queues"];
const COMMAND_IRRELEVANT: Names = &[
    "comment",
    "allownoqueues",
    "conditionalrendering",
    "renderpass",
    "cmdbufferlevel",
    "tasks",
    "videocoding",
];
const ENUMERANT: Names = &[
    "name",
    "extends",
    "value",
    "bitpos",
    "offset",
    "extnumber",
    "dir",
    "alias",
    "api",
];
const ENUMERANT_IRRELEVANT: Names = &["comment", "deprecated", "protect"];
const EXTENSION: Names = &[
    "name",
    "number",
    "type",
    "supported",
    "platform",
    "provisional",
    "depends",
    "promotedto",
    "deprecatedby",
    "obsoletedby",
];
const EXTENSION_INFORMATIONAL: Names = &["ratified", "specialuse"];
const EXTENSION_IRRELEVANT: Names = &["author", "contact", "comment", "nofeatures", "sortorder"];
const SUPERSEDED: Names = &["name", "supersededby"];
const MEMBER_REFERENCE: Names = &["name", "struct"];

/// Returns the attributes that the rules list as used, with the paths of their elements, for tests that remove attributes.
pub(crate) fn used() -> impl Iterator<Item = (&'static str, &'static str)> {
    VULKAN
        .iter()
        .flat_map(|rule| rule.used.iter().map(|attribute| (rule.path, *attribute)))
}

/// Constructs of the Vulkan registry.
pub(super) const VULKAN: &[Rule] = &[
    rule("registry", Elements, NONE, NONE, NONE),
    comment("registry/comment"),
    rule("registry/platforms", Elements, NONE, NONE, &["comment"]),
    rule(
        "registry/platforms/platform",
        Elements,
        &["name", "protect"],
        NONE,
        &["comment"],
    ),
    rule("registry/types", Elements, NONE, NONE, &["comment"]),
    comment("registry/types/comment"),
    rule("registry/types/type", Text, TYPE, NONE, TYPE_IRRELEVANT),
    comment("registry/types/type/comment"),
    rule("registry/types/type/name", Text, NONE, NONE, NONE),
    rule("registry/types/type/type", Text, NONE, NONE, NONE),
    rule("registry/types/type/proto", Text, NONE, NONE, NONE),
    rule("registry/types/type/proto/type", Text, NONE, NONE, NONE),
    rule("registry/types/type/proto/name", Text, NONE, NONE, NONE),
    rule("registry/types/type/param", Text, NONE, NONE, NONE),
    rule("registry/types/type/param/type", Text, NONE, NONE, NONE),
    rule("registry/types/type/param/name", Text, NONE, NONE, NONE),
    rule("registry/types/type/member", Text, MEMBER, NONE, MEMBER_IRRELEVANT),
    rule("registry/types/type/member/type", Text, NONE, NONE, NONE),
    rule("registry/types/type/member/name", Text, NONE, NONE, &["alias"]),
    rule("registry/types/type/member/enum", Text, NONE, NONE, NONE),
    comment("registry/types/type/member/comment"),
    rule(
        "registry/enums",
        Elements,
        &["name", "type", "bitwidth"],
        NONE,
        &["comment"],
    ),
    comment("registry/enums/comment"),
    rule(
        "registry/enums/enum",
        Elements,
        &["name", "type", "value", "bitpos", "alias", "api"],
        NONE,
        &["comment", "deprecated"],
    ),
    rule("registry/enums/unused", Elements, NONE, NONE, &["start", "comment"]),
    rule("registry/commands", Elements, NONE, NONE, &["comment"]),
    rule(
        "registry/commands/command",
        Elements,
        COMMAND,
        COMMAND_INFORMATIONAL,
        COMMAND_IRRELEVANT,
    ),
    rule("registry/commands/command/proto", Text, NONE, NONE, NONE),
    rule("registry/commands/command/proto/type", Text, NONE, NONE, NONE),
    rule("registry/commands/command/proto/name", Text, NONE, NONE, NONE),
    rule("registry/commands/command/param", Text, PARAM, NONE, PARAM_IRRELEVANT),
    rule("registry/commands/command/param/type", Text, NONE, NONE, NONE),
    rule("registry/commands/command/param/name", Text, NONE, NONE, NONE),
    skipped("registry/commands/command/implicitexternsyncparams"),
    rule(
        "registry/feature",
        Elements,
        &["api", "name", "number"],
        &["apitype", "depends"],
        &["comment"],
    ),
    rule(
        "registry/feature/require",
        Elements,
        &["api", "depends"],
        NONE,
        &["comment"],
    ),
    rule(
        "registry/feature/require/command",
        Elements,
        &["name"],
        NONE,
        &["comment"],
    ),
    rule("registry/feature/require/type", Elements, &["name"], NONE, &["comment"]),
    rule(
        "registry/feature/require/enum",
        Elements,
        ENUMERANT,
        NONE,
        ENUMERANT_IRRELEVANT,
    ),
    rule(
        "registry/feature/require/feature",
        Elements,
        NONE,
        MEMBER_REFERENCE,
        NONE,
    ),
    comment("registry/feature/require/comment"),
    rule("registry/feature/deprecate", Elements, NONE, &["explanationlink"], NONE),
    rule("registry/feature/deprecate/type", Elements, NONE, SUPERSEDED, NONE),
    rule("registry/feature/deprecate/command", Elements, SUPERSEDED, NONE, NONE),
    rule(
        "registry/feature/remove",
        Elements,
        NONE,
        NONE,
        &["comment", "reasonlink"],
    ),
    rule("registry/feature/remove/command", Elements, &["name"], NONE, NONE),
    rule("registry/feature/remove/type", Elements, &["name"], NONE, NONE),
    rule("registry/feature/remove/enum", Elements, &["name"], NONE, NONE),
    rule(
        "registry/feature/remove/feature",
        Elements,
        NONE,
        MEMBER_REFERENCE,
        NONE,
    ),
    comment("registry/feature/remove/comment"),
    rule("registry/extensions", Elements, NONE, NONE, &["comment"]),
    rule(
        "registry/extensions/extension",
        Elements,
        EXTENSION,
        EXTENSION_INFORMATIONAL,
        EXTENSION_IRRELEVANT,
    ),
    rule(
        "registry/extensions/extension/require",
        Elements,
        &["api", "depends"],
        NONE,
        &["comment"],
    ),
    rule(
        "registry/extensions/extension/require/command",
        Elements,
        &["name"],
        NONE,
        &["comment"],
    ),
    rule(
        "registry/extensions/extension/require/type",
        Elements,
        &["name"],
        NONE,
        &["comment"],
    ),
    rule(
        "registry/extensions/extension/require/enum",
        Elements,
        ENUMERANT,
        NONE,
        ENUMERANT_IRRELEVANT,
    ),
    rule(
        "registry/extensions/extension/require/feature",
        Elements,
        NONE,
        MEMBER_REFERENCE,
        NONE,
    ),
    comment("registry/extensions/extension/require/comment"),
    rule(
        "registry/extensions/extension/deprecate",
        Elements,
        NONE,
        &["explanationlink"],
        NONE,
    ),
    rule(
        "registry/extensions/extension/deprecate/command",
        Elements,
        SUPERSEDED,
        NONE,
        NONE,
    ),
    rule(
        "registry/extensions/extension/deprecate/type",
        Elements,
        NONE,
        SUPERSEDED,
        NONE,
    ),
    rule(
        "registry/extensions/extension/deprecate/feature",
        Elements,
        NONE,
        MEMBER_REFERENCE,
        NONE,
    ),
    rule(
        "registry/extensions/extension/remove",
        Elements,
        NONE,
        NONE,
        &["comment", "reasonlink"],
    ),
    rule(
        "registry/extensions/extension/remove/command",
        Elements,
        &["name"],
        NONE,
        NONE,
    ),
    rule(
        "registry/extensions/extension/remove/type",
        Elements,
        &["name"],
        NONE,
        NONE,
    ),
    rule(
        "registry/extensions/extension/remove/enum",
        Elements,
        &["name"],
        NONE,
        NONE,
    ),
    rule(
        "registry/extensions/extension/remove/feature",
        Elements,
        NONE,
        MEMBER_REFERENCE,
        NONE,
    ),
    skipped("registry/tags"),
    skipped("registry/formats"),
    skipped("registry/dynamicstates"),
    skipped("registry/spirvextensions"),
    skipped("registry/spirvcapabilities"),
    skipped("registry/sync"),
    skipped("registry/videocodecs"),
];

/// Constructs of the video registry, which has types of codec headers and no entry point (GEN-4).
pub(super) const VIDEO: &[Rule] = &[
    rule("registry", Elements, NONE, NONE, NONE),
    comment("registry/comment"),
    rule("registry/types", Elements, NONE, NONE, &["comment"]),
    rule(
        "registry/types/type",
        Text,
        &["category"],
        NONE,
        &["name", "requires", "comment"],
    ),
    comment("registry/types/type/comment"),
    rule("registry/types/type/name", Text, NONE, NONE, NONE),
    rule("registry/types/type/type", Text, NONE, NONE, NONE),
    skipped("registry/types/type/member"),
    skipped("registry/enums"),
    rule("registry/extensions", Elements, NONE, NONE, NONE),
    rule(
        "registry/extensions/extension",
        Elements,
        NONE,
        NONE,
        &["name", "number", "comment", "supported"],
    ),
    rule("registry/extensions/extension/require", Elements, NONE, NONE, NONE),
    rule(
        "registry/extensions/extension/require/type",
        Elements,
        NONE,
        NONE,
        &["name"],
    ),
    rule(
        "registry/extensions/extension/require/enum",
        Elements,
        NONE,
        NONE,
        &["name", "value", "type"],
    ),
];
