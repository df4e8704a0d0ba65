//! Compares enumerations, flags and constants. A changed value breaks programs and drivers, because they were compiled with the old value.

use super::report::{Change, Entry, Section, Severity};
use super::view::{Sides, View};
use std::collections::BTreeMap;
use vk_registry::model::{Bitmask, Constant, Enum, Enumerant};

pub(super) fn sections(old: &View<'_>, new: &View<'_>) -> Vec<Section> {
    let enums = Sides::new(&old.registry.enums, &new.registry.enums).both;
    let enums = enums
        .into_iter()
        .filter_map(|(name, before, after)| Entry::changed(name, enumeration(old, new, before, after)));
    let flags = Sides::new(&old.registry.bitmasks, &new.registry.bitmasks).both;
    let flags = flags
        .into_iter()
        .filter_map(|(name, before, after)| Entry::changed(name, width(before, after)));
    let constants = constants(&old.registry.constants, &new.registry.constants);
    vec![
        Section::new("enumerations", "changed", "Enumerations changed", enums.collect()),
        Section::new("flags", "changed", "Flags changed", flags.collect()),
        Section::new("constants", "changed", "Constants changed", constants),
    ]
}

/// Lists the changes to an enumeration that both registries have. If the enumeration is not emitted, only changes that break programs are
/// listed, because new enumerants come with every header.
fn enumeration(old: &View<'_>, new: &View<'_>, before: &Enum, after: &Enum) -> Vec<Change> {
    let name = before.name.as_str();
    let emitted = old.plan.types.enums.contains(name) && new.plan.types.enums.contains(name);
    let weight = |severity| if emitted { severity } else { Severity::Informational };
    let mut found: Vec<Change> = [
        Change::between(
            "width",
            weight(Severity::Breaking),
            (before.bits, after.bits),
            ToString::to_string,
        ),
        Change::between(
            "holds",
            weight(Severity::Concerns),
            (before.bitmask, after.bitmask),
            |bits| if *bits { "flag bits" } else { "values" }.to_owned(),
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    let (was, is) = (values(before.enumerants.iter()), values(after.enumerants.iter()));
    let (was_emitted, is_emitted) = (values(old.plan.enumerants(before)), values(new.plan.enumerants(after)));
    for (name, value) in &was {
        let severity = if was_emitted.contains_key(name) && emitted {
            Severity::Breaking
        } else {
            Severity::Informational
        };
        match is.get(name) {
            Some(other) if other != value => {
                found.push(Change::new("value", severity, format!("{name}: {value} -> {other}")));
            }
            Some(_) => {}
            None => found.push(Change::new("enumerant", severity, format!("without {name}"))),
        }
    }
    let is_fresh = |(name, _): &(&&str, &i128)| emitted && !was_emitted.contains_key(*name);
    found.extend(is_emitted.iter().filter(is_fresh).map(|(name, value)| {
        let text = format!("with {name} = {value}");
        Change::new("enumerant", Severity::Concerns, text)
    }));
    found
}

fn values<'e>(enumerants: impl IntoIterator<Item = &'e Enumerant>) -> BTreeMap<&'e str, i128> {
    enumerants
        .into_iter()
        .map(|enumerant| (enumerant.name.as_str(), enumerant.value))
        .collect()
}

fn width(before: &Bitmask, after: &Bitmask) -> Vec<Change> {
    let bits = (before.bits, after.bits);
    let change = Change::between("width", Severity::Breaking, bits, ToString::to_string);
    change.into_iter().collect()
}

fn constants(old: &BTreeMap<String, Constant>, new: &BTreeMap<String, Constant>) -> Vec<Entry> {
    let sides = Sides::new(old, new);
    let shown = |constant: &Constant| format!("{} {}", constant.ty, constant.value);
    let only = |constants: &[(&str, &Constant)], severity, what: &str| -> Vec<Entry> {
        let entry = |(name, constant): &(&str, &Constant)| {
            Entry::noted(name, severity, "value", format!("{what} {}", shown(constant)))
        };
        constants.iter().map(entry).collect()
    };
    let changed = sides.both.iter().filter_map(|(name, before, after)| {
        let values = (shown(before), shown(after));
        let change = Change::between("value", Severity::Breaking, values, Clone::clone);
        Entry::changed(name, change.into_iter().collect())
    });
    let mut found = only(&sides.added, Severity::Concerns, "new:");
    found.extend(only(&sides.removed, Severity::Breaking, "was"));
    found.extend(changed);
    found
}
