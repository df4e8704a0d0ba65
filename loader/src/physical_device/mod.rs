//! Physical devices: their objects, and the commands that list them.
//!
//! An enumeration passes three stations. [`entry`] is what the application calls: it goes down the layer chain, drops
//! what the ID filters hide ([`filter`]) and puts the application's objects in place of the chain's. The chain ends at
//! [`terminator`], which asks every driver ([`walk`]). Then it selects by the settings file ([`configured`]), or hides
//! devices by the words for visible ones ([`wishes`]) and sorts ([`order`]). A system with an order of its own has
//! [`adapters`] instead. [`groups`] does the same for device groups. [`objects`] keeps one object a device, for as long as the
//! instance lives.

mod adapters;
mod configured;
mod described;
mod entry;
mod extensions;
mod facts;
mod filter;
mod groups;
mod object;
mod objects;
mod order;
mod prime;
mod reported;
mod retire;
pub(crate) mod terminator;
mod walk;
mod wishes;

pub(crate) use entry::enumerate_physical_devices;
pub(crate) use extensions::{enumerate_device_extension_properties, enumerate_device_layer_properties};
pub(crate) use groups::enumerate_physical_device_groups;
pub(crate) use object::{AppPhysicalDevice, ChainPhysicalDevice};
pub(crate) use objects::PhysicalDevices;
pub(crate) use reported::ReportedDevices;
