//! The driver side: discovery, manifests, negotiation, instances, physical devices, surfaces, unknown functions.

mod create_device;
mod create_instance;
mod device_functions;
mod devices;
mod direct;
mod directories;
mod discovery;
mod display;
mod emulation;
mod filters;
mod groups;
mod id_filters;
mod instance_extensions;
mod manifest;
mod negotiation;
mod opening;
mod portability;
mod sorting;
mod surface_queries;
mod surfaces;
mod swapchains;
mod unknown_device;
mod unknown_physical;
mod versions;
