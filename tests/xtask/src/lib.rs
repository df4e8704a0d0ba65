//! What follows from the sources of the project, and checks of what documents say.
//!
//! [`tree`] reads the project, [`rust`] its Rust, by a parser, and [`words`] its prose. [`documents`] puts the rest together:
//! [`mod@reference`] has the numbers of `docs/reference/`, [`cases`] the behaviour cases, [`matrix`] what shows each promise, [`tables`] the
//! tables of documents, [`headers`] the header that they name, [`links`] where they lead, [`commands`] the commands that they show,
//! [`counts`] the counts that they must not have, and [`claims`] what they say of all code. [`prose`] judges the English of pages and
//! of [`comments`]. [`interface`], [`contents`] and [`licences`] are about
//! what is built and packed.
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
