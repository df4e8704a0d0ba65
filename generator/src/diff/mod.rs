//! Compares two registries, and reports the differences that concern the loader (GEN-90 to GEN-92).
//!
//! Each module compares one kind of fact, and returns its sections even if they are empty. The modules for output formats depend only on
//! the finished [`Report`], and not on registries.

mod commands;
mod counts;
mod enums;
mod exports;
mod extensions;
mod files;
mod handles;
mod html;
mod input;
mod json;
mod markdown;
mod notes;
mod report;
mod special;
mod text;
mod types;
mod view;

pub use html::html;
pub use input::side;
pub use json::json;
pub use markdown::markdown;
pub use report::{Change, Count, Entry, Report, Section, Severity};
pub use text::text;
pub use view::{Side, View};

use crate::policy::Policy;

/// Compares two registries under one policy.
pub fn compare(old: &Side, new: &Side, policy: &Policy) -> Report {
    between(&View::new(old, policy), &View::new(new, policy))
}

/// Compares two registries whose facts were derived under one policy.
pub fn between(old: &View<'_>, new: &View<'_>) -> Report {
    let chapters = [
        commands::sections,
        extensions::sections,
        handles::sections,
        types::sections,
        enums::sections,
        special::sections,
        exports::sections,
        files::sections,
    ];
    let sections = chapters.iter().flat_map(|chapter| chapter(old, new));
    Report {
        old: old.registry.header.to_string(),
        new: new.registry.header.to_string(),
        sections: sections.collect(),
        counts: counts::counts(old, new),
    }
}
