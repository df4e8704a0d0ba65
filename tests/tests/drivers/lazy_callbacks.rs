//! Tests of messengers and report callbacks in a driver that remains closed (DRV-283).

use super::lazy::{FAILED, OOM, calls};
use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, Heap, Instance, Messages, Refusal, Reports};
use loader_tests::{Scene, Vk, call, case};
use std::cell::Cell;
use std::ffi::CString;
use std::ptr;
use std::rc::Rc;

const DEBUG: [&str; 2] = ["VK_EXT_debug_report", "VK_EXT_debug_utils"];
const CREATE: &str = "vkCreateDebugUtilsMessengerEXT";
const DESTROY: &str = "vkDestroyDebugUtilsMessengerEXT";

/// Adds a recorded driver with the extensions for messengers and report callbacks. The driver sends a message while it lists its devices.
fn talking(scene: &mut Scene) {
    scene
        .driver("a")
        .extensions(&DEBUG)
        .device_with("one", |device| device.uuids(1, 9))
        .line("emit", "vkEnumeratePhysicalDevices from the driver");
    scene.lazily();
}

/// Creates a device, and destroys it.
fn use_device(instance: &Instance<'_>) -> Result<(), vk::Result> {
    instance.device_spec(instance.first()).create().map(drop)
}

/// DRV-283: the loader passes the messengers and report callbacks that still exist to a driver that it opens late.
#[test]
fn drv_283_callbacks_wait_for_the_driver() {
    case(|scene| {
        talking(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &DEBUG);
            let (first, second, reports) = (Messages::default(), Messages::default(), Reports::default());
            let gone = instance.messenger(&first);
            let kept = instance.messenger(&second);
            let report = instance.report_callback(&reports);
            instance.destroy_messenger(gone);
            assert_eq!(instance.device_names(), ["one"]);
            assert_eq!(calls(vk, "load"), 0);
            assert_eq!(use_device(&instance), Ok(()));
            assert_eq!((calls(vk, CREATE), calls(vk, "vkCreateDebugReportCallbackEXT")), (1, 1));
            assert!(first.with("from the driver").is_empty());
            assert!(
                !second.with("from the driver").is_empty(),
                "the messages about devices arrive"
            );
            assert_eq!(calls(vk, DESTROY), 0);
            instance.destroy_messenger(kept);
            instance.destroy_report_callback(report);
            assert_eq!(
                (calls(vk, DESTROY), calls(vk, "vkDestroyDebugReportCallbackEXT")),
                (1, 1)
            );
            // From now on, the loader passes each new messenger to the driver immediately.
            let late = instance.messenger(&first);
            assert_eq!(calls(vk, CREATE), 2);
            instance.destroy_messenger(late);
        });
        outcome.ok();
    });
}

/// DRV-283, DRV-188: the loader destroys forgotten messengers and report callbacks in a driver that was opened late, and makes no such call
/// for a closed driver.
#[test]
fn drv_188_forgotten_callbacks_of_a_late_driver() {
    case(|scene| {
        talking(scene);
        for opens in [false, true] {
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &DEBUG);
                let messages = Messages::default();
                instance.messenger(&messages);
                if opens {
                    assert_eq!(use_device(&instance), Ok(()));
                }
                instance.destroy();
            });
            for command in [CREATE, DESTROY] {
                assert_eq!(outcome.ok().calls("a", command).len(), usize::from(opens), "{command}");
            }
        }
    });
}

/// DRV-283: the loader opens the driver for a create info with a chain or with allocation callbacks, and for an object that the record does
/// not promise. The call returns the driver's result.
#[test]
fn drv_283_other_callbacks_open_the_driver() {
    case(|scene| {
        talking(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &DEBUG);
            let (messages, allocator) = (Messages::default(), Allocator::default());
            let info = messages.create_info();
            let mut handle = vk::DebugUtilsMessengerEXT::null();
            let callbacks = allocator.callbacks();
            let result = call!(
                instance,
                PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, callbacks, &mut handle)
            );
            assert_eq!((result, calls(vk, CREATE)), (vk::Result::SUCCESS, 1));
            call!(
                instance,
                PFN_vkDestroyDebugUtilsMessengerEXT(instance.raw, handle, callbacks)
            );
            assert_eq!(calls(vk, DESTROY), 1);
        });
        outcome.ok();
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &DEBUG);
            let messages = Messages::default();
            let mut extra = vk::BaseInStructure {
                s_type: vk::StructureType::from_raw(777_000),
                ..Default::default()
            };
            let mut info = messages.create_info();
            info.p_next = ptr::from_mut(&mut extra).cast();
            let mut handle = vk::DebugUtilsMessengerEXT::null();
            let result = call!(
                instance,
                PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, ptr::null(), &mut handle)
            );
            assert_eq!((result, calls(vk, CREATE)), (vk::Result::SUCCESS, 1));
            instance.destroy_messenger(handle);
        });
        outcome.ok();
    });
}

/// DRV-283: if the driver's record does not promise messengers, the loader opens the driver immediately, and messenger creation returns the
/// driver's result.
#[test]
fn drv_283_a_driver_that_refuses_messengers_is_asked() {
    case(|scene| {
        scene
            .driver("a")
            .extensions(&DEBUG)
            .fail(CREATE, FAILED.as_raw())
            .device("one");
        scene.lazily();
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &DEBUG);
            let messages = Messages::default();
            let info = messages.create_info();
            assert_eq!(calls(vk, "load"), 0);
            let mut handle = vk::DebugUtilsMessengerEXT::null();
            let result = call!(
                instance,
                PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, ptr::null(), &mut handle)
            );
            assert_eq!((result, calls(vk, CREATE)), (FAILED, 1));
        });
        outcome.ok();
    });
}

/// DRV-283: if a driver that is opened late fails to create a messenger, the loader destroys the driver's instance. After a lack of memory,
/// the next call opens the driver again.
#[test]
fn drv_283_a_callback_that_is_refused_late() {
    case(|scene| {
        talking(scene);
        for (code, again) in [(OOM, Ok(())), (vk::Result::ERROR_DEVICE_LOST, Err(FAILED))] {
            let outcome = scene.run(|vk| {
                vk.add_lines("a", &format!("fail {CREATE} {} 2 2\n", code.as_raw()));
                let instance = vk.instance_with("1.1", &DEBUG);
                let messages = Messages::default();
                let both = [instance.messenger(&messages), instance.messenger(&messages)];
                let first = if code == OOM { OOM } else { FAILED };
                assert_eq!(use_device(&instance), Err(first));
                assert_eq!(
                    (calls(vk, CREATE), calls(vk, DESTROY)),
                    (2, 1),
                    "the first is destroyed"
                );
                assert_eq!(calls(vk, "vkDestroyInstance"), 1);
                vk.remove_lines("a", &["fail"]);
                assert_eq!(use_device(&instance), again);
                assert_eq!(instance.device_names(), ["one"]);
                both.into_iter().for_each(|one| instance.destroy_messenger(one));
                assert_eq!(calls(vk, DESTROY), if again.is_ok() { 3 } else { 1 });
            });
            outcome.ok();
        }
    });
}

/// DRV-283: if a callback calls the loader while a driver is being opened, that call fails, and the driver is not opened twice.
#[test]
fn drv_283_a_call_from_a_callback_does_not_open_the_driver_again() {
    case(|scene| {
        talking(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &DEBUG);
            let device = instance.first();
            let seen = Rc::new(Cell::new(None));
            let (noted, raw) = (seen.clone(), instance.raw);
            let address = vk.get(raw, "vkCreateDevice");
            // SAFETY: the address belongs to the named function, which has this type.
            let create = unsafe { std::mem::transmute::<usize, vk::PFN_vkCreateDevice>(address) };
            let messages = Messages::with_hook(move |message| {
                if message.text.contains("from the driver") && noted.get().is_none() {
                    let (info, mut made) = (vk::DeviceCreateInfo::default(), vk::Device::null());
                    // SAFETY: the device belongs to an existing instance, and the structures are valid.
                    noted.set(Some(unsafe { create(device, &info, ptr::null(), &mut made) }));
                }
            });
            let messenger = instance.messenger(&messages);
            assert_eq!(use_device(&instance), Ok(()));
            assert_eq!(seen.get(), Some(FAILED));
            instance.destroy_messenger(messenger);
        });
        let (loads, made) = (
            outcome.ok().calls("a", "load").len(),
            outcome.calls("a", "vkCreateInstance").len(),
        );
        assert_eq!((loads, made), (1, 1), "{}", outcome.all());
    });
}

/// Creates an instance with two structures in the chain of its create info. Overwrites all memory of the create info afterwards.
fn create_and_overwrite<'v>(vk: &'v Vk, messages: &Messages, reports: &Reports) -> Result<Instance<'v>, vk::Result> {
    let mut texts =
        ["program", "engine", DEBUG[0], DEBUG[1]].map(|text| CString::new(text).expect("a text").into_raw());
    let mut report = reports.create_info();
    let mut messenger = messages.create_info();
    messenger.p_next = ptr::from_ref(&report).cast();
    let mut application = vk::ApplicationInfo {
        p_application_name: texts[0],
        application_version: 7,
        p_engine_name: texts[1],
        engine_version: 9,
        api_version: vk::API_VERSION_1_1,
        ..Default::default()
    };
    let mut names = [texts[2].cast_const(), texts[3].cast_const()];
    let mut info = vk::InstanceCreateInfo {
        p_next: ptr::from_ref(&messenger).cast(),
        p_application_info: &application,
        enabled_extension_count: 2,
        pp_enabled_extension_names: names.as_ptr(),
        ..Default::default()
    };
    let mut raw = vk::Instance::null();
    let result = call!(vk, PFN_vkCreateInstance(&info, ptr::null(), &mut raw));
    for text in &mut texts {
        // SAFETY: the text came from `into_raw`, has more than four bytes before its end, and is used nowhere else.
        unsafe { text.write_bytes(b'?', 4) };
    }
    names.fill(c"?".as_ptr());
    // SAFETY: the structures consist of numbers and pointers, and Vulkan does not use them after the call.
    unsafe {
        ptr::write_bytes(&mut report, 0xFF, 1);
        ptr::write_bytes(&mut messenger, 0xFF, 1);
        ptr::write_bytes(&mut application, 0xFF, 1);
        ptr::write_bytes(&mut info, 0xFF, 1);
    }
    std::hint::black_box((&report, &messenger, &application, &info, &names));
    result.result().map(|()| Instance::of_handle(vk, raw))
}

/// DRV-283: the driver that is opened late gets the same create info as without the policy, once. The loader copies everything that the
/// create info points to, so the program may reuse its memory. The messenger in the chain receives the driver's messages once.
#[test]
fn drv_283_a_late_driver_gets_a_copy_of_the_create_info() {
    case(|scene| {
        scene
            .driver("a")
            .extensions(&DEBUG)
            .device_with("one", |device| device.uuids(1, 9))
            .line("emit", "vkCreateInstance a new instance");
        scene.lazily();
        let mut infos = Vec::new();
        for policy in ["", "lazy"] {
            let outcome = scene.env("VK_LOADER_DRIVER_POLICY", policy).run(|vk| {
                let (messages, reports) = (Messages::default(), Reports::default());
                let instance = create_and_overwrite(vk, &messages, &reports).expect("an instance");
                let said = || messages.with("a new instance").len();
                assert_eq!(
                    (calls(vk, "load"), said()),
                    if policy.is_empty() { (1, 1) } else { (0, 0) }
                );
                assert_eq!(use_device(&instance), Ok(()));
                assert_eq!(said(), 1);
                instance.destroy();
            });
            let made = outcome.ok().calls("a", "vkCreateInstance").join("; ");
            // The loader adds structures with the type 47 for layers, which no driver reads.
            infos.push((0..8).fold(made, |made, number| made.replace(&format!("47:{number} "), "")));
        }
        assert_eq!(infos[0], infos[1]);
        assert!(
            infos[0].contains("app=program") && infos[0].contains("pnext=[1000128004 1000011000]"),
            "{infos:?}"
        );
    });
}

/// DRV-283, DRV-4: if any allocation for the copy of the create info is refused, or for the callbacks of a driver that is opened late, the
/// call returns the error. No object of the driver and no memory is left.
#[test]
fn drv_283_each_allocation_for_callbacks_of_a_late_driver_refused() {
    case(|scene| {
        talking(scene);
        scene.unset("VK_LOADER_DEBUG").limit(120);
        let outcome = scene.run_unloaded(|scratch| {
            let mut vk = scratch.load();
            let heap = Heap::of(&vk);
            let (messages, reports) = (Messages::default(), Reports::default());
            for is_late in [false, true] {
                let mut refused = 0;
                for number in 1.. {
                    let refuse = |is_now: bool| heap.refuse(Refusal::Only(if is_now { number } else { usize::MAX }));
                    refuse(!is_late);
                    let made = create_and_overwrite(&vk, &messages, &reports);
                    let mut is_last = heap.count() < number;
                    heap.refuse_none();
                    let result = made.and_then(|instance| {
                        instance.messenger(&messages);
                        instance.report_callback(&reports);
                        let device = instance.first();
                        refuse(is_late);
                        let result = instance.device_spec(device).create().map(drop);
                        if is_late {
                            is_last = heap.count() < number;
                        }
                        heap.refuse_none();
                        assert_eq!(use_device(&instance), Ok(()), "{number}");
                        result
                    });
                    assert!(matches!(result, Ok(()) | Err(OOM)), "{number}: {result:?}");
                    refused += usize::from(result.is_err());
                    for object in ["Instance", "DebugUtilsMessengerEXT", "DebugReportCallbackEXT"] {
                        let [made, gone] = ["Create", "Destroy"].map(|verb| calls(&vk, &format!("vk{verb}{object}")));
                        assert_eq!(made, gone, "{number}: {object}");
                    }
                    if is_last {
                        break;
                    }
                }
                assert!(refused > 4, "{refused}");
            }
            vk.unload();
            assert_eq!(heap.live(), 0, "blocks are left");
        });
        outcome.ok();
    });
}
