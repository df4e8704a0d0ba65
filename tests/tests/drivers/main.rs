//! The driver side: discovery, manifests, negotiation, instances, physical devices, surfaces, unknown functions.

mod discovery;
