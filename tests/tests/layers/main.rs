//! Tests of the loader with layers: discovery, manifests, activation, meta-layers, negotiation, chains, unknown commands, and enumeration.
//!
//! The name of a case begins with the number of the requirement that it checks: `lay_` for the rules, and `bi_` for the bad inputs of the
//! layer reference. The doc comment names the other requirements.

mod activation;
#[cfg(target_os = "linux")]
#[path = "../drivers/apart.rs"]
mod apart;
mod below;
mod call_stack;
mod changing;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod closed;
mod device_chain;
mod device_table;
mod discovery;
mod elevated;
mod enumeration;
#[cfg(unix)]
mod file_systems;
mod filters;
mod gate;
mod hostile;
mod instance_chain;
mod instance_extensions;
mod kit;
#[cfg(unix)]
mod large;
mod libraries;
mod listed;
mod manifest_fields;
mod manifest_text;
mod meta;
mod meta_refused;
mod negotiation;
mod order;
mod overriding;
mod overriding_removed;
mod paths;
mod places;
mod pre_instance;
mod reentry;
mod retries;
#[cfg(unix)]
mod sample;
mod scan_cache;
mod scan_cache_drivers;
mod settings;
mod short_heap;
mod short_memory;
mod steps;
mod unasked;
mod unknown;
#[cfg(windows)]
mod windows;
mod wrapping;

#[cfg(not(unix))]
loader_tests::left_out!(mod file_systems);
#[cfg(not(unix))]
loader_tests::left_out!(mod large);
#[cfg(not(unix))]
loader_tests::left_out!(mod sample);
