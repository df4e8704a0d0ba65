//! Handwritten bodies of terminators, with the names that the emitted functions call.

mod emulated;

pub(crate) use crate::debug::terminator::*;
pub(crate) use crate::device::create_device_terminator as create_device;
pub(crate) use crate::instance::{
    create_instance_terminator as create_instance, destroy_instance_terminator as destroy_instance,
};
pub(crate) use crate::physical_device::terminator::*;
pub(crate) use crate::proc_addr::{
    terminator_get_device_proc_addr as get_device_proc_addr,
    terminator_get_instance_proc_addr as get_instance_proc_addr,
};
pub(crate) use crate::wsi::terminator::*;
pub(crate) use emulated::*;
