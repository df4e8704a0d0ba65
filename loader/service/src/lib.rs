//! The service that hands Vulkan drivers to sandboxed programs (LSV-24 to LSV-36, LSV-43 to LSV-46, LSV-49 to LSV-51). The service is also
//! a library, so that tests and fuzz targets can call its parts.
//!
//! | module | task |
//! |---|---|
//! | [`drivers`] | makes all decisions from observations and the time, without input or output |
//! | [`watch`] | notices changes of devices and packages |
//! | [`reader`], [`worker`] | read packages on a thread |
//! | [`client`], [`protocol`] | exchange packets with clients |
//! | [`limits`] | decides which connection is closed for a new one, and counts requests |
//! | [`accounts`] | finds the user, and the PID namespace, of a client |
//! | [`inspect`], [`log`] | write the state and the log, which administrators read |
//! | [`server`] | runs the loop that uses all other modules |
//!
//! The service never blocks on data that a client left in a connection ([`client::close`]). A closed connection with an unread reply still
//! counts for its user, because the reply contains a descriptor of the service.
//!
//! # Why there is no async runtime
//!
//! The service has at most 512 clients, and answers each request from memory. Reading packages and writing the log are slow, so each has
//! its own thread. A loop over `epoll` shows the order of all work in one place, and needs no task or timer for each client. The loop uses
//! so few system calls that a filter can list them (`harden`).
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod accounts;
pub mod check;
#[cfg(feature = "program")]
pub mod cli;
pub mod client;
pub mod config;
pub mod drivers;
pub mod failure;
pub mod harden;
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
pub mod watch;
pub mod worker;
