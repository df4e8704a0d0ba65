//! Different handle types for the application, the layer chain and drivers.
//!
//! The loader replaces five kinds of object by its own objects. A handle of the same C type then names different objects: above the loader,
//! between loader and layers, and inside a driver. Confusing these handles is a common fault in loaders. [`Level`] gives each of these
//! positions its own types, and only [`crate::translation`] converts between them.

use core::ffi::c_void;
use core::marker::PhantomData;

/// A position in the call path, which decides the meaning of a wrapped handle.
pub(crate) trait Level: Copy + 'static {
    /// Type of `VkInstance` at this level.
    type VkInstance: Copy;
    /// Type of `VkPhysicalDevice` at this level.
    type VkPhysicalDevice: Copy;
    /// Type of `VkSurfaceKHR` at this level.
    type VkSurfaceKHR: Copy;
    /// Type of `VkDebugUtilsMessengerEXT` at this level.
    type VkDebugUtilsMessengerEXT: Copy;
    /// Type of `VkDebugReportCallbackEXT` at this level.
    type VkDebugReportCallbackEXT: Copy;
}

/// Handles of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum App {}

/// Handles that pass through the layers and arrive at a terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chain {}

/// Handles that a driver returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driver {}

impl Level for App {
    type VkInstance = InstanceHandle<App>;
    type VkPhysicalDevice = PhysicalDeviceHandle<App>;
    // Terminators create non-dispatchable objects, so application and layers hold the same handle (APP-159).
    type VkSurfaceKHR = SurfaceHandle<Chain>;
    type VkDebugUtilsMessengerEXT = MessengerHandle<Chain>;
    type VkDebugReportCallbackEXT = ReportCallbackHandle<Chain>;
}

impl Level for Chain {
    type VkInstance = InstanceHandle<Chain>;
    type VkPhysicalDevice = PhysicalDeviceHandle<Chain>;
    type VkSurfaceKHR = SurfaceHandle<Chain>;
    type VkDebugUtilsMessengerEXT = MessengerHandle<Chain>;
    type VkDebugReportCallbackEXT = ReportCallbackHandle<Chain>;
}

impl Level for Driver {
    type VkInstance = InstanceHandle<Driver>;
    type VkPhysicalDevice = PhysicalDeviceHandle<Driver>;
    type VkSurfaceKHR = SurfaceHandle<Driver>;
    type VkDebugUtilsMessengerEXT = MessengerHandle<Driver>;
    type VkDebugReportCallbackEXT = ReportCallbackHandle<Driver>;
}

/// A dispatchable handle: a pointer to an object whose first word belongs to the loader (DRV-208).
pub(crate) trait Dispatchable: Copy {
    /// Returns the handle as a pointer.
    fn word(self) -> *mut c_void;
}

macro_rules! dispatchable {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name<L>(*mut c_void, PhantomData<L>);

        impl<L: Copy> $name<L> {
            /// The null handle.
            pub(crate) const NULL: Self = Self(core::ptr::null_mut(), PhantomData);

            /// Treats a pointer as a handle of this level.
            pub(crate) const fn from_raw(raw: *mut c_void) -> Self {
                Self(raw, PhantomData)
            }

            /// Returns the handle as a pointer.
            pub(crate) const fn raw(self) -> *mut c_void {
                self.0
            }

            /// Returns `true` if the handle is null.
            pub(crate) fn is_null(self) -> bool {
                self.0.is_null()
            }
        }

        impl<L: Copy> Dispatchable for $name<L> {
            fn word(self) -> *mut c_void {
                self.0
            }
        }
    };
}

macro_rules! non_dispatchable {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name<L>(u64, PhantomData<L>);

        impl<L: Copy> $name<L> {
            /// `VK_NULL_HANDLE`.
            pub(crate) const NULL: Self = Self(0, PhantomData);

            /// Treats a number as a handle of this level.
            pub(crate) const fn from_raw(raw: u64) -> Self {
                Self(raw, PhantomData)
            }

            /// Returns the handle as a number.
            pub(crate) const fn raw(self) -> u64 {
                self.0
            }
        }
    };
}

dispatchable! {
    /// Handle of an instance.
    InstanceHandle
}
dispatchable! {
    /// Handle of a physical device.
    PhysicalDeviceHandle
}
non_dispatchable! {
    /// Handle of a surface.
    SurfaceHandle
}

impl<L: Copy> SurfaceHandle<L> {
    /// Returns `true` if the handle is `VK_NULL_HANDLE`.
    pub(crate) const fn is_null(self) -> bool {
        self.raw() == 0
    }
}
non_dispatchable! {
    /// Handle of a debug-utils messenger.
    MessengerHandle
}
non_dispatchable! {
    /// Handle of a debug-report callback.
    ReportCallbackHandle
}
