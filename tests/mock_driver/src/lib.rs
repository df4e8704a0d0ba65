//! A Vulkan driver whose behaviour is chosen at run time.
//!
//! The library reads a text file beside it (`libmock_a.so` reads `libmock_a.conf`). One built library, copied under several names,
//! therefore provides several different drivers. The library reads the file again at every call, so a test can change a driver's behaviour
//! between two calls. [`config`] lists the choices.
//!
//! Each call writes a line to a journal file ([`journal`]). The library knows every live object ([`object`]). A handle that this driver did
//! not create ends the process, after a journal line. When the library is unloaded, the journal lists the objects that are still alive.
//!
//! The library has no thread-local value with a destructor, because the system would not unload a library with such a value.

mod alloc;
mod back;
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
