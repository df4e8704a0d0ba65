//! Creates `pNext` chains from bytes.

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::generated::types::*;
use crate::handle::{App, Driver};

use super::driver;
use super::input::Input;

/// Maximum number of structures in a chain.
const MOST: usize = 12;

/// Structure in a block of exactly its size, so that AddressSanitizer detects an access beyond the end of the structure.
struct Member {
    words: Box<[u64]>,
    /// `true` if the tested call may write the members after `sType` and `pNext`.
    written: bool,
}

/// Chain with all data to which its structures point.
pub struct Chain {
    members: Vec<Member>,
    before: Vec<Box<[u64]>>,
    _drivers: Box<[VkDirectDriverLoadingInfoLUNARG<Driver>; 2]>,
    _modes: Box<[VkPresentModeKHR; 2]>,
    _devices: Box<[VkPhysicalDevice<App>]>,
    /// Number of messages that the callbacks of the chain received.
    heard: Box<u32>,
}

unsafe extern "system" fn listen(
    _: VkDebugUtilsMessageSeverityFlagBitsEXT,
    _: VkDebugUtilsMessageTypeFlagsEXT,
    data: *const VkDebugUtilsMessengerCallbackDataEXT,
    heard: *mut c_void,
) -> VkBool32 {
    // SAFETY: the loader passes valid parameters, and the user data is the counter of a chain that outlives the instance.
    unsafe {
        assert!(crate::ffi::c_text((*data).pMessage).len() <= 511);
        *heard.cast::<u32>() += 1;
    }
    VK_FALSE
}

unsafe extern "system" fn hear(
    _: VkDebugReportFlagsEXT,
    _: VkDebugReportObjectTypeEXT,
    _: u64,
    _: usize,
    _: i32,
    _: *const c_char,
    message: *const c_char,
    heard: *mut c_void,
) -> VkBool32 {
    // SAFETY: the loader passes valid callback data.
    unsafe {
        assert!(crate::ffi::c_text(message).len() <= 511);
        *heard.cast::<u32>() += 1;
    }
    VK_FALSE
}

/// Structures that consist of numbers, for which any bytes are valid, each with its type and size.
const NUMBERS: [(VkStructureType, usize); 8] = [
    (
        VkPhysicalDeviceFeatures2::STRUCTURE_TYPE,
        size_of::<VkPhysicalDeviceFeatures2>(),
    ),
    (
        VkPhysicalDeviceMaintenance5Features::STRUCTURE_TYPE,
        size_of::<VkPhysicalDeviceMaintenance5Features>(),
    ),
    (
        VkPhysicalDeviceMultiviewFeatures::STRUCTURE_TYPE,
        size_of::<VkPhysicalDeviceMultiviewFeatures>(),
    ),
    (
        VkPhysicalDeviceIDProperties::STRUCTURE_TYPE,
        size_of::<VkPhysicalDeviceIDProperties>(),
    ),
    (
        VkDisplaySurfaceStereoCreateInfoNV::STRUCTURE_TYPE,
        size_of::<VkDisplaySurfaceStereoCreateInfoNV>(),
    ),
    (
        VkSurfaceProtectedCapabilitiesKHR::STRUCTURE_TYPE,
        size_of::<VkSurfaceProtectedCapabilitiesKHR>(),
    ),
    (
        VkSurfacePresentModeKHR::STRUCTURE_TYPE,
        size_of::<VkSurfacePresentModeKHR>(),
    ),
    (
        VkSurfacePresentScalingCapabilitiesKHR::STRUCTURE_TYPE,
        size_of::<VkSurfacePresentScalingCapabilitiesKHR>(),
    ),
];

/// Structures with pointers, which must not have arbitrary bytes.
const POINTERS: [VkStructureType; 5] = [
    VkDebugUtilsMessengerCreateInfoEXT::STRUCTURE_TYPE,
    VkDebugReportCallbackCreateInfoEXT::STRUCTURE_TYPE,
    VkDirectDriverLoadingListLUNARG::<Driver>::STRUCTURE_TYPE,
    VkDeviceGroupDeviceCreateInfo::<App>::STRUCTURE_TYPE,
    VkSurfacePresentModeCompatibilityKHR::STRUCTURE_TYPE,
];

/// Returns a block with the bytes of a structure.
fn block<T>(structure: T) -> Box<[u64]> {
    let mut words = vec![0; size_of::<T>().div_ceil(8)].into_boxed_slice();
    // SAFETY: the block has the size of the structure, and an alignment that suffices for every structure of the interface.
    unsafe { words.as_mut_ptr().cast::<T>().write(structure) };
    words
}

impl Chain {
    /// Creates a chain that the input describes. `devices` are for structures that name devices.
    pub fn read(input: &mut Input<'_>, devices: &[VkPhysicalDevice<App>]) -> Self {
        let info = |function: crate::driver_interface::GetProcAddr| VkDirectDriverLoadingInfoLUNARG::<Driver> {
            sType: VkDirectDriverLoadingInfoLUNARG::<Driver>::STRUCTURE_TYPE,
            pNext: null_mut(),
            flags: VkDirectDriverLoadingFlagsLUNARG(0),
            pfnGetInstanceProcAddr: Some(function),
        };
        let mut second = info(driver::lookup);
        second.pfnGetInstanceProcAddr = None;
        let mut chain = Self {
            members: Vec::new(),
            before: Vec::new(),
            _drivers: Box::new([info(driver::lookup), second]),
            _modes: Box::new([VkPresentModeKHR(0); 2]),
            _devices: devices.into(),
            heard: Box::new(0),
        };
        for _ in 0..usize::from(input.byte()) % (MOST + 1) {
            let member = chain.member(input);
            chain.members.push(member);
        }
        for index in (1..chain.members.len()).rev() {
            let next = chain.members[index].words.as_ptr() as u64;
            chain.members[index - 1].words[1] = next;
        }
        chain.before = chain.members.iter().map(|member| member.words.clone()).collect();
        chain
    }

    fn member(&mut self, input: &mut Input<'_>) -> Member {
        let kind = input.byte();
        let words = match kind % 16 {
            0 => self.messenger(input),
            1 => self.report(input),
            2 => self.drivers(input),
            3 => self.group(input),
            4 => self.modes(input),
            5..=12 => {
                let (of_type, size) = NUMBERS[usize::from(kind % 16 - 5)];
                return numbers(of_type, size, input);
            }
            _ => return unknown(input),
        };
        // The structure that `modes` creates contains a count, which the call may write.
        let written = kind % 16 == 4;
        Member { words, written }
    }

    fn counter(&mut self) -> *mut c_void {
        std::ptr::from_mut(&mut *self.heard).cast()
    }

    fn messenger(&mut self, input: &mut Input<'_>) -> Box<[u64]> {
        block(VkDebugUtilsMessengerCreateInfoEXT {
            sType: POINTERS[0],
            pNext: null_mut(),
            flags: VkDebugUtilsMessengerCreateFlagsEXT(input.word()),
            messageSeverity: VkDebugUtilsMessageSeverityFlagsEXT(input.word()),
            messageType: VkDebugUtilsMessageTypeFlagsEXT(input.word()),
            pfnUserCallback: Some(listen),
            pUserData: self.counter(),
        })
    }

    fn report(&mut self, input: &mut Input<'_>) -> Box<[u64]> {
        block(VkDebugReportCallbackCreateInfoEXT {
            sType: POINTERS[1],
            pNext: null_mut(),
            flags: VkDebugReportFlagsEXT(input.word()),
            pfnCallback: Some(hear),
            pUserData: self.counter(),
        })
    }

    fn drivers(&mut self, input: &mut Input<'_>) -> Box<[u64]> {
        let (mode, count) = (input.byte(), input.byte() % 4);
        block(VkDirectDriverLoadingListLUNARG::<Driver> {
            sType: POINTERS[2],
            pNext: null_mut(),
            mode: VkDirectDriverLoadingModeLUNARG(i32::from(mode % 3)),
            driverCount: u32::from(count).min(2),
            pDrivers: match count {
                3 => std::ptr::null(),
                _ => self._drivers.as_ptr(),
            },
        })
    }

    fn group(&mut self, input: &mut Input<'_>) -> Box<[u64]> {
        let count = u32::from(input.byte());
        let known = u32::try_from(self._devices.len()).unwrap_or(0);
        block(VkDeviceGroupDeviceCreateInfo::<App> {
            sType: POINTERS[3],
            pNext: null_mut(),
            physicalDeviceCount: if known == 0 { count } else { count % (known + 1) },
            pPhysicalDevices: match known {
                0 => std::ptr::null(),
                _ => self._devices.as_ptr(),
            },
        })
    }

    fn modes(&mut self, input: &mut Input<'_>) -> Box<[u64]> {
        let count = input.byte() % 4;
        block(VkSurfacePresentModeCompatibilityKHR {
            sType: POINTERS[4],
            pNext: null_mut(),
            presentModeCount: u32::from(count).min(2),
            pPresentModes: match count {
                3 => null_mut(),
                _ => self._modes.as_mut_ptr(),
            },
        })
    }

    /// Returns the first structure as the value for `pNext`.
    pub fn head(&mut self) -> *mut c_void {
        self.members
            .first_mut()
            .map_or(null_mut(), |member| member.words.as_mut_ptr().cast())
    }

    /// Returns `true` if the chain has no structure.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns `true` if the chain has a usable driver for an instance.
    pub fn gives_driver(&self) -> bool {
        let is_list = |member: &&Member| member.words[0] as u32 as i32 == POINTERS[2].0;
        self.members.iter().find(is_list).is_some_and(|list| {
            // The third word contains the count of drivers in its upper half, and the fourth word is the pointer to the drivers.
            (list.words[2] >> 32) != 0 && list.words[3] != 0
        })
    }

    /// Checks that a call did not change the chain. With `answers`, structures that consist of numbers may have changed.
    ///
    /// # Panics
    /// Panics if the call changed the chain.
    pub fn check(&self, answers: bool) {
        for (member, before) in self.members.iter().zip(&self.before) {
            assert_eq!(member.words[..2], before[..2], "types and links stay");
            assert!(member.words == *before || (answers && member.written), "content stays");
        }
    }
}

/// Creates a structure of numbers from bytes of the input.
fn numbers(of_type: VkStructureType, size: usize, input: &mut Input<'_>) -> Member {
    let mut words = vec![0; size.div_ceil(8)].into_boxed_slice();
    words[2..].fill_with(|| u64::from(input.word()));
    words[0] = u64::from(of_type.0 as u32);
    Member { words, written: true }
}

/// Creates a structure whose type comes from the input. A structure with a type of `NUMBERS` is complete. Other structures have the
/// smallest possible size, and therefore never a type of `POINTERS`.
fn unknown(input: &mut Input<'_>) -> Member {
    let of_type = VkStructureType(input.word() as i32);
    if let Some(&(of_type, size)) = NUMBERS.iter().find(|(known, _)| *known == of_type) {
        return numbers(of_type, size, input);
    }
    let of_type = if POINTERS.contains(&of_type) {
        VkStructureType(i32::MAX)
    } else {
        of_type
    };
    Member {
        words: Box::new([u64::from(of_type.0 as u32), 0]),
        written: false,
    }
}
