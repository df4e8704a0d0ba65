//! Display devices of the configuration manager, and the values in their software keys (DRV-37, DRV-38, LAY-49, LAY-50).

use super::path::{ended, wide};
use super::registry::Key;
use super::run_time::Module;
use crate::memory::Grow;
use crate::registry::sources::{Answer, TakeAnswer};
use crate::registry::values::{REG_MULTI_SZ, REG_SZ, utf8};
use alloc::vec::Vec;
use core::ffi::c_void;
use windows_sys::Win32::System::Registry::{HKEY, KEY_QUERY_VALUE};

// Constants of `cfgmgr32.h` and `cfg.h`. The module of `windows-sys` that has them takes a quarter of the crate's compile time.
const CM_DRP_CLASSGUID: u32 = 9;
const CM_GETIDLIST_FILTER_CLASS: u32 = 0x200;
const CM_GETIDLIST_FILTER_PRESENT: u32 = 0x100;
const CM_LOCATE_DEVNODE_NORMAL: u32 = 0;
const CM_PROB_NEED_RESTART: u32 = 14;
const CM_REGISTRY_SOFTWARE: u32 = 1;
const CR_BUFFER_SMALL: u32 = 26;
const CR_SUCCESS: u32 = 0;
const DN_HAS_PROBLEM: u32 = 0x400;
const MAX_DEVICE_ID_LEN: u32 = 200;
const REG_DISPOSITION_OPEN_EXISTING: u32 = 1;

/// Class of display adapters.
const DISPLAY: &str = "{4d36e968-e325-11ce-bfc1-08002be10318}";
/// Class of the components that a driver package installs beside the driver.
const SOFTWARE_COMPONENT: &str = "{5c4c3332-344d-483c-8739-259e934c9cc8}";
const PRESENT_DISPLAYS: u32 = CM_GETIDLIST_FILTER_CLASS | CM_GETIDLIST_FILTER_PRESENT;

/// Upper bounds on the number of UTF-16 units in the names of all devices, and on the number of children of a device. A longer list of
/// names is treated as invalid, and further children are ignored.
const MOST_UNITS: u32 = 1 << 20;
const MOST_CHILDREN: usize = 1024;

type ListSize = unsafe extern "system" fn(*mut u32, *const u16, u32) -> u32;
type List = unsafe extern "system" fn(*const u16, *mut u16, u32, u32) -> u32;
type Locate = unsafe extern "system" fn(*mut u32, *const u16, u32) -> u32;
type Status = unsafe extern "system" fn(*mut u32, *mut u32, u32, u32) -> u32;
type OpenKey = unsafe extern "system" fn(u32, u32, u32, u32, *mut HKEY, u32) -> u32;
type Next = unsafe extern "system" fn(*mut u32, u32, u32) -> u32;
type Name = unsafe extern "system" fn(u32, *mut u16, u32, u32) -> u32;
type Property = unsafe extern "system" fn(u32, u32, *mut u32, *mut c_void, *mut u32, u32) -> u32;

/// Functions of the configuration manager.
struct Manager {
    list_size: ListSize,
    list: List,
    locate: Locate,
    status: Status,
    open_key: OpenKey,
    child: Next,
    sibling: Next,
    name: Name,
    property: Property,
    /// Library that contains the functions in the other fields, which may be called while the library is open.
    _module: Module,
}

/// Queries a value of the present display devices and their software components, and passes the answers to `take`.
pub(super) fn each(value: &str, take: &mut TakeAnswer<'_>) {
    if let Some(manager) = Manager::open() {
        manager.each(value, take);
    }
}

impl Manager {
    fn open() -> Option<Self> {
        let module = Module::of_system(c"cfgmgr32.dll")?;
        // SAFETY: the fields of `Manager` have the types that the configuration manager documents for the named functions.
        unsafe {
            Some(Self {
                list_size: module.function(c"CM_Get_Device_ID_List_SizeW")?,
                list: module.function(c"CM_Get_Device_ID_ListW")?,
                locate: module.function(c"CM_Locate_DevNodeW")?,
                status: module.function(c"CM_Get_DevNode_Status")?,
                open_key: module.function(c"CM_Open_DevNode_Key")?,
                child: module.function(c"CM_Get_Child")?,
                sibling: module.function(c"CM_Get_Sibling")?,
                name: module.function(c"CM_Get_Device_IDW")?,
                property: module.function(c"CM_Get_DevNode_Registry_PropertyW")?,
                _module: module,
            })
        }
    }

    fn each(&self, value: &str, take: &mut TakeAnswer<'_>) {
        let names = self.displays().unwrap_or_default();
        let names = names.split(|&unit| unit == 0).take_while(|name| !name.is_empty());
        for name in names {
            let mut terminated = Vec::new();
            if terminated.try_exact_room(name.len() + 1).is_err() {
                return crate::memory::shortage::note();
            }
            terminated.extend_from_slice(name);
            terminated.push(0);
            let mut device = 0;
            // SAFETY: the call writes only to `device`, and the name is terminated.
            let told = unsafe { (self.locate)(&mut device, terminated.as_ptr(), CM_LOCATE_DEVNODE_NORMAL) };
            if told != CR_SUCCESS || !self.is_ready(device, take) {
                continue;
            }
            // A device's own value takes precedence over the values of its components. Only the first component with a valid value is used.
            let _ = self.ask(device, value, take) || self.components(device).any(|part| self.ask(part, value, take));
        }
    }

    /// Returns the names of the present display devices, each with its terminator.
    fn displays(&self) -> Option<Vec<u16>> {
        let class = wide(DISPLAY).ok()?;
        // A device may be added between the call that returns the length of the names and the call that returns the names.
        for _ in 0..4 {
            let mut length = 0;
            // SAFETY: the call writes only to `length`, and the name is terminated.
            let told = unsafe { (self.list_size)(&mut length, class.as_ptr(), PRESENT_DISPLAYS) };
            if told != CR_SUCCESS || length > MOST_UNITS {
                return None;
            }
            let mut names = Vec::new();
            names.try_exact_room(length as usize + 1).ok()?;
            names.resize(length as usize + 1, 0);
            // SAFETY: the class name is terminated, and `names` has more than `length` UTF-16 units.
            match unsafe { (self.list)(class.as_ptr(), names.as_mut_ptr(), length, PRESENT_DISPLAYS) } {
                CR_SUCCESS => return Some(names),
                CR_BUFFER_SMALL => {}
                _ => return None,
            }
        }
        None
    }

    /// Returns `true` if a display device and its components may be queried, and otherwise reports the reason (LAY-50). A working
    /// device may also have a restart pending; only a device that cannot work before the restart is excluded.
    fn is_ready(&self, device: u32, take: &mut TakeAnswer<'_>) -> bool {
        let (mut status, mut problem) = (0, 0);
        // SAFETY: the call writes only to `status` and `problem`, which are local variables.
        let told = unsafe { (self.status)(&mut status, &mut problem, device, 0) };
        let waits = status & DN_HAS_PROBLEM != 0 && problem == CM_PROB_NEED_RESTART;
        let answer = match told {
            CR_SUCCESS if !waits => return true,
            CR_SUCCESS => Answer::NeedsRestart,
            _ => Answer::NoStatus,
        };
        take(&self.name_of(device), answer);
        false
    }

    /// Reports the value of a device. Returns `true` if the value is of a type that lists paths.
    fn ask(&self, device: u32, value: &str, take: &mut TakeAnswer<'_>) -> bool {
        let name = self.name_of(device);
        let mut key = core::ptr::null_mut();
        // SAFETY: the call writes the handle only to `key`, which is a local variable.
        let told = unsafe {
            (self.open_key)(
                device,
                KEY_QUERY_VALUE,
                0,
                REG_DISPOSITION_OPEN_EXISTING,
                &mut key,
                CM_REGISTRY_SOFTWARE,
            )
        };
        // SAFETY: the call succeeded, so the configuration manager opened the key for this function, which must close it.
        let key = (told == CR_SUCCESS).then(|| unsafe { Key::adopt(key) });
        let Some((kind, data)) = key.and_then(|key| key.value(value)) else {
            take(&name, Answer::Missing);
            return false;
        };
        take(&name, Answer::Value(kind, &data));
        matches!(kind, REG_SZ | REG_MULTI_SZ)
    }

    /// Iterates over the software components below a device.
    fn components(&self, device: u32) -> impl Iterator<Item = u32> {
        let next = |function: Next, of: u32| {
            let mut found = 0;
            // SAFETY: the call writes only to `found`, which is a local variable.
            (unsafe { function(&mut found, of, 0) } == CR_SUCCESS).then_some(found)
        };
        let all = core::iter::successors(next(self.child, device), move |&of| next(self.sibling, of));
        all.take(MOST_CHILDREN).filter(|&child| self.is_component(child))
    }

    fn is_component(&self, device: u32) -> bool {
        let mut room = [0_u16; SOFTWARE_COMPONENT.len() + 1];
        let mut size = size_of_val(&room) as u32;
        // SAFETY: `room` has `size` bytes, and the pointer for the type may be null.
        let told = unsafe {
            (self.property)(
                device,
                CM_DRP_CLASSGUID,
                core::ptr::null_mut(),
                room.as_mut_ptr().cast(),
                &mut size,
                0,
            )
        };
        let class = utf8(ended(&room).iter().copied());
        told == CR_SUCCESS && class.eq_ignore_ascii_case(SOFTWARE_COMPONENT.as_bytes())
    }

    fn name_of(&self, device: u32) -> Vec<u8> {
        let mut room = [0_u16; MAX_DEVICE_ID_LEN as usize + 1];
        // SAFETY: the call writes at most `MAX_DEVICE_ID_LEN` units, and `room` has one unit more.
        let told = unsafe { (self.name)(device, room.as_mut_ptr(), MAX_DEVICE_ID_LEN, 0) };
        match told {
            CR_SUCCESS => utf8(ended(&room).iter().copied()),
            _ => crate::memory::copy_or_note(b"a device"),
        }
    }
}
