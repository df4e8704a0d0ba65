//! The service that hands Vulkan drivers to sandboxed programs (LSV-24 to LSV-36, LSV-43 to LSV-46, LSV-49 to LSV-51), as a library, so
//! that tests and fuzz targets reach its parts.
//!
//! [`drivers`] decides and does nothing else: it is told what was seen and what time it is. Around it [`watch`] hears of devices and
//! packages, [`reader`] reads packages on a thread of [`worker`], [`client`] and [`protocol`] speak with clients, [`held`] and
//! [`limits`] say when a client is answered, and which one makes room, [`inspect`] writes down how things are, [`log`] what happens, and
//! [`server`] is the loop that turns all of it.
//!
//! What a client left in a connection is never waited for ([`client::close`]). What it did not read keeps its place ([`unread`]), as
//! it costs the service descriptors; [`accounts`] says whose place.
//!
//! # Why there is no async runtime
//!
//! There are at most 512 clients, each request is answered from what is in memory, and what takes long, reading packages and writing the
//! log, has a thread each. A loop over `epoll` says in one place when anything is done, needs no
//! task or timer of its own for a client, and leaves a list of system calls that is short enough to be a filter (`harden`).
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod accounts;
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
pub mod log;
pub mod make_package;
pub mod memory;
pub mod package;
pub mod protocol;
pub mod reader;
pub mod renew;
pub mod server;
pub mod socket;
pub mod unread;
pub mod watch;
pub mod worker;
