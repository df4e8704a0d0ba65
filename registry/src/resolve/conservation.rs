//! Checks that the model loses no command. Each command is available, or is listed with the reason why it is unavailable (GEN-82, GEN-27).

use super::scope::Scope;
use crate::diagnostic::{Code, Reporter};
use crate::model::Command;
use crate::parse::Raw;
use crate::parse::attributes::{DISABLED, tokens};
use crate::parse::commands::CommandBody;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Checks that features require exactly the commands whose definition lists the API in `export`.
pub(super) fn exports(raw: &Raw<'_>, commands: &BTreeMap<String, Command>, report: &mut Reporter<'_>) {
    let places: HashMap<&str, usize> = raw.commands.iter().map(|raw| (raw.name, raw.at)).collect();
    for command in commands
        .values()
        .filter(|command| command.core.is_some() != command.export)
    {
        let text = match command.core {
            Some(version) => format!(
                "`{}` is core since {version} but its `export` does not say so",
                command.name
            ),
            None => format!("`{}` is listed in `export` but no feature requires it", command.name),
        };
        report.report(
            places.get(command.name.as_str()).copied().unwrap_or(0),
            Code::ExportMismatch,
            text,
        );
    }
}

/// Returns the commands that pass the API filter but that nothing in scope provides, each with the reason.
pub(super) fn unlisted(
    raw: &Raw<'_>,
    scope: &Scope<'_>,
    commands: &BTreeMap<String, Command>,
    report: &mut Reporter<'_>,
) -> BTreeMap<String, String> {
    let wanted: HashSet<&str> = raw
        .providers
        .iter()
        .flat_map(|provider| &provider.requires)
        .flat_map(|require| &require.commands)
        .map(|named| named.name)
        .collect();
    let mut found = BTreeMap::new();
    for raw_command in &raw.commands {
        if !wanted.contains(raw_command.name) {
            let text = format!("no provider requires `{}`", raw_command.name);
            report.report(raw_command.at, Code::NeverRequired, text);
        }
    }
    let admitted = raw.commands.iter().filter(|raw| match &raw.body {
        CommandBody::Alias(_) => true,
        CommandBody::Prototype { apis, .. } => apis.admits_loader(),
    });
    for command in admitted.filter(|raw| !commands.contains_key(raw.name)) {
        if let Some(provider) = scope.commands.elsewhere(command.name) {
            found.insert(command.name.to_owned(), reason(raw, provider));
        }
    }
    found
}

fn reason(raw: &Raw<'_>, provider: &str) -> String {
    let list = raw
        .providers
        .iter()
        .find(|raw| raw.name == provider)
        .and_then(|raw| raw.apis.text())
        .unwrap_or_default();
    if tokens(list).any(|token| token == DISABLED) {
        format!("only the disabled extension {provider} provides it")
    } else {
        format!("only {provider} provides it, for {list}")
    }
}
