//! Copy of a create info, with which a driver's instance is created later.

use super::{minor, text_of};
use crate::alloc::{HostAllocator, HostText, HostVec};
use crate::ffi;
use crate::generated::types::{
    VkApplicationInfo, VkDebugReportCallbackCreateInfoEXT, VkDebugUtilsMessengerCreateInfoEXT, VkExtensionProperties,
    VkInstanceCreateInfo, VkStructureType,
};
use core::ffi::{c_char, c_void};
use discovery::extension::{InstanceExtension, InstanceExtensionSet};
use os::memory::OutOfMemory;

/// A structure of a chain that consists of numbers and of pointers to functions of the application.
enum Node {
    Messenger(VkDebugUtilsMessengerCreateInfoEXT),
    Report(VkDebugReportCallbackCreateInfoEXT),
}

/// Types of structures for layers, each with its extension. [`Request::copy`] leaves these structures out, because a driver without the
/// extension does not read them.
const FOR_LAYERS: [(VkStructureType, InstanceExtension); 3] = [
    (
        VkStructureType(1_000_061_000),
        InstanceExtension::VK_EXT_validation_flags,
    ),
    (
        VkStructureType(1_000_247_000),
        InstanceExtension::VK_EXT_validation_features,
    ),
    (VkStructureType(1_000_496_000), InstanceExtension::VK_EXT_layer_settings),
];

/// Returns `true` if a structure is for layers, and a driver with the instance extensions `offered` does not read it.
fn is_for_layers(kind: VkStructureType, offered: &[VkExtensionProperties]) -> bool {
    let offers = |extension: InstanceExtension| {
        let name = extension.name().to_bytes();
        offered.iter().any(|one| ffi::fixed_text(&one.extensionName) == name)
    };
    FOR_LAYERS
        .iter()
        .any(|(known, extension)| *known == kind && !offers(*extension))
}

/// Returns the type of the first structure that a driver with the instance extensions `offered` may read and [`Request::copy`] does not
/// copy.
///
/// # Safety
/// `info` and everything that it points to are valid.
pub(super) unsafe fn not_copied(
    info: &VkInstanceCreateInfo,
    offered: &[VkExtensionProperties],
) -> Option<VkStructureType> {
    // SAFETY: the caller promises a valid chain, and a pointer that is null or valid.
    let (chain, application) = unsafe { (ffi::chain(info.pNext), info.pApplicationInfo.as_ref()) };
    let of_application = application.map_or(core::ptr::null(), |application| application.pNext);
    let is_known = |kind: &VkStructureType| {
        [
            // The loader's nodes for layers, which no driver reads. [`Request::copy`] copies the two create infos that follow here.
            VkStructureType::VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
            VkDebugUtilsMessengerCreateInfoEXT::STRUCTURE_TYPE,
            VkDebugReportCallbackCreateInfoEXT::STRUCTURE_TYPE,
        ]
        .contains(kind)
            || is_for_layers(*kind, offered)
    };
    // SAFETY: the caller promises a valid chain.
    let mut of_application = unsafe { ffi::chain(of_application) };
    // SAFETY: every structure of a valid chain begins with its type.
    let of_application = of_application.next().map(|at| unsafe { (*at).sType });
    // SAFETY: every structure of a valid chain begins with its type.
    let mut kinds = chain.map(|at| unsafe { (*at).sType });
    of_application.or_else(|| kinds.find(|kind| !is_known(kind)))
}

/// Returns the names of the application and of its engine.
///
/// # Safety
/// `info` and everything that it points to stay valid while the result is used.
pub(super) unsafe fn names<'a>(info: &VkInstanceCreateInfo) -> [&'a [u8]; 2] {
    // SAFETY: the caller promises a pointer that is null or valid.
    match unsafe { info.pApplicationInfo.as_ref() } {
        // SAFETY: the caller promises texts that are null or terminated.
        Some(application) => unsafe { [text_of(application.pApplicationName), text_of(application.pEngineName)] },
        None => [b"", b""],
    }
}

/// A copied create info.
pub(super) struct Request {
    info: VkInstanceCreateInfo,
    application: Option<(VkApplicationInfo, [Option<HostText>; 2])>,
    extensions: HostVec<HostText>,
    nodes: HostVec<Node>,
    /// Extensions among those in the create info that the registry knows.
    pub(super) enabled: InstanceExtensionSet,
}

impl Request {
    /// Copies a create info. Leaves out the structures of the chain that this module does not know.
    ///
    /// # Safety
    /// `info` and everything that it points to are valid.
    pub(super) unsafe fn copy(info: &VkInstanceCreateInfo, allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        let mut made = Self {
            info: *info,
            application: None,
            extensions: HostVec::new(allocator),
            nodes: HostVec::new(allocator),
            enabled: InstanceExtensionSet::empty(),
        };
        // SAFETY: the caller promises a pointer that is null or valid.
        let application = unsafe { info.pApplicationInfo.as_ref() };
        if let Some(application) = application {
            let copy = |text: *const c_char| {
                if text.is_null() {
                    return Ok(None);
                }
                // SAFETY: the caller promises a terminated text.
                HostText::try_new(unsafe { text_of(text) }, allocator).map(Some)
            };
            let names = [copy(application.pApplicationName)?, copy(application.pEngineName)?];
            made.application = Some((*application, names));
        }
        // SAFETY: the caller promises an array that holds as many elements as its count says.
        for &name in unsafe { ffi::c_array(info.ppEnabledExtensionNames, info.enabledExtensionCount) } {
            // SAFETY: the caller promises terminated names.
            let name = unsafe { text_of(name) };
            if let Some(known) = InstanceExtension::find(name) {
                made.enabled = made.enabled.with(known);
            }
            made.extensions.try_push(HostText::try_new(name, allocator)?)?;
        }
        // SAFETY: the caller promises a valid chain.
        for at in unsafe { ffi::chain(info.pNext) } {
            // SAFETY: every structure of a valid chain begins with its type.
            let node = match unsafe { (*at).sType } {
                // SAFETY: each structure of a valid chain has the type of its `sType`.
                VkDebugUtilsMessengerCreateInfoEXT::STRUCTURE_TYPE => Node::Messenger(unsafe { *at.cast() }),
                // SAFETY: each structure of a valid chain has the type of its `sType`.
                VkDebugReportCallbackCreateInfoEXT::STRUCTURE_TYPE => Node::Report(unsafe { *at.cast() }),
                _ => continue,
            };
            made.nodes.try_push(node)?;
        }
        Ok(made)
    }

    /// Returns the minor version of Vulkan for which the instance was requested.
    pub(super) fn minor(&self) -> u32 {
        self.application
            .as_ref()
            .map_or(0, |(application, _)| minor(application.apiVersion))
    }

    /// Calls `make` with a create info that has the copied content.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn with_info<R>(
        &self,
        allocator: HostAllocator,
        make: impl FnOnce(&VkInstanceCreateInfo) -> R,
    ) -> Result<R, OutOfMemory> {
        let pointer =
            |text: &Option<HostText>| text.as_ref().map_or(core::ptr::null(), |text| text.as_c_str().as_ptr());
        let application = self.application.as_ref().map(|(application, names)| VkApplicationInfo {
            pApplicationName: pointer(&names[0]),
            pEngineName: pointer(&names[1]),
            ..*application
        });
        let names = self.extensions.iter().map(|name| name.as_c_str().as_ptr());
        let names = HostVec::try_from_iter(names, allocator)?;
        let mut nodes = HostVec::try_with_capacity(self.nodes.len(), allocator)?;
        let mut next: *const c_void = core::ptr::null();
        for node in self.nodes.iter().rev() {
            // The array has enough room, so its elements do not move.
            nodes.try_push(match *node {
                Node::Messenger(info) => Node::Messenger(VkDebugUtilsMessengerCreateInfoEXT { pNext: next, ..info }),
                Node::Report(info) => Node::Report(VkDebugReportCallbackCreateInfoEXT { pNext: next, ..info }),
            })?;
            next = match nodes.last() {
                Some(Node::Messenger(info)) => core::ptr::from_ref(info).cast(),
                Some(Node::Report(info)) => core::ptr::from_ref(info).cast(),
                None => next,
            };
        }
        let info = VkInstanceCreateInfo {
            pNext: next,
            pApplicationInfo: application.as_ref().map_or(core::ptr::null(), core::ptr::from_ref),
            ppEnabledExtensionNames: if names.is_empty() {
                core::ptr::null()
            } else {
                names.as_ptr()
            },
            ..self.info
        };
        Ok(make(&info))
    }
}
