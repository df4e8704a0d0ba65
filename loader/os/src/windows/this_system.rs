//! Sources of manifests on this system, with the interface of [`sources`](crate::registry::sources).

use super::registry::Key;
use super::{devices, dxgi, environment, kernel_adapters, packages};
use crate::registry::sources::{Hive, System, TakeAnswer};
use alloc::vec::Vec;
use windows_sys::Win32::System::Registry::{HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, IsWow64Process};

/// The system on which the loader runs.
pub(crate) struct ThisSystem;

fn open(hive: Hive, key: &str) -> Option<Key> {
    let root = match hive {
        Hive::Machine => HKEY_LOCAL_MACHINE,
        Hive::User => HKEY_CURRENT_USER,
    };
    Key::open(root, key)
}

impl System for ThisSystem {
    fn is_elevated(&self) -> bool {
        environment::is_elevated()
    }

    fn is_wow64(&self) -> bool {
        let mut answer = 0;
        // SAFETY: the pseudo-handle of this process is always valid, and the call writes only to `answer`.
        let told = unsafe { IsWow64Process(GetCurrentProcess(), &mut answer) };
        told != 0 && answer != 0
    }

    fn package(&self, family: &str, take: &mut dyn FnMut(&[u8])) {
        if let Some(folder) = packages::root_of_first(family) {
            take(&folder);
        }
    }

    fn each_adapter(&self, value: &str, take: &mut TakeAnswer<'_>) {
        kernel_adapters::each(value, take);
    }

    fn each_device(&self, value: &str, take: &mut TakeAnswer<'_>) {
        devices::each(value, take);
    }

    fn each_zero(&self, hive: Hive, key: &str, take: &mut dyn FnMut(&[u8])) {
        if let Some(key) = open(hive, key) {
            key.each_zero(take);
        }
    }

    fn each_name(&self, hive: Hive, key: &str, take: &mut dyn FnMut(&[u8])) {
        if let Some(key) = open(hive, key) {
            key.each_name(take);
        }
    }

    fn vendors(&self) -> Option<Vec<u32>> {
        dxgi::vendors()
    }
}
