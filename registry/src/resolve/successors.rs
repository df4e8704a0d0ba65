//! Checks that the successors of extensions and commands exist (GEN-36, GEN-37).

use crate::diagnostic::{Code, Reporter};
use crate::parse::Raw;
use crate::parse::attributes::tokens;
use crate::parse::providers::ProviderKind;
use std::collections::HashSet;

pub(super) fn check(raw: &Raw<'_>, report: &mut Reporter<'_>) {
    let providers: HashSet<&str> = raw.providers.iter().map(|provider| provider.name).collect();
    let commands: HashSet<&str> = raw.commands.iter().map(|command| command.name).collect();
    for provider in &raw.providers {
        if let ProviderKind::Extension(extension) = &provider.kind {
            let successors = [
                ("promoted to", extension.promoted_to),
                ("deprecated by", extension.deprecated_by),
                ("obsoleted by", extension.obsoleted_by),
            ];
            for (what, list) in successors {
                // An empty list means that the extension is deprecated without a successor.
                for name in tokens(list.unwrap_or_default()).filter(|name| !providers.contains(name)) {
                    let text = format!("`{}` is {what} `{name}`, which does not exist", provider.name);
                    report.report(provider.at, Code::UnknownSuccessor, text);
                }
            }
        }
        for (name, list) in &provider.deprecated {
            for other in tokens(list.unwrap_or_default()).filter(|name| !commands.contains(name)) {
                let text = format!("`{name}` is superseded by `{other}`, which does not exist");
                report.report(provider.at, Code::UnknownSuccessor, text);
            }
        }
    }
}
