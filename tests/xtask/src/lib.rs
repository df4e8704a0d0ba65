//! Writes documents and tables from the sources of the project, and checks documents.
//!
//! [`tree`] reads the project, [`rust`] parses its Rust, and [`words`] reads its prose. [`documents`] combines the other modules:
//!
//! - [`mod@reference`] reads the requirement numbers of `docs/reference/`. [`cases`] reads the behaviour cases, and [`matrix`] lists the
//!   cases that test each promise.
//! - [`tables`] writes the tables of documents, and [`headers`] writes the version of the Vulkan header.
//! - [`links`], [`commands`], [`counts`] and [`claims`] check links, commands, counts, and claims about all code.
//! - [`prose`] checks the English of pages and of [`comments`].
//!
//! [`interface`], [`contents`] and [`licences`] examine built and packed files. [`abi`] prints layouts, values and signatures, which stage
//! `abi` compares with the C headers. [`mutants`] lists mutants, which `tests/mutants` tries.
#![forbid(unsafe_code)]

pub mod abi;
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
pub mod mutants;
pub mod prose;
pub mod reference;
pub mod rust;
mod sentences;
pub mod tables;
pub mod tree;
pub mod words;
