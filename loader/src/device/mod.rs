//! Devices: their record, creation and destruction.
//!
//! The application and layers call [`create`], which makes the [`Device`] record, builds the [`chain`] of layers and calls the topmost
//! entity of the chain. The last layer calls [`terminator`], which creates the driver's device. The application gets the handle that the
//! topmost layer returned. The first word of that handle points to the record (LAY-252).

mod chain;
mod create;
mod destroy;
mod features;
mod group;
mod object;
mod terminator;

pub(crate) use create::{create_device, layer_create_device};
pub(crate) use destroy::{destroy_device, layer_destroy_device, release_forgotten};
pub(crate) use object::{DEVICES, Device, Pinned};
pub(crate) use terminator::create_device_terminator;
