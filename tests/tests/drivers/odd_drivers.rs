//! Tests of drivers with unusual behaviour that no other module tests (DRV-56 to DRV-61, DRV-208 to DRV-231, DRV-241 to DRV-268).

use std::fs;

use loader_tests::ash::vk;
use loader_tests::vk::WINDOW_SURFACE;
use loader_tests::vk::{Commands, Messages};
use loader_tests::{call, case};

/// DRV-53: a library can have any name.
#[test]
fn drv_053_a_library_may_have_any_name() {
    case(|scene| {
        scene.driver("a").device("one");
        let (library, other) = (scene.library("a"), scene.path("libraries/a driver.txt"));
        scene.run(|vk| assert_eq!(vk.instance().device_names(), ["one"])).ok();
        scene.on_disk(|| {
            fs::rename(&library, &other).expect("renamed");
            fs::copy(library.with_extension("conf"), other.with_extension("conf")).expect("copied");
        });
        scene.driver("b").library_path(&other.display().to_string());
        let manifest = scene.manifest("b");
        scene.env("VK_DRIVER_FILES", manifest);
        scene.run(|vk| assert_eq!(vk.instance().device_names(), ["one"])).ok();
    });
}

/// DRV-56: a driver's symbols are not global in the process.
#[cfg(unix)]
#[test]
fn drv_056_symbols_stay_local() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let maps = fs::read_to_string("/proc/self/maps").expect("the map is readable");
            assert!(maps.contains("libmock_a.so"));
            let everything = libloading_this();
            assert!(
                !everything("vk_icdGetInstanceProcAddr") && !everything("vk_icdNegotiateLoaderICDInterfaceVersion")
            );
            drop(instance);
        });
        outcome.ok();
    });
}

#[cfg(not(unix))]
loader_tests::left_out!(drv_056_symbols_stay_local);

#[cfg(unix)]
/// Returns a function that checks if a symbol is global in this process.
fn libloading_this() -> impl Fn(&str) -> bool {
    let this = libloading::os::unix::Library::this();
    move |name| {
        let name = std::ffi::CString::new(name).expect("no zero byte");
        // SAFETY: the code only checks that the symbol exists.
        unsafe { this.get::<*const ()>(name.as_bytes_with_nul()) }.is_ok()
    }
}

/// DRV-77, DRV-260: the loader refuses its own functions if a driver returns them, in every look-up.
#[test]
fn drv_077_the_loaders_own_functions_are_refused() {
    case(|scene| {
        scene.driver("odd").device("odd");
        scene.driver("good").device("good");
        scene.env("VK_LOADER_DISABLE_SELECT", "1");
        for command in [
            "vkCreateInstance",
            "vkEnumerateInstanceExtensionProperties",
            "vkEnumeratePhysicalDevices",
            "vkGetPhysicalDeviceProperties",
            "vkGetDeviceProcAddr",
            "vkCreateDevice",
            "vkDestroyInstance",
        ] {
            let outcome = scene.run(|vk| {
                let own = Commands::address(vk, command);
                vk.add_lines("odd", &format!("answer {command} {own:x}"));
                let names = vk.instance().device_names();
                vk.remove_lines("odd", &["answer"]);
                assert!(names.contains(&"good".into()), "{command}: {names:?}");
            });
            outcome.ran();
        }
    });
}

/// DRV-77, DRV-260: if a driver returns the loader's own function for a device command, the device does not use this function, because the
/// function would call itself without end.
#[test]
fn drv_077_the_loaders_own_device_functions_are_refused() {
    case(|scene| {
        scene.usual_driver("odd");
        let outcome = scene.run(|vk| {
            for command in ["vkCmdDraw", "vkCreateSwapchainKHR"] {
                let own = Commands::address(vk, command);
                vk.add_lines("odd", &format!("answer {command} {own:x}"));
            }
            let instance = vk.instance();
            let plain = instance.device(instance.first(), &[]);
            assert_eq!(plain.address("vkCmdDraw"), 0);
            // The command of an enabled extension has a terminator even if the driver lacks the function.
            let device = instance.device(instance.first(), &["VK_KHR_swapchain"]);
            let info = vk::SwapchainCreateInfoKHR::default();
            let mut swapchain = vk::SwapchainKHR::null();
            let result = call!(
                device,
                PFN_vkCreateSwapchainKHR(device.raw, &info, std::ptr::null(), &mut swapchain)
            );
            assert_eq!((result, swapchain), (vk::Result::SUCCESS, vk::SwapchainKHR::null()));
        });
        outcome.ok().logged_with("ERROR", "Driver's function pointer was NULL");
    });
}

/// DRV-231: the loader never treats a name that it knows as an unknown name.
#[test]
fn drv_231_known_names_are_not_unknown() {
    case(|scene| {
        scene
            .driver("a")
            .unknown_physical("vkGetPhysicalDeviceFeatures2KHR")
            .unknown_device("vkCmdDraw")
            .device("one");
        let outcome = scene.run(|vk| {
            let plain = vk.instance_with("1.1", &[]);
            // If the extension of a known command is not enabled, the loader does not ask a driver for the command.
            assert_eq!(plain.address("vkGetPhysicalDeviceFeatures2KHR"), 0);
            assert_eq!(plain.address("vkCmdDraw"), Commands::address(vk, "vkCmdDraw"));
        });
        outcome.ok();
    });
}

/// DRV-210: the loader does not write to the first word of a driver's instances and physical devices. The mock driver checks the words when
/// these objects are destroyed.
#[test]
fn drv_210_the_words_of_instances_and_physical_devices_stay() {
    case(|scene| {
        scene.usual_driver("a");
        scene.driver("b").api("1.0.0").interface(1).device("two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            for physical in instance.devices().expect("devices") {
                let _ = instance.properties(physical);
                drop(instance.device(physical, &[]));
            }
        });
        outcome.ok().not_logged("was written to");
        assert!(
            !outcome.journal().iter().any(|line| line.contains("was written to")),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-266: replacing the file of a loaded driver does not affect processes that have the old file open.
#[test]
fn drv_266_a_driver_replaced_on_disk() {
    case(|scene| {
        scene.driver("a").device("one");
        let library = scene.library("a");
        let outcome = scene.run(move |vk| {
            let first = vk.instance();
            fs::remove_file(&library).expect("removed");
            fs::write(&library, "no library").expect("written");
            assert_eq!(first.device_names(), ["one"]);
            assert_eq!(vk.instance().device_names(), ["one"]);
            assert_eq!(first.device_names(), ["one"]);
            first.destroy();
            assert_eq!(vk.spec().create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
        });
        outcome.ok();
    });
}

/// APP-93, APP-143: the loader puts its own structures before the application's structures in each chain.
#[test]
fn app_093_the_loaders_links_in_the_chains() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let strange = vk::BaseInStructure {
                s_type: vk::StructureType::from_raw(777_000),
                ..Default::default()
            };
            let instance = vk.spec().next(&strange).create().expect("vkCreateInstance");
            drop(
                instance
                    .device_spec(instance.first())
                    .next(&strange)
                    .create()
                    .expect("vkCreateDevice"),
            );
        });
        let outcome = outcome.ok();
        // The chain has features, device callbacks, and loader data. Without layers, there is no structure for layers.
        assert!(
            outcome.calls("a", "vkCreateInstance")[0].contains("pnext=[47:3 47:2 47:1 777000]"),
            "{}",
            outcome.all()
        );
        assert!(
            outcome.calls("a", "vkCreateDevice")[0].contains("pnext=[48:1 777000]"),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-116, DRV-176: the loader calls a driver's functions of an extension only if the loader enabled the extension in this driver.
#[test]
fn drv_116_extensions_count_per_driver() {
    case(|scene| {
        scene.usual_driver("with");
        // The driver `without` has the functions of a platform, but does not offer the platform's extension.
        scene
            .driver("without")
            .extension("VK_KHR_surface")
            .device("gpu-without");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &["VK_KHR_surface", WINDOW_SURFACE]);
            let surface = instance.window_surface(1, 2);
            assert_eq!(instance.surface_support(instance.named("gpu-with"), surface), Ok(true));
            assert_eq!(
                instance.surface_support(instance.named("gpu-without"), surface),
                Ok(false)
            );
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}

/// APP-187: an abort during a callback does not hang, even if the calling thread holds the loader's lock for creation calls.
#[test]
fn app_187_an_abort_inside_a_callback_does_not_hang() {
    case(|scene| {
        scene.usual_driver("a").line("emit", "vkCreateDevice from the driver");
        let outcome = scene.run(|vk| {
            let inner = vk.again();
            let messages = Messages::with_hook(move |message| {
                if message.text == "from the driver" {
                    let mut features = vk::PhysicalDeviceFeatures::default();
                    call!(
                        inner,
                        PFN_vkGetPhysicalDeviceFeatures(vk::PhysicalDevice::null(), &mut features)
                    );
                }
            });
            let instance = vk.instance_with("1.1", &["VK_EXT_debug_utils"]);
            instance.messenger(&messages);
            drop(instance.device(instance.first(), &[]));
        });
        outcome.aborted("vkGetPhysicalDeviceFeatures: Invalid physicalDevice");
    });
}

/// DRV-120, DRV-262: if a driver's call that fills the array reports that the device list has grown, the loader repeats the query.
#[test]
fn drv_120_an_incomplete_fill_call() {
    case(|scene| {
        scene.driver("odd").device("odd");
        scene.driver("good").device("good");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_eq!(instance.device_names(), ["good", "odd"]);
            // The first call of each pair queries the count, and the second call fills the array.
            let seen = vk
                .journal()
                .iter()
                .filter(|line| line.starts_with("odd vkEnumeratePhysicalDevices"))
                .count();
            vk.add_lines(
                "odd",
                &format!("fail vkEnumeratePhysicalDevices 5 {} {}", seen + 2, seen + 2),
            );
            let (result, devices) = instance.some_devices(4);
            assert_eq!(result, vk::Result::SUCCESS);
            let names: Vec<String> = devices.iter().map(|device| instance.name_of(*device)).collect();
            assert!(names == ["good"] || names == ["good", "odd"], "{names:?}");
        });
        outcome.ok();
    });
}

/// DRV-120: if a driver counts more devices than it writes, the loader ignores the entries without a handle.
#[test]
fn drv_120_claimed_devices_without_handle_are_none() {
    case(|scene| {
        scene.driver("odd").device("one").device("NULL").device("two");
        scene.driver("empty").device("NULL");
        scene
            .run(|vk| {
                let instance = vk.instance();
                assert_eq!(instance.device_names(), ["one", "two"]);
                assert_eq!(instance.device_count(), Ok(2));
            })
            .ok();
    });
}
