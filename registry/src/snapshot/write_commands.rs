//! Writes commands and extensions to a snapshot.

use super::entry::Text;
use crate::model::{Command, Extension, ExtensionKind, Param, Registry};

pub(super) fn commands(registry: &Registry) -> String {
    let mut text = Text::new();
    for command in registry.commands.values() {
        write_command(&mut text, command);
    }
    for (name, reason) in &registry.unlisted_commands {
        text.record("unlisted", name);
        text.fact("reason", reason);
    }
    text.finish()
}

fn write_command(text: &mut Text, command: &Command) {
    text.record("command", &command.name);
    text.fact("level", command.level.word());
    text.optional("handle", command.first_handle.as_ref());
    text.optional("core", command.core);
    if command.export {
        text.fact("export", "yes");
    }
    for provider in &command.providers {
        text.fact("extension", &provider.extension);
        text.detail("if", provider.depends.as_ref());
    }
    text.optional("platform", command.platform.as_ref());
    text.optional("alias", command.alias.as_ref());
    for deprecation in &command.deprecations {
        text.fact("deprecated", &deprecation.by);
        text.detail("superseded-by", deprecation.superseded_by.as_ref());
    }
    for param in &command.params {
        write_param(text, param);
    }
    text.fact("returns", &command.return_type);
}

fn write_param(text: &mut Text, param: &Param) {
    text.fact("param", format_args!("{} {}", param.ty, param.name));
    text.detail("len", param.len.as_ref());
    if !param.optional.is_empty() {
        let flags: Vec<_> = param.optional.iter().map(ToString::to_string).collect();
        text.detail("optional", Some(flags.join(",")));
    }
    text.detail("object-type", param.object_type.as_ref());
}

pub(super) fn extensions(registry: &Registry) -> String {
    let mut text = Text::new();
    for extension in registry.extensions.values() {
        write_extension(&mut text, extension);
    }
    for name in &registry.reserved_extensions {
        text.record("reserved", name);
    }
    text.finish()
}

fn write_extension(text: &mut Text, extension: &Extension) {
    text.record("extension", &extension.name);
    text.fact("number", extension.number);
    let kind = match extension.kind {
        ExtensionKind::Instance => "instance",
        ExtensionKind::Device => "device",
    };
    text.fact("type", kind);
    text.fact("version", extension.spec_version);
    text.optional("platform", extension.platform.as_ref());
    if extension.provisional {
        text.fact("provisional", "yes");
    }
    text.optional("depends", extension.depends.as_ref());
    text.optional("promoted-to", extension.promoted_to.as_ref());
    text.optional("deprecated-by", extension.deprecated_by.as_ref());
    text.optional("obsoleted-by", extension.obsoleted_by.as_ref());
}
