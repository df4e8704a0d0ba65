//! Functions of the loader's core for the instance of a driver that is opened late.

use crate::generated::dispatch::DriverTable;
use crate::generated::types::VkResult;
use crate::handle::{Driver, InstanceHandle};
use crate::library::Library;
use crate::table::Slot;
use discovery::log::Listener;
use discovery::text::Text;

/// Functions of a driver, and the driver's handle of its own instance.
pub(crate) type Real<'r> = (&'r DriverTable, InstanceHandle<Driver>);

/// Offset in bytes of the handle in the objects that thunks of physical-device functions accept. The first word of these objects is the
/// table of functions.
pub(crate) const THUNK_HANDLE: usize = 24;

/// An instance of the loader whose drivers may be opened late.
#[allow(dead_code, reason = "builds without closed drivers call none of these functions")]
pub(crate) trait LateHost: Listener {
    /// Creates the driver's objects for the callbacks that the application registered while the driver was closed. `stand_in` is the
    /// loader's handle of the driver's instance. After an error, no object is left.
    ///
    /// # Errors
    /// The errors of the driver.
    fn hand_over(&self, stand_in: InstanceHandle<Driver>, real: Real<'_>) -> Result<(), VkResult>;

    /// Destroys the objects that [`LateHost::hand_over`] created.
    fn take_back(&self, stand_in: InstanceHandle<Driver>, real: Real<'_>);

    /// Keeps the library of a driver open, if the policy keeps all libraries open (DRV-240). `name` is the path of the library.
    fn keep(&self, name: &Text, library: Option<&Library>);

    /// Returns the thunk with the number `number`, for a physical-device function that the registry does not know.
    fn thunk(&self, number: usize) -> Slot;
}
