//! The system functions of the client on Fuchsia, which use the kernel, the library for namespaces (`fdio`), and the linker.

use super::client::{Client, Handle, Kernel, Opened, Status};
use crate::find_byte;
use crate::memory::copy_or_note;
use crate::open_error::OpenError;
use crate::raw::render;
use crate::system::Library;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{NonNull, null_mut};
use libloading::os::unix;

static CLIENT: Client<Zircon> = Client::new(Zircon);

/// Path of the service in the namespace of a process.
const SERVICE: &CStr = c"/svc/fuchsia.vulkan.loader.Loader";

/// Function that drivers export to get the callback (LSV-23).
const INITIALIZE: &CStr = c"vk_icdInitializeOpenInNamespaceCallback";

/// Deadline without a limit, because the service answers only after it has read all drivers (LSV-3).
const NEVER: i64 = i64::MAX;

/// Values of `VK_SUCCESS` and `VK_ERROR_UNKNOWN`.
const SUCCESS: i32 = 0;
const ERROR_UNKNOWN: i32 = -13;

/// Arguments of a call: data to send, and room for the answer.
#[repr(C)]
struct CallArguments {
    sent_bytes: *const u8,
    sent_handles: *const Handle,
    room_bytes: *mut u8,
    room_handles: *mut Handle,
    sent_byte_count: u32,
    sent_handle_count: u32,
    room_byte_count: u32,
    room_handle_count: u32,
}

#[link(name = "zircon")]
unsafe extern "C" {
    fn zx_channel_create(options: u32, one: *mut Handle, other: *mut Handle) -> Status;
    fn zx_channel_call(
        channel: Handle,
        options: u32,
        deadline: i64,
        arguments: *const CallArguments,
        bytes: *mut u32,
        handles: *mut u32,
    ) -> Status;
    fn zx_channel_write(
        channel: Handle,
        options: u32,
        bytes: *const c_void,
        byte_count: u32,
        handles: *const Handle,
        handle_count: u32,
    ) -> Status;
    fn zx_handle_close(handle: Handle) -> Status;
}

#[link(name = "fdio")]
unsafe extern "C" {
    fn fdio_service_connect(path: *const c_char, request: Handle) -> Status;
    fn fdio_service_connect_at(folder: Handle, path: *const c_char, request: Handle) -> Status;
    fn fdio_ns_get_installed(namespace: *mut *mut c_void) -> Status;
    fn fdio_ns_bind(namespace: *mut c_void, path: *const c_char, folder: Handle) -> Status;
}

// A function of the C library.
unsafe extern "C" {
    fn dlopen_vmo(memory: Handle, mode: c_int) -> *mut c_void;
}

/// The type that Fuchsia's headers call `PFN_vkOpenInNamespaceAddr`.
type OpenInNamespace = unsafe extern "C" fn(*const c_char, Handle) -> i32;

/// Callback through which a driver opens services and devices. Takes ownership of the handle.
///
/// # Safety
/// `name` is null or terminated.
unsafe extern "C" fn open_in_namespace(name: *const c_char, channel: Handle) -> i32 {
    if name.is_null() {
        Zircon.close(channel);
        return ERROR_UNKNOWN;
    }
    // SAFETY: the name is not null, so the caller promises that it is terminated.
    let name = unsafe { CStr::from_ptr(name) };
    match CLIENT.open_in_namespace(name, channel) {
        Ok(()) => SUCCESS,
        Err(_) => ERROR_UNKNOWN,
    }
}

/// Implementation of [`Kernel`] on the real system.
struct Zircon;

fn done(status: Status) -> Result<(), Status> {
    if status == 0 { Ok(()) } else { Err(status) }
}

impl Kernel for Zircon {
    fn connect(&self) -> Result<Handle, Status> {
        let [ours, theirs] = self.channel()?;
        match self.open(None, SERVICE, theirs) {
            Ok(()) => Ok(ours),
            Err(status) => {
                self.close(ours);
                Err(status)
            }
        }
    }

    fn call(
        &self,
        service: Handle,
        request: &[u8],
        answer: &mut [u8],
        handles: &mut [Handle],
    ) -> Result<(usize, usize), Status> {
        let arguments = CallArguments {
            sent_bytes: request.as_ptr(),
            sent_handles: core::ptr::null(),
            room_bytes: answer.as_mut_ptr(),
            room_handles: handles.as_mut_ptr(),
            sent_byte_count: request.len() as u32,
            sent_handle_count: 0,
            room_byte_count: answer.len() as u32,
            room_handle_count: handles.len() as u32,
        };
        let (mut bytes, mut count) = (0, 0);
        // SAFETY: the channel is open, and all memory has the given lengths. The kernel drops an answer that does not fit, with its
        // handles.
        let status = unsafe { zx_channel_call(service, 0, NEVER, &arguments, &mut bytes, &mut count) };
        done(status).map(|()| (bytes as usize, count as usize))
    }

    fn send(&self, service: Handle, message: &[u8], handle: Handle) -> Result<(), Status> {
        // SAFETY: the channel is open, and the memory has the length of `message`. The kernel owns the handle from now on, even after a
        // failure.
        done(unsafe { zx_channel_write(service, 0, message.as_ptr().cast(), message.len() as u32, &handle, 1) })
    }

    fn channel(&self) -> Result<[Handle; 2], Status> {
        let (mut one, mut other) = (0, 0);
        // SAFETY: the call writes the handles only to `one` and `other`, which are local variables.
        done(unsafe { zx_channel_create(0, &mut one, &mut other) }).map(|()| [one, other])
    }

    fn close(&self, handle: Handle) {
        // SAFETY: the caller passed the ownership of the handle, so the handle is closed once; the kernel refuses an invalid handle.
        unsafe { zx_handle_close(handle) };
    }

    fn map(&self, memory: Handle) -> Result<Opened, Vec<u8>> {
        let mode = unix::RTLD_LAZY | unix::RTLD_LOCAL;
        // SAFETY: the system's own service supplied this memory as a library; this process still owns it. Loading a driver means running
        // its initialisers.
        let open = || NonNull::new(unsafe { dlopen_vmo(memory, mode) }).map(Opened);
        let opened = unix::with_dlerror(open, |words| copy_or_note(words.to_bytes()));
        opened.map_err(Option::unwrap_or_default)
    }

    fn initialize(&self, driver: Opened) -> Option<i32> {
        // SAFETY: the library is open, and the name is terminated.
        let address = unsafe { libc::dlsym(driver.0.as_ptr(), INITIALIZE.as_ptr()) };
        let address = NonNull::new(address)?;
        // SAFETY: the function that drivers export under the name `INITIALIZE` takes one callback and returns a number.
        let function = unsafe {
            core::mem::transmute::<*mut c_void, unsafe extern "C" fn(OpenInNamespace) -> i32>(address.as_ptr())
        };
        // SAFETY: the function belongs to the driver. The callback stays valid until the process ends, because this library opened the
        // driver.
        Some(unsafe { function(open_in_namespace) })
    }

    fn bind(&self, path: &CStr, folder: Handle) -> Result<(), Status> {
        let mut namespace = null_mut();
        // SAFETY: the call writes only to `namespace`, which is a local variable.
        if let Err(status) = done(unsafe { fdio_ns_get_installed(&mut namespace) }) {
            self.close(folder);
            return Err(status);
        }
        // SAFETY: the namespace belongs to this process and the path is terminated; the call takes ownership of the channel.
        done(unsafe { fdio_ns_bind(namespace, path.as_ptr(), folder) })
    }

    fn open(&self, folder: Option<Handle>, path: &CStr, channel: Handle) -> Result<(), Status> {
        // SAFETY: the folder is open and the path is terminated; after a failure the call closes the channel.
        done(match folder {
            Some(folder) => unsafe { fdio_service_connect_at(folder, path.as_ptr(), channel) },
            // SAFETY: the path is terminated; after a failure the call closes the channel.
            None => unsafe { fdio_service_connect(path.as_ptr(), channel) },
        })
    }
}

/// Returns the service's folder of manifests, which is in the namespace from the first call on.
pub fn manifest_folder() -> Option<&'static [u8]> {
    CLIENT.manifests().map(CStr::to_bytes)
}

impl Library {
    /// Opens the library of the driver that the service has under the name `name` (LSV-22).
    ///
    /// # Errors
    /// The step that failed.
    pub fn open_driver(name: &[u8]) -> Result<Self, OpenError> {
        if name.is_empty() || find_byte(name, 0).is_some() {
            return Err(OpenError::NotAPath);
        }
        let opened = CLIENT.driver(name);
        opened
            .map(|Opened(library)| Self(library))
            .map_err(|failure| OpenError::Failed(render(format_args!("{}: {failure}", crate::Raw(name)))))
    }

    /// Opens the library of a layer: from the program's own files, or else from the service (LSV-22).
    ///
    /// # Errors
    /// The error text of the system, and then the step that failed.
    pub fn open_layer(path: &[u8]) -> Result<Self, OpenError> {
        let local = match Self::open(path) {
            Err(OpenError::Failed(words)) => words,
            opened => return opened,
        };
        let opened = CLIENT.layer(path);
        opened
            .map(|Opened(library)| Self(library))
            .map_err(|failure| OpenError::Failed(render(format_args!("{}; {failure}", crate::Raw(&local)))))
    }
}
