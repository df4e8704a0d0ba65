//! Adds the origins of variables to the findings that the variables cause.

use super::Origin;
use crate::causes::overriding::{self, REPLACING};
use crate::report::{self, Dropped, Report, rank};
use std::collections::{BTreeMap, BTreeSet};

/// Variables that the dynamic linker reads. A remedy says to take a library or folder out of one of them.
const OF_LINKER: [&str; 2] = ["LD_LIBRARY_PATH", "LD_PRELOAD"];

/// Adds the origins of the variables that cause the findings.
pub(in crate::causes) fn add_all(report: &mut Report) {
    let is_flatpak = report.runs_in(&["flatpak"]);
    let Report { dropped, variables, .. } = report;
    let both = REPLACING.iter().all(|name| variables.get(name).is_some());
    for one in dropped.iter_mut().filter(|_| both) {
        overriding::unset_both(one);
    }
    let mut known: BTreeMap<String, Origin> = BTreeMap::new();
    // The variables of a layer that hides a device are named also if the user asked for that, so that the user can undo it.
    let is_named = |one: &&mut Dropped| one.rank < rank::ASIDE || !report::controlling_in(one).is_empty();
    for dropped in dropped.iter_mut().filter(is_named) {
        for name in causing(dropped) {
            let find = || Origin::of(&name, variables, is_flatpak);
            known.entry(name.clone()).or_insert_with(find).add_to(dropped, &name);
        }
    }
}

/// Adds the origin of a variable to the finding at the index `place`.
pub(crate) fn add_origin(report: &mut Report, place: usize, name: &str) {
    let is_flatpak = report.runs_in(&["flatpak"]);
    let origin = Origin::of(name, &report.variables, is_flatpak);
    origin.add_to(&mut report.dropped[place], name);
}

/// Returns the variable of the dynamic linker out of which a remedy takes a library or folder.
pub(in crate::causes) fn takes_out_of(advice: &str) -> Option<&'static str> {
    let is_it = |name: &&str| advice.contains(&format!(" out of {name}"));
    OF_LINKER.into_iter().find(is_it)
}

/// Returns the variables that cause a finding.
fn causing(dropped: &Dropped) -> Vec<String> {
    let named = takes_out_of(&dropped.advice);
    let of_layer = report::controlling_in(dropped).into_iter().map(String::from);
    let of_linker = || named.map(String::from);
    let unset =
        |name: &&&str| dropped.advice.contains(&format!("unset {name}")) && dropped.variable.as_deref() != Some(**name);
    let others = REPLACING.iter().filter(unset).map(|name| (*name).to_owned());
    let own = dropped.variable.clone().or_else(of_linker);
    let mut names = BTreeSet::new();
    let all = own.into_iter().chain(others).chain(of_layer);
    all.filter(|name| names.insert(name.clone())).collect()
}
