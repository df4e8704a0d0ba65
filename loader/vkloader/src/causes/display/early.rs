//! Finds missing displays of programs that failed before they opened a Vulkan loader.

use super::{apart, problems};
use crate::names;
use crate::paths::file_name;
use crate::report::{Dropped, Report, codes};

/// Adds the problems with the display to the first finding, about a program that failed before it opened a Vulkan loader. Wine opens no loader without
/// a display, so the display then comes first. Other programs may need no display.
pub(crate) fn before_loader(report: &mut Report) {
    let is_of_wine = report.executed.iter().any(|path| file_name(path).starts_with("wine"));
    let problems = problems(report);
    if problems.is_empty() {
        return;
    }
    let advice = problems.iter().find_map(|problem| problem.advice.clone());
    let advice = advice.or_else(|| apart(report));
    let facts = problems.into_iter().map(|problem| problem.finding);
    let row = codes::DISPLAY_MISSING;
    if is_of_wine {
        let of_wine = "Wine opens a Vulkan loader only with a display";
        let found = Dropped {
            advice: advice.unwrap_or_else(|| row.remedy.into()),
            findings: facts.chain([of_wine.into()]).collect(),
            ..row.about_any("the display")
        };
        report.dropped.insert(0, found);
    } else if let Some(first) = report.dropped.first_mut() {
        first
            .findings
            .extend(facts.map(|fact| format!("there is no display: {fact}")));
        if let Some(advice) = advice {
            let known = first.advice.trim_end_matches('.');
            let begin = if known.is_empty() {
                String::new()
            } else {
                format!("{known}. ")
            };
            first.advice = format!("{begin}If it needs a display: {}", names::as_clause(&advice));
        }
    }
}
