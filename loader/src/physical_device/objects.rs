//! One object a device and level, stable for the life of the instance (APP-117, DRV-128).

use super::{AppPhysicalDevice, ChainPhysicalDevice};
use crate::alloc::{HostAllocator, HostBox, OutOfMemory};
use crate::handle::{App, Chain, Driver, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver};
use crate::state::lock;

/// The objects that an instance made for physical devices: the application's by the chain's handle, the chain's by
/// driver and driver's handle.
///
/// An object outlives its device: a handle that another thread still holds, or that a layer uses as a key, never comes
/// to mean something else. A device that comes back finds its old object.
pub struct PhysicalDevices {
    allocator: HostAllocator,
    app: Objects<AppPhysicalDevice>,
    chain: Objects<ChainPhysicalDevice>,
}

impl PhysicalDevices {
    /// No objects; allocates nothing.
    pub const fn new(allocator: HostAllocator) -> Self {
        Self {
            allocator,
            app: Objects::new(),
            chain: Objects::new(),
        }
    }
}

/// The application's handle for a device of the chain (DRV-125). Must not be called with the list locked.
pub(super) fn app_handle(
    instance: &Instance,
    handle: PhysicalDeviceHandle<Chain>,
) -> Result<PhysicalDeviceHandle<App>, OutOfMemory> {
    let same = |object: &AppPhysicalDevice| object.chain.raw() == handle.raw();
    let (found, allocator) = {
        let devices = lock(&instance.physical_devices);
        (devices.app.find(same), devices.allocator)
    };
    let object = match found {
        Some(object) => object,
        // Memory comes from the application's callbacks, so it is taken while nothing is locked.
        None => {
            let made = Objects::make(AppPhysicalDevice::new(instance, handle), allocator)?;
            let (object, spare) = lock(&instance.physical_devices).app.adopt(made, same);
            drop(spare);
            object
        }
    };
    Ok(PhysicalDeviceHandle::from_raw(object.cast()))
}

/// The chain's handle for a device of a driver (DRV-124). Must not be called with the list locked.
pub(super) fn chain_handle(
    driver: &InstanceDriver,
    handle: PhysicalDeviceHandle<Driver>,
) -> Result<PhysicalDeviceHandle<Chain>, OutOfMemory> {
    let instance = driver.instance();
    let same =
        |object: &ChainPhysicalDevice| object.handle.raw() == handle.raw() && std::ptr::eq(object.driver, driver);
    let (found, allocator) = {
        let devices = lock(&instance.physical_devices);
        (devices.chain.find(same), devices.allocator)
    };
    let object = match found {
        Some(object) => object,
        None => {
            let made = Objects::make(ChainPhysicalDevice::new(driver, handle), allocator)?;
            let (object, spare) = lock(&instance.physical_devices).chain.adopt(made, same);
            drop(spare);
            object
        }
    };
    Ok(PhysicalDeviceHandle::from_raw(object.cast()))
}

/// Objects threaded through themselves, so that adding one that exists already needs no memory.
struct Objects<T> {
    newest: Option<HostBox<Node<T>>>,
}

/// `object` comes first: its address is the handle.
#[repr(C)]
struct Node<T> {
    object: T,
    older: Option<HostBox<Node<T>>>,
}

impl<T> Objects<T> {
    const fn new() -> Self {
        Self { newest: None }
    }

    /// A member that is in no list yet.
    fn make(object: T, allocator: HostAllocator) -> Result<HostBox<Node<T>>, OutOfMemory> {
        HostBox::try_new(Node { object, older: None }, allocator)
    }

    /// The address of the object that `wanted` accepts.
    fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<*mut T> {
        std::iter::successors(self.newest.as_ref(), |node| node.older.as_ref())
            .find(|node| wanted(&node.object))
            .map(|node| node.as_ptr().cast::<T>())
    }

    /// Adds `made` unless another thread was faster. Returns the address of the object to use, and `made` if that is
    /// not it.
    fn adopt(&mut self, mut made: HostBox<Node<T>>, same: impl Fn(&T) -> bool) -> (*mut T, Option<HostBox<Node<T>>>) {
        if let Some(object) = self.find(same) {
            return (object, Some(made));
        }
        let object = made.as_ptr().cast::<T>();
        made.older = self.newest.take();
        self.newest = Some(made);
        (object, None)
    }
}

impl<T> Drop for Objects<T> {
    /// One after the other: the members' own order would recurse once a device.
    fn drop(&mut self) {
        let mut next = self.newest.take();
        while let Some(mut node) = next {
            next = node.older.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(objects: &mut Objects<u64>, value: u64) -> *mut u64 {
        let made = Objects::make(value, HostAllocator::system()).expect("memory");
        objects.adopt(made, |&other| other == value).0
    }

    #[test]
    fn drv_128_an_object_keeps_its_address() {
        let mut objects = Objects::new();
        let first = add(&mut objects, 1);
        let others: Vec<_> = (2..100).map(|value| add(&mut objects, value)).collect();
        assert!(!others.contains(&first));
        assert_eq!(objects.find(|&value| value == 1), Some(first));
        assert_eq!(objects.find(|&value| value == 100), None);
    }

    #[test]
    fn drv_128_two_threads_get_one_object() {
        let mut objects = Objects::new();
        let first = add(&mut objects, 7);
        let late = Objects::make(7, HostAllocator::system()).expect("memory");
        let (used, spare) = objects.adopt(late, |&value| value == 7);
        assert_eq!(used, first);
        assert!(spare.is_some());
    }
}
