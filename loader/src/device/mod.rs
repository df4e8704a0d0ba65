//! Devices: the object behind the dispatch pointer, and how devices come and go.
//!
//! [`create`] is what the application and layers call. It makes the [`Device`] record, builds the [`chain`] of layers and
//! calls its top; the last layer calls [`terminator`], which makes the driver's device. The application gets the handle
//! that the topmost layer returned; the record is found through the first word of that handle (LAY-252).

mod chain;
mod create;
mod destroy;
mod group;
mod object;
mod terminator;

pub(crate) use create::{create_device, layer_create_device};
pub(crate) use destroy::{destroy_device, layer_destroy_device, release_forgotten};
pub(crate) use object::{DEVICES, Device, Pinned};
pub(crate) use terminator::create_device_terminator;
