//! Tests of device-level trampolines, which jump to the driver's function of the same name.

use std::collections::BTreeSet;

use loader_tests::case;
use loader_tests::vk::{Commands, isolated, opaque_address};

use crate::names::all;

type Any = unsafe extern "system" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u64;

/// Signal handler: reports the address of the fault, and exits.
extern "C" fn fault(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes a valid description of the fault.
    let at = unsafe { (*info).si_addr() };
    eprint!("{:x}", at.addr());
    // SAFETY: `_exit` ends this copy of the process without running exit handlers of the original.
    unsafe { libc::_exit(0) }
}

/// Calls `function` with `handle` and zeros, and returns the address to which the function jumps. No code is mapped at this address.
fn where_it_leads(function: usize, handle: u64) -> usize {
    let ending = isolated(|| {
        // SAFETY: a zeroed structure is a valid action, whose handler has the signature that the flag promises.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            assert_eq!(libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut()), 0);
        }
        // SAFETY: the address belongs to a trampoline, which passes its arguments on. The call ends in a fault, which ends only this forked
        // copy of the process.
        unsafe { std::mem::transmute::<usize, Any>(function)(handle, 0, 0, 0, 0, 0, 0, 0, 0, 0) };
    });
    usize::from_str_radix(ending.stderr.trim(), 16).unwrap_or_default()
}

/// APP-159, APP-26, GEN-46: every trampoline of the device level, exported or not, reaches the driver's function with the same name.
#[test]
fn app_159_every_trampoline_reaches_its_function() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "").limit(60);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.4", &[]);
            // From here on, the driver returns a different number for each name, and no memory is mapped at these addresses.
            vk.add_lines("a", "opaque *");
            let device = instance.device(instance.first(), &[]);
            let handle = loader_tests::ash::vk::Handle::as_raw(device.raw);
            // Commands that the loader implements itself. Commands that terminate in the loader only if their extension is enabled are not
            // in this list.
            let own = ["vkGetDeviceProcAddr", "vkDestroyDevice"];
            let (mut exported, mut reached, mut addresses) = (0, 0, BTreeSet::new());
            for command in all() {
                let (symbol, trampoline) = (vk.address(command.name), instance.address(command.name));
                let given = device.address(command.name);
                // Queues and command buffers have the first word of their device, and the trampolines read only this word.
                let is_plain = command.level == "device" && command.is_here() && !own.contains(&command.name);
                if !is_plain || trampoline == 0 || given == 0 {
                    continue;
                }
                let expected = opaque_address(command.name);
                assert_eq!(where_it_leads(trampoline, handle), expected, "{}", command.name);
                assert!(addresses.insert(expected), "{}", command.name);
                assert!(symbol == 0 || symbol == trampoline, "{}", command.name);
                exported += usize::from(symbol != 0);
                reached += 1;
            }
            vk.say("exported", exported);
            vk.say("reached", reached);
            std::mem::forget(device);
            std::mem::forget(instance);
        });
        let said = |key| outcome.ran().said(key)[0].parse::<usize>().expect("a number");
        assert!(said("exported") > 190, "{}", said("exported"));
        assert!(said("reached") > 550, "{}", said("reached"));
    });
}
