//! Adds the graphics hardware and the environments around a program to a report.

use super::machine::Machine;
use super::places::POD;
use crate::causes::Snap;
use crate::report::Report;
use std::path::Path;

/// Adds the graphics hardware and the environments around the program to a report.
pub(in crate::causes) fn survey(report: &mut Report) {
    below(report, Path::new("/"));
}

/// Adds the graphics hardware and the environments of the system whose root folder is `root`.
pub(super) fn below(report: &mut Report, root: &Path) {
    let machine = system(report, root);
    report.hardware = machine.cards();
    report.snap = Snap::of(root, |name| report.variables.nonempty(name));
    let is_snap = report.snap.as_ref().is_some_and(Snap::is_sandbox);
    report.surroundings = machine.surroundings(is_snap).into_iter().map(String::from).collect();
    // The files of some pods do not show that they are in a container.
    if report.variables.get(POD).is_some() && !report.runs_in_container() {
        report.surroundings.push("container".into());
    }
}

/// Returns the system with the root folder `root`, as the program sees it.
pub(super) fn system(report: &Report, root: &Path) -> Machine {
    Machine::seen_from(root, report.inside.as_ref())
}
