//! Documents and tables that follow from the sources of the project, and checks of documents.
//!
//! [`tree`] reads the project, [`rust`] parses its Rust, and [`words`] reads its prose. [`documents`] combines the other modules:
//!
//! - [`mod@reference`] has the numbers of `docs/reference/`, [`cases`] the behaviour cases, and [`matrix`] the cases that show each promise.
//! - [`tables`] writes the tables of documents, and [`headers`] the header that they name.
//! - [`links`], [`commands`], [`counts`] and [`claims`] check links, commands, counts, and claims about all code.
//! - [`prose`] judges the English of pages and of [`comments`].
//!
//! [`interface`], [`contents`] and [`licences`] are about built and packed files.
#![forbid(unsafe_code)]

pub mod cases;
pub mod claims;
pub mod commands;
pub mod comments;
pub mod contents;
pub mod counts;
pub mod documents;
pub mod headers;
pub mod interface;
pub mod licences;
pub mod links;
pub mod matrix;
pub mod metadata;
pub mod prose;
pub mod reference;
pub mod rust;
pub mod tables;
pub mod tree;
pub mod words;
