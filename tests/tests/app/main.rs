//! Tests of the loader as applications use it: look-up, global commands, messages, allocation callbacks, handle checks,
//! variables, logging, the settings file, and threads.

mod allocation;
mod callbacks;
mod chains;
mod device_lookup;
mod elevated;
mod environment;
mod handles;
mod library;
mod logging;
mod lookup;
mod lookup_table;
mod messages;
mod messengers;
mod names;
mod settings;
mod settings_devices;
mod settings_drivers;
mod settings_members;
mod threads;
#[cfg(unix)]
mod trace;
#[cfg(unix)]
mod trampolines;
mod waiting;
#[cfg(windows)]
mod windows;

#[cfg(not(unix))]
loader_tests::left_out!(mod trace);
#[cfg(not(unix))]
loader_tests::left_out!(mod trampolines);
