//! Findings about what a program asks for and the loader of programs lacks. The program ran with the examined library, which has it.

use super::{Dropped, OtherLoader, Report, codes, rank};
use crate::other::Other;

/// Returns a finding about layers and extensions that the loader of programs does not list, or about its version.
pub(super) fn find(report: &Report, other: &Other, described: &OtherLoader) -> Option<Dropped> {
    let path = described.path.as_deref()?;
    let version = described.version.as_deref();
    let to_update = match &described.owner {
        Some(owner) => format!("Update that loader ({owner}), or install the library of this project in its place."),
        // The remedy for a loader of no package follows from the place of its file.
        None => codes::LOADER_FAILED.remedy.into(),
    };
    let facts = version.map(|version| format!("its version: {version}"));
    if let Some((first, others)) = other.lacking.split_first() {
        let (what, result) = if first.starts_with("VK_LAYER_") {
            ("layer", "VK_ERROR_LAYER_NOT_PRESENT")
        } else {
            ("extension", "VK_ERROR_EXTENSION_NOT_PRESENT")
        };
        let more = (!others.is_empty()).then(|| format!("it also lacks {}", others.join(", ")));
        return Some(Dropped {
            reason: format!(
                "The Vulkan loader that programs get lacks the {what} {first}, which the program asks for: without vkloader, vkCreateInstance returns \
                 {result}."
            ),
            findings: facts.into_iter().chain(more).collect(),
            advice: to_update,
            ..codes::LOADER_FAILED.about(path)
        });
    }
    let asked = report.asked_version.as_deref()?;
    // Many programs ask for the version that the loader has, which is another one without vkloader.
    let own = report.loader.as_ref().and_then(|loader| minor(&loader.version));
    if own == minor(asked) {
        return None;
    }
    (minor(asked)? > minor(version?)?).then(|| Dropped {
        reason: format!(
            "The program asks for Vulkan {asked}, and programs get a loader that is older. A program that compares the two does not start without \
             vkloader."
        ),
        findings: facts.into_iter().collect(),
        advice: format!("If the program fails without vkloader: {to_update}"),
        rank: rank::ASIDE,
        ..codes::LOADER_FAILED.about(path)
    })
}

/// Returns the first two numbers of a version.
fn minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_up_to_the_second_number() {
        assert!(minor("1.3.0") > minor("1.2.162") && minor("1.3.239") == minor("1.3.0") && minor("odd").is_none());
    }
}
