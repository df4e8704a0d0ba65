//! Tests of the loader with drivers: discovery, manifests, negotiation, instances, physical devices, surfaces, and
//! unknown functions.

#[cfg(target_os = "linux")]
mod apart;
#[cfg(target_os = "linux")]
mod catalogue;
#[cfg(target_os = "linux")]
mod catalogue_file;
#[cfg(target_os = "linux")]
mod catalogue_image;
#[cfg(target_os = "linux")]
mod catalogue_in_place;
#[cfg(target_os = "linux")]
mod catalogue_machine;
#[cfg(target_os = "linux")]
mod catalogue_reading;
#[cfg(target_os = "linux")]
mod catalogue_trace;
#[cfg(target_os = "linux")]
mod catalogue_verified;
mod create_device;
mod create_instance;
mod device_functions;
mod device_groups;
mod device_lists;
mod devices;
mod direct;
mod directories;
mod discovery;
mod display;
mod display_lacking;
mod elevated;
mod emulation;
mod emulation_chains;
mod emulation_rest;
mod filters;
mod full_screen;
mod generations;
mod group_attempts;
mod groups;
mod id_filters;
mod instance_extensions;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod lazy;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod lazy_altered;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod lazy_answers;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod lazy_callbacks;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod lazy_changes;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod lazy_late;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod lazy_opening;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod lazy_reasons;
mod manifest;
mod many_devices;
mod negotiation;
mod nothing_left;
mod odd_drivers;
mod opening;
mod portability;
mod preloaded;
mod real;
mod repeated;
#[cfg(unix)]
mod sample;
#[cfg(target_os = "linux")]
mod service;
#[cfg(target_os = "linux")]
mod service_hostile;
#[cfg(target_os = "linux")]
mod service_limits;
#[cfg(target_os = "linux")]
mod service_needs;
#[cfg(target_os = "linux")]
mod service_place;
#[cfg(target_os = "linux")]
mod service_server;
mod shared_swapchains;
mod short_memory;
mod sorting;
mod surface_emulation;
mod surface_gates;
mod surface_lives;
mod surface_queries;
mod surfaces;
mod swapchains;
mod threads;
mod unknown_device;
mod unknown_physical;
mod versions;
mod visible;
#[cfg(target_os = "linux")]
mod visible_chosen;
#[cfg(windows)]
mod windows;
mod wrong_drivers;
