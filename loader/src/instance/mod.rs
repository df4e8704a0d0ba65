//! Instances: the object, its creation and destruction, and the queries that need none.
//!
//! Order of work in `vkCreateInstance` (APP-80 to APP-99): [`create`] is what the application calls. It makes the
//! [`Instance`], decides on layers and drivers, and calls the first layer through [`chain`]; the last layer calls
//! [`terminator`], which makes an [`InstanceDriver`] of every driver. Whatever fails, [`destroy`] takes apart what was
//! made so far.

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
