//! Tests of behaviour that only Windows has: output for debuggers, paths of settings files, and the end of a process.

use std::sync::Mutex;

use loader_tests::ash::vk;
use loader_tests::{Scene, call, case};
use windows_sys::Win32::Foundation::DBG_PRINTEXCEPTION_C;
use windows_sys::Win32::System::Diagnostics::Debug::{AddVectoredExceptionHandler, EXCEPTION_POINTERS};

/// Text that a debugger received. The system passes the text in an exception.
static SHOWN: Mutex<String> = Mutex::new(String::new());

unsafe extern "system" fn debugger(told: *mut EXCEPTION_POINTERS) -> i32 {
    // SAFETY: the system passes a valid record. A record of this kind has the length and the address of a text.
    unsafe {
        let record = &*(*told).ExceptionRecord;
        if record.ExceptionCode == DBG_PRINTEXCEPTION_C {
            let (length, text) = (record.ExceptionInformation[0], record.ExceptionInformation[1]);
            let text = std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(text), length);
            let text = String::from_utf8_lossy(text);
            SHOWN
                .lock()
                .expect("not poisoned")
                .push_str(text.trim_end_matches('\0'));
        }
    }
    // With this result, the system continues its search for a handler.
    0
}

/// APP-235: a debugger also receives the messages of standard error.
#[test]
fn app_235_a_debugger_sees_the_log() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "error,warn,info");
        let outcome = scene.run(|vk| {
            // SAFETY: the function has the required type, and remains valid.
            unsafe { AddVectoredExceptionHandler(1, Some(debugger)) };
            drop(vk.instance());
            let shown = SHOWN.lock().expect("not poisoned");
            for line in shown.lines() {
                vk.say("shown", line);
            }
        });
        let outcome = outcome.ok();
        let shown = outcome.said("shown");
        let line = "vkCreateInstance: Requested 0 instance layer(s):";
        outcome.logged("INFO", line);
        assert!(shown.iter().any(|shown| shown.ends_with(line)), "{}", outcome.all());
    });
}

/// APP-184: a NULL handle ends the process after an error line.
#[test]
fn app_184_null_handles_abort() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let mut count = 0;
            let null = vk::Instance::null();
            let _ = call!(
                vk,
                PFN_vkEnumeratePhysicalDevices(null, &mut count, std::ptr::null_mut())
            );
        });
        outcome.aborted("vkEnumeratePhysicalDevices");
        let outcome = scene.run(|vk| {
            let _ = call!(vk, PFN_vkDeviceWaitIdle(vk::Device::null()));
        });
        outcome.aborted("vkDeviceWaitIdle");
    });
}

/// APP-183: a physical device in place of a queue aborts the process.
#[test]
fn app_183_a_physical_device_for_a_queue_aborts() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let queue = <vk::Queue as vk::Handle>::from_raw(vk::Handle::as_raw(instance.first()));
            let _ = call!(vk, PFN_vkQueueWaitIdle(queue));
        });
        outcome.aborted("vkQueueWaitIdle");
    });
}

/// APP-24: looking up a name with an invalid instance aborts the process.
#[test]
fn app_024_a_look_up_of_no_instance_aborts() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let wrong = <vk::Instance as vk::Handle>::from_raw(vk::Handle::as_raw(instance.first()));
            vk.get(wrong, "vkDestroyInstance");
        });
        outcome.aborted("vkGetInstanceProcAddr");
    });
}

/// Writes a settings file that enables one category of log lines. Returns the path of the file, with backslashes.
fn settings(scene: &Scene, name: &str, category: &str) -> String {
    let text = format!(r#"{{"file_format_version": "1.0.0", "settings": {{"stderr_log": ["{category}"]}}}}"#);
    let path = scene.file(&format!("{name}/vk_loader_settings.json"), text);
    path.display().to_string().replace('/', "\\")
}

/// APP-242: if the first settings file of a registry key is missing, the loader uses no settings, and does not read the
/// other files of the key.
#[test]
fn app_242_a_settings_file_that_is_missing() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "");
        let machine = settings(scene, "machine", "layer");
        scene.registry("machine", "LoaderSettings", &machine, &[1]);
        scene.registry("user", "LoaderSettings", &machine.replace("machine", "gone"), &[0; 4]);
        scene.registry(
            "user",
            "LoaderSettings",
            &machine.replace("vk_loader_settings", "other"),
            &[0; 4],
        );
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert!(
            outcome.ok().stderr.contains("Searching for explicit layer"),
            "{}",
            outcome.all()
        );
    });
}

/// APP-242: the settings file of the user precedes the settings file of the machine.
#[test]
fn app_242_the_settings_file_of_the_user_comes_first() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "");
        let (user, machine) = (settings(scene, "user", "driver"), settings(scene, "machine", "layer"));
        scene.registry("machine", "LoaderSettings", &machine, &[0; 4]);
        scene.registry("user", "LoaderSettings", &user, &[0; 4]);
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert!(
            outcome.ok().stderr.contains("Searching for driver manifest"),
            "{}",
            outcome.all()
        );
        outcome.not_logged("Searching for explicit layer");
    });
}
