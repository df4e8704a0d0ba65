//! The driver side: discovery, manifests, negotiation, instances, physical devices, surfaces, unknown functions.

mod create_instance;
mod devices;
mod direct;
mod directories;
mod discovery;
mod filters;
mod groups;
mod id_filters;
mod instance_extensions;
mod manifest;
mod negotiation;
mod opening;
mod portability;
mod sorting;
mod versions;
