//! Physical devices: their objects, and the commands that list them.
//!
//! The application calls [`entry`], which calls the layer chain, drops devices that the ID filters hide ([`filter`]), and replaces the
//! chain's objects by the application's objects. At the end of the chain, [`terminator`] asks every driver ([`walk`]). If the settings file
//! configures devices, the terminator selects these ([`configured`]). Otherwise, the terminator hides devices as the user wishes
//! ([`wishes`]). The terminator also sorts the devices ([`order`]), unless the system has its own order ([`adapters`]). [`groups`] does the
//! same for device groups. [`objects`] keeps one object per device as long as the instance lives.

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
mod served;
pub(crate) mod terminator;
mod walk;
mod wishes;

pub(crate) use entry::enumerate_physical_devices;
pub(crate) use extensions::{enumerate_device_extension_properties, enumerate_device_layer_properties};
pub(crate) use groups::enumerate_physical_device_groups;
pub(crate) use object::{AppPhysicalDevice, ChainPhysicalDevice};
pub(crate) use objects::PhysicalDevices;
pub(crate) use reported::ReportedDevices;
