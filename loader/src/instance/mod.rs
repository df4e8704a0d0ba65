//! Instances: their object, creation and destruction, and the global queries.
//!
//! The application calls [`create`] (APP-80 to APP-99), which makes the [`Instance`], selects layers and drivers, and calls the first layer
//! through [`chain`]. The last layer calls [`terminator`], which makes an [`InstanceDriver`] for every driver. If a step fails, [`destroy`]
//! releases the results of the earlier steps.

mod chain;
mod configuration;
mod create;
mod destroy;
mod driver;
mod extensions;
mod global;
mod leftovers;
mod nothing_left;
mod object;
mod preinstance;
mod requests;
mod terminator;
mod visible;

pub(crate) use configuration::{Configuration, forget, settings_in_force};
pub(crate) use create::create_instance;
pub(crate) use destroy::{destroy_instance, destroy_instance_terminator, retire};
pub(crate) use driver::InstanceDriver;
pub(crate) use extensions::EnabledExtensions;
pub(crate) use global::{
    enumerate_instance_extension_properties, enumerate_instance_layer_properties, enumerate_instance_version,
};
pub(crate) use nothing_left::tell_nothing_left;
pub(crate) use object::{INSTANCES, Instance};
pub(crate) use preinstance::terminator_of_global;
pub(crate) use terminator::create_instance_terminator;
pub(crate) use visible::VisibleDevices;
