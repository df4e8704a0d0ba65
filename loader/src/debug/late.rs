//! Callbacks of the application for a driver that is opened late (DRV-283).

use super::create_info::CreateInfo;
use crate::driver::PreloadedDrivers;
use crate::generated::types::{
    VkDebugReportCallbackCreateInfoEXT, VkDebugUtilsMessengerCreateFlagsEXT, VkDebugUtilsMessengerCreateInfoEXT,
    VkResult,
};
use crate::handle::{Driver, InstanceHandle};
use crate::instance::{Instance, InstanceDriver};
use crate::late::{LateHost, Real, THUNK_HANDLE};
use crate::library::Library;
use crate::messenger::{Callback, Kind};
use crate::stubs;
use crate::table::Slot;
use crate::translation::offsets;
use core::ptr::null;
use discovery::text::Text;

const _: () = assert!(cfg!(target_pointer_width = "32") || THUNK_HANDLE == offsets::APP_PHYSICAL_DEVICE_HANDLE);

impl Instance {
    fn driver_of(&self, stand_in: InstanceHandle<Driver>) -> Option<&InstanceDriver> {
        self.drivers().find(|driver| driver.handle == stand_in)
    }
}

impl LateHost for Instance {
    fn hand_over(&self, stand_in: InstanceHandle<Driver>, real: Real<'_>) -> Result<(), VkResult> {
        let Some(driver) = self.driver_of(stand_in) else {
            return Ok(());
        };
        for kind in Kind::ALL {
            let mut next = 0;
            // An object without a serial number is incomplete; the thread that creates the object also passes it to the driver.
            let read = |object: &crate::messenger::Registered| (object.serial != 0).then_some(object.callback);
            while let Some((slot, _, callback)) = self.messengers.next_slot(kind, next, read) {
                next = slot + 1;
                let Some(callback) = callback else { continue };
                match create(driver, &callback, real) {
                    Ok(handle) => driver.callback_handles(kind).lock().set(slot, handle),
                    Err(result) => {
                        self.take_back(stand_in, real);
                        return Err(result);
                    }
                }
            }
        }
        Ok(())
    }

    fn take_back(&self, stand_in: InstanceHandle<Driver>, real: Real<'_>) {
        let Some(driver) = self.driver_of(stand_in) else {
            return;
        };
        for kind in Kind::ALL {
            let mut next = 0;
            while let Some((slot, ..)) = self.messengers.next_slot(kind, next, |_| ()) {
                next = slot + 1;
                let handle = driver.callback_handles(kind).lock().take(slot);
                // SAFETY: the handle is zero, or `hand_over` got it from this driver, and was taken from the table, so it is destroyed
                // once.
                unsafe { InstanceDriver::destroy_callback_of(real, kind, handle, null()) };
            }
        }
    }

    fn keep(&self, name: &Text, library: Option<&Library>) {
        PreloadedDrivers::keep_late(name, library);
    }

    fn thunk(&self, number: usize) -> Slot {
        stubs::physical_device_thunk(number)
    }
}

/// Creates a driver's object for a callback. Returns zero for a driver that creates no object.
fn create(driver: &InstanceDriver, callback: &Callback, real: Real<'_>) -> Result<u64, VkResult> {
    let (messenger, report);
    let info = match *callback {
        Callback::Messenger {
            severities,
            types,
            function,
            user_data,
        } => {
            messenger = VkDebugUtilsMessengerCreateInfoEXT {
                sType: VkDebugUtilsMessengerCreateInfoEXT::STRUCTURE_TYPE,
                pNext: null(),
                flags: VkDebugUtilsMessengerCreateFlagsEXT(0),
                messageSeverity: severities,
                messageType: types,
                pfnUserCallback: function,
                pUserData: user_data,
            };
            CreateInfo::Messenger(&messenger)
        }
        Callback::Report {
            flags,
            function,
            user_data,
        } => {
            report = VkDebugReportCallbackCreateInfoEXT {
                sType: VkDebugReportCallbackCreateInfoEXT::STRUCTURE_TYPE,
                pNext: null(),
                flags,
                pfnCallback: function,
                pUserData: user_data,
            };
            CreateInfo::Report(&report)
        }
    };
    if !info.supported_by(driver) {
        return Ok(0);
    }
    // SAFETY: table and instance belong to one driver, which is being opened.
    unsafe { info.create(real, null()) }
}
