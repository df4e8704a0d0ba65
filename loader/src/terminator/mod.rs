//! The hand-written bodies of terminators, under the names that the emitted functions call.

mod emulated;

pub use crate::debug::terminator::*;
pub use crate::device::create_device_terminator as create_device;
pub use crate::instance::{
    create_instance_terminator as create_instance, destroy_instance_terminator as destroy_instance,
};
pub use crate::physical_device::terminator::*;
pub use crate::proc_addr::{
    terminator_get_device_proc_addr as get_device_proc_addr,
    terminator_get_instance_proc_addr as get_instance_proc_addr,
};
pub use crate::target::{device_of, instance_of, require_device, require_instance};
pub use crate::wsi::terminator::*;
pub use emulated::*;
