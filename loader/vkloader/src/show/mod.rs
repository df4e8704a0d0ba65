//! Prints a report as text, page or summary, and evaluates conditions for devices.

mod condition;
mod devices;
mod page;
mod picture;
mod summary;
mod terminal;

pub(crate) use condition::{Condition, matches};
pub(crate) use devices::{devices, driver_word};
pub(crate) use page::html;
pub(crate) use summary::summary;
pub(crate) use terminal::{chain, plain, reason, text};
