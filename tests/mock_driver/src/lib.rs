//! A Vulkan driver whose behaviour is chosen at run time.
//!
//! The library reads a text file that lies beside it (`libmock_a.so` reads `libmock_a.conf`), so that one built library,
//! copied under several names, gives several different drivers. The file is read again at every call: a test changes
//! a driver's behaviour between two calls by writing it anew. [`config`] lists what can be chosen.
//!
//! Each call leaves one line in a journal file ([`journal`]). Every object is recorded ([`object`]): a handle that this
//! driver did not make is noted and ends the process, and what is still alive is written down when the library leaves.
//!
//! No thread-local value with a destructor is used, because one would keep the library in the process.

mod alloc;
mod chain;
mod commands;
mod config;
mod debug;
mod device;
mod display;
mod entry;
mod exclusive;
mod global;
mod journal;
mod life;
mod lookup;
mod naming;
mod object;
mod physical;
mod physical2;
mod plain;
mod state;
mod surface;
mod swapchain;
mod system;
mod unknown;
