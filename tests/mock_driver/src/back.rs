//! Calls from the driver into the loader that opened the driver.

use std::ffi::CStr;
use std::ptr;
use std::thread;

use ash::vk;

use crate::config::Config;
use crate::journal;
use crate::system::loader_symbol;

/// Calls global commands of the loader on this thread, and on another thread that this call waits for. A journal line has the results.
pub(crate) fn call_loader(config: &Config, name: &str) {
    let here = ask();
    let there = thread::spawn(ask).join();
    let is_good = |answer: &Answer| answer.is_some_and(|[version, extensions]| version > 0 && extensions > 0);
    let good = [Some(here), there.ok()].map(|answer| answer.is_some_and(|answer| is_good(&answer)));
    journal::line(config, &format!("back {name} here={} there={}", good[0], good[1]));
}

/// Instance version and number of instance extensions, if the commands succeed.
type Answer = Option<[u32; 2]>;

fn ask() -> Answer {
    let [mut version, mut extensions] = [0; 2];
    let found = |name: &CStr| loader_symbol(name);
    // SAFETY: each symbol has the signature of the command with its name, and the query passes no array.
    let results =
        unsafe {
            [
                typed::<vk::PFN_vkEnumerateInstanceVersion>(found(c"vkEnumerateInstanceVersion"))?(&mut version),
                typed::<vk::PFN_vkEnumerateInstanceExtensionProperties>(found(
                    c"vkEnumerateInstanceExtensionProperties",
                ))?(ptr::null(), &mut extensions, ptr::null_mut()),
            ]
        };
    (results == [vk::Result::SUCCESS; 2]).then_some([version, extensions])
}

/// Converts the result of a look-up to the function pointer type `F`.
///
/// # Safety
/// `F` is the type of the function.
unsafe fn typed<F: Copy>(found: vk::PFN_vkVoidFunction) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    // SAFETY: both types are function pointers of the same size, and the caller promises that `F` is the type of the function.
    found.map(|function| unsafe { std::mem::transmute_copy(&function) })
}
