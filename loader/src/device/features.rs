//! The features that a request asks for and a device lacks, for the trace.

use crate::ffi;
use crate::generated::types::{VkBaseInStructure, VkDeviceCreateInfo, VkPhysicalDeviceFeatures2, VkStructureType};
use crate::handle::{Driver, PhysicalDeviceHandle};
use crate::instance::InstanceDriver;
use core::ffi::c_void;
use discovery::trace;

/// Number of words in the structure of the core features.
const CORE: usize = (size_of::<VkPhysicalDeviceFeatures2>() - size_of::<VkBaseInStructure>()) / size_of::<u32>();
/// Upper bound on the number of words of a structure. A structure with more words is left out.
const MOST: usize = 64;

const FEATURES_2: VkStructureType = VkPhysicalDeviceFeatures2::STRUCTURE_TYPE;

/// A structure of features with room for [`MOST`] words.
#[repr(C, align(8))]
struct Features {
    kind: VkStructureType,
    next: *mut c_void,
    words: [u32; MOST],
}

impl Features {
    const fn new(kind: VkStructureType, next: *mut c_void) -> Self {
        Self {
            kind,
            next,
            words: [0; MOST],
        }
    }
}

/// Writes the type of the structure and the number of the word for each word that a request sets and the driver answers with zero.
/// Structures that do not consist of features are written too, because the driver does not answer for them.
///
/// # Safety
/// The device belongs to the driver, and the create info with its chain is valid.
#[cold]
pub(super) unsafe fn record(driver: &InstanceDriver, device: PhysicalDeviceHandle<Driver>, info: &VkDeviceCreateInfo) {
    let core = (FEATURES_2, info.pEnabledFeatures.cast::<u32>(), CORE);
    // SAFETY: the caller promises a valid chain.
    let chained = unsafe { ffi::chain(info.pNext) }.map(|at| {
        // SAFETY: each structure of a valid chain is readable, and its words follow the two members with which every structure begins.
        let (kind, words) = unsafe { ((*at).sType, at.add(1).cast::<u32>()) };
        (kind, words, ffi::words_of_type(kind).unwrap_or(0))
    });
    for (kind, asked, count) in core::iter::once(core).chain(chained) {
        if asked.is_null() || count > MOST {
            continue;
        }
        // SAFETY: the caller promises a device of the driver.
        let own = unsafe { answer(driver, device, kind) };
        for (place, &has) in own.iter().enumerate().take(count) {
            // SAFETY: a valid structure of this type has this number of words.
            if unsafe { *asked.add(place) } != 0 && has == 0 {
                trace::write("lacks", |record| {
                    record.signed("structure", kind.0.into());
                    record.number("word", place as u64);
                });
            }
        }
    }
}

/// Returns the words of a structure as the driver fills them. A driver that does not know the structure leaves zeros.
///
/// # Safety
/// The device belongs to the driver.
unsafe fn answer(driver: &InstanceDriver, device: PhysicalDeviceHandle<Driver>, kind: VkStructureType) -> [u32; MOST] {
    let mut own = Features::new(kind, core::ptr::null_mut());
    let mut all = Features::new(FEATURES_2, core::ptr::null_mut());
    if kind != FEATURES_2 {
        all.next = (&raw mut own).cast();
    }
    let table = &driver.table;
    if let Some(ask) = table
        .vkGetPhysicalDeviceFeatures2
        .or(table.vkGetPhysicalDeviceFeatures2KHR)
    {
        // SAFETY: the caller promises a device of the driver; both structures have room for more than their types need.
        unsafe { ask(device, (&raw mut all).cast()) };
    }
    if kind == FEATURES_2 { all.words } else { own.words }
}
