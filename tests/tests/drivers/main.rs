//! The driver side: discovery, manifests, negotiation, instances, physical devices, surfaces, unknown functions.

mod direct;
mod directories;
mod discovery;
mod filters;
mod manifest;
mod negotiation;
mod opening;
