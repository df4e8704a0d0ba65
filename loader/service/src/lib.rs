//! The service that hands Vulkan drivers to sandboxed programs (LSV-24 to LSV-36, LSV-43 to LSV-46, LSV-49 to LSV-51), as a library, so
//! that tests and fuzz targets reach its parts.
//!
//! [`drivers`] decides and does nothing else: it is told what was seen and what time it is. Around it [`watch`] hears of devices and
//! packages, [`reader`] reads packages on a thread of [`worker`], [`client`] and [`protocol`] speak with clients, [`held`] and
//! [`limits`] say when and whether a client is answered, [`inspect`] writes down how things are, and [`server`] is the loop that turns
//! all of it.
//!
//! # Why there is no async runtime
//!
//! There are at most 256 clients, each request is answered from what is in memory, and the two things that take long, reading packages
//! and looking at the programs of clients, have a thread each. A loop over `epoll` says in one place when anything is done, needs no
//! task or timer of its own for a client, and leaves a list of system calls that is short enough to be a filter (`harden`).
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod check;
pub mod cli;
pub mod client;
pub mod config;
pub mod drivers;
pub mod harden;
pub mod held;
pub mod inspect;
pub mod json;
pub mod library;
pub mod limits;
pub mod make_package;
pub mod package;
pub mod protocol;
pub mod reader;
pub mod server;
pub mod socket;
pub mod watch;
pub mod worker;
